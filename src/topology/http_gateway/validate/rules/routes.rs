//! The rules of routes.

use super::*;

pub(super) fn routes() -> Vec<Rule> {
    let route = |more: Json| json!({"route_config": {"GET /x": with(json!({"faas_function_arn": ORDERS}), more)}});
    let function = |arn: &str| json!({"route_config": {"GET /x": {"faas_function_arn": arn}}});
    let guarded = |name: &str| {
        let authorizers = json!({"faas_authorizers": {"a": {"authorizer_name": "auth"}}});
        with(authorizers, route(json!({"authorizer_name": name})))
    };
    let arn: &[&str] = &["route_config[\"GET /x\"].faas_function_arn"];
    vec![
        ("at least one route exists", json!({"route_config": {}}), &["route_config"], &["no routes"], route(json!({}))),
        (
            "a function is identified by its ARN",
            function("orders"),
            arn,
            &["\"orders\"", "arn:aws:lambda"],
            function(FOREIGN),
        ),
        (
            "a function is a Lambda function",
            function("arn:aws:lambda:eu-central-1:123456789012:layer:orders"),
            arn,
            &["layer:orders", "Lambda function"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders"),
        ),
        (
            "the ARN of a function is not an invoke URI",
            function(
                "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/\
                 arn:aws:lambda:eu-central-1:123456789012:function:orders/invocations",
            ),
            arn,
            &["invoke URI", "Use the ARN within it, arn:aws:lambda:eu-central-1:123456789012:function:orders:"],
            function(ORDERS),
        ),
        (
            "the ARN of a function has an AWS partition",
            function("arn:azure:lambda:eu-central-1:123456789012:function:orders"),
            arn,
            &["\"azure\"", "partition"],
            function("arn:aws-cn:lambda:cn-north-1:123456789012:function:orders"),
        ),
        (
            "the ARN of a function has a Region",
            function("arn:aws:lambda::123456789012:function:orders"),
            arn,
            &["Region"],
            function("arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:orders"),
        ),
        (
            "the ARN of a function has an account ID",
            function("arn:aws:lambda:eu-central-1:1234:function:orders"),
            arn,
            &["\"1234\"", "twelve digits"],
            function("arn:aws:lambda:eu-central-1:000000001234:function:orders"),
        ),
        (
            "a function has a valid name",
            function("arn:aws:lambda:eu-central-1:123456789012:function:or ders"),
            arn,
            &["\"or ders\"", "1 to 64"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:or_ders-1"),
        ),
        (
            "an alias has a valid name",
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:a b"),
            arn,
            &["\"a b\"", "alias"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:live"),
        ),
        (
            "a function is not $LATEST",
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:$LATEST"),
            arn,
            &["$LATEST"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:7"),
        ),
        (
            "an integration's description has at most 1024 characters",
            route(json!({"description": "x".repeat(1025)})),
            &["route_config[\"GET /x\"].description"],
            &["1025", "1024"],
            route(json!({"description": "x".repeat(1024)})),
        ),
        (
            "a timeout is at least 50 milliseconds",
            route(json!({"timeout_milliseconds": 49})),
            &["route_config[\"GET /x\"].timeout_milliseconds"],
            &["49", "50"],
            route(json!({"timeout_milliseconds": 50})),
        ),
        (
            "a timeout is at most 30 seconds",
            route(json!({"timeout_milliseconds": 30001})),
            &["route_config[\"GET /x\"].timeout_milliseconds"],
            &["30001", "30000"],
            route(json!({"timeout_milliseconds": 30000})),
        ),
        (
            "a payload format version is 1.0 or 2.0",
            route(json!({"payload_format_version": "3.0"})),
            &["route_config[\"GET /x\"].payload_format_version"],
            &["3.0", "1.0, 2.0"],
            route(json!({"payload_format_version": "2.0"})),
        ),
        (
            "a route refers to an existing authorizer",
            guarded("b"),
            &["route_config[\"GET /x\"].authorizer_name"],
            &["\"b\"", "faas_authorizers has \"a\", and jwt_authorizers is empty"],
            guarded("a"),
        ),
        (
            "a gateway without authorizers has no authorized routes",
            route(json!({"authorizer_name": "a"})),
            &["route_config[\"GET /x\"].authorizer_name"],
            &["\"a\"", "faas_authorizers is empty"],
            route(json!({"authorizer_name": null})),
        ),
    ]
}

pub(super) fn route_keys() -> Vec<Rule> {
    let keys = |keys: &[&str]| -> Json {
        let routes: Json = keys.iter().map(|key| (key.to_string(), json!({"faas_function_arn": ORDERS}))).collect();
        json!({"route_config": routes})
    };
    vec![
        (
            "a route key is a method and a path",
            keys(&["/x"]),
            &["route_config[\"/x\"]"],
            &["\"/x\"", "$default"],
            keys(&["$default", "ANY /x"]),
        ),
        (
            "only $default has no path",
            keys(&["$connect"]),
            &["route_config[\"$connect\"]"],
            &["$connect", "$default"],
            keys(&["$default"]),
        ),
        (
            "a route key has no spaces around it",
            keys(&["GET /x "]),
            &["route_config[\"GET /x \"]"],
            &["\"GET /x\""],
            keys(&["GET /x"]),
        ),
        (
            "a method is in uppercase",
            keys(&["get /x"]),
            &["route_config[\"get /x\"]"],
            &["\"get\"", "Use GET."],
            keys(&["GET /x", "HEAD /x", "OPTIONS /x", "PATCH /x"]),
        ),
        (
            "a method is one that API Gateway supports",
            keys(&["TRACE /x"]),
            &["route_config[\"TRACE /x\"]"],
            &["\"TRACE\"", "ANY"],
            keys(&["ANY /x"]),
        ),
        (
            "a path starts with a slash",
            keys(&["GET x"]),
            &["route_config[\"GET x\"]"],
            &["GET x", "\"/\""],
            keys(&["GET /"]),
        ),
        (
            "a path has no spaces",
            keys(&["GET /a b"]),
            &["route_config[\"GET /a b\"]"],
            &["GET /a b", "space"],
            keys(&["GET /a-b"]),
        ),
        (
            "a path has no query",
            keys(&["GET /x?y=z"]),
            &["route_config[\"GET /x?y=z\"]"],
            &["GET /x?y=z", "query"],
            keys(&["GET /x/y-z"]),
        ),
        (
            "a path has no fragment",
            keys(&["GET /x#y"]),
            &["route_config[\"GET /x#y\"]"],
            &["GET /x#y", "fragment"],
            keys(&["GET /x/y"]),
        ),
        (
            "a greedy variable comes last",
            keys(&["GET /{rest+}/x"]),
            &["route_config[\"GET /{rest+}/x\"]"],
            &["greedy", "last part"],
            keys(&["GET /x/{rest+}"]),
        ),
        (
            "a variable is a whole part",
            keys(&["GET /x-{id}"]),
            &["route_config[\"GET /x-{id}\"]"],
            &["\"x-{id}\"", "whole part"],
            keys(&["GET /x/{id}"]),
        ),
        (
            "a variable has a closing brace",
            keys(&["GET /{id"]),
            &["route_config[\"GET /{id\"]"],
            &["\"{id\"", "braces"],
            keys(&["GET /{id}"]),
        ),
        (
            "a variable has a name",
            keys(&["GET /{}"]),
            &["route_config[\"GET /{}\"]"],
            &["\"{}\"", "name"],
            keys(&["GET /{a.b_c-d}"]),
        ),
        (
            "a variable's name has only allowed characters",
            keys(&["GET /{a b}", "GET /y/{a*}"]),
            &["route_config[\"GET /y/{a*}\"]", "route_config[\"GET /{a b}\"]"],
            &["\"{a*}\"", "letters, digits"],
            keys(&["GET /y/{a+}"]),
        ),
        (
            "variable names are unique within a path",
            keys(&["GET /{id}/x/{id}"]),
            &["route_config[\"GET /{id}/x/{id}\"]"],
            &["\"id\"", "its own name"],
            keys(&["GET /{id}/x/{item}"]),
        ),
        (
            "a position has one variable name for all methods",
            keys(&["GET /x/{a}", "PUT /x/{b}/y"]),
            &["route_config[\"PUT /x/{b}/y\"]"],
            &["\"a\"", "\"b\"", "GET /x/{a}"],
            keys(&["GET /x/{a}", "PUT /x/{a}/y"]),
        ),
        (
            "two routes do not match the same requests",
            keys(&["GET /{a}", "GET /{b}"]),
            &["route_config[\"GET /{b}\"]"],
            &["same requests", "GET /{a}"],
            keys(&["GET /{a}", "PUT /{a}"]),
        ),
    ]
}
