//! What an import of a gateway brings, what the plan after it shows, and what drift shows in attributes.

use proptest::prelude::*;

use super::import::{assert_imports_quietly, reimport};
use super::properties::some_gateway;
use super::*;

fn tags(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

/// A gateway of two routes with one authorizer, an unused one, and all settings.
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
async fn what_a_user_says_of_a_gateway_in_other_words_is_nothing_to_do() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    assert_imports_quietly(&mut terraform, &front()).await;

    let mut other = front();
    let mut keeper = authorizer("somebody");
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
    assert_eq!(calls, Vec::<String>::new(), "what is said in another order is set in place at most");
}

#[tokio::test(start_paused = true)]
async fn the_creation_of_a_gateway_that_was_cut_off_is_imported_and_finished() {
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
async fn a_change_after_an_import_of_a_gateway_is_all_that_is_done() {
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

#[tokio::test(start_paused = true)]
async fn an_api_that_this_provider_did_not_make_is_refused() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    terraform.account.forget_maker();
    let imported = terraform.resource.import("api-1").await;
    assert!(imported.state.is_none());
    let error = &imported.diagnostics.0[0];
    assert_eq!(error.summary, "api-1 was not made by fgw_http_gateway");
    assert!(error.detail.contains("fgw:resource = \"http_gateway/<name>\""), "{}", error.detail);
    assert!(error.detail.contains("\"stage\" and \"log_group\""), "{}", error.detail);
    terraform.refresh().await;
    terraform.assert_quiet(&front()).await;
}

/// What `ignore_changes` amounts to: Terraform then configures what refresh has written into the attribute.
#[tokio::test(start_paused = true)]
async fn drift_of_a_gateway_that_the_configuration_takes_over_is_nothing_to_do() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&front()).await;
    terraform.account.damage("log_group", |spec| {
        let Spec::LogGroup(group) = spec else { unreachable!() };
        group.retention_in_days = Input::Known(Some(1));
    });
    terraform.account.damage("api", |spec| {
        let Spec::Api(api) = spec else { unreachable!() };
        api.cors = Input::Known(None);
    });
    terraform.account.damage("route.GET /b", |spec| {
        let Spec::ApiRoute(route) = spec else { unreachable!() };
        route.authorizer = None;
    });
    terraform.refresh().await;
    assert_eq!(terraform.state.get("drift").as_map().unwrap().len(), 3);
    let mut taken_over = front();
    for name in ["access_log_logservice_group_retention_in_days", "cors_configuration", "route_config"] {
        taken_over.set(name, terraform.state.get(name).clone());
    }
    assert!(taken_over.get("route_config").get("GET /b").get("authorizer_name").is_null());
    terraform.account.take_calls();
    terraform.assert_quiet(&taken_over).await;
    assert!(terraform.plan(&front()).await.planned != terraform.state, "else it is mended");
    terraform.assert_applies(&front()).await;
    let mut calls = terraform.account.take_calls();
    calls.sort();
    assert_eq!(calls, ["update api", "update log_group", "update route.GET /b"]);
}

#[tokio::test(start_paused = true)]
async fn a_route_that_is_gone_is_nothing_to_do_for_a_configuration_without_it() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let routes = [("GET /a", route("a", None)), ("GET /b", route("a", None))];
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    terraform.account.lose("route.GET /b");
    terraform.refresh().await;
    let left: Vec<&String> = terraform.state.get("route_config").as_map().unwrap().keys().collect();
    assert_eq!(left, ["GET /a"]);
    terraform.account.take_calls();
    terraform.assert_quiet(&gateway(&routes[..1], &[], &[])).await;
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    assert_eq!(terraform.account.take_calls(), ["create route.GET /b"]);
}

/// Any gateway with any settings.
fn some_settings() -> impl Strategy<Value = Value> {
    let text = || prop::option::of(prop::sample::select(vec!["", "some"]));
    let days = prop::option::of(Just(30_i64));
    let format = prop::sample::select(vec!["CLF", "JSON", "CUSTOM"]);
    let more = (text(), text(), any::<bool>(), any::<bool>(), any::<bool>());
    (some_gateway(), days, format, more).prop_map(|(mut config, days, format, more)| {
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

/// An empty text means the same as none, but Terraform lets nobody plan null for it, so that it shows once.
fn without_empty_texts(mut config: Value) -> Value {
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
            let mut terraform = Terraform::<HttpGateway>::new(0);
            for config in &configs {
                let problems = terraform.resource.validate(&terraform.config(config));
                assert!(!problems.has_errors(), "{problems:?}");
                terraform.assert_applies(config).await;
                assert_imports_quietly(&mut terraform, &without_empty_texts(config.clone())).await;
            }
        });
    }
}
