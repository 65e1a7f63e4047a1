//! `fgw_http_gateway` on ministack. Most tests run in the stand-in for Terraform; those that need Terraform's own
//! behavior run under Terraform.

#[path = "gateway/adoption.rs"]
mod adoption;
#[path = "gateway/adoption_from_aws.rs"]
mod adoption_from_aws;
#[path = "gateway/adoption_later.rs"]
mod adoption_later;
#[path = "gateway/authorization.rs"]
mod authorization;
#[path = "gateway/authorizers.rs"]
mod authorizers;
#[path = "gateway/budget.rs"]
mod budget;
#[path = "gateway/change.rs"]
mod change;
#[path = "gateway/data_sources.rs"]
mod data_sources;
#[path = "gateway/deployments.rs"]
mod deployments;
#[path = "gateway/dns.rs"]
mod dns;
#[path = "gateway/domain.rs"]
mod domain;
#[path = "gateway/drift.rs"]
mod drift;
#[path = "gateway/examples.rs"]
mod examples;
#[path = "gateway/failed_updates.rs"]
mod failed_updates;
#[path = "gateway/failures.rs"]
mod failures;
#[path = "gateway/functions.rs"]
mod functions;
#[path = "gateway/inputs.rs"]
mod inputs;
#[path = "gateway/integrations.rs"]
mod integrations;
#[path = "gateway/parameters.rs"]
mod parameters;
#[path = "gateway/generate.rs"]
mod generate;
#[path = "gateway/import.rs"]
mod import;
#[path = "gateway/kept_groups.rs"]
mod kept_groups;
#[path = "gateway/location.rs"]
mod location;
#[path = "gateway/logs.rs"]
mod logs;
#[path = "gateway/missing_objects.rs"]
mod missing_objects;
#[path = "gateway/ownership_tags.rs"]
mod ownership_tags;
#[path = "gateway/drift_matrix.rs"]
mod drift_matrix;
#[path = "gateway/unmanaged.rs"]
mod unmanaged;
#[path = "gateway/created.rs"]
mod created;
#[path = "gateway/mapping.rs"]
mod mapping;
#[path = "gateway/shared_domain.rs"]
mod shared_domain;
#[path = "gateway/mutual_tls.rs"]
mod mutual_tls;
#[path = "gateway/snapshot.rs"]
mod snapshot;
#[path = "gateway/protected.rs"]
mod protected;
#[path = "gateway/renamed.rs"]
mod renamed;
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
#[path = "gateway/stages.rs"]
mod stages;
#[path = "gateway/shared_objects.rs"]
mod shared_objects;
#[path = "gateway/vpc_links.rs"]
mod vpc_links;
#[path = "gateway/throttling.rs"]
mod throttling;
#[path = "gateway/together.rs"]
mod together;
#[path = "gateway/load_client.rs"]
mod load_client;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::both::Subject;
use crate::support::http::{self, Answer};
use crate::support::proxy::Proxy;
use crate::support::proxy::log::Record;
use crate::support::terraform::Workspace;

/// The gateway of a test's configuration.
const THIS: &str = "fgw_http_gateway.this";

/// The key that the authorizer functions accept.
const SECRET: &str = "open sesame";

/// An account with the functions `orders`, `users`, `guard` and `keeper`, and a workspace for it. The first two answer
/// with their name and the path, the others are authorizers.
struct TestEnv {
    proxy: Proxy,
    workspace: Workspace,
}

impl TestEnv {
    fn new() -> Self {
        Self::on(|proxy| Workspace::without_terraform(proxy, ""))
    }

    /// Under Terraform, for behavior that only Terraform shows.
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

    /// A route to a function, without other settings.
    fn to(&self, function: &str) -> Value {
        json!({ "faas_function_arn": self.arn(function) })
    }

    /// A route to a function, protected by an authorizer.
    fn guarded(&self, function: &str, authorizer: &str) -> Value {
        json!({ "faas_function_arn": self.arn(function), "authorizer_name": authorizer })
    }

    /// The configuration of one gateway called `shop`, with these attributes.
    fn config(&self, attributes: &Value) {
        self.configs(&[("this", attributes)], &json!({}));
    }

    /// Gateways by label, each called `shop` unless it says otherwise, and other resources. In their ARNs, the account
    /// of the test replaces 123456789012.
    fn configs(&self, gateways: &[(&str, &Value)], others: &Value) {
        let mut resources = others.clone();
        for (label, attributes) in gateways {
            resources["fgw_http_gateway"][label] = with(&json!({ "name": "shop" }), attributes);
        }
        self.proxy.uses(&resources.to_string());
        let config = json!({ "resource": resources }).to_string();
        self.workspace.write("main.tf.json", &self.proxy.account().fill_in(&config));
    }

    /// Writes the configuration, applies it, and asserts that another plan is empty. The log keeps the apply's calls.
    fn apply(&self, attributes: &Value) {
        self.config(attributes);
        self.apply_config();
    }

    /// The same, with the present configuration.
    fn apply_config(&self) {
        self.proxy.clear_calls();
        self.workspace.apply(&[]).succeeded();
        assert_no_overlap(&self.proxy);
        let calls = self.proxy.calls().len();
        self.assert_plan_changes_nothing();
        self.proxy.keep_calls(calls);
    }

    /// Applies a change as [`TestEnv::planned_change`] does, and returns the changing calls, see [`TestEnv::calls`].
    fn change(&self, attributes: &Value) -> Vec<String> {
        self.planned_change(attributes).calls
    }

    /// The changing calls in their order, such as `UpdateRoute route.GET /orders`. An object is named by its key
    /// without the hash. The keys of deleted objects come from `before`.
    fn calls(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let mut slots = before.clone();
        slots.extend(self.slots());
        let subject = |record: &Record| {
            let names = ["routeId", "integrationId", "authorizerId", "StatementId", "vpcLinkId"];
            let id = names.iter().map(|name| record.call.param(name)).find(|id| slots.contains_key(*id));
            let names = ["routeKey", "integrationUri", "authorizerUri", "stageName", "logGroupName", "resourceArn"];
            let name = || names.iter().map(|it| record.call.param(it)).find(|it| !it.is_empty()).unwrap_or_default();
            let domain = record.call.param("domainName");
            match record.call.action.as_str() {
                _ if !domain.is_empty() => Some(domain.to_owned()),
                "CreateVpcLink" => Some(record.call.param("name").to_owned()),
                "UpdateRoute" | "DeleteRoute" | "UpdateAuthorizer" | "UpdateIntegration" | "UpdateVpcLink" => {
                    id.map(|id| slots[id].clone())
                }
                action if action.starts_with("Delete") || action.ends_with("Permission") => {
                    id.map(|id| slots[id].clone())
                }
                _ => None,
            }
            .unwrap_or_else(|| short(name()))
        };
        let line = |record: &Record| format!("{} {}", record.call.action, subject(record)).trim_end().to_string();
        self.proxy.mutations().iter().map(line).collect()
    }

    /// The keys of the gateway's objects in state, without hashes, by id.
    fn slots(&self) -> BTreeMap<String, String> {
        let state = self.workspace.state();
        let objects = state.resource(THIS).and_then(|it| it["aws_objects"].as_object()).cloned().unwrap_or_default();
        objects.into_iter().map(|(slot, id)| (text(&id), without_hash(&slot))).collect()
    }

    /// For the halves of tests that both resources share.
    fn subject(&self) -> Subject<'_> {
        Subject { type_name: "fgw_http_gateway", workspace: &self.workspace, proxy: &self.proxy }
    }

    /// An attribute of the gateway in state.
    fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(THIS, name).clone()
    }

    /// The attribute `drift` after the refresh of a plan.
    fn drift(&self) -> Value {
        let plan = self.workspace.plan_json(&[]);
        plan["prior_state"]["values"]["root_module"]["resources"][0]["values"]["drift"].clone()
    }

    /// Sends a request to the gateway, with a key for the authorizers if there is one.
    fn send(&self, method: &str, path: &str, key: Option<&str>) -> Answer {
        let request = http::gateway(self.proxy.account(), &text(&self.attribute("api_id")), method, path);
        let request = match key {
            Some(key) => request.header("x-key", key),
            None => request,
        };
        request.send().expect("the gateway answers")
    }

    /// An API Gateway call about this API outside Terraform that bypasses the proxy.
    fn api_call(&self, method: &str, mut arguments: Value) -> Value {
        arguments["ApiId"] = self.attribute("api_id");
        self.proxy.account().boto("apigatewayv2", method, arguments)
    }

    /// Destroys everything, and asserts that no managed object is left.
    fn destroy(&self) {
        self.proxy.clear_calls();
        self.workspace.destroy().succeeded();
        assert_no_overlap(&self.proxy);
        self.proxy.account().assert_nothing_of_ours_is_left();
    }
}

/// Asserts that changes of the same API, log group or function policy do not overlap. AWS rejects concurrent changes of
/// the first two, and loses statements of the third.
fn assert_no_overlap(proxy: &Proxy) {
    let mut changes: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in proxy.mutations() {
        let call = &record.call;
        let target = match call.service.as_str() {
            // Each call creates another API.
            "apigateway" if ["CreateApi", "CreateVpcLink"].contains(&call.action.as_str()) => continue,
            "apigateway" if !call.param("vpcLinkId").is_empty() => format!("link {}", call.param("vpcLinkId")),
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
        changes.entry(target).or_default().push(record);
    }
    for (target, records) in changes {
        for pair in records.windows(2) {
            let names = (&pair[0].call.action, &pair[1].call.action);
            assert!(!pair[0].overlaps(&pair[1]), "changes of {target} overlap: {names:?}");
        }
    }
}

/// The members of both objects. Those of the second take precedence.
pub(crate) fn with(basis: &Value, more: &Value) -> Value {
    let mut joined = basis.clone();
    for (name, value) in more.as_object().expect("attributes") {
        joined[name] = value.clone();
    }
    joined
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

/// The name of a function or log group in an ARN or invoke URI, the kind of another ARN's object, or the text itself.
fn short(text: &str) -> String {
    match text.rsplit_once(":function:") {
        Some((_, name)) => name.trim_end_matches("/invocations").to_owned(),
        None if text.contains("/stages/") => "stage".to_owned(),
        None if text.contains("/domainnames/") => "domain".to_owned(),
        None if text.contains("/vpclinks/") => "vpc_link".to_owned(),
        None if text.contains("/apis/") => "api".to_owned(),
        None => text.rsplit_once(":log-group:").map_or(text, |(_, name)| name).to_owned(),
    }
}

/// A key without its hash: six hexadecimal digits that distinguish objects of the same name and depend on the account.
fn without_hash(slot: &str) -> String {
    match slot.rsplit_once('.') {
        Some((name, hash)) if hash.len() == 6 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => name.to_owned(),
        _ => slot.to_owned(),
    }
}

/// A latency at which concurrent calls overlap.
const SLOW: Duration = Duration::from_millis(10);
