//! Default tags and ignored tags.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{NETWORK, endpoints, network, text};
use crate::support::emulator::Account;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

/// The kinds of objects with tags, and their number in a network of one AZ with three tiers and one NAT gateway.
const TAGGED: &[(&str, usize)] = &[
    ("vpcs", 1),
    ("subnets", 3),
    ("internet_gateways", 1),
    ("addresses", 1),
    ("nat_gateways", 1),
    ("vpc_endpoints", 2),
];

/// Every tagged object of the account: a name for messages, and its tags.
fn tagged(account: &Account) -> Vec<(String, Value)> {
    let listing = account.list();
    let mut found = Vec::new();
    for (kind, count) in TAGGED {
        let objects = listing[*kind].as_array().unwrap_or_else(|| panic!("no {kind}"));
        assert_eq!(objects.len(), *count, "{kind}");
        found.extend(objects.iter().map(|object| (format!("{kind} {object}"), object["tags"].clone())));
    }
    // The main route table is unmanaged, because AWS creates it.
    let tables = listing["route_tables"].as_array().expect("a list of tables");
    let own: Vec<&Value> = tables.iter().filter(|table| !table["tags"]["fgw:object"].is_null()).collect();
    assert_eq!(own.len(), 3, "{tables:?}");
    found.extend(own.iter().map(|table| (format!("route table {table}"), table["tags"].clone())));
    found
}

#[test]
fn default_tags_are_on_every_object_and_follow_changes() {
    let proxy = Proxy::moto();
    let mut workspace = Workspace::new(&proxy);
    let provider = |tags: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    fgw = {{\n      source = \"fgw/fgw\"\n    }}\n  }}\n}}\n\
             provider \"fgw\" {{\n  region = \"us-east-1\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n{}  default_tags {{\n    tags = {tags}\n  }}\n}}\n",
            endpoints(&proxy)
        )
    };
    workspace.write("provider.tf", &provider("{ team = \"net\", cost = \"7\", level = \"default\" }"));
    workspace.env("TF_AWS_DEFAULT_TAGS_stage", "test");
    workspace.env("TF_AWS_DEFAULT_TAGS_team", "overridden");
    workspace.config(
        "resource \"fgw_four_tier_vpc\" \"this\" {\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  num_nat_gateways = 1\n  \
         num_availability_zones = 1\n  custom_tags = { level = \"custom\" }\n}\n",
    );
    // Terraform requires that the apply matches the plan.
    let planned = workspace.plan_json(&[]);
    let all = json!({"team": "net", "cost": "7", "level": "custom", "stage": "test"});
    assert_eq!(planned["planned_values"]["root_module"]["resources"][0]["values"]["tags_all"], all);
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    // Terraform 1.11 may return exit code 2 with this message (hashicorp/terraform#36403), so the states are compared.
    let refreshed = workspace.plan(&["-refresh-only"]);
    assert!(refreshed.says("found no differences"), "{refreshed}");
    // A refresh stores its lookups in private state.
    let attributes = || workspace.state().0["resources"][0]["instances"][0]["attributes"].clone();
    let before = attributes();
    workspace.apply(&["-refresh-only"]).succeeded();
    assert_eq!(attributes(), before);
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all"), &all);
    for (object, tags) in tagged(proxy.account()) {
        for (key, value) in all.as_object().expect("a map") {
            assert_eq!(&tags[key], value, "{key} of {object}");
        }
        assert!(!tags["Name"].is_null(), "{object}");
    }

    // An unmanaged tag is kept when one default tag is removed, another is changed and a third is added.
    let vpc = text(workspace.state().attribute(NETWORK, "vpc_id")).to_owned();
    let unmanaged = json!({"Resources": [vpc], "Tags": [{"Key": "kubernetes.io/cluster/x", "Value": "shared"}]});
    proxy.account().boto("ec2", "create_tags", unmanaged);
    workspace.write("provider.tf", &provider("{ team = \"core\", level = \"default\", extra = \"new\" }"));
    proxy.clear_calls();
    let change = workspace.plan_json(&[])["resource_changes"][0]["change"].clone();
    assert_eq!(change["actions"], json!(["update"]));
    let all = json!({"team": "core", "extra": "new", "level": "custom", "stage": "test"});
    assert_eq!(change["after"]["tags_all"], all);
    workspace.apply_plan().succeeded();
    let actions: BTreeSet<String> = proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert!(actions.is_subset(&["CreateTags".to_owned(), "DeleteTags".to_owned()].into()), "{actions:?}");
    workspace.assert_nothing_to_do();
    for (object, tags) in tagged(proxy.account()) {
        for (key, value) in all.as_object().expect("a map") {
            assert_eq!(&tags[key], value, "{key} of {object}");
        }
        assert!(tags["cost"].is_null(), "{object}");
    }
    let kept = proxy.account().list_of("vpcs")[0]["tags"]["kubernetes.io/cluster/x"].clone();
    assert_eq!(kept, "shared");

    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

/// The actions of a planned change.
fn actions(plan: &Value, address: &str) -> Value {
    let changes = plan["resource_changes"].as_array().expect("a list of changes");
    let change = changes.iter().find(|change| change["address"] == address);
    change.unwrap_or_else(|| panic!("no change of {address}"))["change"]["actions"].clone()
}

#[test]
fn unknown_tags_and_switches_replace_no_dependent() {
    let proxy = Proxy::moto();
    let workspace = Workspace::new(&proxy);
    let plain = std::fs::read_to_string(workspace.path().join("provider.tf")).expect("it is written");
    let tags = "  default_tags {\n    tags = { at = timestamp(), none = null }\n  }\n";
    workspace.write("provider.tf", &plain.replacen("  region = ", &format!("{tags}  region = "), 1));
    let config = |input: &str, more: &str| {
        format!(
            "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"this\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_nat_gateways = 0\n  num_availability_zones = 1\n  custom_tags = {{ team = \"net\", none = null }}\n  \
             create_vpc_endpoints = terraform_data.u.output != \"\"\n}}\n\
             resource \"terraform_data\" \"u\" {{\n  input = \"{input}\"\n}}\n\
             resource \"terraform_data\" \"vpc\" {{\n  triggers_replace = fgw_four_tier_vpc.this.vpc_id\n}}\n\
             resource \"terraform_data\" \"subnets\" {{\n  triggers_replace = fgw_four_tier_vpc.this.public_subnet_ids\n}}\n{more}"
        )
    };
    workspace.config(&config("a", ""));
    workspace.apply(&[]).succeeded();
    let id = |address: &str| workspace.state().attribute(address, "id").clone();
    let before = ["terraform_data.vpc", "terraform_data.subnets"].map(id);
    assert_eq!(workspace.state().attribute(NETWORK, "custom_tags"), &json!({"team": "net", "none": null}));
    assert!(proxy.account().list_of("vpcs")[0]["tags"]["none"].is_null());

    // A data source that is read in the plan, with the tags unknown.
    let data = "data \"fgw_four_tier_vpc\" \"seen\" {\n  vpc_name = \"this\"\n}\n\
                output \"seen\" {\n  value = data.fgw_four_tier_vpc.seen.vpc_id\n}\n";
    for (input, endpoints) in [("b", true), ("", false)] {
        workspace.config(&config(input, data));
        let plan = workspace.plan_json(&[]);
        assert_eq!(actions(&plan, NETWORK), json!(["update"]));
        assert_eq!(actions(&plan, "terraform_data.vpc"), json!(["no-op"]));
        assert_eq!(actions(&plan, "terraform_data.subnets"), json!(["no-op"]));
        assert_eq!(plan["planned_values"]["outputs"]["seen"]["value"], *workspace.state().attribute(NETWORK, "vpc_id"));
        workspace.apply_plan().succeeded();
        assert_eq!(["terraform_data.vpc", "terraform_data.subnets"].map(id), before);
        assert_eq!(!workspace.state().attribute(NETWORK, "objectstore_endpoint_id").is_null(), endpoints);
    }

    // Without the unknown tag, the null elements leave nothing to do.
    workspace.write(
        "provider.tf",
        &plain.replacen("  region = ", &format!("{}  region = ", tags.replace("at = timestamp(), ", "")), 1),
    );
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn ignored_tags_are_neither_set_nor_removed_nor_compared() {
    let proxy = Proxy::moto();
    let account = proxy.account();
    let ignoring = "  ignore_tags {\n    keys = [\"owner\"]\n    key_prefixes = [\"karpenter.sh/\"]\n  }\n";
    let workspace = Workspace::new(&proxy);
    let plain = std::fs::read_to_string(workspace.path().join("provider.tf")).expect("it is written");
    let with_ignored = plain.replacen("  region = ", &format!("{ignoring}  region = "), 1);
    let own = "  custom_tags = { owner = \"us\", team = \"net\", \"karpenter.sh/discovery\" = \"x\" }";

    // The tags are set first and ignored afterwards.
    workspace.config(&network("this", own));
    workspace.apply(&[]).succeeded();
    let tags_all = || workspace.state().attribute(NETWORK, "tags_all").clone();
    assert_eq!(tags_all(), json!({"owner": "us", "team": "net", "karpenter.sh/discovery": "x"}));
    let vpc = text(workspace.state().attribute(NETWORK, "vpc_id")).to_owned();
    workspace.write("provider.tf", &with_ignored);
    proxy.clear_calls();
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(proxy.mutations().len(), 0, "ignored tags are not removed: {:?}", proxy.by_action());
    assert_eq!(tags_all(), json!({"team": "net"}));

    // One ignored tag is changed and the other is removed outside Terraform.
    let changed = json!({"Resources": [vpc], "Tags": [{"Key": "owner", "Value": "them"}]});
    account.boto("ec2", "create_tags", changed);
    account.boto("ec2", "delete_tags", json!({"Resources": [vpc], "Tags": [{"Key": "karpenter.sh/discovery"}]}));
    workspace.assert_nothing_to_do();

    // An update keeps ignored tags; a new object gets none.
    workspace.config(&network("this", &own.replace("net", "core")));
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    let tags = account.list_of("vpcs")[0]["tags"].clone();
    assert_eq!((&tags["owner"], &tags["team"]), (&json!("them"), &json!("core")));
    assert!(tags["karpenter.sh/discovery"].is_null());
    workspace.destroy().succeeded();
    workspace.apply(&[]).succeeded();
    let subnets = account.list_of("subnets");
    assert!(
        subnets.iter().all(|subnet| subnet["tags"]["owner"].is_null() && subnet["tags"]["team"] == "core"),
        "{subnets:?}"
    );
    workspace.destroy().succeeded();
    account.assert_nothing_of_ours_is_left();
}
