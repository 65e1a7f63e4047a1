//! The inventory: the existing objects of one topology with their AWS IDs, as stored in state.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::Discriminant;

use serde::{Deserialize, Serialize};

use super::keys::network::{DEFAULT_ROUTE_TABLE_ID, VPC};
use super::{Key, Learned, MergeContext, Merged, Object, Ref, Spec};
use crate::plugin::{Input, Value};

/// One existing object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its identity.
    pub key: Key,
    /// Its AWS ID.
    pub id: String,
    /// The spec of the last apply. Its tags contain only the keys that the provider set.
    pub applied: Spec,
    /// Its difference from the last apply.
    #[serde(default, skip_serializing_if = "Drift::is_none")]
    pub drift: Drift,
    /// Whether `drift` is ignored because of `ignore_drift`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// The operation that has not been completed, if any. The object may be pending deletion too: if it is required
    /// again, an update completes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Pending deletion: removed from the configuration, but still in use.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending_deletion: bool,
    /// How it came into the inventory.
    #[serde(default, skip_serializing_if = "Origin::is_applied")]
    pub origin: Origin,
    /// Of an object that AWS creates with the root: the spec that it had when it was found, without a record of an
    /// earlier apply. Nothing shows which of its rules and tags this resource has set, so a release removes none of
    /// them. `None` for an object that a create has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<Spec>>,
    /// Further values that AWS returned for it.
    #[serde(default, skip_serializing_if = "Learned::is_empty")]
    pub learned: Learned,
}

/// How an object came into the inventory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// By an apply, which has recorded its spec.
    #[default]
    Applied,
    /// By a read. There is no record of its last apply, so any of its tags may be unmanaged.
    Found,
    /// By a read, without being managed: something else built it, and an apply under `adopt` has to tag it first.
    Foreign,
}

/// The difference between AWS and the last apply of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// AWS has the applied spec.
    #[default]
    None,
    /// AWS has this spec instead.
    Changed(Box<Spec>),
    /// It was deleted outside Terraform. The entry is kept so that the drift stays visible until it is corrected.
    Missing,
}

/// An operation on an object that has begun and has not been completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfinished {
    /// Its create, after AWS had returned an ID.
    Create,
    /// An update. It may have changed these units of the spec (see [`Spec::differing_units`]).
    Update(BTreeSet<String>),
}

/// All existing objects of one topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The objects, in the order of their creation.
    pub entries: Vec<Entry>,
}

/// The ID of an object and further values that AWS returned, for objects that refer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObject {
    /// Its AWS ID.
    pub id: String,
    /// Further values that AWS returned for it.
    pub learned: Learned,
}

/// IDs by key. A plan starts with the IDs of the objects that are kept; an apply adds those of the objects that it
/// creates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ids {
    objects: BTreeMap<Key, ResolvedObject>,
    /// The objects of which AWS may return further values during the apply.
    incomplete: BTreeSet<Key>,
}

impl Origin {
    fn is_applied(&self) -> bool {
        *self == Origin::Applied
    }
}

impl Drift {
    fn is_none(&self) -> bool {
        *self == Drift::None
    }
}

impl Entry {
    /// A newly created object.
    pub fn new(key: Key, id: impl Into<String>, applied: Spec) -> Entry {
        Entry {
            key,
            id: id.into(),
            applied,
            drift: Drift::None,
            ignored: false,
            unfinished: None,
            pending_deletion: false,
            origin: Origin::Applied,
            found: None,
            learned: Learned::new(),
        }
    }

    /// The spec found in AWS, if it differs from `applied`.
    pub fn observed(&self) -> Option<&Spec> {
        match &self.drift {
            Drift::Changed(spec) => Some(spec),
            Drift::None | Drift::Missing => None,
        }
    }

    /// Takes the spec found in AWS out of the entry, if it differs from `applied`.
    pub fn take_observed(&mut self) -> Option<Spec> {
        let observed = self.observed().cloned()?;
        self.drift = Drift::None;
        Some(observed)
    }

    /// Whether it was deleted outside Terraform.
    pub fn is_missing(&self) -> bool {
        self.drift == Drift::Missing
    }

    /// Whether it is the record of an apply.
    pub fn is_applied(&self) -> bool {
        self.origin.is_applied()
    }

    /// Whether something else built it, and no apply has adopted it.
    pub fn is_foreign(&self) -> bool {
        self.origin == Origin::Foreign
    }

    /// The current spec, without ignored drift.
    pub fn spec(&self) -> &Spec {
        self.drifted().unwrap_or(&self.applied)
    }

    /// The spec found in AWS, if it differs from `applied` and is not ignored.
    pub fn drifted(&self) -> Option<&Spec> {
        self.observed().filter(|_| !self.ignored)
    }

    /// The spec of an existing object that outputs show. They show targets as they are, even if their drift is ignored.
    pub fn shown(&self) -> Option<&Spec> {
        match self.observed() {
            _ if self.is_missing() && self.applied.target().is_some() => None,
            Some(observed) if observed.target().is_some() => Some(observed),
            _ => Some(self.spec()),
        }
    }

    /// Records the spec found in AWS. A missing object has none.
    pub fn observe(&mut self, mut spec: Spec) {
        spec.take_forms(self.applied.as_kind());
        self.drift = match &self.drift {
            Drift::Missing => return,
            _ if spec == self.applied => Drift::None,
            _ => Drift::Changed(Box::new(spec)),
        };
    }

    /// Whether it exists, or counts as existing because its deletion is ignored.
    pub fn is_present(&self) -> bool {
        !self.is_missing() || self.ignored
    }

    /// Whether AWS reports that it has failed and never recovers. Only a replacement helps.
    pub fn has_failed(&self) -> bool {
        self.key.has_failed
    }

    /// Its kind and its ID, which together are unique in AWS. Objects of different kinds may have the same ID if AWS
    /// identifies them by name.
    pub fn kind_and_id(&self) -> (Discriminant<Spec>, &str) {
        (std::mem::discriminant(&self.applied), &self.id)
    }

    /// Whether AWS means this object by an ID or ARN, or a value that it returned for it. The ARN of an object ends
    /// with its ID.
    pub fn is_named(&self, name: &str) -> bool {
        (!self.id.is_empty() && name.ends_with(&self.id)) || self.learned.attributes.values().any(|value| value == name)
    }

    /// Whether AWS identifies it by its name, so that another object may have its ID after its deletion.
    pub fn is_identified_by_name(&self) -> bool {
        matches!(self.applied, Spec::LogGroup(_) | Spec::DomainName(_))
    }

    /// The current spec, without unmanaged parts, for a comparison with `wanted`. Without a record of an apply, only
    /// the tags and propagating gateways in `wanted` count as managed.
    pub fn normalized_against(&self, wanted: &Spec) -> Spec {
        self.normalized(self.spec(), wanted)
    }

    /// The spec to which an update for a required object changes it, and the current one. The former contains the
    /// ignored drift that stays. `is_deleted` tells which objects the plan deletes.
    pub fn merged_with(&self, wanted: &Object, is_deleted: &dyn Fn(&Key) -> bool) -> (Merged, Spec) {
        if !self.ignored {
            let merged = Merged { spec: wanted.spec.clone(), overwritten: Vec::new() };
            return (merged, self.normalized_against(&wanted.spec));
        }
        let found = self.normalized(self.observed().unwrap_or(&self.applied), &wanted.spec);
        let none = BTreeSet::new();
        let attempted = match &self.unfinished {
            Some(Unfinished::Update(units)) => units,
            Some(Unfinished::Create) | None => &none,
        };
        let context = MergeContext { attempted, follows: wanted.follows, is_deleted };
        (wanted.spec.merged(&self.normalized(&self.applied, &wanted.spec), &found, &context), found)
    }

    /// Records that an update to a required spec begins.
    pub fn begin_update(&mut self, required: &Spec) {
        let attempted = self.applied.differing_units(required);
        match self.unfinished.get_or_insert_with(|| Unfinished::Update(BTreeSet::new())) {
            Unfinished::Create => {}
            Unfinished::Update(units) => units.extend(attempted),
        }
        self.applied.merge(required);
    }

    /// Records that AWS has not completed an operation on it, so that the next update sets every attribute.
    pub fn mark_unfinished(&mut self) {
        self.unfinished.get_or_insert_with(|| Unfinished::Update(BTreeSet::new()));
    }

    fn normalized(&self, spec: &Spec, wanted: &Spec) -> Spec {
        let mut spec = spec.clone();
        spec.take_forms(wanted.as_kind());
        if !self.is_applied() {
            if let (Some(Input::Known(wanted)), Some(Input::Known(tags))) = (wanted.tags(), spec.tags_mut()) {
                tags.retain(|key, _| wanted.contains_key(key));
            }
            spec.mask_unowned(wanted.as_kind());
            if self.is_foreign() {
                spec.mask_status(wanted.as_kind());
            }
        }
        spec
    }
}

impl Inventory {
    /// The objects that exist, including those pending deletion.
    pub fn present(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_present())
    }

    /// The objects that exist and are not pending deletion.
    pub fn current(&self) -> impl Iterator<Item = &Entry> {
        self.present().filter(|entry| !entry.pending_deletion)
    }

    /// The IDs of the objects that exist and are not pending deletion.
    pub fn ids(&self) -> Ids {
        let resolved = |entry: &Entry| ResolvedObject { id: entry.id.clone(), learned: entry.learned.clone() };
        let objects = self.current().map(|entry| (entry.key.clone(), resolved(entry))).collect();
        Ids { objects, incomplete: BTreeSet::new() }
    }

    /// Whether an adoption may create an object. The association of a subnet with the main route table changes nothing
    /// if the subnet has none, because that table serves it already.
    pub fn allows_in_adoption(&self, spec: &Spec) -> bool {
        let Spec::RouteTableAssociation(wanted) = spec else { return spec.is_added_by_adoption() };
        let is_of_subnet =
            |entry: &Entry| matches!(entry.spec(), Spec::RouteTableAssociation(it) if it.subnet == wanted.subnet);
        let is_table = |entry: &Entry| wanted.route_table == Ref::Key(entry.key.clone());
        !self.present().any(is_of_subnet) && self.main_route_table().is_some_and(is_table)
    }

    /// Removes missing objects, with the missing objects that are part of them or lead to them. An object that replaces
    /// one of them under its name is another object.
    pub fn forget_missing(&mut self, is_replaced: impl Fn(&Entry) -> bool) {
        let replaced = self.entries.iter().filter(|entry| entry.is_missing() && is_replaced(entry));
        let replaced: BTreeSet<Key> = replaced.map(|entry| entry.key.clone()).collect();
        let leads_there = |entry: &Entry| entry.applied.needs().iter().any(|need| replaced.contains(&need.key));
        self.entries.retain(|entry| !(entry.is_missing() && (replaced.contains(&entry.key) || leads_there(entry))));
    }

    /// The main route table of the VPC, if it is managed. AWS deletes it only with the VPC, so its deletion only stops
    /// managing it.
    pub fn main_route_table(&self) -> Option<&Entry> {
        let id = self.at(VPC)?.learned.get(DEFAULT_ROUTE_TABLE_ID)?;
        self.present().find(|entry| entry.id == *id && matches!(entry.applied, Spec::RouteTable(_)))
    }

    /// Whether the root is foreign. Nothing of it is managed then.
    pub fn has_foreign_root(&self) -> bool {
        self.present().any(|entry| entry.is_foreign() && entry.applied.is_root())
    }

    /// The object with a key, if it is foreign.
    pub fn foreign(&self, key: &Key) -> Option<&Entry> {
        self.present().find(|entry| entry.key == *key && entry.is_foreign())
    }

    /// The object with a slot, if it exists and is not pending deletion.
    pub fn at(&self, slot: &str) -> Option<&Entry> {
        self.current().find(|entry| entry.key.slot == slot)
    }
}

impl Ids {
    /// The ID of an object and further values.
    pub fn get(&self, key: &Key) -> Option<&ResolvedObject> {
        self.objects.get(key)
    }

    /// Adds or replaces an object.
    pub fn insert(&mut self, key: Key, resolved: ResolvedObject) {
        self.objects.insert(key, resolved);
    }

    /// Removes an object.
    pub fn remove(&mut self, key: &Key) {
        self.objects.remove(key);
    }

    /// Every object, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &ResolvedObject)> {
        self.objects.iter()
    }

    /// The AWS ID of a reference; `None` if its object does not exist yet.
    pub fn resolve<'a>(&'a self, reference: &'a Ref) -> Option<&'a str> {
        match reference {
            Ref::Key(key) => self.get(key).map(|resolved| resolved.id.as_str()),
            Ref::Id(id) => Some(id),
        }
    }

    /// The ID of an object as an output value: unknown until the object exists.
    pub fn id(&self, key: &Key) -> Value {
        self.get(key).map_or(Value::Unknown, |resolved| resolved.id.as_str().into())
    }

    /// Marks an object whose creation has not finished: a value that AWS has not returned yet may become known.
    pub fn mark_incomplete(&mut self, key: &Key) {
        self.incomplete.insert(key.clone());
    }

    /// A further value of an object as an output value: unknown until the object is complete, null if AWS did not
    /// return the value.
    pub fn learned(&self, key: &Key, name: &str) -> Value {
        let value = self.get(key).map(|resolved| resolved.learned.get(name).cloned());
        match value {
            Some(None) if self.incomplete.contains(key) => Value::Unknown,
            Some(value) => value.into(),
            None => Value::Unknown,
        }
    }

    /// The ID of an object, for a text that contains it, such as an ARN.
    pub fn input(&self, key: &Key) -> Input<String> {
        self.get(key).map_or(Input::Unknown, |resolved| Input::Known(resolved.id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Eip;

    #[test]
    fn an_object_is_named_by_its_id_its_arn_or_a_value_of_it() {
        let spec = Spec::Eip(Eip::test());
        let learned = [("network_interface_id".to_string(), "eni-1".to_string())].into();
        let entry = Entry { learned, ..Entry::new(Key::new("eip.0"), "eipalloc-1", spec) };
        for name in ["eipalloc-1", "arn:aws:ec2:us-east-1:1:elastic-ip/eipalloc-1", "eni-1"] {
            assert!(entry.is_named(name), "{name}");
        }
        assert!(!entry.is_named("eipalloc-12") && !entry.is_named("eni-2"));
    }
}
