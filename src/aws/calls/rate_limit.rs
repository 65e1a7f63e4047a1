//! Rate limits of the calls of an account. A caller that has to wait reserves a slot, so that calls are sent in the
//! order of their reservations.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::cloud::{Cause, Deadlines, Failure};

/// A rate limit. AWS documents limits in both of these forms.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// A token bucket: `burst` calls at once after an idle time, then `per_second`.
    Bucket { per_second: f64, burst: f64 },
    /// At most this many calls in any period of this length.
    Window { calls: usize, period: Duration },
}

/// The calls that share a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LimitKey {
    /// `None` if the account is unknown.
    pub(crate) account: Option<String>,
    /// `None` for a service without Regions.
    pub(crate) region: Option<String>,
    /// Such as `apigateway`, or `CreateDomainName` for a call with its own limit.
    pub(crate) calls: &'static str,
}

/// The rate limits of one provider process. Each process has its own, so AWS may still throttle if several run.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter(Mutex<HashMap<LimitKey, State>>);

impl RateLimiter {
    /// Waits until one more call may be sent.
    pub(crate) async fn acquire(&self, key: LimitKey, limit: Limit) {
        let pause = self.reserve(key, limit);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }

    /// Waits until one more call may be sent, but fails if the deadline passes or Terraform requests a stop first.
    /// `why` explains the limit in such a failure.
    pub(crate) async fn acquire_until(
        &self,
        key: LimitKey,
        limit: Limit,
        deadlines: &Deadlines,
        why: &str,
    ) -> Result<(), Failure> {
        let action = key.calls;
        let pause = self.reserve(key, limit);
        if pause.is_zero() {
            return Ok(());
        }
        let rest = deadlines.deadline.saturating_duration_since(Instant::now());
        tokio::select! {
            () = tokio::time::sleep(pause.min(rest)) => match pause > rest {
                false => Ok(()),
                true => Err(Failure::new(Cause::TimedOut, action, format!("gave up waiting; {why}"))),
            },
            () = deadlines.stop.cancelled() => {
                Err(Failure::new(Cause::Stopped, action, format!("stopped waiting; {why}")))
            }
        }
    }

    /// Reserves the next slot and returns the pause until then.
    fn reserve(&self, key: LimitKey, limit: Limit) -> Duration {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        states.entry(key).or_insert_with(|| State::unused(limit, now)).take(now)
    }
}

#[derive(Debug)]
enum State {
    /// `tokens` is negative if callers wait, by their number.
    Bucket { per_second: f64, burst: f64, tokens: f64, filled: Instant },
    /// `sent` has the times at which the last calls were or will be sent.
    Window { calls: usize, period: Duration, sent: VecDeque<Instant> },
}

impl State {
    fn unused(limit: Limit, now: Instant) -> State {
        match limit {
            Limit::Bucket { per_second, burst } => State::Bucket { per_second, burst, tokens: burst, filled: now },
            Limit::Window { calls, period } => State::Window { calls, period, sent: VecDeque::new() },
        }
    }

    /// Reserves the next slot and returns the pause until then.
    fn take(&mut self, now: Instant) -> Duration {
        match self {
            State::Bucket { per_second, burst, tokens, filled } => {
                let gained = now.saturating_duration_since(*filled).as_secs_f64() * *per_second;
                *tokens = (*tokens + gained).min(*burst) - 1.0;
                *filled = now;
                Duration::from_secs_f64((-*tokens / *per_second).max(0.0))
            }
            State::Window { calls, period, sent } => {
                let oldest = if sent.len() < *calls { None } else { sent.pop_front() };
                let at = oldest.map_or(now, |oldest| (oldest + *period).max(now));
                sent.push_back(at);
                at - now
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKET: Limit = Limit::Bucket { per_second: 9.0, burst: 20.0 };

    #[test]
    fn a_window_never_exceeds_its_limit() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut window = State::unused(Limit::Window { calls: 5, period: second }, start);
        // A request every 50 ms, with a pause of three seconds, and the time at which each of the calls is sent.
        let requested = (0..40u64).map(|step| Duration::from_millis(step * 50 + if step < 20 { 0 } else { 3000 }));
        let sent: Vec<Duration> = requested.map(|at| at + window.take(start + at)).collect();
        assert!(sent.is_sorted(), "{sent:?}");
        for (place, first) in sent.iter().enumerate() {
            let calls = sent[place..].iter().filter(|at| **at < *first + second).count();
            assert!(calls <= 5, "{calls} calls in the second from {first:?}");
        }
        assert_eq!(sent[4], Duration::from_millis(200), "the first five do not wait");
        assert_eq!(sent[39] - sent[19], Duration::from_secs(4), "twenty more calls take four seconds");
    }

    #[test]
    fn calls_over_the_burst_are_sent_at_the_rate() {
        let start = Instant::now();
        let mut bucket = State::unused(BUCKET, start);
        let pauses: Vec<Duration> = (0..47).map(|_| bucket.take(start)).collect();
        assert!(pauses[..20].iter().all(Duration::is_zero), "{pauses:?}");
        assert!((pauses[20].as_secs_f64() - 1.0 / 9.0).abs() < 1e-6, "{:?}", pauses[20]);
        assert!((pauses[46].as_secs_f64() - 3.0).abs() < 1e-6, "27 calls over the burst take three seconds");
    }

    #[test]
    fn a_bucket_never_exceeds_its_limit() {
        let start = Instant::now();
        let mut bucket = State::unused(BUCKET, start);
        // A request every 10 ms for ten seconds, and the time at which each of the calls is sent.
        let sent: Vec<Duration> =
            (0..1000u64).map(|step| Duration::from_millis(step * 10)).map(|at| at + bucket.take(start + at)).collect();
        for seconds in [1u64, 3, 10] {
            let until = Duration::from_secs(seconds);
            let calls = sent.iter().filter(|at| **at < until).count() as u64;
            assert!(calls <= 40 + 10 * seconds, "{calls} calls in {seconds} s");
        }
    }

    #[test]
    fn idle_time_fills_the_bucket_up_to_the_burst() {
        let start = Instant::now();
        let mut bucket = State::unused(BUCKET, start);
        for _ in 0..20 {
            bucket.take(start);
        }
        let later = start + Duration::from_secs(3600);
        let waits = (0..24).filter(|_| !bucket.take(later).is_zero()).count();
        assert_eq!(waits, 4);
    }

    #[test]
    fn a_limit_below_one_call_per_second_spaces_the_calls() {
        let start = Instant::now();
        let mut bucket = State::unused(Limit::Bucket { per_second: 1.0 / 31.0, burst: 1.0 }, start);
        let pauses: Vec<u64> = (0..3).map(|_| bucket.take(start).as_secs_f64().round() as u64).collect();
        assert_eq!(pauses, [0, 31, 62]);
        assert!(bucket.take(start + Duration::from_secs(3600)).is_zero(), "idle time fills the bucket");
        assert!(!bucket.take(start + Duration::from_secs(3601)).is_zero(), "but with one call only");
    }
}
