//! The stand-in for Terraform plans, applies and destroys like Terraform, and shows plans and states in the same
//! format.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

const THIS: &str = "fgw_four_tier_vpc.this";

fn network(lines: &str) -> String {
    format!(
        "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  \
         num_availability_zones = \"2\"\n  num_nat_gateways = 1\n  availability_zone_exclude_ids = [\"use1-az6\"]\n  \
         custom_tags = {{ team = \"net\" }}\n{lines}}}\n"
    )
}

const CHANGED: &str = "  create_transit_subnets = true\n  timeouts {\n    create = \"50m\"\n  }\n";

/// The parts of a plan that the stand-in shows.
fn change(plan: &Value) -> Value {
    let change = &plan["resource_changes"][0]["change"];
    json!({
        "actions": change["actions"], "before": change["before"], "after": change["after"],
        "after_unknown": change["after_unknown"], "replace_paths": change["replace_paths"],
    })
}

/// A value with placeholders for IDs that AWS assigns, addresses and the account.
fn without_ids(value: &Value, account: &str) -> Value {
    match value {
        Value::String(text) => {
            // moto assigns loopback addresses.
            if text.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()) {
                return "ADDRESS".into();
            }
            let text = text.replace(account, "ACCOUNT");
            let is_id = |id: &str| id.len() >= 8 && id.bytes().all(|it| it.is_ascii_hexdigit());
            let word = |word: &str| match word.rsplit_once('-') {
                Some((kind, id)) if is_id(id) => format!("{kind}-ID"),
                _ => word.to_owned(),
            };
            let words: Vec<String> =
                text.split('/').map(|part| part.split('_').map(word).collect::<Vec<_>>().join("_")).collect();
            words.join("/").into()
        }
        Value::Array(items) => items.iter().map(|item| without_ids(item, account)).collect(),
        Value::Object(items) => items.iter().map(|(key, item)| (key.clone(), without_ids(item, account))).collect(),
        other => other.clone(),
    }
}

/// The plans and states in the lifecycle of a network: create, change, planned replacement, drift, destroy.
fn lifecycle(proxy: &Proxy, workspace: &Workspace) -> Vec<Value> {
    let mut seen = Vec::new();
    for lines in ["", CHANGED] {
        workspace.config(&network(lines));
        seen.push(change(&workspace.plan_json(&[])));
        workspace.apply_plan().succeeded();
        seen.push(workspace.state().resource(THIS).expect("the resource exists").clone());
        workspace.assert_nothing_to_do();
    }
    workspace.config(&network(CHANGED).replace("10.0.0.0/16", "10.1.0.0/16"));
    seen.push(change(&workspace.plan_json(&[])));

    workspace.config(&network(CHANGED));
    let vpc = workspace.state().attribute(THIS, "id").clone();
    let hostnames = json!({ "VpcId": vpc, "EnableDnsHostnames": { "Value": false } });
    proxy.account().boto("ec2", "modify_vpc_attribute", hostnames);
    let plan = workspace.plan_json(&[]);
    seen.extend([change(&plan), plan["resource_drift"][0]["change"]["after"].clone()]);
    seen.push(change(&workspace.plan_json(&["-destroy"])));
    workspace.destroy().succeeded();
    assert!(workspace.state().resource(THIS).is_none());
    let account = &proxy.account().id;
    seen.iter().map(|it| without_ids(it, account)).collect()
}

#[test]
fn plans_and_states_are_those_of_terraform() {
    let lifecycles = [Workspace::new, |proxy: &Proxy| Workspace::without_terraform(proxy, "")].map(|workspace| {
        let proxy = Proxy::moto();
        let workspace = workspace(&proxy);
        lifecycle(&proxy, &workspace)
    });
    let [terraform, host] = lifecycles;
    assert_eq!(host.len(), terraform.len());
    for (step, (host, terraform)) in host.iter().zip(&terraform).enumerate() {
        let mut differences = Vec::new();
        differ(terraform, host, "", &mut differences);
        assert!(differences.is_empty(), "in step {step}: {differences:#?}");
    }
}

fn differ(one: &Value, other: &Value, path: &str, differences: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(ones), Value::Object(others)) => {
            for key in ones.keys().chain(others.keys().filter(|key| !ones.contains_key(*key))) {
                differ(&one[key], &other[key], &format!("{path}/{key}"), differences);
            }
        }
        (one, other) if one == other => {}
        _ => differences.push(format!("{path}: Terraform {one}, the stand-in {other}")),
    }
}

#[test]
fn failed_create_is_tainted_and_replaced_unless_untainted() {
    use crate::support::proxy::fault::Fault;
    let proxy = Proxy::moto();
    let workspace = Workspace::without_terraform(&proxy, "");
    workspace.config(&network(""));
    proxy.fault(Fault::on("CreateNatGateway").first(2).answer(400, "NatGatewayLimitExceeded", "no more"));
    let created = |run: &crate::support::terraform::Run| {
        run.failed_with("no more");
        assert!(workspace.state().is_tainted(THIS));
        workspace.state().attribute(THIS, "id").clone()
    };
    let first = created(&workspace.apply(&[]));
    assert_eq!(workspace.plan_json(&[])["resource_changes"][0]["change"]["actions"], json!(["delete", "create"]));
    let second = created(&workspace.apply(&[]));
    assert_ne!(first, second, "a tainted network is replaced");
    workspace.untaint(THIS);
    workspace.apply(&[]).succeeded();
    assert_eq!(*workspace.state().attribute(THIS, "id"), second);
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}
