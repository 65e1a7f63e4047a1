//! Sequences of random configurations.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::topology::four_tier_vpc::settings as of_network;
use crate::topology::http_gateway::settings as of_gateway;
use crate::topology::settings::{assert_every_setting_is_drawn, with_settings};

/// The Region of the simulated account.
const PLACE: of_network::Place = of_network::Place {
    region: "us-east-1",
    zone_ids: ["use1-az1", "use1-az2", "use1-az3"],
    zone_names: ["us-east-1a", "us-east-1b", "us-east-1c"],
};

/// A random network. Every input takes several values.
pub(super) fn some_network() -> impl Strategy<Value = Value> {
    with_settings::<FourTierVpc>(some_basic_network(), of_network::settings(&PLACE))
}

/// A random gateway without a domain, unless a setting adds one. Every input takes several values.
pub(super) fn some_gateway() -> impl Strategy<Value = Value> {
    with_settings::<HttpGateway>(some_basic_gateway(), of_gateway::settings(PLACE.region))
}

#[test]
fn every_setting_of_a_network_is_drawn() {
    assert_every_setting_is_drawn::<FourTierVpc>(some_network(), &of_network::EXCEPT);
}

#[test]
fn every_setting_of_a_gateway_is_drawn() {
    assert_every_setting_is_drawn::<HttpGateway>(some_gateway(), &of_gateway::EXCEPT);
}

/// The same without these settings, of which some have no effect.
pub(super) fn some_basic_network() -> impl Strategy<Value = Value> {
    let extras = proptest::array::uniform6(prop::bool::weighted(0.4));
    let logs = proptest::array::uniform2(prop::option::weighted(0.3, 0..4_usize));
    let endpoints = proptest::array::uniform2(prop::option::weighted(0.3, 0..ENDPOINTS));
    let choices = (0..3_i64, 0..4_usize, logs, endpoints, some_tiers_with_ipv6(), 0..5_usize);
    (some_plain_network(), extras, choices).prop_map(
        |(mut config, extras, (secondary, layout, logs, endpoints, tiers, ranges))| {
            let layouts: [&[(&str, &str)]; 4] = [
                &[],
                &[("private_app", "per_tier")],
                &[("private_persistence", "per_tier")],
                &[("private_app", "per_tier"), ("private_persistence", "private_app")],
            ];
            let entries = layouts[layout].iter().map(|(tier, layout)| (*tier, Value::from(*layout)));
            config.set("route_table_layout", Value::map(entries));
            if layout == 3 {
                config.set("create_private_app_subnets", true.into());
                config.set("allow_private_persistence_internet_access", true.into());
            }
            let [ipv6, addresses, private, acl, pool, propagates] = extras;
            if ipv6 {
                config.set("enable_ipv6", true.into());
                config.set("assign_generated_ipv6_cidr_block", true.into());
                set_tiers_with_ipv6(&mut config, tiers, addresses);
                config.set("ipv6_subnet_bits", (if acl { 4_i64 } else { 8 }).into());
            }
            if private {
                config.set("enable_private_nat", true.into());
                config.set("nat_secondary_private_ip_address_count", secondary.into());
            }
            if acl {
                config.set("apply_default_nacl_rules", true.into());
                config.set("associate_default_nacl_to_subnets", addresses.into());
            }
            if pool {
                config.set("cidr_block", Value::Null);
                config.set("ipv4_ipam_pool_id", "ipam-pool-1".into());
            }
            if secondary == 1 {
                allow_only_ipv4(&mut config);
            }
            if propagates {
                config.set("private_propagating_vgws", vec!["vgw-2", "vgw-1"].into());
            }
            set_ranges(&mut config, ranges);
            let logs =
                ["a", "b"].into_iter().zip(logs).filter_map(|(name, kind)| Some((name, some_flow_log(name, kind?))));
            config.set("flow_logs", Value::map(logs));
            let tier = ["private_app", "private_persistence"]
                .into_iter()
                .find(|tier| is_on(&config, &format!("create_{tier}_subnets")));
            let endpoints = ["kms", "s3"].into_iter().zip(endpoints);
            let endpoints =
                endpoints.filter_map(|(name, kind)| Some((name, some_endpoint(&config, tier?, name, kind?))));
            config.set("interface_endpoints", Value::map(endpoints.collect::<Vec<_>>()));
            config
        },
    )
}

/// The position of a set in [`TIERS_WITH_IPV6`], and whether there is an egress-only internet gateway.
fn some_tiers_with_ipv6() -> impl Strategy<Value = (usize, Option<bool>)> {
    (0..TIERS_WITH_IPV6.len(), prop::option::of(any::<bool>()))
}

const TIERS_WITH_IPV6: [&[&str]; 5] = [
    &["public"],
    &[],
    &["private_app"],
    &["private_app", "public"],
    &["private_app", "private_persistence", "public", "transit"],
];

fn set_tiers_with_ipv6(config: &mut Value, (tiers, gateway): (usize, Option<bool>), have_addresses: bool) {
    let tiers = TIERS_WITH_IPV6[tiers];
    config.set("ipv6_subnet_tiers", tiers.to_vec().into());
    config.set("create_egress_only_igw", Value::from(gateway));
    match tiers {
        ["public"] => config.set("assign_ipv6_address_on_creation", have_addresses.into()),
        _ if have_addresses => config.set("assign_ipv6_address_on_creation_tiers", tiers.to_vec().into()),
        _ => {}
    }
}

/// Sets one of several sets of secondary ranges, with and without a subnet in them.
fn set_ranges(config: &mut Value, choice: usize) {
    let ranges: [&[&str]; 5] = [&[], &[], &["100.64.0.0/16"], &["100.66.0.0/17", "100.65.0.0/16"], &["100.64.0.0/16"]];
    config.set("secondary_cidr_blocks", ranges[choice].to_vec().into());
    if choice >= 3 {
        let block = if choice == 3 { "100.65.0.0/24" } else { "100.64.128.0/24" };
        config.set("private_persistence_subnet_cidr_blocks", Value::map([("AZ-0", block.into())]));
    }
}

fn is_on(config: &Value, switch: &str) -> bool {
    *config.get(switch) == Value::Bool(true)
}

/// The number of endpoints that [`some_endpoint`] can return.
const ENDPOINTS: usize = 3 * 3 * 2;

/// An endpoint with private names, without them, or with what follows from the network; with the shared group, its own
/// one, or a given one; and with IPv4 addresses, or those that AWS chooses. IPv6 addresses would forbid most changes of
/// the blocks of its subnets.
fn some_endpoint(config: &Value, tier: &str, name: &str, kind: usize) -> Value {
    let (names, group, addresses) = (kind % 3, kind / 3 % 3, kind / 9);
    let has_gateway = name != "s3" || is_on(config, "create_vpc_endpoints");
    let has_names = match names {
        0 if has_gateway => Value::Null,
        1 => (is_on(config, "enable_dns_hostnames") && has_gateway).into(),
        _ => false.into(),
    };
    let mut endpoint = Value::map([("subnet_tier", Value::from(tier)), ("private_dns_enabled", has_names)]);
    if addresses == 1 {
        endpoint.set("ip_address_type", "ipv4".into());
    }
    match group {
        0 => {}
        1 => endpoint.set("allowed_ports", Value::List(vec![80_i64.into(), 443_i64.into()])),
        _ => endpoint.set("security_group_ids", vec!["sg-1"].into()),
    }
    endpoint
}

/// A flow log to a log group or a bucket of its own, with one of two intervals.
fn some_flow_log(name: &str, kind: usize) -> Value {
    let interval = ("max_aggregation_interval", if kind.is_multiple_of(2) { 60_i64 } else { 600 }.into());
    match kind / 2 {
        0 => Value::map([
            interval,
            ("log_group_name", format!("/net/{name}").into()),
            ("log_group_skip_destroy", false.into()),
            ("iam_role_arn", "arn:aws:iam::123456789012:role/flow".into()),
        ]),
        _ => Value::map([
            interval,
            ("log_destination_type", "s3".into()),
            ("log_destination", format!("arn:aws:s3:::{name}").into()),
        ]),
    }
}

/// Sets the rules that AWS creates in a VPC without IPv6. AWS adds rules to them when a range is associated.
pub(super) fn allow_only_ipv4(config: &mut Value) {
    let rule = |pairs: &[(&str, Value)]| {
        let all = [("protocol", Value::from("-1")), ("from_port", 0_i64.into()), ("to_port", 0_i64.into())];
        Value::map([("all", Value::map(all.into_iter().chain(pairs.iter().cloned())))])
    };
    let group = rule(&[("cidr_blocks", vec!["0.0.0.0/0"].into())]);
    let acl = [("cidr_block", "0.0.0.0/0".into()), ("rule_no", 100_i64.into()), ("action", "allow".into())];
    config.set("default_security_group_egress_rules", group);
    config.set("default_nacl_ingress_rules", rule(&acl));
    config.set("default_nacl_egress_rules", rule(&acl));
}

fn some_plain_network() -> impl Strategy<Value = Value> {
    let switches = proptest::array::uniform10(prop::bool::weighted(0.75));
    let entry = prop::option::weighted(0.4, prop::sample::select(vec!["10.0.240.0/24", "10.0.0.0/24", "10.0.4.0/22"]));
    let tiers = proptest::array::uniform4(prop::option::weighted(0.2, any::<[bool; 3]>()));
    (switches, 0..4_i64, 1..4_i64, 4..7_i64, (any::<bool>(), entry), 0..3_i64, tiers).prop_map(
        |(switches, nats, zones, bits, (host, entry), tag, tiers)| {
            let [public, app, persistence, transit, igw, endpoints, shared, app_out, group, dns] = switches;
            let mut config = network(&[
                ("create_public_subnets", public.into()),
                ("create_private_app_subnets", app.into()),
                ("create_private_persistence_subnets", persistence.into()),
                ("create_transit_subnets", transit.into()),
                ("create_igw", igw.into()),
                ("create_vpc_endpoints", endpoints.into()),
                ("one_route_table_public_subnets", shared.into()),
                ("allow_private_persistence_internet_access", app_out.into()),
                ("enable_default_security_group", group.into()),
                ("enable_dns_hostnames", dns.into()),
                ("map_public_ip_on_launch", host.into()),
                ("num_nat_gateways", nats.into()),
                ("num_availability_zones", zones.into()),
                ("private_subnet_bits", bits.into()),
            ]);
            if let Some(block) = entry {
                config.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from(block))]));
            }
            let tiers = ["public", "private_app", "private_persistence", "transit"].into_iter().zip(tiers);
            let lists = tiers.filter_map(|(tier, listed)| Some((tier, listed_zones(listed?, zones)?)));
            config.set("tier_availability_zone_ids", Value::map(lists));
            if tag > 0 {
                config.set("custom_tags", Value::map([("team", Value::from(format!("team-{tag}")))]));
                config.set("name_tags", Value::map([(format!("subnet.public.{tag}"), Value::from("single"))]));
            }
            config
        },
    )
}

/// The selected ones of the first AZs; `None` if none is selected.
fn listed_zones(listed: [bool; 3], zones: i64) -> Option<Value> {
    let ids = (1..=zones).zip(listed).filter(|(_, is_listed)| *is_listed).map(|(number, _)| format!("use1-az{number}"));
    let ids: Vec<String> = ids.collect();
    (!ids.is_empty()).then(|| ids.into())
}

/// Settings of routes: the rate, and whether there are metrics.
const SETTINGS: [(Option<f64>, Option<bool>); 5] =
    [(Some(10.0), None), (Some(0.1), None), (None, Some(true)), (Some(10.0), Some(true)), (None, Some(false))];

/// A route to one of three functions, two endpoints, two private ones or a queue, of which each has two forms.
fn some_target(number: usize, is_newer: bool) -> Value {
    let function_name = ["a", "b", "c", "a"][number.min(3)];
    let mut route = route(function_name, None);
    let one_of = |one: &str, other: &str| Value::from(if is_newer { one } else { other });
    let code = |names: &[&str]| Value::map(names.iter().map(|name| (*name, Value::from("x"))));
    match number {
        0..3 if is_newer => route.set("payload_format_version", "2.0".into()),
        0..3 => {}
        3 if is_newer => route.set("credentials_arn", "arn:aws:iam::123456789012:role/caller".into()),
        3 => {
            let names: &[&str] = &["append:header.a", "append:header.b"];
            route.set("response_parameters", Value::map([("500", code(names))]));
        }
        4 => {
            route.set("integration_uri", "https://a.example.com".into());
            let names: &[&str] = if is_newer { &["append:header.a", "append:header.b"] } else { &["append:header.a"] };
            route.set("response_parameters", Value::map([("500", code(names))]));
        }
        5 | 6 => {
            route.set(
                "integration_uri",
                "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/a/1/2".into(),
            );
            match number == 5 && is_newer {
                true => route.set("vpc_link", "main".into()),
                false => route.set("vpc_link_id", one_of("a1b2c3", "d4e5f6")),
            }
            if number == 6 {
                route.set("tls_config", Value::map([("server_name_to_verify", one_of("a", "b"))]));
            }
        }
        _ => {
            route.set("integration_subtype", "SQS-SendMessage".into());
            route.set("credentials_arn", "arn:aws:iam::123456789012:role/caller".into());
            let parameters = [("QueueUrl", Value::from("a")), ("MessageBody", one_of("x", "$request.body"))];
            route.set("request_parameters", Value::map(parameters));
        }
    }
    if number > 3 {
        route.set("faas_function_arn", Value::Null);
    }
    route
}

/// The same without these settings, of which some have no effect.
pub(super) fn some_basic_gateway() -> impl Strategy<Value = Value> {
    let keys = ["GET /a", "POST /a", "ANY /b/{proxy+}", "GET /c/{id}", "$default"];
    let some_route = (0..8_usize, 0..5_usize, any::<bool>(), 0..8_usize);
    let routes = proptest::collection::btree_map(prop::sample::select(keys.to_vec()), some_route, 1..5);
    let logs = access_logs::some_logs();
    let defaults = prop::option::weighted(0.3, prop::sample::select(vec!["first", "second"]));
    let switches = (prop::option::of(any::<bool>()), prop::option::of(any::<bool>()), defaults);
    // The second authorizer calls one of two functions, or accepts tokens of one of two issuers.
    let stage = super::stages::some_stage();
    (routes, 0..4_usize, logs, switches, stage).prop_map(|(routes, second, logs, (cors, metrics, default), stage)| {
        let routes: Vec<(&str, Value)> = routes
            .into_iter()
            .map(|(key, (number, guard, newer, settings))| {
                let mut route = some_target(number, newer);
                let guards = [None, Some("first"), Some("second"), None, Some("second")];
                route.set("authorizer_name", guards[guard].map(str::to_string).into());
                match guard {
                    0 if newer => route.set("authorization_type", "NONE".into()),
                    3 => route.set("authorization_type", "AWS_IAM".into()),
                    4 if second > 1 => route.set("authorization_scopes", Value::from(vec!["read"])),
                    _ => {}
                }
                if let Some((rate, metrics)) = SETTINGS.get(settings) {
                    route.set("throttling_rate_limit", Value::from(*rate));
                    route.set("throttling_burst_limit", Value::from(rate.map(|_| 5_i64)));
                    route.set("detailed_metrics_enabled", Value::from(*metrics));
                }
                (key, route)
            })
            .collect();
        let mut authorizers = vec![("first", authorizer("guard"))];
        let mut pairs = [logs, stage].concat();
        pairs.extend(default.map(|name| ("default_authorizer_name", name.into())));
        if default == Some("second") && second > 1 {
            pairs.push(("default_authorization_scopes", Value::from(vec!["write"])));
        }
        let mut link = Value::map(LinkConfig::attributes().into_iter().map(|it| (it.name, Value::Null)));
        link.set("subnet_ids", vec![["subnet-1", "subnet-2"][second % 2]].into());
        pairs.push(("vpc_links", Value::map([("main", link)])));
        match second {
            0 => authorizers.push(("second", authorizer("guard"))),
            1 => authorizers.push(("second", authorizer("another"))),
            number => {
                let issuer = ["https://one.example.com", "https://two.example.com"][number - 2];
                pairs.push(("jwt_authorizers", Value::map([("second", jwt_authorizer(issuer))])));
            }
        }
        if let Some(credentials) = cors {
            let mut cors = Value::map([("allow_credentials", Value::from(credentials))]);
            for name in ["allow_headers", "allow_methods", "allow_origins", "expose_headers", "max_age"] {
                cors.set(name, Value::Null);
            }
            cors.set("allow_origins", Value::from(vec!["https://example.com"]));
            pairs.push(("cors_configuration", cors));
        }
        // Default limits cannot be removed.
        let metrics = metrics.map(|is_on| Value::map([("detailed_metrics_enabled", is_on.into())]));
        pairs.extend(metrics.map(|settings| ("default_route_settings", settings)));
        gateway(&routes, &authorizers, &pairs)
    })
}

/// The routes of which a plan warns that they temporarily have no target.
pub(super) fn warned_outages(plan: &PlanResponse) -> BTreeSet<String> {
    let is_outage = |summary: &str| summary.contains(" interrupts ");
    let warnings = plan.diagnostics.0.iter().filter(|it| is_outage(&it.summary));
    let lines = warnings.flat_map(|it| it.detail.lines()).filter_map(|line| line.strip_prefix("  route."));
    lines.map(|line| format!("route.{}", line.split(' ').next().unwrap())).collect()
}

/// The IDs of the subnets of which a plan warns that they move to the default network ACL.
fn warned_moves(plan: &PlanResponse) -> BTreeSet<String> {
    let moves = plan.diagnostics.0.iter().filter(|it| it.summary.ends_with(": associate_default_nacl_to_subnets"));
    let parts = moves.flat_map(|it| it.detail.split(") moves from acl-9"));
    parts.filter_map(|part| Some(part.rsplit_once('(')?.1.to_string())).filter(|id| id.starts_with("subnet.")).collect()
}

/// An event before an apply.
#[derive(Clone, Debug)]
enum Event {
    Nothing,
    /// The NAT gateway with this number is deleted outside Terraform.
    DeletedNatGateway(u32),
    /// A subnet with this block is created outside Terraform, unless the block is in use.
    UnmanagedSubnet(&'static str),
    /// The configuration lists the addresses that the network has created.
    OwnAddresses,
    /// The subnets of an AZ get another network ACL outside Terraform.
    OtherAcl(u32),
}

fn some_event() -> impl Strategy<Value = Event> {
    let block = prop::sample::select(vec!["10.0.24.0/24", "10.0.100.0/24", "10.0.128.0/20"]);
    prop_oneof![
        2 => Just(Event::Nothing),
        2 => (0..3_u32).prop_map(Event::DeletedNatGateway),
        1 => block.prop_map(Event::UnmanagedSubnet),
        2 => Just(Event::OwnAddresses),
        2 => (0..2_u32).prop_map(Event::OtherAcl),
    ]
}

/// The configuration with the addresses of the network, and others if it needs more.
fn with_own_addresses<P: Topology>(terraform: &Terraform<P>, config: &Value) -> Value {
    let mut config = config.clone();
    let count = match config.get("num_nat_gateways") {
        Value::Number(count) => count.as_i64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0),
        _ => 0,
    };
    let own = terraform.account.ids_of("eip.").into_iter();
    let others = (0..).map(|number| format!("eipalloc-{number}"));
    config.set("use_custom_nat_eips", true.into());
    config.set("custom_nat_eips", own.chain(others).take(count).collect::<Vec<_>>().into());
    config
}

/// Applies the valid configurations one after the other, each after its event, and destroys.
fn check_sequence<P: Topology>(configs: &[(Value, Event)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        for (config, event) in configs {
            let mut config = config;
            let custom;
            match event {
                Event::Nothing => {}
                Event::DeletedNatGateway(number) => terraform.account.delete_outside(&format!("nat_gateway.{number}")),
                Event::UnmanagedSubnet(block) => terraform.account.create_unmanaged_subnet(block),
                Event::OtherAcl(zone) => {
                    for tier in ["public", "private_app", "private_persistence"] {
                        terraform.account.associate_network_acl(&format!("subnet.{tier}.{zone}"), "acl-9");
                    }
                }
                Event::OwnAddresses => {
                    custom = with_own_addresses(&terraform, config);
                    config = &custom;
                }
            }
            terraform.refresh().await;
            let nats = terraform.account.ids_of("nat_gateway.");
            let acls = terraform.account.network_acls.lock().unwrap().clone();
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() {
                continue;
            }
            if !plan.requires_replace.is_empty() {
                // They prevent the deletion of the VPC.
                terraform.account.unmanaged_subnets.lock().unwrap().clear();
            }
            terraform.account.take_blackholes();
            let lost_before = terraform.account.current_blackholes();
            terraform.assert_applies(config).await;
            let mut blackholes = terraform.account.take_blackholes();
            // A replacement destroys everything first, including default routes.
            if !plan.requires_replace.is_empty() {
                blackholes.clear();
            }
            // A plan does not warn of a route that it deletes, and whose target was deleted outside Terraform.
            let slots = terraform.account.slots();
            blackholes.retain(|slot| slots.contains(slot) || !lost_before.contains(slot));
            assert_eq!(blackholes, warned_outages(&plan), "routes without a target, and those in the warning");
            let subnets = terraform.account.ids_of("subnet.");
            let kept = terraform.account.network_acls.lock().unwrap().clone();
            let taken = acls.into_keys().filter(|id| subnets.contains(id) && !kept.contains_key(id));
            assert_eq!(taken.collect::<BTreeSet<_>>(), warned_moves(&plan), "subnets that the default ACL takes");
            let now = terraform.account.ids_of("nat_gateway.");
            let kept: Vec<&String> = nats.intersection(&now).collect();
            assert!(blackholes.is_empty() || kept.is_empty(), "{blackholes:?} although {kept:?} exist");
        }
        terraform.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_plan_after_any_network_change_is_empty(
        configs in proptest::collection::vec((some_network(), some_event()), 2..5)
    ) {
        check_sequence::<FourTierVpc>(&configs);
    }

    #[test]
    fn the_plan_after_any_gateway_change_is_empty(
        configs in proptest::collection::vec((domains::some_gateway(), Just(Event::Nothing)), 1..4)
    ) {
        check_sequence::<HttpGateway>(&configs);
    }
}
