//! The rules of routes.

use super::*;

pub(super) fn routes() -> Vec<Rule> {
    let route = |more: Json| json!({"route_config": {"GET /x": with(json!({"faas_function_arn": ORDERS}), more)}});
    let function = |arn: &str| json!({"route_config": {"GET /x": {"faas_function_arn": arn}}});
    let many = |count: usize, entry: fn(usize) -> Json| -> Json {
        let routes: Json = (0..count).map(|it| (format!("GET /r{it}"), entry(it))).collect();
        json!({"route_config": routes})
    };
    let same = |_| json!({"faas_function_arn": ORDERS});
    let distinct = |it| json!({"faas_function_arn": ORDERS, "timeout_milliseconds": 1000 + it});
    let guarded = |name: &str| {
        let authorizers = json!({"faas_authorizers": {"a": {"authorizer_name": "auth"}}});
        with(authorizers, route(json!({"authorizer_name": name})))
    };
    let arn: &[&str] = &["route_config[\"GET /x\"].faas_function_arn"];
    vec![
        ("there is a route", json!({"route_config": {}}), &["route_config"], &["no routes"], many(1, same)),
        ("there are at most 300 routes", many(301, same), &["route_config"], &["301", "300"], many(300, same)),
        (
            "there are at most 300 integrations",
            many(301, distinct),
            &["route_config", "route_config"],
            &["301 routes", "301 integrations", "300"],
            many(300, distinct),
        ),
        (
            "a function is named by its ARN",
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
            "a function's ARN is no invoke URI",
            function(
                "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/\
                 arn:aws:lambda:eu-central-1:123456789012:function:orders/invocations",
            ),
            arn,
            &["invoke URI", "Give the ARN within it, arn:aws:lambda:eu-central-1:123456789012:function:orders:"],
            function(ORDERS),
        ),
        (
            "a function stands in a partition of AWS",
            function("arn:azure:lambda:eu-central-1:123456789012:function:orders"),
            arn,
            &["\"azure\"", "partition"],
            function("arn:aws-cn:lambda:cn-north-1:123456789012:function:orders"),
        ),
        (
            "a function stands in a Region",
            function("arn:aws:lambda::123456789012:function:orders"),
            arn,
            &["Region"],
            function("arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:orders"),
        ),
        (
            "a function belongs to an account",
            function("arn:aws:lambda:eu-central-1:1234:function:orders"),
            arn,
            &["\"1234\"", "twelve digits"],
            function("arn:aws:lambda:eu-central-1:000000001234:function:orders"),
        ),
        (
            "a function has a function's name",
            function("arn:aws:lambda:eu-central-1:123456789012:function:or ders"),
            arn,
            &["\"or ders\"", "1 to 64"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:or_ders-1"),
        ),
        (
            "a function's alias has an alias's name",
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:a b"),
            arn,
            &["\"a b\"", "alias"],
            function("arn:aws:lambda:eu-central-1:123456789012:function:orders:live"),
        ),
        (
            "a function can be given a permission",
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
            "a timeout is 50 milliseconds at least",
            route(json!({"timeout_milliseconds": 49})),
            &["route_config[\"GET /x\"].timeout_milliseconds"],
            &["49", "50"],
            route(json!({"timeout_milliseconds": 50})),
        ),
        (
            "a timeout is 30 seconds at most",
            route(json!({"timeout_milliseconds": 30001})),
            &["route_config[\"GET /x\"].timeout_milliseconds"],
            &["30001", "30000"],
            route(json!({"timeout_milliseconds": 30000})),
        ),
        (
            "a payload has one of two formats",
            route(json!({"payload_format_version": "3.0"})),
            &["route_config[\"GET /x\"].payload_format_version"],
            &["3.0", "1.0, 2.0"],
            route(json!({"payload_format_version": "2.0"})),
        ),
        (
            "a route's authorizer is one of them",
            guarded("b"),
            &["route_config[\"GET /x\"].authorizer_name"],
            &["\"b\"", "there are \"a\""],
            guarded("a"),
        ),
        (
            "a route without authorizers has none",
            route(json!({"authorizer_name": "a"})),
            &["route_config[\"GET /x\"].authorizer_name"],
            &["\"a\"", "there are none"],
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
            "there is one route key without a path",
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
            "a method is in capitals",
            keys(&["get /x"]),
            &["route_config[\"get /x\"]"],
            &["\"get\"", "GET, POST"],
            keys(&["GET /x", "HEAD /x", "OPTIONS /x", "PATCH /x"]),
        ),
        (
            "a method is one that API Gateway knows",
            keys(&["TRACE /x"]),
            &["route_config[\"TRACE /x\"]"],
            &["\"TRACE\"", "ANY"],
            keys(&["ANY /x"]),
        ),
        (
            "a path begins with a slash",
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
            keys(&["GET /x/y=z"]),
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
            "a variable ends",
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
            "a variable's name has a name's characters",
            keys(&["GET /{a b}", "GET /y/{a*}"]),
            &["route_config[\"GET /y/{a*}\"]", "route_config[\"GET /{a b}\"]"],
            &["\"{a*}\"", "letters, digits"],
            keys(&["GET /y/{a+}"]),
        ),
        (
            "a path names each variable once",
            keys(&["GET /{id}/x/{id}"]),
            &["route_config[\"GET /{id}/x/{id}\"]"],
            &["\"id\"", "its own name"],
            keys(&["GET /{id}/x/{item}"]),
        ),
        (
            "a place has one variable, whatever the methods",
            keys(&["GET /x/{a}", "PUT /x/{b}/y"]),
            &["route_config[\"PUT /x/{b}/y\"]"],
            &["\"a\"", "\"b\"", "GET /x/{a}"],
            keys(&["GET /x/{a}", "PUT /x/{a}/y"]),
        ),
        (
            "a request has one route",
            keys(&["GET /{a}", "GET /{b}"]),
            &["route_config[\"GET /{b}\"]"],
            &["same requests", "GET /{a}"],
            keys(&["GET /{a}", "PUT /{a}"]),
        ),
    ]
}
