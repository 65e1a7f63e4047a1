//! A simulated account for tests: it refuses what AWS would refuse, in whatever order it is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use crate::cloud::{
    Cause, Cloud, Dependent, DependentScope, Dependents, Failure, Observed, OpContext, Recorder, Root, RootState, Seen,
    UnfinishedRoot,
};
use crate::model::TopologyKind;
use crate::model::{AvailabilityZone, Certificate, Facts, Found, Lookup, Scope};
use crate::model::{Caller, Entry, Inventory, Key, Learned, Object, OnDelete, Ref, Spec};
use crate::plugin::{Input, Value};

/// How long a NAT gateway takes. Time passes only when nothing else can be done: tests pause the clock.
const LONG: Duration = Duration::from_secs(120);

/// The simulated account.
pub(crate) struct Simulation {
    scope: Scope,
    zones: Mutex<Vec<AvailabilityZone>>,
    /// What a look for certificates finds.
    pub(crate) certificates: Mutex<Vec<Certificate>>,
    /// What a look for a key finds.
    pub(crate) kms_key: Mutex<Option<Found<String>>>,
    objects: Mutex<Vec<Object>>,
    ids: Mutex<BTreeMap<Key, String>>,
    /// The id that each object with a target leads to. AWS keeps it when that has gone.
    leads: Mutex<BTreeMap<Key, String>>,
    /// Slots that led nowhere after a deletion, or when a NAT gateway was finished.
    led_nowhere: Mutex<BTreeSet<String>>,
    counter: AtomicU64,
    /// Slots whose next change fails for good.
    pub(crate) failing: Mutex<Vec<String>>,
    /// Slots whose creation fails when others use them already.
    pub(crate) failing_late: Mutex<Vec<String>>,
    /// Slots whose next changes are carried out, and whose answers are lost.
    pub(crate) losing_answers: Mutex<Vec<String>>,
    /// Whether looks never end.
    pub(crate) hanging: std::sync::atomic::AtomicBool,
    /// Slots that something foreign uses, so that they cannot be deleted.
    pub(crate) in_use: Mutex<Vec<String>>,
    /// Routes that others have in an API.
    pub(crate) foreign_routes: Mutex<Vec<String>>,
    /// Whether the role may not look for what is in the way.
    pub(crate) hides_obstacles: Mutex<bool>,
    /// Slots whose code panics, and `the end` for what comes after all operations.
    pub(crate) panicking: Mutex<Vec<String>>,
    /// What was done, as `create subnet.public.0`.
    pub(crate) calls: Mutex<Vec<String>>,
    /// The root's tag `fgw:state`.
    pub(crate) root_state: Mutex<Option<RootState>>,
    /// Why tags cannot be set after the creation: the role may tag on creation only, or a call fails.
    pub(crate) refuses_tags: Mutex<Option<Cause>>,
    /// What a look for roots finds.
    pub(crate) roots: Mutex<Vec<Root>>,
    /// What a killed run has left.
    pub(crate) left: Mutex<Vec<UnfinishedRoot>>,
    /// Whether the root lacks the tag that says who made it.
    is_foreign: std::sync::atomic::AtomicBool,
    /// The root that each object was made for.
    homes: Mutex<BTreeMap<Key, String>>,
}

impl Simulation {
    pub(crate) fn new(zones: usize) -> Simulation {
        let zones = (0..zones).map(|number| AvailabilityZone {
            name: format!("us-east-1{}", (b'a' + number as u8) as char),
            id: format!("use1-az{}", number + 1),
            state: "available".into(),
        });
        Simulation {
            scope: Scope {
                partition: "aws".into(),
                region: "us-east-1".into(),
                account: Some("123456789012".into()),
                ..Scope::default()
            },
            zones: Mutex::new(zones.collect()),
            certificates: Mutex::new(vec![certificate("cert-1", 1)]),
            kms_key: Mutex::new(Some(Found::There(
                "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-12ab-34cd-56ef-1234567890ab".into(),
            ))),
            objects: Mutex::default(),
            ids: Mutex::default(),
            leads: Mutex::default(),
            led_nowhere: Mutex::default(),
            counter: AtomicU64::new(1),
            failing: Mutex::default(),
            failing_late: Mutex::default(),
            losing_answers: Mutex::default(),
            hanging: Default::default(),
            in_use: Mutex::default(),
            foreign_routes: Mutex::default(),
            hides_obstacles: Mutex::default(),
            panicking: Mutex::default(),
            calls: Mutex::default(),
            root_state: Mutex::default(),
            refuses_tags: Mutex::default(),
            roots: Mutex::default(),
            left: Mutex::default(),
            is_foreign: Default::default(),
            homes: Mutex::default(),
        }
    }

    /// The slots of all that exists.
    pub(crate) fn slots(&self) -> Vec<String> {
        let mut slots: Vec<String> = self.objects().iter().map(|object| object.key.slot.clone()).collect();
        slots.sort();
        slots
    }

    /// Takes an object away, as another person would.
    pub(crate) fn lose(&self, slot: &str) {
        self.objects().retain(|object| object.key.slot != slot);
    }

    /// Makes an object of an inventory again, as another person would, with this id.
    pub(crate) fn put(&self, inventory: &Inventory, slot: &str, id: &Value) {
        let entry = inventory.at(slot).expect("the inventory has such an object");
        self.objects().push(Object::new(entry.key.clone(), entry.applied.clone()));
        let id = id.as_str().expect("ids are texts").to_string();
        self.ids.lock().unwrap().insert(entry.key.clone(), id);
        self.homes.lock().unwrap().remove(&entry.key);
    }

    /// Takes the root away and what goes with it, as another person would.
    pub(crate) fn lose_root(&self) {
        self.objects().retain(|object| outlives_root(&object.spec));
    }

    /// Takes the tag away that says who made the root.
    pub(crate) fn forget_maker(&self) {
        self.is_foreign.store(true, Ordering::Relaxed);
    }

    /// Changes an object, as another person would.
    pub(crate) fn damage(&self, slot: &str, damage: impl Fn(&mut Spec)) {
        self.objects().iter_mut().filter(|object| object.key.slot == slot).for_each(|object| damage(&mut object.spec));
    }

    pub(crate) fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// The slots that have led nowhere since this was last asked.
    pub(crate) fn take_led_nowhere(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.led_nowhere.lock().unwrap())
    }

    /// The ids of what exists in slots that begin like this.
    pub(crate) fn ids_of(&self, prefix: &str) -> BTreeSet<String> {
        let ids = self.ids.lock().unwrap();
        let keys = |object: &Object| object.key.slot.starts_with(prefix).then(|| ids[&object.key].clone());
        self.objects().iter().filter_map(keys).collect()
    }

    /// What an object leads to that exists no more.
    fn lost_target(&self, object: &Object, objects: &[Object]) -> Option<String> {
        let id = self.leads.lock().unwrap().get(&object.key)?.clone();
        let ids = self.ids.lock().unwrap();
        (!objects.iter().any(|it| ids[&it.key] == id)).then_some(id)
    }

    /// What AWS tells beside an object's spec, when it is looked at.
    fn shown(&self, spec: &Spec, id: &str) -> Learned {
        let mut learned = learned(spec, id);
        if self.is_foreign.load(Ordering::Relaxed) {
            learned.remove("resource");
        }
        learned
    }

    /// The slots that lead nowhere.
    fn lost(&self) -> BTreeSet<String> {
        let objects = self.objects();
        let lost = objects.iter().filter(|object| self.lost_target(object, &objects).is_some());
        lost.map(|object| object.key.slot.clone()).collect()
    }

    fn lead(&self, work: &OpContext<'_>, object: &Object) {
        if let Some(id) = object.spec.target().and_then(|target| work.ids.resolve(target)) {
            self.leads.lock().unwrap().insert(object.key.clone(), id.to_string());
        }
    }

    fn objects(&self) -> std::sync::MutexGuard<'_, Vec<Object>> {
        self.objects.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Lets others run first, a varying number of times, so that ready operations finish in varying order.
    async fn dawdle(&self) {
        let turns = self.counter.fetch_add(1, Ordering::Relaxed).wrapping_mul(2_654_435_761) >> 7 & 7;
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    fn begin(&self, verb: &str, key: &Key) -> Result<(), Failure> {
        self.calls.lock().unwrap().push(format!("{verb} {key}"));
        assert!(!self.panicking.lock().unwrap().contains(&key.slot), "told to panic at {key}");
        if self.failing.lock().unwrap().contains(&key.slot) {
            return Err(told_to_fail());
        }
        Ok(())
    }

    fn answer(&self, key: &Key) -> Result<(), Failure> {
        match self.losing_answers.lock().unwrap().contains(&key.slot) {
            true => Err(Failure::new(Cause::Lost, "Simulate", "connection reset")),
            false => Ok(()),
        }
    }

    fn check_needs(&self, work: &OpContext<'_>, object: &Object) {
        assert!(object.spec.is_known(), "{} is applied with unknown inputs", object.key);
        let objects = self.objects();
        for need in object.spec.needs() {
            assert!(work.ids.get(&need.key).is_some(), "{} got no id of {}", object.key, need.key);
            let exists = objects.iter().any(|other| other.key == need.key);
            assert!(exists, "{} needs {:?}, which does not exist", object.key, need.key);
        }
    }
}

fn told_to_fail() -> Failure {
    Failure {
        cause: Cause::Other,
        action: "Simulate".into(),
        code: Some("SimulatedFailure".into()),
        message: "told to fail".into(),
        request_id: Some("request-1".into()),
        retry_after: None,
    }
}

#[async_trait]
impl Cloud for Simulation {
    fn scope(&self) -> &Scope {
        &self.scope
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        let services = ["s3", "s3express", "dynamodb"].map(|name| format!("com.amazonaws.us-east-1.{name}"));
        let looks_for_key = lookups.iter().any(|lookup| matches!(lookup, Lookup::KmsKey(_)));
        Ok(Facts {
            availability_zones: Some(self.zones.lock().unwrap().clone()),
            gateway_endpoint_services: Some(services.to_vec()),
            certificates: Some(self.certificates.lock().unwrap().clone()),
            kms_key: self.kms_key.lock().unwrap().clone().filter(|_| looks_for_key),
        })
    }

    async fn read(&self, owner: TopologyKind, _: &str, known: &[Entry]) -> Result<Option<Seen>, Failure> {
        if self.hanging.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let mut objects = self.objects().clone();
        for position in 0..objects.len() {
            let lost = self.lost_target(&objects[position], &objects);
            if let (Some(id), Spec::Route(route)) = (lost, &mut objects[position].spec) {
                route.target = Ref::blackhole(&id);
            }
        }
        let has_root = objects.iter().any(|object| object.key.slot == owner.root());
        let ids = self.ids.lock().unwrap();
        let knows = |object: &Object| {
            let there = (std::mem::discriminant(&object.spec), ids[&object.key].as_str());
            known.iter().find(|entry| entry.kind_and_id() == there)
        };
        let is_known = |object: &Object| knows(object).is_some();
        // A domain is found by its tags, and leads to its mapping.
        let homes = self.homes.lock().unwrap();
        let carries_tags = |object: &Object| {
            matches!(object.spec, Spec::DomainName(_) | Spec::ApiMapping(_)) && homes.contains_key(&object.key)
        };
        let knows_all = known.iter().any(|entry| entry.key.slot != owner.root());
        // An address is found by its tag. The others are looked for by their names.
        let is_seen = |object: &&Object| match object.spec {
            Spec::Api(_) => true,
            _ if has_root && owner == TopologyKind::HttpGateway && knows_all => {
                is_known(object) || carries_tags(object)
            }
            _ if has_root => is_found(object, &objects) || is_known(object),
            Spec::Eip(_) => true,
            _ => outlives_root(&object.spec) && is_known(object),
        };
        let seen = objects.iter().filter(is_seen).map(|object| Observed {
            id: ids[&object.key].clone(),
            key: object.key.clone(),
            spec: as_known(&object.spec, knows(object)),
            learned: self.shown(&object.spec, &ids[&object.key]),
        });
        let root_state = self.root_state.lock().unwrap().filter(|_| has_root);
        let seen = Seen { objects: seen.collect(), root_state };
        Ok((!seen.objects.is_empty()).then_some(seen))
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        self.dawdle().await;
        self.begin("create", &object.key)?;
        self.check_needs(work, object);
        if object.key.slot == work.owner.root() {
            *self.root_state.lock().unwrap() = Some(RootState::Creating);
        }
        let mut id = named(&object.spec)
            .unwrap_or_else(|| format!("{}-{}", object.key.slot, self.counter.fetch_add(1, Ordering::Relaxed)));
        let root = self.ids_of(work.owner.root()).pop_first();
        {
            let mut objects = self.objects();
            let home = self.homes.lock().unwrap().get(&object.key).cloned();
            if outlives_root(&object.spec) && home.is_some() && home == root {
                // What was made for this root before, and is not known any more, is taken.
                let there = objects.iter().position(|it| it.key == object.key);
                if let Some(position) = there {
                    objects.remove(position);
                    id = self.ids.lock().unwrap()[&object.key].clone();
                }
            }
            for other in objects.iter() {
                for claim in object.spec.claims() {
                    let collides = other.spec.claims().iter().any(|held| claim.collides(held));
                    assert!(!collides, "{:?} and {:?} both claim {claim:?}", object.key, other.key);
                }
            }
            objects.push(Object::new(object.key.clone(), object.spec.clone()));
            self.ids.lock().unwrap().insert(object.key.clone(), id.clone());
            self.homes.lock().unwrap().extend(root.map(|root| (object.key.clone(), root)));
        }
        self.lead(work, object);
        self.answer(&object.key)?;
        (record.id)(&id);
        (record.learned)(learned(&object.spec, &id));
        if matches!(object.spec, Spec::Vpc(_) | Spec::Subnet(_)) {
            (record.usable)();
            if self.failing_late.lock().unwrap().contains(&object.key.slot) {
                let used = |other: &Object| other.spec.needs().iter().any(|need| need.key == object.key);
                while !self.objects().iter().any(used) {
                    tokio::task::yield_now().await;
                }
                return Err(told_to_fail());
            }
        }
        if matches!(object.spec, Spec::NatGateway(_)) {
            // It takes minutes, in which all else is done that can be done.
            tokio::time::sleep(LONG).await;
            self.led_nowhere.lock().unwrap().extend(self.lost());
        }
        self.dawdle().await;
        Ok(())
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        _: Option<&Spec>,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        self.dawdle().await;
        self.begin("update", &to.key)?;
        self.check_needs(work, to);
        self.lead(work, to);
        let mut objects = self.objects();
        let object = objects.iter_mut().find(|object| object.key == to.key).expect("what is updated exists");
        object.spec = to.spec.clone();
        if to.spec.gets_new_id_when_updated() {
            let id = format!("{id}'");
            self.ids.lock().unwrap().insert(to.key.clone(), id.clone());
            self.answer(&to.key)?;
            (record.id)(&id);
        }
        self.answer(&to.key)
    }

    async fn delete(&self, _: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.dawdle().await;
        self.begin("delete", &entry.key)?;
        if self.in_use.lock().unwrap().contains(&entry.key.slot) {
            return Err(Failure::new(Cause::InUse, "Simulate", "a network interface still uses it"));
        }
        let objects = self.objects();
        let homes = self.homes.lock().unwrap().clone();
        // What another person has made holds nothing of ours.
        let ours = objects.iter().filter(|other| homes.contains_key(&other.key));
        for other in ours.filter(|other| other.spec.parent() != Some(&entry.key)) {
            let held =
                other.spec.needs().iter().any(|need| need.key == entry.key && need.on_delete == OnDelete::Restrict);
            // What goes along with something that is still there holds as firmly as anything else.
            assert!(!held, "{} is deleted while {} uses it", entry.key, other.key);
        }
        drop(objects);
        // What somebody else had deleted before is no work of this deletion.
        let before = self.lost();
        let mut gone = vec![entry.key.clone()];
        while let Some(key) = gone.pop() {
            let mut objects = self.objects();
            objects.retain(|object| object.key != key);
            gone.extend(objects.iter().filter(|it| it.spec.parent() == Some(&key)).map(|it| it.key.clone()));
        }
        self.led_nowhere.lock().unwrap().extend(self.lost().difference(&before).cloned());
        self.answer(&entry.key)
    }

    async fn verify_deployment(&self, _: TopologyKind, _: &str) -> Result<(), Failure> {
        assert!(!self.panicking.lock().unwrap().contains(&"the end".into()), "told to panic at the end");
        Ok(())
    }

    /// A network interface for each slot in use.
    async fn dependents(&self, owner: TopologyKind, _: &str, within: DependentScope<'_>, _: &[Entry]) -> Dependents {
        if owner == TopologyKind::HttpGateway {
            let dependent = |id: &String| Dependent {
                kind: "route",
                id: id.clone(),
                description: "GET /theirs".into(),
                further: String::new(),
                owner: None,
                holds: Vec::new(),
            };
            return Dependents {
                objects: self.foreign_routes.lock().unwrap().iter().map(dependent).collect(),
                unseen: Vec::new(),
            };
        }
        if *self.hides_obstacles.lock().unwrap() {
            let denied = Failure::new(Cause::Denied, "DescribeNetworkInterfaces", "not authorized");
            return Dependents { objects: Vec::new(), unseen: vec![denied] };
        }
        let objects = self.objects();
        let ids = self.ids.lock().unwrap();
        let in_use = self.in_use.lock().unwrap();
        let used = objects.iter().filter(|object| in_use.contains(&object.key.slot)).map(|object| Dependent {
            kind: "network interface",
            id: format!("eni-{}", object.key.slot),
            description: "AWS Lambda VPC ENI-shop".into(),
            further: "type lambda".into(),
            owner: Some("123456789012".into()),
            holds: vec![ids[&object.key].clone()],
        });
        let is_within = |dependent: &Dependent| match within {
            DependentScope::Root | DependentScope::Domains(_) => true,
            DependentScope::Subnets(subnets) => dependent.holds.iter().any(|id| subnets.contains(&id.as_str())),
        };
        Dependents { objects: used.filter(is_within).collect(), unseen: Vec::new() }
    }

    async fn roots(&self, _: TopologyKind) -> Result<Vec<Root>, Failure> {
        Ok(self.roots.lock().unwrap().clone())
    }

    async fn unfinished_roots(&self, _: TopologyKind, _: &str) -> Result<Vec<UnfinishedRoot>, Failure> {
        Ok(self.left.lock().unwrap().clone())
    }

    async fn mark_root(&self, _: TopologyKind, _: &str, state: RootState) -> Result<(), Failure> {
        if let Some(cause) = *self.refuses_tags.lock().unwrap() {
            return Err(Failure::new(cause, "CreateTags", "only with the creating call"));
        }
        *self.root_state.lock().unwrap() = Some(state);
        Ok(())
    }
}

/// A certificate for all domains below example.com.
pub(crate) fn certificate(arn: &str, not_before: i64) -> Certificate {
    Certificate { arn: arn.into(), names: vec!["*.example.com".into()], not_before }
}

/// Of a table that is known, only what was applied is shown of the gateways that propagate to it, and the subnets of a
/// known ACL are never looked at again.
fn as_known(spec: &Spec, known: Option<&Entry>) -> Spec {
    let mut spec = spec.clone();
    if let (Spec::Api(_) | Spec::Authorizer(_), Some(known)) = (&spec, known) {
        // What is shown in another order is the same.
        let shown = Entry { adopted: true, ..Entry::new(known.key.clone(), known.id.clone(), spec) };
        return shown.normalized_against(&known.applied);
    }
    if let (Spec::DefaultNetworkAcl(acl), Some(Entry { applied: Spec::DefaultNetworkAcl(applied), .. })) =
        (&mut spec, known)
    {
        acl.subnets.clone_from(&applied.subnets);
    }
    if let (Spec::RouteTable(table), Some(Entry { applied: Spec::RouteTable(applied), .. })) = (&mut spec, known)
        && let (Input::Known(gateways), Input::Known(ours)) =
            (&mut table.propagating_gateways, &applied.propagating_gateways)
    {
        gateways.retain(|gateway| ours.contains(gateway));
    }
    spec
}

/// The name of what AWS knows by no other id. Things of different kinds may share one.
fn named(spec: &Spec) -> Option<String> {
    match spec {
        Spec::LogGroup(group) => group.name.known().cloned(),
        Spec::DomainName(domain) => domain.domain_name.known().cloned(),
        _ => None,
    }
}

/// Whether an object is found from its root, by somebody who knows nothing else: a log group by the stage that logs to
/// it, a statement by what calls its function, an IPv6 range by a subnet that has a block of it or if no subnet has
/// one.
fn is_found(object: &Object, objects: &[Object]) -> bool {
    let logs_to = |group: &Key| {
        let of = |it: &Object| match &it.spec {
            Spec::Stage(stage) => stage.access_log.as_ref().map(|log| log.log_group.clone()),
            _ => None,
        };
        objects.iter().filter_map(of).any(|it| it == Ref::Key(group.clone()))
    };
    match &object.spec {
        Spec::VpcIpv6Block(_) => {
            let of = |it: &Object| match &it.spec {
                Spec::Subnet(subnet) => subnet.ipv6_block.clone(),
                _ => None,
            };
            let mut used = objects.iter().filter_map(of).peekable();
            used.peek().is_none() || used.any(|range| range == object.key)
        }
        Spec::LogGroup(_) => logs_to(&object.key),
        Spec::LogSubscription(filter) => logs_to(&filter.log_group),
        Spec::LambdaPermission(permission) => objects.iter().any(|it| match (&permission.caller, &it.spec) {
            (Caller::Routes, Spec::Integration(integration)) => integration.permission.as_ref() == Some(&object.key),
            (Caller::Authorizer(authorizer), Spec::Authorizer(_)) => it.key == *authorizer,
            (Caller::LogGroup(group), Spec::LogSubscription(filter)) => {
                logs_to(group) && filter.permission.as_ref() == Some(&object.key)
            }
            _ => false,
        }),
        _ => true,
    }
}

fn outlives_root(spec: &Spec) -> bool {
    matches!(
        spec,
        Spec::Eip(_)
            | Spec::LogGroup(_)
            | Spec::LogSubscription(_)
            | Spec::LambdaPermission(_)
            | Spec::DomainName(_)
            | Spec::DnsRecord(_)
    )
}

fn learned(spec: &Spec, id: &str) -> Learned {
    let pairs: &[(&str, &str)] = match spec {
        Spec::Vpc(_) => &[
            ("owner_id", "123456789012"),
            ("cidr_block", "10.0.0.0/16"),
            ("default_route_table_id", "rtb-main"),
            ("default_network_acl_id", "acl-default"),
            ("default_security_group_id", "sg-default"),
        ],
        Spec::VpcIpv6Block(_) => &[("ipv6_cidr_block", "2001:db8:1234::/56")],
        Spec::Api(_) => &[("api_endpoint", "https://api.example.com"), ("resource", "http_gateway/front")],
        Spec::DomainName(_) => &[("target_domain_name", "d-1.example.com"), ("target_hosted_zone_id", "Z1")],
        _ => &[],
    };
    let mut learned: Learned = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    // The address belongs to the allocation, so that a NAT gateway shows that of its own.
    let address = match spec {
        Spec::Eip(_) => Some(id.to_string()),
        Spec::NatGateway(nat) => nat.allocation.as_ref().and_then(|it| it.known()).map(|it| match it {
            Ref::Key(key) => key.slot.clone(),
            Ref::Id(id) => id.clone(),
        }),
        _ => None,
    };
    learned.extend(address.map(|address| ("public_ip".to_string(), address)));
    learned
}

/// The inventory of private state, for a test that looks into it.
pub(crate) fn inventory(private: &[u8]) -> Inventory {
    super::private_state::Private::decode(private).expect("private state is readable").inventory
}
