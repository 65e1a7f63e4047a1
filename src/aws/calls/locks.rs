//! One change at a time where AWS cannot take two: per API, per function policy, per log group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// The locks that are held or waited for, by name. They belong to the process, not to a session: two provider
/// configurations may work on the same function.
#[derive(Debug, Default)]
pub(crate) struct Locks(Mutex<HashMap<String, Weak<Lock>>>);

impl Locks {
    /// Waits for the turn of whoever asks for this name; the turn ends when the guard is dropped. Turns are given in
    /// the order of asking.
    pub(crate) async fn lock(&self, name: String) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let existing = locks.get(&name).and_then(Weak::upgrade);
            existing.unwrap_or_else(|| {
                locks.retain(|_, lock| lock.strong_count() > 0);
                let lock = Arc::new(Lock::new(()));
                locks.insert(name, Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_name_is_held_once_and_other_names_do_not_wait() {
        let locks = Locks::default();
        let first = locks.lock("a".into()).await;
        let other = locks.lock("b".into()).now_or_never();
        assert!(other.is_some(), "another name had to wait");
        let mut second = pin!(locks.lock("a".into()));
        let waited = tokio::time::timeout(Duration::from_secs(3600), &mut second).await;
        assert!(waited.is_err(), "the same name was given twice");
        drop(first);
        assert!(second.now_or_never().is_some(), "the name was not given back");
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_nobody_holds_are_forgotten() {
        let locks = Locks::default();
        drop(locks.lock("once".into()).await);
        let _other = locks.lock("another".into()).await;
        assert!(!locks.0.lock().unwrap().contains_key("once"));
    }
}
