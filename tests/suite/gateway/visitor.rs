//! A client that goes on calling a gateway while it is changed, and remembers every answer that it should not have had.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Bed, SECRET, text};
use crate::support::http;

/// Long enough for every test, so that one that hangs does not leave a client behind.
const AT_MOST: Duration = Duration::from_secs(300);

/// Between two rounds: a machine with two cores has Terraform to run besides.
const PAUSE: Duration = Duration::from_millis(30);

/// A client in a thread of its own. Dropped, it ends without a word.
pub(super) struct Visitor {
    left: Arc<AtomicBool>,
    thread: Option<JoinHandle<Visits>>,
}

/// What a client has met.
#[derive(Default)]
struct Visits {
    /// Rounds, each with a call of everything.
    rounds: usize,
    /// Wrong answers, each with its moment.
    wrong: Vec<String>,
}

impl Bed {
    /// Begins to call a route that no change of the test touches (`GET /still`), which must always answer 200 with this
    /// body, and others (`POST /c`), which may answer anything but a server error. All calls carry the authorizers'
    /// key.
    pub(super) fn visit(&self, untouched: (&str, &str), touched: &[&str]) -> Visitor {
        let api = text(&self.attribute("api_id"));
        let request = |what: &str| {
            let (method, path) = what.split_once(' ').expect("a method and a path");
            http::gateway(self.proxy.account(), &api, method, path).header("x-key", SECRET)
        };
        let (first, body) = (request(untouched.0), untouched.1.to_owned());
        let others: Vec<http::Request> = touched.iter().map(|what| request(what)).collect();
        let left = Arc::new(AtomicBool::new(false));
        let leave = Arc::clone(&left);
        let thread = std::thread::spawn(move || {
            let (began, mut visits) = (Instant::now(), Visits::default());
            while !leave.load(Ordering::Relaxed) {
                let mut note = |what: &http::Request, answer: &Result<http::Answer, String>| {
                    visits.wrong.push(format!("after {:?}: {what:?} answers {answer:?}", began.elapsed()));
                };
                let answer = first.clone().send();
                if !answer.as_ref().is_ok_and(|it| it.status == 200 && it.body == body) {
                    note(&first, &answer);
                }
                for other in &others {
                    let answer = other.clone().send();
                    if !answer.as_ref().is_ok_and(|it| it.status < 500) {
                        note(other, &answer);
                    }
                }
                visits.rounds += 1;
                if began.elapsed() > AT_MOST {
                    visits.wrong.push(format!("nobody has ended it after {AT_MOST:?}"));
                    break;
                }
                std::thread::sleep(PAUSE);
            }
            visits
        });
        Visitor { left, thread: Some(thread) }
    }
}

impl Visitor {
    /// Ends it. Panics with the wrong answers if there was one.
    pub(super) fn saw_no_error(mut self) {
        let visits = self.leave().expect("it is asked once").expect("it does not panic");
        assert!(visits.wrong.is_empty(), "in {} rounds of calls:\n{}", visits.rounds, visits.wrong.join("\n"));
        assert!(visits.rounds >= 5, "{} rounds of calls show little", visits.rounds);
    }

    fn leave(&mut self) -> Option<std::thread::Result<Visits>> {
        self.left.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join)
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let _wrong_answers_of_a_test_that_has_failed_already = self.leave();
    }
}
