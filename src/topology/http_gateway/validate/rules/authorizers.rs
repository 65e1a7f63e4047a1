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
