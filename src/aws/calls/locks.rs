//! Locks for changes that AWS does not accept concurrently: per API, function policy or log group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// The locks that are held or waited for, by name. They belong to the process, not to a session, because two provider
/// configurations may change the same function.
#[derive(Debug, Default)]
pub(crate) struct Locks(Mutex<HashMap<String, Weak<Lock>>>);

impl Locks {
    /// Acquires the lock of this name, in the order of the calls. Dropping the guard releases it.
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
    async fn a_lock_blocks_only_callers_of_the_same_name() {
        let locks = Locks::default();
        let first = locks.lock("a".into()).await;
        let other = locks.lock("b".into()).now_or_never();
        assert!(other.is_some(), "another name was blocked");
        let mut second = pin!(locks.lock("a".into()));
        let waited = tokio::time::timeout(Duration::from_secs(3600), &mut second).await;
        assert!(waited.is_err(), "the same name was locked twice");
        drop(first);
        assert!(second.now_or_never().is_some(), "the lock was not released");
    }

    #[tokio::test(start_paused = true)]
    async fn released_locks_are_removed() {
        let locks = Locks::default();
        drop(locks.lock("once".into()).await);
        let _other = locks.lock("another".into()).await;
        assert!(!locks.0.lock().unwrap().contains_key("once"));
    }
}
