//! Cancellation of running work, and the end of the process.
//!
//! Ctrl-C signals the whole process group, so this process receives it too. The signal must not end the process,
//! because the objects that an apply has created would be lost. Instead, Terraform calls `StopProvider` to stop running
//! work, and `Shutdown` to end the process.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// The connections and calls of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Activity {
    connections: usize,
    calls: usize,
    /// A client has connected before.
    was_connected: bool,
    /// The process ends when no work is running.
    shutdown: bool,
}

/// Counts connections and calls, and provides the token that stops running work.
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

    /// Counts an open connection.
    pub(super) fn connection(&self) -> Counted {
        self.activity.send_modify(|activity| activity.was_connected = true);
        self.count(|activity| &mut activity.connections)
    }

    /// Counts a running call.
    pub(super) fn call(&self) -> Counted {
        self.count(|activity| &mut activity.calls)
    }

    /// The token that stops the work running now.
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop().clone()
    }

    /// Canceled when the process is about to end. Terraform may not store responses that are sent afterwards.
    pub(super) fn client_gone(&self) -> &CancellationToken {
        &self.client_gone
    }

    /// Stops the work that is running now. Later calls are not stopped, because Terraform still validates and reads.
    pub(super) fn stop_running_work(&self) {
        std::mem::take(&mut *self.stop()).cancel();
    }

    /// Ends the process as soon as no work is running.
    pub(super) fn shut_down(&self) {
        self.client_gone.cancel();
        self.activity.send_modify(|activity| activity.shutdown = true);
    }

    /// Returns when the process should end: after `Shutdown`, when no client has connected within `connect_timeout`,
    /// when the last connection has been closed for `idle_timeout`, or on `terminate` (SIGTERM) while no client is
    /// connected. In each case it stops running work first, because Terraform could not store the objects that this
    /// work would still create, and waits until the work has finished.
    pub(super) async fn ended(&self, connect_timeout: Duration, idle_timeout: Duration, terminate: &Notify) {
        let mut changes = self.activity.subscribe();
        loop {
            let now = *changes.borrow_and_update();
            let timeout = if now.was_connected { idle_timeout } else { connect_timeout };
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
                () = tokio::time::sleep(timeout), if is_idle => {
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

    /// Whether the process ends within a minute.
    async fn ends(lifecycle: &Arc<Lifecycle>, connect_timeout: Duration, idle_timeout: Duration) -> bool {
        let signal = Notify::new();
        let ended = lifecycle.ended(connect_timeout, idle_timeout, &signal);
        tokio::time::timeout(Duration::from_secs(60), ended).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_without_a_connection_ends() {
        assert!(ends(&Arc::new(Lifecycle::new()), SHORT, LONG).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_process_ends_some_time_after_its_last_connection() {
        let lifecycle = Arc::new(Lifecycle::new());
        let connection = lifecycle.connection();
        assert!(!ends(&lifecycle, SHORT, SHORT).await);
        drop(connection);
        assert!(!ends(&lifecycle, SHORT, LONG).await);
        assert!(ends(&lifecycle, LONG, SHORT).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_disconnect_stops_running_work_and_waits_for_it() {
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
    async fn a_stop_cancels_running_work_but_not_later_work() {
        let lifecycle = Lifecycle::new();
        let running = lifecycle.stop_token();
        lifecycle.stop_running_work();
        assert!(running.is_cancelled());
        assert!(!lifecycle.stop_token().is_cancelled());
        assert!(!lifecycle.client_gone().is_cancelled(), "Terraform still waits for the response");
    }

    #[tokio::test(start_paused = true)]
    async fn sigterm_ends_the_process_only_without_connections() {
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
