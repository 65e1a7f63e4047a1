//! What the creates and updates of one object change in others.

use std::collections::BTreeSet;

use super::Simulation;
use super::shapes::as_stored;
use crate::cloud::{Cause, Failure, OpContext};
use crate::model::{Input, Integration, InterfaceEndpoint, Key, MergeContext, Object, Ref, Spec, Subnet, TakenSubnet};

fn has_ipv6(endpoint: &InterfaceEndpoint) -> bool {
    matches!(&endpoint.settings.ip_address_type, Input::Known(Some(kind)) if kind != "ipv4")
}

/// Keeps what a spec does not manage as AWS has it.
fn keep_unmanaged(before: &Spec, after: &mut Spec) {
    match (before, after) {
        (Spec::InterfaceEndpoint(before), Spec::InterfaceEndpoint(after))
            if after.settings.ip_address_type == Input::Known(None) =>
        {
            after.settings.ip_address_type.clone_from(&before.settings.ip_address_type);
        }
        (Spec::DefaultSecurityGroup(before), Spec::DefaultSecurityGroup(after)) => {
            for (before, after) in [(&before.ingress, &mut after.ingress), (&before.egress, &mut after.egress)] {
                if *after == Input::Known(None) {
                    after.clone_from(before);
                }
            }
        }
        _ => {}
    }
}

impl Simulation {
    /// Changes what differs between two specs. The rest stays as it is, which may differ from both.
    pub(super) fn change_spec(&self, work: &OpContext<'_>, from: &Spec, to: &Object) {
        let mut objects = self.objects();
        let object = objects.iter_mut().find(|object| object.key == to.key).expect("an updated object exists");
        if let (Some(before), Some(after)) = (Integration::of(&object.spec), Integration::of(&to.spec)) {
            assert!(before.can_become(after), "AWS does not change {} to {after:?}", to.key);
        }
        let mut before = object.spec.clone();
        self.name_unknown_subnets(work, &mut before);
        let (attempted, is_deleted) = (BTreeSet::new(), |_: &Key| false);
        let context = MergeContext { attempted: &attempted, follows: &[], is_deleted: &is_deleted };
        let mut merged = to.spec.merged(from, &before, &context).spec;
        if matches!(merged, Spec::InterfaceEndpoint(_)) {
            let keys = self.ids.lock().unwrap().iter().map(|(key, id)| (id.clone(), key.clone())).collect();
            merged.refer_by_key(&keys);
        }
        object.spec = as_stored(&merged, Some(&before));
        keep_unmanaged(&before, &mut object.spec);
        if matches!(object.spec, Spec::InterfaceEndpoint(_)) {
            // AWS stores no gateway endpoint, and has no use for its option without names.
            object.spec.mask_unowned(to.spec.as_kind());
        }
        self.check_ipv6(&objects, to, &before);
    }

    /// Refers to the subnets of an endpoint that the inventory does not contain as a read does.
    fn name_unknown_subnets(&self, work: &OpContext<'_>, spec: &mut Spec) {
        let Spec::InterfaceEndpoint(endpoint) = spec else { return };
        let ids = self.ids.lock().unwrap();
        for subnet in &mut endpoint.subnets {
            let id = match &subnet {
                Ref::Key(key) => ids.get(key).filter(|id| !work.known.contains(*id)),
                Ref::Id(_) => None,
            };
            if let Some(id) = id {
                *subnet = Ref::Id(id.clone());
            }
        }
    }

    /// AWS gives an endpoint IPv6 addresses only in subnets with a block, and takes no block while an endpoint has an
    /// address in it.
    fn check_ipv6(&self, objects: &[Object], to: &Object, before: &Spec) {
        if let (Spec::Subnet(before), Spec::Subnet(after)) = (before, &to.spec) {
            let loses_block = before.ipv6_cidr_block != after.ipv6_cidr_block && before.ipv6_block.is_some();
            let uses = |it: &&Object| {
                InterfaceEndpoint::of(&it.spec)
                    .is_some_and(|endpoint| has_ipv6(endpoint) && endpoint.subnets.contains(&Ref::Key(to.key.clone())))
            };
            let user = objects.iter().find(uses).filter(|_| loses_block);
            assert!(user.is_none(), "{} loses its IPv6 block while {:?} has an address in it", to.key, user);
        }
        self.check_endpoint(objects, &to.spec);
    }

    pub(super) fn check_endpoint(&self, objects: &[Object], spec: &Spec) {
        self.check_names(spec);
        let Some(endpoint) = InterfaceEndpoint::of(spec).filter(|it| has_ipv6(it)) else { return };
        for subnet in &endpoint.subnets {
            let of_subnet = objects.iter().find(|it| Ref::Key(it.key.clone()) == *subnet);
            let has_block = of_subnet.and_then(|it| Subnet::of(&it.spec)).is_some_and(|it| it.ipv6_block.is_some());
            assert!(has_block, "an endpoint gets IPv6 addresses in {subnet:?}, which has no block");
        }
    }

    /// Records the target of an object, and takes subnets from other network ACLs.
    pub(super) fn record_effects(&self, work: &OpContext<'_>, before: Option<&Spec>, object: &Object) {
        if let Some(id) = object.spec.target().and_then(|target| work.ids.resolve(target)) {
            self.targets.lock().unwrap().insert(object.key.clone(), id.to_string());
        }
        let Spec::DefaultNetworkAcl(acl) = &object.spec else { return };
        let before = match before {
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
