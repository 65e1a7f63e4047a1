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
    env.proxy.has_policies_of_configurations();
    let listeners = json!({ LISTENER: { "port": target::start("inside") } });
    env.set_links(&json!({ "listeners": listeners, "pending": 3, "deleting": 3 }));
    env.apply(&env.linked(&link(&["subnet-1"], &json!({ "tags": { "team": "web" } }))));
    let by = || env.send("GET", "/a", None).json()["by"].clone();
    assert_eq!(by(), "inside");
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);
    // An available link may not serve requests at once.
    env.set_links(&json!({ "warming": 1 }));

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
fn a_link_that_exists_is_adopted_and_given_back() {
    let env = TestEnv::new();
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } } }));
    let theirs = env.foreign_link("shop");
    let given = json!({ "route_config": {
        "GET /still": env.to("users"),
        "GET /a": { "integration_uri": LISTENER, "vpc_link_id": theirs },
    } });
    env.apply(&given);
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);

    let adopting = |main: &Value| with(&env.linked(main), &json!({ "adopt": { "vpc_link.main": theirs } }));
    let named = |subnet: &str, name: &str| link(&[subnet], &json!({ "name": name }));
    for (main, part) in [
        (named("subnet-1", "other"), "name is other instead of shop"),
        (named("subnet-2", "shop"), "subnet_ids: + subnet-2, - subnet-1"),
    ] {
        let refusal = env.refusal(&adopting(&main));
        assert!(refusal.contains(part), "{refusal}");
    }
    let change = env.planned_change(&adopting(&named("subnet-1", "shop")));
    assert_eq!((change.calls, change.objects), (vec!["TagResource vpc_link".into()], vec!["+vpc_link.main".into()]));
    assert_eq!(env.attribute("vpc_link_ids")["main"], theirs.as_str());
    assert_eq!(env.links().len(), 1);

    // A route cannot name it by its ID as long as it is managed.
    let both = with(&env.linked(&named("subnet-1", "shop")), &json!({ "route_config": given["route_config"] }));
    let refusal = env.refusal(&both);
    assert!(refusal.contains("This is the ID of the VPC link \"main\" in vpc_links."), "{refusal}");
    let change = env.planned_change(&given);
    assert_eq!((change.calls, change.objects), (vec!["UntagResource vpc_link".into()], vec!["-vpc_link.main".into()]));
    client.saw_no_error();
    env.destroy();
    assert_eq!(env.links().len(), 1, "it is not deleted");
}

#[test]
fn a_link_of_an_interrupted_run_is_taken_over_or_named() {
    let env = TestEnv::new();
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } } }));
    let main = link(&["subnet-1"], &json!({}));
    let mut without = env.linked(&main);
    without["vpc_links"] = json!({});
    without["route_config"]["GET /a"] = env.to("orders");
    env.apply(&without);
    let owner = format!("http_gateway/{}", text(&env.attribute("api_id")));
    let interrupted = |name: &str, subnet: &str| {
        let tags = json!({ "fgw:resource": owner, "fgw:object": format!("vpc_link.{name}") });
        let arguments = json!({ "Name": name, "SubnetIds": [subnet], "SecurityGroupIds": ["sg-1"], "Tags": tags });
        text(&env.proxy.account().boto("apigatewayv2", "create_vpc_link", arguments)["VpcLinkId"])
    };
    // The first is what the configuration requires.
    let (taken, other) = (interrupted("main", "subnet-1"), interrupted("old", "subnet-2"));
    env.apply(&env.linked(&main));
    assert_eq!((env.proxy.count("CreateVpcLink"), env.attribute("vpc_link_ids")["main"].clone()), (0, json!(taken)));
    env.workspace.apply(&["-refresh-only"]).succeeded();
    let unmanaged = env.attribute("unmanaged_objects");
    assert!(text(&unmanaged[&other]).starts_with("vpc_link.old, not in state"), "{unmanaged}");

    // An import finds all of them, and a destroy deletes them.
    env.workspace.reimport(THIS);
    assert_eq!(env.attribute("aws_objects")["vpc_link.old"], json!(other));
    env.destroy();
    assert_eq!(env.links(), Vec::<Value>::new());
}

#[test]
fn the_zones_of_the_subnets_of_a_link_are_checked() {
    let env = TestEnv::new();
    env.proxy.has_policies_of_configurations();
    let config = |subnet: &str| env.linked(&link(&["subnet-1", subnet], &json!({})));
    env.config(&config("subnet-3"));
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    for text in ["subnet-3 is in the AZ use1-az3", "AWS documents no VPC links there", "Use a subnet of another AZ."] {
        assert!(plan.says(text), "{text}: {plan}");
    }
    env.workspace.apply(&[]).failed_with("Subnet 'subnet-3' is in Availability Zone 'use1-az3'");
    env.config(&config("subnet-9"));
    let plan = env.workspace.plan(&[]);
    plan.failed_with(
        "The subnet subnet-9 of subnet_ids of \"main\" does not exist in this account and Region (us-east-1).",
    );
    env.apply(&config("subnet-2"));
    env.proxy.clear_calls();
    env.config(&config("subnet-2"));
    env.workspace.plan(&[]);
    assert_eq!(env.proxy.count("DescribeSubnets"), 0, "only new subnets are looked up");
    env.destroy();
}

#[test]
fn a_listener_of_another_account_is_refused() {
    let env = TestEnv::new();
    let link = env.foreign_link("theirs");
    let theirs = LISTENER.replace("123456789012", "210987654321");
    let config = |uri: &str| json!({ "route_config": { "GET /a": { "integration_uri": uri, "vpc_link_id": link } } });
    env.config(&config(&theirs));
    let ours = &env.proxy.account().id;
    let plan = env.workspace.plan(&[]);
    plan.failed_with(&format!("is of the account 210987654321, but the provider uses the account {ours}."));
    plan.failed_with("Use a listener or a Cloud Map service of the account and in the Region of the gateway.");
    env.apply(&config(LISTENER));
    env.destroy();
}

#[test]
fn a_link_that_fails_is_replaced_by_the_next_apply() {
    let env = TestEnv::with_terraform();
    // AWS's list of zones without links may be longer than the documented one.
    env.set_links(&json!({ "unsupported": ["use1-az1"] }));
    env.config(&env.linked(&link(&["subnet-1"], &json!({}))));
    env.workspace.apply(&[]).failed_with("Subnet 'subnet-1' is in Availability Zone");
    env.set_links(&json!({ "unsupported": [], "failure": "no free addresses" }));
    env.workspace.run(&["untaint", "-no-color", THIS]).succeeded();
    env.workspace.apply(&[]).failed_with("no free addresses");
    env.set_links(&json!({ "failure": null }));
    env.apply_config();
    let links = env.links();
    assert_eq!((links.len(), &links[0]["VpcLinkStatus"]), (1, &json!("AVAILABLE")));
    env.destroy();
}

/// A network with a gateway whose link is in the subnets for applications, and the proxy in front of the network.
struct Linked {
    env: TestEnv,
    network: Proxy,
}

impl Linked {
    fn new() -> Self {
        let mut network = None;
        let env = TestEnv::on(|proxy| {
            let account = Account { id: proxy.account().id.clone(), emulator: Emulator::moto() };
            let of = |proxy: &Proxy| format!("ec2 = \"{}\"", proxy.endpoint());
            let network = network.insert(Proxy::in_account(account));
            network.has_links_of(proxy.account().clone());
            Workspace::with_blocks(&Workspace::block(proxy, "").replace(&of(proxy), &of(network)))
        });
        env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } }, "deleting": 4 }));
        Self { env, network: network.expect("the workspace has it") }
    }

    /// Applies a network with this number of AZs, and the link into it.
    fn apply(&self, zones: u8) {
        let main = json!({
            "subnet_ids": "${fgw_four_tier_vpc.this.private_app_subnet_ids}",
            "security_group_ids": ["${fgw_four_tier_vpc.this.default_security_group_id}"],
        });
        let vpc = json!({
            "vpc_name": "shop", "cidr_block": "10.0.0.0/16", "num_availability_zones": zones, "num_nat_gateways": 0,
            // Only the wait for subnets in use reaches it.
            "timeouts": { "update": "2s" },
        });
        self.env.configs(&[("this", &self.env.linked(&main))], &json!({ "fgw_four_tier_vpc": { "this": vpc } }));
        self.env.workspace.apply(&[]).succeeded();
        let links = self.env.links();
        assert_eq!((links.len(), links[0]["SubnetIds"].as_array().map(Vec::len)), (1, Some(usize::from(zones))));
        assert_eq!(self.env.send("GET", "/a", None).json()["by"], "inside");
    }

    /// The statuses of the answers to deletions of subnets.
    fn deletions(&self) -> Vec<u16> {
        let calls = self.network.calls().into_iter().filter(|it| it.call.action == "DeleteSubnet");
        calls.map(|it| it.status).collect()
    }

    fn destroy(&self) {
        self.network.clear_calls();
        self.env.workspace.destroy().succeeded();
        let statuses = self.deletions();
        assert!(!statuses.is_empty() && statuses.iter().all(|status| *status == 200), "{statuses:?}");
        self.env.proxy.account().assert_nothing_of_ours_is_left();
        self.network.account().assert_nothing_of_ours_is_left();
    }
}

/// The network interfaces of the link block the deletion of its subnets until the link is deleted.
#[test]
fn a_network_and_a_link_into_it_are_created_and_destroyed_in_one_run() {
    let linked = Linked::new();
    linked.apply(2);
    linked.env.workspace.assert_nothing_to_do();
    let subnet = json!({ "SubnetId": linked.env.links()[0]["SubnetIds"][0] });
    let refused = linked.network.try_boto("ec2", "delete_subnet", subnet).expect_err("it is in use");
    assert_eq!(refused.code, "DependencyViolation");
    linked.destroy();
}

/// Terraform changes the network first.
#[test]
fn a_subnet_that_a_link_leaves_in_one_run_is_deleted_by_the_next() {
    let linked = Linked::new();
    linked.apply(2);
    linked.apply(1);
    let pending = || linked.env.workspace.state().attribute("fgw_four_tier_vpc.this", "pending_deletion").clone();
    assert!(pending()["subnet.private_app.1"].is_string(), "{}", pending());
    linked.env.workspace.apply(&[]).succeeded();
    assert_eq!(pending(), json!({}));
    linked.env.workspace.assert_nothing_to_do();
    linked.destroy();
}

/// Two gateways: `owner` has a link in these subnets, and a route of `this` goes through it.
fn shared(env: &TestEnv, subnets: &[&str]) {
    let owner = json!({
        "name": "owner",
        "route_config": { "GET /": env.to("orders") },
        "vpc_links": { "main": link(subnets, &json!({})) },
    });
    let user = json!({ "route_config": {
        "GET /still": env.to("users"),
        "GET /a": { "integration_uri": LISTENER, "vpc_link_id": "${fgw_http_gateway.owner.vpc_link_ids[\"main\"]}" },
    } });
    env.configs(&[("owner", &owner), ("this", &user)], &json!({}));
}

const OWNER: &str = "fgw_http_gateway.owner";

fn owned(env: &TestEnv, name: &str) -> Value {
    env.workspace.state().attribute(OWNER, name).clone()
}

#[test]
fn a_gateway_follows_the_link_of_another_one_in_the_same_run() {
    let env = TestEnv::with_terraform();
    let listeners = json!({ LISTENER: { "port": target::start("inside") } });
    env.set_links(&json!({ "listeners": listeners }));
    shared(&env, &["subnet-1"]);
    env.apply_config();
    let old = owned(&env, "vpc_link_ids")["main"].clone();
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);

    shared(&env, &["subnet-1", "subnet-2"]);
    let first = env.workspace.apply(&[]);
    first.succeeded();
    for part in ["vpc_link.main is still in use; the next apply deletes it", "\"GET /a\" (of API"] {
        assert!(first.says(part), "no {part:?} in {first}");
    }
    assert_eq!(owned(&env, "pending_deletion"), json!({ "vpc_link.main": old }));
    assert_ne!(owned(&env, "vpc_link_ids")["main"], old);
    let deletions = env.proxy.count("DeleteVpcLink");
    assert_eq!(deletions, 1, "the users are known, so it does not wait for them");
    env.apply_config();
    assert_eq!((env.links().len(), env.proxy.count("DeleteVpcLink")), (1, 1), "the next run deletes the old link");
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_link_in_use_is_pending_until_a_later_run_reaches_its_user() {
    let env = TestEnv::with_terraform();
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } } }));
    shared(&env, &["subnet-1"]);
    env.apply_config();
    let old = owned(&env, "vpc_link_ids")["main"].clone();
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);
    let target = format!("-target={OWNER}");

    shared(&env, &["subnet-2"]);
    env.workspace.apply(&[&target]).succeeded();
    assert_eq!(env.workspace.plan(&[&target]).code, 0, "a read shows the user, so nothing is to do");
    env.workspace.lose_private_state(OWNER);
    assert_eq!(env.workspace.plan(&[&target]).code, 0, "the state alone shows that it is pending");

    // The change is taken back, and so is the link.
    shared(&env, &["subnet-1"]);
    env.apply_config();
    assert_eq!((owned(&env, "vpc_link_ids")["main"].clone(), env.links().len()), (old.clone(), 1));

    shared(&env, &["subnet-2"]);
    env.workspace.apply(&[&target]).succeeded();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(owned(&env, "pending_deletion"), json!({ "vpc_link.main": old }));
    env.apply_config();
    assert_eq!((owned(&env, "pending_deletion"), env.links().len()), (json!({}), 1));
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_deletion_that_fails_later_is_repeated_by_the_next_apply() {
    let env = TestEnv::new();
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } }, "undeletable": "in use" }));
    env.apply(&env.linked(&link(&["subnet-1"], &json!({}))));
    env.config(&env.linked(&link(&["subnet-2"], &json!({}))));
    let first = env.workspace.apply(&[]);
    first.succeeded();
    assert!(first.says("AWS accepted the deletion of VPC link"), "{first}");
    assert_eq!(env.attribute("pending_deletion").as_object().map(|it| it.len()), Some(1));
    env.set_links(&json!({ "undeletable": null }));
    env.apply_config();
    assert_eq!((env.links().len(), env.attribute("pending_deletion")), (1, json!({})));
    env.destroy();
}

#[test]
fn a_gateway_whose_link_another_one_uses_is_not_destroyed() {
    let env = TestEnv::new();
    env.set_links(&json!({ "listeners": { LISTENER: { "port": target::start("inside") } } }));
    let own = with(&env.linked(&link(&["subnet-1"], &json!({}))), &json!({ "timeouts": { "delete": "2s" } }));
    env.apply(&own);
    let api =
        env.proxy.account().boto("apigatewayv2", "create_api", json!({ "Name": "theirs", "ProtocolType": "HTTP" }));
    let integration = json!({
        "ApiId": api["ApiId"], "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "ANY",
        "IntegrationUri": env.proxy.account().fill_in(LISTENER), "ConnectionType": "VPC_LINK",
        "ConnectionId": env.attribute("vpc_link_ids")["main"],
    });
    let integration = env.proxy.account().boto("apigatewayv2", "create_integration", integration);
    let target = format!("integrations/{}", text(&integration["IntegrationId"]));
    let route = json!({ "ApiId": api["ApiId"], "RouteKey": "GET /theirs", "Target": target });
    env.proxy.account().boto("apigatewayv2", "create_route", route);
    env.proxy.clear_calls();
    let refused = env.workspace.destroy();
    refused.failed_with(": in use");
    refused.failed_with("\"GET /theirs\" (of API");
    assert_eq!(env.proxy.mutations().len(), 0, "nothing is deleted");
    env.assert_plan_changes_nothing();
    env.proxy.account().boto("apigatewayv2", "delete_api", json!({ "ApiId": api["ApiId"] }));
    env.destroy();
}
