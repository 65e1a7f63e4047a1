//! What the creates and updates of one object change in others.

use super::Simulation;
use crate::cloud::OpContext;
use crate::model::{Integration, Object, Spec, TakenSubnet};

impl Simulation {
    pub(super) fn set_spec(&self, to: &Object) {
        let mut objects = self.objects();
        let object = objects.iter_mut().find(|object| object.key == to.key).expect("an updated object exists");
        if let (Some(before), Some(after)) = (Integration::of(&object.spec), Integration::of(&to.spec)) {
            assert!(before.can_become(after), "AWS does not change {} to {after:?}", to.key);
        }
        object.spec = to.spec.clone();
    }

    /// Records the target of an object, and takes subnets from other network ACLs.
    pub(super) fn record_effects(&self, work: &OpContext<'_>, object: &Object) {
        if let Some(id) = object.spec.target().and_then(|target| work.ids.resolve(target)) {
            self.targets.lock().unwrap().insert(object.key.clone(), id.to_string());
        }
        let Spec::DefaultNetworkAcl(acl) = &object.spec else { return };
        let before = match work.before {
            Some(Spec::DefaultNetworkAcl(before)) => before.taken.as_slice(),
            _ => &[],
        };
        for TakenSubnet { subnet, from } in acl.taken.iter().filter(|taken| !before.contains(taken)) {
            let id = &work.ids.get(subnet).expect("it is a dependency").id;
            let now = self.network_acls.lock().unwrap().remove(id);
            assert!(now.as_ref().is_none_or(|now| now == from), "{subnet} has {now:?}, and the plan showed {from}");
        }
    }

    /// Associates a subnet with a network ACL outside Terraform.
    pub(crate) fn associate_network_acl(&self, slot: &str, acl: &str) {
        let ids = self.ids_of(slot);
        self.network_acls.lock().unwrap().extend(ids.into_iter().map(|id| (id, acl.to_string())));
    }

    /// Gives an object its new key if an update renames it.
    pub(super) fn rename(&self, id: &str, to: &Object) {
        let mut objects = self.objects();
        let mut ids = self.ids.lock().unwrap();
        let is_renamed = |object: &&mut Object| {
            ids.get(&object.key).is_some_and(|it| it == id) && object.spec.can_be_renamed_to(to.spec.as_kind())
        };
        let Some(object) = objects.iter_mut().find(is_renamed) else { return };
        let old = std::mem::replace(&mut object.key, to.key.clone());
        ids.remove(&old);
        ids.insert(to.key.clone(), id.to_string());
        let mut created_for = self.created_for.lock().unwrap();
        if let Some(root) = created_for.remove(&old) {
            created_for.insert(to.key.clone(), root);
        }
        for other in objects.iter().filter(|other| other.key != to.key) {
            for claim in to.spec.claims() {
                let collides = other.spec.claims().iter().any(|held| claim.collides(held));
                assert!(!collides, "{:?} and {:?} both claim {claim:?}", to.key, other.key);
            }
        }
    }
}
