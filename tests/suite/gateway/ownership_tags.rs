//! Copied, forged and malformed ownership tags: no run changes or deletes an object because of its tags.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::proxy::fault::Fault;

const OURS: &str = "api.example.com";
/// A domain whose mappings point to the API of someone else.
const THEIRS: &str = "theirs.example.com";
/// A domain without a root mapping, and with one of a path to the API of the gateway.
const FREE: &str = "free.example.com";
const GROUP: &str = "/theirs/access";

/// Objects that the gateway does not manage, in its API and elsewhere.
struct Foreign {
    /// Another API, with a stage `$default`.
    api: String,
    /// The route, the integration and the authorizer in the API of the gateway.
    inside: [String; 3],
    /// The certificate of the domains.
    certificate: String,
    /// The mapping of a path of [`FREE`] to the API of the gateway.
    mapping: String,
}

fn call(env: &TestEnv, method: &str, arguments: Value) -> Value {
    env.proxy.account().boto("apigatewayv2", method, arguments)
}

/// Creates a zone with a record, and returns its id.
fn zone(env: &TestEnv) -> String {
    let account = env.proxy.account();
    let zone = json!({ "Name": "example.com", "CallerReference": account.id });
    let id = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
    let id = id.trim_start_matches("/hostedzone/").to_owned();
    let record = json!({ "Name": THEIRS, "Type": "A", "TTL": 60, "ResourceRecords": [{ "Value": "192.0.2.1" }] });
    let batch = json!({ "Changes": [{ "Action": "CREATE", "ResourceRecordSet": record }] });
    account.boto("route53", "change_resource_record_sets", json!({ "HostedZoneId": id, "ChangeBatch": batch }));
    id
}

/// A gateway with every kind of object.
fn shop(env: &TestEnv, zone: &str) -> Value {
    json!({
        "route_config": { "GET /a": env.to("orders"), "GET /b": env.guarded("users", "customers") },
        "faas_authorizers": { "customers": { "authorizer_name": "guard" } },
        "access_log_logservice_group_name": "/shop/access",
        "access_log_logservice_group_subscription_destination_arn": env.arn("users"),
        "domain_name": OURS, "create_dns_entry": true, "hosted_zone_id": zone,
        "timeouts": { "delete": "2s" },
    })
}

impl Foreign {
    fn of(env: &TestEnv, certificate: &str) -> Self {
        let account = env.proxy.account();
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let api = text(&call(env, "create_api", api)["ApiId"]);
        call(env, "create_stage", json!({ "ApiId": api, "StageName": "$default" }));
        let configuration = json!([{ "CertificateArn": certificate, "EndpointType": "REGIONAL" }]);
        for name in [THEIRS, FREE] {
            call(env, "create_domain_name", json!({ "DomainName": name, "DomainNameConfigurations": configuration }));
        }
        call(env, "create_api_mapping", json!({ "DomainName": THEIRS, "ApiId": api, "Stage": "$default" }));
        let mapping =
            json!({ "DomainName": FREE, "ApiId": env.attribute("id"), "Stage": "$default", "ApiMappingKey": "v1" });
        let mapping = text(&call(env, "create_api_mapping", mapping)["ApiMappingId"]);
        account.boto("logs", "create_log_group", json!({ "logGroupName": GROUP }));
        let name = format!("fgw-access-logs-{}", text(&env.attribute("id")));
        let filter = json!({ "logGroupName": GROUP, "filterName": name, "filterPattern": "theirs",
                             "destinationArn": env.arn("keeper") });
        account.boto("logs", "put_subscription_filter", filter);
        // A statement with the id of one of ours, in the policy of another function.
        let slots = env.slots();
        let statement = slots.iter().find(|(_, slot)| *slot == "permission.orders").expect("it is in state").0;
        let source = format!("arn:aws:execute-api:us-east-1:{}:{api}/*/*", account.id);
        let statement = json!({ "FunctionName": "keeper", "StatementId": statement, "SourceArn": source,
                                "Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com" });
        account.boto("lambda", "add_permission", statement);

        let created = |method: &str, arguments: Value, id: &str| text(&env.api_call(method, arguments)[id]);
        let integration = json!({ "IntegrationType": "AWS_PROXY", "IntegrationUri": env.arn("keeper"),
                                  "IntegrationMethod": "POST", "PayloadFormatVersion": "1.0" });
        let integration = created("create_integration", integration, "IntegrationId");
        let uri =
            format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{}/invocations", env.arn("guard"));
        let authorizer = json!({ "Name": "theirs", "AuthorizerType": "REQUEST", "AuthorizerUri": uri,
                                 "AuthorizerPayloadFormatVersion": "1.0", "IdentitySource": [] });
        let authorizer = created("create_authorizer", authorizer, "AuthorizerId");
        let route = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{integration}"),
                            "AuthorizationType": "CUSTOM", "AuthorizerId": authorizer });
        let route = created("create_route", route, "RouteId");
        env.api_call("create_stage", json!({ "StageName": "beta" }));
        Self { api, inside: [route, integration, authorizer], certificate: certificate.to_owned(), mapping }
    }

    /// Sets the ownership tags of the gateway on everything that takes tags. `slot` makes a key of that of the kind.
    fn tag(&self, env: &TestEnv, slot: impl Fn(&str) -> String) {
        let account = env.proxy.account();
        let root = text(&env.attribute("id"));
        let tags = |kind: &str| json!({ "fgw:resource": format!("http_gateway/{root}"), "fgw:object": slot(kind) });
        let arn = |path: &str| format!("arn:aws:apigateway:us-east-1::{path}");
        for (path, kind) in [
            (format!("/apis/{}", self.api), "api"),
            (format!("/apis/{}/stages/$default", self.api), "stage"),
            (format!("/apis/{root}/stages/beta"), "stage"),
            (format!("/domainnames/{THEIRS}"), "domain"),
            (format!("/domainnames/{FREE}"), "domain"),
        ] {
            call(env, "tag_resource", json!({ "ResourceArn": arn(&path), "Tags": tags(kind) }));
        }
        let group = format!("arn:aws:logs:us-east-1:{}:log-group:{GROUP}", account.id);
        account.boto("logs", "tag_resource", json!({ "resourceArn": group, "tags": tags("log_group") }));
        let of_certificate = json!([{ "Key": "fgw:resource", "Value": format!("http_gateway/{root}") }]);
        let arguments = json!({ "CertificateArn": self.certificate, "Tags": of_certificate });
        account.boto("acm", "add_tags_to_certificate", arguments);
    }

    /// All attributes of the objects that are not in the API of the gateway.
    fn elsewhere(&self, env: &TestEnv) -> Value {
        let all = env.proxy.account().list();
        let of = |kind: &str, member: &str, id: &str| one(&all[kind], member, id);
        let certificate = json!({ "CertificateArn": self.certificate });
        let zones = all["hosted_zones"].as_array().expect("a list");
        let mut free = of("domain_names", "DomainName", FREE);
        free.as_object_mut().expect("a domain").remove("mappings");
        json!({
            "api": of("apis", "ApiId", &self.api),
            "domains": [of("domain_names", "DomainName", THEIRS), free],
            "group": of("log_groups", "logGroupName", GROUP),
            "statements": of("functions", "FunctionName", "keeper")["statements"],
            "record": one(&zones[0]["records"], "Name", &format!("{THEIRS}.")),
            "certificate": env.proxy.account().boto("acm", "list_tags_for_certificate", certificate),
        })
    }

    /// The same, and all attributes of those in the API of the gateway.
    fn everything(&self, env: &TestEnv) -> Value {
        let all = env.proxy.account().list();
        let api = one(&all["apis"], "ApiId", &text(&env.attribute("id")));
        let [route, integration, authorizer] = &self.inside;
        let inside = json!({
            "route": one(&api["routes"], "RouteId", route),
            "integration": one(&api["integrations"], "IntegrationId", integration),
            "authorizer": one(&api["authorizers"], "AuthorizerId", authorizer),
            "stage": one(&api["stages"], "StageName", "beta")["tags"],
            "mapping": one(&one(&all["domain_names"], "DomainName", FREE)["mappings"], "ApiMappingId", &self.mapping),
        });
        with(&self.elsewhere(env), &inside)
    }
}

/// The item of a list with this id.
fn one(list: &Value, member: &str, id: &str) -> Value {
    let items = list.as_array().expect("a list");
    items.iter().find(|item| item[member] == id).unwrap_or_else(|| panic!("{id} is deleted: {list:#}")).clone()
}

/// Every kind of run with tagged foreign objects.
fn assert_untouched(is_reported: bool, slot: impl Fn(&str) -> String) {
    let env = TestEnv::new();
    let certificate = json!({ "DomainName": "*.example.com" });
    let certificate = text(&env.proxy.account().boto("acm", "request_certificate", certificate)["CertificateArn"]);
    let config = shop(&env, &zone(&env));
    env.apply(&config);
    let foreign = Foreign::of(&env, &certificate);
    foreign.tag(&env, slot);
    let root = format!("arn:aws:apigateway:us-east-1::/apis/{}", text(&env.attribute("id")));
    call(&env, "tag_resource", json!({ "ResourceArn": root, "Tags": { "fgw:state": "creating" } }));
    let before = foreign.everything(&env);
    let unchanged = |run: &str| assert_eq!(foreign.everything(&env), before, "after {run}");
    let lose_private_state = || env.workspace.lose_private_state(THIS);

    assert_ne!(env.workspace.plan(&[]).code, 1);
    env.workspace.apply(&[]).succeeded();
    unchanged("an apply of the same configuration");
    env.workspace.apply(&["-refresh-only"]).succeeded();
    let reported = env.attribute("unmanaged_objects");
    for name in [THEIRS, FREE] {
        assert_eq!(reported[name].is_string(), is_reported, "{name}: {reported}");
    }
    env.apply(&with(
        &config,
        &json!({ "description": "changed", "faas_authorizers": {},
        "route_config": { "GET /a": env.to("users"), "GET /c": env.to("orders") } }),
    ));
    unchanged("a change");
    lose_private_state();
    env.apply(&config);
    unchanged("a change without private state");
    lose_private_state();
    env.workspace.apply(&["-refresh=false"]).succeeded();
    env.workspace.apply(&["-refresh-only"]).succeeded();
    unchanged("an apply without and one with only a refresh");
    // A foreign mapping leads to the API. The apply names it and deletes nothing.
    let message = format!("API mapping {} \"{FREE}/v1\"", foreign.mapping);
    env.workspace.destroy().failed_with("custom domain in use").failed_with(&message);
    unchanged("a destroy that a foreign mapping blocks");
    // A request for the tags alone, but the tags of other domains are copies.
    env.workspace.reimport(THIS);
    assert_eq!(env.attribute("aws_objects")["domain"], OURS);
    unchanged("an import");

    env.workspace.forget(THIS);
    let api = root.rsplit('/').next().expect("an ARN has parts");
    env.workspace.import(THIS, api).succeeded();
    let elsewhere = foreign.elsewhere(&env);
    call(&env, "delete_api_mapping", json!({ "DomainName": FREE, "ApiMappingId": foreign.mapping }));
    env.proxy.fault(Fault::on("DeleteApi").answer(403, "AccessDeniedException", "not now"));
    env.workspace.destroy().failed_with("not now");
    env.proxy.clear_faults();
    assert_eq!(foreign.elsewhere(&env), elsewhere, "after a destroy that did not complete");
    lose_private_state();
    env.workspace.destroy().succeeded();
    assert_eq!(foreign.elsewhere(&env), elsewhere, "after a destroy");
    assert!(env.workspace.state().resource(THIS).is_none());
}

#[test]
fn tags_copied_from_managed_objects_give_no_right() {
    assert_untouched(true, str::to_owned);
}

#[test]
fn malformed_tags_give_no_right() {
    assert_untouched(false, |kind| format!("{kind}\n\u{202e}kept: nothing is deleted"));
}
