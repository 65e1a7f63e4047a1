//! The inventory: the existing objects of one topology with their AWS IDs, as stored in state.

use std::collections::BTreeSet;
use std::mem::Discriminant;

use serde::{Deserialize, Serialize};

use super::keys::network::{DEFAULT_ROUTE_TABLE_ID, VPC};
use super::{Ids, Key, Learned, MergeContext, Merged, Object, Ref, ResolvedObject, Spec};
use crate::plugin::Input;

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
    /// Whether an operation on it has begun since the last read, so that its current spec is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unread: bool,
    /// Pending deletion: removed from the configuration, but still in use.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending_deletion: bool,
    /// The slot that it had before its entry got another key in the configuration. The tag `fgw:object` contains it
    /// until an update has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Of a pending deletion: the unmanaged objects that used it when it was last read, such as `route r1`. While there
    /// are any, no plan deletes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
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
    /// By a create that found it: the topology uses it, and never changes or deletes it.
    Used,
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
    /// Of a stage: a deployment of its API, which only an update of the stage starts again.
    Deployment,
}

/// All existing objects of one topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The objects, in the order of their creation.
    pub entries: Vec<Entry>,
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
            is_unread: false,
            pending_deletion: false,
            renamed_from: None,
            users: Vec::new(),
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

    /// Whether its deletion has to wait for unmanaged objects that use it.
    pub fn is_held(&self) -> bool {
        self.pending_deletion && !self.users.is_empty()
    }

    /// Whether something else built it, and no apply has adopted it.
    pub fn is_foreign(&self) -> bool {
        self.origin == Origin::Foreign
    }

    /// Whether its tag `fgw:object` contains another slot.
    pub fn has_old_tag(&self) -> bool {
        self.renamed_from.is_some() && self.applied.tags().is_some()
    }

    /// Records that it had another slot. If it returns to that of the last apply, its tag is right, unless an update
    /// may have changed it.
    pub fn moved_from(&mut self, slot: String) {
        let first = self.renamed_from.take().unwrap_or(slot);
        self.renamed_from = Some(first).filter(|first| *first != self.key.slot || self.unfinished.is_some());
    }

    /// Whether it is in this slot, or will be if its entry gets another key in the configuration.
    pub fn can_be_in(&self, slot: &str) -> bool {
        let identity = self.applied.identity();
        slot == self.key.slot || [&self.key.slot, slot].into_iter().all(|slot| identity.name_in(slot).is_some())
    }

    /// The slots by which the user knows it: its own, and that of the last apply.
    pub fn slots(&self) -> impl Iterator<Item = &str> {
        [Some(&self.key.slot), self.renamed_from.as_ref()].into_iter().flatten().map(String::as_str)
    }

    /// Whether the topology uses it without owning it.
    pub fn is_used(&self) -> bool {
        self.origin == Origin::Used
    }

    /// Whether its deletion leaves it in AWS: it is not owned, or a setting keeps it.
    pub fn stays_when_deleted(&self) -> bool {
        self.is_used() || self.applied.stays_when_deleted()
    }

    /// Whether its deletion also deletes the unmanaged subscription filters of it.
    pub fn takes_filters_along(&self) -> bool {
        self.applied.holds_subscription_filters() && !self.stays_when_deleted()
    }

    /// Records the required spec of a used object, with the tags that it has. If its owner has changed it since, the
    /// spec that it had remains the applied one.
    pub fn take_required(&mut self, wanted: &Spec) {
        if !wanted.differences_in_use(self.observed().unwrap_or(&self.applied)).is_empty() {
            self.applied.take_unstored(wanted.as_kind());
            return;
        }
        let mut applied = wanted.clone();
        let found = self.take_observed().unwrap_or_else(|| self.applied.clone());
        if let (Some(tags), Some(found)) = (applied.tags_mut(), found.tags()) {
            tags.clone_from(found);
        }
        self.applied = applied;
    }

    /// The current spec, without ignored drift.
    pub fn spec(&self) -> &Spec {
        self.drifted().unwrap_or(&self.applied)
    }

    /// The spec found in AWS, if it differs from `applied` and is not ignored. The topology does not correct what it
    /// only uses.
    pub fn drifted(&self) -> Option<&Spec> {
        self.observed().filter(|_| !self.ignored && !self.is_used())
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
            Some(Unfinished::Create | Unfinished::Deployment) | None => &none,
        };
        let context = MergeContext { attempted, follows: wanted.follows, is_deleted };
        (wanted.spec.merged(&self.normalized(&self.applied, &wanted.spec), &found, &context), found)
    }

    /// Records that an update to a required spec begins.
    pub fn begin_update(&mut self, required: &Spec) {
        let attempted = self.applied.differing_units(required);
        match self.unfinished.get_or_insert_with(|| Unfinished::Update(BTreeSet::new())) {
            Unfinished::Create | Unfinished::Deployment => {}
            Unfinished::Update(units) => units.extend(attempted),
        }
        self.is_unread = true;
        self.applied.merge(required);
    }

    /// Records that AWS has not completed an operation on it, so that the next update waits for it.
    pub fn mark_unfinished(&mut self) {
        self.unfinished.get_or_insert_with(|| Unfinished::Update(BTreeSet::new()));
    }

    /// Records that AWS has failed to deploy the changes of its API, so that the next update lets it deploy them again.
    pub fn mark_undeployed(&mut self) {
        self.unfinished = Some(Unfinished::Deployment);
    }

    /// Records that an operation on it has been completed, after which it has this spec.
    pub fn complete(&mut self, spec: Spec) {
        self.observe(spec);
        (self.unfinished, self.is_unread) = (None, false);
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
        self.current().map(|entry| (entry.key.clone(), resolved(entry))).collect()
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

    /// The object in the slot of another one that cannot take over from that yet, so that both stay. One that serves
    /// nothing itself needs no successor.
    pub fn unready_successor(&self, entry: &Entry) -> Option<&Entry> {
        let serves = !entry.has_failed() && entry.spec().serves(&entry.learned);
        let is_successor = |it: &&Entry| it.key.slot == entry.key.slot && it.id != entry.id;
        let successor = self.current().filter(|_| serves).find(is_successor)?;
        (!successor.spec().serves(&successor.learned)).then_some(successor)
    }

    /// The object with a slot, if it exists and is not pending deletion.
    pub fn at(&self, slot: &str) -> Option<&Entry> {
        self.current().find(|entry| entry.key.slot == slot)
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
