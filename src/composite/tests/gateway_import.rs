//! Imports of gateways, the plans after them, and drift in attributes.

use proptest::prelude::*;

use super::import::{assert_imports_quietly, reimport};
use super::properties::some_basic_gateway;
use super::*;

fn tags(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

/// A gateway with two routes, one authorizer in use and one not in use, and all settings.
fn front() -> Value {
    let mut slow = route("a", None);
    slow.set("timeout_milliseconds", 50.into());
    let mut guard = authorizer("guard");
    guard.set("identity_sources", vec!["$context.path", "$context.stage"].into());
    let pairs = [
        ("description", Value::from("front")),
        ("api_tags", tags(&[("team", "web")])),
        ("access_log_logservice_group_name", "front-logs".into()),
        ("access_log_logservice_group_retention_in_days", 30.into()),
        ("access_log_format_type", "CLF".into()),
        ("cors_configuration", cors(&["https://a.example", "https://b.example"], &["x-a", "x-b"])),
    ];
    let authorizers = [("keeper", guard), ("unused", authorizer("guard"))];
    gateway(&[("GET /a", slow), ("GET /b", route("b", Some("keeper")))], &authorizers, &pairs)
}

fn cors(origins: &[&str], headers: &[&str]) -> Value {
    Value::map([
        ("allow_credentials", Value::Null),
        ("allow_headers", headers.to_vec().into()),
        ("allow_methods", Value::Null),
        ("allow_origins", origins.to_vec().into()),
        ("expose_headers", Value::Null),
        ("max_age", Value::Null),
    ])
}

#[tokio::test(start_paused = true)]
async fn an_equivalent_configuration_of_a_gateway_needs_no_change() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    assert_imports_quietly(&mut terraform, &front()).await;

    let mut other = front();
    let mut keeper = authorizer("unrelated");
    let function = function("guard");
    let uri = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{function}/invocations");
    keeper.set("authorizer_uri", uri.into());
    keeper.set("identity_sources", vec!["$context.stage", "$context.path"].into());
    keeper.set("result_ttl_in_seconds", 300.into());
    let mut unused = authorizer(&function);
    unused.set("identity_sources", Value::List(vec![]));
    other.set("faas_authorizers", Value::map([("keeper", keeper), ("unused", unused)]));
    other.set("cors_configuration", cors(&["https://b.example", "https://a.example"], &["X-B", "x-a"]));
    let mut slow = route("a", None);
    slow.set("timeout_milliseconds", 50.into());
    slow.set("description", "".into());
    other.set("route_config", Value::map([("GET /a", slow), ("GET /b", route("b", Some("keeper")))]));
    assert_imports_quietly(&mut terraform, &other).await;

    other.set("api_version", "2".into());
    terraform.assert_applies(&other).await;
    let mut calls = terraform.account.take_calls();
    calls.retain(|call| call != "update api" && call != "update authorizer.keeper");
    assert_eq!(calls, Vec::<String>::new(), "another order is updated in place at most");
}

#[tokio::test(start_paused = true)]
async fn inputs_that_aws_does_not_return_are_only_recorded() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let mut config = front();
    config.set("route_config", Value::map([("GET /a", route("a", None))]));
    config.set("default_authorizer_name", "keeper".into());
    // An import keeps log groups.
    config.set("access_log_logservice_group_skip_destroy", false.into());
    terraform.assert_applies(&config).await;
    assert_imports_quietly(&mut terraform, &config).await;
    reimport(&mut terraform).await;
    let plan = terraform.plan(&config).await;
    let expected = "default_authorizer_name, access_log_logservice_group_skip_destroy.";
    assert!(
        plan.diagnostics.0.iter().any(|it| it.detail.ends_with(&format!("state: {expected}"))),
        "{:?}",
        plan.diagnostics
    );
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_gateway_is_imported_and_completed() {
    for slot in ["log_group", "authorizer.keeper", "route.GET /b", "stage"] {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        terraform.account.failing.lock().unwrap().push(slot.into());
        assert!(terraform.apply(&front()).await.has_errors());
        terraform.account.failing.lock().unwrap().clear();
        reimport(&mut terraform).await;
        terraform.assert_applies(&front()).await;
        let calls = terraform.account.take_calls();
        assert!(calls.iter().any(|call| call.starts_with(&format!("create {slot}"))), "{slot}: {calls:?}");
        assert!(!calls.iter().any(|call| call.starts_with("delete") || call == "create api"), "{slot}: {calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_change_is_applied_after_an_import_of_a_gateway() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    reimport(&mut terraform).await;
    let mut config = front();
    config.set("access_log_format_type", "JSON".into());
    config.set("access_log_logservice_group_retention_in_days", 60.into());
    terraform.assert_applies(&config).await;
    let mut calls = terraform.account.take_calls();
    calls.sort();
    assert_eq!(calls, ["update log_group", "update stage"]);
}

/// The same happens with `ignore_changes`: Terraform then uses the refreshed value of the attribute as configured.
#[tokio::test(start_paused = true)]
async fn gateway_drift_that_the_configuration_adopts_needs_no_change() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    terraform.account.change_outside("log_group", |spec| {
        let Spec::LogGroup(group) = spec else { unreachable!() };
        group.retention_in_days = Input::Known(Some(1));
    });
    terraform.account.change_outside("api", |spec| {
        let Spec::Api(api) = spec else { unreachable!() };
        api.cors = Input::Known(None);
    });
    terraform.account.change_outside("route.GET /b", |spec| {
        let Spec::ApiRoute(route) = spec else { unreachable!() };
        route.authorization = crate::model::Authorization::default();
    });
    terraform.refresh().await;
    assert_eq!(terraform.state.get("drift").as_map().unwrap().len(), 3);
    let mut adopted = front();
    for name in ["access_log_logservice_group_retention_in_days", "cors_configuration", "route_config"] {
        adopted.set(name, terraform.state.get(name).clone());
    }
    assert!(adopted.get("route_config").get("GET /b").get("authorizer_name").is_null());
    terraform.account.take_calls();
    terraform.assert_quiet(&adopted).await;
    assert!(terraform.plan(&front()).await.planned != terraform.state, "otherwise it is corrected");
    terraform.assert_applies(&front()).await;
    let mut calls = terraform.account.take_calls();
    calls.sort();
    assert_eq!(calls, ["update api", "update log_group", "update route.GET /b"]);
}

#[tokio::test(start_paused = true)]
async fn a_missing_route_that_is_not_configured_needs_no_change() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let routes = [("GET /a", route("a", None)), ("GET /b", route("a", None))];
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    terraform.account.delete_outside("route.GET /b");
    terraform.refresh().await;
    let left: Vec<&String> = terraform.state.get("route_config").as_map().unwrap().keys().collect();
    assert_eq!(left, ["GET /a"]);
    terraform.account.take_calls();
    terraform.assert_quiet(&gateway(&routes[..1], &[], &[])).await;
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    assert_eq!(terraform.account.take_calls(), ["create route.GET /b"]);
}

/// A random gateway with random settings.
fn some_settings() -> impl Strategy<Value = Value> {
    let string = || prop::option::of(prop::sample::select(vec!["", "some"]));
    let days = prop::option::of(Just(30_i64));
    let format = prop::sample::select(vec!["CLF", "JSON", "CUSTOM"]);
    let more = (string(), string(), any::<bool>(), any::<bool>(), any::<bool>());
    (some_basic_gateway(), days, format, more).prop_map(|(mut config, days, format, more)| {
        let (description, version, is_tagged, has_sources, has_role) = more;
        config.set("description", description.map(str::to_string).into());
        config.set("api_version", version.map(str::to_string).into());
        if is_tagged {
            config.set("api_tags", tags(&[("team", "web")]));
            config.set("stage_tags", tags(&[("level", "live")]));
        }
        if config.get("access_log_logservice_group_name").as_str().is_some() {
            config.set("access_log_logservice_group_retention_in_days", days.into());
            config.set("access_log_format_type", format.into());
            if format == "CUSTOM" {
                config.set("custom_access_log_format", "$context.requestId".into());
            }
        }
        let mut authorizers = config.get("faas_authorizers").clone();
        let mut first = authorizers.get("first").clone();
        if has_sources {
            first.set("identity_sources", vec!["$context.stage", "$context.path"].into());
        }
        if has_role {
            first.set("authorizer_credentials_arn", "arn:aws:iam::123456789012:role/r".into());
        }
        authorizers.set("first", first);
        config.set("faas_authorizers", authorizers);
        config
    })
}

/// Removes empty strings. They mean the same as null, but Terraform does not allow a provider to plan null for them, so
/// they show in the first plan.
fn without_empty_strings(mut config: Value) -> Value {
    for name in ["description", "api_version"] {
        if config.get(name).as_str() == Some("") {
            config.set(name, Value::Null);
        }
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_plan_after_any_import_of_a_gateway_is_empty(configs in proptest::collection::vec(some_settings(), 1..3)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (mut terraform, mut before) = (Terraform::<HttpGateway>::new(0), Value::map::<String>([]));
            for config in &configs {
                // Without a record of an apply, what the configuration leaves out of these is unmanaged, so that the
                // stage keeps it, and the next import finds it.
                let mut config = config.clone();
                for name in ["default_route_settings", "stage_description"] {
                    if config.get(name).is_null() {
                        config.set(name, before.get(name).clone());
                    }
                }
                before.clone_from(&config);
                let problems = terraform.resource.validate(&terraform.config(&config));
                assert!(!problems.has_errors(), "{problems:?}");
                terraform.assert_applies(&config).await;
                assert_imports_quietly(&mut terraform, &without_empty_strings(config)).await;
            }
        });
    }
}
