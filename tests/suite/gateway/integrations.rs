//! What answers the requests of a route: a function, an HTTP endpoint, a private one behind a VPC link, or an action of
//! a service; and the exchange of one for another while requests are served.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::wait::until;
use crate::support::{deployments, target};

pub(super) const ROLE: &str = "arn:aws:iam::123456789012:role/caller";

pub(super) const LISTENER: &str =
    "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/shop/0123456789abcdef/0123456789abcdef";
const ENCRYPTED: &str =
    "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/net/shop/0123456789abcdef/fedcba9876543210";

impl TestEnv {
    /// A route to an endpoint on loopback, with a path.
    pub(super) fn endpoint(&self, port: u16, path: &str) -> Value {
        json!({ "integration_uri": format!("http://127.0.0.1:{port}{path}") })
    }

    /// A route to a queue.
    pub(super) fn queue(&self, name: &str, body: &str) -> Value {
        let queue = self.proxy.account().boto("sqs", "create_queue", json!({ "QueueName": name }));
        let parameters = json!({ "QueueUrl": queue["QueueUrl"], "MessageBody": body });
        json!({ "integration_subtype": "SQS-SendMessage", "credentials_arn": ROLE, "request_parameters": parameters })
    }

    /// The bodies of the messages in a queue.
    fn messages(&self, name: &str) -> Vec<String> {
        let queue = self.proxy.account().boto("sqs", "get_queue_url", json!({ "QueueName": name }));
        let arguments = json!({ "QueueUrl": queue["QueueUrl"], "MaxNumberOfMessages": 10 });
        let answer = self.proxy.account().boto("sqs", "receive_message", arguments);
        let messages = answer["Messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|message| text(&message["Body"])).collect()
    }

    /// The ID of a VPC link that someone else has created, and that is available.
    pub(super) fn foreign_link(&self, name: &str) -> String {
        let account = self.proxy.account();
        let arguments = json!({ "Name": name, "SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"] });
        let id = text(&account.boto("apigatewayv2", "create_vpc_link", arguments)["VpcLinkId"]);
        let status =
            || account.boto("apigatewayv2", "get_vpc_link", json!({ "VpcLinkId": id }))["VpcLinkStatus"].clone();
        until("the link is available", || status() == "AVAILABLE");
        id
    }

    /// The listeners that links reach: one without TLS, and one with a certificate for `shop.internal`.
    fn listeners(&self, plain: u16, encrypted: u16) {
        let listeners =
            json!({ LISTENER: { "port": plain }, ENCRYPTED: { "port": encrypted, "name": "shop.internal" } });
        deployments::set_links(self.proxy.account(), &json!({ "listeners": listeners }));
    }

    /// The integrations of the API, as AWS shows them.
    pub(super) fn integrations(&self) -> Vec<Value> {
        let shown = self.proxy.account().list_of("apis")[0]["integrations"].clone();
        shown.as_array().expect("a list").clone()
    }
}

fn private(link: &str) -> Value {
    json!({ "integration_uri": LISTENER, "vpc_link_id": link })
}

#[test]
fn each_target_answers_the_requests_of_its_routes() {
    let env = TestEnv::new();
    let (port, inner) = (target::start("outside"), target::start("inside"));
    env.listeners(inner, inner);
    let link = env.foreign_link("theirs");
    let encrypted = |name: &str| {
        let tls = json!({ "integration_uri": ENCRYPTED, "tls_config": { "server_name_to_verify": name } });
        with(&private(&link), &tls)
    };
    env.apply(&json!({ "route_config": {
        "GET /function": env.to("orders"),
        "ANY /shop/{proxy+}": env.endpoint(port, "/v2/{proxy}?from=gateway"),
        "ANY /items/{id}": with(&env.endpoint(port, "/item/{id}/fixed"), &json!({ "integration_method": "PUT" })),
        "ANY /bare/{proxy+}": env.endpoint(port, "/bare"),
        "GET /slow": with(&env.endpoint(port, "/hang"), &json!({ "timeout_milliseconds": 50 })),
        "ANY /inside/{proxy+}": private(&link),
        "GET /tls": encrypted("shop.internal"),
        "GET /wrong": encrypted("other.internal"),
        "POST /events": env.queue("events", "$request.body"),
    } }));
    let shown = |method: &str, path: &str| {
        let answer = env.send(method, path, None).json();
        format!("{} {} {}", text(&answer["by"]), text(&answer["method"]), text(&answer["path"]))
    };
    assert_eq!(env.send("GET", "/function", None).body, "orders /function");
    assert_eq!(shown("POST", "/shop/a/b?c=d"), "outside POST /v2/a/b?from=gateway&c=d");
    assert_eq!(shown("GET", "/items/7"), "outside PUT /item/7/fixed");
    assert_eq!(shown("GET", "/bare/a/b"), "outside GET /bare", "API Gateway appends nothing");
    assert_eq!(env.send("GET", "/slow", None).status, 503);
    assert_eq!(shown("DELETE", "/inside/a"), "inside DELETE /inside/a");
    assert_eq!(env.send("GET", "/tls", None).json()["headers"]["x-server-name"], "shop.internal");
    assert_eq!(env.send("GET", "/wrong", None).status, 500);
    let api = text(&env.attribute("api_id"));
    let request = crate::support::http::gateway(env.proxy.account(), &api, "POST", "/events");
    assert_eq!(request.body("an order").send().expect("it answers").status, 200);
    assert_eq!(env.messages("events"), ["an order"]);

    // An import finds the same inputs. Empty parameters mean the same as none.
    let inputs = || env.attribute("route_config").to_string().replace("{}", "null");
    let before = inputs();
    env.workspace.reimport(THIS);
    assert_eq!(inputs(), before);
    env.assert_plan_changes_nothing();
    env.destroy();
}

#[test]
fn each_service_handles_the_requests_of_its_route() {
    let env = TestEnv::new();
    let boto = |service: &str, method: &str, arguments: Value| env.proxy.account().boto(service, method, arguments);
    boto("kinesis", "create_stream", json!({ "StreamName": "clicks", "ShardCount": 1 }));
    let definition = json!({ "StartAt": "Done", "States": { "Done": { "Type": "Succeed" } } }).to_string();
    let machine = json!({ "name": "billing", "roleArn": ROLE, "definition": definition });
    let machine = text(&boto("stepfunctions", "create_state_machine", machine)["stateMachineArn"]);
    let action = |subtype: &str, parameters: Value| json!({ "integration_subtype": subtype, "credentials_arn": ROLE, "request_parameters": parameters });
    let event = json!({ "Source": "shop", "DetailType": "order", "Detail": "$request.body" });
    let record = json!({ "StreamName": "clicks", "Data": "$request.body", "PartitionKey": "$request.body.user" });
    env.apply(&json!({ "route_config": {
        "POST /event": action("EventBridge-PutEvents", event),
        "POST /click": action("Kinesis-PutRecord", record),
        "POST /bill": action(
            "StepFunctions-StartExecution-1.0",
            json!({ "StateMachineArn": machine, "Input": "$request.body" }),
        ),
    } }));
    let api = text(&env.attribute("api_id"));
    let answer = |path: &str| {
        let request = crate::support::http::gateway(env.proxy.account(), &api, "POST", path);
        let answer = request.body("{\"user\": \"ada\"}").send().expect("it answers");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    assert_eq!(answer("/event")["FailedEntryCount"], 0);
    assert!(answer("/click")["SequenceNumber"].is_string());
    let execution = answer("/bill")["executionArn"].clone();
    let shown = boto("stepfunctions", "describe_execution", json!({ "executionArn": execution }));
    assert_eq!(text(&shown["input"]), "{\"user\": \"ada\"}");
    env.end();
}

#[test]
fn targets_are_exchanged_while_requests_are_served() {
    let env = TestEnv::new();
    let (port, inner) = (target::start("outside"), target::start("inside"));
    env.listeners(inner, inner);
    let (one, two) = (env.foreign_link("one"), env.foreign_link("two"));
    let config = |route: Value| json!({ "route_config": { "GET /still": env.to("users"), "GET /a": route } });
    env.apply(&config(env.to("orders")));
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);
    let exchange = |route: Value| env.planned_change(&config(route)).calls;
    let deleted =
        |name: &str| ["UpdateRoute route.GET /a".to_string(), format!("DeleteIntegration integration.{name}")];
    let by = || env.send("GET", "/a", None).json()["by"].clone();

    let calls = exchange(env.endpoint(port, "/a"));
    assert!(calls[0].starts_with("CreateIntegration http://127.0.0.1"), "{calls:?}");
    assert_eq!(calls[1..3], deleted("GET /a"));
    assert_eq!(calls[3..], ["RemovePermission permission.orders"]);
    assert_eq!(by(), "outside");
    // AWS changes an endpoint to a private one in place, and back by another integration.
    assert_eq!(exchange(private(&one)), ["UpdateIntegration integration.GET /a#2"]);
    assert_eq!(by(), "inside");
    assert_eq!(exchange(private(&two)), ["UpdateIntegration integration.GET /a#2"]);
    let tls = json!({ "integration_uri": ENCRYPTED, "tls_config": { "server_name_to_verify": "shop.internal" } });
    let calls = exchange(with(&private(&two), &tls));
    assert_eq!((calls.len(), &calls[1..]), (3, &deleted("GET /a#2")[..]));
    let calls = exchange(env.queue("orders", "an order"));
    assert_eq!((calls.len(), &calls[1..]), (3, &deleted("GET /a")[..]));
    assert_eq!(env.send("GET", "/a", None).status, 200);
    let calls = exchange(env.endpoint(port, "/b"));
    assert_eq!((calls.len(), &calls[1..]), (3, &deleted("GET /a#2")[..]));
    let calls = exchange(env.to("orders"));
    assert_eq!(calls[0], "AddPermission permission.orders");
    assert_eq!((calls.len(), &calls[2..]), (4, &deleted("GET /a")[..]));
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    client.saw_no_error();
    assert_eq!(env.integrations().len(), 2);
    env.end();
}

#[test]
fn an_endpoint_changes_in_place_and_its_drift_is_corrected() {
    let env = TestEnv::new();
    let (first, second) = (target::start("first"), target::start("second"));
    let config = |route: Value| json!({ "route_config": { "ANY /a": route } });
    env.apply(&config(env.endpoint(first, "/a")));
    let changed =
        with(&env.endpoint(second, "/b"), &json!({ "integration_method": "PUT", "timeout_milliseconds": 9000 }));
    let update = ["UpdateIntegration integration.ANY /a"];
    let change = env.planned_change(&config(changed));
    assert_eq!((change.calls, change.objects.len()), (update.map(str::to_owned).into(), 0));
    assert_eq!(env.send("GET", "/a", None).json()["method"], "PUT");

    let id = text(&env.attribute("integration_ids")["ANY /a"]);
    let theirs = json!({ "IntegrationId": id, "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET",
        "IntegrationUri": "http://theirs.example.com/a" });
    env.api_call("update_integration", theirs);
    let drift = text(&env.drift()["integration.ANY /a"]);
    for part in
        ["integration_method is GET instead of PUT", "integration_uri is http://theirs.example.com/a instead of"]
    {
        assert!(drift.contains(part), "{drift}");
    }
    env.apply_config();
    assert_eq!(env.send("GET", "/a", None).json()["by"], "second");
    assert_eq!(env.change(&config(env.endpoint(first, "/a"))), update);
    env.end();
}

#[test]
fn a_role_takes_the_place_of_the_permission() {
    let env = TestEnv::new();
    let config = |role: Value| {
        json!({ "route_config": {
            "GET /still": env.to("users"),
            "GET /a": with(&env.to("orders"), &json!({ "credentials_arn": role })),
        } })
    };
    env.apply(&config(json!(null)));
    let client = env.load_client(("GET /still", "users /still"), &["GET /a"]);
    let calls = env.change(&config(json!(ROLE)));
    assert_eq!(calls, ["UpdateIntegration integration.GET /a", "RemovePermission permission.orders"]);
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    // No call removes a role, so another integration takes its place.
    let change = env.planned_change(&config(json!(null)));
    assert_eq!(change.objects, ["+integration.GET /a#2", "+permission.orders", "-integration.GET /a"]);
    assert_eq!(env.send("GET", "/a", None).body, "orders /a");
    client.saw_no_error();
    env.end();
}

#[test]
fn an_action_of_a_service_never_changes_in_place() {
    let env = TestEnv::new();
    let config = |route: Value| json!({ "route_config": { "POST /a": route, "GET /still": env.to("users") } });
    env.apply(&config(env.queue("first", "an order")));
    let client = env.load_client(("GET /still", "users /still"), &["POST /a"]);
    for (route, old, new) in [
        (env.queue("second", "an order"), "POST /a", "POST /a#2"),
        (env.queue("second", "another order"), "POST /a#2", "POST /a"),
    ] {
        let change = env.planned_change(&config(route));
        assert_eq!(change.objects, [format!("+integration.{new}"), format!("-integration.{old}")]);
    }
    let grouped = env.queue("second", "another order");
    let mut more = grouped.clone();
    more["request_parameters"]["DelaySeconds"] = "1".into();
    env.planned_change(&config(more));
    env.planned_change(&config(grouped.clone()));
    assert_eq!(env.proxy.count("UpdateIntegration"), 0);
    client.saw_no_error();

    // Drift of one that no call corrects: a new one takes its place.
    let id = text(&env.attribute("integration_ids")["POST /a"]);
    let theirs = with(&grouped["request_parameters"], &json!({ "MessageBody": "theirs" }));
    let theirs = json!({ "IntegrationId": id, "IntegrationType": "AWS_PROXY", "IntegrationSubtype": "SQS-SendMessage",
        "RequestParameters": theirs });
    env.api_call("update_integration", theirs);
    let slot = env.slots()[&id].clone();
    assert_eq!(text(&env.drift()[&slot]), "request parameter MessageBody has another value");
    env.apply_config();
    assert_ne!(text(&env.attribute("integration_ids")["POST /a"]), id);
    assert_eq!(env.integrations().len(), 2);

    // Ignored drift stays as it is.
    let ignoring = with(&config(grouped), &json!({ "ignore_drift": ["integration.*"] }));
    env.apply(&ignoring);
    let id = text(&env.attribute("integration_ids")["POST /a"]);
    let slow = json!({ "IntegrationId": id, "IntegrationType": "AWS_PROXY", "IntegrationSubtype": "SQS-SendMessage",
        "RequestParameters": env.integrations().iter().find(|it| it["IntegrationId"] == id.as_str()).expect("it exists")
            ["RequestParameters"], "TimeoutInMillis": 9000 });
    env.api_call("update_integration", slow);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn a_link_that_the_configuration_names_is_looked_up() {
    let env = TestEnv::new();
    let inner = target::start("inside");
    env.listeners(inner, inner);
    let config = |link: &str| json!({ "route_config": { "GET /a": private(link) } });
    let missing = env.refusal(&config("a1b2c3"));
    let text =
        "The VPC link a1b2c3 of vpc_link_id of \"GET /a\" does not exist in this account and Region (us-east-1).";
    assert!(missing.contains(text) && missing.contains("route_config[\"GET /a\"].vpc_link_id"), "{missing}");

    let link = env.foreign_link("theirs");
    let with_status = |status: &str| {
        deployments::set_links(env.proxy.account(), &json!({ "statuses": { &link: status } }));
        env.config(&config(&link));
        env.workspace.plan(&[])
    };
    with_status("FAILED").failed_with("has the status FAILED: it never serves a request");
    assert!(with_status("INACTIVE").says("it had no requests for 60 days"));
    let available = with_status("AVAILABLE");
    assert!(!available.says("has the status"), "{available}");
    // API Gateway cannot read the listener of a new load balancer at first.
    deployments::set_links(env.proxy.account(), &json!({ "unreadable": 1 }));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(
        (env.proxy.count("CreateIntegration"), env.send("GET", "/a", None).json()["by"].clone()),
        (2, "inside".into())
    );
    // The lookup of an unchanged input does not block other changes.
    let inactive = with_status("INACTIVE");
    assert_eq!(inactive.code, 0, "{inactive}");
    env.end();
}

#[test]
fn a_link_that_becomes_known_at_apply_is_looked_up_then() {
    let env = TestEnv::with_terraform();
    let route = private("${terraform_data.link.output}");
    let link = json!({ "terraform_data": { "link": { "input": "a1b2c3" } } });
    env.configs(&[("this", &json!({ "route_config": { "GET /a": route } }))], &link);
    assert_eq!(env.workspace.plan(&[]).code, 2);
    env.workspace.apply(&[]).failed_with("The VPC link a1b2c3 of vpc_link_id of \"GET /a\" does not exist");
    assert_eq!(env.proxy.mutations().len(), 0, "the lookup comes first");
}

#[test]
fn inputs_without_an_effect_are_refused() {
    let env = TestEnv::new();
    let refused = |route: Value, part: &str| {
        let refusal = env.refusal(&json!({ "route_config": { "GET /a": route } }));
        assert!(refusal.contains(part), "{refusal}");
    };
    let url = env.endpoint(80, "/a");
    let tls = json!({ "tls_config": { "server_name_to_verify": "a" } });
    refused(with(&url, &tls), "tls_config has no effect without a VPC link");
    refused(with(&url, &env.to("orders")), "Both faas_function_arn");
    refused(with(&url, &json!({ "credentials_arn": ROLE })), "Both credentials_arn");
    refused(json!({}), "Neither faas_function_arn nor integration_uri nor integration_subtype is set.");
    refused(json!({ "integration_uri": LISTENER }), "requires a VPC link");
}
