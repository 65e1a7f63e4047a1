//! The authorization of routes in the test environment.

use serde_json::{Value, json};

use super::{Gateway, text};
use crate::gateway::with;
use crate::support::http;
use crate::support::issuer::{UNREACHABLE, discovery_url, issuers};

fn jwt(issuer: &str) -> Value {
    json!({ "Name": "users", "AuthorizerType": "JWT", "IdentitySource": ["$request.header.x-token"],
        "JwtConfiguration": { "Audience": ["shop"], "Issuer": issuer } })
}

fn request() -> Value {
    json!({ "Name": "guard", "AuthorizerType": "REQUEST", "AuthorizerUri": "arn:aws:lambda:us-east-1:1:function:f",
        "AuthorizerPayloadFormatVersion": "2.0", "IdentitySource": [] })
}

impl Gateway {
    fn message(&self, method: &str, mut arguments: Value) -> String {
        arguments["ApiId"] = self.api.clone().into();
        self.proxy.try_boto("apigatewayv2", method, arguments).expect_err("AWS rejects this").message
    }

    fn authorizer(&self, arguments: Value) -> String {
        text(&self.call("create_authorizer", arguments)["AuthorizerId"])
    }
}

#[test]
fn a_route_accepts_only_an_authorization_that_fits() {
    let gateway = Gateway::new();
    let token = gateway.authorizer(jwt(&issuers().url("one")));
    let guard = gateway.authorizer(request());
    let update = |more: Value| with(&json!({ "RouteId": gateway.route }), &more);
    for (arguments, part) in [
        (json!({ "AuthorizerId": token }), "Authorizer type is invalid or null"),
        (json!({ "AuthorizationType": "JWT", "AuthorizerId": guard }), "requires a valid JWT authorizer"),
        (json!({ "AuthorizationType": "JWT" }), "requires a valid JWT authorizer"),
        (json!({ "AuthorizationType": "CUSTOM", "AuthorizerId": token }), "CUSTOM or COGNITO_USER_POOLS requires"),
        (
            json!({ "AuthorizationType": "CUSTOM", "AuthorizerId": guard, "AuthorizationScopes": ["a"] }),
            "Scopes are only valid",
        ),
        (json!({ "AuthorizationScopes": ["a"] }), "Scopes are only valid"),
    ] {
        let found = gateway.message("update_route", update(arguments.clone()));
        assert!(found.contains(part), "{arguments}: {found}");
    }
    let scoped = json!({ "AuthorizationType": "JWT", "AuthorizerId": token, "AuthorizationScopes": ["a"] });
    gateway.call("update_route", update(scoped));
    let kept = update(json!({ "AuthorizationType": "NONE", "AuthorizerId": "" }));
    assert!(gateway.message("update_route", kept).contains("Scopes are only valid"), "AWS keeps what is not sent");
    let in_use = gateway.rejected("delete_authorizer", json!({ "AuthorizerId": token }));
    assert_eq!(in_use, "ConflictException");
    let open = json!({ "AuthorizationType": "NONE", "AuthorizerId": "", "AuthorizationScopes": [] });
    gateway.call("update_route", update(open));
    gateway.call("delete_authorizer", json!({ "AuthorizerId": token }));
}

#[test]
fn an_authorizer_is_checked_as_aws_does() {
    let gateway = Gateway::new();
    let missing = issuers().url(UNREACHABLE);
    let found = gateway.message("create_authorizer", jwt(&missing));
    let connection = format!("when connecting to {} for issuer {missing}. Please try", discovery_url(&missing));
    assert!(found.contains(&connection), "{found}");
    let one = issuers().url("one");
    let changed = |name: &str, value: Value| {
        let mut authorizer = jwt(&one);
        authorizer[name] = value;
        gateway.message("create_authorizer", authorizer)
    };
    assert!(changed("EnableSimpleResponses", json!(false)).starts_with("enableSimpleResponses"));
    assert!(changed("IdentitySource", json!(["$request.header.a", "$request.header.b"])).contains("exactly one"));
    let id = gateway.authorizer(jwt(&one));
    let moved = json!({ "AuthorizerId": id, "JwtConfiguration": { "Audience": ["shop"], "Issuer": missing } });
    assert!(gateway.message("update_authorizer", moved).contains(&connection));
    let shown = gateway.call("get_authorizer", json!({ "AuthorizerId": id }));
    assert_eq!(shown["JwtConfiguration"]["Issuer"], one.as_str(), "the update fails as a whole");
}

#[test]
fn tokens_and_signatures_open_only_their_routes() {
    let gateway = Gateway::new();
    let account = gateway.proxy.account();
    let token = gateway.authorizer(jwt(&issuers().url("one")));
    let update = |more: Value| {
        gateway.call("update_route", with(&json!({ "RouteId": gateway.route }), &more));
    };
    update(json!({ "AuthorizationType": "JWT", "AuthorizerId": token, "AuthorizationScopes": ["read", "all"] }));
    let status = |claims: Option<Value>| {
        let request = http::gateway(account, &gateway.api, "GET", "/hello");
        let token = claims.map(|claims| issuers().token("one", &claims));
        token.iter().fold(request, |it, token| it.header("x-token", token)).send().expect("an answer").status
    };
    assert_eq!(status(Some(json!({ "scope": "all other" }))), 200);
    assert_eq!(status(Some(json!({ "scope": "other" }))), 403);
    for claims in [json!({ "exp": 1 }), json!({ "aud": "desk" }), json!({ "iss": issuers().url("two") })] {
        let claims = with(&json!({ "scope": "all" }), &claims);
        assert_eq!(status(Some(claims.clone())), 401, "{claims}");
    }
    assert_eq!(status(None), 401);

    update(json!({ "AuthorizationType": "AWS_IAM", "AuthorizerId": "", "AuthorizationScopes": [] }));
    assert_eq!(status(None), 403, "a credential alone is no signature");
    let signed = |path: &str| {
        let request = http::signed_gateway_now(account, &gateway.api, path);
        request.header("x-other", "1").send().expect("an answer").status
    };
    assert_eq!(signed("/hello"), 200);
}
