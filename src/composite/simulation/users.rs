//! What uses managed objects, and the deletions that AWS rejects because of it.

use super::Simulation;
use crate::cloud::{Cause, Dependent, DependentScope, Dependents, Extent, Failure, OpContext};
use crate::model::{
    ENDPOINT_STATE, Entry, GuardDutyObjects, Input, InterfaceEndpoint, Key, Learned, Object, PENDING_ACCEPTANCE, Spec,
    TopologyKind, WhenInUse,
};

impl Simulation {
    /// Removes the interface of GuardDuty in an object, if the operation may do that. Returns whether there is none.
    fn removes_guardduty(&self, handling: GuardDutyObjects, slot: &str) -> bool {
        let mut guardduty = self.guardduty.lock().unwrap();
        match handling {
            GuardDutyObjects::Keep => return !guardduty.contains(slot),
            GuardDutyObjects::LeaveSubnets if guardduty.remove(slot) => {
                self.calls.lock().unwrap().push(format!("remove the endpoint of GuardDuty from {slot}"));
            }
            GuardDutyObjects::Delete if guardduty.contains(slot) => {
                guardduty.clear();
                self.calls.lock().unwrap().push("delete the endpoint of GuardDuty".into());
            }
            GuardDutyObjects::LeaveSubnets | GuardDutyObjects::Delete => {}
        }
        true
    }

    /// The answer of AWS to the deletion of an object in use, at once or later.
    pub(super) fn refuse_in_use(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        if !self.removes_guardduty(work.guardduty, &entry.key.slot) {
            return Err(Failure::new(Cause::InUse, "Simulate", "an interface of GuardDuty still uses it"));
        }
        let is_used = self.in_use.lock().unwrap().contains(&entry.key.slot);
        if !is_used || entry.applied.when_in_use() == WhenInUse::Deleted {
            return Ok(());
        }
        if self.fails_deletion.lock().unwrap().contains(&entry.key.slot) {
            self.fail_for_ever(&entry.key);
            return Err(Failure::new(Cause::InUse, "Simulate", "the deletion has failed: a network interface uses it"));
        }
        Err(Failure::new(Cause::InUse, "Simulate", "a network interface still uses it"))
    }

    /// Adds the state of an endpoint that waits for its acceptance.
    pub(super) fn with_acceptance(&self, spec: &Spec, mut learned: Learned) -> Learned {
        if let Spec::InterfaceEndpoint(InterfaceEndpoint { service_name: Input::Known(service), .. }) = spec
            && let Some(is_accepted) = self.accepted.lock().unwrap().get(service)
        {
            let state = if *is_accepted { "available" } else { PENDING_ACCEPTANCE };
            learned.insert(ENDPOINT_STATE.into(), state.into());
        }
        learned
    }

    /// Gives an object the status of a failed one.
    fn fail_for_ever(&self, key: &Key) {
        let failed = Key { has_failed: true, ..key.clone() };
        for object in self.objects().iter_mut().filter(|object| object.key == *key) {
            object.key = failed.clone();
        }
        let mut ids = self.ids.lock().unwrap();
        if let Some(id) = ids.remove(key) {
            ids.insert(failed.clone(), id);
        }
        let mut created_for = self.created_for.lock().unwrap();
        if let Some(root) = created_for.remove(key) {
            created_for.insert(failed, root);
        }
    }

    /// Returns a network interface for each slot in use, for a stage a mapping, and for another object of a gateway a
    /// route of another API. A limited search reads 20 APIs, and that one last.
    pub(super) fn users_within(&self, owner: TopologyKind, within: DependentScope<'_>, known: &[Entry]) -> Dependents {
        let is_of_gateway = owner == TopologyKind::HttpGateway;
        if matches!(within, DependentScope::Domains(_)) {
            return Dependents::default();
        }
        if let DependentScope::LogGroups(groups) = within {
            return Dependents { objects: self.filters_of_others(groups), unseen: Vec::new() };
        }
        let DependentScope::Objects(entries, extent) = within else {
            if !is_of_gateway {
                return self.users_in_network(within);
            }
            let mut found = self.unmanaged_dependents();
            if matches!(within, DependentScope::Root) {
                let groups = known.iter().filter(|entry| entry.takes_filters_along());
                let groups: Vec<&str> = groups.map(|entry| entry.id.as_str()).collect();
                found.objects.extend(self.filters_of_others(&groups));
            }
            return found;
        };
        self.looked_for.lock().unwrap().extend(entries.iter().map(|entry| entry.key.slot.clone()));
        if !is_of_gateway {
            return self.users_in_network(within);
        }
        let (mut objects, mut unseen) = (self.users_of_gateway(), Vec::new());
        objects.retain(|user| entries.iter().any(|entry| user.holds.contains(&entry.id)));
        if entries.iter().all(|entry| entry.applied.is_deployed_by_aws()) {
            // Mappings do not take a search of the APIs.
            return Dependents { objects, unseen };
        }
        if let Some(failure) = self.list_failure() {
            return failure;
        }
        let unread = (*self.other_apis.lock().unwrap()).saturating_sub(19);
        if extent == Extent::Limited && unread > 0 {
            objects.retain(Dependent::is_mapping);
            unseen.push(Failure::new(Cause::Other, "GetIntegrations", format!("{unread} APIs were not read")));
        }
        Dependents { objects, unseen }
    }

    /// The answer if no list of users succeeds.
    fn list_failure(&self) -> Option<Dependents> {
        let cause = (*self.dependents_failure.lock().unwrap())?;
        let failure = Failure::new(cause, "DescribeNetworkInterfaces", "not authorized");
        Some(Dependents { objects: Vec::new(), unseen: vec![failure] })
    }

    fn users_in_network(&self, within: DependentScope<'_>) -> Dependents {
        if let Some(failure) = self.list_failure() {
            return failure;
        }
        let found = self.interfaces();
        let ids = self.ids.lock().unwrap();
        let is_within = |dependent: &Dependent| match within {
            DependentScope::Root | DependentScope::Domains(_) | DependentScope::NetworkInterfaces => true,
            DependentScope::Addresses(..) | DependentScope::LogGroups(_) => false,
            DependentScope::DefaultSecurityGroup => {
                ids.iter().any(|(key, id)| key.slot == "default_security_group" && dependent.holds.contains(id))
            }
            DependentScope::Subnets(subnets) => dependent.holds.iter().any(|id| subnets.contains(&id.as_str())),
            DependentScope::Objects(entries, _) => entries.iter().any(|entry| dependent.holds.contains(&entry.id)),
        };
        Dependents { objects: found.into_iter().filter(is_within).collect(), unseen: Vec::new() }
    }

    fn users_of_gateway(&self) -> Vec<Dependent> {
        let in_use = self.in_use.lock().unwrap();
        let ids = self.ids.lock().unwrap();
        let objects = self.objects();
        let used = objects.iter().filter(|object| in_use.contains(&object.key.slot));
        let route = |object: &Object| Dependent {
            kind: "route",
            id: format!("r-{}", object.key.slot),
            description: "GET /theirs".into(),
            further: "of API api9 \"theirs\"".into(),
            owner: None,
            holds: vec![ids[&object.key].clone()],
            guardduty: Vec::new(),
        };
        let mapping = |object: &Object| Dependent {
            kind: Dependent::MAPPING,
            id: format!("m-{}", object.key.slot),
            description: "theirs.example.com/".into(),
            further: format!("to {}", ids[&object.key]),
            ..route(object)
        };
        used.map(|object| if object.spec.is_deployed_by_aws() { mapping(object) } else { route(object) }).collect()
    }

    fn interfaces(&self) -> Vec<Dependent> {
        let objects = self.objects();
        let ids = self.ids.lock().unwrap();
        let in_use = self.in_use.lock().unwrap();
        let guardduty = self.guardduty.lock().unwrap();
        let interface = |object: &Object, description: &str, further: &str, guardduty: Vec<String>| Dependent {
            kind: "network interface",
            id: format!("eni-{}", object.key.slot),
            description: description.into(),
            further: further.into(),
            owner: Some("123456789012".into()),
            holds: ids
                .iter()
                .filter(|(key, _)| {
                    // An interface has a public address if the internet gateway is in use too.
                    **key == object.key || (key.slot == "internet_gateway" && in_use.contains(&key.slot))
                })
                .map(|(_, id)| id.clone())
                .collect(),
            guardduty,
        };
        let is_interface = |object: &&Object| !matches!(object.spec, Spec::InternetGateway(_));
        let used = objects.iter().filter(is_interface).filter_map(|object| match &object.key.slot {
            slot if in_use.contains(slot) => {
                Some(interface(object, "AWS Lambda VPC ENI-shop", "type lambda", Vec::new()))
            }
            slot if guardduty.contains(slot) => {
                let of_guardduty = ["vpce-9", "sg-9"].map(str::to_string).to_vec();
                Some(interface(object, "VPC Endpoint Interface vpce-9", "type vpc_endpoint", of_guardduty))
            }
            _ => None,
        });
        used.collect()
    }
}
