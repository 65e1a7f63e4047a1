//! Somebody who looks at every state that AWS passes through while it is changed. Changes take turns with the looks:
//! without that, how many states a client in the background meets would depend on how fast the machine is.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::MutexGuard;

use super::call::Call;
use super::lock;

type Look = dyn Fn(&Call) + Send + Sync;

/// Looks until this is dropped.
pub(crate) struct Witness(#[allow(dead_code, reason = "it is held, and never read")] Arc<Look>);

#[derive(Default)]
pub(super) struct Witnesses {
    looks: Mutex<Vec<Weak<Look>>>,
    turn: tokio::sync::Mutex<()>,
}

/// The turn of one call.
pub(super) struct Turn<'a> {
    looks: Vec<Arc<Look>>,
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Witnesses {
    pub(super) fn add(&self, look: impl Fn(&Call) + Send + Sync + 'static) -> Witness {
        let look: Arc<Look> = Arc::new(look);
        lock(&self.looks).push(Arc::downgrade(&look));
        Witness(look)
    }

    /// Waits for the turn of a call that changes something, if anybody looks.
    pub(super) async fn turn(&self, call: &Call) -> Turn<'_> {
        let mut looks = Vec::new();
        if call.is_mutation() {
            let mut all = lock(&self.looks);
            all.retain(|look| look.strong_count() > 0);
            looks.extend(all.iter().filter_map(Weak::upgrade));
        }
        let turn = if looks.is_empty() { None } else { Some(self.turn.lock().await) };
        Turn { looks, _turn: turn }
    }
}

impl Turn<'_> {
    /// The call has changed what it changes.
    pub(super) async fn look(self, call: &Call) {
        for look in self.looks {
            let call = call.clone();
            // Whoever looks makes calls of his own and waits for them.
            let done = tokio::task::spawn_blocking(move || look(&call)).await;
            done.expect("who looks notes what is wrong, and does not panic");
        }
    }
}

impl Debug for Witnesses {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} witnesses", lock(&self.looks).len())
    }
}

impl Debug for Witness {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a witness")
    }
}
