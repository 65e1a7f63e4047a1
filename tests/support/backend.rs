//! A backend for Terraform's state: the server of `backend "http"`, on loopback.
//!
//! Terraform writes local state after each resource, but that of such a backend only every 20 seconds, as with all
//! remote backends, and at the end of a run. OpenTofu does the same with local state. A killed run then leaves the
//! state from before it.

use std::sync::{Arc, Mutex, PoisonError};

use super::scripted::Scripted;

/// The server, with one state. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct StateServer {
    server: Scripted,
    state: Arc<Mutex<Option<String>>>,
}

impl StateServer {
    /// A server without a state.
    pub(crate) fn new() -> Self {
        let state = Arc::new(Mutex::new(None));
        let stored = Arc::clone(&state);
        let server = Scripted::answering(move |request| {
            let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
            match (request.method.as_str(), stored.as_ref()) {
                ("GET", Some(state)) => (200, String::clone(state)),
                ("GET", None) => (404, String::new()),
                ("POST", _) => {
                    *stored = Some(request.body.clone());
                    (200, String::new())
                }
                _ => (405, String::new()),
            }
        });
        Self { server, state }
    }

    /// The configuration of the backend. It does not lock the state: a killed run would leave its lock.
    pub(crate) fn configuration(&self) -> String {
        format!("terraform {{\n  backend \"http\" {{\n    address = \"{}/state\"\n  }}\n}}\n", self.server.url())
    }

    /// The stored state, if there is one.
    pub(crate) fn state(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
