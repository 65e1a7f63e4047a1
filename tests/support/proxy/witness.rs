//! Observers of every state that AWS passes through during changes. Changes and observations alternate. Otherwise, the
//! number of states that a background client sees would depend on the speed of the machine.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::MutexGuard;

use super::call::Call;
use super::lock;

type Observe = dyn Fn(&Call) + Send + Sync;

/// An observer. It is active until this is dropped.
pub(crate) struct Witness(#[allow(dead_code, reason = "held, but never read")] Arc<Observe>);

#[derive(Default)]
pub(super) struct Witnesses {
    observers: Mutex<Vec<Weak<Observe>>>,
    turn: tokio::sync::Mutex<()>,
}

/// The exclusive access of one call.
pub(super) struct Turn<'a> {
    observers: Vec<Arc<Observe>>,
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Witnesses {
    pub(super) fn add(&self, observe: impl Fn(&Call) + Send + Sync + 'static) -> Witness {
        let observe: Arc<Observe> = Arc::new(observe);
        lock(&self.observers).push(Arc::downgrade(&observe));
        Witness(observe)
    }

    /// Waits for exclusive access, if the call changes something and there are observers.
    pub(super) async fn turn(&self, call: &Call) -> Turn<'_> {
        let mut observers = Vec::new();
        if call.is_mutation() {
            let mut all = lock(&self.observers);
            all.retain(|observe| observe.strong_count() > 0);
            observers.extend(all.iter().filter_map(Weak::upgrade));
        }
        let turn = if observers.is_empty() { None } else { Some(self.turn.lock().await) };
        Turn { observers, _turn: turn }
    }
}

impl Turn<'_> {
    /// Runs the observers after the change of the call.
    pub(super) async fn observe(self, call: &Call) {
        for observe in self.observers {
            let call = call.clone();
            // An observer makes blocking calls.
            let done = tokio::task::spawn_blocking(move || observe(&call)).await;
            done.expect("an observer records violations and does not panic");
        }
    }
}

impl Debug for Witnesses {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} witnesses", lock(&self.observers).len())
    }
}

impl Debug for Witness {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a witness")
    }
}
