//! The rules of integrations and their parameters.

use super::*;

const LISTENER: &str = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/net/a/1/2";

/// A rule of a route: the inputs that break it, the attribute, parts of the message, and the inputs that satisfy it.
fn rule(name: &'static str, bad: Json, path: &'static str, parts: &'static [&'static str], good: Json) -> Rule {
    let of = |route: Json| json!({"route_config": {"GET /x": route}});
    let path: &'static str = format!("route_config[\"GET /x\"].{path}").leak();
    (name, of(bad), vec![path].leak(), parts, of(good))
}

/// A private route through this link, next to the link `main`.
fn linked(name: &str, main: Json) -> Json {
    let route = json!({"integration_uri": LISTENER, "vpc_link": name});
    json!({"route_config": {"GET /x": route}, "vpc_links": {"main": main}})
}

pub(super) fn integrations() -> Vec<Rule> {
    let function = |more: Json| with(json!({"faas_function_arn": ORDERS}), more);
    let url = |more: Json| with(json!({"integration_uri": "https://a.example.com/{proxy}"}), more);
    let private = |more: Json| with(json!({"integration_uri": LISTENER, "vpc_link_id": "a1b2c3"}), more);
    let tls = || json!({"tls_config": {"server_name_to_verify": "a.example.com"}});
    vec![
        rule(
            "a route has a target",
            json!({"timeout_milliseconds": 1000}),
            "faas_function_arn",
            &["Neither faas_function_arn nor integration_uri nor integration_subtype"],
            url(json!({})),
        ),
        rule(
            "a route has one target",
            function(url(json!({}))),
            "faas_function_arn",
            &["Both", "integration_uri"],
            json!({"faas_function_arn": UNKNOWN, "integration_uri": UNKNOWN}),
        ),
        rule(
            "a target without a VPC link is a URL",
            json!({"integration_uri": "a.example.com"}),
            "integration_uri",
            &["\"a.example.com\"", "scheme"],
            json!({"integration_uri": "http://${stageVariables.host}/a"}),
        ),
        rule(
            "a URL has a host",
            json!({"integration_uri": "https:///a"}),
            "integration_uri",
            &["https:///a", "host"],
            json!({"integration_uri": "https://a"}),
        ),
        rule(
            "a listener needs a VPC link",
            json!({"integration_uri": LISTENER}),
            "integration_uri",
            &["requires a VPC link", "vpc_link_id"],
            private(json!({})),
        ),
        rule(
            "a VPC link needs a listener",
            url(json!({"vpc_link_id": "a1b2c3"})),
            "integration_uri",
            &["a.example.com", "listener"],
            json!({"integration_uri": "arn:aws:servicediscovery:eu-central-1:123456789012:service/srv-1?a=b",
                "vpc_link_id": "a1b2c3"}),
        ),
        rule(
            "a load balancer is no listener",
            json!({"integration_uri": LISTENER.replace("listener/net", "loadbalancer/net"), "vpc_link_id": "a1b2c3"}),
            "integration_uri",
            &["load balancer"],
            json!({"integration_uri": UNKNOWN, "vpc_link_id": "a1b2c3"}),
        ),
        rule(
            "a VPC link has an ID",
            private(json!({"vpc_link_id": "my link"})),
            "vpc_link_id",
            &["\"my link\""],
            private(json!({"vpc_link_id": UNKNOWN})),
        ),
        (
            "a VPC link of a route is in vpc_links",
            linked("other", json!({"subnet_ids": ["subnet-1"]})),
            &["route_config[\"GET /x\"].vpc_link"],
            &["\"other\"", "vpc_link_id"],
            linked("main", json!({"subnet_ids": ["subnet-1"]})),
        ),
        rule(
            "a route has one VPC link",
            private(json!({"vpc_link": UNKNOWN, "vpc_link_id": "no link"})),
            "vpc_link_id",
            &["no link"],
            private(json!({"vpc_link": null})),
        ),
        (
            "a VPC link has a subnet",
            linked("main", json!({"subnet_ids": []})),
            &["vpc_links[\"main\"].subnet_ids"],
            &["0 IDs", "1 to 10"],
            linked("main", json!({"subnet_ids": [UNKNOWN]})),
        ),
        (
            "a subnet of a VPC link has an ID",
            linked("main", json!({"subnet_ids": ["main-private-0"]})),
            &["vpc_links[\"main\"].subnet_ids"],
            &["main-private-0", "subnet-"],
            linked("main", json!({"subnet_ids": ["subnet-1"]})),
        ),
        (
            "a security group of a VPC link has an ID",
            linked("main", json!({"subnet_ids": ["subnet-1"], "security_group_ids": ["default"]})),
            &["vpc_links[\"main\"].security_group_ids"],
            &["\"default\"", "sg-"],
            linked("main", json!({"subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"]})),
        ),
        rule(
            "a function has no VPC link",
            function(json!({"vpc_link_id": "a1b2c3"})),
            "vpc_link_id",
            &["no effect without integration_uri"],
            private(json!({})),
        ),
        rule(
            "a function is called with POST",
            function(json!({"integration_method": "GET"})),
            "integration_method",
            &["no effect without integration_uri"],
            url(json!({"integration_method": "GET"})),
        ),
        rule(
            "a method is one that API Gateway sends",
            url(json!({"integration_method": "get"})),
            "integration_method",
            &["\"get\"", "ANY"],
            url(json!({"integration_method": "ANY"})),
        ),
        rule("TLS settings need a VPC link", url(tls()), "tls_config", &["no effect", "vpc_link_id"], private(tls())),
        rule(
            "only functions have payload format 2.0",
            url(json!({"payload_format_version": "2.0"})),
            "payload_format_version",
            &["no effect without faas_function_arn"],
            url(json!({"payload_format_version": "1.0"})),
        ),
        rule(
            "an endpoint has no role",
            url(json!({"credentials_arn": ROLE})),
            "credentials_arn",
            &["Both", "integration_uri"],
            function(json!({"credentials_arn": ROLE})),
        ),
        rule(
            "a role has an ARN",
            function(json!({"credentials_arn": "arn:aws:iam::*:user/*"})),
            "credentials_arn",
            &["user/*"],
            function(json!({"credentials_arn": UNKNOWN})),
        ),
    ]
}

pub(super) fn parameters() -> Vec<Rule> {
    let request = |name: &str, value: &str| json!({"faas_function_arn": ORDERS, "request_parameters": {name: value}});
    let coded = |code: &str, name: &str, value: &str| json!({"faas_function_arn": ORDERS, "response_parameters": {code: {name: value}}});
    let response = |code: &str, name: &str| coded(code, name, if name == "overwrite:statuscode" { "502" } else { "x" });
    let changed = |name: &str, value: &str| coded("200", name, value);
    let queue = |parameters: Json| json!({"integration_subtype": "SQS-SendMessage", "credentials_arn": ROLE, "request_parameters": parameters});
    let complete = || queue(json!({"QueueUrl": "$stageVariables.queue", "MessageBody": "$request.body"}));
    vec![
        rule(
            "a parameter of a request has a known form",
            request("overwrite:body", "x"),
            "request_parameters[\"overwrite:body\"]",
            &["overwrite:body", "querystring.<name>", "overwrite:path"],
            request("overwrite:path", "x"),
        ),
        rule(
            "a reserved header stays as it is",
            request("append:header.X-Amz-Date", "x"),
            "request_parameters[\"append:header.X-Amz-Date\"]",
            &["X-Amz-Date", "reserved"],
            request("append:header.X-Amazing", "x"),
        ),
        rule(
            "a header to change has a valid name",
            request("remove:header.a b", "''"),
            "request_parameters[\"remove:header.a b\"]",
            &["\"a b\"", "header name"],
            request("remove:querystring.a b", "''"),
        ),
        rule(
            "a parameter has a value",
            request("remove:header.a", ""),
            "request_parameters[\"remove:header.a\"]",
            &["0 characters", "\"''\""],
            request("remove:header.a", "''"),
        ),
        rule(
            "a value has at most 512 characters",
            request("append:header.a", &"x".repeat(513)),
            "request_parameters[\"append:header.a\"]",
            &["513", "512"],
            request("append:header.a", &"x".repeat(512)),
        ),
        rule(
            "a response to change has a status code",
            response("5xx", "append:header.a"),
            "response_parameters[\"5xx\"]",
            &["\"5xx\"", "200 to 599"],
            response("599", "append:header.a"),
        ),
        rule(
            "a new status code is a number",
            changed("overwrite:statuscode", "'502'"),
            "response_parameters[\"200\"][\"overwrite:statuscode\"]",
            &["'502'", "200 to 599"],
            changed("overwrite:statuscode", "$context.integration.status"),
        ),
        rule(
            "a value selects a part that requests have",
            request("append:header.a", "$request.headers.b"),
            "request_parameters[\"append:header.a\"]",
            &["$request.headers.b", "\"header\""],
            request("append:header.a", "$request.header.b"),
        ),
        rule(
            "a request contains no part of the response",
            request("append:header.a", "a-${response.header.b}"),
            "request_parameters[\"append:header.a\"]",
            &["$response.header.b", "a part of the response"],
            changed("append:header.a", "a-${response.header.b}"),
        ),
        rule(
            "a value selects a part that responses have",
            changed("append:header.a", "$response.status"),
            "response_parameters[\"200\"][\"append:header.a\"]",
            &["$response.status", "body, header"],
            changed("append:header.a", "$response.body.status"),
        ),
        rule(
            "a variable in braces is closed",
            request("append:header.a", "a-${context.stage"),
            "request_parameters[\"append:header.a\"]",
            &["closing brace"],
            request("append:header.a", "a-${context.stage}"),
        ),
        rule(
            "a variable of the context has no special characters",
            request("append:header.a", "$context.authorizer.claims.cognito:groups"),
            "request_parameters[\"append:header.a\"]",
            &["':'", "letters, digits"],
            request("append:header.a", "$context.authorizer.claims.cognito_groups"),
        ),
        (
            "a path variable of a value is in the route",
            json!({"route_config": {"GET /{name}": request("overwrite:path", "/a/${request.path.id}")}}),
            &["route_config[\"GET /{name}\"].request_parameters[\"overwrite:path\"]"],
            &["\"id\"", "The path has name."],
            json!({"route_config": {"GET /{name}": request("overwrite:path", "/a/${request.path.name}")}}),
        ),
        rule(
            "a parameter of an action selects a part that requests have",
            queue(json!({"QueueUrl": "a", "MessageBody": "$request.content"})),
            "request_parameters[\"MessageBody\"]",
            &["$request.content"],
            queue(json!({"QueueUrl": "a", "MessageBody": "$request.body"})),
        ),
        rule(
            "a parameter of a response has a known form",
            response("200", "overwrite:path"),
            "response_parameters[\"200\"][\"overwrite:path\"]",
            &["overwrite:path", "overwrite:statuscode"],
            response("200", "overwrite:statuscode"),
        ),
        rule(
            "an action is one that API Gateway supports",
            with(complete(), json!({"integration_subtype": "SNS-Publish"})),
            "integration_subtype",
            &["SNS-Publish", "SQS-SendMessage"],
            with(complete(), json!({"integration_subtype": "SQS-SendMessage-1.0"})),
        ),
        rule(
            "an action has a role",
            with(complete(), json!({"credentials_arn": null})),
            "credentials_arn",
            &["SQS-SendMessage requires credentials_arn"],
            complete(),
        ),
        rule(
            "an action has its required parameters",
            queue(json!({"QueueUrl": "a"})),
            "request_parameters",
            &["SQS-SendMessage requires MessageBody"],
            queue(json!({"QueueUrl": "a", "MessageBody": UNKNOWN})),
        ),
        rule(
            "an action has no other parameters",
            queue(json!({"QueueUrl": "a", "MessageBody": "b", "Body": "c"})),
            "request_parameters[\"Body\"]",
            &["\"Body\"", "MessageGroupId"],
            queue(json!({"QueueUrl": "a", "MessageBody": "b", "MessageGroupId": "c"})),
        ),
    ]
}
