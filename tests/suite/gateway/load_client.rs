//! A client that calls a gateway in each state that it passes through while it is changed, and remembers every answer
//! that it should not have had.

use std::sync::{Arc, Mutex, MutexGuard};

use super::{SECRET, TestEnv, text};
use crate::support::http;
use crate::support::proxy::Witness;

/// A client. Dropped, it ends without a word.
pub(super) struct Visitor {
    client: Arc<Client>,
    witness: Option<Witness>,
}

struct Client {
    untouched: http::Request,
    body: String,
    touched: Vec<http::Request>,
    visits: Mutex<Visits>,
}

/// What a client has met.
#[derive(Default)]
struct Visits {
    /// The calls that changed something, after each of which everything was called.
    changes: Vec<String>,
    /// Wrong answers, each with its moment.
    wrong: Vec<String>,
}

impl TestEnv {
    /// Calls a route that no change of the test touches (`GET /still`), which must always answer 200 with this body,
    /// and others (`POST /c`), which may answer anything but a server error: now, after every call that changes
    /// something in AWS and before the next one, and when the client leaves. All calls carry the authorizers' key.
    pub(super) fn visit(&self, untouched: (&str, &str), touched: &[&str]) -> Visitor {
        let api = text(&self.attribute("api_id"));
        let request = |what: &str| {
            let (method, path) = what.split_once(' ').expect("a method and a path");
            http::gateway(self.proxy.account(), &api, method, path).header("x-key", SECRET)
        };
        let client = Arc::new(Client {
            untouched: request(untouched.0),
            body: untouched.1.to_owned(),
            touched: touched.iter().map(|what| request(what)).collect(),
            visits: Mutex::default(),
        });
        client.calls_everything("before any change");
        let visiting = Arc::clone(&client);
        let witness = self.proxy.after_each_change(move |call| {
            visiting.calls_everything(&format!("after {}", call.action));
            visiting.visits().changes.push(call.action.clone());
        });
        Visitor { client, witness: Some(witness) }
    }
}

impl Client {
    fn calls_everything(&self, moment: &str) {
        let note = |what: &http::Request, answer: &Result<http::Answer, String>| {
            self.visits().wrong.push(format!("{moment}: {what:?} answers {answer:?}"));
        };
        let answer = self.untouched.clone().send();
        if !answer.as_ref().is_ok_and(|it| it.status == 200 && it.body == self.body) {
            note(&self.untouched, &answer);
        }
        for other in &self.touched {
            let answer = other.clone().send();
            if !answer.as_ref().is_ok_and(|it| it.status < 500) {
                note(other, &answer);
            }
        }
    }

    fn visits(&self) -> MutexGuard<'_, Visits> {
        self.visits.lock().expect("no one panics while holding it")
    }
}

impl Visitor {
    /// Ends it. Panics with the wrong answers if there was one, and if nothing was changed while it was there.
    pub(super) fn saw_no_error(mut self) {
        drop(self.witness.take());
        self.client.calls_everything("after all changes");
        let visits = self.client.visits();
        assert!(visits.wrong.is_empty(), "in the course of {:?}:\n{}", visits.changes, visits.wrong.join("\n"));
        assert!(!visits.changes.is_empty(), "nothing was changed");
    }
}
