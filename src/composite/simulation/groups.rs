//! Log groups that the simulated root does not own: released ones, and those of something else.

use std::collections::{BTreeMap, BTreeSet};

use super::Simulation;
use super::outside::entry_of;
use super::shapes::as_known;
use crate::cloud::{Begun, Cause, Dependent, Failure, Obstacle, OpContext};
use crate::model::{
    Entry, Existing, Finding, Key, Learned, LogGroup, LogSubscription, Lookup, Object, Outside, OwningRoot, Spec,
};

/// The slots of objects by their IDs.
type Slots = BTreeMap<String, String>;

/// The groups by key, with the roots that their tags name, and the events that were lost.
#[derive(Default)]
pub(super) struct Groups {
    unowned: BTreeMap<Key, Option<OwningRoot>>,
    /// The names of the groups that were deleted with their events.
    deleted: Vec<String>,
    /// The IDs of the subscription filters that the simulated root does not own.
    filters: BTreeSet<String>,
    /// The names of the groups with deletion protection.
    protected: BTreeSet<String>,
}

impl Groups {
    /// Whether the group with this key is not owned.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.unowned.contains_key(key)
    }

    /// Removes a group that an apply adopts. Returns whether there is one.
    pub(super) fn take_over(&mut self, key: &Key) -> bool {
        self.unowned.remove(key).is_some()
    }
}

/// Whether an object is the log group that a key names.
pub(super) fn is_at(object: &Object, key: &Key) -> bool {
    let is_group = LogGroup::of(&object.spec).is_some() && key.slot.starts_with("log_group");
    is_group && object.key.fixed == key.fixed
}

/// Whether the ID of a subscription filter is that of one of a group.
fn is_filter_of(id: &str, group: &str) -> bool {
    LogSubscription::names_in(id).is_some_and(|(of, _)| of == group)
}

/// Whether two objects are log groups with one name.
pub(super) fn has_name_of(object: &Object, other: &Object) -> bool {
    let name = |object: &Object| LogGroup::of(&object.spec).map(|group| group.name.clone());
    name(object).is_some() && name(object) == name(other)
}

impl Simulation {
    /// Creates a log group outside Terraform, with the tag of this root.
    pub(crate) fn create_group(&self, key: Key, spec: LogGroup, owner: Option<OwningRoot>) {
        let id = spec.name.known().cloned().expect("a test names it");
        self.ids.lock().unwrap().insert(key.clone(), id);
        self.groups.lock().unwrap().unowned.insert(key.clone(), owner);
        self.objects().push(Object::new(key, Spec::LogGroup(spec)));
    }

    /// Adds a log group of another root, or what has changed of it.
    pub(super) fn see_group(&self, object: Object, owner: Option<OwningRoot>) {
        let Spec::LogGroup(spec) = object.spec.clone() else { return };
        let (mut objects, mut groups) = (self.objects(), self.groups.lock().unwrap());
        let Some(known) = objects.iter_mut().find(|it| has_name_of(it, &object)) else {
            drop((objects, groups));
            return self.create_group(object.key, spec, owner);
        };
        if let Some(of) = groups.unowned.get_mut(&known.key) {
            (known.spec, *of) = (object.spec, owner);
        }
    }

    /// Forgets the log groups with other names, which another root has deleted.
    pub(super) fn keep_groups(&self, names: &BTreeSet<String>) {
        let is_gone = |object: &Object| {
            let name = LogGroup::of(&object.spec).and_then(|group| group.name.known());
            name.is_some_and(|name| !names.contains(name))
        };
        for object in self.objects().extract_if(.., |object| is_gone(object)) {
            self.groups.lock().unwrap().unowned.remove(&object.key);
        }
    }

    /// The names of the log groups that were deleted with their events since the last call.
    pub(crate) fn take_deleted_groups(&self) -> Vec<String> {
        std::mem::take(&mut self.groups.lock().unwrap().deleted)
    }

    /// The roots that the tags of log groups name, by the names of the groups.
    pub(crate) fn owners_of_groups(&self) -> BTreeMap<String, Option<OwningRoot>> {
        let objects = self.objects();
        let groups = objects.iter().filter_map(|it| Some((LogGroup::of(&it.spec)?.name.known()?.clone(), it)));
        groups.map(|(name, object)| (name, self.owner_of(object, &objects))).collect()
    }

    /// The log group with this name.
    pub(crate) fn group(&self, name: &str) -> Option<LogGroup> {
        let objects = self.objects();
        let mut groups = objects.iter().filter_map(|object| LogGroup::of(&object.spec));
        groups.find(|group| group.name.known().is_some_and(|it| it == name)).cloned()
    }

    /// The names of the log groups that exist.
    pub(crate) fn groups(&self) -> BTreeSet<String> {
        let name = |object: &Object| LogGroup::of(&object.spec)?.name.known().cloned();
        self.objects().iter().filter_map(name).collect()
    }

    /// The names of the log groups that were deleted with their events.
    pub(crate) fn deleted_groups(&self) -> Vec<String> {
        self.groups.lock().unwrap().deleted.clone()
    }

    /// Ends the life of the owner of a group, whose tag stays.
    pub(crate) fn end_owner(&self, key: &Key) {
        if let Some(Some(owner)) = self.groups.lock().unwrap().unowned.get_mut(key) {
            owner.is_living = false;
        }
    }

    /// The log groups that exist under these names.
    pub(super) fn existing_groups(&self, lookups: &[Lookup]) -> BTreeMap<Outside, Finding> {
        let wanted = lookups.iter().filter_map(|lookup| match lookup {
            Lookup::Outside(outside @ Outside::LogGroup { name, .. }) => Some((outside, name)),
            _ => None,
        });
        let finding = |(outside, name): (&Outside, &String)| {
            let objects = self.objects();
            let is_it = |object: &&Object| LogGroup::of(&object.spec).is_some_and(|it| it.name.known() == Some(name));
            let finding = match objects.iter().find(is_it) {
                None => Finding::Missing(None),
                Some(object) => Finding::Usable(Box::new(Existing {
                    spec: as_known(&object.spec, None),
                    learned: Learned::new(),
                    owner: self.owner_of(object, &objects),
                    content: "created on 2026-01-02, 42 bytes stored".into(),
                })),
            };
            (outside.clone(), finding)
        };
        wanted.map(finding).collect()
    }

    pub(super) fn owner_of(&self, group: &Object, objects: &[Object]) -> Option<OwningRoot> {
        if let Some(owner) = self.groups.lock().unwrap().unowned.get(&group.key) {
            return owner.clone();
        }
        let id = self.created_for.lock().unwrap().get(&group.key)?.clone();
        let ids = self.ids.lock().unwrap();
        let is_living = objects.iter().any(|it| it.spec.is_root() && ids[&it.key] == id);
        Some(OwningRoot { id, is_living })
    }

    /// Removes the groups that the root does not own from what a read returns, unless state contains them or the user
    /// names them. Adds the IDs of the latter to `untagged`.
    pub(super) fn hide_groups(
        &self,
        objects: &mut Vec<Object>,
        (known, slots, consented): (&[Entry], Option<&Slots>, Option<&Slots>),
        untagged: &mut BTreeSet<String>,
    ) {
        let (groups, ids) = (self.groups.lock().unwrap(), self.ids.lock().unwrap());
        objects.retain(|object| {
            let Some(owner) = groups.unowned.get(&object.key) else { return true };
            let id = &ids[&object.key];
            let is_known = entry_of(object, id, known).is_some() || slots.is_some_and(|slots| slots.contains_key(id));
            let is_named = consented.is_some_and(|slots| slots.contains_key(id)) && owner.is_none();
            untagged.extend((is_named && !is_known).then(|| id.clone()));
            is_known || is_named
        });
    }

    /// Whether the deletion of a group leaves it: its setting keeps it, or its tag does not name the root. Otherwise
    /// its events are lost.
    pub(super) fn stays(&self, work: &OpContext<'_>, entry: &Entry) -> Result<bool, Failure> {
        let owner = self.created_for.lock().unwrap().get(&entry.key).cloned();
        let is_owned = !self.groups.lock().unwrap().has(&entry.key) && owner.as_deref() == work.root_id;
        if is_owned && !entry.applied.stays_when_deleted() {
            if self.is_protected_group(&entry.id) {
                return Err(Failure::new(Cause::Other, "DeleteLogGroup", "deletion protection is enabled"));
            }
            let mut groups = self.groups.lock().unwrap();
            groups.deleted.push(entry.id.clone());
            groups.filters.retain(|id| !is_filter_of(id, &entry.id));
            return Ok(false);
        }
        if is_owned {
            self.release_group(&entry.key);
        }
        Ok(true)
    }

    /// Turns the deletion protection of a group on or off, outside Terraform.
    pub(crate) fn protect_group(&self, name: &str, is_on: bool) {
        let protected = &mut self.groups.lock().unwrap().protected;
        if is_on {
            protected.insert(name.into())
        } else {
            protected.remove(name)
        };
    }

    pub(super) fn is_protected_group(&self, name: &str) -> bool {
        self.groups.lock().unwrap().protected.contains(name)
    }

    /// Creates a subscription filter outside Terraform.
    pub(crate) fn create_filter(&self, group: &str, name: &str) {
        self.groups.lock().unwrap().filters.insert(LogSubscription::id(group, name));
    }

    /// The IDs of all subscription filters.
    pub(crate) fn filters(&self) -> BTreeSet<String> {
        self.own_filters().union(&self.groups.lock().unwrap().filters).cloned().collect()
    }

    fn own_filters(&self) -> BTreeSet<String> {
        let ids = self.ids.lock().unwrap();
        let objects = self.objects();
        let own = objects.iter().filter(|object| LogSubscription::of(&object.spec).is_some());
        own.map(|object| ids[&object.key].clone()).collect()
    }

    /// Sees the subscription filters of another root, after its changes.
    pub(super) fn see_filters(&self, all: BTreeSet<String>) {
        let own = self.own_filters();
        self.groups.lock().unwrap().filters = all.difference(&own).cloned().collect();
    }

    /// The filters of these groups that the simulated root does not own.
    pub(super) fn filters_of_others(&self, groups: &[&str]) -> Vec<Dependent> {
        let others = self.groups.lock().unwrap().filters.clone();
        let names = others.iter().filter_map(|id| LogSubscription::names_in(id));
        let dependent = |(group, name): (&str, &str)| Dependent {
            kind: "subscription filter",
            id: name.into(),
            description: String::new(),
            further: format!("of {group}"),
            owner: None,
            holds: Vec::new(),
            guardduty: Vec::new(),
        };
        names.filter(|(group, _)| groups.contains(group)).map(dependent).collect()
    }

    /// The ID of a new subscription filter. AWS allows two for each group, and replaces one with the same name.
    pub(super) fn id_of_filter(&self, object: &Object, root: Option<&str>) -> Result<Option<String>, Failure> {
        let (Some(filter), Some(root)) = (LogSubscription::of(&object.spec), root) else { return Ok(None) };
        let group = filter.log_group.fixed.known().expect("it is known at apply");
        let id = LogSubscription::id(group, &LogSubscription::name_for(root));
        assert!(!self.groups.lock().unwrap().filters.contains(&id), "{id} of another root is overwritten");
        let mut filters = self.filters();
        filters.retain(|other| is_filter_of(other, group) && *other != id);
        match filters.len() < 2 || self.ids.lock().unwrap().get(&object.key).is_some_and(|id| filters.contains(id)) {
            true => Ok(Some(id)),
            false => Err(Failure::new(Cause::QuotaExceeded, "PutSubscriptionFilter", "Resource limit exceeded.")),
        }
    }

    /// The groups that have as many other filters as AWS allows.
    pub(super) fn limits_of_filters(&self, begun: &[Begun<'_>]) -> Vec<Obstacle> {
        let new = begun.iter().filter(|it| it.before.is_none());
        let new = new.filter_map(|it| Some((it.key, LogSubscription::of(it.spec)?.log_group.fixed.known()?)));
        let filters = self.filters();
        let is_full = |group: &str| filters.iter().filter(|id| is_filter_of(id, group)).count() >= 2;
        let full = new.filter(|(_, group)| is_full(group));
        let obstacle = |(key, group): (&Key, &String)| Obstacle {
            key: key.clone(),
            id: group.clone(),
            owner: None,
            is_certain: false,
            message: format!("{group} has two filters."),
            hint: String::new(),
        };
        full.map(obstacle).collect()
    }

    /// Removes the tags of a group.
    pub(super) fn release_group(&self, key: &Key) {
        self.created_for.lock().unwrap().remove(key);
        self.groups.lock().unwrap().unowned.insert(key.clone(), None);
    }
}
