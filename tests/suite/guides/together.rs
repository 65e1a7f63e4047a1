//! The guide on hashicorp/aws shows the example, which uses only attributes that exist. With the folder of the provider
//! in `FGW_BENCH_AWS_PROVIDER`, the example is applied too.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use fgw::plugin::Provider as _;
use fgw::provider::Fgw;
use serde_json::{Value, json};

use super::Guide;
use crate::support::adoption::install_hashicorp_aws;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use crate::support::venv;

const EXAMPLE: &str = include_str!("../../../examples/together-with-hashicorp-aws/main.tf");

#[test]
fn guide_on_both_providers_shows_its_example() {
    let mut guide = Guide::open("together-with-hashicorp-aws.md");
    guide.put("example", &format!("```terraform\n{}\n```\n", EXAMPLE.trim_end()));
    guide.check();
}

#[test]
fn the_example_of_both_providers_uses_outputs_that_exist() {
    let schemas: BTreeMap<&str, Vec<String>> = Fgw::default()
        .resources()
        .iter()
        .map(|it| (it.type_name(), it.schema().attributes.into_iter().map(|it| it.name).collect()))
        .collect();
    let mut found = 0;
    for (name, attributes) in &schemas {
        for rest in EXAMPLE.split(&format!("{name}.")).skip(1) {
            let attribute = rest.split(|sign: char| !sign.is_alphanumeric() && sign != '_').nth(1).unwrap_or_default();
            assert!(attributes.iter().any(|it| it == attribute), "{name} has no attribute {attribute:?}");
            found += 1;
        }
    }
    assert!(found >= 5, "the references are not found: {found}");
}

/// The services of the example that only hashicorp/aws calls, and EC2.
const SERVICES: [&str; 5] = ["ec2", "elbv2", "iam", "lambda", "rds"];

/// The example with an AMI, a role and a file that exist, as its page asks for.
fn prepared(proxy: &Proxy, workspace: &Workspace) -> String {
    let account = proxy.account();
    let image = json!({ "Name": "worker", "RootDeviceName": "/dev/xvda", "VirtualizationType": "hvm" });
    let image = account.boto("ec2", "register_image", image);
    let role = json!({ "RoleName": "orders", "AssumeRolePolicyDocument": "{}" });
    account.boto("iam", "create_role", role);
    workspace.write("orders.py", "def handler(event, context):\n    return {'statusCode': 200}\n");
    let packed = Command::new(venv::program("python"))
        .args(["-m", "zipfile", "-c", "orders.zip", "orders.py"])
        .current_dir(workspace.path())
        .status();
    assert!(packed.expect("the environment has Python").success());
    let (_, body) = EXAMPLE.split_once("\n}\n").expect("the first block requires the providers");
    let mut text = body.to_owned();
    for (shown, real) in [
        ("ami-0123456789abcdef0", image["ImageId"].as_str().expect("an ID")),
        ("arn:aws:iam::123456789012:", &format!("arn:aws:iam::{}:", account.id)),
    ] {
        assert!(text.contains(shown), "the example has no {shown}");
        text = text.replace(shown, real);
    }
    text
}

#[test]
fn the_example_of_both_providers_applies_and_destroys() {
    let proxy = Proxy::moto();
    let mut workspace = Workspace::new(&proxy);
    workspace.within(Duration::from_secs(600));
    if !install_hashicorp_aws(&workspace, &proxy, &SERVICES) {
        return;
    }
    workspace.config(&prepared(&proxy, &workspace));
    let plan = workspace.plan(&[]);
    assert!(plan.says("Plan: 8 to add, 0 to change, 0 to destroy."), "{plan}");
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();

    // The arguments are the outputs.
    let account = proxy.account();
    let of = |name: &str| workspace.state().attribute("fgw_four_tier_vpc.main", name).clone();
    let groups = account.boto("rds", "describe_db_subnet_groups", json!({}));
    assert_eq!(groups["DBSubnetGroups"][0]["VpcId"], of("vpc_id"));
    let balancers = account.boto("elbv2", "describe_load_balancers", json!({}));
    let zones = balancers["LoadBalancers"][0]["AvailabilityZones"].as_array().expect("a list");
    let subnets: BTreeSet<&str> = zones.iter().filter_map(|it| it["SubnetId"].as_str()).collect();
    assert_eq!(json!(subnets), json!(sorted(&of("public_subnet_ids"))));
    let statements = account.boto("lambda", "get_policy", json!({ "FunctionName": "orders" }));
    assert!(statements["Policy"].as_str().expect("JSON").contains("apigateway.amazonaws.com"), "{statements}");

    workspace.destroy().succeeded();
    account.assert_nothing_of_ours_is_left();
    assert_eq!(account.boto("rds", "describe_db_subnet_groups", json!({}))["DBSubnetGroups"], json!([]));
}

fn sorted(list: &Value) -> Vec<&str> {
    let mut items: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    items.sort_unstable();
    items
}
