//! One change at a time where AWS cannot take two: per API, per function policy, per log group.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// The locks that someone holds or waits for. They belong to the process, not to a session: two provider
/// configurations may work on the same function.
static LOCKS: LazyLock<Mutex<HashMap<String, Weak<Lock>>>> = LazyLock::new(Mutex::default);

/// Waits for the turn of whoever asks for this name; the turn ends when the guard is dropped. Turns are given in
/// the order of asking.
pub(crate) async fn turn(name: String) -> OwnedMutexGuard<()> {
    let lock = {
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_name_is_held_once_and_other_names_do_not_wait() {
        let first = turn("locks: a".into()).await;
        let other = tokio::time::timeout(Duration::from_secs(5), turn("locks: b".into())).await;
        assert!(other.is_ok(), "another name had to wait");
        let second = tokio::time::timeout(Duration::from_millis(20), turn("locks: a".into())).await;
        assert!(second.is_err(), "the same name was given twice");
        drop(first);
        let second = tokio::time::timeout(Duration::from_secs(5), turn("locks: a".into())).await;
        assert!(second.is_ok(), "the name was not given back");
    }

    #[tokio::test]
    async fn names_that_nobody_holds_are_forgotten() {
        drop(turn("locks: once".into()).await);
        let _other = turn("locks: another".into()).await;
        assert!(!LOCKS.lock().unwrap().contains_key("locks: once"));
    }
}
