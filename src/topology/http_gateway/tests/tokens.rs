//! Changes of JWT authorizers because of which clients need other tokens.

use serde_json::{Value as Json, json};

use super::{ORDERS, config, decided, existing, objects, scope, with};

fn tokens(more: Json) -> Json {
    let users = json!({ "issuer": "https://one.example.com", "audience": ["desk", "shop"] });
    json!({
        "route_config": { "GET /a": { "faas_function_arn": ORDERS, "authorizer_name": "users" } },
        "jwt_authorizers": { "users": with(users, more) },
    })
}

#[test]
fn the_plan_names_the_tokens_that_are_no_longer_accepted() {
    let existing = existing(&objects(&config(tokens(json!({})))));
    let warned = |more: Json| {
        let warnings = decided(&config(tokens(more)), &existing, &scope()).1;
        warnings.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    let rejected = |which: &str| format!("Tokens {which} are rejected as soon as the change is deployed.");
    for (more, which) in [
        (json!({ "issuer": "https://one.example.com/" }), "of the issuer \"https://one.example.com\""),
        (json!({ "audience": ["shop", "web"] }), "for the audience \"desk\""),
        (json!({ "identity_sources": ["$request.header.x-token"] }), "in $request.header.Authorization"),
        (
            json!({ "issuer": "https://two.example.com", "audience": ["desk"] }),
            "of the issuer \"https://one.example.com\" and for the audience \"shop\"",
        ),
    ] {
        assert_eq!(warned(more), [rejected(which)]);
    }
    assert_eq!(warned(json!({ "audience": ["desk", "shop", "web"] })), [""; 0]);
    assert_eq!(warned(json!({ "identity_sources": ["$request.header.Authorization"] })), [""; 0]);
}
