use proptest::prelude::*;
use serde_json::json;

use super::super::HttpGateway;
use super::super::config::RouteConfig;
use super::super::integrations::IntegrationConfig;
use super::super::tests::{FOREIGN, ORDERS, config, default_tags, gateways, objects, problems, scope, value, with};
use super::*;
use crate::model::{Api, Authorization, Cors, Entry, Object, Origin};
use crate::plugin::AttributePath;
use crate::topology::Topology;

const GUARD: &str = "arn:aws:lambda:eu-central-1:123456789012:function:guard";

fn invoke_uri(region: &str, function: &str) -> String {
    format!("arn:aws:apigateway:{region}:lambda:path/2015-03-31/functions/{function}/invocations")
}

/// The inventory that an import finds in AWS for these objects.
pub(in crate::topology::http_gateway) fn found(objects: &[Object]) -> Inventory {
    let entry = |object: &Object| {
        let id = format!("id-{}", object.key.slot);
        let mut entry = Entry { origin: Origin::Found, ..Entry::new(object.key.clone(), id, object.spec.clone()) };
        if matches!(object.spec, Spec::Api(_)) {
            entry.learned.insert(keys::RESOURCE.into(), "http_gateway/shop".into());
        }
        entry
    };
    Inventory { entries: objects.iter().map(entry).collect() }
}

pub(in crate::topology::http_gateway) fn decoded(attributes: &Value) -> GatewayConfig {
    let mut problems = Vec::new();
    let filled = with_defaults(&GatewayConfig::attributes(), attributes);
    GatewayConfig::decode(&filled, &AttributePath::root(), &mut problems).unwrap_or_else(|| panic!("{problems:?}"))
}

fn import(json: serde_json::Value) -> Value {
    HttpGateway::imported(&found(&objects(&config(json))), &scope()).expect("the API has a tag")
}

/// Any gateway, with settings beyond those of `gateways`.
pub(in crate::topology::http_gateway) fn settings() -> impl Strategy<Value = serde_json::Value> {
    let authorizer = (
        prop::sample::select(vec![
            json!({ "authorizer_name": "auth:live" }),
            json!({ "authorizer_name": GUARD }),
            json!({ "authorizer_name": "label", "authorizer_uri": invoke_uri("eu-central-1", FOREIGN) }),
        ]),
        any::<bool>(),
        prop::option::of(prop::sample::select(vec![
            vec![],
            vec!["$context.path"],
            vec!["$context.stage", "$context.path"],
        ])),
        prop::option::of(0..2_i64),
        any::<bool>(),
    )
        .prop_map(|(function, new, sources, ttl, simple)| {
            let ttl = ttl.filter(|ttl| *ttl == 0 || sources.as_ref().is_some_and(|it| !it.is_empty()));
            let more = json!({
                "authorizer_payload_format_version": if new { "2.0" } else { "1.0" },
                "identity_sources": sources,
                "result_ttl_in_seconds": ttl.map(|ttl| ttl * 300),
                "enable_simple_responses": new && simple,
            });
            with(function, more)
        });
    let format = prop::sample::select(vec![
        json!({ "access_log_format_type": "CLF" }),
        json!({ "access_log_format_type": "JSON" }),
        json!({ "access_log_format_type": "CUSTOM", "custom_access_log_format": "$context.requestId" }),
    ]);
    let text = || prop::option::of(prop::sample::select(vec!["", "a", "b"]));
    let tags = || prop::sample::select(vec![json!({}), json!({ "team": "a" }), json!({ "team": "b", "level": "" })]);
    let of_api = (text(), text(), tags(), tags(), prop::option::of(tags()));
    let gateway = (gateways(), prop::option::of(authorizer), format, prop::option::of(Just(30)), of_api).prop_map(
        |(mut gateway, authorizer, format, days, (description, version, api_tags, stage_tags, group_tags))| {
            if let Some(authorizer) = authorizer {
                gateway["faas_authorizers"]["a0"] = authorizer;
            }
            let more = json!({
                "description": description, "api_version": version, "api_tags": api_tags, "stage_tags": stage_tags,
            });
            let gateway = with(gateway, more);
            if gateway["access_log_logservice_group_name"].is_null() {
                return gateway;
            }
            let logs = json!({
                "access_log_logservice_group_retention_in_days": days, "access_log_logservice_group_tags": group_tags,
            });
            with(with(gateway, logs), format)
        },
    );
    let key = prop::option::of(Just("arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012"));
    let to = |arn: &str, role: Option<&str>, distribution: Option<&str>, pattern: &str| {
        json!({
            "access_log_logservice_group_subscription_destination_arn": arn,
            "access_log_logservice_group_subscription_role_arn": role,
            "access_log_logservice_group_subscription_distribution": distribution,
            "access_log_logservice_group_subscription_filter_pattern": pattern,
        })
    };
    let (stream, role) =
        ("arn:aws:kinesis:eu-central-1:123456789012:stream/logs", Some("arn:aws:iam::123456789012:role/r"));
    let subscription = prop::sample::select(vec![
        json!({}),
        to(GUARD, None, None, ""),
        to(GUARD, None, None, "500"),
        to(stream, role, None, ""),
        to(stream, role, Some("Random"), "500"),
    ]);
    let domain = prop::sample::select(vec![
        json!({}),
        json!({ "domain_name": "shop.example.com" }),
        json!({ "domain_name": "shop.example.com", "certificate_domain": "*.example.com", "certificate_arn": null,
            "create_dns_entry": true, "hosted_zone_id": "Z0123456789ABCDEFGHIJ" }),
    ]);
    (gateway, key, subscription, domain).prop_map(|(gateway, key, subscription, domain)| {
        if gateway["access_log_logservice_group_name"].is_null() {
            return with(gateway, domain);
        }
        with(with(with(gateway, json!({ "access_log_logservice_group_kms_key_id": key })), subscription), domain)
    })
}

proptest! {
    #[test]
    fn imported_configuration_reproduces_the_objects(gateway in settings()) {
        prop_assert_eq!(problems(gateway.clone()), vec![]);
        let before = objects(&config(gateway));
        let imported = HttpGateway::imported(&found(&before), &scope()).expect("the API has a tag");
        prop_assert_eq!(HttpGateway::validate(&decoded(&imported)), vec![]);
        prop_assert_eq!(objects(&decoded(&imported)), before);
    }
}

proptest! {
    #[test]
    fn entries_survive_the_way_to_objects_and_back(gateway in settings()) {
        let given_config = config(gateway);
        let objects = objects(&given_config);
        let inventory = found(&objects);
        let found = Found::now(&inventory);
        let given_routes = given_config.route_config.known().unwrap();
        for (key, entry) in routes(found) {
            let entry = entry.expect("each route has an integration");
            prop_assert_eq!(decoded_entry::<RouteConfig>(&entry.encode()), entry.clone());
            let Input::Known(mut given) = given_routes[key].clone() else { unreachable!() };
            given.integration = IntegrationConfig::of(&given.integration.required(&keys::api(), &Default::default()).unwrap());
            let kind = given_config.authorization(&given).unwrap().kind;
            given.authorization_type = Some(kind.name().to_string()).into();
            given.authorization_scopes = given.authorization_scopes.map(|scopes| Some(scopes.unwrap_or_default()));
            prop_assert_eq!(entry, given);
        }
        for (name, spec) in authorizers(found) {
            let entry = FaasAuthorizer::of(name, spec);
            prop_assert_eq!(decoded_entry::<FaasAuthorizer>(&entry.encode()), entry.clone());
            let entries = BTreeMap::from([(name.to_string(), Input::Known(entry))]);
            let again = GatewayConfig { faas_authorizers: Input::Known(entries), ..config(json!({})) };
            let again = super::super::tests::objects(&again);
            prop_assert!(again.iter().any(|object| Authorizer::of(&object.spec) == Some(spec)), "{}", name);
        }
        for (name, spec) in jwt_authorizers(found) {
            let entry = JwtConfig::of(spec);
            prop_assert_eq!(decoded_entry::<JwtConfig>(&entry.encode()), entry.clone());
            for entry in [entry, JwtConfig::shortest(spec)] {
                let again = super::super::jwt_authorizers::spec(&keys::api(), name, &Input::Known(entry));
                prop_assert_eq!(&again, spec);
            }
        }
    }

    #[test]
    fn cors_survives_the_way_to_the_api_and_back(
        allow_credentials: bool,
        lists in prop::array::uniform4(prop::collection::vec("[a-z]{1,3}", 0..3)),
        max_age in prop::option::of(-1..86_400_i64),
    ) {
        let [allow_headers, allow_methods, allow_origins, expose_headers] = lists;
        let cors =
            Cors { allow_credentials, allow_headers, allow_methods, allow_origins, expose_headers, max_age };
        let entry = CorsConfig::of(&cors);
        prop_assert_eq!(&decoded_entry::<CorsConfig>(&entry.encode()), &entry);
        let with_cors = GatewayConfig { cors_configuration: Input::Known(Some(entry)), ..config(json!({})) };
        let api = objects(&with_cors).remove(0).spec;
        prop_assert_eq!(Api::of(&api).and_then(|api| api.cors.known().cloned().flatten()), Some(cors));
    }
}

fn decoded_entry<T: Nested>(value: &Value) -> T {
    T::decode(value, &AttributePath::root(), &mut Vec::new()).expect("it decodes")
}

/// A route to a function with these values, and the defaults.
fn route(more: serde_json::Value) -> serde_json::Value {
    let names = RouteConfig::attributes().into_iter().map(|it| (it.name, serde_json::Value::Null));
    let defaults = json!({
        "faas_function_arn": ORDERS, "payload_format_version": "1.0", "timeout_milliseconds": 30_000,
        "request_parameters": {}, "response_parameters": {},
    });
    with(with(names.collect(), defaults), more)
}

#[test]
fn import_writes_the_shortest_configuration() {
    let gateway = json!({
        "name": "shop", "description": "ours", "api_version": null, "api_tags": { "team": "web" },
        "route_config": {
            "GET /": route(json!({ "payload_format_version": "2.0", "authorizer_name": "token" })),
            "GET /iam": route(json!({ "authorization_type": "AWS_IAM" })),
            "GET /scoped": route(json!({ "authorizer_name": "users", "authorization_scopes": ["read"] })),
            "GET /http": route(json!({ "faas_function_arn": null, "integration_uri": "https://a.example.com" })),
        },
        "jwt_authorizers": { "users": {
            "issuer": "https://id.example.com/", "audience": ["desk", "shop"], "identity_sources": null,
        } },
        "faas_authorizers": { "token": {
            "authorizer_name": "guard:live", "authorizer_uri": null, "authorizer_payload_format_version": "1.0",
            "identity_sources": ["$context.path"], "result_ttl_in_seconds": null, "enable_simple_responses": false,
            "authorizer_credentials_arn": null,
        } },
        "access_log_logservice_group_name": "/http/shop", "access_log_format_type": "CLF",
        "access_log_logservice_group_retention_in_days": 30, "access_log_logservice_group_tags": null,
        "custom_access_log_format": null, "stage_tags": {},
    });
    let imported = import(gateway.clone());
    for (name, expected) in gateway.as_object().unwrap() {
        assert_eq!(*imported.get(name), value(expected.clone()), "{name}");
    }
    assert!(imported.get("cors_configuration").is_null());
}

#[test]
fn import_takes_inputs_without_effect_from_the_configuration() {
    let configuration = json!({
        "access_log_format_type": "CLF",
        "access_log_logservice_group_retention_in_days": 0,
        "access_log_logservice_group_subscription_filter_pattern": "500",
        "access_log_logservice_group_subscription_role_arn": "arn:aws:iam::123456789012:role/logs",
        "certificate_domain": "*.example.com",
    });
    let mut attributes = import(configuration.clone());
    assert_eq!(attributes.get("access_log_format_type").as_str(), Some("JSON"));
    let configuration = with_defaults(&GatewayConfig::attributes(), &value(configuration));
    HttpGateway::take_as_applied(&mut attributes, &configuration, &Inventory::default());
    for (name, given) in configuration.as_map().unwrap() {
        if name.starts_with("access_log") || name == "certificate_domain" {
            assert_eq!(attributes.get(name), given, "{name}");
        }
    }
}

#[test]
fn import_omits_an_authorizer_uri_that_its_name_implies() {
    let imported_as = |entry: serde_json::Value| {
        let imported = import(json!({ "faas_authorizers": { "token": entry } }));
        let entry = imported.get("faas_authorizers").get("token").clone();
        (
            entry.get("authorizer_name").as_str().unwrap().to_string(),
            entry.get("authorizer_uri").as_str().map(String::from),
        )
    };
    let near = invoke_uri("eu-central-1", GUARD);
    assert_eq!(imported_as(json!({ "authorizer_name": "x", "authorizer_uri": near })), ("guard".into(), None));
    let far = FunctionArn::parse(FOREIGN).unwrap().invoke_uri();
    assert_eq!(imported_as(json!({ "authorizer_name": "x", "authorizer_uri": far })), (FOREIGN.into(), None));
    let crossed = invoke_uri("us-east-1", GUARD);
    let found = imported_as(json!({ "authorizer_name": "x", "authorizer_uri": crossed }));
    assert_eq!(found, ("guard".into(), Some(crossed)));
    let none = "arn:aws:apigateway:eu-central-1:sqs:path/x";
    let found = imported_as(json!({ "authorizer_name": "x", "authorizer_uri": none }));
    assert_eq!(found, ("token".into(), Some(none.into())));
}

#[test]
fn import_omits_routes_that_no_entry_expresses() {
    let before = objects(&config(json!({ "route_config": {
        "GET /a": { "faas_function_arn": ORDERS }, "GET /b": { "faas_function_arn": ORDERS },
        "GET /c": { "faas_function_arn": ORDERS }, "GET /d": { "faas_function_arn": ORDERS },
    } })));
    let mut inventory = found(&before);
    for entry in &mut inventory.entries {
        let Spec::ApiRoute(route) = &mut entry.applied else { continue };
        match route.route_key.as_str() {
            "GET /a" => route.integration = None,
            "GET /b" => route.integration = Some(Ref::Id("theirs".into())),
            "GET /c" => route.authorization = Authorization::custom(Ref::Id("theirs".into())),
            _ => {}
        }
    }
    let imported = HttpGateway::imported(&inventory, &scope()).expect("the API has a tag");
    let keys: Vec<&String> = imported.get("route_config").as_map().unwrap().keys().collect();
    assert_eq!(keys, ["GET /d"]);
}

#[test]
fn import_omits_tags_of_default_tags() {
    let mut scope = scope();
    scope.default_tags = default_tags(&[("cost", "net"), ("team", "all")]);
    let tags = json!({ "cost": "net", "team": "web" });
    let gateway = json!({
        "api_tags": tags, "stage_tags": tags, "access_log_logservice_group_name": "g",
        "access_log_logservice_group_tags": tags,
    });
    let imported = HttpGateway::imported(&found(&objects(&config(gateway))), &scope).expect("the API has a tag");
    for map in ["api_tags", "stage_tags", "access_log_logservice_group_tags"] {
        assert_eq!(*imported.get(map), value(json!({ "team": "web" })), "{map}");
    }
}

#[test]
fn api_without_ownership_tag_is_not_imported() {
    let mut inventory = found(&objects(&config(json!({}))));
    assert!(HttpGateway::imported(&inventory, &scope()).is_some());
    inventory.entries[0].learned.insert(keys::RESOURCE.into(), "four_tier_vpc/shop".into());
    assert_eq!(HttpGateway::imported(&inventory, &scope()), None);
    inventory.entries[0].learned.attributes.clear();
    assert_eq!(HttpGateway::imported(&inventory, &scope()), None);
}
