//! Looking at AWS, for read, import, and a plan without usable private state.

use std::collections::BTreeSet;
use std::time::Duration;

use super::observe::{drift, left_behind, observe};
use super::private_state::Private;
use super::state;
use crate::cloud::{Cause, Cloud, Failure, RootState};
use crate::model::{Entry, Inventory, Object};
use crate::model::{Facts, Scope};
use crate::plugin::Value;
use crate::topology::{Context, IgnoredDrift, Topology};

/// Looks at the whole topology. `None` where AWS says that neither the root nor anything that outlives it exists.
pub(super) async fn refresh<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    known: Option<Private>,
    ignored: &IgnoredDrift,
) -> Result<Option<Private>, Failure> {
    let entries = known.as_ref().map(|private| private.inventory.entries.as_slice()).unwrap_or_default();
    let Some(seen) = cloud.read(P::KIND, root_id, entries).await? else { return Ok(None) };
    let mut private = observe(known, seen.objects, &cloud.scope().ignore_tags, ignored);
    private.root_state = seen.root_state.filter(|state| *state != RootState::Ready);
    private.marking_refused &= private.root_state.is_some();
    Ok(Some(private))
}

/// The same, for no longer than the `timeouts` block of a state allows a read.
pub(super) async fn within<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<Private>, Failure> {
    let config = state::decode::<P>(state).ok().map(|(_, config)| config);
    let ignored = ignored_in::<P>(state);
    let look = async {
        match known {
            Some(known) => refresh::<P>(cloud, root_id, Some(known), &ignored).await,
            None => rebuild::<P>(cloud, root_id, state).await,
        }
    };
    let Some(seconds) = config.and_then(|config| P::timeouts(&config).read) else {
        return look.await;
    };
    // A look changes nothing, so it may be given up in the middle of a call.
    let gave_up =
        || Failure::new(Cause::TimedOut, "Reading", format!("gave up after {seconds} s, as timeouts.read says"));
    tokio::time::timeout(Duration::from_secs(seconds), look).await.unwrap_or_else(|_| Err(gave_up()))
}

/// Looks at a topology of which only the state that users see is known. What the root does not lead to, because the
/// root is gone or what leads there was never made, is looked for by the ids in that state.
pub(super) async fn rebuild<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
) -> Result<Option<Private>, Failure> {
    let ignored = ignored_in::<P>(state);
    let mut found = find_again::<P>(cloud, root_id, state, &ignored).await?;
    if let Some(private) = &mut found {
        name_surprises(state, private, &ignored);
    }
    Ok(found)
}

/// Names what exists and the state does not know, and what it knows and is gone. Terraform drops private state when a
/// provider is killed in an update.
fn name_surprises(state: &Value, private: &mut Private, ignored: &IgnoredDrift) {
    let known = |attribute: &str| state.get(attribute).as_map().cloned().unwrap_or_default();
    let (objects, leaving) = (known("aws_objects"), known("pending_deletion"));
    if objects.is_empty() {
        // An import: all is new.
        return;
    }
    let ids: BTreeSet<&str> = objects.values().chain(leaving.values()).filter_map(Value::as_str).collect();
    for entry in private.inventory.present().filter(|entry| !ids.contains(entry.id.as_str())) {
        private.pending.entry(entry.key.slot.clone()).or_insert_with(|| left_behind(&entry.id));
    }
    for (slot, id) in objects.iter().filter(|(slot, _)| !ignored.covers(slot)) {
        let Some(id) = id.as_str() else { continue };
        if !private.inventory.present().any(|entry| entry.id == id) {
            private.pending.entry(slot.clone()).or_insert_with(|| format!("{id} is gone"));
        }
    }
}

async fn find_again<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
    ignored: &IgnoredDrift,
) -> Result<Option<Private>, Failure> {
    let found = refresh::<P>(cloud, root_id, None, ignored).await?;
    let mut inventory = found.as_ref().map(|private| private.inventory.clone()).unwrap_or_default();
    let all = inventory.clone();
    inventory.entries.retain(|entry| P::may_own(state, entry, &all));
    let is_found = |entry: &Entry| {
        inventory.entries.iter().any(|it| it.key == entry.key || it.kind_and_id() == entry.kind_and_id())
    };
    let mut remembered = remembered::<P>(state, cloud.scope()).unwrap_or_default().entries;
    remembered.retain(|entry| !is_found(entry));
    if remembered.is_empty() {
        return Ok(found.map(|mut private| {
            private.inventory = inventory;
            private
        }));
    }
    inventory.entries.extend(remembered);
    let mut found = refresh::<P>(cloud, root_id, Some(Private::of(inventory)), ignored).await?;
    if let Some(private) = &mut found {
        // What was found is as applied, as it is where everything is found from the root.
        private.inventory.entries.retain(|entry| !entry.gone);
        for entry in &mut private.inventory.entries {
            if let Some(observed) = entry.observed.take() {
                entry.applied = observed;
            }
        }
    }
    Ok(found)
}

/// The objects whose drift a state says to ignore.
pub(super) fn ignored_in<P: Topology>(state: &Value) -> IgnoredDrift {
    state::decode::<P>(state).map_or_else(|_| IgnoredDrift::default(), |(_, config)| P::ignored_drift(&config))
}

/// The objects of a state, as its configuration wants them. `None` where that takes more than the state.
fn remembered<P: Topology>(state: &Value, scope: &Scope) -> Option<Inventory> {
    let (_, config) = state::decode::<P>(state).ok()?;
    let (existing, facts) = (Inventory::default(), Facts::default());
    let context = Context { config: &config, prior: None, existing: &existing, scope, facts: &facts };
    let objects = P::remembered(&context);
    let ids = state.get("aws_objects");
    let entry = |object: Object| Some(Entry::new(object.key.clone(), ids.get(&object.key.slot).as_str()?, object.spec));
    Some(Inventory { entries: objects.into_iter().filter_map(entry).collect() })
}

/// The state after a look, from the state before.
pub(super) fn state<P: Topology>(before: &Value, root_id: &str, private: &Private, scope: &Scope) -> Value {
    let mut attributes = state::configured::<P>(before);
    P::write_drift(&mut attributes, &private.inventory);
    // After an import most attributes are null, and what they stand for can be decoded only if none is required.
    let config = state::decode::<P>(&attributes).ok().map(|(_, config)| config);
    state::of_inventory::<P>(&attributes, config.as_ref(), root_id, &private.inventory, drift(private), scope)
}
