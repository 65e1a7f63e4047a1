//! Objects that AWS does not know yet although it has just made them: its parts learn of each other late. At first each
//! reading of such an object by its id, and each call that uses it, is answered as if it did not exist, and lists leave
//! it out.

mod ec2;
mod others;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use super::call::Call;
use super::lasts::{Begun, Lasts};
use super::lock;
use super::message::Reply;

/// What has been made through this proxy.
#[derive(Debug, Default)]
pub(super) struct Newborns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    hidden: Lasts,
    /// By AWS id where that is unique in the account; else by the kind and what names the object within it.
    born: HashMap<String, Begun>,
    /// The same for what AWS makes by itself together with an object.
    companions: HashMap<String, Begun>,
    /// What the call at hand has missed: however often that looks for an object, it is one look.
    missed: RefCell<Missed>,
}

#[derive(Debug, Default)]
struct Missed {
    objects: BTreeSet<String>,
    companions: BTreeSet<String>,
}

impl Newborns {
    /// From now on each new object is hidden for so long.
    pub(super) fn hide(&self, hidden: Lasts) {
        lock(&self.0).hidden = hidden;
    }

    /// What AWS answers to a call that reads or uses an object which is hidden.
    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let mut state = lock(&self.0);
        if state.hidden == Lasts::NOT_AT_ALL {
            return None;
        }
        let refusal = match call.service.as_str() {
            "ec2" => ec2::refusal(&state, call),
            _ => others::refusal(&state, call),
        };
        state.count_looks(refusal.is_some());
        refusal
    }

    /// The answer without what is hidden, and whether anything was.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
        let mut state = lock(&self.0);
        if state.hidden == Lasts::NOT_AT_ALL || !reply.is_success() {
            return Ok((reply, false));
        }
        let (reply, hid) = match call.service.as_str() {
            "ec2" => ec2::without_hidden(&mut state, call, reply)?,
            _ => others::without_hidden(&mut state, call, reply)?,
        };
        state.count_looks(hid);
        Ok((reply, hid))
    }
}

impl State {
    /// One that is made once more, such as an answer to a client token that AWS has seen, is as old as it was.
    fn bear(&mut self, object: String) {
        self.companions.entry(object.clone()).or_insert_with(Begun::now);
        self.born.entry(object).or_insert_with(Begun::now);
    }

    /// A name may be given again.
    fn forget(&mut self, object: &str) {
        self.born.remove(object);
        self.companions.remove(object);
    }

    fn is_hidden(&self, object: &str) -> bool {
        let is_hidden = self.born.get(object).is_some_and(|born| born.goes_on(self.hidden));
        if is_hidden {
            self.missed.borrow_mut().objects.insert(object.to_owned());
        }
        is_hidden
    }

    /// Whether what AWS makes by itself together with an object is hidden: longer than the object, since nobody can
    /// tell by the one that the other is known.
    fn hides_companions(&self, object: &str) -> bool {
        let is_hidden = self.companions.get(object).is_some_and(|born| born.goes_on(self.hidden));
        if is_hidden {
            self.missed.borrow_mut().companions.insert(object.to_owned());
        }
        is_hidden
    }

    /// The call at hand was answered as if what it missed did not exist; or it was not, and nothing was missed.
    fn count_looks(&mut self, were_missed: bool) {
        let missed = std::mem::take(self.missed.get_mut());
        if !were_missed {
            return;
        }
        for (missed, all) in [(missed.objects, &mut self.born), (missed.companions, &mut self.companions)] {
            for object in missed {
                all.entry(object).and_modify(Begun::shown);
            }
        }
    }
}
