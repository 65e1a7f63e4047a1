//! The tasks in which the work of a provider runs.

use tracing::Instrument;

use super::{one_error, panicked};
use crate::plugin::lifecycle::Lifecycle;
use crate::plugin::{Diagnostics, panics};

/// Runs work in its own task. The task continues after Terraform disconnects, until it honors its stop token: a create
/// that is dropped at an arbitrary point could leave objects that are not in any state. The error is the message of a
/// panic.
pub(super) async fn run<T: Send + 'static>(
    lifecycle: &Lifecycle,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let counted = lifecycle.call();
    let work = async move {
        let _counted = counted;
        work.await
    };
    let task = tokio::spawn(panics::caught(work).in_current_span());
    task.await.unwrap_or_else(|error| Err(error.to_string()))
}

/// The same for work that changes nothing. It is dropped as soon as Terraform requests a stop or abandons the call.
/// `what` describes the work in the error for a stop.
pub(super) async fn run_until_stopped<T: Send + 'static>(
    lifecycle: &Lifecycle,
    what: impl FnOnce() -> String,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Diagnostics> {
    let stop = lifecycle.stop_token().child_token();
    let _abandoned = stop.clone().drop_guard();
    let done = run(lifecycle, async move { stop.run_until_cancelled(work).await }).await.map_err(panicked)?;
    done.ok_or_else(|| {
        one_error(&format!("Stopped {}", what()), "Terraform or a signal requested a stop. Nothing was changed.")
    })
}
