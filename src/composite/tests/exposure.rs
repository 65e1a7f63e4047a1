//! No request meets a weaker authorization than before and after an update, not even while it runs.

use proptest::prelude::*;

use super::*;
use crate::model::{ApiRoute, Authorization, Object, Ref, RouteKey};

/// The keys of routes; the variable has one of two names.
const KEYS: [&str; 7] = ["GET /a", "ANY /a", "GET /c/{v}", "ANY /c/{v}", "POST /c/{v}/d", "ANY /{v+}", "$default"];

/// Requests that match some of them.
const REQUESTS: [&str; 8] =
    ["GET /a", "PUT /a", "GET /c/1", "PUT /c/1", "POST /c/1/d", "GET /c/1/d", "GET /x", "GET /x/y/z"];

fn some_gateway() -> impl Strategy<Value = Value> {
    let some_route = (0..3_usize, 0..5_usize, any::<bool>());
    let routes = proptest::collection::btree_map(prop::sample::select(KEYS.to_vec()), some_route, 1..6);
    let stage = prop::sample::select(vec!["$default", "$default", "$default", "prod"]);
    (routes, any::<bool>(), any::<bool>(), stage).prop_map(|(routes, renamed, first, stage)| {
        let routes = routes.into_iter().map(|(key, (function, guard, scoped))| {
            let guard = [None, None, Some("first"), Some("second"), Some("first")][guard];
            let mut route = route(["a", "b", "c"][function], guard);
            if scoped && guard.is_some() {
                route.set("authorization_scopes", Value::from(vec!["read"]));
            }
            (key.replace('v', if renamed { "w" } else { "v" }), route)
        });
        let routes: Vec<(String, Value)> = routes.collect();
        let routes: Vec<(&str, Value)> = routes.iter().map(|(key, route)| (key.as_str(), route.clone())).collect();
        let issuer =
            |is_new: bool| jwt_authorizer(["https://one.example.com", "https://two.example.com"][usize::from(is_new)]);
        let authorizers = Value::map([("first", issuer(first)), ("second", issuer(false))]);
        gateway(&routes, &[], &[("jwt_authorizers", authorizers), ("stage_name", stage.into())])
    })
}

/// The answer to a request: the route, its function, its authorization and its authorizer.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    route: ApiRoute,
    function: Option<Spec>,
    authorizer: Option<Spec>,
}

fn answer(served: &[Object], request: &str) -> Option<Answer> {
    let request = RouteKey::parse(request).unwrap();
    let routes = served.iter().filter_map(|object| ApiRoute::of(&object.spec));
    let mut best: Option<&ApiRoute> = None;
    for route in routes {
        let key = RouteKey::parse(&route.route_key).unwrap();
        let precedes = |other: &ApiRoute| key.precedes(&RouteKey::parse(&other.route_key).unwrap());
        if key.covers(&request) && best.is_none_or(precedes) {
            best = Some(route);
        }
    }
    let route = best?.clone();
    let function = content(served, &route.integration);
    let authorizer = content(served, &route.authorization.authorizer);
    Some(Answer { route, function, authorizer })
}

fn content(served: &[Object], target: &Option<Ref>) -> Option<Spec> {
    let Some(Ref::Key(key)) = target else { return None };
    served.iter().find(|object| object.key == *key).map(|object| object.spec.clone())
}

fn authorization(answer: &Answer) -> &Authorization {
    &answer.route.authorization
}

/// Whether an answer during an update is not more open than the wanted one, or is not more open than the one before, of
/// which it has the function, or its route has not changed. `was_served` are the routes before.
fn is_allowed(now: &Answer, before: Option<&Answer>, after: Option<&Answer>, was_served: &[Object]) -> bool {
    let is_kept = |other: &Answer| !authorization(now).is_weaker_than(authorization(other));
    let is_of_authorizer = |other: &&Answer| other.authorizer == now.authorizer;
    let leaves = |after: &Answer| authorization(after).is_public() || !after.route.has_requests_of(&now.route);
    let leaves = after.is_none_or(leaves);
    let is_known = leaves || now.authorizer.is_none() || before.iter().chain(&after).any(is_of_authorizer);
    let is_unchanged = was_served.iter().any(|object| ApiRoute::of(&object.spec) == Some(&now.route))
        && now.function == content(was_served, &now.route.integration);
    let has_function = |before: &Answer| is_unchanged || before.function == now.function;
    is_known && (after.is_some_and(is_kept) || before.is_some_and(|before| has_function(before) && is_kept(before)))
}

/// Applies the configurations one after the other, the last one after a failure.
fn check(configs: &[Value], failing: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        for config in configs {
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() {
                continue;
            }
            let before = terraform.account.served.lock().unwrap().last().cloned().unwrap_or_default();
            if !before.is_empty() {
                terraform.account.failing.lock().unwrap().push(failing.to_string());
                terraform.apply(config).await;
                terraform.account.failing.lock().unwrap().clear();
                terraform.refresh().await;
            }
            terraform.assert_applies(config).await;
            let history = std::mem::take(&mut *terraform.account.served.lock().unwrap());
            let after = history.last().cloned().unwrap_or(before.clone());
            terraform.account.served.lock().unwrap().push(after.clone());
            for request in REQUESTS.iter().filter(|_| !before.is_empty()) {
                let (first, last) = (answer(&before, request), answer(&after, request));
                for served in &history {
                    let now = answer(served, request);
                    let is_ok = match &now {
                        Some(now) => is_allowed(now, first.as_ref(), last.as_ref(), &before),
                        None => first.is_none() || last.is_none(),
                    };
                    assert!(
                        is_ok,
                        "{request} gets {now:?}\nbefore: {first:?}\nafter: {last:?}\nof {:?}",
                        terraform.account.take_calls()
                    );
                }
            }
            terraform.account.take_calls();
        }
        terraform.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_request_meets_a_weaker_authorization_in_between(
        configs in proptest::collection::vec(some_gateway(), 2..4),
        failing in prop::sample::select(vec!["", "route.GET /a", "route.ANY /{w+}", "stage", "route.$default", "authorizer.first"]),
    ) {
        check(&configs, failing);
    }
}

/// The deletion of the public route, which covers the other one, fails.
#[test]
fn a_protected_route_outlives_the_public_one_that_covers_it() {
    let authorizers = Value::map([
        ("first", jwt_authorizer("https://one.example.com")),
        ("second", jwt_authorizer("https://one.example.com")),
    ]);
    let config = |routes: &[(&str, Value)], stage: &str| {
        gateway(routes, &[], &[("jwt_authorizers", authorizers.clone()), ("stage_name", stage.into())])
    };
    for stages in [["prod", "$default"], ["prod", "prod"]] {
        let before = [("ANY /{w+}", route("a", None)), ("POST /c/{w}/d", route("a", Some("first")))];
        let after = [("GET /c/{v}", route("a", None))];
        for failing in ["", "route.ANY /{w+}"] {
            check(&[config(&before, stages[0]), config(&after, stages[1])], failing);
        }
    }
}
