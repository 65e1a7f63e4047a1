//! API Gateway takes ten control calls a second, with bursts of forty, from one account in one Region: all kinds
//! of calls together, reads included, and AWS does not raise it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_apigatewayv2::Client;

use crate::aws::Session;

/// Calls per second, a little below AWS's limit: others call too.
const RATE: f64 = 9.0;
/// Calls at once after a quiet time.
const BURST: f64 = 36.0;

/// An account, where it is known, and a Region.
type Place = (Option<String>, String);

/// Each provider process has its own, so AWS may still answer 429 when several run.
static BUCKETS: LazyLock<Mutex<HashMap<Place, Bucket>>> = LazyLock::new(Mutex::default);

/// The client, once it may be used for one call. Every call to API Gateway begins with this.
pub(crate) async fn turn(session: &Session) -> &Client {
    let pause = {
        let place = (session.scope.account.clone(), session.scope.region.clone());
        let mut buckets = BUCKETS.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        buckets.entry(place).or_insert_with(|| Bucket::full(now)).take(now)
    };
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    &session.apigateway
}

/// A token bucket. Whoever finds it empty takes a token of the future and waits for it, so that turns are given
/// in the order of asking.
struct Bucket {
    /// Below zero by the number of those who wait.
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    fn full(now: Instant) -> Bucket {
        Bucket { tokens: BURST, filled: now }
    }

    /// Takes one token; returns how long to wait for it.
    fn take(&mut self, now: Instant) -> Duration {
        let gained = now.saturating_duration_since(self.filled).as_secs_f64() * RATE;
        self.tokens = (self.tokens + gained).min(BURST) - 1.0;
        self.filled = now;
        Duration::from_secs_f64((-self.tokens / RATE).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        let pauses: Vec<Duration> = (0..63).map(|_| bucket.take(start)).collect();
        assert!(pauses[..36].iter().all(Duration::is_zero), "{pauses:?}");
        assert!((pauses[36].as_secs_f64() - 1.0 / 9.0).abs() < 1e-6, "{:?}", pauses[36]);
        assert!((pauses[62].as_secs_f64() - 3.0).abs() < 1e-6, "27 calls over the burst take three seconds");
    }

    #[test]
    fn in_no_second_are_more_calls_sent_than_aws_takes() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
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
        let mut bucket = Bucket::full(start);
        for _ in 0..36 {
            bucket.take(start);
        }
        let later = start + Duration::from_secs(3600);
        let waits = (0..40).filter(|_| !bucket.take(later).is_zero()).count();
        assert_eq!(waits, 4);
    }
}
