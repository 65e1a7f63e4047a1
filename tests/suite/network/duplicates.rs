//! Creates while an equal network exists, which a killed run or another resource may have created.

use serde_json::json;

use super::{THIS, TestEnv, network};
use crate::support::proxy::{Proxy, Zone};
use crate::support::terraform::Workspace;

/// One AZ without NAT gateways.
const SMALL: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n";

fn labeled(label: &str, attributes: &str) -> String {
    network(&format!("{SMALL}{attributes}")).replace("\"this\"", &format!("{label:?}"))
}

fn vpcs(env: &TestEnv) -> usize {
    env.proxy.account().list_of("vpcs").iter().filter(|vpc| vpc["tags"]["fgw:resource"].is_string()).count()
}

#[test]
fn a_complete_network_that_no_state_contains_is_not_built_twice() {
    let env = TestEnv::new();
    env.config(SMALL);
    env.workspace.apply(&[]).succeeded();
    let id = env.id("vpc");
    // The state of a killed run is lost.
    env.workspace.forget(THIS);
    env.proxy.clear_calls();
    let error = format!("Could not create fgw_four_tier_vpc \"main\": {id} exists already");
    for run in [env.workspace.plan(&[]), env.workspace.apply(&[])] {
        run.failed_with(&error);
        run.failed_with(&format!("terraform import ADDRESS {id}"));
    }
    assert_eq!(env.calls(), "");
    env.workspace.import(THIS, &id).succeeded();
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn other_networks_stop_no_create() {
    let env = TestEnv::new();
    let config = [
        labeled("this", ""),
        labeled("range", "  cidr_block = \"10.1.0.0/16\""),
        labeled("name", "  vpc_name = \"other\""),
    ];
    // In runs of their own: the process of an apply does not know the resources that it does not change.
    for count in 1..=config.len() {
        env.workspace.config(&config[..count].concat());
        env.workspace.apply(&[]).succeeded();
        env.workspace.assert_nothing_to_do();
    }
    let sibling = labeled("sibling", "");
    env.workspace.config(&[&config.concat(), sibling.as_str()].concat());
    env.workspace.apply(&[]).failed_with("exists already");
    assert_eq!(vpcs(&env), 3);
    let allowed = labeled("sibling", "  allow_duplicate_name = true");
    env.workspace.config(&[&config.concat(), allowed.as_str()].concat());
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(vpcs(&env), 4);
    env.workspace.destroy().succeeded();
}

#[test]
fn siblings_created_in_one_apply_do_not_stop_each_other() {
    let env = TestEnv::new();
    env.workspace.config(&["this", "second", "third"].map(|label| labeled(label, "")).concat());
    env.workspace.apply(&[]).succeeded();
    assert_eq!(vpcs(&env), 3);
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
}

#[test]
fn a_network_created_after_the_plan_stops_the_apply() {
    let env = TestEnv::new();
    env.config(SMALL);
    env.workspace.plan(&[]);
    let other = Workspace::without_terraform(&env.proxy, "");
    other.config(&network(SMALL));
    other.apply(&[]).succeeded();
    env.proxy.clear_calls();
    env.workspace.apply_plan().failed_with("exists already");
    assert_eq!(env.calls(), "");
    other.destroy().succeeded();
}

#[test]
fn a_replaced_network_needs_no_argument() {
    let env = TestEnv::with_terraform();
    env.config(SMALL);
    env.workspace.apply(&[]).succeeded();
    for options in [&["-replace=fgw_four_tier_vpc.this"][..], &["-replace=fgw_four_tier_vpc.this", "-refresh=false"]] {
        let before = env.id("vpc");
        env.workspace.apply(options).succeeded();
        env.workspace.assert_nothing_to_do();
        assert_ne!(env.id("vpc"), before);
    }
    env.end();
}

/// Terraform before 1.16 tells the process of an apply nothing about the network that is replaced afterwards.
#[test]
fn create_before_destroy_requires_the_argument_on_most_hosts() {
    let env = TestEnv::with_terraform();
    let lifecycle = "  lifecycle {\n    create_before_destroy = true\n  }\n";
    env.config(&format!("{SMALL}{lifecycle}"));
    env.workspace.apply(&[]).succeeded();
    let replace = ["-replace=fgw_four_tier_vpc.this"];
    let run = env.workspace.apply(&replace);
    if env.workspace.passes_planned_private() {
        // The plan has found that the state contains the other network.
        run.succeeded();
    } else {
        run.failed_with("exists already").failed_with("create_before_destroy");
    }
    assert_eq!(vpcs(&env), 1);
    env.config(&format!("{SMALL}{lifecycle}  allow_duplicate_name = true"));
    env.workspace.apply(&replace).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(vpcs(&env), 1);
    env.end();
}

/// The lookups of AZs and endpoint services in the apply of a create and in that of an update. Both repeat a plan.
fn lookups_of_apply(env: &TestEnv) -> (usize, usize) {
    let attributes = "  num_availability_zones = 1\n  num_nat_gateways = 0\n";
    env.config(attributes);
    env.workspace.plan(&[]);
    env.proxy.clear_calls();
    env.workspace.apply_plan().succeeded();
    let of_zones = env.proxy.count("DescribeAvailabilityZones") + env.proxy.count("DescribeVpcEndpointServices");
    env.config(&format!("{attributes}  custom_tags = {{ a = \"b\" }}"));
    env.workspace.plan(&[]);
    env.proxy.clear_calls();
    env.workspace.apply_plan().succeeded();
    let in_update = env.proxy.count("DescribeAvailabilityZones") + env.proxy.count("DescribeVpcEndpointServices");
    assert_eq!(env.proxy.count("DescribeVpcs"), 0, "an update lists no networks");
    env.workspace.assert_nothing_to_do();
    env.destroy();
    (of_zones, in_update)
}

#[test]
fn a_host_that_stores_planned_data_repeats_no_lookup() {
    let proxy = Proxy::moto();
    let workspace = Workspace::storing_planned_private(&proxy);
    assert_eq!(lookups_of_apply(&TestEnv { workspace, proxy }), (0, 0));
    let others = "on other hosts, a create looks them up again, and an update uses those of the refresh";
    assert_eq!(lookups_of_apply(&TestEnv::new()), (2, 0), "{others}");
}

#[test]
fn a_zone_that_opens_after_the_plan_is_not_used_by_the_apply() {
    let proxy = Proxy::moto();
    let env = TestEnv { workspace: Workspace::storing_planned_private(&proxy), proxy };
    let zone = |name: &str, id: &str| Zone::new(&format!("us-east-1{name}"), id);
    env.proxy.zones(&[zone("a", "use1-az1")]);
    env.config("  num_nat_gateways = 0");
    env.workspace.plan(&[]);
    env.proxy.zones(&[zone("a", "use1-az1"), zone("b", "use1-az2")]);
    env.workspace.apply_plan().succeeded();
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1a"]), "as the plan has shown");
    env.end();
}
