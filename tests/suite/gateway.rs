//! `fgw_http_gateway` on ministack: gateways that are created, called, changed, damaged and destroyed, in the stand-in
//! for Terraform, and under Terraform where only that can show it.

#[path = "gateway/authorizers.rs"]
mod authorizers;
#[path = "gateway/budget.rs"]
mod budget;
#[path = "gateway/change.rs"]
mod change;
#[path = "gateway/data_sources.rs"]
mod data_sources;
#[path = "gateway/dns.rs"]
mod dns;
#[path = "gateway/domain.rs"]
mod domain;
#[path = "gateway/drift.rs"]
mod drift;
#[path = "gateway/examples.rs"]
mod examples;
#[path = "gateway/failures.rs"]
mod failures;
#[path = "gateway/functions.rs"]
mod functions;
#[path = "gateway/inputs.rs"]
mod inputs;
#[path = "gateway/import.rs"]
mod import;
#[path = "gateway/logs.rs"]
mod logs;
#[path = "gateway/drift_matrix.rs"]
mod drift_matrix;
#[path = "gateway/foreigners.rs"]
mod foreigners;
#[path = "gateway/created.rs"]
mod created;
#[path = "gateway/mapping.rs"]
mod mapping;
#[path = "gateway/snapshot.rs"]
mod snapshot;
#[path = "gateway/refused.rs"]
mod refused;
#[path = "gateway/routes.rs"]
mod routes;
#[path = "gateway/serving.rs"]
mod serving;
#[path = "gateway/same_run.rs"]
mod same_run;
#[path = "gateway/scale.rs"]
mod scale;
#[path = "gateway/settings.rs"]
mod settings;
#[path = "gateway/together.rs"]
mod together;
#[path = "gateway/load_client.rs"]
mod load_client;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http::{self, Answer};
use crate::support::proxy::Proxy;
use crate::support::proxy::log::Record;
use crate::support::terraform::Workspace;

/// The gateway of a test's configuration.
const THIS: &str = "fgw_http_gateway.this";

/// The key that the authorizer functions take.
const SECRET: &str = "open sesame";

/// An account with the functions `orders`, `users`, `guard` and `keeper`, and a Terraform workspace for it.
struct TestEnv {
    proxy: Proxy,
    workspace: Workspace,
}

impl TestEnv {
    fn new() -> Self {
        Self::on(|proxy| Workspace::without_terraform(proxy, ""))
    }

    /// Under Terraform: for what only Terraform can show.
    fn with_terraform() -> Self {
        Self::on(Workspace::new)
    }

    fn on(workspace: impl FnOnce(&Proxy) -> Workspace) -> Self {
        let proxy = Proxy::ministack();
        for name in ["orders", "users"] {
            let body = format!("'{name} ' + event['rawPath']");
            let source = format!("def handler(event, context):\n    return {{'statusCode': 200, 'body': {body}}}\n");
            proxy.account().create_function(name, &source);
        }
        for name in ["guard", "keeper"] {
            let allowed = format!("event['headers'].get('x-key') == '{SECRET}'");
            let source = format!("def handler(event, context):\n    return {{'isAuthorized': {allowed}}}\n");
            proxy.account().create_function(name, &source);
        }
        let workspace = workspace(&proxy);
        Self { proxy, workspace }
    }

    /// The ARN of a function of this account.
    fn arn(&self, function: &str) -> String {
        format!("arn:aws:lambda:us-east-1:{}:function:{function}", self.proxy.account().id)
    }

    /// A route to a function, with nothing else said.
    fn to(&self, function: &str) -> Value {
        json!({ "faas_function_arn": self.arn(function) })
    }

    /// A route to a function that an authorizer protects.
    fn guarded(&self, function: &str, authorizer: &str) -> Value {
        json!({ "faas_function_arn": self.arn(function), "authorizer_name": authorizer })
    }

    /// The configuration of one gateway called `shop`, with these attributes.
    fn config(&self, attributes: &Value) {
        self.configs(&[("this", attributes)], &json!({}));
    }

    /// Gateways by label, each called `shop` unless it says otherwise, and other resources.
    fn configs(&self, gateways: &[(&str, &Value)], others: &Value) {
        let mut resources = others.clone();
        for (label, attributes) in gateways {
            resources["fgw_http_gateway"][label] = with(&json!({ "name": "shop" }), attributes);
        }
        self.workspace.write("main.tf.json", &json!({ "resource": resources }).to_string());
    }

    /// Configures, applies, and plans again, which must find nothing. The calls left in the log are those of the apply.
    fn apply(&self, attributes: &Value) {
        self.config(attributes);
        self.apply_config();
    }

    /// The same, with the configuration that is there.
    fn apply_config(&self) {
        self.proxy.clear_calls();
        self.workspace.apply(&[]).succeeded();
        assert_turns_are_taken(&self.proxy);
        let calls = self.proxy.calls().len();
        self.assert_quiet();
        self.proxy.keep_calls(calls);
    }

    /// Applies a change, which must do what its plan says, and says what was changed in AWS, call by call. See
    /// [`TestEnv::told`] and [`TestEnv::planned_change`].
    fn change(&self, attributes: &Value) -> Vec<String> {
        self.planned_change(attributes).told
    }

    /// The calls that changed something, in their order: `UpdateRoute route.GET /orders`. Objects are named by their
    /// keys without hashes, those that have left by the ones of `before`.
    fn told(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let mut slots = before.clone();
        slots.extend(self.slots());
        let subject = |record: &Record| {
            let names = ["routeId", "integrationId", "authorizerId", "StatementId"];
            let id = names.iter().map(|name| record.call.param(name)).find(|id| slots.contains_key(*id));
            let said = ["routeKey", "integrationUri", "authorizerUri", "stageName", "logGroupName", "resourceArn"];
            let said = || said.iter().map(|name| record.call.param(name)).find(|it| !it.is_empty()).unwrap_or_default();
            let domain = record.call.param("domainName");
            match record.call.action.as_str() {
                _ if !domain.is_empty() => Some(domain.to_owned()),
                "UpdateRoute" | "DeleteRoute" | "UpdateAuthorizer" => id.map(|id| slots[id].clone()),
                action if action.starts_with("Delete") || action.ends_with("Permission") => {
                    id.map(|id| slots[id].clone())
                }
                _ => None,
            }
            .unwrap_or_else(|| short(said()))
        };
        let told = |record: &Record| format!("{} {}", record.call.action, subject(record)).trim_end().to_string();
        self.proxy.mutations().iter().map(told).collect()
    }

    /// The objects of the gateway in state, from id to key without hash.
    fn slots(&self) -> BTreeMap<String, String> {
        let state = self.workspace.state();
        let objects = state.resource(THIS).and_then(|it| it["aws_objects"].as_object()).cloned().unwrap_or_default();
        objects.into_iter().map(|(slot, id)| (text(&id), without_hash(&slot))).collect()
    }

    /// An attribute of the gateway in state.
    fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(THIS, name).clone()
    }

    /// What the next plan says has changed behind our back.
    fn drift(&self) -> Value {
        let plan = self.workspace.plan_json(&[]);
        plan["prior_state"]["values"]["root_module"]["resources"][0]["values"]["drift"].clone()
    }

    /// Calls the gateway, with the key of the authorizers where there is one.
    fn call(&self, method: &str, path: &str, key: Option<&str>) -> Answer {
        let request = http::gateway(self.proxy.account(), &text(&self.attribute("api_id")), method, path);
        let request = match key {
            Some(key) => request.header("x-key", key),
            None => request,
        };
        request.send().expect("the gateway answers")
    }

    /// An API Gateway call about this API, by someone else.
    fn by_hand(&self, method: &str, mut arguments: Value) -> Value {
        arguments["ApiId"] = self.attribute("api_id");
        self.proxy.account().boto("apigatewayv2", method, arguments)
    }

    /// Destroys everything, and looks that nothing is left.
    fn destroy(&self) {
        self.proxy.clear_calls();
        self.workspace.destroy().succeeded();
        assert_turns_are_taken(&self.proxy);
        self.proxy.account().assert_nothing_of_ours_is_left();
    }
}

/// Changes of one API, of one log group and of one function's policy must never overlap: AWS refuses the first two and
/// loses statements in the third.
fn assert_turns_are_taken(proxy: &Proxy) {
    let mut turns: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in proxy.mutations() {
        let call = &record.call;
        let whose = match call.service.as_str() {
            // Each makes an API of its own.
            "apigateway" if call.action == "CreateApi" => continue,
            "apigateway" if !call.param("domainName").is_empty() => format!("domain {}", call.param("domainName")),
            "apigateway" if !call.param("apiId").is_empty() => format!("api {}", call.param("apiId")),
            "apigateway" => {
                let arn = call.param("resourceArn");
                format!(
                    "api {}",
                    arn.rsplit_once("/apis/").map_or(arn, |(_, rest)| rest.split('/').next().unwrap_or(rest))
                )
            }
            "lambda" => format!("function {}", call.param("FunctionName")),
            "logs" if call.param("logGroupName").is_empty() => format!("group {}", short(call.param("resourceArn"))),
            "logs" => format!("group {}", call.param("logGroupName")),
            _ => continue,
        };
        turns.entry(whose).or_default().push(record);
    }
    for (whose, records) in turns {
        for pair in records.windows(2) {
            let names = (&pair[0].call.action, &pair[1].call.action);
            assert!(!pair[0].overlaps(&pair[1]), "changes of {whose} overlap: {names:?}");
        }
    }
}

/// The second object's members over those of the first.
fn with(basis: &Value, more: &Value) -> Value {
    let mut joined = basis.clone();
    for (name, value) in more.as_object().expect("attributes") {
        joined[name] = value.clone();
    }
    joined
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The name of a function in an ARN or invoke URI, the rest of a stage's ARN, or the text itself.
fn short(text: &str) -> String {
    match text.rsplit_once(":function:") {
        Some((_, name)) => name.trim_end_matches("/invocations").to_owned(),
        None if text.contains("/stages/") => "stage".to_owned(),
        None if text.contains("/domainnames/") => "domain".to_owned(),
        None if text.contains("/apis/") => "api".to_owned(),
        None => text.rsplit_once(":log-group:").map_or(text, |(_, name)| name).to_owned(),
    }
}

/// A key without the six hexadecimal digits that tell objects of one name apart; they depend on the account.
fn without_hash(slot: &str) -> String {
    match slot.rsplit_once('.') {
        Some((name, hash)) if hash.len() == 6 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => name.to_owned(),
        _ => slot.to_owned(),
    }
}

/// Slow enough that calls which do not take turns overlap.
const SLOW: Duration = Duration::from_millis(10);
