//! What can happen in a life.

use super::host::Order;
use super::*;
use crate::model::{Key, TopologyKind};
use crate::topology::settings::is_valid;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axis {
    Changed,
    ReplacedByArgument,
    ReplacedOnRequest,
    Tainted,
    CreatedFirst,
    KeysRenamed,
    OffAndOn,
    PrivateLostBeforeRefresh,
    PrivateLostBeforePlan,
    PrivateLostBeforeDestroy,
    ReplacedWithoutPrivate,
    InUse,
    DestroyedInUse,
    TwoRoots,
    GroupOfAnother,
    FailedOnce,
    FailedCreate,
    Killed,
    CutOff,
    DestroyKilled,
    RootDeleted,
    ObjectDeleted,
}

impl Axis {
    pub(super) const ALL: [Axis; 22] = [
        Axis::Changed,
        Axis::ReplacedByArgument,
        Axis::ReplacedOnRequest,
        Axis::Tainted,
        Axis::CreatedFirst,
        Axis::KeysRenamed,
        Axis::OffAndOn,
        Axis::PrivateLostBeforeRefresh,
        Axis::PrivateLostBeforePlan,
        Axis::PrivateLostBeforeDestroy,
        Axis::ReplacedWithoutPrivate,
        Axis::InUse,
        Axis::DestroyedInUse,
        Axis::TwoRoots,
        Axis::GroupOfAnother,
        Axis::FailedOnce,
        Axis::FailedCreate,
        Axis::Killed,
        Axis::CutOff,
        Axis::DestroyKilled,
        Axis::RootDeleted,
        Axis::ObjectDeleted,
    ];
}

/// Two configurations that a plan accepts, each for a new resource, and the second one after the first.
pub(super) struct Pair {
    a: Value,
    b: Value,
    /// Whether a plan accepts the first one after the second one.
    returns: bool,
    /// The calls that create the first one.
    creates: Vec<String>,
    /// The calls that change the first one to the second one.
    changes: Vec<String>,
}

impl Pair {
    /// How many calls the change sends.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.changes.len()).expect("there are few")
    }

    /// `None` if a plan refuses the first configuration. If it refuses the second one, both are equal.
    pub(super) async fn of<P: Topology>(a: &Value, b: &Value) -> Result<Option<Pair>, Fault> {
        let mut life = new_life::<P>();
        if let Outcome::Refused(_) = life.apply(a).await? {
            return Ok(None);
        }
        let creates = life.take_calls();
        let is_refused = matches!(new_life::<P>().apply(b).await?, Outcome::Refused(_));
        let b = if is_refused || matches!(life.apply(b).await?, Outcome::Refused(_)) { a } else { b };
        let changes = life.take_calls();
        let returns = !matches!(life.apply(a).await?, Outcome::Refused(_));
        Ok(Some(Pair { a: a.clone(), b: b.clone(), returns, creates, changes }))
    }

    /// Whether the change replaces the root.
    fn replaces<P: Topology>(&self) -> bool {
        self.changes.contains(&format!("create {}", P::KIND.root()))
    }
}

fn new_life<P: Topology>() -> Life<P> {
    Life::on(Arc::new(Simulation::new(3)))
}

/// The slot of a call.
fn slot(call: &str) -> String {
    call.split_once(' ').map(|(_, slot)| slot.to_string()).unwrap_or_default()
}

fn pick(calls: &[String], number: u32) -> Option<String> {
    calls.get(number as usize % calls.len().max(1)).map(|call| slot(call))
}

/// One life. `number` chooses where several choices are possible.
pub(super) async fn live<P: Topology>(axis: Axis, pair: &Pair, number: u32) -> Result<(), Fault> {
    let Pair { a, b, returns, creates, changes } = pair;
    let mut life = new_life::<P>();
    if !matches!(axis, Axis::TwoRoots | Axis::GroupOfAnother | Axis::FailedCreate) {
        life.settle(a).await.map_err(|fault| format!("the create: {fault}"))?;
    }
    let other_choice = number >> 16 & 1 == 1;
    match axis {
        Axis::Changed => {
            life.settle(b).await?;
            if other_choice && *returns {
                life.settle(a).await?;
            }
        }
        Axis::ReplacedByArgument | Axis::ReplacedOnRequest | Axis::Tainted | Axis::CreatedFirst => {
            life.replaced(axis, a).await?;
        }
        Axis::ReplacedWithoutPrivate => {
            life.terraform.private = Vec::new();
            life.replaced(if other_choice { Axis::Tainted } else { Axis::ReplacedOnRequest }, a).await?;
        }
        Axis::KeysRenamed => life.keys_renamed(a).await?,
        Axis::OffAndOn => {
            let off = without_optional_parts(a);
            if is_valid::<P>(&off) && !matches!(life.apply(&off).await?, Outcome::Refused(_)) {
                life.settle(a).await?;
            }
        }
        Axis::PrivateLostBeforeRefresh => {
            life.terraform.private = Vec::new();
            life.settle(b).await?;
        }
        Axis::PrivateLostBeforePlan => {
            life.refresh().await?;
            life.terraform.private = Vec::new();
            if let Outcome::Refused(diagnostics) = life.apply_unrefreshed(b).await? {
                return Err(format!("the plan is refused: {diagnostics:?}"));
            }
            life.settle(b).await?;
        }
        Axis::PrivateLostBeforeDestroy => {
            life.terraform.private = Vec::new();
            if other_choice {
                life.refresh().await?;
            }
        }
        Axis::InUse if !pair.replaces::<P>() => life.used_by_others(pair, other_choice && *returns).await?,
        Axis::InUse => {}
        Axis::DestroyedInUse => life.destroyed_in_use(number).await?,
        Axis::TwoRoots => return two_roots(life, a, number).await,
        Axis::GroupOfAnother => return group_of_another(life, a, other_choice).await,
        Axis::FailedOnce => {
            let Some(slot) = pick(changes, number) else { return Ok(()) };
            life.account().failing.lock().unwrap().push(slot.clone());
            life.apply(b).await?;
            life.account().failing.lock().unwrap().clear();
            let (next, what) = if other_choice && *returns { (a, "taken back") } else { (b, "applied again") };
            life.settle(next).await.map_err(|fault| format!("{slot} fails, and the change is {what}: {fault}"))?;
        }
        Axis::FailedCreate => {
            let Some(slot) = pick(creates, number) else { return Ok(()) };
            life.account().failing.lock().unwrap().push(slot.clone());
            life.apply(a).await?;
            life.account().failing.lock().unwrap().clear();
            let named = |fault| format!("the create of {slot} fails: {fault}");
            if other_choice && !life.terraform.state.is_null() {
                life.replaced(Axis::Tainted, a).await.map_err(named)?;
            } else {
                life.settle(a).await.map_err(named)?;
            }
        }
        Axis::Killed if !pair.replaces::<P>() && !changes.is_empty() => {
            let calls = 1 + number as usize % changes.len();
            life.kill(Some(b), calls).await?;
            life.settle(b).await.map_err(|fault| format!("killed after {calls} of {changes:?}: {fault}"))?;
        }
        Axis::CutOff if !pair.replaces::<P>() && !changes.is_empty() => {
            let calls = number as usize % changes.len();
            life.cut_off(b, calls).await?;
            life.settle(b).await.map_err(|fault| format!("cut off after {calls} of {changes:?}: {fault}"))?;
        }
        Axis::Killed | Axis::CutOff => {}
        Axis::DestroyKilled => {
            let calls = 1 + number as usize % creates.len();
            life.kill(None, calls).await?;
            life.refresh().await?;
            if other_choice {
                life.settle(a).await.map_err(|fault| format!("killed after {calls} deletions: {fault}"))?;
            }
        }
        Axis::RootDeleted => {
            life.account().delete_root_outside();
            life.settle(a).await?;
        }
        Axis::ObjectDeleted => {
            let kinds = ["nat_gateway.", "log_group", "flow_log.", "interface_endpoint.", "api_mapping", "dns_record"];
            let mut slots = life.account().slots();
            slots.retain(|slot| kinds.iter().any(|kind| slot.starts_with(kind)));
            let Some(slot) = slots.get(number as usize % slots.len().max(1)) else { return Ok(()) };
            life.account().delete_outside(slot);
            life.settle(a).await.map_err(|fault| format!("a person deletes {slot}: {fault}"))?;
        }
    }
    life.end().await
}

/// The configuration with another value of an argument that replaces the resource.
fn with_forced_argument(config: &Value) -> Value {
    let mut config = config.clone();
    let is_dedicated = *config.get("tenancy") == "dedicated".into();
    config.set("tenancy", if is_dedicated { Value::Null } else { "dedicated".into() });
    config
}

/// Names whose entries have free keys, with the attribute of an entry that is its key by default.
const MAPS: [(&str, Option<&str>); 5] = [
    ("flow_logs", None),
    ("interface_endpoints", Some("service")),
    ("vpc_links", Some("name")),
    ("faas_authorizers", None),
    ("jwt_authorizers", None),
];

/// The configuration with other keys in all maps with free keys. Without `renames`, it only writes what follows from
/// the keys.
fn with_other_keys(config: &Value, renames: bool) -> Value {
    let other = |key: &str| if renames { format!("{key}2") } else { key.to_string() };
    let mut config = config.clone();
    for (name, default) in MAPS {
        let Some(entries) = config.get(name).as_map() else { continue };
        let entries = entries.iter().map(|(key, entry)| {
            let mut entry = entry.clone();
            match default {
                Some(attribute) if entry.get(attribute).is_null() && entry.get("service_name").is_null() => {
                    entry.set(attribute, key.as_str().into());
                }
                _ => {}
            }
            (other(key), entry)
        });
        config.set(name, Value::map(entries.collect::<Vec<_>>()));
    }
    let renamed = |value: &Value| value.as_str().map_or(Value::Null, |key| other(key).into());
    if !config.get("default_authorizer_name").is_null() {
        config.set("default_authorizer_name", renamed(config.get("default_authorizer_name")));
    }
    if let Some(routes) = config.get("route_config").as_map() {
        let routes = routes.iter().map(|(key, route)| {
            let mut route = route.clone();
            for name in ["authorizer_name", "vpc_link"] {
                route.set(name, renamed(route.get(name)));
            }
            (key.clone(), route)
        });
        config.set("route_config", Value::map(routes.collect::<Vec<_>>()));
    }
    config
}

fn without_optional_parts(config: &Value) -> Value {
    let mut config = config.clone();
    let others = ["flow_logs", "interface_endpoints", "domain_name", "domain_ip_address_type", "create_dns_entry"];
    let is_optional = |name: &str| name.starts_with("access_log_log") || others.contains(&name);
    let set: Vec<String> = config.as_map().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for name in set.iter().filter(|name| is_optional(name)) {
        config.set(name, Value::Null);
    }
    config
}

impl<P: Topology> Life<P> {
    async fn replaced(&mut self, axis: Axis, config: &Value) -> Result<(), Fault> {
        let mut config = config.clone();
        if axis == Axis::ReplacedByArgument && P::KIND == TopologyKind::HttpGateway {
            return self.replaced_in_another_region(&config).await;
        }
        if axis == Axis::ReplacedByArgument {
            config = with_forced_argument(&config);
            return if is_valid::<P>(&config) { self.settle(&config).await } else { Ok(()) };
        }
        if axis == Axis::CreatedFirst {
            // The docs tell to set it before.
            config.set("allow_duplicate_name", true.into());
            self.settle(&config).await?;
        }
        self.refresh().await?;
        let order = if axis == Axis::CreatedFirst { Order::CreateFirst } else { Order::DestroyFirst };
        let private = match axis {
            Axis::Tainted => Vec::new(),
            _ => self.terraform.plan(&config).await.private,
        };
        match self.replace(&config, private, order).await? {
            Outcome::Done => self.settle(&config).await,
            // A name that only one root can have.
            Outcome::Refused(_) if axis == Axis::CreatedFirst && has_exclusive_group::<P>(&config) => Ok(()),
            Outcome::Refused(diagnostics) => Err(format!("the plan is refused: {diagnostics:?}")),
            Outcome::Failed(diagnostics) => Err(format!("it fails: {diagnostics:?}")),
        }
    }

    async fn replaced_in_another_region(&mut self, config: &Value) -> Result<(), Fault> {
        let (here, there) = (self.account().clone(), Arc::new(Simulation::new(3).at("123456789012", "eu-west-1")));
        let other: SharedCloud = there.clone();
        let regions = Regions::new(here.clone(), move |_| other.clone());
        self.terraform.resource.connection.set(Connected::Ready(regions));
        let mut config = config.clone();
        config.set("region", "eu-west-1".into());
        // Inputs that name objects of the old Region.
        if let Outcome::Refused(_) = self.apply(&config).await? {
            return Ok(());
        }
        let left = here.slots();
        if !left.is_empty() {
            return Err(format!("in the old Region, there are still {left:?}"));
        }
        self.terraform.account = there;
        self.settle(&config).await
    }

    async fn keys_renamed(&mut self, config: &Value) -> Result<(), Fault> {
        let (before, after) = (with_other_keys(config, false), with_other_keys(config, true));
        if !is_valid::<P>(&before) || !is_valid::<P>(&after) {
            return Ok(());
        }
        self.settle(&before).await?;
        self.take_calls();
        if let Outcome::Refused(diagnostics) = self.apply(&after).await? {
            return Err(format!("the plan is refused: {diagnostics:?}"));
        }
        let calls = self.take_calls();
        let others: Vec<&String> =
            calls.iter().filter(|call| !["update ", "rename "].iter().any(|verb| call.starts_with(verb))).collect();
        if !others.is_empty() {
            return Err(format!("other keys send {others:?}"));
        }
        self.settle(&after).await
    }

    /// Others use what the change deletes.
    async fn used_by_others(&mut self, pair: &Pair, is_taken_back: bool) -> Result<(), Fault> {
        let deleted = pair.changes.iter().filter_map(|call| call.strip_prefix("delete "));
        let is_output = |slot: &&str| ["subnet.", "vpc_link.", "security_group."].iter().any(|it| slot.starts_with(it));
        let used: Vec<String> = deleted.filter(is_output).map(str::to_string).collect();
        if used.is_empty() {
            return Ok(());
        }
        self.account().in_use.lock().unwrap().clone_from(&used);
        let changed = self.apply(&pair.b).await?;
        let next = match changed {
            Outcome::Failed(diagnostics) => return Err(format!("{used:?} are in use: {diagnostics:?}")),
            Outcome::Refused(_) => &pair.a,
            Outcome::Done if is_taken_back => &pair.a,
            Outcome::Done => {
                // What used an object in use only until this apply, such as the NAT gateway in its subnet, goes next.
                self.settle(&pair.b).await.map_err(|fault| format!("{used:?} stay in use: {fault}"))?;
                &pair.b
            }
        };
        if is_taken_back {
            self.settle(next).await.map_err(|fault| format!("{used:?} are in use, and taken back: {fault}"))?;
        }
        self.account().in_use.lock().unwrap().clear();
        self.settle(next).await.map_err(|fault| format!("{used:?} were in use: {fault}"))
    }

    /// A destroy while others use an object deletes nothing.
    async fn destroyed_in_use(&mut self, number: u32) -> Result<(), Fault> {
        let slots = self.account().slots();
        let subnets: Vec<&String> = slots.iter().filter(|slot| slot.starts_with("subnet.")).collect();
        let Some(used) = subnets.get(number as usize % subnets.len().max(1)) else { return Ok(()) };
        self.account().in_use.lock().unwrap().push(used.to_string());
        if let Outcome::Done = self.destroy().await? {
            return Err(format!("the destroy succeeds although {used} is in use"));
        }
        let deleted: Vec<String> =
            self.take_calls().into_iter().filter(|call| !call.ends_with(used.as_str())).collect();
        self.account().in_use.lock().unwrap().clear();
        match deleted.is_empty() {
            true => Ok(()),
            false => Err(format!("{used} is in use, and the destroy sends {deleted:?}")),
        }
    }
}

/// Whether the configuration has a log group that no other root can have.
fn has_exclusive_group<P: Topology>(config: &Value) -> bool {
    groups::<P>(config).values().any(|group| !group.keeps)
}

/// Two roots of one configuration.
async fn two_roots<P: Topology>(mut first: Life<P>, config: &Value, number: u32) -> Result<(), Fault> {
    let mut config = config.clone();
    config.set("allow_duplicate_name", (number & 1 == 1).into());
    first.settle(&config).await?;
    let mut second = Life::<P>::on(Arc::new(first.account().for_another_root()));
    (first.sibling, second.sibling) = (Some(second.account().clone()), Some(first.account().clone()));
    let outcome = second.apply(&config).await?;
    if let Outcome::Failed(diagnostics) = &outcome {
        let calls = second.take_calls();
        if !calls.is_empty() {
            return Err(format!("the second root fails after {calls:?}: {diagnostics:?}"));
        }
    }
    let may_share = number & 1 == 1 && !has_exclusive_group::<P>(&config);
    if may_share && !matches!(outcome, Outcome::Done) {
        return Err("the second root may use the groups of the first one, and is refused".into());
    }
    let exists = matches!(outcome, Outcome::Done);
    if exists {
        second.settle(&config).await?;
    }
    first.assert_quiet(&config).await.map_err(|fault| format!("the second root changes the first one: {fault}"))?;
    let (mut earlier, mut later) = if number & 2 == 2 { (first, second) } else { (second, first) };
    if !earlier.terraform.state.is_null() && !matches!(earlier.destroy().await?, Outcome::Done) {
        return Err("the first destroy fails".into());
    }
    if !later.terraform.state.is_null() {
        later.settle(&config).await.map_err(|fault| format!("the other root is destroyed: {fault}"))?;
        return later.end().await;
    }
    Ok(())
}

/// Foreign log groups have these names: equal ones, or with another retention.
async fn group_of_another<P: Topology>(mut life: Life<P>, config: &Value, is_equal: bool) -> Result<(), Fault> {
    let all = groups::<P>(config);
    for (name, group) in &all {
        let retention: Option<i64> = if is_equal { None } else { Some(30) };
        let spec = LogGroup { name: name.clone().into(), retention_in_days: retention.into(), ..LogGroup::test() };
        let key = Key::fixed(group.slot.clone(), Input::Known(name.clone()));
        life.account().create_group(key, spec.clone(), None);
        life.foreign.insert(name.clone(), spec);
    }
    match life.apply(config).await? {
        Outcome::Done => life.settle(config).await?,
        Outcome::Refused(diagnostics) if is_equal && all.values().all(|it| it.keeps && it.is_plain) => {
            return Err(format!("equal groups are not used: {diagnostics:?}"));
        }
        Outcome::Refused(_) => return life.check_end(),
        Outcome::Failed(diagnostics) => {
            let calls = life.take_calls();
            return Err(format!("it fails after {calls:?}: {diagnostics:?}"));
        }
    }
    life.end().await
}
