//! A client that sends requests to a gateway after each call that changes it, and records wrong answers.

use std::sync::{Arc, Mutex, MutexGuard};

use super::{SECRET, TestEnv, text};
use crate::support::emulator::Account;
use crate::support::proxy::Witness;
use crate::support::{deployments, http};

/// A running client. If it is dropped, it stops without a check.
pub(super) struct LoadClient {
    client: Arc<Client>,
    witness: Option<Witness>,
    account: Account,
}

struct Client {
    untouched: http::Request,
    body: String,
    touched: Vec<http::Request>,
    observed: Mutex<Observed>,
}

/// The observations of a client.
#[derive(Default)]
struct Observed {
    /// The actions of the changing calls. The client sent its requests after each of them.
    changes: Vec<String>,
    /// The wrong answers, each with its time.
    wrong: Vec<String>,
}

impl TestEnv {
    /// Starts a client. It sends requests to one route that no change of the test affects, such as `GET /still`, which
    /// must always answer 200 with the given body, and to others, such as `POST /c`, which may answer anything except a
    /// server error. It does so now, after each changing call before the next one starts, and at the end. All requests
    /// have the authorizers' key.
    pub(super) fn load_client(&self, untouched: (&str, &str), touched: &[&str]) -> LoadClient {
        let api = text(&self.attribute("api_id"));
        let request = |what: &str| {
            let (method, path) = what.split_once(' ').expect("a method and a path");
            http::gateway_now(self.proxy.account(), &api, method, path).header("x-key", SECRET)
        };
        let client = Arc::new(Client {
            untouched: request(untouched.0),
            body: untouched.1.to_owned(),
            touched: touched.iter().map(|what| request(what)).collect(),
            observed: Mutex::default(),
        });
        deployments::wait(self.proxy.account());
        client.send_requests("before any change");
        let observer = Arc::clone(&client);
        let witness = self.proxy.after_each_change(move |call| {
            observer.send_requests(&format!("after {}", call.action));
            observer.observed().changes.push(call.action.clone());
        });
        LoadClient { client, witness: Some(witness), account: self.proxy.account().clone() }
    }
}

impl Client {
    fn send_requests(&self, time: &str) {
        let note = |request: &http::Request, answer: &Result<http::Answer, String>| {
            self.observed().wrong.push(format!("{time}: {request:?} answers {answer:?}"));
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

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().expect("no thread panics while it holds the lock")
    }
}

impl LoadClient {
    /// Stops the client. Panics if there was a wrong answer, or if nothing changed while the client was running.
    pub(super) fn saw_no_error(mut self) {
        drop(self.witness.take());
        deployments::wait(&self.account);
        self.client.send_requests("after all changes");
        let observed = self.client.observed();
        assert!(observed.wrong.is_empty(), "in the course of {:?}:\n{}", observed.changes, observed.wrong.join("\n"));
        assert!(!observed.changes.is_empty(), "nothing changed");
        let early = deployments::early_deletions(&self.account);
        assert!(early.is_empty(), "deleted before the last change was deployed: {early:?}");
    }
}
