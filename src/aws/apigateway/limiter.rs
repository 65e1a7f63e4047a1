//! API Gateway takes ten control calls a second, with bursts of forty, from one account in one Region: all kinds
//! of calls together, reads included. Of each call that changes a custom domain it takes one in thirty seconds. AWS
//! raises neither.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_apigatewayv2::Client;
use tokio::time::Instant;

use crate::aws::Session;
use crate::cloud::{Cause, Failure, Patience};

/// All calls together, a little below AWS's limit: others call too. The plan before an apply was another process, which
/// may have used half of what AWS allows at once.
const CALLS: Limit = Limit { per_second: 9.0, burst: 20.0 };
/// Each call that changes a domain, by itself. A second more than AWS wants, as calls do not travel equally fast.
const DOMAIN_CALLS: Limit = Limit { per_second: 1.0 / 31.0, burst: 1.0 };

/// What shares a limit: the account, where it is known, the Region, and the call that has one for itself.
type Place = (Option<String>, String, Option<&'static str>);

/// The limits of all calls of this process. Each provider process has its own, so AWS may still answer 429 when several
/// run.
#[derive(Debug, Default)]
pub(crate) struct Limiter(Mutex<HashMap<Place, Bucket>>);

/// The client, once it may be used for one call. Every call to API Gateway begins with this.
pub(crate) async fn turn(session: &Session) -> &Client {
    let pause = pause(session, None, CALLS);
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    &session.apigateway
}

/// Waits until a call that changes a domain may be sent, such as `CreateDomainName`. The first one passes at once.
/// Fails when the time is over before, or Terraform asks to stop.
pub(super) async fn domain_turn(session: &Session, action: &'static str, patience: &Patience) -> Result<(), Failure> {
    let pause = pause(session, Some(action), DOMAIN_CALLS);
    if pause.is_zero() {
        return Ok(());
    }
    let seen = || format!("API Gateway takes one {action} in 30 s, and others are before this one");
    let rest = patience.deadline.saturating_duration_since(Instant::now());
    tokio::select! {
        () = tokio::time::sleep(pause.min(rest)) => match pause > rest {
            false => Ok(()),
            true => Err(Failure::new(Cause::TimedOut, action, format!("gave up waiting; {}", seen()))),
        },
        () = patience.stop.cancelled() => {
            Err(Failure::new(Cause::Stopped, action, format!("stopped waiting; {}", seen())))
        }
    }
}

fn pause(session: &Session, action: Option<&'static str>, limit: Limit) -> Duration {
    let place = (session.scope.account.clone(), session.scope.region.clone(), action);
    let mut buckets = session.process.apigateway.0.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    buckets.entry(place).or_insert_with(|| Bucket::full(limit, now)).take(now)
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    per_second: f64,
    /// Calls at once after a quiet time.
    burst: f64,
}

/// A token bucket. Whoever finds it empty takes a token of the future and waits for it, so that turns are given
/// in the order of asking.
#[derive(Debug)]
struct Bucket {
    limit: Limit,
    /// Below zero by the number of those who wait.
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    fn full(limit: Limit, now: Instant) -> Bucket {
        Bucket { limit, tokens: limit.burst, filled: now }
    }

    /// Takes one token; returns how long to wait for it.
    fn take(&mut self, now: Instant) -> Duration {
        let gained = now.saturating_duration_since(self.filled).as_secs_f64() * self.limit.per_second;
        self.tokens = (self.tokens + gained).min(self.limit.burst) - 1.0;
        self.filled = now;
        Duration::from_secs_f64((-self.tokens / self.limit.per_second).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::recorded::Recorded;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(CALLS, start);
        let pauses: Vec<Duration> = (0..47).map(|_| bucket.take(start)).collect();
        assert!(pauses[..20].iter().all(Duration::is_zero), "{pauses:?}");
        assert!((pauses[20].as_secs_f64() - 1.0 / 9.0).abs() < 1e-6, "{:?}", pauses[20]);
        assert!((pauses[46].as_secs_f64() - 3.0).abs() < 1e-6, "27 calls over the burst take three seconds");
    }

    #[test]
    fn in_no_second_are_more_calls_sent_than_aws_takes() {
        let start = Instant::now();
        let mut bucket = Bucket::full(CALLS, start);
        // A caller that asks every 10 ms for ten seconds, and when each of its calls leaves.
        let sent: Vec<Duration> = (0..1000u64)
            .map(|step| Duration::from_millis(step * 10))
            .map(|asked| asked + bucket.take(start + asked))
            .collect();
        for seconds in [1u64, 3, 10] {
            let until = Duration::from_secs(seconds);
            let calls = sent.iter().filter(|at| **at < until).count() as u64;
            assert!(calls <= 40 + 10 * seconds, "{calls} calls in {seconds} s");
        }
    }

    #[test]
    fn a_quiet_time_fills_it_but_not_over_the_burst() {
        let start = Instant::now();
        let mut bucket = Bucket::full(CALLS, start);
        for _ in 0..20 {
            bucket.take(start);
        }
        let later = start + Duration::from_secs(3600);
        let waits = (0..24).filter(|_| !bucket.take(later).is_zero()).count();
        assert_eq!(waits, 4);
    }

    #[test]
    fn the_first_call_about_a_domain_passes_at_once_and_each_further_one_half_a_minute_later() {
        let start = Instant::now();
        let mut bucket = Bucket::full(DOMAIN_CALLS, start);
        let pauses: Vec<u64> = (0..3).map(|_| bucket.take(start).as_secs_f64().round() as u64).collect();
        assert_eq!(pauses, [0, 31, 62]);
        assert!(bucket.take(start + Duration::from_secs(3600)).is_zero(), "a quiet time fills it");
        assert!(!bucket.take(start + Duration::from_secs(3601)).is_zero(), "but with one call only");
    }

    #[tokio::test(start_paused = true)]
    async fn each_call_about_a_domain_has_a_limit_of_its_own_and_its_wait_ends_with_time_and_stop() {
        let aws = Recorded::default();
        let (session, start) = (aws.session("us-east-1"), Instant::now());
        let within = |seconds| Patience::until(Instant::now() + Duration::from_secs(seconds), Default::default());
        for action in ["CreateDomainName", "UpdateDomainName", "DeleteDomainName"] {
            domain_turn(&session, action, &within(0)).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "the first call of each action does not wait");
        domain_turn(&session, "UpdateDomainName", &within(31)).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(31));

        // By now the limit of this action has recovered: one call passes, and the next would wait for 31 s.
        domain_turn(&session, "CreateDomainName", &within(0)).await.unwrap();
        let failure = domain_turn(&session, "CreateDomainName", &within(30)).await.unwrap_err();
        assert_eq!((failure.cause, start.elapsed()), (Cause::TimedOut, Duration::from_secs(61)));
        let patience = within(60);
        patience.stop.cancel();
        let failure = domain_turn(&session, "CreateDomainName", &patience).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Stopped);
        domain_turn(&aws.session("eu-west-1"), "CreateDomainName", &patience).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(61), "neither a stop nor another Region waits");
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_one_region_share_the_limit_of_all_calls() {
        let aws = Recorded::default();
        let (one, other, start) = (aws.session("us-east-1"), aws.session("us-east-1"), Instant::now());
        for _ in 0..10 {
            turn(&one).await;
            turn(&other).await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "the burst does not wait");
        for _ in 0..9 {
            turn(&one).await;
            turn(&other).await;
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!((2.0..2.1).contains(&seconds), "18 calls over the burst took {seconds} s");
    }
}
