//! One look at all NAT gateways that anybody waits for. Each takes minutes, a topology has many, and AWS limits
//! describing calls for the whole account.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_ec2::types::NatGateway;
use tokio::sync::{Notify, watch};

use super::super::waits::{self, Look, Over, Pauses};
use super::super::{AwsError, Session};
use super::filter_any;
use crate::cloud::{Failure, Patience};

/// The NAT gateways that are waited for, and the task that looks at them while there are any.
#[derive(Clone, Default)]
pub(crate) struct NatGatewayPoller(Arc<Shared>);

#[derive(Default)]
struct Shared {
    watched: Mutex<Watched>,
    /// Wakes the task out of a long pause when another NAT gateway comes.
    joined: Notify,
}

#[derive(Default)]
struct Watched {
    /// Ids with the number of those who wait for them.
    ids: BTreeMap<String, usize>,
    /// Where the running task tells what it saw; `None` while nothing is watched.
    rounds: Option<watch::Receiver<Round>>,
    /// How many looks have begun.
    begun: u64,
}

/// What one look showed.
#[derive(Clone)]
struct Round {
    number: u64,
    seen: Arc<Result<HashMap<String, NatGateway>, Failure>>,
}

/// Someone's interest in one NAT gateway, which ends with it.
struct Interest<'a> {
    shared: &'a Shared,
    id: &'a str,
}

impl NatGatewayPoller {
    /// Waits until `judge` is content with what AWS shows of a NAT gateway, `None` being nothing.
    pub(crate) async fn until<T>(
        &self,
        session: &Session,
        what: &str,
        id: &str,
        patience: &Patience,
        judge: impl Fn(Option<&NatGateway>) -> Result<Look<T>, Failure>,
    ) -> Result<T, Failure> {
        let started = Pauses::new(waits::MINUTES);
        // A look that began before this wait may show how things were before.
        let (interest, mut rounds, mut seen_until) = self.watch(session, id);
        let mut last = "no look was made yet".to_string();
        loop {
            let round = tokio::select! {
                round = rounds.wait_for(|round| round.number > seen_until) => {
                    round.expect("the task that looks goes on while anybody waits").clone()
                }
                () = tokio::time::sleep_until(patience.deadline.into()) => {
                    return Err(Over::Deadline.failure(what, &started, &last));
                }
                () = patience.stop.cancelled() => return Err(Over::Stopped.failure(what, &started, &last)),
            };
            seen_until = round.number;
            match round.seen.as_ref() {
                Err(failure) => return Err(failure.clone()),
                Ok(seen) => match judge(seen.get(id))? {
                    Look::Done(value) => {
                        drop(interest);
                        return Ok(value);
                    }
                    Look::Pending(words) => last = words,
                },
            }
        }
    }

    /// Registers interest in an id and starts the task if it does not run.
    fn watch<'a>(&'a self, session: &Session, id: &'a str) -> (Interest<'a>, watch::Receiver<Round>, u64) {
        let mut watched = self.0.lock();
        *watched.ids.entry(id.to_string()).or_default() += 1;
        let rounds = match &watched.rounds {
            Some(rounds) => rounds.clone(),
            None => {
                let none = Round { number: 0, seen: Arc::new(Ok(HashMap::new())) };
                let (sender, receiver) = watch::channel(none);
                watched.rounds = Some(receiver.clone());
                watched.begun = 0;
                tokio::spawn(look_while_watched(self.0.clone(), session.ec2.clone(), sender));
                receiver
            }
        };
        self.0.joined.notify_one();
        (Interest { shared: &self.0, id }, rounds, watched.begun)
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        let mut watched = self.shared.lock();
        if let Some(count) = watched.ids.get_mut(self.id) {
            *count -= 1;
            if *count == 0 {
                watched.ids.remove(self.id);
            }
        }
    }
}

/// Looks until nobody waits any more. The pause before each look lets operations that start together share it.
async fn look_while_watched(shared: Arc<Shared>, ec2: aws_sdk_ec2::Client, sender: watch::Sender<Round>) {
    let mut pauses = Pauses::new(waits::MINUTES);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pauses.next()) => {}
            () = shared.joined.notified() => {
                pauses = Pauses::new(waits::MINUTES);
                tokio::time::sleep(pauses.next()).await;
            }
        }
        let (ids, number) = {
            let mut watched = shared.lock();
            if watched.ids.is_empty() {
                // Whoever comes next starts another task.
                watched.rounds = None;
                return;
            }
            watched.begun += 1;
            (watched.ids.keys().cloned().collect::<Vec<_>>(), watched.begun)
        };
        let seen = Arc::new(look(&ec2, &ids).await);
        sender.send_replace(Round { number, seen });
    }
}

async fn look(ec2: &aws_sdk_ec2::Client, ids: &[String]) -> Result<HashMap<String, NatGateway>, Failure> {
    let mut seen = HashMap::new();
    // A filter takes at most 200 values.
    for ids in ids.chunks(200) {
        let filter = filter_any("nat-gateway-id", ids.iter().map(String::as_str));
        let call = ec2.describe_nat_gateways().filter(filter).into_paginator().items().send();
        let found = call.collect::<Result<Vec<_>, _>>().await.map_err(|error| error.failure("DescribeNatGateways"))?;
        seen.extend(found.into_iter().filter_map(|it| Some((it.nat_gateway_id()?.to_string(), it))));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use aws_sdk_ec2::types::NatGatewayState;

    use super::*;
    use crate::aws::ec2::recorded::Recorded;
    use crate::cloud::Cause;

    fn gateways(state: &str) -> String {
        let items: String = (0..5)
            .map(|n| format!("<item><natGatewayId>nat-{n}</natGatewayId><state>{state}</state></item>"))
            .collect();
        format!("<natGatewaySet>{items}</natGatewaySet>")
    }

    fn patience(milliseconds: u64) -> Patience {
        Patience::until(Instant::now() + Duration::from_millis(milliseconds), Default::default())
    }

    fn available(gateway: Option<&NatGateway>) -> Result<Look<()>, Failure> {
        Ok(match gateway.and_then(NatGateway::state) {
            Some(NatGatewayState::Available) => Look::Done(()),
            state => Look::Pending(format!("{state:?}")),
        })
    }

    #[tokio::test]
    async fn one_look_serves_all_who_wait() {
        let aws = Recorded::default()
            .on("DescribeNatGateways", &gateways("pending"))
            .on("DescribeNatGateways", &gateways("pending"))
            .on("DescribeNatGateways", &gateways("available"));
        let session = aws.session();
        let patience = patience(10_000);
        let ids: Vec<String> = (0..5).map(|n| format!("nat-{n}")).collect();
        let waits = ids.iter().map(|id| session.nat_gateways.until(&session, "test", id, &patience, available));
        for result in futures::future::join_all(waits).await {
            result.unwrap();
        }
        let calls = aws.calls("DescribeNatGateways");
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[0]["Filter.1.Value.5"], "nat-4");
    }

    #[tokio::test]
    async fn looking_ends_with_the_last_wait_and_begins_again_with_the_next() {
        let aws = Recorded::default().on("DescribeNatGateways", &gateways("available"));
        let session = aws.session();
        for _ in 0..2 {
            let patience = patience(10_000);
            session.nat_gateways.until(&session, "test", "nat-1", &patience, available).await.unwrap();
            tokio::time::sleep(Duration::from_millis(80)).await;
            assert!(session.nat_gateways.0.lock().rounds.is_none());
        }
        assert_eq!(aws.calls("DescribeNatGateways").len(), 2);
    }

    #[tokio::test]
    async fn one_who_waits_too_long_leaves_the_others_alone() {
        let aws = Recorded::default().on("DescribeNatGateways", &gateways("pending"));
        let session = aws.session();
        let patience = patience(100);
        let failure =
            session.nat_gateways.until(&session, "CreateNatGateway", "nat-1", &patience, available).await.unwrap_err();
        assert_eq!(failure.cause, Cause::TimedOut);
        assert!(session.nat_gateways.0.lock().ids.is_empty());
    }
}
