//! Deletions that AWS refuses for a while, because something still depends on the object and does not say what.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::call::Call;
use super::lock;
use super::message::Reply;

/// For each deleting action how long AWS refuses it, counted for each object from the first attempt.
#[derive(Debug, Default)]
pub(super) struct Holds(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    held_for: BTreeMap<String, Duration>,
    first_tried: HashMap<(String, BTreeMap<String, String>), Instant>,
}

impl Holds {
    pub(super) fn hold(&self, action: &str, held_for: Duration) {
        lock(&self.0).held_for.insert(action.to_owned(), held_for);
    }

    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let mut state = lock(&self.0);
        let held_for = *state.held_for.get(&call.action)?;
        let object = (call.action.clone(), call.params.clone());
        let first_tried = *state.first_tried.entry(object).or_insert_with(Instant::now);
        let held = first_tried.elapsed() < held_for;
        let object = call.params.iter().find(|(name, _)| name.ends_with("Id")).map_or("", |(_, id)| id.as_str());
        let text = format!("{object} has dependencies and cannot be deleted.");
        held.then(|| Reply::error(call, 400, "DependencyViolation", &text))
    }
}
