//! Objects that AWS does not know yet although it has just made them: its parts learn of each other late. For the first
//! seconds each reading of such an object by its id, and each call that uses it, is answered as if it did not exist,
//! and lists leave it out.

mod ec2;
mod others;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::call::Call;
use super::lock;
use super::message::Reply;

/// What has been made through this proxy, and when.
#[derive(Debug, Default)]
pub(super) struct Newborns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    hidden_for: Duration,
    /// By AWS id where that is unique in the account; else by the kind and what names the object within it.
    born: HashMap<String, Instant>,
}

impl Newborns {
    /// From now on each object is hidden for this long after it was made.
    pub(super) fn hide_for(&self, hidden_for: Duration) {
        lock(&self.0).hidden_for = hidden_for;
    }

    /// What AWS answers to a call that reads or uses an object which is hidden.
    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let state = lock(&self.0);
        if state.hidden_for.is_zero() {
            return None;
        }
        match call.service.as_str() {
            "ec2" => ec2::refusal(&state, call),
            _ => others::refusal(&state, call),
        }
    }

    /// The answer without what is hidden, and whether anything was.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
        let mut state = lock(&self.0);
        if state.hidden_for.is_zero() || !reply.is_success() {
            return Ok((reply, false));
        }
        match call.service.as_str() {
            "ec2" => ec2::without_hidden(&mut state, call, reply),
            _ => others::without_hidden(&mut state, call, reply),
        }
    }
}

impl State {
    /// One that is made once more, such as an answer to a client token that AWS has seen, is as old as it was.
    fn bear(&mut self, object: String) {
        self.born.entry(object).or_insert_with(Instant::now);
    }

    /// A name may be given again.
    fn forget(&mut self, object: &str) {
        self.born.remove(object);
    }

    fn is_hidden(&self, object: &str) -> bool {
        self.born.get(object).is_some_and(|born| born.elapsed() < self.hidden_for)
    }

    /// Whether what AWS makes by itself together with an object is hidden: for twice as long, since nobody can tell by
    /// the one that the other is known.
    fn hides_companions(&self, object: &str) -> bool {
        self.born.get(object).is_some_and(|born| born.elapsed() < self.hidden_for * 2)
    }
}
