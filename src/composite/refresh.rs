//! Reading a topology from AWS, for read, import, and a plan without usable private state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::observe::{missing, named, observe, unmanaged_objects};
use super::private_state::Private;
use super::status::{Status, is_not_adopted};
use super::{dependents, facts, location, released, state, takeover, used};
use crate::cloud::{Cause, Cloud, Discovery, Failure, Known, RootState, Seen, adoptable};
use crate::model::{Drift, Entry, Facts, Inventory, Object, Origin, Scope};
use crate::plugin::Value;
use crate::topology::{Blueprint, Context, IgnoredDrift, Topology};

/// Reads the whole topology. Returns `None` if neither the root nor any object that outlives it exists.
pub(super) async fn refresh<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    known: Option<Private>,
    ignored: &IgnoredDrift,
) -> Result<Option<Private>, Failure> {
    let entries = known.as_ref().map(|private| private.inventory.entries.as_slice()).unwrap_or_default();
    let Some(seen) = cloud.read(P::KIND, root_id, Known::entries(entries)).await? else { return Ok(None) };
    Ok(Some(observed(known, seen, cloud.scope(), ignored)))
}

/// Updates what is known with what AWS returned.
pub(super) fn observed(known: Option<Private>, seen: Seen, scope: &Scope, ignored: &IgnoredDrift) -> Private {
    let mut private = observe(known, seen.objects, &scope.ignore_tags, ignored);
    // The next apply waits for them.
    let candidates = private.candidates.iter_mut().map(|it| &mut it.entry);
    for entry in private.inventory.entries.iter_mut().chain(candidates) {
        if seen.incomplete.contains(&entry.id) {
            entry.mark_unfinished();
        }
    }
    for candidate in &mut private.candidates {
        candidate.requires = seen.requires.get(&candidate.entry.id).cloned().unwrap_or_default();
    }
    private.root_state = seen.root_state.filter(|state| *state != RootState::Ready);
    private.marking_refused &= private.root_state.is_some();
    private.unmanaged = seen.unmanaged;
    private.stacks = seen.stacks;
    released::forget_unused(&mut private);
    private
}

/// Refreshes or rebuilds a topology, within the `read` timeout of the state.
pub(super) async fn within<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<Private>, Failure> {
    limited::<P, _>(state, read::<P>(cloud, state, root_id, known)).await
}

/// Refreshes a topology and reads additional objects, which `adopt` names: their slots by ID.
pub(super) async fn with_consent<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    known: Private,
    consented: &BTreeMap<String, String>,
) -> Result<Option<Private>, Failure> {
    let mut known = known;
    known.inventory.forget_missing(|entry| consented.get(&entry.id) == Some(&entry.key.slot));
    let read = async {
        let entries = Known::entries(&known.inventory.entries);
        let objects = Known { consented: (!consented.is_empty()).then_some(consented), ..entries };
        let Some(seen) = cloud.read(P::KIND, root_id, objects).await? else { return Ok(None) };
        let untagged = seen.untagged.clone();
        let mut private = observed(Some(known.clone()), seen, cloud.scope(), &ignored_in::<P>(state));
        takeover::mark_named(&mut private, consented, &untagged);
        Ok(Some(private))
    };
    limited::<P, _>(state, read).await
}

/// The same as [`within`], and looks up the facts that a plan requires. Returns the new state too.
///
/// Terraform before 1.16 and OpenTofu pass the plan that they repeat at apply only the private state of this refresh.
/// With these facts, it decides as the plan that was shown.
pub(super) async fn with_facts<P: Topology>(
    cloud: &dyn Cloud,
    before: &Value,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<(Private, Value)>, Failure> {
    let lookups = facts::lookups_of_state::<P>(before);
    let is_pending = is_not_adopted(before);
    let read = async {
        match is_pending {
            true => match read_foreign::<P>(cloud, root_id, before, None).await? {
                Foreign::Adoptable(private) => Ok(Some(*private)),
                // Nothing of it belongs to this resource.
                Foreign::Missing | Foreign::NotAdoptable(_) => Ok(None),
            },
            false => read::<P>(cloud, before, root_id, known).await,
        }
    };
    let both = async {
        let (read, facts) = tokio::join!(read, facts::of_refresh(cloud, &lookups));
        Ok((read?, facts))
    };
    let (Some(mut private), facts) = limited::<P, _>(before, both).await? else { return Ok(None) };
    let after = match is_pending {
        true => state_of_foreign::<P>(before, root_id, &private, cloud),
        false => None,
    };
    let after = after.unwrap_or_else(|| state::<P>(before, root_id, &private, cloud.scope()));
    // Drift may change the lookups.
    private.facts = facts.filter(|_| after == *before || facts::lookups_of_state::<P>(&after) == lookups);
    Ok(Some((private, after)))
}

async fn read<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    root_id: &str,
    known: Option<Private>,
) -> Result<Option<Private>, Failure> {
    let mut read = match known {
        Some(known) => refresh::<P>(cloud, root_id, Some(known), &ignored_in::<P>(state)).await?,
        None => rebuild::<P>(cloud, root_id, state).await?,
    };
    if let Some(private) = &mut read {
        dependents::of_pending::<P>(cloud, &mut private.inventory).await;
    }
    Ok(read)
}

/// Ends a read at the `read` timeout of a state. It can be canceled at any time because it changes nothing.
async fn limited<P: Topology, T>(state: &Value, read: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let config = state::decode::<P>(state).ok().map(|(_, config)| config);
    let Some(seconds) = config.and_then(|config| P::timeouts(&config).read) else { return read.await };
    let timed_out =
        || Failure::new(Cause::TimedOut, "Reading", format!("timed out after {seconds} s, the value of timeouts.read"));
    tokio::time::timeout(Duration::from_secs(seconds), read).await.unwrap_or_else(|_| Err(timed_out()))
}

/// IDs or names of roots that this process has read for Terraform.
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

/// Reads the objects on which an operation has begun since the last read, because a plan was made without a refresh. An
/// update sends only what differs from what was read. All others stay as they are known.
pub(super) async fn read_unread<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    private: &mut Private,
) -> Result<(), Failure> {
    let Some(root_id) = state.get("id").as_str().filter(|_| private.inventory.entries.iter().any(|it| it.is_unread))
    else {
        return Ok(());
    };
    let Some(now) = within::<P>(cloud, state, root_id, Some(private.clone())).await? else { return Ok(()) };
    // A read keeps the entries and their order.
    for (entry, read) in private.inventory.entries.iter_mut().zip(now.inventory.entries) {
        if entry.is_unread {
            *entry = read;
        }
    }
    Ok(())
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
            (entry.drift, lost) = (Drift::Missing, true);
        }
    }
    Ok(lost)
}

/// Reads a topology of which only the user-visible state is known, because Terraform discards private state if the
/// provider is killed during an update. The objects of the topology are those whose ids are in that state.
pub(super) async fn rebuild<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
) -> Result<Option<Private>, Failure> {
    let ignored = ignored_in::<P>(state);
    let slots = slots_in(state);
    let known = Known { slots: Some(&slots), ..Known::default() };
    let seen = cloud.read(P::KIND, root_id, known).await?;
    let found = seen.map(|seen| observed(None, seen, cloud.scope(), &ignored)).unwrap_or_default();
    let mut inventory = found.inventory;
    let all = inventory.clone();
    inventory.entries.retain(|entry| slots.contains_key(&entry.id) && P::may_own(state, entry, &all));
    P::restore_keys(state, &mut inventory);
    let is_found = |entry: &Entry| {
        inventory.entries.iter().any(|it| it.key == entry.key || it.kind_and_id() == entry.kind_and_id())
    };
    // Objects that cannot be found through the root, because the root or an object in between does not exist.
    let mut remembered = remembered::<P>(state, cloud.scope()).unwrap_or_default().entries;
    remembered.retain(|entry| !is_found(entry));
    inventory.entries.extend(remembered);
    if inventory.entries.is_empty() {
        return Ok(None);
    }
    let in_creation = Status::in_state(state) == Some(Status::Creating);
    if !in_creation {
        take_required::<P>(cloud, state, &mut inventory, &ignored).await;
    }
    let mut found = refresh::<P>(cloud, root_id, Some(Private::of(inventory)), &ignored).await?;
    if let Some(private) = &mut found {
        // The observed specs count as applied, as in an import, except ignored drift. What a create has left is none.
        let all = private.inventory.clone();
        private.inventory.entries.retain(|entry| !entry.is_missing() && P::may_own(state, entry, &all));
        let pending: BTreeSet<&str> = ids_in(state, "pending_deletion").collect();
        for entry in &mut private.inventory.entries {
            if (in_creation || !entry.ignored)
                && let Some(observed) = entry.take_observed()
            {
                entry.applied = observed;
            }
            entry.pending_deletion = pending.contains(entry.id.as_str());
        }
        take_unstored::<P>(state, private, cloud.scope());
        report_missing(state, private, &ignored);
        private.in_creation = in_creation;
    }
    Ok(found)
}

/// Lets what the configuration of a state requires count as applied where drift is ignored. A read then finds the drift
/// again, which the next plan keeps.
async fn take_required<P: Topology>(
    cloud: &dyn Cloud,
    state: &Value,
    inventory: &mut Inventory,
    ignored: &IgnoredDrift,
) {
    let is_ignored = |entry: &Entry| ignored.covers(&entry.key.slot) && !used::is_in_state(state, entry);
    let Ok((_, config)) = state::decode::<P>(state) else { return };
    if !inventory.entries.iter().any(is_ignored) {
        return;
    }
    let facts = facts::of_refresh(cloud, &P::lookups(&config)).await.unwrap_or_default();
    let (existing, scope) = (&*inventory, cloud.scope());
    let context = Context { config: &config, prior: Some(&config), existing, scope, facts: &facts };
    let Ok(Blueprint::Decided { objects, .. }) = P::blueprint(&context) else { return };
    let ids = state.get("aws_objects");
    for entry in inventory.entries.iter_mut().filter(|entry| is_ignored(entry)) {
        let is_current = ids.get(&entry.key.slot).as_str() == Some(entry.id.as_str());
        if let Some(object) = objects.iter().find(|object| is_current && object.key == entry.key) {
            entry.applied = object.spec.clone();
        }
    }
}

/// The IDs in one of the maps of a state from slots to IDs.
fn ids_in<'a>(state: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    state.get(name).as_map().into_iter().flatten().filter_map(|(_, id)| id.as_str())
}

/// Takes what AWS does not store from a state: the values that its configuration requires, and which objects the
/// topology only uses.
fn take_unstored<P: Topology>(state: &Value, private: &mut Private, scope: &Scope) {
    let required = required_by::<P>(state, scope, P::unstored).unwrap_or_default();
    for entry in &mut private.inventory.entries {
        if let Some(object) = required.iter().find(|object| object.key.slot == entry.key.slot) {
            entry.applied.take_unstored(object.spec.as_kind());
        }
        if used::is_in_state(state, entry) {
            entry.origin = Origin::Used;
        }
    }
}

/// The slots of the objects in a state, by id.
fn slots_in(state: &Value) -> BTreeMap<String, String> {
    let objects = ["pending_deletion", "aws_objects"].map(|name| state.get(name).as_map());
    let objects = objects.into_iter().flatten().flatten();
    objects.filter_map(|(slot, id)| Some((id.as_str()?.to_string(), slot.clone()))).collect()
}

/// Adds the objects to `pending` that are in state but missing.
fn report_missing(state: &Value, private: &mut Private, ignored: &IgnoredDrift) {
    let objects = state.get("aws_objects").as_map().into_iter().flatten();
    for (slot, id) in objects.filter(|(slot, _)| !ignored.covers(slot)) {
        let Some(id) = id.as_str() else { continue };
        if !private.inventory.present().any(|entry| entry.id == id) {
            private.pending.entry(slot.clone()).or_insert_with(|| missing(id));
        }
    }
}

/// Returns the objects whose drift is ignored according to a state.
pub(super) fn ignored_in<P: Topology>(state: &Value) -> IgnoredDrift {
    state::decode::<P>(state).map_or_else(|_| IgnoredDrift::default(), |(_, config)| P::ignored_drift(&config))
}

/// Returns the objects in a state with the specs that its configuration requires. `None` if it cannot be decoded.
fn remembered<P: Topology>(state: &Value, scope: &Scope) -> Option<Inventory> {
    let objects = required_by::<P>(state, scope, P::remembered)?;
    let ids = state.get("aws_objects");
    let entry = |object: Object| Some(Entry::new(object.key.clone(), ids.get(&object.key.slot).as_str()?, object.spec));
    Some(Inventory { entries: objects.into_iter().filter_map(entry).collect() })
}

/// Returns objects that the configuration in a state requires, without any lookup. `None` if it cannot be decoded.
fn required_by<P: Topology>(
    state: &Value,
    scope: &Scope,
    objects: impl Fn(&Context<'_, P::Config>) -> Vec<Object>,
) -> Option<Vec<Object>> {
    let (_, config) = state::decode::<P>(state).ok()?;
    let (existing, facts) = (Inventory::default(), Facts::default());
    Some(objects(&Context { config: &config, prior: None, existing: &existing, scope, facts: &facts }))
}

/// Builds the state after a read from the state before it.
pub(super) fn state<P: Topology>(before: &Value, root_id: &str, private: &Private, scope: &Scope) -> Value {
    let mut attributes = state::configured::<P>(before);
    P::write_drift(&mut attributes, &private.inventory);
    // After an import most attributes are null. They can be decoded only if none of them is required.
    let config = state::decode::<P>(&attributes).ok().map(|(_, config)| config);
    let config = config.as_ref();
    let mut state = state::of_private::<P>(&attributes, config, root_id, private, scope);
    state.set("unmanaged_objects", unmanaged_objects(private).into());
    location::keep::<P>(before, &private.inventory, &mut state);
    state
}

/// The objects of a foreign root.
pub(super) enum Foreign {
    /// The root does not exist.
    Missing,
    /// The root cannot be adopted, with the reason: a clause such as "its protocol is WEBSOCKET".
    NotAdoptable(String),
    /// The objects that can be adopted, and those that stay unmanaged.
    Adoptable(Box<Private>),
}

/// Reads the objects of a foreign root. `before` is the state, whose `aws_objects` an interrupted
/// apply has adopted. `consented` are the slots of objects by ID that no import proposes.
pub(super) async fn read_foreign<P: Topology>(
    cloud: &dyn Cloud,
    root_id: &str,
    before: &Value,
    consented: Option<&BTreeMap<String, String>>,
) -> Result<Foreign, Failure> {
    match cloud.discover(P::KIND, root_id, consented).await? {
        Some(discovery) => {
            let part = P::PART.and_then(|name| before.get(name).as_str());
            classified::<P>(discovery, cloud.scope(), (root_id, part), before).await
        }
        None => Ok(Foreign::Missing),
    }
}

/// The same for a root that was discovered already, and of which this part was chosen.
pub(super) async fn classified<P: Topology>(
    discovery: Box<dyn Discovery + '_>,
    scope: &Scope,
    (root_id, part): (&str, Option<&str>),
    before: &Value,
) -> Result<Foreign, Failure> {
    let classification = P::classify(discovery.landscape(), part);
    if let Some(reason) = classification.unmanaged.get(root_id) {
        return Ok(Foreign::NotAdoptable(reason.clone()));
    }
    let seen = adoptable(discovery, &classification).await?;
    let mut private = observed(None, seen, scope, &IgnoredDrift::default());
    if private.inventory.at(P::KIND.root()).is_none() {
        return Ok(Foreign::Missing);
    }
    let adopted = before.get("aws_objects");
    for entry in &mut private.inventory.entries {
        let mut slots = adopted.as_map().into_iter().flatten();
        let is_adopted = slots.any(|(slot, id)| id.as_str() == Some(entry.id.as_str()) && entry.can_be_in(slot));
        entry.origin = if is_adopted { Origin::Found } else { Origin::Foreign };
    }
    private.imported = true;
    Ok(Foreign::Adoptable(Box::new(private)))
}

/// Builds the state after such a read: the inputs that reproduce the objects, and `adopt`. `None` if no inputs do.
pub(super) fn state_of_foreign<P: Topology>(
    before: &Value,
    root_id: &str,
    private: &Private,
    cloud: &dyn Cloud,
) -> Option<Value> {
    let mut attributes = P::imported(&private.inventory, cloud.scope())?;
    let by_slot = |entry: &Entry| (entry.key.slot.clone(), entry.id.clone());
    attributes.set("adopt", named(&private.inventory).map(by_slot).collect::<BTreeMap<_, _>>().into());
    for name in P::ROOT_ARNS {
        attributes.set(name, before.get(name).clone());
    }
    Some(state::<P>(&attributes, root_id, private, cloud.scope()))
}
