//! Cancellation of running work, and the end of the process.
//!
//! Ctrl-C signals the whole process group, so this process receives it too. The signal must not end the process,
//! because the objects that an apply has created would be lost. Instead, Terraform calls `StopProvider` to stop running
//! work, and `Shutdown` to end the process.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::platform::Parent;

/// How long the end of the process waits for calls that change nothing, after it has stopped them. It waits for calls
/// that may change something without a limit.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of the process then waits until Terraform has received pending responses, if Terraform has ended or
/// has requested the end. It kills the process two seconds after the request.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);
/// The same if Terraform has not requested the end, and needs the responses.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The same after a call that may have changed something. Terraform would lose the objects that its response contains.
const CHANGE_RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A supervisor typically kills a process 10 seconds after SIGTERM. See `TimeoutStopSec` in `systemd.service(5)`, and
/// `docker stop`.
const _: () = assert!(STOP_TIMEOUT.as_secs() + RESPONSE_TIMEOUT.as_secs() < 10);

/// The connections and calls of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Activity {
    connections: usize,
    calls: usize,
    /// Those of the calls that may change something.
    changes: usize,
    /// A client has connected before.
    was_connected: bool,
    /// The process ends when no work is running.
    shutdown: bool,
}

/// Counts connections and calls, and provides the token that stops running work.
pub(super) struct Lifecycle {
    activity: watch::Sender<Activity>,
    /// The token that stops the work for a Terraform, a child of `ending`.
    stop: Mutex<CancellationToken>,
    /// Stops all work, including later work.
    ending: CancellationToken,
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
        let ending = CancellationToken::new();
        let stop = Mutex::new(ending.child_token());
        Lifecycle { activity: watch::Sender::default(), stop, ending, client_gone: CancellationToken::new() }
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

    /// Counts the work of a call that may change something, in addition to the call.
    pub(super) fn change(&self) -> Counted {
        self.count(|activity| &mut activity.changes)
    }

    /// The token that stops work.
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop().clone()
    }

    /// Canceled when Terraform has ended or has sent `Shutdown`. It may not store responses that are sent afterwards.
    pub(super) fn client_gone(&self) -> &CancellationToken {
        &self.client_gone
    }

    /// Stops all work. Work that begins later is stopped too, because Terraform may have sent its call before the stop.
    /// Terraform itself begins no further work then; it only still validates.
    pub(super) fn stop_work(&self) {
        self.stop().cancel();
    }

    /// Allows work again after a stop, because a Terraform begins: a process with `--debug` serves several.
    pub(super) fn allow_work(&self) {
        let mut stop = self.stop();
        if stop.is_cancelled() {
            *stop = self.ending.child_token();
        }
    }

    /// Ends the process as soon as no work is running.
    pub(super) fn shut_down(&self) {
        self.client_gone.cancel();
        self.activity.send_modify(|activity| activity.shutdown = true);
    }

    /// Returns when the process should end: after `Shutdown`, after Terraform has ended without it, or after
    /// `terminate` (SIGTERM). In each case it first stops all work as `StopProvider` does, because Terraform may not
    /// store the objects that this work would still create, and waits until it has finished. Returns how long to wait
    /// until Terraform has received the responses.
    pub(super) async fn ended(&self, connect_timeout: Duration, parent: &Parent, terminate: &Notify) -> Duration {
        tokio::select! {
            () = self.reached(|activity| activity.shutdown) => {}
            () = self.abandoned(connect_timeout, parent) => {
                tracing::warn!("Terraform has ended without a shutdown");
                self.client_gone.cancel();
            }
            () = terminate.notified() => tracing::info!("a signal requested the end of the provider"),
        }
        self.ending.cancel();
        let was_changing = self.activity.borrow().changes > 0;
        let unstoppable = async {
            tokio::time::sleep(STOP_TIMEOUT).await;
            self.reached(|activity| activity.changes == 0).await;
        };
        tokio::select! {
            () = self.reached(|activity| activity.calls == 0 && activity.changes == 0) => {}
            () = unstoppable => tracing::warn!("the provider ends during a call that it could not stop"),
        }
        match was_changing {
            _ if self.client_gone.is_cancelled() => SHUTDOWN_TIMEOUT,
            true => CHANGE_RESPONSE_TIMEOUT,
            false => RESPONSE_TIMEOUT,
        }
    }

    /// Returns when Terraform must have ended: it has not connected within the timeout, or it has no connection and
    /// its process has ended. A lost connection alone means nothing, because a gRPC client may close an idle connection
    /// and open another one for its next call.
    async fn abandoned(&self, connect_timeout: Duration, parent: &Parent) {
        let mut activity = self.activity.subscribe();
        let never_connected = tokio::time::sleep(connect_timeout);
        tokio::pin!(never_connected);
        loop {
            let now = *activity.borrow_and_update();
            tokio::select! {
                // The sender is a field of `self`, so the channel is open.
                _ = activity.changed() => {}
                () = &mut never_connected, if !now.was_connected => return,
                () = tokio::time::sleep(parent.interval), if now.was_connected && now.connections == 0 => {
                    if (parent.has_ended)() {
                        return;
                    }
                }
            }
        }
    }

    async fn reached(&self, condition: fn(&Activity) -> bool) {
        // The sender is a field of `self`, so the channel is open.
        let _ = self.activity.subscribe().wait_for(condition).await;
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
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_secs(20);

    fn parent(has_ended: bool) -> Parent {
        Parent { interval: Duration::from_secs(1), has_ended: Arc::new(move || has_ended) }
    }

    /// Whether the process ends within a minute.
    async fn ends(lifecycle: &Lifecycle, connect_timeout: Duration, parent: &Parent) -> bool {
        let signal = Notify::new();
        let ended = lifecycle.ended(connect_timeout, parent, &signal);
        tokio::time::timeout(Duration::from_secs(60), ended).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_without_a_connection_ends() {
        assert!(ends(&Lifecycle::new(), SHORT, &parent(false)).await);
        assert!(!ends(&Lifecycle::new(), LONG, &parent(false)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_connection_alone_does_not_end_the_process() {
        let lifecycle = Lifecycle::new();
        drop(lifecycle.connection());
        let (parent, signal) = (parent(false), Notify::new());
        let hours = tokio::time::timeout(LONG * 2, lifecycle.ended(SHORT, &parent, &signal));
        assert!(hours.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_process_ends_without_a_connection_and_a_parent() {
        let lifecycle = Lifecycle::new();
        let connection = lifecycle.connection();
        assert!(!ends(&lifecycle, SHORT, &parent(true)).await, "a client is connected");
        drop(connection);
        let began = tokio::time::Instant::now();
        assert!(ends(&lifecycle, LONG, &parent(true)).await);
        assert_eq!(began.elapsed(), Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_parent_is_checked_until_it_has_ended() {
        let lifecycle = Lifecycle::new();
        drop(lifecycle.connection());
        let flag = Arc::new(AtomicBool::new(false));
        let has_ended = flag.clone();
        let parent =
            Parent { interval: Duration::from_secs(1), has_ended: Arc::new(move || has_ended.load(Ordering::Relaxed)) };
        assert!(!ends(&lifecycle, SHORT, &parent).await);
        flag.store(true, Ordering::Relaxed);
        assert!(ends(&lifecycle, SHORT, &parent).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_killed_terraform_stops_running_work() {
        let lifecycle = Lifecycle::new();
        drop(lifecycle.connection());
        let (call, change) = (lifecycle.call(), lifecycle.change());
        let stop = lifecycle.stop_token();
        assert!(!ends(&lifecycle, LONG, &parent(true)).await, "an apply is running");
        assert!(stop.is_cancelled() && lifecycle.client_gone().is_cancelled());
        drop((change, call));
        assert!(ends(&lifecycle, LONG, &parent(true)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_waits_for_work_but_not_for_connections() {
        let lifecycle = Lifecycle::new();
        let _connection = lifecycle.connection();
        let (call, change) = (lifecycle.call(), lifecycle.change());
        lifecycle.shut_down();
        assert!(!ends(&lifecycle, LONG, &parent(false)).await);
        assert!(lifecycle.client_gone().is_cancelled());
        drop((change, call));
        assert!(ends(&lifecycle, LONG, &parent(false)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_work_until_another_terraform_begins() {
        let lifecycle = Lifecycle::new();
        let running = lifecycle.stop_token();
        lifecycle.stop_work();
        assert!(running.is_cancelled());
        assert!(lifecycle.stop_token().is_cancelled(), "its call may have been sent before the stop");
        lifecycle.allow_work();
        assert!(running.is_cancelled() && !lifecycle.stop_token().is_cancelled());
        assert!(!lifecycle.client_gone().is_cancelled(), "Terraform still waits for the response");
    }

    /// The virtual time until the process ends after SIGTERM while Terraform is connected, and whether the signal
    /// stopped the work that was running.
    async fn terminated(lifecycle: &Lifecycle) -> (Option<Duration>, bool) {
        let _connection = lifecycle.connection();
        let stop = lifecycle.stop_token();
        let (began, signal) = (tokio::time::Instant::now(), Notify::new());
        signal.notify_one();
        let parent = parent(false);
        let ended = tokio::time::timeout(LONG, lifecycle.ended(LONG, &parent, &signal)).await;
        assert!(!lifecycle.client_gone().is_cancelled(), "Terraform still waits for the response");
        (ended.is_ok().then(|| began.elapsed()), stop.is_cancelled())
    }

    #[tokio::test(start_paused = true)]
    async fn sigterm_ends_the_process_but_never_an_apply() {
        let lifecycle = Lifecycle::new();
        assert_eq!(terminated(&lifecycle).await, (Some(Duration::ZERO), true));
        let call = lifecycle.call();
        assert_eq!(terminated(&lifecycle).await, (Some(STOP_TIMEOUT), true), "a read that does not stop");
        let change = lifecycle.change();
        assert_eq!(terminated(&lifecycle).await, (None, true), "an apply that does not stop");
        drop((change, call));
        assert_eq!(terminated(&lifecycle).await, (Some(Duration::ZERO), true));
    }

    #[tokio::test(start_paused = true)]
    async fn the_response_of_an_apply_has_more_time_to_arrive() {
        let (parent, signal) = (parent(false), Notify::new());
        let lifecycle = Lifecycle::new();
        let change = lifecycle.change();
        signal.notify_one();
        let ended = lifecycle.ended(LONG, &parent, &signal);
        tokio::pin!(ended);
        tokio::select! {
            biased;
            _ = &mut ended => panic!("an apply is running"),
            () = tokio::time::sleep(SHORT) => drop(change),
        }
        assert_eq!(ended.await, CHANGE_RESPONSE_TIMEOUT);
        signal.notify_one();
        assert_eq!(lifecycle.ended(LONG, &parent, &signal).await, RESPONSE_TIMEOUT);
        lifecycle.shut_down();
        assert_eq!(lifecycle.ended(LONG, &parent, &signal).await, SHUTDOWN_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_begin_after_sigterm_are_stopped() {
        let lifecycle = Lifecycle::new();
        terminated(&lifecycle).await;
        assert!(lifecycle.stop_token().is_cancelled());
        lifecycle.allow_work();
        assert!(lifecycle.stop_token().is_cancelled());
    }
}
