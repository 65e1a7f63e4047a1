//! When to stop work, and when to end the process.
//!
//! Ctrl-C reaches this process too, for a terminal signals the whole process group. It must not end us: what an
//! apply has created would be lost. Terraform says by calls what it wants: `StopProvider` to stop what is
//! running, `Shutdown` to end.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// What is going on in the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Activity {
    connections: usize,
    calls: usize,
    /// Somebody has connected before.
    was_connected: bool,
    /// Terraform has asked us to end.
    shutdown: bool,
}

/// Counts connections and calls, and hands out the token that stops them.
pub(super) struct Lifecycle {
    activity: watch::Sender<Activity>,
    stop: Mutex<CancellationToken>,
    client_gone: CancellationToken,
}

/// A connection or call that is counted until this is dropped.
pub(super) struct Counted {
    activity: watch::Sender<Activity>,
    count: fn(&mut Activity) -> &mut usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.activity.send_modify(|activity| *(self.count)(activity) -= 1);
    }
}

impl Lifecycle {
    pub(super) fn new() -> Lifecycle {
        Lifecycle { activity: watch::Sender::default(), stop: Mutex::default(), client_gone: CancellationToken::new() }
    }

    /// Counts a connection of Terraform.
    pub(super) fn connection(&self) -> Counted {
        self.activity.send_modify(|activity| activity.was_connected = true);
        self.count(|activity| &mut activity.connections)
    }

    /// Counts a running call.
    pub(super) fn call(&self) -> Counted {
        self.count(|activity| &mut activity.calls)
    }

    /// The token that running work watches.
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop().clone()
    }

    /// The token of the end: what is answered after it, Terraform may not store.
    pub(super) fn client_gone(&self) -> &CancellationToken {
        &self.client_gone
    }

    /// Stops the work that is running now. Calls that come later run: Terraform still validates and reads.
    pub(super) fn stop_running_work(&self) {
        std::mem::take(&mut *self.stop()).cancel();
    }

    /// Ends the process as soon as no work is running.
    pub(super) fn shut_down(&self) {
        self.client_gone.cancel();
        self.activity.send_modify(|activity| activity.shutdown = true);
    }

    /// Returns when the process should end: after `Shutdown`; when nobody has connected within `patience`; when
    /// the last connection has been gone for `grace`; or when `terminate` (SIGTERM) comes and nobody is connected.
    /// In each case not before running work has finished. Work whose Terraform is gone is stopped, because nobody
    /// can store what it would go on to create.
    pub(super) async fn ended(&self, patience: Duration, grace: Duration, terminate: &Notify) {
        let mut changes = self.activity.subscribe();
        loop {
            let now = *changes.borrow_and_update();
            let patience = if now.was_connected { grace } else { patience };
            if now.shutdown {
                self.stop_running_work();
                if now.calls == 0 {
                    return;
                }
            }
            let is_idle = now.connections == 0 && !now.shutdown;
            tokio::select! {
                // The sender is a field of `self`, so the channel is open.
                _ = changes.changed() => {}
                () = tokio::time::sleep(patience), if is_idle => {
                    self.shut_down();
                }
                () = terminate.notified(), if is_idle => self.shut_down(),
            }
        }
    }

    fn count(&self, count: fn(&mut Activity) -> &mut usize) -> Counted {
        self.activity.send_modify(|activity| *count(activity) += 1);
        Counted { activity: self.activity.clone(), count }
    }

    fn stop(&self) -> MutexGuard<'_, CancellationToken> {
        self.stop.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_secs(20);

    /// Whether it ends within a minute.
    async fn ends(lifecycle: &Arc<Lifecycle>, patience: Duration, grace: Duration) -> bool {
        let signal = Notify::new();
        let ended = lifecycle.ended(patience, grace, &signal);
        tokio::time::timeout(Duration::from_secs(60), ended).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_nobody_connects_to_ends() {
        assert!(ends(&Arc::new(Lifecycle::new()), SHORT, LONG).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_connection_ends_the_process_after_a_grace_period() {
        let lifecycle = Arc::new(Lifecycle::new());
        let connection = lifecycle.connection();
        assert!(!ends(&lifecycle, SHORT, SHORT).await);
        drop(connection);
        assert!(!ends(&lifecycle, SHORT, LONG).await);
        assert!(ends(&lifecycle, LONG, SHORT).await);
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_stopped_when_terraform_is_gone_and_the_process_waits_for_it() {
        let lifecycle = Arc::new(Lifecycle::new());
        drop(lifecycle.connection());
        let call = lifecycle.call();
        let stop = lifecycle.stop_token();
        assert!(!ends(&lifecycle, LONG, SHORT).await);
        assert!(stop.is_cancelled());
        drop(call);
        assert!(ends(&lifecycle, LONG, LONG).await);
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_waits_for_work_but_not_for_connections() {
        let lifecycle = Arc::new(Lifecycle::new());
        let _connection = lifecycle.connection();
        let call = lifecycle.call();
        lifecycle.shut_down();
        assert!(!ends(&lifecycle, LONG, LONG).await);
        assert!(lifecycle.client_gone().is_cancelled());
        drop(call);
        assert!(ends(&lifecycle, LONG, LONG).await);
    }

    #[tokio::test(start_paused = true)]
    async fn stopping_reaches_running_work_and_not_what_comes_later() {
        let lifecycle = Lifecycle::new();
        let running = lifecycle.stop_token();
        lifecycle.stop_running_work();
        assert!(running.is_cancelled());
        assert!(!lifecycle.stop_token().is_cancelled());
        assert!(!lifecycle.client_gone().is_cancelled(), "Terraform waits for the answer");
    }

    #[tokio::test(start_paused = true)]
    async fn a_termination_signal_ends_the_process_only_while_nobody_is_connected() {
        let lifecycle = Lifecycle::new();
        let connection = lifecycle.connection();
        let signal = Notify::new();
        signal.notify_one();
        let ended = lifecycle.ended(LONG, LONG, &signal);
        assert!(tokio::time::timeout(LONG * 2, ended).await.is_err());
        drop(connection);
        let ended = lifecycle.ended(LONG, LONG, &signal);
        assert!(tokio::time::timeout(SHORT, ended).await.is_ok());
    }
}
