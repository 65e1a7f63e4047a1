//! The log group of a gateway, its key and its subscription.

use proptest::prelude::*;

use super::*;
use crate::model::Found;

const KEY: &str = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";

/// Random attributes of access logs: one of two log groups, with or without a KMS key and a subscription, or a
/// destination that exists.
pub(super) fn some_logs() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let name = prop::sample::select(vec!["front-logs", "other-logs"]);
    let key = prop::option::of(prop::sample::select(vec![KEY, "alias/logs"]));
    let destination = prop::option::of(prop::sample::select(vec![
        function("a"),
        function("sink"),
        "arn:aws:kinesis:us-east-1:123456789012:stream/sink".to_string(),
    ]));
    let switches = (any::<bool>(), any::<bool>());
    let own = (name, key, destination, switches).prop_map(|(name, key, destination, (errors, skip_destroy))| {
        let mut pairs = vec![
            ("access_log_logservice_group_name", Value::from(name)),
            ("access_log_logservice_group_kms_key_id", key.map(str::to_string).into()),
            ("access_log_logservice_group_skip_destroy", skip_destroy.into()),
        ];
        if let Some(destination) = destination {
            let is_stream = destination.contains(":kinesis:");
            let role = is_stream.then(|| "arn:aws:iam::123456789012:role/logs".to_string());
            pairs.push(("access_log_logservice_group_subscription_destination_arn", destination.into()));
            pairs.push(("access_log_logservice_group_subscription_role_arn", role.into()));
            let distribution = (is_stream && errors).then(|| "Random".to_string());
            pairs.push(("access_log_logservice_group_subscription_distribution", distribution.into()));
            let pattern = if errors { "500" } else { "" };
            pairs.push(("access_log_logservice_group_subscription_filter_pattern", pattern.into()));
        }
        pairs
    });
    let others = prop::sample::select(vec![
        "arn:aws:logs:us-east-1:123456789012:log-group:front-logs",
        "arn:aws:logs:us-east-1:123456789012:log-group:shared",
        "arn:aws:firehose:us-east-1:123456789012:deliverystream/amazon-apigateway-shared",
    ]);
    let others = others.prop_map(|arn| vec![("access_log_destination_arn", Value::from(arn))]);
    prop_oneof![2 => Just(Vec::new()), 3 => own, 1 => others]
}

fn logging(pairs: &[(&str, Value)]) -> Value {
    let mut all = vec![("access_log_logservice_group_name", Value::from("front-logs"))];
    all.extend(pairs.iter().cloned());
    gateway(&[("GET /a", route("a", None))], &[], &all)
}

fn with_alias() -> Value {
    logging(&[("access_log_logservice_group_kms_key_id", "alias/logs".into())])
}

fn key_of(terraform: &Terraform<HttpGateway>) -> Option<String> {
    let inventory = inventory(&terraform.private);
    let group = inventory.at("log_group").expect("there is a log group");
    let Spec::LogGroup(group) = group.spec() else { panic!("{group:?}") };
    group.kms_key_arn.known().cloned().flatten()
}

fn finds(terraform: &Terraform<HttpGateway>, key: Found<String>) {
    *terraform.account.kms_key.lock().unwrap() = Some(key);
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_a_warning_at_plan_and_an_error_at_apply() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    finds(&terraform, Found::Missing);
    for _ in 0..2 {
        let plan = terraform.plan(&with_alias()).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        let warning = &plan.diagnostics.0[0];
        assert!(warning.summary.starts_with("access_log_logservice_group_kms_key_id of"), "{warning:?}");
        assert!(warning.detail.contains("alias/logs"), "{warning:?}");
        let before = terraform.state.clone();
        let applied = terraform.apply_plan(&with_alias(), plan).await;
        assert!(applied.has_errors() && applied.0[0].detail.contains("alias/logs"), "{applied:?}");
        assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
        assert_eq!(terraform.state, before);
        // The second apply is an update.
        if terraform.state.is_null() {
            terraform.assert_applies(&logging(&[])).await;
            terraform.account.take_calls();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_created_between_plan_and_apply_is_used() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    finds(&terraform, Found::Missing);
    let plan = terraform.plan(&with_alias()).await;
    finds(&terraform, Found::There(KEY.to_string()));
    let applied = terraform.apply_plan(&with_alias(), plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
    assert_eq!(key_of(&terraform).as_deref(), Some(KEY));
    terraform.assert_quiet(&with_alias()).await;
}

#[tokio::test(start_paused = true)]
async fn an_apply_uses_the_key_that_the_plan_found() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    finds(&terraform, Found::There(KEY.to_string()));
    let plan = terraform.plan(&with_alias()).await;
    finds(&terraform, Found::There(KEY.replace("1234abcd-", "4321abcd-")));
    let applied = terraform.apply_plan(&with_alias(), plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
    assert_eq!(key_of(&terraform).as_deref(), Some(KEY));
}

#[tokio::test(start_paused = true)]
async fn only_missing_log_objects_are_created_again() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let destination = ("access_log_logservice_group_subscription_destination_arn", function("sink").into());
    let config = logging(&[destination]);
    terraform.assert_applies(&config).await;
    for (missing, created) in [
        (vec!["log_subscription"], vec!["create log_subscription"]),
        (vec!["log_subscription", "log_group"], vec!["create log_group", "create log_subscription"]),
        (vec!["subscription_permission"], vec!["create subscription_permission"]),
    ] {
        terraform.account.take_calls();
        for slot in &missing {
            terraform.account.delete_outside(slot);
        }
        terraform.refresh().await;
        let drift = terraform.state.get("drift").as_map().unwrap().keys().cloned().collect::<Vec<_>>();
        let mut expected = missing.clone();
        expected.sort();
        assert_eq!(drift, expected);
        terraform.assert_applies(&config).await;
        assert_eq!(terraform.account.take_calls(), created);
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_group_with_the_name_of_the_domain_is_distinguished() {
    let name = "shop.example.com";
    let with = |with_domain: bool, with_group: bool| {
        let attribute = |name: &'static str, value: &str| (name, Value::from(value));
        let domain = with_domain.then(|| attribute("domain_name", name));
        let group = with_group.then(|| attribute("access_log_logservice_group_name", name));
        let attributes: Vec<(&str, Value)> = domain.into_iter().chain(group).collect();
        gateway(&[("GET /a", route("a", None))], &[], &attributes)
    };
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&with(true, true)).await;
    terraform.account.take_calls();
    terraform.assert_applies(&with(true, false)).await;
    assert_eq!(terraform.account.take_calls(), ["update stage", "delete log_group"]);
    terraform.assert_applies(&with(true, true)).await;
    terraform.account.take_calls();
    terraform.assert_applies(&with(false, true)).await;
    assert_eq!(terraform.account.take_calls(), ["delete api_mapping", "delete domain"]);
    terraform.assert_applies(&with(true, true)).await;

    for missing in ["domain", "log_group"] {
        terraform.account.delete_outside(missing);
        terraform.refresh().await;
        let drift = terraform.state.get("drift").as_map().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(drift, [missing]);
        terraform.account.take_calls();
        terraform.assert_applies(&with(true, true)).await;
        assert_eq!(terraform.account.take_calls(), [format!("create {missing}")]);
    }
    assert!(!terraform.destroy().await.has_errors());
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

/// A gateway with this log format, without a newline in its text.
fn with_format(format: &str) -> Value {
    logging(&[("access_log_format_type", "CUSTOM".into()), ("custom_access_log_format", format.into())])
}

const SPACED: &str = r#"{ "status": "$context.status", "id": "$context.requestId" }"#;
const DENSE: &str = r#"{"id":"$context.requestId","status":"$context.status"}"#;

#[tokio::test(start_paused = true)]
async fn another_form_of_a_json_format_changes_nothing() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&with_format(SPACED)).await;
    terraform.account.take_calls();
    for form in [DENSE.to_string(), format!("{SPACED}\n"), format!("{DENSE}\n")] {
        terraform.assert_quiet(&with_format(&form)).await;
    }
    // AWS returns the text as it was sent, so this is a change by someone else.
    terraform.account.change_outside("stage", |spec| {
        let Spec::Stage(stage) = spec else { panic!("{spec:?}") };
        stage.access_log.as_mut().expect("access logs are on").format = Input::Known(DENSE.to_string());
    });
    terraform.assert_quiet(&with_format(SPACED)).await;
    assert_eq!(terraform.state.get("drift"), &Value::map::<&str>([]));
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    terraform.assert_applies(&with_format(&DENSE.replace("status\"}", "path\"}"))).await;
    assert_eq!(terraform.account.take_calls(), ["update stage"]);
}

#[tokio::test(start_paused = true)]
async fn a_change_to_what_someone_else_has_set_needs_no_call() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&with_format("$context.requestId")).await;
    terraform.account.take_calls();
    terraform.account.change_outside("stage", |spec| {
        let Spec::Stage(stage) = spec else { panic!("{spec:?}") };
        stage.access_log.as_mut().expect("access logs are on").format = Input::Known(SPACED.to_string());
    });
    terraform.refresh().await;
    assert_ne!(terraform.state.get("drift"), &Value::map::<&str>([]));
    terraform.assert_applies(&with_format(DENSE)).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}
