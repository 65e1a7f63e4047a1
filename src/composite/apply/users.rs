//! The unmanaged objects that block a destroy.

use std::time::Duration;

use tokio::time::Instant;

use crate::cloud::retries::Retry;
use crate::cloud::{Cause, Cloud, Deadlines, Dependents, Failure};
use crate::composite::dependents;
use crate::model::{GuardDutyObjects, Inventory};
use crate::reconcile::Plan;
use crate::topology::Topology;

/// The first pause between two lists of the users. Each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// The unmanaged objects that still blocked a destroy when its wait for them ended.
pub(super) struct InUse {
    pub(super) found: Dependents,
    /// Whether Terraform requested a stop.
    pub(super) has_stopped: bool,
}

/// Waits until nothing unmanaged blocks a destroy, so that it deletes either everything or nothing. Terraform may be
/// destroying these objects in the same run. A list that AWS rejects blocks nothing, because the plan has named it, and
/// another destroy would not succeed either. One that failed otherwise ends the wait.
pub(super) async fn until_unused<P: Topology>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    guardduty: GuardDutyObjects,
    deadlines: &Deadlines,
) -> Result<(), InUse> {
    let users = || async {
        let mut found = dependents::of_destroy::<P>(cloud, inventory, guardduty).await;
        found.unseen.retain(is_temporary);
        found
    };
    until_none(users, deadlines).await
}

/// Whether a later call may succeed although nothing changes in AWS.
fn is_temporary(failure: &Failure) -> bool {
    matches!(failure.cause, Cause::Throttled | Cause::Lost | Cause::Credentials | Cause::TimedOut | Cause::Stopped)
}

/// Waits until no unmanaged API mapping blocks a destroy, for the same reason. AWS deletes the mappings of a domain
/// with it, so a list that fails ends the wait.
pub(super) async fn until_unmapped<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    (inventory, plan): (&Inventory, &Plan),
    deadlines: &Deadlines,
) -> Result<(), InUse> {
    until_none(|| dependents::mappings::<P>(cloud, root_id, inventory, plan), deadlines).await
}

/// Repeats a list until it is empty, it fails, or the time is over.
async fn until_none<F: Future<Output = Dependents>>(list: impl Fn() -> F, deadlines: &Deadlines) -> Result<(), InUse> {
    let mut pause = FIRST_PAUSE;
    loop {
        let start = Instant::now();
        let found = list().await;
        let took = start.elapsed();
        if found.objects.is_empty() && found.unseen.is_empty() {
            return Ok(());
        }
        let has_stopped = deadlines.stop.is_cancelled();
        let rest = deadlines.deadline.saturating_duration_since(Instant::now());
        if has_stopped || rest.is_zero() || !found.unseen.is_empty() {
            return Err(InUse { found, has_stopped });
        }
        if let Some(first) = found.objects.first().filter(|_| pause == FIRST_PAUSE) {
            let reason = format!("{} {} still uses an object to destroy", first.kind, first.id);
            Retry { is_wait: true, action: "listing users".into(), number: None, reason }.report();
        }
        tokio::select! {
            () = tokio::time::sleep(pause.min(rest)) => {}
            () = deadlines.stop.cancelled() => {}
        }
        // A search of many APIs leaves half of the calls that AWS accepts to other resources.
        pause = (pause * 2).min(LONGEST_PAUSE).max(took);
    }
}
