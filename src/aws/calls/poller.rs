//! Shared polls: one poll reads all objects of a kind that operations wait for, because a topology has many objects and
//! AWS limits the describe calls of an account. The waiters send the polls themselves, each for all waiters, so that
//! polling ends with the last one. A waiter that arrives during a poll may start another one, if fewer than three run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;

use crate::aws::calls::wait::{Announced, Backoff, Poll, WaitEnded};
use crate::cloud::retries::RetryLimits;
use crate::cloud::{Deadlines, Failure};

/// How long a poll waits for other waiters to join it.
const GATHER: Duration = Duration::from_millis(5);

/// How long the last poll, which starts at the deadline, may take.
const LAST_POLL: Duration = Duration::from_secs(5);

/// The maximum number of polls at a time.
const POLLS: usize = 3;

/// The maximum number of values of a filter.
const PER_CALL: usize = 200;

/// A kind of object that operations wait for.
pub(crate) trait Polled: Sized + Send + Sync {
    /// The client of the service of these objects.
    type Client: Sync;

    /// The longest pause between two polls.
    const LONGEST: Duration;

    /// Reads at most 200 objects by their IDs, and returns those that exist with their IDs. The result may contain
    /// other objects, too.
    fn describe(
        client: &Self::Client,
        ids: &[String],
    ) -> impl Future<Output = Result<Vec<(String, Self)>, Failure>> + Send;
}

/// Shared polls of the objects of one kind.
pub(crate) struct Poller<T> {
    watched: Mutex<Watched>,
    /// Held by the waiter that collects the IDs of the next poll.
    gather: tokio::sync::Mutex<()>,
    /// One permit for each poll at a time.
    in_progress: Semaphore,
    /// Notified when a poll has ended, including one that was dropped.
    ended: Notify,
    /// The result of the latest poll, for all waiters.
    rounds: watch::Sender<Round<T>>,
}

#[derive(Default)]
struct Watched {
    /// The IDs, with the number of waiters for each.
    ids: BTreeMap<String, usize>,
    /// The number of polls that have started.
    started: u64,
}

/// The result of one poll.
struct Round<T> {
    number: u64,
    seen: Arc<Result<HashMap<String, T>, Failure>>,
}

/// Notifies of the end of a poll when it is dropped.
struct Ended<'a>(&'a Notify);

/// The interest of one waiter in one object, until it is dropped.
struct Interest<'a> {
    watched: &'a Mutex<Watched>,
    id: &'a str,
}

impl<T: Polled> Poller<T> {
    /// Polls an object until `judge` returns `Done` for it, or an error. `judge` gets `None` for an object that AWS
    /// does not return. The first poll is sent even if the deadline has passed, and the last one at the deadline. The
    /// pauses are those of [`Backoff::shared`]. A poll that fails fails for all waiters.
    pub(crate) async fn until<V>(
        &self,
        client: &T::Client,
        what: &str,
        id: &str,
        deadlines: &Deadlines,
        judge: impl Fn(Option<&T>) -> Result<Poll<V>, Failure>,
    ) -> Result<V, Failure> {
        let backoff = Backoff::new(T::LONGEST);
        let mut rounds = self.rounds.subscribe();
        // A poll that started before this wait may return an older state.
        let (_interest, mut after) = self.watch(id);
        let mut last: Option<String> = None;
        let announced = Announced::default();
        loop {
            let rest = deadlines.deadline.saturating_duration_since(Instant::now());
            let pause = last.as_ref().map(|_| backoff.shared().min(rest));
            let lead = async {
                if let Some(pause) = pause {
                    tokio::time::sleep(pause).await;
                }
                self.poll(client, after).await;
            };
            let round = tokio::select! {
                biased;
                round = rounds.wait_for(|round| round.number > after) => {
                    round.expect("the sender lives as long as this poller").clone()
                }
                () = lead => self.rounds.borrow().clone(),
                () = deadlines.stop.cancelled(), if last.is_some() => {
                    return Err(WaitEnded::Stopped.failure(what, &backoff, &last.unwrap_or_default()));
                }
                () = tokio::time::sleep_until(deadlines.deadline + LAST_POLL), if last.is_some() => {
                    return Err(WaitEnded::Deadline.failure(what, &backoff, &last.unwrap_or_default()));
                }
            };
            after = round.number;
            match round.seen.as_ref() {
                Err(failure) => return Err(failure.clone()),
                Ok(seen) => match judge(seen.get(id))? {
                    Poll::Done(value) => return Ok(value),
                    Poll::Pending(words) if Instant::now() >= deadlines.deadline => {
                        return Err(WaitEnded::Deadline.failure(what, &backoff, &words));
                    }
                    Poll::Pending(words) => {
                        announced.waiting(what, &words);
                        last = Some(words);
                    }
                },
            }
        }
    }

    /// Reads the object once. `None` if AWS does not return it.
    pub(crate) async fn now(&self, client: &T::Client, id: &str) -> Result<Option<T>, Failure>
    where
        T: Clone,
    {
        // The first poll is sent even at the deadline, and its result is always accepted.
        let deadlines = Deadlines::until(Instant::now(), Default::default());
        self.until(client, "poll", id, &deadlines, |object| Ok(Poll::Done(object.cloned()))).await
    }

    /// Registers interest in an ID. Returns the number of polls that have started.
    fn watch<'a>(&'a self, id: &'a str) -> (Interest<'a>, u64) {
        let mut watched = lock(&self.watched);
        *watched.ids.entry(id.to_string()).or_default() += 1;
        (Interest { watched: &self.watched, id }, watched.started)
    }

    /// Ensures that a poll with a higher number than `after` has ended: waits for one that has started, or sends one,
    /// which reads all watched objects and publishes the result.
    async fn poll(&self, client: &T::Client, after: u64) {
        loop {
            let ended = self.ended.notified();
            let gather = self.gather.lock().await;
            if self.rounds.borrow().number > after {
                return;
            }
            if lock(&self.watched).started > after && self.in_progress.available_permits() < POLLS {
                drop(gather);
                ended.await;
                continue;
            }
            let _ended = Ended(&self.ended);
            let _in_progress = self.in_progress.acquire().await;
            tokio::time::sleep(GATHER).await;
            let (ids, number) = {
                let mut watched = lock(&self.watched);
                watched.started += 1;
                (watched.ids.keys().cloned().collect::<Vec<_>>(), watched.started)
            };
            drop(gather);
            // Its failure ends all waits. The waits themselves end at their deadlines.
            let seen = Arc::new(RetryLimits::without_deadline(describe(client, &ids)).await);
            self.rounds.send_if_modified(|last| {
                let is_newer = number > last.number;
                if is_newer {
                    *last = Round { number, seen };
                }
                is_newer
            });
            return;
        }
    }
}

async fn describe<T: Polled>(client: &T::Client, ids: &[String]) -> Result<HashMap<String, T>, Failure> {
    let mut seen = HashMap::new();
    for ids in ids.chunks(PER_CALL) {
        seen.extend(T::describe(client, ids).await?);
    }
    Ok(seen)
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Default for Poller<T> {
    fn default() -> Poller<T> {
        let none = Round { number: 0, seen: Arc::new(Ok(HashMap::new())) };
        Poller {
            watched: Mutex::default(),
            gather: Default::default(),
            in_progress: Semaphore::new(POLLS),
            ended: Notify::new(),
            rounds: watch::Sender::new(none),
        }
    }
}

impl<T> Clone for Round<T> {
    fn clone(&self) -> Round<T> {
        Round { number: self.number, seen: self.seen.clone() }
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        let mut watched = lock(self.watched);
        if let Some(count) = watched.ids.get_mut(self.id) {
            *count -= 1;
            if *count == 0 {
                watched.ids.remove(self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{Subnet, SubnetState};
    use futures::future::join_all;

    use super::*;
    use crate::aws::Session;
    use crate::aws::ec2::recorded::Recorded;
    use crate::cloud::Cause;

    const DESCRIBE: &str = "DescribeSubnets";

    fn subnets(state: &str) -> String {
        let items: String =
            (0..5).map(|n| format!("<item><subnetId>subnet-{n}</subnetId><state>{state}</state></item>")).collect();
        format!("<subnetSet>{items}</subnetSet>")
    }

    fn deadlines(milliseconds: u64) -> Deadlines {
        Deadlines::until(Instant::now() + Duration::from_millis(milliseconds), Default::default())
    }

    fn available(subnet: Option<&Subnet>) -> Result<Poll<()>, Failure> {
        Ok(match subnet.and_then(Subnet::state) {
            Some(SubnetState::Available) => Poll::Done(()),
            state => Poll::Pending(format!("{state:?}")),
        })
    }

    async fn wait(session: &Session, id: &str, deadlines: &Deadlines) -> Result<(), Failure> {
        session.pollers.subnets.until(&session.ec2, "CreateSubnet", id, deadlines, available).await
    }

    fn is_watched(session: &Session) -> bool {
        !lock(&session.pollers.subnets.watched).ids.is_empty()
    }

    #[tokio::test(start_paused = true)]
    async fn one_poll_serves_all_waiters() {
        let aws = Recorded::default()
            .on(DESCRIBE, &subnets("pending"))
            .on(DESCRIBE, &subnets("pending"))
            .on(DESCRIBE, &subnets("available"));
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        let ids: Vec<String> = (0..5).map(|n| format!("subnet-{n}")).collect();
        for result in join_all(ids.iter().map(|id| wait(&session, id, &deadlines))).await {
            result.unwrap();
        }
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 3);
        assert_eq!(
            (calls[0]["Filter.1.Name"].as_str(), calls[0]["Filter.1.Value.5"].as_str()),
            ("subnet-id", "subnet-4")
        );
        assert!(!is_watched(&session));
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_that_arrives_during_a_poll_gets_the_next_one() {
        let aws = Recorded::default().slow(Duration::from_millis(100)).on(DESCRIBE, &subnets("available"));
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        let late = async {
            while aws.calls(DESCRIBE).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            wait(&session, "subnet-2", &deadlines).await
        };
        let (early, late) = tokio::join!(wait(&session, "subnet-1", &deadlines), late);
        early.and(late).unwrap();
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 2);
        assert_eq!((calls[0].get("Filter.1.Value.2"), calls[1]["Filter.1.Value.2"].as_str()), (None, "subnet-2"));
    }

    #[tokio::test(start_paused = true)]
    async fn waiters_that_arrive_during_three_polls_share_the_next_one() {
        let aws = Recorded::default().slow(Duration::from_millis(100)).on(DESCRIBE, &subnets("available"));
        let (session, deadlines, start) = (aws.session(), deadlines(10_000), Instant::now());
        let waits = (0..5).map(|n| {
            let (session, deadlines) = (&session, &deadlines);
            async move {
                tokio::time::sleep(Duration::from_millis(20 * n)).await;
                wait(session, &format!("subnet-{n}"), deadlines).await.unwrap();
                start.elapsed().as_millis()
            }
        });
        // Each poll starts 5 ms after its first waiter has arrived, and the fourth one after the end of the first.
        assert_eq!(join_all(waits).await, [105, 125, 145, 210, 210]);
        assert_eq!(aws.calls(DESCRIBE).len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_poll_fails_for_all_waiters() {
        let aws = Recorded::default().fail(DESCRIBE, 400, "UnauthorizedOperation", "You are not authorized");
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        for result in join_all(["subnet-1", "subnet-2"].map(|id| wait(&session, id, &deadlines))).await {
            assert_eq!(result.unwrap_err().cause, Cause::Denied);
        }
        assert_eq!(aws.calls(DESCRIBE).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_ends_does_not_affect_other_waiters() {
        let pending = subnets("pending");
        let aws = (0..6).fold(Recorded::default(), |aws, _| aws.on(DESCRIBE, &pending));
        let aws = aws.on(DESCRIBE, &subnets("available"));
        let (session, stopped, short, long) = (aws.session(), deadlines(10_000), deadlines(50), deadlines(10_000));
        let stop = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stopped.stop.cancel();
        };
        let (stopped, short, long, ()) = tokio::join!(
            wait(&session, "subnet-1", &stopped),
            wait(&session, "subnet-2", &short),
            wait(&session, "subnet-3", &long),
            stop
        );
        assert_eq!(stopped.unwrap_err().cause, Cause::Stopped);
        let failure = short.unwrap_err();
        assert_eq!((failure.cause, failure.action.as_str()), (Cause::TimedOut, "CreateSubnet"));
        assert!(failure.message.contains("Pending"), "{}", failure.message);
        long.unwrap();
        assert!(!is_watched(&session));
    }

    #[tokio::test(start_paused = true)]
    async fn another_waiter_takes_over_when_a_poll_is_dropped() {
        let aws = Recorded::default().slow(Duration::from_millis(100)).on(DESCRIBE, &subnets("available"));
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        let leader = tokio::time::timeout(Duration::from_millis(50), wait(&session, "subnet-1", &deadlines));
        let (dropped, other) = tokio::join!(leader, wait(&session, "subnet-2", &deadlines));
        assert!(dropped.is_err());
        other.unwrap();
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 2);
        assert!(!calls[1].contains_key("Filter.1.Value.2"), "{:?}", calls[1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_reads_at_most_200_objects() {
        let aws = Recorded::default().on(DESCRIBE, "<subnetSet/>");
        let session = aws.session();
        let ids: Vec<String> = (0..201).map(|n| format!("subnet-{n}")).collect();
        let reads = ids.iter().map(|id| session.pollers.subnets.now(&session.ec2, id));
        for result in join_all(reads).await {
            assert_eq!(result.unwrap(), None);
        }
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 2);
        assert!(calls[0].contains_key("Filter.1.Value.200") && !calls[0].contains_key("Filter.1.Value.201"));
    }
}
