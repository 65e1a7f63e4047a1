//! Deletions that AWS rejects for a while because of a dependent that it does not name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::call::Call;
use super::lasts::{Begun, Lasts};
use super::lock;
use super::message::Reply;

/// For each delete action, how long AWS rejects it: per object, from the first attempt on.
#[derive(Debug, Default)]
pub(super) struct Holds(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    held: BTreeMap<String, Lasts>,
    tried: HashMap<(String, BTreeMap<String, String>), Begun>,
}

impl Holds {
    pub(super) fn hold(&self, action: &str, held: Lasts) {
        lock(&self.0).held.insert(action.to_owned(), held);
    }

    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let mut state = lock(&self.0);
        let held = *state.held.get(&call.action)?;
        let object = (call.action.clone(), call.params.clone());
        let tried = state.tried.entry(object).or_insert_with(Begun::now);
        let is_held = tried.goes_on(held);
        tried.shown();
        let object = call.params.iter().find(|(name, _)| name.ends_with("Id")).map_or("", |(_, id)| id.as_str());
        let text = format!("{object} has dependencies and cannot be deleted.");
        is_held.then(|| Reply::error(call, 400, "DependencyViolation", &text))
    }
}
