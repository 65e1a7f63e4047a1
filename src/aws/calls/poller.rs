//! One look at all objects of a kind that anybody waits for: a topology has many, and AWS limits describing calls for
//! the whole account. Those who wait make the looks themselves, each for all, so that nothing goes on once nobody
//! waits. Who comes while a look is under way need not wait for its end: a second one may begin, and no more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;

use crate::aws::calls::wait::{Backoff, Poll, WaitEnded};
use crate::cloud::{Deadlines, Failure};

/// How long a look waits for others to join it.
const GATHER: Duration = Duration::from_millis(5);

/// How long the look that is made when patience ends may take.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// How many looks may be under way at once.
const LOOKS: usize = 2;

/// How many values a filter takes.
const PER_CALL: usize = 200;

/// A kind of object that is waited for.
pub(crate) trait Polled: Sized + Send + Sync {
    /// The client of the service that has these objects.
    type Client: Sync;

    /// The longest pause between two looks.
    const LONGEST: Duration;

    /// Those of at most 200 objects that exist, with their ids. Others may be among them.
    fn describe(
        client: &Self::Client,
        ids: &[String],
    ) -> impl Future<Output = Result<Vec<(String, Self)>, Failure>> + Send;
}

/// The objects of one kind that are waited for.
pub(crate) struct Poller<T> {
    watched: Mutex<Watched>,
    /// Held by the one who gathers those that are to be looked at next.
    gather: tokio::sync::Mutex<()>,
    /// One for each look that may be under way.
    under_way: Semaphore,
    /// Tells that a look has ended, also one that was given up.
    ended: Notify,
    /// Where the one who looks tells the others what there was.
    rounds: watch::Sender<Round<T>>,
}

#[derive(Default)]
struct Watched {
    /// Ids with the number of those who wait for them.
    ids: BTreeMap<String, usize>,
    /// How many rounds have begun.
    begun: u64,
}

/// What one round showed.
struct Round<T> {
    number: u64,
    seen: Arc<Result<HashMap<String, T>, Failure>>,
}

/// A look, which tells that it has ended however it does.
struct Ended<'a>(&'a Notify);

/// Someone's interest in one object, which ends with it.
struct Interest<'a> {
    watched: &'a Mutex<Watched>,
    id: &'a str,
}

impl<T: Polled> Poller<T> {
    /// Waits until `judge` is content with what AWS shows of an object, `None` being nothing. The first look is made
    /// however little patience there is, and the last one when it ends; the pauses are those of [`Backoff::shared`]. A
    /// round that fails fails for all.
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
        // A round that began before this wait may show how things were before.
        let (_interest, mut after) = self.watch(id);
        let mut last: Option<String> = None;
        loop {
            let rest = deadlines.deadline.saturating_duration_since(Instant::now());
            let pause = last.as_ref().map(|_| backoff.shared().min(rest));
            let lead = async {
                if let Some(pause) = pause {
                    tokio::time::sleep(pause).await;
                }
                self.look(client, after).await;
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
                () = tokio::time::sleep_until(deadlines.deadline + LAST_LOOK), if last.is_some() => {
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
                    Poll::Pending(words) => last = Some(words),
                },
            }
        }
    }

    /// The object as AWS shows it now.
    pub(crate) async fn now(&self, client: &T::Client, id: &str) -> Result<Option<T>, Failure>
    where
        T: Clone,
    {
        // The first look is always made, and it is the only one.
        let deadlines = Deadlines::until(Instant::now(), Default::default());
        self.until(client, "look", id, &deadlines, |object| Ok(Poll::Done(object.cloned()))).await
    }

    /// Registers interest in an id, and tells how many rounds have begun.
    fn watch<'a>(&'a self, id: &'a str) -> (Interest<'a>, u64) {
        let mut watched = lock(&self.watched);
        *watched.ids.entry(id.to_string()).or_default() += 1;
        (Interest { watched: &self.watched, id }, watched.begun)
    }

    /// Sees to it that a round of a higher number than this has ended: waits for one that has begun, or makes one,
    /// which looks at everything that is watched and tells all.
    async fn look(&self, client: &T::Client, after: u64) {
        loop {
            let ended = self.ended.notified();
            let gather = self.gather.lock().await;
            if self.rounds.borrow().number > after {
                return;
            }
            if lock(&self.watched).begun > after && self.under_way.available_permits() < LOOKS {
                drop(gather);
                ended.await;
                continue;
            }
            let _ended = Ended(&self.ended);
            let _under_way = self.under_way.acquire().await;
            tokio::time::sleep(GATHER).await;
            let (ids, number) = {
                let mut watched = lock(&self.watched);
                watched.begun += 1;
                (watched.ids.keys().cloned().collect::<Vec<_>>(), watched.begun)
            };
            drop(gather);
            let seen = Arc::new(describe(client, &ids).await);
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
            under_way: Semaphore::new(LOOKS),
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
    async fn one_look_serves_all_who_wait() {
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
    async fn one_who_comes_during_a_round_gets_the_next() {
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
        let asked = aws.calls(DESCRIBE);
        assert_eq!(asked.len(), 2);
        assert_eq!((asked[0].get("Filter.1.Value.2"), asked[1]["Filter.1.Value.2"].as_str()), (None, "subnet-2"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_that_fails_fails_for_all() {
        let aws = Recorded::default().fail(DESCRIBE, 400, "UnauthorizedOperation", "You are not authorized");
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        for result in join_all(["subnet-1", "subnet-2"].map(|id| wait(&session, id, &deadlines))).await {
            assert_eq!(result.unwrap_err().cause, Cause::Denied);
        }
        assert_eq!(aws.calls(DESCRIBE).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_who_is_stopped_or_waits_too_long_leaves_the_others_alone() {
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
    async fn one_who_goes_in_the_middle_of_a_look_leaves_the_lead_to_another() {
        let aws = Recorded::default().slow(Duration::from_millis(100)).on(DESCRIBE, &subnets("available"));
        let (session, deadlines) = (aws.session(), deadlines(10_000));
        let leader = tokio::time::timeout(Duration::from_millis(50), wait(&session, "subnet-1", &deadlines));
        let (gone, other) = tokio::join!(leader, wait(&session, "subnet-2", &deadlines));
        assert!(gone.is_err());
        other.unwrap();
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 2);
        assert!(!calls[1].contains_key("Filter.1.Value.2"), "{:?}", calls[1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_asks_for_two_hundred_at_most() {
        let aws = Recorded::default().on(DESCRIBE, "<subnetSet/>");
        let session = aws.session();
        let ids: Vec<String> = (0..201).map(|n| format!("subnet-{n}")).collect();
        let looks = ids.iter().map(|id| session.pollers.subnets.now(&session.ec2, id));
        for result in join_all(looks).await {
            assert_eq!(result.unwrap(), None);
        }
        let calls = aws.calls(DESCRIBE);
        assert_eq!(calls.len(), 2);
        assert!(calls[0].contains_key("Filter.1.Value.200") && !calls[0].contains_key("Filter.1.Value.201"));
    }
}
