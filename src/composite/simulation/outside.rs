//! Changes that are made outside Terraform.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use super::Simulation;
use super::shapes::outlives_root;
use crate::model::{ApiMapping, Claim, Entry, Finding, Inventory, Key, Lookup, Object, Outside, Ref, Spec};
use crate::plugin::Value;

/// Whether the user names an object in `adopt`, or one that it is part of or leads to. `ids` are those of all objects,
/// `named` those that the user names.
pub(super) fn is_named(object: &Object, ids: &BTreeMap<Key, String>, named: &BTreeSet<String>) -> bool {
    let is_it = |key: &Key| ids.get(key).is_some_and(|id| named.contains(id));
    is_it(&object.key) || (object.spec.tags().is_none() && object.spec.needs().iter().any(|need| is_it(&need.key)))
}

/// The entry of an object with this ID.
pub(super) fn entry_of<'a>(object: &Object, id: &str, known: &'a [Entry]) -> Option<&'a Entry> {
    known.iter().find(|entry| is_entry(object, id, entry))
}

/// Whether an entry is that of an object with this ID.
pub(super) fn is_entry(object: &Object, id: &str, entry: &Entry) -> bool {
    entry.kind_and_id() == (std::mem::discriminant(&object.spec), id)
}

impl Simulation {
    /// The value of a tag of an object.
    pub(crate) fn tag(&self, slot: &str, key: &str) -> Option<String> {
        let objects = self.objects();
        let object = objects.iter().find(|object| object.key.slot == slot).expect("the object exists");
        object.spec.tags()?.known()?.get(key)?.known().cloned()
    }

    /// Deletes an object outside Terraform.
    pub(crate) fn delete_outside(&self, slot: &str) {
        self.objects().retain(|object| object.key.slot != slot);
    }

    /// Creates an object of an inventory again outside Terraform, with this id.
    pub(crate) fn create_outside(&self, inventory: &Inventory, slot: &str, id: &Value) {
        let entry = inventory.at(slot).expect("the inventory contains the slot");
        self.objects().push(Object::new(entry.key.clone(), entry.applied.clone()));
        let id = id.as_str().expect("ids are strings").to_string();
        self.ids.lock().unwrap().insert(entry.key.clone(), id);
        self.created_for.lock().unwrap().remove(&entry.key);
    }

    /// The API mappings that exist at these places.
    pub(super) fn existing_mappings(&self, lookups: &[Lookup]) -> Vec<(Outside, Finding)> {
        let (objects, ids) = (self.objects(), self.ids.lock().unwrap());
        let finding = |lookup: &Lookup| {
            let Lookup::Outside(wanted @ Outside::Mapping { .. }) = lookup else { return None };
            let found = objects.iter().find_map(|object| match &object.spec {
                spec @ Spec::ApiMapping(mapping) if wanted.is_named_by(spec) => Some((object, mapping)),
                _ => None,
            });
            let described = |(object, mapping): (&Object, &ApiMapping)| {
                let target = match &mapping.stage {
                    Ref::Key(stage) => format!("{}/{}", ids[&mapping.api], ids[stage]),
                    Ref::Id(target) => target.clone(),
                };
                Finding::Exists { owner: None, detail: format!("{} {target}", ids[&object.key]) }
            };
            Some((wanted.clone(), found.map_or(Finding::Missing(None), described)))
        };
        lookups.iter().filter_map(finding).collect()
    }

    /// Fills an empty account with the objects of an inventory.
    pub(crate) fn restore(&self, inventory: &Inventory) {
        let (mut objects, mut ids) = (self.objects(), self.ids.lock().unwrap());
        let (mut targets, mut created_for) = (self.targets.lock().unwrap(), self.created_for.lock().unwrap());
        let root = inventory.entries.iter().find(|entry| entry.applied.is_root()).expect("an inventory has a root");
        for entry in &inventory.entries {
            objects.push(Object::new(entry.key.clone(), entry.applied.clone()));
            ids.insert(entry.key.clone(), entry.id.clone());
            created_for.insert(entry.key.clone(), root.id.clone());
            if let Some(Ref::Key(target)) = entry.applied.target() {
                let target = inventory.at(&target.slot).expect("a target is in the inventory");
                targets.insert(entry.key.clone(), target.id.clone());
            }
        }
        self.is_foreign.store(root.is_foreign(), Ordering::Relaxed);
    }

    /// The spec of an object; `None` if it does not exist.
    pub(crate) fn spec_of(&self, key: &Key) -> Option<Spec> {
        self.objects().iter().find(|object| object.key == *key).map(|object| object.spec.clone())
    }

    /// Deletes the root outside Terraform, with all objects that do not outlive it.
    pub(crate) fn delete_root_outside(&self) {
        self.objects().retain(|object| outlives_root(&object.spec));
    }

    /// Creates an unmanaged subnet in the VPC, if there is one, unless its block overlaps another one.
    pub(crate) fn create_unmanaged_subnet(&self, block: &'static str) {
        let wanted = Claim::Addresses(block.parse().expect("the test sets valid blocks"));
        let mut subnets = self.unmanaged_subnets.lock().unwrap();
        let others = subnets.iter().map(|(_, other)| Claim::Addresses(other.parse().expect("it was valid")));
        let claims = self.objects().iter().flat_map(|object| object.spec.claims()).chain(others).collect::<Vec<_>>();
        let has_vpc = self.objects().iter().any(|object| matches!(object.spec, Spec::Vpc(_)));
        if has_vpc && !claims.iter().any(|claim| claim.collides(&wanted)) {
            subnets.push(("subnet-unmanaged", block));
        }
    }

    /// Removes the ownership tags of all objects, as if something else had built them.
    pub(crate) fn remove_all_ownership_tags(&self) {
        self.is_foreign.store(true, Ordering::Relaxed);
        self.adopted.lock().unwrap().clear();
        *self.root_state.lock().unwrap() = None;
    }

    /// Removes the objects that something else built, and what is part of them, from those that a read returns, unless
    /// state contains them or the user names them. Returns the ids of those that the user names.
    pub(super) fn hide_further(
        &self,
        objects: &mut Vec<Object>,
        known: &[Entry],
        consented: Option<&BTreeMap<String, String>>,
    ) -> BTreeSet<String> {
        let (further, ids) = (self.further.lock().unwrap(), self.ids.lock().unwrap());
        let is_consented = |object: &Object| {
            let slot = consented.and_then(|slots| slots.get(&ids[&object.key]));
            slot.is_some_and(|slot| *slot == object.key.slot)
        };
        let is_known = |object: &Object| entry_of(object, &ids[&object.key], known).is_some();
        let is_untagged = |object: &&Object| further.contains(&object.key.slot) && !is_known(object);
        let named = objects.iter().filter(is_untagged).filter(|object| is_consented(object));
        let named = named.map(|object| ids[&object.key].clone()).collect();
        let is_hidden = |object: &&Object| is_untagged(object) && !is_consented(object);
        let mut hidden: BTreeSet<Key> = objects.iter().filter(is_hidden).map(|object| object.key.clone()).collect();
        for object in objects.iter().filter(|object| object.spec.tags().is_none() && !is_known(object)) {
            if object.spec.needs().iter().any(|need| hidden.contains(&need.key)) {
                hidden.insert(object.key.clone());
            }
        }
        objects.retain(|object| !hidden.contains(&object.key));
        for object in objects {
            if let Spec::VpcEndpoint(endpoint) = &mut object.spec {
                endpoint.route_tables.retain(|table| !matches!(table, Ref::Key(key) if hidden.contains(key)));
            }
        }
        named
    }

    /// Removes the statements of this provider from the policies of functions.
    pub(crate) fn remove_permissions(&self) {
        let is_permission = |object: &Object| matches!(object.spec, Spec::LambdaPermission(_));
        let removed: Vec<Object> = self.objects().extract_if(.., |object| is_permission(object)).collect();
        let mut ids = self.ids.lock().unwrap();
        ids.retain(|key, _| !removed.iter().any(|object| object.key == *key));
    }

    /// Removes the ownership tag of the root.
    pub(crate) fn remove_ownership_tag(&self) {
        self.is_unowned.store(true, Ordering::Relaxed);
    }

    /// Changes an object outside Terraform.
    pub(crate) fn change_outside(&self, slot: &str, change: impl Fn(&mut Spec)) {
        let mut objects = self.objects();
        let ids = self.ids.lock().unwrap();
        for object in objects.iter_mut().filter(|object| object.key.slot == slot) {
            change(&mut object.spec);
            let mut targets = self.targets.lock().unwrap();
            match object.spec.target() {
                Some(Ref::Key(key)) => drop(targets.insert(object.key.clone(), ids[key].clone())),
                // Unmanaged targets exist.
                Some(Ref::Id(_)) | None => drop(targets.remove(&object.key)),
            }
        }
    }

    /// Lets AWS report that a NAT gateway has failed.
    pub(crate) fn fail_nat_gateway(&self, slot: &str) {
        let mut objects = self.objects();
        let object = objects.iter_mut().find(|object| object.key.slot == slot).expect("it exists");
        let failed = Key { has_failed: true, ..object.key.clone() };
        let old = std::mem::replace(&mut object.key, failed.clone());
        let mut ids = self.ids.lock().unwrap();
        let id = ids.remove(&old).expect("it has an id");
        ids.insert(failed.clone(), id);
        for object in objects.iter_mut() {
            match &mut object.spec {
                Spec::Route(route) if route.target == Ref::Key(old.clone()) => route.target = Ref::Key(failed.clone()),
                _ => {}
            }
        }
    }
}
