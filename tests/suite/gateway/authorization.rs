//! Who may send requests: tokens and signatures at each change of the authorization, while a client without either
//! sends 20 requests a second. No function may answer it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::change::Change;
use super::{SECRET, TestEnv, text, with};
use crate::support::http::Answer;
use crate::support::issuer::{UNREACHABLE, issuers};
use crate::support::{deployments, http};

/// The interval between two requests.
const INTERVAL: Duration = Duration::from_millis(50);

/// A latency that lets the client send a request between two changes.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

/// The header with the token. The emulator takes the account from `Authorization`.
const SOURCE: &str = "$request.header.x-token";

impl TestEnv {
    /// A route to the function `orders` with further attributes.
    fn orders(&self, more: &Value) -> Value {
        with(&self.to("orders"), more)
    }

    /// Applies a change while a client without a token or a signature sends requests to `GET /a`. Every other path is
    /// public.
    fn change_while_rejecting(&self, attributes: &Value) -> Change {
        self.change_while("/a", |answer| ![401, 403].contains(&answer.status), attributes)
    }

    /// Applies a change while such a client sends requests to a path and looks for wrong answers.
    fn change_while(&self, path: &str, is_wrong: impl Fn(&Answer) -> bool + Sync, attributes: &Value) -> Change {
        let account = self.proxy.account();
        let api = text(&self.attribute("api_id"));
        let ended = AtomicBool::new(false);
        let requests = || {
            let mut wrong = Vec::new();
            loop {
                let answer = http::gateway_now(account, &api, "GET", path).send().expect("the gateway answers");
                if is_wrong(&answer) {
                    wrong.push(format!("{} {}", answer.status, answer.body));
                }
                if ended.load(Ordering::Relaxed) {
                    return wrong;
                }
                std::thread::sleep(INTERVAL);
            }
        };
        std::thread::scope(|scope| {
            let client = scope.spawn(requests);
            // The client ends even if the apply panics.
            let applied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let change = self.planned_change(attributes);
                deployments::wait(account);
                change
            }));
            ended.store(true, Ordering::Relaxed);
            let wrong = client.join().expect("the client does not panic");
            let change = applied.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            assert!(wrong.is_empty(), "{:?}: {} wrong answers: {wrong:#?}", change.calls, wrong.len());
            let early = deployments::early_deletions(account);
            assert!(early.is_empty(), "deleted before the last change was deployed: {early:?}");
            change
        })
    }

    /// The status of a request to a path with a token, if there is one.
    fn status(&self, path: &str, token: Option<&str>) -> u16 {
        let request = http::gateway(self.proxy.account(), &text(&self.attribute("api_id")), "GET", path);
        token.into_iter().fold(request, |it, token| it.header("x-token", token)).send().expect("an answer").status
    }

    /// The statuses of a valid token of an issuer with a scope, of an expired one, of one for another audience, of
    /// another issuer and without the scope, and without a token.
    fn statuses(&self, path: &str, issuer: &str) -> [u16; 6] {
        let token = |more: Value| issuers().token(issuer, &with(&json!({ "scope": "read" }), &more));
        let tokens = [
            json!({}),
            json!({ "exp": 1 }),
            json!({ "aud": "desk" }),
            json!({ "iss": issuers().url("other") }),
            json!({ "scope": "write" }),
        ];
        let [valid, expired, audience, other, scope] = tokens.map(|claims| self.status(path, Some(&token(claims))));
        [valid, expired, audience, other, scope, self.status(path, None)]
    }
}

/// A JWT authorizer of an issuer.
fn jwt(issuer: &str) -> Value {
    json!({ "issuer": issuers().url(issuer), "audience": ["shop"], "identity_sources": [SOURCE] })
}

fn guard() -> Value {
    json!({
        "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
    })
}

const WITHOUT_SCOPES: [u16; 6] = [200, 401, 401, 401, 200, 401];
const WITH_SCOPES: [u16; 6] = [200, 401, 401, 401, 403, 401];

#[test]
fn a_protected_route_is_never_open() {
    let env = TestEnv::new();
    let config = |route: Value, faas: Value, jwt: Value| {
        let routes = json!({ "GET /a": env.orders(&route), "ANY /{proxy+}": env.to("users") });
        json!({ "route_config": routes, "faas_authorizers": faas, "jwt_authorizers": jwt })
    };
    let by = |name: &str| json!({ "authorizer_name": name });
    let scoped = |scopes: Value| json!({ "authorizer_name": "users", "authorization_scopes": scopes });
    let of = |issuer: &str| json!({ "users": jwt(issuer) });
    // A route is created with its final authorization.
    env.apply(&config(scoped(json!(["read"])), json!({}), of("one")));
    assert_eq!(env.attribute("route_authorizations"), json!({ "GET /a": "JWT:users", "ANY /{proxy+}": "NONE" }));
    assert_eq!(env.statuses("/a", "one"), WITH_SCOPES);

    // O5: scopes.
    let change = env.change_while_rejecting(&config(scoped(json!(["all", "read"])), json!({}), of("one")));
    assert_eq!(change.calls, ["UpdateRoute route.GET /a"]);
    assert_eq!(env.statuses("/a", "one"), WITH_SCOPES);
    let change = env.change_while_rejecting(&config(by("users"), json!({}), of("one")));
    assert_eq!(change.calls, ["UpdateRoute route.GET /a"]);
    assert_eq!(env.statuses("/a", "one"), WITHOUT_SCOPES);

    // O4: the issuer.
    let change = env.change_while_rejecting(&config(by("users"), json!({}), of("two")));
    assert_eq!(change.calls, ["UpdateAuthorizer authorizer.users"]);
    let url = issuers().url("one");
    assert!(change.plan.says(&format!("Tokens of the issuer {url:?} are rejected")), "{}", change.plan);
    assert_eq!(env.statuses("/a", "two"), WITHOUT_SCOPES);
    assert_eq!(env.status("/a", Some(&issuers().token("one", &json!({})))), 401);

    // O3: another type, with the same name in the other map, and back.
    let change = env.change_while_rejecting(&config(by("users"), json!({ "users": guard() }), json!({})));
    let to_custom = [
        "CreateAuthorizer guard",
        "AddPermission authorizer_permission.users",
        "UpdateRoute route.GET /a",
        "DeleteAuthorizer authorizer.users",
    ];
    assert_eq!(change.calls, to_custom);
    assert_eq!(change.objects, ["+authorizer_permission.users", "~authorizer.users"]);
    assert_eq!((env.send("GET", "/a", Some(SECRET)).status, env.send("GET", "/a", None).status), (200, 403));
    let change = env.change_while_rejecting(&config(by("users"), json!({}), of("one")));
    let to_jwt = [
        "CreateAuthorizer",
        "UpdateRoute route.GET /a",
        "DeleteAuthorizer authorizer.users",
        "RemovePermission authorizer_permission.users",
    ];
    assert_eq!(change.calls, to_jwt);
    assert_eq!(env.statuses("/a", "one"), WITHOUT_SCOPES);
    // The same with another name.
    let change = env.change_while_rejecting(&config(by("keys"), json!({ "keys": guard() }), json!({})));
    assert_eq!(change.calls, to_custom.map(|call| call.replace("permission.users", "permission.keys")));
    let change = env.change_while_rejecting(&config(by("users"), json!({}), of("one")));
    assert_eq!(change.calls, to_jwt.map(|call| call.replace(".users", ".keys")));

    // To signatures, and back.
    let signed = json!({ "authorization_type": "AWS_IAM" });
    let change = env.change_while_rejecting(&config(signed, json!({}), json!({})));
    assert_eq!(change.calls, ["UpdateRoute route.GET /a", "DeleteAuthorizer authorizer.users"]);
    let api = text(&env.attribute("api_id"));
    let answer = http::signed_gateway_now(env.proxy.account(), &api, "/a").send().expect("an answer");
    assert_eq!((answer.status, answer.body.as_str()), (200, "orders /a"));
    let change = env.change_while_rejecting(&config(by("users"), json!({}), of("one")));
    assert_eq!(change.calls, ["CreateAuthorizer", "UpdateRoute route.GET /a"]);
    assert_eq!(env.statuses("/a", "one"), WITHOUT_SCOPES);
    env.destroy();
}

#[test]
fn public_routes_are_protected_and_protected_ones_opened() {
    let env = TestEnv::new();
    let open = json!({ "authorization_type": "NONE" });
    let config = |[a, b, c]: [&Value; 3], more: Value| {
        let routes = json!({ "GET /a": env.orders(a), "GET /b": env.orders(b), "GET /c": env.orders(c) });
        with(&json!({ "route_config": routes }), &more)
    };
    let of_both = json!({ "faas_authorizers": { "keys": guard() }, "jwt_authorizers": { "users": jwt("one") } });
    env.apply(&config([&open; 3], json!({})));
    assert_eq!(env.statuses("/a", "one"), [200; 6]);

    // O1 and O2. The routes get the default authorizer, and others are stated.
    let signed = json!({ "authorization_type": "AWS_IAM" });
    let keys = json!({ "authorizer_name": "keys" });
    let defaults = json!({ "default_authorizer_name": "users", "default_authorization_scopes": ["read"] });
    let change = env.planned_change(&config([&json!({}), &signed, &keys], with(&of_both, &defaults)));
    let at = |call: &str| change.calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call}"));
    assert!(at("CreateAuthorizer") < at("UpdateRoute route.GET /a"), "{:?}", change.calls);
    assert!(at("AddPermission authorizer_permission.keys") < at("UpdateRoute route.GET /c"), "{:?}", change.calls);
    assert_eq!(change.calls.len(), 6, "{:?}", change.calls);
    let shown = json!({ "GET /a": "JWT:users", "GET /b": "AWS_IAM", "GET /c": "CUSTOM:keys" });
    assert_eq!(env.attribute("route_authorizations"), shown);
    assert_eq!(env.statuses("/a", "one"), WITH_SCOPES);
    assert_eq!((env.status("/b", None), env.status("/c", None)), (403, 403));
    assert_eq!(env.send("GET", "/c", Some(SECRET)).status, 200);

    // O6.
    let change = env.planned_change(&config([&open; 3], json!({})));
    for route in ["GET /a", "GET /b", "GET /c"] {
        assert!(change.plan.says(&format!("Route {route:?} becomes public")), "{}", change.plan);
    }
    let routes = ["a", "b", "c"].map(|it| format!("UpdateRoute route.GET /{it}"));
    assert_eq!(super::change::sorted(change.calls[..3].to_vec()), routes);
    assert_eq!(change.calls.len(), 6, "each authorizer is deleted once, after the routes: {:?}", change.calls);
    assert_eq!(env.statuses("/a", "one"), [200; 6]);
    env.end();
}

#[test]
fn protected_routes_are_never_open_while_others_change() {
    let env = TestEnv::new();
    env.proxy.latency(BETWEEN_CALLS);
    let users = json!({ "authorizer_name": "users" });
    let config = |routes: Value| json!({ "route_config": routes, "jwt_authorizers": { "users": jwt("one") } });
    let rejecting =
        |path: &str, routes: Value| env.change_while(path, |answer| answer.status != 401, &config(routes)).calls;
    env.apply(&config(json!({ "ANY /{proxy+}": env.orders(&users) })));

    // A broad route becomes public when the ones that stay protected exist.
    let named = |name: &str, more: Value| {
        let (one, below) = (format!("GET /a/{{{name}}}"), format!("POST /a/{{{name}}}/c"));
        with(&json!({ one: env.orders(&users), below: env.orders(&users), "ANY /{proxy+}": env.to("users") }), &more)
    };
    let calls = rejecting("/a/7", named("x", json!({})));
    assert_eq!(calls.last().map(String::as_str), Some("UpdateRoute route.ANY /{proxy+}"), "{calls:?}");

    // A renamed path variable does not leave the requests to the broad route.
    let calls = rejecting("/a/7", named("y", json!({ "GET /b": env.to("users") })));
    assert_eq!(calls.iter().filter(|call| *call == "UpdateStage $default").count(), 2, "{calls:?}");

    // A function and its protection replace a public function in one call.
    for name in ["open", "guarded"] {
        let code = format!("def handler(event, context):\n    return {{'statusCode': 200, 'body': '{name}'}}\n");
        env.proxy.account().create_function(name, &code);
    }
    let is_wrong = |answer: &Answer| answer.status != 401 && answer.body != "open";
    env.apply(&config(named("y", json!({ "GET /b": env.to("open") }))));
    let guarded = with(&env.to("guarded"), &users);
    let change = env.change_while("/b", is_wrong, &config(named("y", json!({ "GET /b": guarded }))));
    assert!(!change.calls.iter().any(|call| call.starts_with("UpdateIntegration")), "{:?}", change.calls);
    env.end();
}

#[test]
fn an_authorizer_changes_after_the_routes_that_leave_it() {
    let env = TestEnv::new();
    let config = |of_a: &str, of_b: &str, authorizers: Value| {
        let by = |name: &str| env.orders(&json!({ "authorizer_name": name }));
        json!({ "route_config": { "GET /a": by(of_a), "GET /b": by(of_b) }, "jwt_authorizers": authorizers })
    };
    let served = |of_a: &str, of_b: &str| {
        assert_eq!(env.statuses("/a", of_a), WITHOUT_SCOPES);
        assert_eq!(env.statuses("/b", of_b), WITHOUT_SCOPES);
    };
    env.apply(&config("users", "users", json!({ "users": jwt("one") })));
    let change = env.planned_change(&config("new", "users", json!({ "users": jwt("two"), "new": jwt("three") })));
    assert_eq!(change.calls, ["CreateAuthorizer", "UpdateRoute route.GET /a", "UpdateAuthorizer authorizer.users"]);
    served("three", "two");

    // The issuer and the audience identify an authorizer: under another key it keeps its routes.
    let authorizers = json!({ "users": jwt("one"), "old": jwt("two"), "new": jwt("three") });
    let change = env.planned_change(&config("users", "old", authorizers));
    assert_eq!(change.calls, ["CreateAuthorizer", "UpdateRoute route.GET /a"]);
    let authorizers = json!({ "users": jwt("one"), "old": jwt("two") });
    let change = env.planned_change(&config("users", "old", authorizers));
    assert_eq!(change.calls, ["DeleteAuthorizer authorizer.new"]);
    served("one", "two");
    let change = env.planned_change(&config("old", "users", json!({ "users": jwt("two"), "old": jwt("one") })));
    assert_eq!(change.calls, Vec::<String>::new(), "they only exchange their keys");
    served("one", "two");

    // Of two that get other issuers and exchange their routes, neither can be the first.
    env.planned_change(&config("users", "old", json!({ "users": jwt("three"), "old": jwt("four") })));
    served("three", "four");
    env.end();
}

#[test]
fn an_unreachable_issuer_changes_nothing() {
    let env = TestEnv::new();
    let config = |issuer: &str, more: Value| {
        let route = env.orders(&with(&json!({ "authorizer_name": "users" }), &more));
        json!({ "route_config": { "GET /a": route }, "jwt_authorizers": { "users": jwt(issuer) } })
    };
    env.apply(&config("one", json!({})));
    env.config(&config(UNREACHABLE, json!({ "authorization_scopes": ["read"] })));
    let failed = env.workspace.apply(&[]);
    failed.failed_with("Issuer must have a valid discovery endpoint");
    failed.failed_with(&format!("curl {}/.well-known/openid-configuration", issuers().url(UNREACHABLE)));
    assert_eq!(env.proxy.count("UpdateAuthorizer"), 3, "a permanent mistake is not repeated for long");
    let token = issuers().token("one", &json!({}));
    assert_eq!(env.status("/a", Some(&token)), 200, "the old authorizer stays in force");
    env.apply(&config("one", json!({})));
    env.end();
}

#[test]
fn a_plan_names_the_route_that_a_deleted_one_exposes() {
    let env = TestEnv::new();
    env.proxy.route_quota(3);
    let users = json!({ "authorizer_name": "users" });
    let config = |routes: Value| {
        let all = with(&json!({ "$default": env.to("users"), "GET /b": env.to("users") }), &routes);
        json!({ "route_config": all, "jwt_authorizers": { "users": jwt("one") } })
    };
    env.apply(&config(json!({ "ANY /a": env.orders(&users) })));
    // At the quota, the old route must be deleted first. Its requests never reach `$default`.
    let change = env.change_while_rejecting(&config(json!({ "GET /a": env.orders(&users) })));
    let calls = ["CreateRoute GET /a", "UpdateStage $default", "DeleteRoute route.ANY /a", "CreateRoute GET /a"];
    assert_eq!(change.calls[..4], calls);
    env.config(&config(json!({ "PUT /a": env.orders(&users), "POST /a": env.orders(&users) })));
    env.workspace.apply(&[]).failed_with("request a higher quota");
    assert_eq!(env.status("/a", None), 401, "the stage serves what it had");
    env.apply(&config(json!({ "ANY /a": env.orders(&users) })));

    let change = env.planned_change(&config(json!({})));
    assert!(change.plan.says("Route \"ANY /a\" with the authorization JWT by authorizer.users is deleted"));
    assert!(change.plan.says("reach the function of \"$default\" with the authorization NONE"), "{}", change.plan);
    assert_eq!(env.status("/a", None), 200);
    env.end();
}

#[test]
fn an_authorization_that_drifted_is_restored_or_kept_as_a_whole() {
    let env = TestEnv::new();
    let config = |more: Value, function: &str| {
        let route = with(&env.to(function), &json!({ "authorizer_name": "users" }));
        let routes = json!({ "GET /a": route, "GET /b": env.to("users") });
        with(&json!({ "route_config": routes, "jwt_authorizers": { "users": jwt("one") } }), &more)
    };
    env.apply(&config(json!({}), "orders"));
    let id = text(&env.attribute("route_ids")["GET /a"]);
    let drift = |kind: &str| {
        let arguments =
            json!({ "RouteId": id, "AuthorizationType": kind, "AuthorizerId": "", "AuthorizationScopes": [] });
        env.api_call("update_route", arguments);
    };
    drift("NONE");
    let shown = text(&env.drift()["route.GET /a"]);
    assert!(shown.contains("authorization is NONE instead of JWT by authorizer.users"), "{shown}");
    env.apply_config();
    assert_eq!(env.statuses("/a", "one"), WITHOUT_SCOPES);

    // Ignored drift to a type without an authorizer stays when another value of the route changes.
    drift("AWS_IAM");
    let ignoring = json!({ "ignore_drift": ["route.*"] });
    env.apply(&config(ignoring.clone(), "orders"));
    env.apply(&config(ignoring, "users"));
    let routes = env.proxy.account().list_of("apis")[0]["routes"].clone();
    let route = routes.as_array().expect("a list").iter().find(|it| it["RouteKey"] == "GET /a").expect("it exists");
    assert_eq!(route["AuthorizationType"], "AWS_IAM", "{route}");
    assert_eq!(env.status("/a", None), 403);
    env.end();
}

#[test]
fn a_jwt_authorizer_that_drifted_is_restored() {
    let env = TestEnv::new();
    let route = env.orders(&json!({ "authorizer_name": "users" }));
    env.apply(&json!({ "route_config": { "GET /a": route }, "jwt_authorizers": { "users": jwt("one") } }));
    let theirs = json!({ "Issuer": issuers().url("two"), "Audience": ["desk"] });
    let update = json!({ "AuthorizerId": env.attribute("authorizer_ids")["users"], "JwtConfiguration": theirs,
        "IdentitySource": ["$request.header.x-key"] });
    env.api_call("update_authorizer", update);
    assert_eq!(env.status("/a", Some(&issuers().token("one", &json!({})))), 401);
    let shown = text(&env.drift()["authorizer.users"]);
    for property in ["issuer", "audience", "identity_source"] {
        assert!(shown.contains(property), "no {property} in {shown}");
    }
    env.apply_config();
    assert_eq!(env.drift(), json!({}));
    assert_eq!(env.statuses("/a", "one"), WITHOUT_SCOPES);
    env.end();
}
