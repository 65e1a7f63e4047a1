//! The routes of subnets at every moment of a change: no subnet loses the internet or a gateway endpoint that it has
//! before and after the change, and no route leads nowhere. Subnets that are deleted keep both until AWS deletes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::pending_deletion::interface;
use super::{SHORT_TIMEOUTS, TestEnv, text};
use crate::support::emulator::Account;
use crate::support::proxy::Witness;

/// Where the route table of a subnet leads.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reach {
    /// The target of the default route for IPv4.
    default: Option<String>,
    /// Whether that target does not exist any more.
    is_blackhole: bool,
    /// The gateway endpoints with a route in the table.
    endpoints: BTreeSet<String>,
}

/// The subnets of the account, by id.
type Moment = BTreeMap<String, Reach>;

/// The moments of an apply, each with the call before it.
struct Connectivity {
    before: Moment,
    moments: Arc<Mutex<Vec<(String, Moment)>>>,
    _witness: Witness,
}

fn list(found: &Value, name: &str) -> Vec<Value> {
    found[name].as_array().cloned().unwrap_or_default()
}

fn moment(account: &Account) -> Moment {
    let ec2 = |method: &str| account.boto("ec2", method, json!({}));
    let (subnets, tables) = (ec2("describe_subnets"), ec2("describe_route_tables"));
    let (nats, gateways) = (ec2("describe_nat_gateways"), ec2("describe_internet_gateways"));
    let is_alive = |nat: &Value| nat["State"] == "available" || nat["State"] == "pending";
    let is_attached = |gateway: &Value| !list(gateway, "Attachments").is_empty();
    let nats = list(&nats, "NatGateways").into_iter().filter(is_alive).map(|it| text(&it["NatGatewayId"]));
    let gateways = list(&gateways, "InternetGateways").into_iter().filter(is_attached);
    let gateways = gateways.map(|it| text(&it["InternetGatewayId"]));
    let targets: BTreeSet<String> = nats.chain(gateways).collect();
    let reach = |subnet: &str| {
        let tables = list(&tables, "RouteTables");
        let uses = |table: &&Value| list(table, "Associations").iter().any(|it| it["SubnetId"] == subnet);
        let routes = tables.iter().find(uses).map(|table| list(table, "Routes")).unwrap_or_default();
        let default = routes.iter().find(|route| route["DestinationCidrBlock"] == "0.0.0.0/0");
        let target = |route: &Value| route["NatGatewayId"].as_str().or(route["GatewayId"].as_str()).map(str::to_owned);
        let default = default.and_then(target);
        let is_endpoint = |id: &String| id.starts_with("vpce-");
        Reach {
            is_blackhole: default.as_ref().is_some_and(|target| !targets.contains(target)),
            default,
            endpoints: routes.iter().filter_map(target).filter(is_endpoint).collect(),
        }
    };
    let ids = list(&subnets, "Subnets").into_iter().filter(|subnet| subnet["DefaultForAz"] != true);
    ids.map(|subnet| text(&subnet["SubnetId"])).map(|id| (id.clone(), reach(&id))).collect()
}

impl Connectivity {
    /// Observes the account from now on.
    fn of(env: &TestEnv) -> Connectivity {
        let account = env.proxy.account().clone();
        let (before, moments) = (moment(&account), Arc::<Mutex<Vec<(String, Moment)>>>::default());
        let observed = Arc::clone(&moments);
        let witness = env.proxy.after_each_change(move |call| {
            let now = moment(&account);
            observed.lock().expect("an observer does not panic").push((call.action.clone(), now));
        });
        Connectivity { before, moments, _witness: witness }
    }

    /// The connections that a subnet lost for a time, although it existed before, and although it still has them at the
    /// end or does not exist any more. With the call after which each was lost first.
    fn losses(&self) -> BTreeSet<String> {
        let moments = self.moments.lock().expect("an observer does not panic");
        let Some((_, last)) = moments.last() else { return BTreeSet::new() };
        let mut losses = BTreeSet::new();
        for (action, now) in moments.iter() {
            for (subnet, reach) in now {
                if reach.is_blackhole {
                    losses.insert(format!("{subnet}: its default route leads nowhere after {action}"));
                }
                let Some(before) = self.before.get(subnet) else { continue };
                let end = last.get(subnet);
                let stays = end.is_none_or(|end| end.default.is_some());
                if before.default.is_some() && reach.default.is_none() && stays {
                    losses.insert(format!("{subnet}: no default route after {action}"));
                }
                let stays = |endpoint: &&String| end.is_none_or(|end| end.endpoints.contains(*endpoint));
                for endpoint in before.endpoints.difference(&reach.endpoints).filter(stays) {
                    losses.insert(format!("{subnet}: no route to {endpoint} after {action}"));
                }
            }
        }
        losses
    }
}

/// Applies a change, and asserts that no subnet loses a connection meanwhile.
fn change(env: &TestEnv, attributes: &str) {
    let connectivity = Connectivity::of(env);
    let change = env.change(attributes);
    assert_eq!(connectivity.losses(), BTreeSet::new(), "{attributes}\n{change:#?}");
}

/// Applies these configurations one after the other.
fn assert_always_connected(first: &str, changes: &[&str]) {
    let env = TestEnv::new();
    env.change(first);
    for attributes in changes {
        change(&env, attributes);
    }
    env.destroy();
}

#[test]
fn a_full_az_keeps_its_nat_gateway_and_endpoints_until_it_is_empty() {
    let azs = |count: usize| format!("  num_availability_zones = {count}\n  num_nat_gateways = {count}\n");
    let env = TestEnv::new();
    env.change(&azs(3));
    let (subnet, nat, address) = (env.id("subnet.private_app.2"), env.id("nat_gateway.2"), env.id("eip.2"));
    let eni = interface(&env, "subnet.private_app.2");
    env.config(&format!("{}{SHORT_TIMEOUTS}", azs(2)));
    let plan = env.workspace.plan(&[]);
    for kept in ["stay until the subnets that need them are deleted", &nat, &address, "the routes to vpc_endpoint"] {
        assert!(plan.says(kept), "no {kept:?} in\n{plan}");
    }
    let connectivity = Connectivity::of(&env);
    env.workspace.apply_plan().succeeded();
    assert_eq!(connectivity.losses(), BTreeSet::new());
    let reach = moment(env.proxy.account()).remove(&subnet).expect("AWS keeps the subnet");
    assert_eq!((reach.default.as_ref(), reach.endpoints.len()), (Some(&nat), 2), "{reach:?}");
    let pending = env.attribute("pending_deletion");
    for slot in ["nat_gateway.2", "eip.2", "subnet.public.2", "subnet.private_app.2", "route_table.private_app.2"] {
        assert!(pending[slot].is_string(), "{slot} is not in {pending:#}");
    }
    assert_eq!(env.attribute("drift"), json!({}));

    env.ec2("delete_network_interface", json!({"NetworkInterfaceId": eni}));
    let connectivity = Connectivity::of(&env);
    let cleaned = env.change(&azs(2));
    assert_eq!(connectivity.losses(), BTreeSet::new());
    assert!(cleaned.calls.contains("DeleteNatGateway 1"), "{cleaned:#?}");
    assert!(!env.proxy.account().list().to_string().contains(&address), "the address is released");
    env.end();
}

#[test]
fn subnets_stay_connected_while_azs_and_nat_gateways_change() {
    let azs = |count: usize, nats: usize, more: &str| {
        format!("  num_availability_zones = {count}\n  num_nat_gateways = {nats}\n{more}")
    };
    let steps = [
        azs(3, 1, ""),
        azs(3, 3, ""),
        azs(2, 2, ""),
        azs(2, 2, "  availability_zone_exclude_ids = [\"use1-az4\"]"),
        azs(3, 1, ""),
        azs(1, 1, ""),
    ];
    assert_always_connected(&azs(2, 1, ""), &steps.each_ref().map(String::as_str));
}

#[test]
fn subnets_stay_connected_while_tables_tiers_and_endpoints_change() {
    let base = |more: &str| format!("  num_availability_zones = 2\n  num_nat_gateways = 1\n{more}");
    let steps = [
        base("  one_route_table_public_subnets = false"),
        base("  one_route_table_public_subnets = true"),
        base("  create_transit_subnets = true"),
        base("  create_transit_subnets = true\n  allow_private_persistence_internet_access = true"),
        base("  create_transit_subnets = true\n  enable_private_nat = true\n  num_nat_gateways = 0").replacen(
            "  num_nat_gateways = 1\n",
            "",
            1,
        ),
        base("  create_private_persistence_subnets = false"),
        base("  objectstore_endpoint_policy = jsonencode({ Version = \"2012-10-17\", Statement = [] })"),
        base("  create_vpc_endpoints = false"),
        base(""),
    ];
    assert_always_connected(&base(""), &steps.each_ref().map(String::as_str));
}

#[test]
fn subnets_stay_connected_while_addresses_and_rules_change() {
    let base = |more: &str| format!("  num_availability_zones = 2\n  num_nat_gateways = 2\n{more}");
    let steps = [
        base("  custom_tags = { team = \"a\" }"),
        base("  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }"),
        base("  subnet_spacing = 8"),
        base("  private_subnet_bits = 6"),
        base("  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true"),
        base("  apply_default_nacl_rules = true"),
        base("  enable_default_security_group = false\n  enable_dns_hostnames = false"),
        base("  map_public_ip_on_launch = true\n  enable_network_address_usage_metrics = true"),
        base("  vpc_name = \"other\""),
    ];
    assert_always_connected(&base(""), &steps.each_ref().map(String::as_str));
}

#[test]
fn subnets_stay_connected_while_gateways_change() {
    let env = TestEnv::new();
    let allocated = || text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let (first, second) = (allocated(), allocated());
    let gateway = text(&env.ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}))["VpnGateway"]["VpnGatewayId"]);
    let base = |more: &str| format!("  num_availability_zones = 2\n{more}");
    let custom = |addresses: &[&String]| {
        base(&format!("  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = {}", json!(addresses)))
    };
    env.change(&base("  num_nat_gateways = 2\n  tenancy = \"dedicated\""));
    change(&env, &base("  num_nat_gateways = 2"));
    change(&env, &custom(&[&first, &second]));
    change(&env, &custom(&[&second, &first]));
    change(&env, &base("  num_nat_gateways = 1"));
    env.ec2("attach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": env.id("vpc")}));
    change(&env, &base(&format!("  num_nat_gateways = 1\n  private_propagating_vgws = [\"{gateway}\"]")));
    env.ec2("detach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": env.id("vpc")}));
    change(&env, &base("  num_nat_gateways = 0\n  create_public_subnets = false"));
    change(&env, &base("  num_nat_gateways = 1"));
    change(&env, &base("  num_nat_gateways = 0\n  create_igw = false"));
    env.end();
}
