//! Lives of topologies: any two configurations, and what happens between them. Nothing that a setting keeps is lost,
//! nothing foreign is touched, two applies are enough, and a destroy leaves only what is kept.

mod axes;
mod host;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::properties::some_network;
use super::*;
use crate::model::LogGroup;
use crate::plugin::Number;
use crate::plugin::schema::with_defaults;
use axes::{Axis, Pair, live};

/// What must not happen, as a sentence.
type Fault = String;

/// A resource through its life.
struct Life<P: Topology> {
    terraform: Terraform<P>,
    /// The configurations that the state may have: the last one that was applied in full, and later ones.
    in_force: Vec<Value>,
    /// All configurations that were applied.
    applied: Vec<Value>,
    /// The ids of the roots that the resource had.
    roots: BTreeSet<String>,
    /// The foreign log groups, as they were.
    foreign: BTreeMap<String, LogGroup>,
    /// The place of another root in the same account.
    sibling: Option<Arc<Simulation>>,
}

/// What came of a change.
enum Outcome {
    /// The plan refused it.
    Refused(Diagnostics),
    Failed(Diagnostics),
    Done,
}

/// A log group that a configuration creates.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    slot: String,
    keeps: bool,
    /// Whether its retention and its key are those of a new group.
    is_plain: bool,
}

/// The log groups that a configuration creates, by name.
fn groups<P: Topology>(config: &Value) -> BTreeMap<String, Group> {
    let config = with_defaults(&P::Config::attributes(), config);
    let mut groups = BTreeMap::new();
    let mut add = |slot: String, object: &Value, name: &str, [keeps, retention, key]: [&str; 3]| {
        let is_plain = matches!(object.get(retention), Value::Null | Value::Number(Number::Int(0)));
        let is_plain = is_plain && object.get(key).is_null();
        if let Some(name) = object.get(name).as_str() {
            groups.insert(name.to_string(), Group { slot, keeps: *object.get(keeps) == true.into(), is_plain });
        }
    };
    let of_gateway =
        ["skip_destroy", "retention_in_days", "kms_key_id"].map(|it| format!("access_log_logservice_group_{it}"));
    let of_gateway = of_gateway.each_ref().map(String::as_str);
    add("log_group".into(), &config, "access_log_logservice_group_name", of_gateway);
    for (key, log) in config.get("flow_logs").as_map().into_iter().flatten() {
        let of_log = ["log_group_skip_destroy", "retention_in_days", "kms_key_id"];
        add(format!("log_group.flow_log.{key}"), log, "log_group_name", of_log);
    }
    groups
}

impl<P: Topology> Life<P> {
    fn on(account: Arc<Simulation>) -> Life<P> {
        let (in_force, applied) = (Vec::new(), Vec::new());
        let (roots, foreign) = (BTreeSet::new(), BTreeMap::new());
        Life { terraform: Terraform::on(account), in_force, applied, roots, foreign, sibling: None }
    }

    /// Asserts that no event is lost that a setting keeps, and that nothing foreign changes.
    fn check(&mut self) -> Result<(), Fault> {
        self.roots.extend(self.terraform.state.get("id").as_str().map(str::to_string));
        for name in self.terraform.account.take_deleted_groups() {
            let settings = self.in_force.iter().filter_map(|config| groups::<P>(config).remove(&name));
            let settings: Vec<bool> = settings.map(|group| group.keeps).collect();
            if !settings.is_empty() && settings.iter().all(|keeps| *keeps) {
                return Err(format!("the events of {name} are lost, although the configuration keeps them"));
            }
        }
        let owners = self.terraform.account.owners_of_groups();
        for (name, spec) in &self.foreign {
            let (now, owner) = (self.terraform.account.group(name), owners.get(name).cloned().flatten());
            if now.as_ref() != Some(spec) || owner.is_some() {
                return Err(format!("the foreign {name} is changed: {now:?} of {owner:?}"));
            }
        }
        if let Some(sibling) = &self.sibling {
            self.terraform.account.share_groups_with(sibling);
        }
        Ok(())
    }

    /// Asserts that a destroyed resource has left only what a configuration keeps.
    fn check_end(&mut self) -> Result<(), Fault> {
        self.check()?;
        let left = self.terraform.account.slots();
        if !left.is_empty() {
            return Err(format!("after the destroy, there are still {left:?}"));
        }
        let keeps = |config: &Value, name: &String| groups::<P>(config).get(name).is_some_and(|group| group.keeps);
        let kept = |name: &String| self.applied.iter().any(|config| keeps(config, name));
        for (name, owner) in self.terraform.account.owners_of_groups() {
            let is_of_others = owner.as_ref().is_some_and(|owner| !self.roots.contains(&owner.id));
            if !is_of_others && !kept(&name) && !self.foreign.contains_key(&name) {
                return Err(format!("after the destroy, there is still {name} with the owner {owner:?}"));
            }
        }
        Ok(())
    }
}

/// Runs a life on a paused clock.
fn run<T>(life: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(life)
}

fn check_lives<P: Topology>(a: &Value, b: &Value, number: u32) {
    let Some(pair) = run(Pair::of::<P>(a, b)).unwrap_or_else(|fault| panic!("{fault}")) else { return };
    for axis in Axis::ALL {
        run(live::<P>(axis, &pair, number)).unwrap_or_else(|fault| panic!("{axis:?}: {fault}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_network_lives_through_everything(a in some_network(), b in some_network(), number in any::<u32>()) {
        check_lives::<FourTierVpc>(&a, &b, number);
    }

    #[test]
    fn any_gateway_lives_through_everything(
        a in domains::some_gateway(), b in domains::some_gateway(), number in any::<u32>()
    ) {
        check_lives::<HttpGateway>(&a, &b, number);
    }
}

/// Asserts that the same run completes what another one has left after each of its calls: one that was killed, so that
/// Terraform has the state from before, and one that returned its state.
fn check_kills<P: Topology>(a: &Value, b: &Value) {
    let pair = run(Pair::of::<P>(a, b)).unwrap_or_else(|fault| panic!("{fault}")).expect("a plan accepts both");
    assert!(pair.count() > 0, "the change sends calls");
    for number in 0..pair.count() {
        for axis in [Axis::Killed, Axis::CutOff] {
            run(live::<P>(axis, &pair, number)).unwrap_or_else(|fault| panic!("{axis:?} {number}: {fault}"));
        }
    }
}

#[test]
fn an_authorizer_moves_to_the_other_map_in_a_killed_run() {
    let of = |faas: &[(&str, Value)], jwt: &[(&str, Value)]| {
        let jwt = ("jwt_authorizers", Value::map(jwt.iter().cloned()));
        gateway(&[("GET /a", route("a", Some("users")))], faas, &[jwt])
    };
    let (function, tokens) = (("users", authorizer("guard")), ("users", jwt_authorizer("https://id.example.com")));
    check_kills::<HttpGateway>(&of(&[], std::slice::from_ref(&tokens)), &of(std::slice::from_ref(&function), &[]));
    check_kills::<HttpGateway>(&of(&[function], &[]), &of(&[], &[tokens]));
}

#[test]
fn a_tier_that_takes_the_place_of_another_one_survives_a_kill() {
    let tiers = |app: bool, persistence: bool| {
        network(&[
            ("create_private_app_subnets", app.into()),
            ("create_private_persistence_subnets", persistence.into()),
            ("private_subnet_bits", 4_i64.into()),
            ("subnet_spacing", 6_i64.into()),
            ("num_nat_gateways", 0_i64.into()),
        ])
    };
    check_kills::<FourTierVpc>(&tiers(false, true), &tiers(true, false));
    check_kills::<FourTierVpc>(&tiers(true, false), &tiers(false, true));
}

/// A network of few objects.
fn small(pairs: &[(&str, Value)]) -> Value {
    let few = [
        ("num_availability_zones", 1_i64.into()),
        ("num_nat_gateways", 0_i64.into()),
        ("create_public_subnets", false.into()),
        ("create_vpc_endpoints", false.into()),
    ];
    network(&[few.as_slice(), pairs].concat())
}

#[test]
fn kills_of_a_switch_of_endpoints_lead_on() {
    let endpoint = |pairs: &[(&str, Value)]| Value::map(pairs.iter().cloned());
    let with = |endpoints: &[(&str, Value)]| {
        let endpoints = Value::map(endpoints.iter().cloned());
        small(&[("interface_endpoints", endpoints), ("enable_dns_hostnames", true.into())])
    };
    let before = with(&[("kms", endpoint(&[])), ("sts", endpoint(&[("allowed_ports", vec![443_i64, 8443].into())]))]);
    let after = with(&[
        ("kms", endpoint(&[("subnet_tier", "private_persistence".into()), ("private_dns_enabled", false.into())])),
        ("keys", endpoint(&[("service", "kms".into())])),
    ]);
    check_kills::<FourTierVpc>(&before, &after);
    check_kills::<FourTierVpc>(&after, &before);
}

/// AWS takes no IPv6 block from a subnet in which an endpoint has an address of it.
#[test]
fn kills_of_a_switch_of_ipv6_endpoints_lead_on() {
    let with = |kind: &str, pairs: &[(&str, Value)]| {
        let endpoint = Value::map([("ip_address_type", Value::from(kind))]);
        let endpoints = ("interface_endpoints", Value::map([("kms", endpoint)]));
        small(&[pairs, &[endpoints, ("enable_dns_hostnames", true.into())]].concat())
    };
    let tiers = || Value::from(vec!["private_app"]);
    let ipv6 = [
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("ipv6_subnet_tiers", tiers()),
        ("assign_ipv6_address_on_creation_tiers", tiers()),
    ];
    let (before, after) = (with("ipv4", &[]), with("dualstack", &ipv6));
    check_kills::<FourTierVpc>(&before, &after);
    check_kills::<FourTierVpc>(&after, &before);
}

#[test]
fn kills_of_a_switch_of_logs_lead_on() {
    let with = |logs: &[(&str, Value)]| small(&[("flow_logs", Value::map(logs.iter().cloned()))]);
    let role = ("iam_role_arn", Value::from("arn:aws:iam::123456789012:role/flow"));
    let to_group =
        |kind: &str| Value::map([("log_group_name", "/net".into()), role.clone(), ("traffic_type", kind.into())]);
    let to_bucket = |kind: &str| {
        let (s3, bucket) = ("s3".into(), "arn:aws:s3:::logs".into());
        Value::map([("log_destination_type", s3), ("log_destination", bucket), ("traffic_type", kind.into())])
    };
    let before = with(&[("group", to_group("ALL")), ("bucket", to_bucket("ACCEPT"))]);
    let after = with(&[("group", to_group("REJECT")), ("bucket", to_bucket("REJECT")), ("all", to_bucket("ALL"))]);
    check_kills::<FourTierVpc>(&before, &after);
    check_kills::<FourTierVpc>(&after, &before);
    check_kills::<FourTierVpc>(&with(&[]), &after);
}

#[test]
fn kills_of_a_switch_of_ipv6_lead_on() {
    let with = |pairs: &[(&str, Value)]| {
        let public = [
            ("create_public_subnets", true.into()),
            ("num_nat_gateways", 1_i64.into()),
            ("num_availability_zones", 1_i64.into()),
            ("create_vpc_endpoints", false.into()),
        ];
        network(&[public.as_slice(), pairs].concat())
    };
    let dual = |tiers: &[&str]| {
        let names = || Value::from(tiers.to_vec());
        with(&[
            ("enable_ipv6", true.into()),
            ("assign_generated_ipv6_cidr_block", true.into()),
            ("ipv6_subnet_tiers", names()),
            ("assign_ipv6_address_on_creation_tiers", names()),
        ])
    };
    let (plain, all) = (with(&[]), dual(&["public", "private_app", "private_persistence"]));
    check_kills::<FourTierVpc>(&plain, &all);
    check_kills::<FourTierVpc>(&all, &plain);
    check_kills::<FourTierVpc>(&dual(&["public"]), &dual(&["private_app"]));
}
