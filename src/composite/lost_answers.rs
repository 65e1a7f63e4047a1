//! What has become of calls whose answer was lost for good: AWS may have carried them out, so a look tells.

use std::time::Duration;

use super::private::Private;
use super::{messages, refresh};
use crate::cloud::{Cause, Cloud, Failure};
use crate::model::{Entry, Inventory};
use crate::plugin::Diagnostics;
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::{IgnoredDrift, Product};

/// How long the look may take. Where answers are lost AWS may be out of reach, and all calls have been repeated
/// already.
const LOOK: Duration = Duration::from_secs(30);

/// Takes what such calls have made into the inventory, and what they have deleted out of it.
///
/// Nothing else of the look counts: what was made a moment ago need not be visible yet.
pub(super) async fn look_for<P: Product>(
    cloud: &dyn Cloud,
    (name, root_id): (&str, &str),
    plan: &Plan,
    outcome: &Outcome,
    inventory: &mut Inventory,
    diagnostics: &mut Diagnostics,
) {
    let lost = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::Lost);
    let lost: Vec<&Action> = lost.map(|(position, _)| &plan.ops[*position].action).collect();
    if lost.is_empty() {
        return;
    }
    let (known, ignored) = (Private::of(inventory.clone()), IgnoredDrift::default());
    let look = refresh::refresh::<P>(cloud, root_id, Some(known), &ignored);
    // A look changes nothing, so it may be given up in the middle of a call.
    let looked = tokio::time::timeout(LOOK, look).await;
    let gave_up = |_| Failure::new(Cause::TimedOut, "Reading", format!("gave up after {} s", LOOK.as_secs()));
    let seen = match looked.map_err(gave_up) {
        Ok(Ok(seen)) => seen.map(|private| private.inventory).unwrap_or_default(),
        Ok(Err(failure)) | Err(failure) => {
            return messages::unseen_work::<P>(name, &messages::detail(&failure), diagnostics);
        }
    };
    let is_seen = |entry: &Entry| seen.present().any(|it| it.kind_and_id() == entry.kind_and_id());
    // What goes along with something has no call of its own.
    let is_to_be_deleted = |entry: &Entry| {
        plan.deleted().any(|deleted| deleted.key == entry.key && deleted.kind_and_id() == entry.kind_and_id())
    };
    inventory.entries.retain(|entry| !is_to_be_deleted(entry) || is_seen(entry));
    for action in lost {
        // Some changes give an object another id.
        if let Action::Update { to, .. } = action
            && let Some(entry) = inventory.entries.iter_mut().find(|entry| entry.is_present() && entry.key == to.key)
            && let Some(seen) = seen.present().find(|seen| seen.key == to.key)
        {
            entry.id.clone_from(&seen.id);
        }
    }
    let is_new = |entry: &&Entry| !inventory.entries.iter().any(|it| it.kind_and_id() == entry.kind_and_id());
    let made: Vec<Entry> = seen.present().filter(is_new).cloned().collect();
    inventory.entries.extend(made);
}
