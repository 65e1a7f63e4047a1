//! Private state, which Terraform stores along with the user-visible state. It is a cache: if it is absent or
//! unreadable, it is rebuilt from AWS.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cloud::{RootState, Unmanaged};
use crate::model::{Drift, Entry, Facts, Inventory, Key, Object, Spec};
use crate::plugin::Value;
use crate::reconcile::Plan;
use crate::topology::ProtectedObjects;

/// The version of the format. It is increased by a change that older providers cannot read.
const FORMAT: u32 = 1;

/// The private state of one resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Private {
    format: u32,
    /// The existing objects, as last applied and as last observed.
    pub(super) inventory: Inventory,
    /// The root's tag `fgw:state`, unless it is `ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) root_state: Option<RootState>,
    /// Whether AWS denied a change of that tag. The next apply tries again, but the tag alone is not a reason for a
    /// plan: with a role that may tag only on creation, plans would never be empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) marking_refused: bool,
    /// Whether no apply has completed the creation of the root yet, which lifts the protection of its objects. The tag
    /// does not decide this: anyone who may write tags can set it, and some roles cannot change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_creation: bool,
    /// The objects that the next plan takes over if its configuration requires them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) candidates: Vec<Candidate>,
    /// Other objects with the ownership tags of this topology that are not managed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unmanaged: Vec<Unmanaged>,
    /// The objects that an apply has left in AWS because unmanaged objects use them, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) released: BTreeMap<String, Released>,
    /// The names of the CloudFormation stacks of objects that are not adopted yet, by the ids of the objects.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) stacks: BTreeMap<String, String>,
    /// The remaining operations of a failed apply, by key. They are reported as drift until an apply succeeds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pending: BTreeMap<String, String>,
    /// The configuration that was last applied in full, if a later one was applied in part. Choices that it fixed stay
    /// fixed, and changes by the later one remain changes.
    #[serde(default, rename = "settled", skip_serializing_if = "Option::is_none")]
    pub(super) last_applied: Option<Value>,
    /// Whether the state was imported and nothing has been applied since. Its attributes are then derived from the
    /// inventory, not written by a user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) imported: bool,
    /// In a plan: whether it takes over objects. They enter state although no operation may be necessary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) takes_over: bool,
    /// Whether the plan of a create wrote this. In a replacement, Terraform also passes it to the destroy of the old
    /// topology, whose objects it does not contain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) of_create: bool,
    /// In a plan: the names of the inputs that determine parts of unmanaged objects and are unknown. If the host passes
    /// this to the plan that it repeats at apply, only the parts that these inputs determine are read again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) unknown_owners: BTreeSet<String>,
    /// In a plan: the parts of unmanaged objects that the apply reads again, because an unmanaged object may have been
    /// replaced since the refresh.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) unread_parts: BTreeSet<Key>,
    /// In the plan of a create: the ids of the roots with the same name that another resource manages. If the host
    /// passes this to the plan that it repeats at apply, they do not stop the create there either.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) managed_roots: BTreeSet<String>,
    /// The results of the lookups: in a plan for the apply, and after a refresh for the next plan, so that all of them
    /// decide from the same facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<Facts>,
    /// In the plan of a create: what the destroy in a replacement has to know of the new objects. `None` if the plan is
    /// undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) successors: Option<Vec<(Key, Spec)>>,
    /// In the undecided plan of a create: whether the configuration may not express the protection of its objects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) may_lose_protection: bool,
    /// In the plan of a destroy: the objects that other roots use, by their IDs, and each with such a root.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) users: BTreeMap<String, String>,
    /// In the plan of a create: the objects of other roots that it may not use while these exist, so that the destroy
    /// in a replacement does not precede a create that fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) withheld: Vec<Withheld>,
    /// In a plan: the names of new objects that another resource has, and that it may release in the same run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) taken: BTreeSet<String>,
    /// The `protected_objects` of the state at plan. If Terraform then plans a replacement that the user requested, it
    /// passes this private state, but not the state.
    #[serde(default, skip_serializing_if = "ProtectedObjects::is_empty")]
    pub(super) protected: ProtectedObjects,
}

/// An object that a create may not use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Withheld {
    /// The ID of the root that its tag names.
    pub(super) owner: String,
    /// Why, with the ways out.
    pub(super) problem: String,
}

/// An object that was managed and that unmanaged objects use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Released {
    /// Its slot while it was managed.
    pub(super) slot: String,
    /// The id of the object that they use: its own, or that of an object that needs it.
    pub(super) used: String,
    /// The object itself, if it outlives the root, so that a destroy deletes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<Box<Entry>>,
}

/// An object that is not in state, although it has the ownership tags of this topology or is part of its objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Candidate {
    /// The object, as a read found it.
    pub(super) entry: Entry,
    /// The ids of other candidates without which it is not taken over: those that it is in, or that use it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) requires: BTreeSet<String>,
    /// Why it is not taken over, although the configuration requires it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// The managed objects whose lists of references contain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) referrers: Vec<Key>,
    /// Whether `adopt` names it. It is taken over even if something unmanaged uses it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) consented: bool,
}

impl Candidate {
    /// Creates a candidate that nothing refers to and that requires no other.
    pub(super) fn of(entry: Entry) -> Candidate {
        Candidate { entry, requires: BTreeSet::new(), reason: None, referrers: Vec::new(), consented: false }
    }
}

impl Private {
    /// Creates a private state that contains only an inventory.
    pub(super) fn of(inventory: Inventory) -> Private {
        Private { format: FORMAT, inventory, ..Private::default() }
    }

    /// Creates the private state from which the plan of a create starts.
    pub(super) fn of_create() -> Private {
        Private { of_create: true, ..Private::of(Inventory::default()) }
    }

    /// Forgets what a plan has recorded for the create and the destroy of a replacement.
    pub(super) fn forget_replacement(&mut self) {
        self.of_create = false;
        self.managed_roots.clear();
        self.successors = None;
        self.may_lose_protection = false;
        self.withheld.clear();
        self.protected = ProtectedObjects::default();
    }

    /// Whether the only differences from the last apply are observed specs and missing objects that are not required.
    /// If the configuration matches the observed specs, as it does with `ignore_changes`, no change is needed.
    pub(super) fn is_observed_only(&self, wanted: &[Object]) -> bool {
        let marked = !self.in_creation && (self.root_state.is_none() || self.marking_refused);
        let is_wanted = |entry: &Entry| wanted.iter().any(|object| object.key == entry.key);
        let agrees = |entry: &Entry| entry.is_present() || !is_wanted(entry);
        self.pending.is_empty() && marked && self.inventory.entries.iter().all(agrees)
    }

    /// Whether the imported objects match the configuration, although their attributes may be written differently.
    pub(super) fn is_as_imported(&self, plan: &Plan, wanted: &[Object]) -> bool {
        // The outputs have the new keys.
        let is_renamed = self.inventory.entries.iter().any(|entry| entry.renamed_from.is_some());
        self.imported && !self.takes_over && plan.is_empty() && !is_renamed && self.is_observed_only(wanted)
    }

    /// Encodes the private state for Terraform.
    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("maps with string keys and plain values always serialize")
    }

    /// Decodes the private state of an existing topology. Returns `None` if it is empty, unreadable for this version,
    /// or from the plan of a create.
    pub(super) fn decode(stored: &[u8]) -> Option<Private> {
        let mut private = Private::decode_plan(stored).filter(|private| !private.of_create)?;
        // An apply that fails before its first operation leaves the private data of its plan.
        private.forget_foreign();
        Some(private)
    }

    /// Removes the objects that no apply has adopted, if the root is managed. The next plan finds them again by
    /// `adopt`.
    pub(super) fn forget_foreign(&mut self) {
        let is_managed_root = |entry: &Entry| entry.applied.is_root() && !entry.is_foreign();
        if !self.inventory.entries.iter().any(is_managed_root) {
            return;
        }
        self.candidates.retain(|it| !it.consented);
        let forgotten = self.inventory.entries.extract_if(.., |entry| entry.is_foreign());
        let forgotten: BTreeMap<Key, String> = forgotten.map(|entry| (entry.key, entry.id)).collect();
        for entry in &mut self.inventory.entries {
            entry.applied.refer_by_id(&forgotten);
            if let Drift::Changed(observed) = &mut entry.drift {
                observed.refer_by_id(&forgotten);
            }
        }
    }

    /// Decodes the private state of a plan, including the plan of a create.
    pub(super) fn decode_plan(stored: &[u8]) -> Option<Private> {
        if stored.is_empty() {
            return None;
        }
        match serde_json::from_slice::<Private>(stored) {
            Ok(private) if private.format == FORMAT => Some(private),
            Ok(private) => {
                tracing::warn!(
                    "private state has format {}, but this version reads format {FORMAT}; rebuilding it from AWS",
                    private.format
                );
                None
            }
            Err(error) => {
                tracing::warn!("cannot read private state ({error}); rebuilding it from AWS");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Eip, NatGateway, Origin, Ref, Vpc, keys};
    use crate::plugin::Input;

    #[test]
    fn an_encoded_private_state_decodes_to_itself() {
        let mut private = Private::of(Inventory::default());
        private.pending.insert("subnet.public.0".into(), "not yet applied".into());
        assert_eq!(Private::decode(&private.encode()), Some(private));
    }

    #[test]
    fn objects_that_no_apply_has_adopted_are_not_decoded() {
        let eip = keys::network::eip(0);
        let nat = NatGateway { allocation: Some(Input::Known(Ref::Key(eip.clone()))), ..NatGateway::test() };
        let mut inventory = Inventory {
            entries: vec![
                Entry::new(Key::new("vpc"), "vpc-1", Spec::Vpc(Vpc::test())),
                Entry::new(eip, "eipalloc-1", Spec::Eip(Eip::test())),
                Entry::new(Key::new("nat_gateway.0"), "nat-1", Spec::NatGateway(nat)),
            ],
        };
        inventory.entries[0].origin = Origin::Foreign;
        let pending = Private::of(inventory.clone());
        assert_eq!(Private::decode(&pending.encode()), Some(pending), "nothing is managed before the root");
        for entry in &mut inventory.entries {
            entry.origin = if entry.key.slot == "eip.0" { Origin::Foreign } else { Origin::Applied };
        }
        let decoded = Private::decode(&Private::of(inventory).encode()).unwrap().inventory;
        assert!(decoded.at("eip.0").is_none());
        let Spec::NatGateway(nat) = &decoded.at("nat_gateway.0").unwrap().applied else { unreachable!() };
        assert_eq!(nat.allocation, Some(Input::Known(Ref::Id("eipalloc-1".into()))));
    }

    #[test]
    fn private_state_of_a_create_is_decoded_only_by_apply() {
        let stored = Private::of_create().encode();
        assert_eq!(Private::decode(&stored), None);
        assert_eq!(Private::decode_plan(&stored), Some(Private::of_create()));
    }

    #[test]
    fn private_state_of_another_format_is_not_decoded() {
        assert_eq!(Private::decode(b""), None);
        assert_eq!(Private::decode(b"{}"), None);
        assert_eq!(Private::decode(br#"{"format":2,"inventory":{"entries":[]}}"#), None);
    }
}
