//! The scope of the simulated account.

use std::sync::Mutex;

use super::Simulation;
use crate::cloud::Cloud;
use crate::model::{Scope, TagSettings};

/// A scope that lives as long as the test. [`set_tags`](Simulation::set_tags) replaces it.
pub(super) struct Leaked(Mutex<&'static Scope>);

impl Leaked {
    fn new(scope: Scope) -> Leaked {
        Leaked(Mutex::new(Box::leak(Box::new(scope))))
    }

    pub(super) fn get(&self) -> &'static Scope {
        *self.0.lock().unwrap()
    }
}

impl Default for Leaked {
    fn default() -> Leaked {
        Leaked::new(Scope {
            partition: "aws".into(),
            region: "us-east-1".into(),
            account: Some("123456789012".into()),
            ..Scope::default()
        })
    }
}

impl Simulation {
    /// Connects with other tags in the provider block.
    pub(crate) fn set_tags(&self, tags: TagSettings) {
        let TagSettings { default_tags, ignore_tags } = tags;
        let scope = Scope { default_tags, ignore_tags, ..self.scope().clone() };
        *self.scope.0.lock().unwrap() = Box::leak(Box::new(scope));
    }

    /// The same account under another ID and in another Region.
    pub(crate) fn at(mut self, account: &str, region: &str) -> Simulation {
        let (account, region) = (Some(account.into()), region.into());
        self.scope = Leaked::new(Scope { account, region, ..self.scope().clone() });
        self
    }

    /// Lets protected objects of this root be deleted.
    pub(crate) fn allowing(mut self, root_id: &str) -> Simulation {
        let mut scope = self.scope().clone();
        scope.allow_protected_deletion.insert(root_id.to_string());
        self.scope = Leaked::new(scope);
        self
    }
}
