//! What the creates and updates of one object change in others.

use super::Simulation;
use crate::cloud::{Cause, Failure, OpContext};
use crate::model::{Integration, Key, Object, Spec, TakenSubnet};

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

    /// Records what the stage of an API serves, if AWS deploys changes to it.
    fn deploy(&self) {
        let objects = self.objects();
        let deploys = |object: &Object| matches!(&object.spec, Spec::Stage(stage) if stage.auto_deploy);
        if objects.iter().any(deploys) {
            self.served.lock().unwrap().push(objects.clone());
        }
    }

    pub(super) fn answer(&self, key: &Key) -> Result<(), Failure> {
        self.deploy();
        match self.losing_answers.lock().unwrap().contains(&key.slot) {
            true => Err(Failure::new(Cause::Lost, "Simulate", "connection reset")),
            false => Ok(()),
        }
    }
}
