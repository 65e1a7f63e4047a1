//! Calls with an unknown outcome: AWS may have executed them although the answer was lost. A read determines it.

use std::time::Duration;

use crate::cloud::{Cause, Cloud, Failure};
use crate::composite::private_state::Private;
use crate::composite::refresh;
use crate::model::{Entry, Inventory};
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::{IgnoredDrift, Topology};

/// The timeout of the read. It is short because AWS may be unreachable, and every call has been retried already.
const READ: Duration = Duration::from_secs(30);

/// Returns the operations with an unknown outcome.
pub(super) fn of<'a>(plan: &'a Plan, outcome: &Outcome) -> Vec<&'a Action> {
    let lost = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::Lost);
    lost.map(|(position, _)| &plan.ops[*position].action).collect()
}

/// Adds the objects to the inventory that such calls have created, and removes those that they have deleted.
///
/// The rest of the read is ignored, because recently created objects may not be visible yet.
pub(super) async fn resolve<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    plan: &Plan,
    unknown: &[&Action],
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    let (known, ignored) = (Private::of(inventory.clone()), IgnoredDrift::default());
    let read = refresh::refresh::<P>(cloud, root_id, Some(known), &ignored);
    let timed_out = |_| Failure::new(Cause::TimedOut, "Reading", format!("timed out after {} s", READ.as_secs()));
    // A read can be canceled at any time because it changes nothing.
    let seen = tokio::time::timeout(READ, read).await.map_err(timed_out)??;
    merge(plan, unknown, seen.unwrap_or_default(), inventory);
    Ok(())
}

fn merge(plan: &Plan, unknown: &[&Action], seen: Private, inventory: &mut Inventory) {
    let Private { inventory: seen, candidates, .. } = seen;
    let is_seen = |entry: &Entry| seen.present().any(|it| it.kind_and_id() == entry.kind_and_id());
    // Objects that are deleted with their parent have no call of their own.
    let is_to_be_deleted = |entry: &Entry| {
        plan.deleted().any(|deleted| deleted.key == entry.key && deleted.kind_and_id() == entry.kind_and_id())
    };
    inventory.entries.retain(|entry| !is_to_be_deleted(entry) || is_seen(entry));
    for action in unknown {
        // Some updates change the id of the object.
        if let Action::Update { to, .. } = action
            && let Some(entry) = inventory.entries.iter_mut().find(|entry| entry.is_present() && entry.key == to.key)
            && let Some(seen) = seen.present().find(|seen| seen.key == to.key)
        {
            entry.id.clone_from(&seen.id);
        }
    }
    let is_created = |entry: &Entry| {
        unknown.iter().any(|action| matches!(action, Action::Create(object) if object.key == entry.key))
    };
    inventory.entries.extend(candidates.into_iter().map(|it| it.entry).filter(is_created));
}
