//! Terraform drops a misspelled name from an object without an error. Plans name what is open or lost without it.

use super::*;

fn details(plan: &PlanResponse) -> Vec<&str> {
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    plan.diagnostics.0.iter().map(|it| it.detail.as_str()).collect()
}

/// The warnings of a plan with this text.
async fn warnings<P: Topology>(terraform: &Terraform<P>, config: &Value, text: &str) -> Vec<String> {
    let plan = terraform.plan(config).await;
    details(&plan).into_iter().filter(|it| it.contains(text)).map(str::to_string).collect()
}

fn with(mut route: Value, name: &str, value: Value) -> Value {
    route.set(name, value);
    route
}

#[tokio::test(start_paused = true)]
async fn a_new_public_route_in_a_protected_gateway_is_named() {
    let mut terraform = Terraform::<HttpGateway>::new(2);
    let users = ("users", authorizer("check"));
    let of = |admin: Value| {
        gateway(&[("GET /", route("a", Some("users"))), ("GET /admin", admin)], std::slice::from_ref(&users), &[])
    };
    let open = "These routes are public";
    let config = of(route("a", None));
    let found = warnings(&terraform, &config, open).await;
    assert_eq!(found.len(), 1, "{found:?}");
    for text in ["\"GET /admin\"", "Terraform drops a misspelled name", "authorization_type = \"NONE\""] {
        assert!(found[0].contains(text), "{text}: {found:?}");
    }
    assert!(!found[0].contains("\"GET /\""), "{found:?}");

    let public = of(with(route("a", None), "authorization_type", "NONE".into()));
    assert!(warnings(&terraform, &public, open).await.is_empty());
    let unprotected = gateway(&[("GET /", route("a", None)), ("GET /admin", route("a", None))], &[], &[]);
    assert!(warnings(&terraform, &unprotected, open).await.is_empty());

    terraform.assert_applies(&config).await;
    assert!(warnings(&terraform, &config, open).await.is_empty(), "it does not change");
    assert_eq!(warnings(&terraform, &of(route("b", None)), open).await.len(), 1, "it changes");
}

#[tokio::test(start_paused = true)]
async fn a_new_route_without_the_scopes_of_others_is_named() {
    let mut terraform = Terraform::<HttpGateway>::new(2);
    let tokens = Value::map([("tokens", jwt_authorizer("https://one.example.com"))]);
    let scoped = with(route("a", Some("tokens")), "authorization_scopes", Value::from(vec!["write"]));
    let of = |admin: Value| {
        gateway(&[("GET /", scoped.clone()), ("PUT /", admin)], &[], &[("jwt_authorizers", tokens.clone())])
    };
    let open = "accept tokens without a scope";
    let config = of(route("a", Some("tokens")));
    let found = warnings(&terraform, &config, open).await;
    assert!(found.len() == 1 && found[0].contains("\"PUT /\"") && !found[0].contains("\"GET /\""), "{found:?}");
    let none = with(route("a", Some("tokens")), "authorization_scopes", Value::List(Vec::new()));
    assert!(warnings(&terraform, &of(none), open).await.is_empty());
    assert!(warnings(&terraform, &of(scoped.clone()), open).await.is_empty());
    terraform.assert_applies(&config).await;
    assert!(warnings(&terraform, &config, open).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn new_entries_without_a_restriction_of_others_are_named() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let policy = "{\"Statement\":[]}";
    let role = "arn:aws:iam::123456789012:role/logs";
    let key = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    let log = |name: &str, more: &[(&'static str, Value)]| {
        let pairs = [("log_group_name", Value::from(name)), ("iam_role_arn", role.into())];
        Value::map(pairs.into_iter().chain(more.iter().cloned()))
    };
    let restricted =
        Value::map([("policy", policy.into()), ("security_group_ids", Value::from(vec!["sg-0123456789abcdef0"]))]);
    let of = |kms: Option<Value>| {
        let endpoints = [("ecr.api", restricted.clone())].into_iter().chain(kms.map(|it| ("kms", it)));
        let logs = [("a", log("/a", &[("kms_key_id", key.into())])), ("b", log("/b", &[]))];
        network(&[("interface_endpoints", Value::map(endpoints)), ("flow_logs", Value::map(logs))])
    };
    let config = of(Some(Value::map::<&str>([])));
    for (argument, entry) in [("policy", "\"kms\""), ("security_group_ids", "\"kms\""), ("kms_key_id", "\"b\"")] {
        let text = format!("do not set {argument}, and others do: {entry}. ");
        let found = warnings(&terraform, &config, &text).await;
        assert!(found.len() == 1 && found[0].contains("Terraform drops a misspelled name"), "{argument}: {found:?}");
    }
    let not_set = "do not set";
    assert_eq!(warnings(&terraform, &of(Some(restricted.clone())), not_set).await.len(), 1, "the flow log alone");
    terraform.assert_applies(&config).await;
    assert!(warnings(&terraform, &config, not_set).await.is_empty(), "the entries are not new");
}
