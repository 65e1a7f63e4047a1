//! Objects that killed updates have created and that no state contains: the next apply takes them over if it requires
//! them. Otherwise they stay, and `unmanaged_objects` lists them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::interruptions::apply_killed;
use super::ownership_tags::drop_private_state;
use super::{SHORT_TIMEOUTS, THIS, TestEnv, text};
use crate::support::proxy::log::Record;

const BASE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_vpc_endpoints = false";

fn transit() -> String {
    format!("{BASE}\n  create_transit_subnets = true")
}

/// Kills an update to this configuration after it has created a subnet.
fn killed_update(env: &TestEnv, attributes: &str) {
    env.config(attributes);
    env.proxy.clear_calls();
    apply_killed(env, 1);
}

/// The objects that `unmanaged_objects` lists, after asserting that every tagged object is there or in state.
fn leftovers(env: &TestEnv) -> BTreeSet<String> {
    let (managed, unmanaged) = (env.attribute("aws_objects"), env.attribute("unmanaged_objects"));
    let managed: BTreeSet<String> = managed.as_object().expect("a map").values().map(text).collect();
    let unmanaged: BTreeSet<String> = unmanaged.as_object().expect("a map").keys().cloned().collect();
    let exists = existing(env);
    assert!(unmanaged.is_subset(&exists), "{unmanaged:?} contains missing objects");
    let unknown: Vec<&String> = exists.iter().filter(|id| !managed.contains(*id) && !unmanaged.contains(*id)).collect();
    assert!(unknown.is_empty(), "neither in state nor listed: {unknown:?}");
    unmanaged
}

/// The IDs of the objects with ownership tags.
fn existing(env: &TestEnv) -> BTreeSet<String> {
    let id = |line: &String| line.split(' ').nth(1).expect("kind, id and tags").to_owned();
    env.proxy.account().ours().iter().map(id).collect()
}

#[test]
fn two_killed_updates_and_a_destroy_delete_no_leftover() {
    let env = TestEnv::with_terraform();
    env.change(BASE);
    killed_update(&env, &transit());
    killed_update(&env, &BASE.replace("num_availability_zones = 2", "num_availability_zones = 3"));
    let before = existing(&env);

    env.change(&format!("{BASE}\n  custom_tags = {{ team = \"blue\" }}\n{SHORT_TIMEOUTS}"));
    let left = leftovers(&env);
    assert!(left.len() >= 2, "both runs have created subnets: {left:?}");
    assert_eq!(existing(&env), before, "nothing is created or deleted");
    let failed = env.workspace.destroy();
    for subnet in left.iter().filter(|id| id.starts_with("subnet-")) {
        failed.failed_with(subnet);
    }
    assert!(left.is_subset(&existing(&env)), "the destroy deletes none of them");

    for id in &left {
        let (call, argument) = match id.split_once('-').expect("an ID with a prefix").0 {
            "subnet" => ("delete_subnet", "SubnetId"),
            "rtb" => ("delete_route_table", "RouteTableId"),
            prefix => panic!("unexpected leftover {id} ({prefix})"),
        };
        env.ec2(call, json!({ argument: id }));
    }
    env.destroy();
}

/// Whether AWS has created a second NAT gateway, even if the answer has not arrived.
fn makes_a_nat_gateway(record: &Record) -> bool {
    record.call.action == "CreateNatGateway" && record.worked.is_some()
}

#[test]
fn a_killed_update_continues_with_each_kind_of_refresh() {
    for has_private_state in [true, false] {
        let env = TestEnv::with_terraform();
        env.change(BASE);
        killed_update(&env, &transit());
        if !has_private_state {
            drop_private_state(&env);
        }
        env.workspace.apply(&["-refresh-only"]).succeeded();
        let left = leftovers(&env);
        assert!(!left.is_empty());
        env.proxy.clear_calls();
        let run = env.workspace.apply(&["-refresh=false"]);
        run.succeeded();
        assert!(run.says("takes over objects that are not in state"), "{run}");
        assert_eq!(env.proxy.count("CreateSubnet"), 2 - subnets(&left), "the subnets of the killed run are used");
        env.workspace.assert_nothing_to_do();
        assert_eq!(leftovers(&env), BTreeSet::new());
        env.destroy();
    }
}

#[test]
fn an_apply_without_refresh_after_a_kill_loses_nothing() {
    let env = TestEnv::with_terraform();
    env.change(BASE);
    killed_update(&env, &transit());
    let before = existing(&env);
    // Nothing says yet that a subnet exists where the plan creates one.
    env.workspace.apply(&["-refresh=false"]).failed_with("InvalidSubnet.Conflict");
    assert!(before.is_subset(&existing(&env)), "nothing is deleted");
    env.apply();
    assert!(before.is_subset(&existing(&env)), "the objects of the killed run are used or stay");
    for table in leftovers(&env) {
        env.ec2("delete_route_table", json!({ "RouteTableId": table }));
    }
    env.end();
}

fn subnets(ids: &BTreeSet<String>) -> usize {
    ids.iter().filter(|id| id.starts_with("subnet-")).count()
}

#[test]
fn copies_of_the_tags_of_a_killed_update_make_neither_object_managed() {
    let env = TestEnv::with_terraform();
    env.change(BASE);
    env.config(&BASE.replace("num_nat_gateways = 1", "num_nat_gateways = 2"));
    env.proxy.clear_calls();
    env.proxy.pause_when(1, makes_a_nat_gateway);
    let mut running = env.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();

    let all = |kind: &str| env.proxy.account().list_of(kind);
    let managed = env.attribute("aws_objects").to_string();
    let of_run = |kind: &str, id: &str| -> (String, Value) {
        let found = all(kind).into_iter().find(|it| !managed.contains(&text(&it[id]))).expect("of the killed run");
        (text(&found[id]), found["tags"].clone())
    };
    let (nat, nat_tags) = of_run("nat_gateways", "NatGatewayId");
    let (address, address_tags) = of_run("addresses", "AllocationId");
    let copy = text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let arguments = json!({"SubnetId": env.id("subnet.public.1"), "AllocationId": copy});
    let copied_nat = text(&env.ec2("create_nat_gateway", arguments)["NatGateway"]["NatGatewayId"]);
    for (id, tags) in [(&copied_nat, nat_tags), (&copy, address_tags)] {
        let tags: Vec<Value> =
            tags.as_object().expect("tags").iter().map(|(k, v)| json!({"Key": k, "Value": v})).collect();
        env.ec2("create_tags", json!({"Resources": [id], "Tags": tags}));
    }
    let describe = || {
        let nats = env.ec2("describe_nat_gateways", json!({"NatGatewayIds": [nat, copied_nat]}));
        (nats, env.ec2("describe_addresses", json!({"AllocationIds": [address, copy]})))
    };
    let before = describe();
    env.apply();
    assert_eq!(describe(), before, "all four stay as they are");
    let left = leftovers(&env);
    assert!([&nat, &copied_nat, &address, &copy].iter().all(|id| left.contains(*id)), "{left:?}");
    assert_eq!(env.proxy.count("CreateNatGateway"), 1, "the network gets another one");
    assert!(env.workspace.state().resource(THIS).is_some());
}
