//! Entries with another key keep their objects: flow logs with their groups, and interface endpoints.

use std::collections::BTreeSet;

use serde_json::json;

use super::{THIS, TestEnv, text};
use crate::support::proxy::fault::Fault;

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const APPLY: [&str; 4] = ["apply", "-no-color", "-input=false", "-auto-approve"];

/// A network with these names of two flow logs, and of two endpoints of which one has a group of its own.
fn named([group, bucket, own, shared]: [&str; 4], more: &str) -> String {
    format!(
        "{ALONE}\n{more}\n  flow_logs = {{\n    {group} = {{ log_group_name = \"/net/app\", log_group_skip_destroy = false, \
         iam_role_arn = \"arn:aws:iam::123456789012:role/flow\" }}\n    {bucket} = {{ log_destination_type = \"s3\", \
         log_destination = \"arn:aws:s3:::logs\" }}\n  }}\n  interface_endpoints = {{\n    {own} = {{ service = \"kms\", \
         allowed_ports = [8443] }}\n    {shared} = {{ service = \"sqs\" }}\n  }}"
    )
}

const FIRST: [&str; 4] = ["app", "audit", "keys", "queue"];

fn ids(env: &TestEnv) -> BTreeSet<String> {
    let objects = env.attribute("aws_objects");
    objects.as_object().expect("a map").values().map(text).collect()
}

/// Asserts that only tags have changed since the log was cleared.
fn assert_only_tagged(env: &TestEnv) {
    let actions = env.proxy.mutations().into_iter().map(|record| record.call.action);
    let others: Vec<String> = actions.filter(|it| !["CreateTags", "TagResource"].contains(&it.as_str())).collect();
    assert_eq!(others, Vec::<String>::new());
}

/// The slots in the tags of all objects, by ID.
fn assert_tagged_by_slot(env: &TestEnv) {
    let objects = env.attribute("aws_objects");
    let tags = env.ec2("describe_tags", json!({ "Filters": [{ "Name": "key", "Values": ["fgw:object"] }] }));
    for tag in tags["Tags"].as_array().expect("a list") {
        let slot = tag["Value"].as_str().expect("a text");
        assert_eq!(objects[slot], tag["ResourceId"], "{slot}");
    }
    for group in env.proxy.account().list()["log_groups"].as_array().expect("a list") {
        let slot = group["tags"]["fgw:object"].as_str().expect("a text");
        assert_eq!(objects[slot], group["logGroupName"]);
    }
}

#[test]
fn renamed_entries_keep_their_objects_and_change_only_tags() {
    let env = TestEnv::new();
    env.change(&named(FIRST, ""));
    let before = ids(&env);
    let log = env.attribute("flow_log_ids")["app"].clone();
    // New names, swapped ones, and the former ones.
    let swapped = ["audit", "app", "queue", "keys"];
    for (names, options) in [
        (["web", "audit", "crypto", "queue"], &[][..]),
        (["web", "files", "crypto", "jobs"], &["-refresh=false"][..]),
        (swapped, &[][..]),
        (FIRST, &["-refresh=false"][..]),
    ] {
        env.config(&named(names, ""));
        let plan = env.workspace.plan(options);
        assert!(plan.says("keeps objects under other keys"), "{plan}");
        env.apply_with(options);
        assert_only_tagged(&env);
        assert_eq!(ids(&env), before, "{names:?}");
        assert_eq!(env.attribute("flow_log_ids")[names[0]], log);
        assert_tagged_by_slot(&env);
        env.assert_state_matches_aws();
    }
    env.destroy();
}

#[test]
fn a_rename_is_continued_after_failures_and_lost_states() {
    let env = TestEnv::new();
    env.change(&named(FIRST, ""));
    let before = ids(&env);
    let renamed = named(["web", "files", "crypto", "jobs"], "");
    env.config(&renamed);
    env.proxy.fault(Fault::on("CreateTags").nth(2).answer(403, "UnauthorizedOperation", "You are not authorized"));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).failed_with("The credentials do not allow this call");
    assert_only_tagged(&env);
    assert_eq!(ids(&env), before);
    env.proxy.clear_faults();
    env.apply();
    assert_only_tagged(&env);
    assert_tagged_by_slot(&env);

    // Without private state, and without any state but the tags.
    for names in [["a", "b", "c", "d"], ["b", "a", "d", "c"]] {
        env.workspace.lose_private_state(THIS);
        env.change(&named(names, ""));
        assert_only_tagged(&env);
        assert_eq!(ids(&env), before, "{names:?}");
        assert_tagged_by_slot(&env);
    }
    env.config(&named(FIRST, ""));
    env.workspace.reimport(THIS);
    env.apply();
    assert_only_tagged(&env);
    assert_eq!(ids(&env), before);
    assert_tagged_by_slot(&env);
    env.end();
}

#[test]
fn a_killed_rename_is_continued() {
    let env = TestEnv::with_terraform();
    env.change(&named(FIRST, ""));
    let before = ids(&env);
    env.config(&named(["web", "files", "crypto", "jobs"], ""));
    env.proxy.clear_calls();
    env.proxy.pause_when(2, |record| record.call.action == "CreateTags" && record.worked.is_some());
    let mut running = env.workspace.start(&APPLY);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
    env.apply();
    assert_only_tagged(&env);
    assert_eq!(ids(&env), before);
    assert_tagged_by_slot(&env);
    env.end();
}

#[test]
fn a_protected_log_is_renamed_but_not_replaced_under_another_name() {
    let env = TestEnv::new();
    let protecting = |slot: &str| format!("  protected_objects = [\"{slot}\"]");
    env.change(&named(FIRST, &protecting("flow_log.app")));
    let before = ids(&env);
    let renamed = ["web", "audit", "keys", "queue"];
    for slot in ["flow_log.app", "flow_log.web"] {
        let replaced =
            named(renamed, &protecting(slot)).replace("role/flow\"", "role/flow\", traffic_type = \"REJECT\"");
        env.config(&replaced);
        env.workspace.plan(&[]).failed_with("protected objects");
    }
    env.change(&named(renamed, &protecting("flow_log.web")));
    assert_only_tagged(&env);
    assert_eq!(ids(&env), before);
    env.change(&named(renamed, ""));
    env.end();
}

/// The name of a security group cannot change, so a group of the former name may exist.
#[test]
fn a_new_endpoint_with_the_former_name_gets_a_group_of_another_name() {
    let env = TestEnv::new();
    let own =
        |name: &str, service: &str| format!("    {name} = {{ service = \"{service}\", allowed_ports = [8443] }}\n");
    let with = |entries: &[String]| format!("{ALONE}\n  interface_endpoints = {{\n{}  }}", entries.concat());
    env.change(&with(&[own("keys", "kms")]));
    let group = env.id("security_group.interface_endpoint.keys");
    env.change(&with(&[own("crypto", "kms"), own("keys", "sqs")]));
    assert_eq!(env.id("security_group.interface_endpoint.crypto"), group);
    let groups = env.ec2("describe_security_groups", json!({}))["SecurityGroups"].clone();
    let names: BTreeSet<&str> =
        groups.as_array().expect("a list").iter().filter_map(|it| it["GroupName"].as_str()).collect();
    assert!(names.is_superset(&["interface-endpoint-keys", "interface-endpoint-keys-2"].into()), "{names:?}");
    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();
    env.end();
}
