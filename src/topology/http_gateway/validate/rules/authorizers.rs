//! The rules of request authorizers.

use super::*;

pub(super) fn authorizers() -> Vec<Rule> {
    let authorizer = |more: Json| json!({"faas_authorizers": {"a": with(json!({"authorizer_name": "auth"}), more)}});
    let uri = |function: &str| {
        let prefix = "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions";
        authorizer(json!({"authorizer_uri": format!("{prefix}/{function}/invocations")}))
    };
    let sources = |list: &[&str]| authorizer(json!({"identity_sources": list}));
    let name: &[&str] = &["faas_authorizers[\"a\"].authorizer_name"];
    let at_uri: &[&str] = &["faas_authorizers[\"a\"].authorizer_uri"];
    let source: &[&str] = &["faas_authorizers[\"a\"].identity_sources[0]"];
    let ttl: &[&str] = &["faas_authorizers[\"a\"].result_ttl_in_seconds"];
    let role: &[&str] = &["faas_authorizers[\"a\"].authorizer_credentials_arn"];
    vec![
        (
            "an authorizer has a name",
            json!({"faas_authorizers": {"": {"authorizer_name": "auth"}}}),
            &["faas_authorizers[\"\"]"],
            &["0 characters"],
            json!({"faas_authorizers": {"an authorizer": {"authorizer_name": "auth"}}}),
        ),
        ("an authorizer calls a function", authorizer(json!({"authorizer_name": ""})), name, &["empty"], {
            authorizer(json!({"authorizer_name": "auth"}))
        }),
        (
            "an authorizer function has a valid name",
            authorizer(json!({"authorizer_name": "a b"})),
            name,
            &["\"a b\"", "1 to 64"],
            authorizer(json!({"authorizer_name": "auth:live"})),
        ),
        (
            "an authorizer ARN is the ARN of a function",
            authorizer(json!({"authorizer_name": "arn:aws:s3:::bucket"})),
            name,
            &["arn:aws:s3:::bucket"],
            authorizer(json!({"authorizer_name": FOREIGN})),
        ),
        (
            "an authorizer function is not $LATEST",
            authorizer(json!({"authorizer_name": "auth:$LATEST"})),
            name,
            &["$LATEST"],
            authorizer(json!({"authorizer_name": "auth:7"})),
        ),
        (
            "an invoke URI is not the ARN of a function",
            authorizer(json!({"authorizer_uri": ORDERS})),
            at_uri,
            &["not its invoke URI", "/2015-03-31/functions/arn:aws:lambda", "authorizer_name"],
            uri(ORDERS),
        ),
        (
            "an invoke URI calls Lambda",
            authorizer(json!({"authorizer_uri": "arn:aws:apigateway:eu-central-1:sqs:action/SendMessage"})),
            at_uri,
            &["sqs:action", "invoke_arn"],
            uri(FOREIGN),
        ),
        (
            "an invoke URI calls a function",
            uri("arn:aws:lambda:eu-central-1:123456789012:layer:x"),
            at_uri,
            &["layer:x"],
            uri("arn:aws:lambda:eu-central-1:123456789012:function:${stageVariables.function}"),
        ),
        (
            "an invoke URI has at most 2048 bytes",
            uri(&format!("${{stageVariables.{}}}", "x".repeat(2000))),
            at_uri,
            &["2048"],
            uri(&format!("${{stageVariables.{}}}", "x".repeat(1900))),
        ),
        (
            "an authorizer has payload format version 1.0 or 2.0",
            authorizer(json!({"authorizer_payload_format_version": "2"})),
            &["faas_authorizers[\"a\"].authorizer_payload_format_version"],
            &["\"2\"", "1.0, 2.0"],
            authorizer(json!({"authorizer_payload_format_version": "2.0"})),
        ),
        (
            "results are cached for at most an hour",
            authorizer(json!({"result_ttl_in_seconds": 3601, "identity_sources": ["$context.path"]})),
            ttl,
            &["3601", "3600"],
            authorizer(json!({"result_ttl_in_seconds": 3600, "identity_sources": ["$context.path"]})),
        ),
        (
            "the cache time of results is not negative",
            authorizer(json!({"result_ttl_in_seconds": -1})),
            ttl,
            &["-1", "0"],
            authorizer(json!({"result_ttl_in_seconds": 0})),
        ),
        (
            "caching requires identity sources",
            authorizer(json!({"result_ttl_in_seconds": 1, "identity_sources": []})),
            ttl,
            &["1 seconds", "identity_sources"],
            authorizer(json!({"result_ttl_in_seconds": 1, "identity_sources": ["$context.path"]})),
        ),
        (
            "simple responses need payload version 2.0",
            authorizer(json!({"enable_simple_responses": true})),
            &["faas_authorizers[\"a\"].enable_simple_responses"],
            &["\"1.0\"", "\"2.0\""],
            authorizer(json!({"enable_simple_responses": true, "authorizer_payload_format_version": "2.0"})),
        ),
        ("an identity source has a valid prefix", sources(&["Authorization"]), source, &["\"Authorization\""], {
            sources(&["$request.header.Authorization", "$context.identity.sourceIp", "$stageVariables.x"])
        }),
        (
            "an element is one identity source",
            sources(&["$request.header.a,$request.header.b"]),
            source,
            &["one source per element"],
            sources(&["$request.header.a", "$request.header.b"]),
        ),
        (
            "an identity source has a name",
            sources(&["$request.querystring."]),
            source,
            &["$request.querystring."],
            sources(&["$request.querystring.token"]),
        ),
        (
            "an identity source in the context has a valid name",
            sources(&["$context.a b"]),
            source,
            &["$context.a b"],
            sources(&["$context.routeKey"]),
        ),
        (
            "an identity source is listed once, a header in any case",
            sources(&["$request.querystring.A", "$request.header.a", "$request.header.A", "$request.querystring.A"]),
            &["faas_authorizers[\"a\"].identity_sources[2]", "faas_authorizers[\"a\"].identity_sources[3]"],
            &["$request.header.A", "$request.querystring.A"],
            sources(&["$request.querystring.A", "$request.header.a", "$request.querystring.a"]),
        ),
        (
            "credentials are the ARN of a role",
            authorizer(json!({"authorizer_credentials_arn": "arn:aws:iam::123456789012:user/x"})),
            role,
            &["user/x", "role"],
            authorizer(json!({"authorizer_credentials_arn": "arn:aws:iam::123456789012:role/x/y"})),
        ),
        (
            "the ARN of a role has an account ID",
            authorizer(json!({"authorizer_credentials_arn": "arn:aws:iam::12345:role/x"})),
            role,
            &["\"12345\"", "twelve digits"],
            authorizer(json!({"authorizer_credentials_arn": ROLE})),
        ),
    ]
}

/// The rules of JWT authorizers, and of the authorization of routes.
pub(super) fn authorization() -> Vec<Rule> {
    let issuer = |more: Json| {
        let basis = json!({"issuer": "https://id.example.com", "audience": ["shop"]});
        json!({"jwt_authorizers": {"j": with(basis, more)}})
    };
    let url = |url: &str| issuer(json!({"issuer": url}));
    let many: Vec<String> = (0..51).map(|number| format!("client{number}")).collect();
    let at_issuer: &[&str] = &["jwt_authorizers[\"j\"].issuer"];
    let at_audience: &[&str] = &["jwt_authorizers[\"j\"].audience"];
    let at_source: &[&str] = &["jwt_authorizers[\"j\"].identity_sources"];
    let both = || with(issuer(json!({})), json!({"faas_authorizers": {"a": {"authorizer_name": "auth"}}}));
    let route = |more: Json| {
        with(both(), json!({"route_config": {"GET /x": with(json!({"faas_function_arn": ORDERS}), more)}}))
    };
    let at_type: &[&str] = &["route_config[\"GET /x\"].authorization_type"];
    let at_scopes: &[&str] = &["route_config[\"GET /x\"].authorization_scopes"];
    let of_default = |more: Json| with(route(json!({})), more);
    vec![
        ("an issuer is an https URL", url("http://id.example.com"), at_issuer, &["http://id", "https"], {
            url("https://id.example.com/tenant/")
        }),
        ("an issuer has a host", url("https:///x"), at_issuer, &["https:///x"], url("https://localhost:8443/x")),
        (
            "an issuer has no query",
            url("https://id.example.com?a=b"),
            at_issuer,
            &["query"],
            url("https://a.example/b"),
        ),
        (
            "an issuer is not its discovery document",
            url("https://id.example.com/.well-known/openid-configuration"),
            at_issuer,
            &["discovery document", "may be \"https://id.example.com\""],
            url("https://id.example.com/.well-known"),
        ),
        ("an issuer has at most 2048 bytes", url(&format!("https://a/{}", "x".repeat(2040))), at_issuer, &["2048"], {
            url(&format!("https://a/{}", "x".repeat(2000)))
        }),
        ("a JWT authorizer has an audience", issuer(json!({"audience": []})), at_audience, &["other applications"], {
            issuer(json!({"audience": ["a", "b"]}))
        }),
        ("a JWT authorizer has at most 50 audiences", issuer(json!({"audience": many})), at_audience, &["51", "50"], {
            issuer(json!({"audience": many[1..]}))
        }),
        ("an audience is not empty", issuer(json!({"audience": ["a", ""]})), at_audience, &["is empty"], {
            issuer(json!({"audience": ["a", UNKNOWN]}))
        }),
        (
            "a JWT authorizer has one identity source",
            issuer(json!({"identity_sources": ["$request.header.a", "$request.header.b"]})),
            at_source,
            &["2 identity sources", "exactly one"],
            issuer(json!({"identity_sources": ["$request.querystring.token"]})),
        ),
        (
            "the identity source of a JWT authorizer is a header or a query parameter",
            issuer(json!({"identity_sources": ["$context.identity"]})),
            at_source,
            &["$context.identity"],
            issuer(json!({"identity_sources": ["$request.header.Authorization"]})),
        ),
        (
            "a name of an authorizer is in one map",
            with(both(), json!({"jwt_authorizers": {"a": {"issuer": "https://id.example.com", "audience": ["b"]}}})),
            &["jwt_authorizers[\"a\"]"],
            &["faas_authorizers too"],
            both(),
        ),
        (
            "the name of a JWT authorizer has at most 128 characters",
            json!({"jwt_authorizers": {"x".repeat(129): {"issuer": "https://id.example.com", "audience": ["b"]}}}),
            &[concat!(
                "jwt_authorizers[\"",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]"
            )],
            &["129", "128"],
            json!({"jwt_authorizers": {"x".repeat(128): {"issuer": "https://id.example.com", "audience": ["b"]}}}),
        ),
        (
            "a type of authorization is one of four",
            route(json!({"authorization_type": "IAM"})),
            at_type,
            &["\"IAM\""],
            { route(json!({"authorization_type": "AWS_IAM"})) },
        ),
        (
            "a type with an authorizer needs one",
            route(json!({"authorization_type": "JWT"})),
            at_type,
            &["\"JWT\" requires authorizer_name", "key of jwt_authorizers"],
            route(json!({"authorization_type": "JWT", "authorizer_name": "j"})),
        ),
        (
            "a type fits its authorizer",
            route(json!({"authorization_type": "CUSTOM", "authorizer_name": "j"})),
            at_type,
            &["\"CUSTOM\"", "\"j\" is a JWT authorizer"],
            route(json!({"authorization_type": "CUSTOM", "authorizer_name": "a"})),
        ),
        (
            "a type without an authorizer excludes one",
            route(json!({"authorization_type": "NONE", "authorizer_name": "a"})),
            at_type,
            &["\"NONE\"", "\"a\""],
            of_default(json!({"default_authorizer_name": "a"})),
        ),
        (
            "scopes need a JWT authorizer",
            route(json!({"authorization_type": "AWS_IAM", "authorization_scopes": ["read"]})),
            at_scopes,
            &["the type of the route is \"AWS_IAM\""],
            route(json!({"authorizer_name": "j", "authorization_scopes": ["read"]})),
        ),
        (
            "a route has at most 10 scopes",
            route(json!({"authorizer_name": "j", "authorization_scopes": many[..11]})),
            at_scopes,
            &["11 scopes", "10"],
            route(json!({"authorizer_name": "j", "authorization_scopes": many[..10]})),
        ),
        (
            "a scope has at most 64 characters",
            route(json!({"authorizer_name": "j", "authorization_scopes": ["x".repeat(65)]})),
            at_scopes,
            &["65", "64"],
            route(json!({"authorizer_name": "j", "authorization_scopes": ["x".repeat(64)]})),
        ),
        (
            "the default authorizer exists",
            of_default(json!({"default_authorizer_name": "b"})),
            &["default_authorizer_name"],
            &["no authorizer \"b\"", "jwt_authorizers has \"j\""],
            of_default(json!({"default_authorizer_name": "j"})),
        ),
        (
            "default scopes need a default authorizer",
            of_default(json!({"default_authorization_scopes": ["read"]})),
            &["default_authorization_scopes"],
            &["no effect without default_authorizer_name"],
            of_default(json!({"default_authorizer_name": "j", "default_authorization_scopes": ["read"]})),
        ),
        (
            "default scopes need a JWT authorizer",
            of_default(json!({"default_authorizer_name": "a", "default_authorization_scopes": ["read"]})),
            &["default_authorization_scopes"],
            &["\"a\" is a request authorizer"],
            of_default(json!({"default_authorizer_name": "j", "default_authorization_scopes": ["read"]})),
        ),
    ]
}
