//! Tests of the whole gateway: waves, unknown inputs, and properties of every configuration.

mod domains;
mod endpoints;
mod generator;
mod links;
mod logs;
mod places;
mod settings;
mod tokens;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect_file;
use proptest::prelude::*;
use serde_json::json;

use self::generator::config_with;
pub(super) use self::generator::{gateways, targets};
use self::unknown::{make_unknown, unknowable};
use super::{GatewayConfig, HttpGateway, RouteConfig};
use crate::model::keys::gateway as keys;
use crate::model::waves::waves;
use crate::model::{Cors, Drift, Entry, Ids, Inventory, Key, Learned, Object, ResolvedObject, Spec};
use crate::model::{Facts, Scope, Tags};
use crate::plugin::schema::{self, with_defaults};
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Type, Value};
pub(super) use crate::topology::rules::{UNKNOWN, value, with};
use crate::topology::settings::some_picks;
use crate::topology::{Blueprint, Context, Topology, protected};

pub(super) const ORDERS: &str = "arn:aws:lambda:eu-central-1:123456789012:function:orders";
pub(super) const USERS: &str = "arn:aws:lambda:eu-central-1:123456789012:function:users";
pub(super) const FOREIGN: &str = "arn:aws:lambda:us-east-1:210987654321:function:theirs:live";

#[test]
fn every_specified_input_exists() {
    let names: BTreeSet<String> = GatewayConfig::attributes().into_iter().map(|attribute| attribute.name).collect();
    for name in [
        "name",
        "route_config",
        "access_log_logservice_group_kms_key_id",
        "access_log_logservice_group_name",
        "access_log_logservice_group_retention_in_days",
        "access_log_logservice_group_subscription_destination_arn",
        "access_log_logservice_group_subscription_distribution",
        "access_log_logservice_group_subscription_filter_pattern",
        "access_log_logservice_group_subscription_role_arn",
        "access_log_logservice_group_tags",
        "access_log_format_type",
        "api_tags",
        "api_version",
        "certificate_domain",
        "cors_configuration",
        "create_dns_entry",
        "custom_access_log_format",
        "description",
        "domain_name",
        "hosted_zone_id",
        "faas_authorizers",
        "stage_tags",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn three_routes_match_the_golden_waves() {
    let objects = objects(&three_routes());
    expect_file!["../../../tests/golden/http_gateway/three_routes.txt"].assert_eq(&waves(&objects));
}

#[test]
fn one_route_matches_the_golden_waves() {
    let objects = objects(&config(json!({})));
    expect_file!["../../../tests/golden/http_gateway/one_route.txt"].assert_eq(&waves(&objects));
}

/// The operations that change one configuration into the other, in an order in which they can run, each with the number
/// of operations that it waits for.
fn change(before: serde_json::Value, after: serde_json::Value) -> Vec<(String, usize)> {
    let existing = existing(&objects(&config(before)));
    let plan = crate::reconcile::plan(&existing, &decided(&config(after), &existing, &scope()).0).unwrap();
    let mut ops: Vec<(String, usize)> = Vec::new();
    for op in &plan.ops {
        ops.push((format!("{} {}", op.action.doing(), op.action.key()), op.depends_on.len()));
    }
    ops.sort_by_key(|(_, count)| *count);
    ops
}

fn existing(objects: &[Object]) -> Inventory {
    let entry = |object: &Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec.clone());
    Inventory { entries: objects.iter().map(entry).collect() }
}

#[test]
fn changed_timeout_updates_only_the_integration() {
    let with_timeout = |timeout: i64| json!({ "route_config": { "GET /": { "faas_function_arn": ORDERS, "timeout_milliseconds": timeout } } });
    let ops = change(with_timeout(200), with_timeout(100));
    assert_eq!(ops, [("updating integration.GET /".to_string(), 0)]);
}

#[test]
fn routes_with_a_renamed_path_variable_are_deployed_at_once() {
    let route = json!({ "faas_function_arn": ORDERS });
    let routes = |name: &str| {
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        config(json!({ "route_config": { one: route, below: route, "GET /orders": route } }))
    };
    let entry = |object: Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec);
    let existing = Inventory { entries: objects(&routes("id")).into_iter().map(entry).collect() };
    let plan = crate::reconcile::plan(&existing, &objects(&routes("order"))).unwrap();
    let slots = |positions: &BTreeSet<usize>| -> Vec<&str> {
        positions.iter().map(|position| plan.ops[*position].action.key().slot.as_str()).collect()
    };
    let order: Vec<(&str, Vec<&str>)> =
        plan.ops.iter().map(|op| (op.action.key().slot.as_str(), slots(&op.depends_on))).collect();
    let old = ["route.POST /orders/{id}/items", "route.GET /orders/{id}"];
    let expected = [
        ("stage", vec![]),
        ("route.GET /orders/{order}", old.to_vec()),
        ("route.POST /orders/{order}/items", old.to_vec()),
        (
            "stage",
            ["stage", "route.GET /orders/{order}", "route.POST /orders/{order}/items"]
                .iter()
                .chain(&old)
                .copied()
                .collect(),
        ),
        (old[0], vec!["stage"]),
        (old[1], vec!["stage"]),
    ];
    assert_eq!(order, expected);
}

#[test]
fn replaced_routes_are_deleted_after_the_needs_of_the_new_ones() {
    let routes = |name: &str, function: &str| {
        let route = json!({ "faas_function_arn": function });
        let (one, below) = (format!("GET /orders/{{{name}}}"), format!("POST /orders/{{{name}}}/items"));
        json!({ "route_config": { one: route, below: route } })
    };
    let ops = change(routes("id", ORDERS), routes("order", USERS));
    let position = |what: &str| {
        let found = ops.iter().position(|(op, _)| op.starts_with(what));
        found.unwrap_or_else(|| panic!("no {what} in {ops:?}"))
    };
    let deletion = position("deleting route.POST /orders/{id}/items");
    assert!(
        position("creating permission.users") < deletion && position("updating integration.") < deletion,
        "{ops:?}"
    );
}

#[test]
fn authorizer_is_updated_between_its_new_and_old_permission() {
    let with_authorizer = |function: &str, source: &str| {
        let authorizer = json!({ "authorizer_name": function, "identity_sources": [source] });
        json!({ "faas_authorizers": { "a": authorizer } })
    };
    let before = || with_authorizer("auth", "$context.path");
    let ops = change(before(), with_authorizer("auth", "$context.stage"));
    assert_eq!(ops, [("updating authorizer.a".to_string(), 0)]);
    let expected = [
        ("creating authorizer_permission.a".to_string(), 0),
        ("updating authorizer.a".to_string(), 1),
        ("deleting authorizer_permission.a".to_string(), 2),
    ];
    assert_eq!(change(before(), with_authorizer("other", "$context.path")), expected);

    // A missing authorizer gets another ID, which is part of the statement.
    let mut existing = existing(&objects(&config(before())));
    existing.entries.iter_mut().filter(|it| it.key.slot == "authorizer.a").for_each(|it| it.drift = Drift::Missing);
    let wanted = decided(&config(with_authorizer("other", "$context.path")), &existing, &scope()).0;
    let plan = crate::reconcile::plan(&existing, &wanted).unwrap();
    let created: Vec<&str> = plan.ops[..2].iter().map(|op| op.action.key().slot.as_str()).collect();
    assert_eq!(created, ["authorizer.a", "authorizer_permission.a"]);
    assert_eq!(plan.ops[1].depends_on, BTreeSet::from([0]));
}

#[test]
fn integrations_count_until_the_old_ones_are_deleted() {
    let routes = |of: &dyn Fn(i64) -> (String, i64)| {
        let route = |it: i64| {
            let (key, timeout) = of(it);
            (key, json!({ "faas_function_arn": ORDERS, "timeout_milliseconds": 1000 + timeout }))
        };
        let routes: serde_json::Map<String, serde_json::Value> = (0..300).map(route).collect();
        config(json!({ "route_config": routes }))
    };
    let first = routes(&|it| (format!("GET /r{it}"), it));
    let existing = existing(&objects(&first));
    let blueprint =
        |config: &GatewayConfig| HttpGateway::blueprint(&context(config, &existing, &scope(), &Facts::default()));
    assert!(blueprint(&routes(&|it| (format!("GET /r{it}"), it + 300))).is_ok(), "all are updated in place");
    let other_path = routes(&|it| (format!("GET /r{}", if it == 0 { 300 } else { it }), it));
    assert!(blueprint(&other_path).is_ok(), "the new route uses the integration of the old one");
    let problems =
        blueprint(&routes(&|it| (format!("GET /r{}", it + i64::from(it == 0) * 300), it + 300))).unwrap_err();
    assert!(problems[0].message.contains("need 1 new integrations, and 300 exist"), "{problems:?}");
}

#[test]
fn default_ttl_is_zero_without_identity_sources() {
    let ttl = |entry: serde_json::Value| {
        let objects = objects(&config(json!({ "faas_authorizers": { "a": entry } })));
        objects.into_iter().find_map(|object| match object.spec {
            Spec::Authorizer(authorizer) => Some(authorizer.result_ttl_in_seconds),
            _ => None,
        })
    };
    assert_eq!(ttl(json!({ "authorizer_name": "auth" })), Some(Input::Known(0)));
    let sources = json!({ "authorizer_name": "auth", "identity_sources": ["$context.path"] });
    assert_eq!(ttl(sources), Some(Input::Known(300)));
}

#[test]
fn route_depends_on_permission_of_its_authorizer() {
    let objects = objects(&three_routes());
    let after = |slot: &str| objects.iter().find(|object| object.key.slot == slot).map(|object| object.after.clone());
    assert_eq!(after("route.GET /orders"), Some(vec![key_at(&objects, "authorizer_permission.token").unwrap()]));
    assert_eq!(after("route.GET /orders/{id}"), Some(vec![]));
}

#[test]
fn short_authorizer_name_requires_a_known_account() {
    let route = json!({ "faas_function_arn": ORDERS, "authorizer_name": "a" });
    let authorizers = json!({ "a": { "authorizer_name": "auth" } });
    let config = config(json!({ "faas_authorizers": authorizers, "route_config": { "GET /": route } }));
    let scope = Scope { account: None, ..scope() };
    let blueprint = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope, &Facts::default()));
    let places: Vec<String> = blueprint.unwrap_err().iter().map(|problem| problem.path.to_string()).collect();
    assert_eq!(places, [r#"faas_authorizers["a"].authorizer_name"#]);
}

#[test]
fn function_in_another_partition_is_rejected() {
    let config = config(json!({ "route_config": { "GET /": {
        "faas_function_arn": "arn:aws-cn:lambda:cn-north-1:123456789012:function:orders",
    } } }));
    let blueprint = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()));
    assert_eq!(blueprint.unwrap_err().len(), 1);
}

#[test]
fn authorizer_with_role_needs_no_permission() {
    let objects = objects(&config(json!({ "faas_authorizers": { "a": {
        "authorizer_name": "auth", "authorizer_credentials_arn": "arn:aws:iam::123456789012:role/r",
    } } })));
    assert_eq!(of_kind(&objects, "Lambda permission").len(), 1, "the permission of the route");
}

#[test]
fn function_in_another_account_gets_a_warning_with_a_command() {
    let config = config(json!({ "route_config": { "GET /": { "faas_function_arn": FOREIGN } } }));
    let mut existing = Inventory::default();
    let api = objects(&config).remove(0);
    existing.entries.push(Entry::new(api.key, "a1b2c3", api.spec));
    let (objects, warnings) = decided(&config, &existing, &scope());
    assert_eq!(of_kind(&objects, "Lambda permission"), vec![]);
    let command = "aws lambda add-permission --region us-east-1 --function-name \
                   arn:aws:lambda:us-east-1:210987654321:function:theirs --qualifier live --statement-id \
                   http-gateway-a1b2c3 --action lambda:InvokeFunction --principal apigateway.amazonaws.com \
                   --source-arn 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/*/*'";
    assert!(warnings[0].hint.ends_with(&format!("\n\n  {command}")), "on a line of its own: {}", warnings[0].hint);
}

#[test]
fn integrations_above_the_quota_are_an_error_and_routes_are_not() {
    let blueprint = |routes: i64, integrations: i64| {
        let route = |it: i64| {
            let timeout = 1000 + it % integrations;
            (format!("GET /r{it}"), json!({ "faas_function_arn": ORDERS, "timeout_milliseconds": timeout }))
        };
        let routes: serde_json::Map<String, serde_json::Value> = (0..routes).map(route).collect();
        let config = config(json!({ "route_config": routes }));
        HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()))
    };
    let problems = blueprint(301, 301).unwrap_err();
    assert_eq!((problems.len(), problems[0].path.to_string().as_str()), (1, "route_config"));
    assert!(problems[0].message.contains("301 integrations"), "{problems:?}");
    assert!(problems[0].message.contains("an API can have 300"), "{problems:?}");
    let Ok(Blueprint::Decided { objects, warnings, .. }) = blueprint(600, 300) else { panic!("it is valid") };
    assert_eq!(of_kind(&objects, "integration").len(), 300);
    assert_eq!(warnings.iter().map(|it| it.path.to_string()).collect::<Vec<_>>(), ["route_config"]);
    assert!(warnings[0].message.contains("600 routes") && warnings[0].message.contains("300"), "{warnings:?}");
}

#[test]
fn existing_function_in_another_account_gets_no_warning() {
    let attributes = json!({
        "route_config": { "GET /": { "faas_function_arn": FOREIGN, "authorizer_name": "a" } },
        "faas_authorizers": { "a": { "authorizer_name": FOREIGN } },
    });
    let config = config(attributes.clone());
    let (objects, first) = decided(&config, &Inventory::default(), &scope());
    let paths = |warnings: &[Problem]| warnings.iter().map(|it| it.path.to_string()).collect::<Vec<_>>();
    let (of_route, of_authorizer) =
        ("route_config[\"GET /\"].faas_function_arn", "faas_authorizers[\"a\"].authorizer_name");
    assert_eq!(paths(&first), [of_route, of_authorizer]);
    let ids = "After the apply, API_ID is the output api_id, and AUTHORIZER_ID is in the output authorizer_ids.";
    assert!(first[1].hint.contains(ids), "{}", first[1].hint);
    let entry = |object: Object| Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec);
    let mut existing = Inventory { entries: objects.into_iter().map(entry).collect() };
    assert_eq!(decided(&config, &existing, &scope()).1, []);

    // Another function is a new one, and so is one whose objects were deleted.
    let route = json!({ "faas_function_arn": format!("{FOREIGN}2"), "authorizer_name": "a" });
    let other = with(attributes, json!({ "route_config": { "GET /": route } }));
    assert_eq!(paths(&decided(&self::config(other), &existing, &scope()).1), [of_route]);
    existing.entries.retain(|entry| matches!(entry.applied, Spec::Api(_)));
    let again = decided(&config, &existing, &scope()).1;
    assert_eq!(paths(&again), [of_route, of_authorizer]);
    assert!(again[1].hint.contains("After the apply, AUTHORIZER_ID is in the output authorizer_ids."), "{again:?}");
}

#[test]
fn unknown_account_counts_every_function_as_own() {
    let config = config(json!({ "route_config": { "GET /": { "faas_function_arn": FOREIGN } } }));
    let (objects, warnings) = decided(&config, &Inventory::default(), &Scope { account: None, ..scope() });
    assert_eq!(of_kind(&objects, "Lambda permission").len(), 1);
    assert_eq!(warnings, vec![]);
}

#[test]
fn authorizer_on_preflight_route_gets_a_warning() {
    let warnings = |key: &str| {
        let config = config(json!({
            "faas_authorizers": { "a": { "authorizer_name": "auth" } },
            "cors_configuration": { "allow_origins": ["*"] },
            "route_config": { key: { "faas_function_arn": ORDERS, "authorizer_name": "a" } },
        }));
        decided(&config, &Inventory::default(), &scope()).1.len()
    };
    assert_eq!(["ANY /x", "$default", "OPTIONS /x", "GET /x"].map(warnings), [1, 1, 1, 0]);

    // The advice of the warning is sufficient: API Gateway prefers a route for the method, and uses $default last.
    let warnings_with_route = |guarded: &str, open: &str| {
        let config = config(json!({
            "faas_authorizers": { "a": { "authorizer_name": "auth" } },
            "cors_configuration": { "allow_origins": ["*"] },
            "route_config": {
                guarded: { "faas_function_arn": ORDERS, "authorizer_name": "a" },
                open: { "faas_function_arn": ORDERS, "authorization_type": "NONE" },
            },
        }));
        decided(&config, &Inventory::default(), &scope()).1.len()
    };
    for (guarded, open, expected) in [
        ("ANY /x", "OPTIONS /x", 0),
        ("ANY /x/{id}", "OPTIONS /x/{id}", 0),
        ("ANY /x", "OPTIONS /y", 1),
        ("ANY /x", "OPTIONS /{proxy+}", 1),
        ("ANY /x", "GET /x", 1),
        ("$default", "OPTIONS /{proxy+}", 0),
        ("$default", "ANY /{rest+}", 0),
        ("$default", "OPTIONS /x/{proxy+}", 1),
        ("OPTIONS /x", "ANY /x", 1),
    ] {
        assert_eq!(warnings_with_route(guarded, open), expected, "{guarded} and {open}");
    }
}

/// Default tags of the provider block.
pub(super) fn default_tags(pairs: &[(&str, &str)]) -> Tags {
    Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string().into())).collect())
}

#[test]
fn own_tags_override_defaults_and_ignored_keys_are_unset() {
    let mut scope = scope();
    scope.default_tags = default_tags(&[("team", "a"), ("theirs", "x")]);
    scope.ignore_tags.keys = vec!["theirs".into()];
    let (objects, _) = decided(&config(json!({ "api_tags": { "team": "b" } })), &Inventory::default(), &scope);
    let expected = BTreeMap::from([("team".to_string(), Input::Known("b".to_string()))]);
    assert_eq!(objects[0].spec.tags(), Some(&Input::Known(expected)));
}

#[test]
fn invalid_default_tag_is_a_problem_of_the_gateway() {
    let mut scope = scope();
    scope.default_tags = default_tags(&[("cost", "100%")]);
    let problems =
        HttpGateway::blueprint(&context(&config(json!({})), &Inventory::default(), &scope, &domains::facts()));
    let problems = problems.unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].message.contains("\"100%\"") && problems[0].hint.contains("default_tags"), "{problems:#?}");
}

#[test]
fn unknown_function_arn_leaves_objects_undecided() {
    let config = config(json!({ "route_config": { "GET /": { "faas_function_arn": UNKNOWN } } }));
    let blueprint = HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()));
    assert_eq!(blueprint, Ok(Blueprint::Undecided));
    let mut ids = Ids::default();
    ids.insert(keys::api(), ResolvedObject { id: "a1".into(), learned: Learned::new() });
    let outputs = HttpGateway::outputs(&config, None, &ids, Some(&scope()));
    assert_eq!(outputs["api_id"], Value::from("a1"));
    assert_eq!(outputs["route_ids"], Value::map([("GET /", Value::Unknown)]));
    assert_eq!(outputs["integration_ids"], Value::map([("GET /", Value::Unknown)]));
}

#[test]
fn output_arns_have_the_format_of_aws() {
    let config = three_routes();
    let objects = objects(&config);
    let outputs = HttpGateway::outputs(&config, Some(&objects), &all_created(&objects), Some(&scope()));
    let text = |name: &str| outputs[name].as_str().unwrap_or_default().to_string();
    assert_eq!(text("api_arn"), "arn:aws:apigateway:eu-central-1::/apis/id-api");
    assert_eq!(text("stage_arn"), "arn:aws:apigateway:eu-central-1::/apis/id-api/stages/id-stage");
    assert_eq!(text("execution_arn"), "arn:aws:execute-api:eu-central-1:123456789012:id-api");
    assert_eq!(text("access_log_group_arn"), "arn:aws:logs:eu-central-1:123456789012:log-group:/http/shop");
    assert_eq!(text("invoke_url"), "https://id-api.example");
}

#[test]
fn api_drift_changes_only_the_drifted_attributes() {
    let config =
        config(json!({ "description": "ours", "cors_configuration": { "allow_origins": ["*"], "allow_headers": [] } }));
    let api = objects(&config).remove(0);
    let mut entry = Entry::new(api.key, "a1", api.spec.clone());
    let Spec::Api(mut found) = api.spec else { panic!("the first object must be the API") };
    found.description = Input::Known(Some("theirs".into()));
    found.cors = Input::Known(Some(Cors { allow_origins: vec!["*".into()], max_age: Some(5), ..Cors::default() }));
    entry.drift = Drift::Changed(Box::new(Spec::Api(found)));
    let mut state = value(json!({
        "name": "shop", "description": "ours", "api_version": null,
        "cors_configuration": { "allow_credentials": null, "allow_headers": [], "allow_methods": null,
            "allow_origins": ["*"], "expose_headers": null, "max_age": null },
    }));
    HttpGateway::write_drift(&mut state, &Inventory { entries: vec![entry] });
    let expected = value(json!({
        "name": "shop", "description": "theirs", "api_version": null,
        "cors_configuration": { "allow_credentials": null, "allow_headers": [], "allow_methods": null,
            "allow_origins": ["*"], "expose_headers": null, "max_age": 5 },
    }));
    assert_eq!(state, expected);
}

proptest! {
    #[test]
    fn blueprints_are_consistent(config in gateways(), picks in some_picks()) {
        let config = config_with(config, &picks);
        let objects = objects(&config);
        let text = waves(&objects);
        prop_assert!(!text.contains("never"), "{}", text);
        let slots: BTreeSet<&str> = objects.iter().map(|object| object.key.slot.as_str()).collect();
        prop_assert_eq!(slots.len(), objects.len(), "slots must be unique");
        let is_possible = |slot: &&str| protected::is_possible(slot, &keys::slots());
        prop_assert!(slots.iter().all(is_possible), "{:?}", slots);
        let mut before: Vec<&Key> = Vec::new();
        for object in &objects {
            for need in object.spec.needs() {
                prop_assert!(before.contains(&&need.key), "{} precedes a dependency", object.key);
            }
            before.push(&object.key);
        }
        let routes: Vec<_> = config.route_config.known().into_iter().flatten().filter_map(|(_, it)| it.known()).collect();
        let required = |it: &&RouteConfig| format!("{:?}", it.integration.required(&keys::api(), &BTreeMap::new()));
        let integrations: BTreeSet<_> = routes.iter().map(required).collect();
        prop_assert_eq!(of_kind(&objects, "integration").len(), integrations.len());
        let by_permission = routes.iter().filter(|it| it.integration.credentials_arn == Input::Known(None));
        let own_functions: BTreeSet<_> =
            by_permission.filter_map(|it| it.integration.function()).filter(|it| it.account == "123456789012").collect();
        let statements = objects.iter().filter(|it| it.key.slot.starts_with("permission.")).count();
        prop_assert_eq!(statements, own_functions.len());
    }

    #[test]
    fn outputs_always_have_their_declared_types(
        config in gateways(), picks in some_picks(), created in any::<bool>(), decided in any::<bool>(),
        configured in any::<bool>()
    ) {
        let config = config_with(config, &picks);
        let objects = objects(&config);
        let ids = if created { all_created(&objects) } else { Ids::default() };
        let scope = configured.then(scope);
        let outputs = HttpGateway::outputs(&config, decided.then_some(&objects), &ids, scope.as_ref());
        let schema = [HttpGateway::outputs_schema(), HttpGateway::further_outputs()].concat();
        let declared: BTreeSet<&str> = schema.iter().map(|attribute| attribute.name.as_str()).collect();
        prop_assert_eq!(outputs.keys().map(String::as_str).collect::<BTreeSet<_>>(), declared);
        for Attribute { name, kind, .. } in &schema {
            prop_assert!(conforms(&outputs[name], &kind.value_type()), "{} is {}", name, outputs[name]);
            if created && decided && configured {
                prop_assert!(outputs[name].is_wholly_known(), "{} is {}", name, outputs[name]);
            }
        }
    }

    #[test]
    fn unknown_inputs_never_fail_a_plan(path in prop::sample::select(unknowable()), config in gateways()) {
        let mut config = config;
        make_unknown(&mut config, path);
        prop_assert_eq!(problems(config.clone()), vec![]);
        let config = self::config(config);
        let blueprint =
            HttpGateway::blueprint(&context(&config, &Inventory::default(), &scope(), &Facts::default()));
        let objects = match blueprint {
            Ok(Blueprint::Decided { objects, .. }) => Some(objects),
            Ok(Blueprint::Undecided) => None,
            Err(problems) => return Err(TestCaseError::fail(format!("{problems:?}"))),
        };
        let outputs = HttpGateway::outputs(&config, objects.as_deref(), &Ids::default(), Some(&scope()));
        for Attribute { name, kind, .. } in HttpGateway::outputs_schema() {
            prop_assert!(conforms(&outputs[&name], &kind.value_type()), "{} is {}", name, outputs[&name]);
        }
    }
}

fn three_routes() -> GatewayConfig {
    config(json!({
        "route_config": {
            "GET /orders": { "faas_function_arn": ORDERS, "authorizer_name": "token" },
            "GET /orders/{id}": { "faas_function_arn": ORDERS },
            "ANY /users/{proxy+}": { "faas_function_arn": USERS, "payload_format_version": "2.0" },
        },
        "faas_authorizers": { "token": { "authorizer_name": "check-token" } },
        "access_log_logservice_group_name": "/http/shop",
    }))
}

/// The attributes of a gateway with a name and one route, overridden by `config`, with defaults filled in.
pub(super) fn complete(config: serde_json::Value) -> Value {
    let basis = json!({ "name": "shop", "route_config": { "GET /": { "faas_function_arn": ORDERS } } });
    with_defaults(&GatewayConfig::attributes(), &value(with(basis, config)))
}

pub(super) fn config(config: serde_json::Value) -> GatewayConfig {
    decoded(&complete(config))
}

fn decoded(config: &Value) -> GatewayConfig {
    let mut problems = Vec::new();
    let decoded = GatewayConfig::decode(config, &AttributePath::root(), &mut problems);
    decoded.unwrap_or_else(|| panic!("{problems:?}"))
}

/// The problems that validation and the checks of the attributes report.
pub(super) fn problems(config: serde_json::Value) -> Vec<Problem> {
    let mut problems = schema::check(&GatewayConfig::attributes(), &complete(config.clone()), &AttributePath::root());
    problems.extend(HttpGateway::validate(&self::config(config)));
    problems
}

pub(super) fn scope() -> Scope {
    Scope {
        partition: "aws".into(),
        region: "eu-central-1".into(),
        account: Some("123456789012".into()),
        ..Scope::default()
    }
}

pub(super) fn context<'a>(
    config: &'a GatewayConfig,
    existing: &'a Inventory,
    scope: &'a Scope,
    facts: &'a Facts,
) -> Context<'a, GatewayConfig> {
    Context { config, prior: None, existing, scope, facts }
}

pub(super) fn decided(config: &GatewayConfig, existing: &Inventory, scope: &Scope) -> (Vec<Object>, Vec<Problem>) {
    match HttpGateway::blueprint(&context(config, existing, scope, &domains::facts())) {
        Ok(Blueprint::Decided { objects, warnings, .. }) => (objects, warnings),
        other => panic!("{other:?}"),
    }
}

pub(super) fn objects(config: &GatewayConfig) -> Vec<Object> {
    decided(config, &Inventory::default(), &scope()).0
}

fn of_kind(objects: &[Object], kind: &str) -> Vec<Key> {
    objects.iter().filter(|object| object.spec.kind() == kind).map(|object| object.key.clone()).collect()
}

fn key_at(objects: &[Object], slot: &str) -> Option<Key> {
    objects.iter().map(|object| object.key.clone()).find(|key| key.slot == slot)
}

fn all_created(objects: &[Object]) -> Ids {
    let mut ids = Ids::default();
    for object in objects {
        let id = format!("id-{}", object.key.slot);
        let learned = Learned::from([
            ("api_endpoint".to_string(), format!("https://{id}.example")),
            ("target_domain_name".to_string(), format!("d-{id}.example")),
            ("target_hosted_zone_id".to_string(), "Z1".to_string()),
        ]);
        ids.insert(object.key.clone(), ResolvedObject { id, learned });
    }
    ids
}

fn conforms(value: &Value, kind: &Type) -> bool {
    match (value, kind) {
        (Value::Unknown | Value::Null, _) => true,
        (Value::Bool(_), Type::Bool) | (Value::Number(_), Type::Number) | (Value::String(_), Type::String) => true,
        (Value::List(items), Type::List(kind) | Type::Set(kind)) => items.iter().all(|item| conforms(item, kind)),
        (Value::Map(entries), Type::Map(kind)) => entries.values().all(|entry| conforms(entry, kind)),
        (Value::Map(entries), Type::Object(kinds)) => {
            entries.keys().eq(kinds.keys()) && kinds.iter().all(|(name, kind)| conforms(&entries[name], kind))
        }
        _ => false,
    }
}
