//! A pace that AWS sets for a service: so many calls in a second from one account, whatever they are about.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Somewhat longer than AWS's second, since calls do not travel equally fast.
const SECOND: Duration = Duration::from_millis(1100);

/// What shares a pace: the account, where it is known, and the Region, for a service that has Regions.
type Place = (Option<String>, Option<String>);

/// The calls of one service. Each provider process has its own, so AWS may still throttle when several run.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: usize,
    windows: Mutex<BTreeMap<Place, Window>>,
}

/// The moments of the last calls, some of them in the future: turns are given in the order of asking.
#[derive(Debug, Default)]
struct Window(VecDeque<Instant>);

impl Pace {
    pub(crate) const fn new(per_second: usize) -> Pace {
        Pace { per_second, windows: Mutex::new(BTreeMap::new()) }
    }

    /// Waits until one more call may be sent.
    pub(crate) async fn turn(&self, account: Option<&str>, region: Option<&str>) {
        let pause = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let window = windows.entry((account.map(str::to_string), region.map(str::to_string))).or_default();
            window.take(Instant::now(), self.per_second, SECOND)
        };
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
}

impl Window {
    /// Takes a turn; returns how long to wait for it.
    fn take(&mut self, now: Instant, calls: usize, within: Duration) -> Duration {
        let earliest = match self.0.len() < calls {
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
        let sent: Vec<Duration> = asked.map(|asked| asked + window.take(start + asked, 5, second)).collect();
        assert!(sent.is_sorted(), "{sent:?}");
        for (place, first) in sent.iter().enumerate() {
            let calls = sent[place..].iter().filter(|at| **at < *first + second).count();
            assert!(calls <= 5, "{calls} calls in the second from {first:?}");
        }
        assert_eq!(sent[4], Duration::from_millis(200), "the first five do not wait");
        assert_eq!(sent[39] - sent[19], Duration::from_secs(4), "twenty more calls take four seconds");
    }
}
