//! Reading a topology from AWS, for read, import, and a plan without usable private state.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::observe::{drift, left_behind, missing, observe};
use super::private_state::Private;
use super::{location, state};
use crate::cloud::{Cause, Cloud, Failure, RootState};
use crate::model::{Entry, Inventory, Object};
use crate::model::{Facts, Scope};
use crate::plugin::Value;
use crate::topology::{Context, IgnoredDrift, Topology};

/// Reads the whole topology. Returns `None` if neither the root nor any object that outlives it exists.
pub(super) async fn refresh<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    known: Option<Private>,
    ignored: &IgnoredDrift,
) -> Result<Option<Private>, Failure> {
    let entries = known.as_ref().map(|private| private.inventory.entries.as_slice()).unwrap_or_default();
    let Some(seen) = cloud.read(P::KIND, root_id, entries).await? else { return Ok(None) };
    let mut private = observe(known, seen.objects, &cloud.scope().ignore_tags, ignored);
    // The next apply waits for them.
    for entry in private.inventory.entries.iter_mut().filter(|entry| seen.incomplete.contains(&entry.id)) {
        entry.unfinished = true;
    }
    private.root_state = seen.root_state.filter(|state| *state != RootState::Ready);
    private.marking_refused &= private.root_state.is_some();
    Ok(Some(private))
}

/// Refreshes or rebuilds a topology, within the `read` timeout of the state.
pub(super) async fn within<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<Private>, Failure> {
    let config = state::decode::<P>(state).ok().map(|(_, config)| config);
    let ignored = ignored_in::<P>(state);
    let read = async {
        match known {
            Some(known) => refresh::<P>(cloud, root_id, Some(known), &ignored).await,
            None => rebuild::<P>(cloud, root_id, state).await,
        }
    };
    let Some(seconds) = config.and_then(|config| P::timeouts(&config).read) else {
        return read.await;
    };
    // A read can be canceled at any time because it changes nothing.
    let timed_out =
        || Failure::new(Cause::TimedOut, "Reading", format!("timed out after {seconds} s, the value of timeouts.read"));
    tokio::time::timeout(Duration::from_secs(seconds), read).await.unwrap_or_else(|_| Err(timed_out()))
}

/// The roots that this process has read for Terraform.
#[derive(Debug, Default)]
pub(super) struct ReadRoots(Mutex<BTreeSet<String>>);

impl ReadRoots {
    /// Adds a root.
    pub(super) fn add(&self, root_id: &str) {
        self.lock().insert(root_id.to_string());
    }

    /// Whether the root was read.
    pub(super) fn contains(&self, root_id: &str) -> bool {
        self.lock().contains(root_id)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the objects as missing that AWS has deleted since the refresh together with an unmanaged object. Returns
/// whether there are any.
///
/// Terraform plans again in an apply, in a new process and without a refresh. Meanwhile it may have replaced a function
/// under its name, which deletes the policy of the function but changes no input.
pub(super) async fn find_lost<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    private: &mut Private,
) -> Result<bool, Failure> {
    if !private.inventory.current().any(|entry| entry.spec().is_part_of_unmanaged_object()) {
        return Ok(false);
    }
    let Some(now) = within::<P>(cloud, state, root_id, Some(private.clone())).await? else { return Ok(false) };
    let is_lost = |entry: &Entry| {
        let found = now.inventory.entries.iter().find(|it| it.key == entry.key && it.id == entry.id);
        entry.spec().is_part_of_unmanaged_object() && found.is_some_and(|it| !it.is_present())
    };
    let mut lost = false;
    for entry in private.inventory.entries.iter_mut().filter(|entry| entry.is_present()) {
        if is_lost(entry) {
            (entry.missing, lost) = (true, true);
        }
    }
    Ok(lost)
}

/// Reads a topology of which only the user-visible state is known. Objects that cannot be found through the root,
/// because the root or an object in between does not exist, are found by the ids in that state.
pub(super) async fn rebuild<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
) -> Result<Option<Private>, Failure> {
    let ignored = ignored_in::<P>(state);
    let mut found = find::<P>(cloud, root_id, state, &ignored).await?;
    if let Some(private) = &mut found {
        report_differences(state, private, &ignored);
    }
    Ok(found)
}

/// Adds the objects to `pending` that exist but are not in state, and those that are in state but missing. Terraform
/// discards private state if the provider is killed during an update.
fn report_differences(state: &Value, private: &mut Private, ignored: &IgnoredDrift) {
    let known = |attribute: &str| state.get(attribute).as_map().cloned().unwrap_or_default();
    let (objects, deferred) = (known("aws_objects"), known("pending_deletion"));
    if objects.is_empty() {
        // An import, where no object is in state yet.
        return;
    }
    let ids: BTreeSet<&str> = objects.values().chain(deferred.values()).filter_map(Value::as_str).collect();
    for entry in private.inventory.present().filter(|entry| !ids.contains(entry.id.as_str())) {
        private.pending.entry(entry.key.slot.clone()).or_insert_with(|| left_behind(&entry.id));
    }
    for (slot, id) in objects.iter().filter(|(slot, _)| !ignored.covers(slot)) {
        let Some(id) = id.as_str() else { continue };
        if !private.inventory.present().any(|entry| entry.id == id) {
            private.pending.entry(slot.clone()).or_insert_with(|| missing(id));
        }
    }
}

async fn find<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
    ignored: &IgnoredDrift,
) -> Result<Option<Private>, Failure> {
    let found = refresh::<P>(cloud, root_id, None, ignored).await?;
    let mut inventory = found.as_ref().map(|private| private.inventory.clone()).unwrap_or_default();
    let all = inventory.clone();
    inventory.entries.retain(|entry| P::may_own(state, entry, &all));
    P::restore_keys(state, &mut inventory);
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
        // The observed specs count as applied, as for objects that are found through the root.
        private.inventory.entries.retain(|entry| !entry.missing);
        for entry in &mut private.inventory.entries {
            if let Some(observed) = entry.observed.take() {
                entry.applied = observed;
            }
        }
    }
    Ok(found)
}

/// Returns the objects whose drift is ignored according to a state.
pub(super) fn ignored_in<P: Topology>(state: &Value) -> IgnoredDrift {
    state::decode::<P>(state).map_or_else(|_| IgnoredDrift::default(), |(_, config)| P::ignored_drift(&config))
}

/// Returns the objects in a state with the specs that its configuration requires. `None` if it cannot be decoded.
fn remembered<P: Topology>(state: &Value, scope: &Scope) -> Option<Inventory> {
    let (_, config) = state::decode::<P>(state).ok()?;
    let (existing, facts) = (Inventory::default(), Facts::default());
    let context = Context { config: &config, prior: None, existing: &existing, scope, facts: &facts };
    let objects = P::remembered(&context);
    let ids = state.get("aws_objects");
    let entry = |object: Object| Some(Entry::new(object.key.clone(), ids.get(&object.key.slot).as_str()?, object.spec));
    Some(Inventory { entries: objects.into_iter().filter_map(entry).collect() })
}

/// Builds the state after a read from the state before it.
pub(super) fn state<P: Topology>(before: &Value, root_id: &str, private: &Private, scope: &Scope) -> Value {
    let mut attributes = state::configured::<P>(before);
    P::write_drift(&mut attributes, &private.inventory);
    // After an import most attributes are null. They can be decoded only if none of them is required.
    let config = state::decode::<P>(&attributes).ok().map(|(_, config)| config);
    let (config, inventory) = (config.as_ref(), &private.inventory);
    let mut state = state::of_inventory::<P>(&attributes, config, root_id, inventory, drift(private), scope);
    location::keep::<P>(before, inventory, &mut state);
    state
}
