//! A simulated account for tests. It panics on calls that AWS would reject, in whatever order they arrive.

mod another_root;
mod connectivity;
mod discovered;
mod effects;
mod groups;
mod kills;
mod limits;
mod names;
mod obstacles;
mod outside;
mod people;
mod renamed;
mod scope;
mod shapes;
mod unlisted;
mod unmanaged;
mod users;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use crate::cloud::retries::RetryLimits;
use crate::cloud::{
    Begun, Cause, Cloud, Deadlines, DependentScope, Dependents, Discovery, Failure, Known, Namesake, Observed,
    Obstacle, OpContext, Recorder, Root, RootState, Seen, Unmanaged,
};
use crate::model::{AvailabilityZone, Certificate, Facts, Found, Lookup, Scope, TopologyKind};
use crate::model::{Claim, Entry, Finding, Inventory, Key, Learned, LogGroup, Object, OnDelete, Outside, Ref};
use crate::model::{RouteTable, Spec};
use crate::model::{UnmanagedInApi, UnmanagedSubnet};
use crate::plugin::Input;
use discovered::{Discovered, landscape};
use shapes::{as_known, as_stored, is_found, learned, may_be_adopted, named, outlives_root, simulated_failure};

/// The time that the creation of a NAT gateway takes. Tests pause the clock, so it advances only when no task can run.
const LONG: Duration = Duration::from_secs(120);

/// The simulated account.
#[derive(Default)]
pub(crate) struct Simulation {
    scope: scope::Leaked,
    /// The number of calls before the process is killed.
    calls_left: Mutex<Option<usize>>,
    /// The number of calls before all further ones fail.
    cut_off_after: Mutex<Option<usize>>,
    pub(crate) zones: Mutex<Vec<AvailabilityZone>>,
    /// The result of a lookup of certificates.
    pub(crate) certificates: Mutex<Vec<Certificate>>,
    /// The result of a lookup of a KMS key.
    pub(crate) kms_key: Mutex<Option<Found<String>>>,
    objects: Mutex<Vec<Object>>,
    ids: Mutex<BTreeMap<Key, String>>,
    /// The target id of each object with a target. AWS keeps it when the target is deleted.
    targets: Mutex<BTreeMap<Key, String>>,
    /// Slots whose target was missing after a deletion, or when the creation of a NAT gateway finished.
    blackholes: Mutex<BTreeSet<String>>,
    /// Subnets that lost a gateway endpoint while both existed, as `<subnet> <endpoint>`.
    endpoint_losses: Mutex<BTreeSet<String>>,
    counter: AtomicU64,
    /// Slots whose calls fail until they are removed from this list.
    pub(crate) failing: Mutex<Vec<String>>,
    /// Slots whose creation fails after another object uses them.
    pub(crate) failing_late: Mutex<Vec<String>>,
    /// The slots of objects whose creation fails before they are usable, after everything that needs only their IDs.
    pub(crate) never_usable: Mutex<Vec<String>>,
    /// Virtual private gateways that are not attached to the VPC.
    pub(crate) unattached: Mutex<Vec<String>>,
    /// Slots whose calls succeed in AWS, but whose answers are lost.
    pub(crate) losing_answers: Mutex<Vec<String>>,
    /// Whether reads never return.
    pub(crate) hanging: std::sync::atomic::AtomicBool,
    /// Slots that an unmanaged object uses, so that they cannot be deleted.
    pub(crate) in_use: Mutex<Vec<String>>,
    /// Those among them whose deletion is accepted, and fails later.
    pub(crate) fails_deletion: Mutex<BTreeSet<String>>,
    /// The services whose owners have to accept endpoints, and whether they have.
    pub(crate) accepted: Mutex<BTreeMap<String, bool>>,
    /// Slots of subnets that contain an interface of the endpoint of GuardDuty, so that they cannot be deleted.
    pub(crate) guardduty: Mutex<BTreeSet<String>>,
    /// The ids and blocks of unmanaged subnets in the VPC.
    pub(crate) unmanaged_subnets: Mutex<Vec<(&'static str, &'static str)>>,
    /// The network ACLs of the subnets that have another one than the default one, by the ids of the subnets.
    pub(crate) network_acls: Mutex<BTreeMap<String, String>>,
    /// The unmanaged routes and authorizers in an API.
    pub(crate) unmanaged: Mutex<UnmanagedInApi>,
    /// What people have added to a network.
    people: Mutex<people::People>,
    /// The integrations, authorizers and permissions that an apply has left for unmanaged routes, by id.
    released: Mutex<BTreeMap<String, Spec>>,
    /// The slots of the parts of unmanaged objects that applies have read again.
    pub(crate) part_reads: Mutex<Vec<String>>,
    /// The failure of the lists of dependents.
    pub(crate) dependents_failure: Mutex<Option<Cause>>,
    /// The slots of the objects whose users were listed.
    pub(crate) looked_for: Mutex<Vec<String>>,
    /// The number of APIs besides the one that uses objects of the gateway.
    pub(crate) other_apis: Mutex<usize>,
    /// Slots whose calls panic, and `the end` for a panic after all operations.
    pub(crate) panicking: Mutex<Vec<String>>,
    /// What the stage of an API has served so far.
    pub(crate) served: Mutex<Vec<Vec<Object>>>,
    /// The calls so far, such as `create subnet.public.0`.
    pub(crate) calls: Mutex<Vec<String>>,
    /// The root's tag `fgw:state`.
    pub(crate) root_state: Mutex<Option<RootState>>,
    /// The failure of calls that set tags after the creation, such as with a role that may tag only on creation.
    pub(crate) tagging_failure: Mutex<Option<Cause>>,
    /// The result of a list of roots.
    pub(crate) roots: Mutex<Vec<Root>>,
    /// The result of a list of roots with the name of the resource.
    pub(crate) namesakes: Mutex<Vec<Namesake>>,
    /// The failure of that list.
    pub(crate) namesakes_failure: Mutex<Option<Cause>>,
    /// Whether the root has no ownership tag.
    is_unowned: std::sync::atomic::AtomicBool,
    /// Whether all objects are foreign, and none has been adopted in full.
    is_foreign: std::sync::atomic::AtomicBool,
    /// The slots of the adopted objects.
    adopted: Mutex<BTreeSet<String>>,
    /// The slots of the foreign objects in a managed topology.
    pub(crate) further: Mutex<BTreeSet<String>>,
    /// The names of the CloudFormation stacks of foreign objects, by their ids.
    pub(crate) stacks: Mutex<BTreeMap<String, String>>,
    /// The slots of the objects that stay unmanaged in an adoption.
    pub(crate) unlisted: Mutex<BTreeSet<String>>,
    /// The root that each object was created for.
    created_for: Mutex<BTreeMap<Key, String>>,
    /// The slots in the tags of the objects, by their ids.
    tagged_as: Mutex<BTreeMap<String, String>>,
    /// Log groups that the simulated root does not own, and whom their tags name.
    groups: Mutex<groups::Groups>,
    names: names::Names,
    /// What AWS allows only up to a number, or only later.
    pub(crate) limits: limits::Limits,
}

impl Simulation {
    pub(crate) fn new(zones: usize) -> Simulation {
        let zones = (0..zones).map(|number| AvailabilityZone {
            name: format!("us-east-1{}", (b'a' + number as u8) as char),
            id: format!("use1-az{}", number + 1),
            state: "available".into(),
        });
        Simulation {
            zones: Mutex::new(zones.collect()),
            certificates: Mutex::new(vec![certificate("cert-1", 1)]),
            kms_key: Mutex::new(Some(Found::There(
                "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-12ab-34cd-56ef-1234567890ab".into(),
            ))),
            counter: AtomicU64::new(1),
            ..Simulation::default()
        }
    }

    /// Opens another availability zone.
    pub(crate) fn add_zone(&self) {
        let (name, id, state) = ("us-east-1z".into(), "use1-az26".into(), "available".into());
        self.zones.lock().unwrap().push(AvailabilityZone { name, id, state });
    }

    /// The id of an object's target if the target does not exist.
    fn missing_target(&self, object: &Object, objects: &[Object]) -> Option<String> {
        let id = self.targets.lock().unwrap().get(&object.key)?.clone();
        let ids = self.ids.lock().unwrap();
        (!objects.iter().any(|it| ids[&it.key] == id)).then_some(id)
    }

    /// The attributes besides the spec that a read of an object returns.
    fn shown(&self, spec: &Spec, id: &str, ids: &BTreeMap<Key, String>) -> Learned {
        let mut learned = self.with_acceptance(spec, learned(spec, id, ids));
        if matches!(spec, Spec::Vpc(_)) {
            let subnets = self.unmanaged_subnets.lock().unwrap();
            let subnets = subnets.iter().map(|(id, block)| UnmanagedSubnet {
                id: id.to_string(),
                block: block.parse().expect("the test sets valid blocks"),
                ipv6_block: None,
            });
            learned.insert(UnmanagedSubnet::LEARNED.into(), UnmanagedSubnet::join(subnets.collect()));
            self.network_users().learn(&mut learned);
        }
        if let (Spec::Subnet(_), Some(acl)) = (spec, self.network_acls.lock().unwrap().get(id)) {
            learned.network_acl_id = Some(acl.clone());
        }
        if matches!(spec, Spec::LogGroup(_)) && self.is_protected_group(id) {
            learned.unexpressed.insert(LogGroup::DELETION_PROTECTION.to_string(), true.to_string());
        }
        if self.is_unowned.load(Ordering::Relaxed) || self.is_foreign.load(Ordering::Relaxed) {
            learned.attributes.remove("resource");
        }
        learned
    }

    fn objects(&self) -> std::sync::MutexGuard<'_, Vec<Object>> {
        self.objects.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Yields a varying number of times, so that ready operations finish in varying order.
    async fn yield_some(&self) {
        self.live_on().await;
        let yields = self.counter.fetch_add(1, Ordering::Relaxed).wrapping_mul(2_654_435_761) >> 7 & 7;
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
    }

    fn begin(&self, verb: &str, key: &Key) -> Result<(), Failure> {
        self.count_call()?;
        self.calls.lock().unwrap().push(format!("{verb} {key}"));
        assert!(!self.panicking.lock().unwrap().contains(&key.slot), "simulated panic at {key}");
        if self.failing.lock().unwrap().contains(&key.slot) {
            return Err(simulated_failure());
        }
        Ok(())
    }

    fn is_unattached(&self, gateway: &str) -> bool {
        self.unattached.lock().unwrap().iter().any(|it| it == gateway)
    }

    fn check_needs(&self, work: &OpContext<'_>, object: &Object) {
        assert!(object.spec.is_known(), "{} has unknown inputs at apply", object.key);
        let objects = self.objects();
        for need in object.spec.needs() {
            assert!(work.ids.get(&need.key).is_some(), "{} did not receive the id of {}", object.key, need.key);
            let exists = objects.iter().any(|other| other.key == need.key || groups::is_at(other, &need.key));
            assert!(exists, "{} needs {:?}, which does not exist", object.key, need.key);
        }
    }
}

#[async_trait]
impl Cloud for Simulation {
    fn scope(&self) -> &Scope {
        self.scope.get()
    }

    fn announce(&self, _: TopologyKind, root_id: &str) {
        self.calls.lock().unwrap().push(format!("announce {root_id}"));
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        let services = ["s3", "s3express", "dynamodb"].map(|name| format!("com.amazonaws.us-east-1.{name}"));
        let needs_key = lookups.iter().any(|lookup| matches!(lookup, Lookup::KmsKey(_)));
        let zones = self.zones.lock().unwrap().clone();
        let facts = Facts {
            endpoint_services: shapes::endpoint_services(lookups, &zones),
            all_services: Vec::new(),
            availability_zones: Some(zones),
            gateway_endpoint_services: Some(services.to_vec()),
            certificates: Some(self.certificates.lock().unwrap().clone()),
            kms_key: self.kms_key.lock().unwrap().clone().filter(|_| needs_key),
            outside: BTreeMap::new(),
        };
        let mut outside: BTreeMap<Outside, Finding> = self.existing_groups(lookups);
        outside.extend(self.existing_mappings(lookups));
        outside.extend(self.existing_names(lookups));
        Ok(Facts { outside, ..facts.of(lookups) })
    }

    async fn read(&self, owner: TopologyKind, _: &str, known: Known<'_>) -> Result<Option<Seen>, Failure> {
        if self.hanging.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let Known { entries: known, slots, consented } = known;
        match slots {
            Some(slots) => self.follow_slots(|_, id| slots.get(id).cloned()),
            None if known.is_empty() => self.follow_tags(),
            None => self.follow_keys(known.iter().map(|entry| (entry.key.clone(), entry.id.clone()))),
        }
        let mut objects = self.objects().clone();
        let mut untagged = self.hide_further(&mut objects, known, consented);
        self.hide_groups(&mut objects, (known, slots, consented), &mut untagged);
        let existing = self.objects().clone();
        let routes = match owner {
            TopologyKind::FourTierVpc => self.hide_unlisted(&mut objects, known, [slots, consented]),
            TopologyKind::HttpGateway => Vec::new(),
        };
        for object in &mut objects {
            let missing = self.missing_target(object, &existing);
            if let (Some(id), Spec::Route(route)) = (missing, &mut object.spec) {
                route.target = Ref::blackhole(&id);
            }
        }
        let has_root = objects.iter().any(|object| object.key.slot == owner.root());
        let ids = self.ids.lock().unwrap();
        let knows = |object: &Object| outside::entry_of(object, &ids[&object.key], known);
        let is_known = |object: &Object| {
            knows(object).is_some() || slots.is_some_and(|slots| slots.contains_key(&ids[&object.key]))
        };
        // A domain and a stage are found by their tags, and a mapping through its domain.
        let created_for = self.created_for.lock().unwrap();
        let carries_tags = |object: &Object| {
            matches!(object.spec, Spec::DomainName(_) | Spec::ApiMapping(_) | Spec::Stage(_))
                && created_for.contains_key(&object.key)
        };
        let is_used = |address: &Object| {
            let allocation = Some(Input::Known(Ref::Key(address.key.clone())));
            objects.iter().any(|it| matches!(&it.spec, Spec::NatGateway(nat) if nat.allocation == allocation))
        };
        // The other objects that outlive the root are found by their names.
        let is_seen = |object: &&Object| match object.spec {
            Spec::Api(_) => true,
            Spec::LogGroup(_) if outside::is_named(object, &ids, &untagged) => true,
            _ if has_root && owner == TopologyKind::HttpGateway && !known.is_empty() => {
                is_known(object) || carries_tags(object) || outside::is_named(object, &ids, &untagged)
            }
            Spec::Eip(_) => is_known(object) || (has_root && is_used(object)),
            _ if has_root => is_found(object, &objects) || is_known(object),
            _ => outlives_root(&object.spec) && is_known(object),
        };
        let seen = objects.iter().filter(is_seen).map(|object| Observed {
            id: ids[&object.key].clone(),
            // Another slot may use a log group than the one that created it.
            key: knows(object)
                .filter(|_| matches!(object.spec, Spec::LogGroup(_)))
                .map_or(&object.key, |it| &it.key)
                .clone(),
            spec: as_known(&object.spec, knows(object)),
            learned: {
                let mut learned = self.shown(&object.spec, &ids[&object.key], &ids);
                let known = knows(object);
                let was_known = |name: &String| known.is_some_and(|entry| entry.learned.get(name).is_some());
                learned.attributes.retain(|name, value| !value.is_empty() || was_known(name));
                let of_table = routes.iter().filter(|(table, _)| *table == object.key);
                learned.unmanaged_routes.extend(of_table.map(|(_, route)| route.clone()));
                learned
            },
        });
        let unused = objects.iter().filter(|it| matches!(it.spec, Spec::Eip(_)) && !is_known(it) && !is_used(it));
        let unmanaged = unused.map(|object| Unmanaged {
            is_tagged: true,
            id: ids[&object.key].clone(),
            slot: Some(object.key.slot.clone()),
            reason: "no NAT gateway of this network uses it".into(),
        });
        let root_state = self.root_state.lock().unwrap().filter(|_| has_root);
        let users = objects.iter().filter_map(|object| match &object.spec {
            Spec::NatGateway(nat) => match &nat.allocation {
                Some(Input::Known(Ref::Key(address))) => Some((ids.get(address)?.clone(), ids[&object.key].clone())),
                _ => None,
            },
            _ => None,
        });
        let in_state = |id: &str| known.iter().any(|entry| entry.id == id);
        let users = users.filter(|(address, nat)| !in_state(address) && !in_state(nat));
        let requires = users.map(|(address, nat)| (address, [nat].into())).collect();
        let (mut seen, unmanaged): (Vec<Observed>, _) = (seen.collect(), unmanaged.collect());
        if let Some(api) = seen.iter_mut().find(|it| matches!(it.spec, Spec::Api(_))) {
            let known = known.iter().find(|entry| entry.id == api.id);
            self.learn_unmanaged((&objects, &ids), known, &mut api.learned);
        }
        let objects = seen;
        let stacks = self.stacks.lock().unwrap().clone();
        let seen = Seen { objects, root_state, unmanaged, requires, stacks, untagged, ..Seen::default() };
        Ok((!seen.objects.is_empty()).then_some(seen))
    }

    async fn discover<'a>(
        &'a self,
        owner: TopologyKind,
        root_id: &'a str,
        consented: Option<&'a BTreeMap<String, String>>,
    ) -> Result<Option<Box<dyn Discovery + 'a>>, Failure> {
        let seen = self.read(owner, root_id, Known { consented, ..Known::default() }).await?;
        let is_own = !self.is_foreign.load(Ordering::Relaxed)
            && (owner == TopologyKind::FourTierVpc || !self.is_unowned.load(Ordering::Relaxed));
        let landscape = landscape(owner, root_id, is_own, seen.as_ref().map_or(&[], |seen| &seen.objects));
        let seen = seen.filter(|seen| seen.objects.iter().any(|it| it.key.slot == owner.root()));
        Ok(seen.map(|seen| Box::new(Discovered { landscape, seen }) as Box<dyn Discovery>))
    }

    async fn leftovers(&self, _: TopologyKind, root_id: &str, objects: &[&Object]) -> Result<Vec<Observed>, Failure> {
        Ok(self.left_by_interrupted_runs(root_id, objects))
    }

    async fn obstacles(
        &self,
        _: TopologyKind,
        _: Option<&str>,
        begun: &[Begun<'_>],
        existing: &[Entry],
    ) -> Result<Vec<Obstacle>, Failure> {
        Ok(self.obstacles_to(begun, existing))
    }

    async fn lost_parts(&self, _: TopologyKind, _: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure> {
        self.part_reads.lock().unwrap().extend(parts.iter().map(|entry| entry.key.slot.clone()));
        let (objects, ids) = (self.objects(), self.ids.lock().unwrap());
        // AWS knows no keys, which may have changed.
        let exists = |entry: &Entry| objects.iter().any(|it| outside::is_entry(it, &ids[&it.key], entry));
        Ok(parts.iter().filter(|entry| !exists(entry)).map(|entry| entry.key.clone()).collect())
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("create", &object.key)?;
        self.follow(work.ids, None);
        self.check_needs(work, object);
        assert!(!object.spec.depends_on_attachment(), "the creation of {} waits for a gateway", object.key);
        self.refuse_beyond_limit(object)?;
        let equal = self.take_equal_route(work, &object.spec).or_else(|| self.take_unlisted(work, &object.spec));
        self.refuse_for_unmanaged(object)?;
        self.refuse_taken_name(object)?;
        self.refuse_for_further(object)?;
        for (id, block) in self.unmanaged_subnets.lock().unwrap().iter() {
            let theirs = Claim::Addresses(block.parse().expect("the test sets valid blocks"));
            let collides = object.spec.claims().iter().any(|claim| claim.collides(&theirs));
            assert!(!collides, "{:?} overlaps {block} of {id}", object.key);
        }
        if object.key.slot == work.owner.root() {
            *self.root_state.lock().unwrap() = Some(RootState::Creating);
        }
        let mut id = named(&object.spec)
            .unwrap_or_else(|| format!("{}-{}", object.key.slot, self.counter.fetch_add(1, Ordering::Relaxed)));
        if object.key.slot == work.owner.root() && !work.owner.accepts_id(&id) {
            id = id.replace('-', "");
        }
        if matches!(object.spec, Spec::Eip(_)) {
            id = format!("eipalloc-{id}");
        }
        id = equal.unwrap_or(id);
        let root = self.ids_of(work.owner.root()).pop_first();
        id = self.id_of_filter(object, root.as_deref())?.unwrap_or(id);
        {
            let mut objects = self.objects();
            let created_for = self.created_for.lock().unwrap().get(&object.key).cloned();
            let is_of_root = created_for.is_some() && created_for == root;
            if objects.iter().any(|it| it.key != object.key && groups::has_name_of(it, object)) {
                return Err(Failure::new(Cause::Exists, "Simulate", format!("the group of {} exists", object.key)));
            }
            if let Some(position) = objects.iter().position(|it| it.key == object.key) {
                match may_be_adopted(object, &objects[position], is_of_root) {
                    Some(false) => {
                        return Err(Failure::new(Cause::Exists, "Simulate", format!("{} already exists", object.key)));
                    }
                    Some(true) => {
                        objects.remove(position);
                        id = self.ids.lock().unwrap()[&object.key].clone();
                    }
                    None => {}
                }
            }
            {
                let ids = self.ids.lock().unwrap();
                let claims = |spec: &Spec| -> Vec<Claim> {
                    let id_of = |key: &Key| ids.get(key).cloned();
                    spec.claims().into_iter().map(|claim| claim.resolved(&id_of)).collect()
                };
                for other in objects.iter() {
                    for claim in claims(&object.spec) {
                        let collides = claims(&other.spec).iter().any(|held| claim.collides(held));
                        assert!(!collides, "{:?} and {:?} both claim {claim:?}", object.key, other.key);
                    }
                }
            }
            for other in objects.iter_mut() {
                other.spec = other.spec.clone().after_creation_of(&object.spec);
            }
            self.check_endpoint(&objects, &object.spec);
            objects.push(Object::new(object.key.clone(), as_stored(&object.spec, None)));
            self.adopted.lock().unwrap().insert(object.key.slot.clone());
            self.ids.lock().unwrap().insert(object.key.clone(), id.clone());
            if object.spec.tags().is_some() {
                self.tagged_as.lock().unwrap().insert(id.clone(), object.key.slot.clone());
            }
            self.created_for.lock().unwrap().extend(root.map(|root| (object.key.clone(), root)));
        }
        self.record_effects(work, None, object);
        self.answer(&object.key)?;
        (record.id)(&id);
        (record.learned)(self.with_acceptance(&object.spec, learned(&object.spec, &id, &self.ids.lock().unwrap())));
        if self.never_usable.lock().unwrap().contains(&object.key.slot) {
            tokio::time::sleep(LONG).await;
            return Err(simulated_failure());
        }
        let _attributes = self.set_dns_later(object);
        if matches!(object.spec, Spec::Vpc(_) | Spec::Subnet(_)) {
            (record.usable)();
            if self.failing_late.lock().unwrap().contains(&object.key.slot) {
                let used = |other: &Object| other.spec.needs().iter().any(|need| need.key == object.key);
                while !self.objects().iter().any(used) {
                    tokio::task::yield_now().await;
                }
                return Err(simulated_failure());
            }
        }
        if matches!(object.spec, Spec::NatGateway(_)) {
            // The creation takes minutes, in which all independent operations finish.
            tokio::time::sleep(LONG).await;
            self.blackholes.lock().unwrap().extend(self.current_blackholes());
        }
        self.limits.set_attributes(object).await;
        self.yield_some().await;
        Ok(())
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: &Spec,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("update", &to.key)?;
        self.follow(work.ids, Some((&to.key, id)));
        self.check_needs(work, to);
        if let Spec::RouteTable(RouteTable { propagating_gateways: Input::Known(gateways), .. }) = &to.spec
            && let Some(id) = gateways.iter().filter_map(Input::known).find(|id| self.is_unattached(id))
        {
            return Err(Failure::new(Cause::NotAttached, "Simulate", format!("{id} is not attached")));
        }
        self.check_gained_claims(to);
        self.record_effects(work, Some(from), to);
        self.refuse_for_unmanaged(to)?;
        let endpoints = self.endpoints_of_subnets();
        self.change_spec(work, from, to);
        self.record_endpoint_losses(endpoints);
        if to.spec.gets_new_id_when_updated() {
            let id = format!("{id}'");
            self.ids.lock().unwrap().insert(to.key.clone(), id.clone());
            self.answer(&to.key)?;
            (record.id)(&id);
        }
        if matches!(to.spec, Spec::InterfaceEndpoint(_) | Spec::DomainName(_)) {
            let now = self.spec_of(&to.key).expect("an updated object exists");
            (record.learned)(self.with_acceptance(&now, learned(&now, id, &self.ids.lock().unwrap())));
        }
        self.answer(&to.key)
    }

    async fn adopt(&self, work: &OpContext<'_>, id: &str, _: &Spec, to: &Object) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("adopt", &to.key)?;
        self.follow(work.ids, Some((&to.key, id)));
        let is_group = self.groups.lock().unwrap().take_over(&to.key);
        if is_group {
            let root = self.ids_of(work.owner.root()).pop_first().expect("the root exists");
            self.created_for.lock().unwrap().insert(to.key.clone(), root);
        }
        let is_further = is_group || self.further.lock().unwrap().remove(&to.key.slot) || to.spec.tags().is_none();
        assert!(is_further || self.is_foreign.load(Ordering::Relaxed), "{} is adopted already", to.key);
        let mut objects = self.objects();
        let found = objects.iter_mut().find(|object| object.key == to.key).expect("an adopted object exists");
        found.spec = to.spec.clone();
        assert_eq!(self.ids.lock().unwrap()[&to.key], id, "{}", to.key);
        self.tagged_as.lock().unwrap().insert(id.to_string(), to.key.slot.clone());
        self.adopted.lock().unwrap().insert(to.key.slot.clone());
        if to.key.slot == work.owner.root() {
            let adopted = self.adopted.lock().unwrap();
            let left = objects.iter().filter(|it| !self.unlisted.lock().unwrap().contains(&it.key.slot));
            let left: Vec<&String> = left.map(|it| &it.key.slot).filter(|slot| !adopted.contains(*slot)).collect();
            assert!(left.is_empty(), "the root is adopted before {left:?}");
            self.is_foreign.store(false, Ordering::Relaxed);
        }
        drop(objects);
        self.answer(&to.key)
    }

    async fn rename(&self, work: &OpContext<'_>, id: &str, to: &Object) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("rename", &to.key)?;
        self.follow(work.ids, Some((&to.key, id)));
        self.tagged_as.lock().unwrap().insert(id.to_string(), to.key.slot.clone());
        self.answer(&to.key)
    }

    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("delete", &entry.key)?;
        self.follow(work.ids, Some((&entry.key, &entry.id)));
        self.refuse_in_use(work, entry)?;
        self.refuse_while_used(entry)?;
        self.refuse_while_associated(entry)?;
        let objects = self.objects();
        let created_for = self.created_for.lock().unwrap().clone();
        // Objects created outside Terraform are not checked.
        let managed = objects.iter().filter(|other| created_for.contains_key(&other.key));
        for other in managed.filter(|other| other.spec.parent() != Some(&entry.key)) {
            let held =
                other.spec.needs().iter().any(|need| need.key == entry.key && need.on_delete == OnDelete::Restrict);
            if held && !work.known.contains(&self.ids.lock().unwrap()[&other.key]) {
                return Err(Failure::new(Cause::InUse, "Simulate", format!("{} still uses it", other.key)));
            }
            // This includes an object that is deleted with a parent that still exists.
            assert!(!held, "{} is deleted while {} uses it", entry.key, other.key);
        }
        drop(objects);
        // Targets that were missing before are not caused by this deletion.
        let before = self.current_blackholes();
        let endpoints = self.endpoints_of_subnets();
        if matches!(entry.applied, Spec::LogGroup(_)) && self.stays(work, entry)? {
            return self.answer(&entry.key);
        }
        let mut deleted = vec![entry.key.clone()];
        while let Some(key) = deleted.pop() {
            let mut objects = self.objects();
            objects.retain(|object| object.key != key);
            deleted.extend(objects.iter().filter(|it| it.spec.parent() == Some(&key)).map(|it| it.key.clone()));
        }
        self.blackholes.lock().unwrap().extend(self.current_blackholes().difference(&before).cloned());
        self.record_endpoint_losses(endpoints);
        self.delete_with_root(&entry.applied);
        self.answer(&entry.key)
    }

    /// The object is unmanaged from now on, so it is no longer part of the simulation.
    async fn disown(&self, _: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.yield_some().await;
        self.begin("disown", &entry.key)?;
        self.follow_keys([(entry.key.clone(), entry.id.clone())]);
        if matches!(entry.applied, Spec::LogGroup(_)) {
            self.release_group(&entry.key);
            return self.answer(&entry.key);
        }
        self.release(&entry.id, &entry.applied);
        self.leave_routes(entry);
        self.objects().retain(|object| object.key != entry.key);
        self.answer(&entry.key)
    }

    async fn verify_deployment(
        &self,
        _: TopologyKind,
        _: &str,
        _: &BTreeSet<String>,
        _: &Deadlines,
    ) -> Result<(), Failure> {
        assert!(!self.panicking.lock().unwrap().contains(&"the end".into()), "simulated panic at the end");
        Ok(())
    }

    async fn dependents(
        &self,
        owner: TopologyKind,
        _: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents {
        self.users_within(owner, within, known)
    }

    async fn roots(&self, _: TopologyKind) -> Result<Vec<Root>, Failure> {
        Ok(self.roots.lock().unwrap().clone())
    }

    async fn namesakes(
        &self,
        _: TopologyKind,
        _: &str,
        _: &(dyn for<'b> Fn(&'b str) -> bool + Send + Sync),
    ) -> Result<Vec<Namesake>, Failure> {
        match *self.namesakes_failure.lock().unwrap() {
            Some(cause) => Err(Failure::new(cause, "DescribeVpcs", "the roots cannot be listed")),
            None => Ok(self.namesakes.lock().unwrap().clone()),
        }
    }

    async fn mark_root(&self, _: TopologyKind, _: &str, state: RootState) -> Result<(), Failure> {
        let limits = RetryLimits::current().expect("an apply limits its retries");
        assert!(limits.deadline.is_some(), "the retries must end");
        if let Some(cause) = *self.tagging_failure.lock().unwrap() {
            return Err(Failure::new(cause, "CreateTags", "tags may be set only on creation"));
        }
        *self.root_state.lock().unwrap() = Some(state);
        Ok(())
    }
}

/// A certificate for all domains below example.com.
pub(crate) fn certificate(arn: &str, not_before: i64) -> Certificate {
    Certificate { arn: arn.into(), names: vec!["*.example.com".into()], not_before, ..Certificate::default() }
}

/// The inventory in private state.
pub(crate) fn inventory(private: &[u8]) -> Inventory {
    super::private_state::Private::decode(private).expect("private state is readable").inventory
}
