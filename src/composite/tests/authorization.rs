//! The authorization of routes, and the warnings about requests that a plan begins to accept.

use super::*;
use crate::model::Key;

fn users(issuer: &str) -> [(&'static str, Value); 1] {
    [("jwt_authorizers", Value::map([("users", jwt_authorizer(issuer))]))]
}

/// The warnings of a plan.
async fn warnings(terraform: &mut Terraform<HttpGateway>, config: &Value) -> String {
    let plan = terraform.plan(config).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    plan.diagnostics.0.iter().map(|it| format!("{} {}\n", it.summary, it.detail)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_stage_serves_routes_until_their_successors_exist() {
    let routes = |name: &str| {
        let (one, below) = (format!("GET /a/{{{name}}}"), format!("POST /a/{{{name}}}/b"));
        gateway(
            &[(one.as_str(), route("a", Some("users"))), (&below, route("a", None))],
            &[],
            &users("https://a.example"),
        )
    };
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&routes("x")).await;
    terraform.account.take_calls();
    terraform.account.failing.lock().unwrap().push("route.GET /a/{y}".into());
    terraform.apply(&routes("y")).await;
    let calls = terraform.account.take_calls();
    assert_eq!(calls[0], "update stage", "{calls:?}");
    assert!(!calls[1..].contains(&"update stage".to_string()), "{calls:?}");
    terraform.account.failing.lock().unwrap().clear();
    // The next apply creates the missing route, and lets AWS deploy again.
    terraform.refresh().await;
    let text = warnings(&mut terraform, &routes("y")).await;
    assert!(!text.contains("turned off outside Terraform"), "{text}");
    terraform.assert_applies(&routes("y")).await;
    assert_eq!(terraform.account.take_calls(), ["create route.GET /a/{y}", "update stage"]);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_moves_between_the_maps_gets_a_new_authorizer() {
    let of_function = gateway(&[("GET /a", route("a", Some("users")))], &[("users", authorizer("guard"))], &[]);
    let of_issuer = gateway(&[("GET /a", route("a", Some("users")))], &[], &users("https://id.example.com"));
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&of_function).await;
    terraform.account.take_calls();
    let mut names = Vec::new();
    for config in [&of_issuer, &of_function, &of_issuer] {
        terraform.assert_applies(config).await;
        let calls = terraform.account.take_calls();
        let at = |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call}: {calls:?}"));
        assert!(at("create authorizer.users") < at("update route.GET /a"), "{calls:?}");
        assert!(at("update route.GET /a") < at("delete authorizer.users"), "{calls:?}");
        let entries = inventory(&terraform.private).entries;
        names
            .extend(entries.iter().filter_map(|entry| crate::model::authorizer_name(&entry.applied)).map(String::from));
    }
    assert_eq!(names, ["users-2", "users", "users-2"]);
    // Without private state, it keeps its name in the configuration.
    terraform.private = Vec::new();
    terraform.assert_quiet(&of_issuer).await;
}

#[tokio::test(start_paused = true)]
async fn a_new_route_has_the_default_authorizer() {
    let mut public = route("b", None);
    public.set("authorization_type", "NONE".into());
    let mut own = route("b", Some("users"));
    own.set("authorization_scopes", Value::List(Vec::new()));
    let routes = [("GET /a", route("a", None)), ("GET /b", public), ("GET /c", own)];
    let mut config = gateway(&routes, &[], &users("https://id.example.com"));
    config.set("default_authorizer_name", "users".into());
    config.set("default_authorization_scopes", Value::from(vec!["read"]));
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&config).await;
    let shown = [("GET /a", "JWT:users"), ("GET /b", "NONE"), ("GET /c", "JWT:users")];
    let shown = Value::map(shown.map(|(key, text)| (key, Value::from(text))));
    assert_eq!(*terraform.state.get("route_authorizations"), shown);
    let scopes = |key: &str| match terraform.account.spec_of(&Key::new(format!("route.{key}"))) {
        Some(Spec::ApiRoute(route)) => route.authorization.scopes.known().cloned().unwrap().len(),
        other => panic!("{other:?}"),
    };
    assert_eq!([scopes("GET /a"), scopes("GET /b"), scopes("GET /c")], [1, 0, 0]);

    // Without the default, the first route becomes public.
    config.set("default_authorizer_name", Value::Null);
    config.set("default_authorization_scopes", Value::Null);
    let text = warnings(&mut terraform, &config).await;
    assert!(text.contains("Route \"GET /a\" becomes public") && !text.contains("GET /b\" becomes"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_route_names_the_unmanaged_one_that_accepts_its_requests() {
    let routes = |key: &str| {
        let routes = [(key, route("a", Some("users"))), ("GET /still", route("b", None))];
        gateway(&routes, &[], &users("https://id.example.com"))
    };
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&routes("ANY /a")).await;
    let text = warnings(&mut terraform, &routes("GET /b")).await;
    assert!(!text.contains("requests that it rejects"), "{text}");
    terraform.account.add_unmanaged_route("ANY /{proxy+}", None, None);
    terraform.refresh().await;
    let text = warnings(&mut terraform, &routes("GET /b")).await;
    assert!(text.contains("reach the function of \"ANY /{proxy+}\" with the authorization NONE"), "{text}");
    terraform.account.remove_unmanaged_route("ANY /{proxy+}");
    terraform.refresh().await;
    assert!(!warnings(&mut terraform, &routes("GET /b")).await.contains("requests that it rejects"));
}
