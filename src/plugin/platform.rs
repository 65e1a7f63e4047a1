//! Everything about a process that differs between Unix and Windows, except its socket: signals, and the process that
//! started it.

use std::fmt::{Debug, Formatter};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

/// The way to find out that Terraform has ended without a shutdown, while it has no connection.
#[derive(Clone)]
pub struct Parent {
    /// The time from the end of the last connection to the first check, and between two checks.
    pub interval: Duration,
    /// Whether the process that started this one has ended.
    pub has_ended: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Debug for Parent {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Parent").field("interval", &self.interval).finish_non_exhaustive()
    }
}

impl Parent {
    /// The process that started this one. If it has ended, another process is the parent of this one.
    #[cfg(unix)]
    pub fn of_process() -> Parent {
        use std::os::unix::process::parent_id;
        let at_start = parent_id();
        Parent { interval: Duration::from_secs(1), has_ended: Arc::new(move || parent_id() != at_start) }
    }

    /// The process that started this one. The standard library has no way to find it on Windows, where a process also
    /// keeps the ID of a parent that has ended. A lost connection therefore counts as the end of Terraform if no other
    /// connection follows within some seconds. Terraform keeps its connection open, because `StreamStdio` never ends.
    #[cfg(windows)]
    pub fn of_process() -> Parent {
        Parent { interval: Duration::from_secs(5), has_ended: Arc::new(|| true) }
    }

    /// For a process that outlives Terraform.
    pub fn immortal() -> Parent {
        Parent { interval: Duration::from_secs(3600), has_ended: Arc::new(|| false) }
    }
}

/// Handles the signals that a terminal sends to all of its processes. Terraform receives them too and decides what to
/// do, so none of them may end this process during an apply. SIGTERM notifies the result. If the user started this
/// process, each of the signals does.
#[cfg(unix)]
pub(super) fn handle_signals(is_started_by_user: bool) -> io::Result<Arc<Notify>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let terminated = Arc::new(Notify::new());
    let notify = terminated.clone();
    tokio::spawn(async move {
        loop {
            let is_request = tokio::select! {
                _ = interrupt.recv() => is_started_by_user,
                _ = hangup.recv() => is_started_by_user,
                _ = terminate.recv() => true,
            };
            if is_request {
                notify.notify_one();
            }
        }
    });
    Ok(terminated)
}

/// Handles the events that a console sends to all of its processes. Terraform receives them too and decides what to do,
/// so none of them may end this process during an apply. Windows has no event for a single process, such as SIGTERM.
#[cfg(windows)]
pub(super) fn handle_signals(is_started_by_user: bool) -> io::Result<Arc<Notify>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    let mut interrupt = ctrl_c()?;
    let mut interrupt_with_break = ctrl_break()?;
    // Windows ends the process some seconds after each of these three, but not before.
    let (mut close, mut logoff, mut shutdown) = (ctrl_close()?, ctrl_logoff()?, ctrl_shutdown()?);
    let terminated = Arc::new(Notify::new());
    let notify = terminated.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = interrupt_with_break.recv() => {}
                _ = close.recv() => {}
                _ = logoff.recv() => {}
                _ = shutdown.recv() => {}
            }
            if is_started_by_user {
                notify.notify_one();
            }
        }
    });
    Ok(terminated)
}
