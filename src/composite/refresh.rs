//! Looking at AWS, for read, import, and a plan without usable private state.

use super::observe::{drift, observe};
use super::private::Private;
use super::state;
use crate::cloud::{Cloud, Failure, RootState};
use crate::plugin::Value;
use crate::product::{Product, Scope};

/// Looks at the whole topology. `None` where AWS says that the root does not exist.
pub(super) async fn refresh<P: Product>(
    cloud: &dyn Cloud,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<Private>, Failure> {
    let entries = known.as_ref().map(|private| private.inventory.entries.as_slice()).unwrap_or_default();
    let Some(seen) = cloud.read(P::OWNER, root_id, entries).await? else { return Ok(None) };
    let rebuilt = known.is_none();
    let mut private = observe(known, seen, &cloud.scope().ignore_tags);
    if rebuilt {
        // Whether the root was marked as ready is not known, so the next apply marks it.
        private.root_state = Some(RootState::Incomplete);
    }
    Ok(Some(private))
}

/// The state after a look, from the state before.
pub(super) fn state<P: Product>(before: &Value, root_id: &str, private: &Private, scope: &Scope) -> Value {
    let mut attributes = state::configured::<P>(before);
    P::reflect(&mut attributes, &private.inventory);
    // After an import most attributes are null, and what they stand for can be decoded only if none is required.
    let config = state::decode::<P>(&attributes).ok().map(|(_, config)| config);
    state::of_inventory::<P>(&attributes, config.as_ref(), root_id, &private.inventory, drift(private), scope)
}
