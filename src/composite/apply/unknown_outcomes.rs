//! What has become of calls whose answer was lost for good: AWS may have carried them out, so a read tells.

use std::time::Duration;

use crate::cloud::{Cause, Cloud, Failure};
use crate::composite::private_state::Private;
use crate::composite::refresh;
use crate::model::{Entry, Inventory};
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::{IgnoredDrift, Topology};

/// How long the read may take. Where answers are lost AWS may be out of reach, and all calls have been repeated
/// already.
const READ: Duration = Duration::from_secs(30);

/// The operations with such a call.
pub(super) fn of<'a>(plan: &'a Plan, outcome: &Outcome) -> Vec<&'a Action> {
    let lost = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::Lost);
    lost.map(|(position, _)| &plan.ops[*position].action).collect()
}

/// Takes what such calls have created into the inventory, and what they have deleted out of it.
///
/// Nothing else of the read counts: what was created a moment ago need not be visible yet.
pub(super) async fn resolve<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    plan: &Plan,
    unknown: &[&Action],
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    let (known, ignored) = (Private::of(inventory.clone()), IgnoredDrift::default());
    let read = refresh::refresh::<P>(cloud, root_id, Some(known), &ignored);
    let gave_up = |_| Failure::new(Cause::TimedOut, "Reading", format!("gave up after {} s", READ.as_secs()));
    // A read changes nothing, so it may be given up in the middle of a call.
    let seen = tokio::time::timeout(READ, read).await.map_err(gave_up)??;
    take_over(plan, unknown, &seen.map(|private| private.inventory).unwrap_or_default(), inventory);
    Ok(())
}

fn take_over(plan: &Plan, unknown: &[&Action], seen: &Inventory, inventory: &mut Inventory) {
    let is_seen = |entry: &Entry| seen.present().any(|it| it.kind_and_id() == entry.kind_and_id());
    // What is deleted along with something has no call of its own.
    let is_to_be_deleted = |entry: &Entry| {
        plan.deleted().any(|deleted| deleted.key == entry.key && deleted.kind_and_id() == entry.kind_and_id())
    };
    inventory.entries.retain(|entry| !is_to_be_deleted(entry) || is_seen(entry));
    for action in unknown {
        // Some changes give an object another id.
        if let Action::Update { to, .. } = action
            && let Some(entry) = inventory.entries.iter_mut().find(|entry| entry.is_present() && entry.key == to.key)
            && let Some(seen) = seen.present().find(|seen| seen.key == to.key)
        {
            entry.id.clone_from(&seen.id);
        }
    }
    let is_new = |entry: &&Entry| !inventory.entries.iter().any(|it| it.kind_and_id() == entry.kind_and_id());
    let created: Vec<Entry> = seen.present().filter(is_new).cloned().collect();
    inventory.entries.extend(created);
}
