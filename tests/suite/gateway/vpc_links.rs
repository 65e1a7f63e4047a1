//! VPC links that a gateway creates: their exchange while requests are served, their drift, and their deletion.

use serde_json::{Value, json};

use super::integrations::LISTENER;
use super::{THIS, TestEnv, text, with};
use crate::support::emulator::{Account, Emulator};
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use crate::support::{deployments, target};

fn link(subnets: &[&str], more: &Value) -> Value {
    with(&json!({ "subnet_ids": subnets, "security_group_ids": ["sg-1"] }), more)
}

impl TestEnv {
    /// A private route through the link `main`, and one to a function.
    fn linked(&self, main: &Value) -> Value {
        json!({
            "route_config": {
                "GET /still": self.to("users"),
                "GET /a": { "integration_uri": LISTENER, "vpc_link": "main" },
            },
            "vpc_links": { "main": main },
        })
    }

    fn set_links(&self, settings: &Value) {
        deployments::set_links(self.proxy.account(), settings);
    }

    /// The links of the account, as AWS shows them.
    fn links(&self) -> Vec<Value> {
        self.proxy.account().list_of("vpc_links")
    }
}

#[test]
fn a_link_is_exchanged_while_requests_are_served() {
    let env = TestEnv::new();
    let listeners = json!({ LISTENER: { "port": target::start("inside") } });
    env.set_links(&json!({ "listeners": listeners, "pending": 3, "deleting": 3 }));
    env.apply(&env.linked(&link(&["subnet-1"], &json!({ "tags": { "team": "web" } }))));
    let by = || env.send("GET", "/a", None).json()["by"].clone();
    assert_eq!(by(), "inside");
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);

    let change = env.planned_change(&env.linked(&link(&["subnet-1", "subnet-2"], &json!({}))));
    assert_eq!(change.objects, ["~vpc_link.main"]);
    assert_eq!(
        change.calls,
        ["CreateVpcLink main", "UpdateIntegration integration.GET /a", "DeleteVpcLink vpc_link.main"]
    );
    let links = env.links();
    assert_eq!((links.len(), &links[0]["SubnetIds"]), (1, &json!(["subnet-1", "subnet-2"])), "the old one is deleted");
    let named = link(&["subnet-1", "subnet-2"], &json!({ "name": "shop", "tags": { "team": "api" } }));
    let change = env.planned_change(&env.linked(&named));
    assert_eq!(
        (change.calls, change.objects.len()),
        (vec!["UpdateVpcLink vpc_link.main".into(), "TagResource vpc_link".into()], 0)
    );

    let named = link(&["subnet-1", "subnet-2"], &json!({ "name": "shop" }));
    assert_eq!(env.change(&env.linked(&named)), ["UntagResource vpc_link"]);

    // The link leaves with its last integration.
    let mut without = env.linked(&named);
    without["vpc_links"] = json!({});
    without["route_config"]["GET /a"] = env.to("orders");
    let change = env.planned_change(&without);
    assert!(change.calls.contains(&"DeleteVpcLink vpc_link.main".to_owned()), "{:?}", change.calls);
    assert_eq!(env.links(), Vec::<Value>::new());
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_link_is_imported_and_its_drift_is_corrected() {
    let env = TestEnv::new();
    let config = env.linked(&link(&["subnet-1"], &json!({ "tags": { "team": "web" } })));
    env.apply(&config);
    let inputs =
        || [env.attribute("vpc_links"), env.attribute("route_config")].map(|it| it.to_string().replace("{}", "null"));
    let before = inputs();
    env.workspace.reimport(THIS);
    assert_eq!(inputs(), before);
    env.assert_plan_changes_nothing();

    let id = text(&env.attribute("vpc_link_ids")["main"]);
    env.proxy.account().boto("apigatewayv2", "update_vpc_link", json!({ "VpcLinkId": id, "Name": "theirs" }));
    let drift = text(&env.drift()["vpc_link.main"]);
    assert_eq!(drift, "name is theirs instead of main");
    env.apply_config();
    assert_eq!(env.links()[0]["Name"], "main");
    env.destroy();
}

#[test]
fn a_link_that_fails_is_replaced_by_the_next_apply() {
    let env = TestEnv::with_terraform();
    env.set_links(&json!({ "failure": "no free addresses" }));
    env.config(&env.linked(&link(&["subnet-1"], &json!({}))));
    env.workspace.apply(&[]).failed_with("no free addresses");
    env.set_links(&json!({ "failure": null }));
    env.workspace.run(&["untaint", "-no-color", THIS]).succeeded();
    env.apply_config();
    let links = env.links();
    assert_eq!((links.len(), &links[0]["VpcLinkStatus"]), (1, &json!("AVAILABLE")));
    env.destroy();
}

#[test]
fn a_network_and_a_link_into_it_are_created_and_destroyed_in_one_run() {
    let mut network = None;
    let env = TestEnv::on(|proxy| {
        let account = Account { id: proxy.account().id.clone(), emulator: Emulator::moto() };
        let of = |proxy: &Proxy| format!("ec2 = \"{}\"", proxy.endpoint());
        let network = network.insert(Proxy::in_account(account));
        Workspace::with_blocks(&Workspace::block(proxy, "").replace(&of(proxy), &of(network)))
    });
    let network = network.expect("the workspace has it");
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } }, "deleting": 4 }));
    let main = json!({
        "subnet_ids": "${fgw_four_tier_vpc.this.private_app_subnet_ids}",
        "security_group_ids": ["${fgw_four_tier_vpc.this.default_security_group_id}"],
    });
    let vpc =
        json!({ "vpc_name": "shop", "cidr_block": "10.0.0.0/16", "num_availability_zones": 2, "num_nat_gateways": 0 });
    env.configs(&[("this", &env.linked(&main))], &json!({ "fgw_four_tier_vpc": { "this": vpc } }));
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/a", None).json()["by"], "inside");
    assert_eq!(env.links()[0]["SubnetIds"].as_array().map(Vec::len), Some(2));

    // API Gateway deletes the network interfaces of a link with it, and until then they block their subnets.
    env.proxy.clear_calls();
    network.clear_calls();
    env.workspace.destroy().succeeded();
    let missing = env.proxy.calls().into_iter().rfind(|it| it.call.action == "GetVpcLink" && it.status == 404);
    let missing = missing.expect("the destroy waits for the link").ended.expect("it is answered");
    let subnets = network.calls().into_iter().filter(|it| it.call.action == "DeleteSubnet");
    let subnets: Vec<bool> = subnets.map(|it| it.started >= missing).collect();
    assert!(subnets.len() >= 2 && subnets.iter().all(|is_later| *is_later), "{subnets:?}");
    env.proxy.account().assert_nothing_of_ours_is_left();
    network.account().assert_nothing_of_ours_is_left();
}
