//! Route 53 takes five requests a second from one account: all kinds of calls together, reads included.

use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_route53::Client;

use crate::aws::Session;

const CALLS: usize = 5;
/// Somewhat longer than AWS's second, since calls do not travel equally fast. Tests ask nobody who would mind.
const WITHIN: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 1100 });

/// By account, where it is known. Each provider process has its own, so AWS may still answer with a throttle when
/// several run.
static WINDOWS: LazyLock<Mutex<HashMap<Option<String>, Window>>> = LazyLock::new(Mutex::default);

/// The client, once it may be used for one call. Every call to Route 53 begins with this.
pub(crate) async fn turn(session: &Session) -> &Client {
    let pause = {
        let mut windows = WINDOWS.lock().unwrap_or_else(PoisonError::into_inner);
        windows.entry(session.scope.account.clone()).or_default().take(Instant::now(), WITHIN)
    };
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    &session.route53
}

/// The moments of the last calls, some of them in the future: turns are given in the order of asking.
#[derive(Default)]
struct Window(VecDeque<Instant>);

impl Window {
    /// Takes a turn; returns how long to wait for it.
    fn take(&mut self, now: Instant, within: Duration) -> Duration {
        let earliest = match self.0.len() < CALLS {
            true => now,
            false => self.0.pop_front().map_or(now, |oldest| oldest + within),
        };
        let turn = earliest.max(now);
        self.0.push_back(turn);
        turn - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_has_more_calls_than_aws_takes() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut window = Window::default();
        // A caller that asks every 50 ms, with a pause of three seconds, and when each of its calls leaves.
        let asked = (0..40u64).map(|step| Duration::from_millis(step * 50 + if step < 20 { 0 } else { 3000 }));
        let sent: Vec<Duration> = asked.map(|asked| asked + window.take(start + asked, second)).collect();
        assert!(sent.is_sorted(), "{sent:?}");
        for (place, first) in sent.iter().enumerate() {
            let calls = sent[place..].iter().filter(|at| **at < *first + second).count();
            assert!(calls <= CALLS, "{calls} calls in the second from {first:?}");
        }
        assert_eq!(sent[4], Duration::from_millis(200), "the first five do not wait");
        assert_eq!(sent[39] - sent[19], Duration::from_secs(4), "twenty more calls take four seconds");
    }
}
