//! Eventual consistency: objects that AWS has just created and does not return yet. At first, reads of such an object
//! by its ID and calls that use it are answered as if it did not exist, and lists omit it.

mod ec2;
mod others;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use super::call::Call;
use super::lasts::{Begun, Lasts};
use super::lock;
use super::message::Reply;

/// The objects that were created through this proxy.
#[derive(Debug, Default)]
pub(super) struct RecentlyCreated(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    hidden: Lasts,
    /// By AWS ID if it is unique in the account; otherwise by kind and name.
    created: HashMap<String, Begun>,
    /// The same for the objects that AWS creates together with an object, by the ID of the latter.
    companions: HashMap<String, Begun>,
    /// The objects that were hidden from the current call. A call counts once per object, however often it refers to
    /// the object.
    missed: RefCell<Missed>,
}

#[derive(Debug, Default)]
struct Missed {
    objects: BTreeSet<String>,
    companions: BTreeSet<String>,
}

impl RecentlyCreated {
    /// Hides each new object for this long from now on.
    pub(super) fn hide(&self, hidden: Lasts) {
        lock(&self.0).hidden = hidden;
    }

    /// AWS's error for a call that reads or uses a hidden object.
    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let mut state = lock(&self.0);
        if state.hidden == Lasts::NOT_AT_ALL {
            return None;
        }
        let rejection = match call.service.as_str() {
            "ec2" => ec2::rejection(&state, call),
            _ => others::rejection(&state, call),
        };
        state.count_answer(rejection.is_some());
        rejection
    }

    /// The answer without hidden objects, and whether there were any.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
        let mut state = lock(&self.0);
        if state.hidden == Lasts::NOT_AT_ALL || !reply.is_success() {
            return Ok((reply, false));
        }
        let (reply, was_hidden) = match call.service.as_str() {
            "ec2" => ec2::without_hidden(&mut state, call, reply)?,
            _ => others::without_hidden(&mut state, call, reply)?,
        };
        state.count_answer(was_hidden);
        Ok((reply, was_hidden))
    }
}

impl State {
    /// An object that is returned again, such as for a repeated idempotency token, keeps its age.
    fn add(&mut self, object: String) {
        self.companions.entry(object.clone()).or_insert_with(Begun::now);
        self.created.entry(object).or_insert_with(Begun::now);
    }

    /// Forgets a deleted object, because its name may be used again.
    fn forget(&mut self, object: &str) {
        self.created.remove(object);
        self.companions.remove(object);
    }

    fn is_hidden(&self, object: &str) -> bool {
        let is_hidden = self.created.get(object).is_some_and(|created| created.goes_on(self.hidden));
        if is_hidden {
            self.missed.borrow_mut().objects.insert(object.to_owned());
        }
        is_hidden
    }

    /// Whether the objects that AWS created together with an object are hidden. They stay hidden longer than the object
    /// itself, whose visibility implies nothing about theirs.
    fn hides_companions(&self, object: &str) -> bool {
        let is_hidden = self.companions.get(object).is_some_and(|created| created.goes_on(self.hidden));
        if is_hidden {
            self.missed.borrow_mut().companions.insert(object.to_owned());
        }
        is_hidden
    }

    /// Counts the current call for the objects that were hidden from it, if it was answered as if they did not exist.
    fn count_answer(&mut self, was_hidden: bool) {
        let missed = std::mem::take(self.missed.get_mut());
        if !was_hidden {
            return;
        }
        for (missed, all) in [(missed.objects, &mut self.created), (missed.companions, &mut self.companions)] {
            for object in missed {
                all.entry(object).and_modify(Begun::shown);
            }
        }
    }
}
