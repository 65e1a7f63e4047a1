//! The functions behind a gateway, and the permissions that stand and fall with them.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SLOW, TestEnv, text};

/// The statement ids in the policy of a function, alias or version, and whom they let in.
fn policy(bed: &TestEnv, function: &str, qualifier: Option<&str>) -> Vec<Value> {
    let mut arguments = json!({ "FunctionName": function });
    if let Some(qualifier) = qualifier {
        arguments["Qualifier"] = qualifier.into();
    }
    match bed.proxy.account().try_boto("lambda", "get_policy", arguments) {
        Ok(answer) => {
            let policy: Value = serde_json::from_str(&text(&answer["Policy"])).expect("a policy is JSON");
            policy["Statement"].as_array().expect("a list").clone()
        }
        Err(error) => {
            assert_eq!(error.code, "ResourceNotFoundException", "{error:?}");
            Vec::new()
        }
    }
}

/// Function and qualifier of each change of a policy.
fn changed_policies(bed: &TestEnv) -> Vec<String> {
    let of_policies = bed.proxy.mutations().into_iter().filter(|it| it.call.service == "lambda");
    sorted(
        of_policies.map(|it| format!("{} {}", it.call.action, it.call.param("Qualifier")).trim().to_owned()).collect(),
    )
}

#[test]
fn a_permission_stands_on_the_alias_or_version_that_a_route_names() {
    let bed = TestEnv::new();
    let account = bed.proxy.account();
    account.boto("lambda", "publish_version", json!({ "FunctionName": "orders" }));
    let alias = json!({ "FunctionName": "orders", "Name": "live", "FunctionVersion": "1" });
    account.boto("lambda", "create_alias", alias);
    account
        .update_function("orders", "def handler(event, context):\n    return {'statusCode': 200, 'body': 'newest'}\n");
    let qualified = |qualifier: &str| json!({ "faas_function_arn": format!("{}:{qualifier}", bed.arn("orders")) });
    let routes = |live: Value, one: Value| json!({ "route_config": { "GET /live": live, "GET /one": one, "GET /newest": bed.to("orders") } });
    bed.apply(&routes(qualified("live"), qualified("1")));
    assert_eq!(changed_policies(&bed), ["AddPermission", "AddPermission 1", "AddPermission live"]);
    let named_by = |arn: &str, statements: &[Value]| statements.iter().filter(|it| it["Resource"] == arn).count();
    for qualifier in ["live", "1"] {
        let arn = format!("{}:{qualifier}", bed.arn("orders"));
        assert_eq!(named_by(&arn, &policy(&bed, "orders", Some(qualifier))), 1, "{qualifier}");
    }
    let body = |path: &str| bed.call("GET", path, None).body;
    assert_eq!((body("/live").as_str(), body("/one").as_str()), ("orders /live", "orders /one"));
    assert_eq!(body("/newest"), "newest");
    let visitor = bed.visit(("GET /newest", "newest"), &["GET /live", "GET /one"]);

    let change = bed.planned_change(&routes(qualified("live"), qualified("live")));
    assert_eq!(
        change.told,
        ["UpdateRoute route.GET /one", "DeleteIntegration integration.orders", "RemovePermission permission.orders:1"]
    );
    assert_eq!(changed_policies(&bed), ["RemovePermission 1"]);

    let change = bed.planned_change(&routes(bed.to("orders"), qualified("live")));
    assert_eq!(change.told, ["UpdateRoute route.GET /live"]);
    bed.planned_change(&routes(bed.to("orders"), bed.to("orders")));
    assert_eq!(changed_policies(&bed), ["RemovePermission live"]);
    assert_eq!((body("/live").as_str(), policy(&bed, "orders", Some("live")).len()), ("newest", 0));
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_function_of_another_account_is_left_alone_and_its_owner_is_told_what_to_run() {
    let bed = TestEnv::new();
    let theirs = |function: &str| format!("arn:aws:lambda:eu-west-1:999999999999:function:{function}");
    let config = |function: String| {
        json!({
            "route_config": {
                "GET /still": bed.to("users"),
                "GET /theirs": { "faas_function_arn": function, "authorizer_name": "theirs" },
            },
            "faas_authorizers": { "theirs": { "authorizer_name": theirs("gatekeeper") } },
        })
    };
    bed.config(&config(theirs("stock:live")));
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("belongs to account 999999999999, not to"), "{plan}");
    assert!(plan.says("aws lambda add-permission --region eu-west-1"), "{plan}");
    assert!(plan.says("API_ID is the output api_id"), "{plan}");
    bed.workspace.apply_plan().succeeded();
    let asked = bed.proxy.calls().into_iter().filter(|it| it.call.service == "lambda");
    let asked: Vec<String> = asked.map(|it| it.call.param("FunctionName").to_owned()).collect();
    assert!(!asked.is_empty() && asked.iter().all(|it| it.contains(&bed.proxy.account().id)), "{asked:?}");

    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "{plan}");
    let (api, authorizer) = (text(&bed.attribute("api_id")), text(&bed.attribute("authorizer_ids")["theirs"]));
    let account = &bed.proxy.account().id;
    for command in [
        format!(
            "aws lambda add-permission --region eu-west-1 --function-name {} --qualifier live --statement-id \
             http-gateway-{api} --action lambda:InvokeFunction --principal apigateway.amazonaws.com --source-arn \
             'arn:aws:execute-api:us-east-1:{account}:{api}/*/*'",
            theirs("stock")
        ),
        format!(
            "aws lambda add-permission --region eu-west-1 --function-name {} --statement-id \
             http-gateway-{api}-authorizer-{authorizer} --action lambda:InvokeFunction --principal \
             apigateway.amazonaws.com --source-arn 'arn:aws:execute-api:us-east-1:{account}:{api}/authorizers/{authorizer}'",
            theirs("gatekeeper")
        ),
    ] {
        assert!(plan.says(&command), "no {command} in {plan}");
    }

    // Nobody can be answered by the route before the owner has run that, so it is not called.
    let visitor = bed.visit(("GET /still", "users /still"), &[]);
    let change = bed.planned_change(&config(bed.arn("orders")));
    assert_eq!(
        change.told,
        [
            "AddPermission permission.orders",
            "CreateIntegration orders",
            "UpdateRoute route.GET /theirs",
            "DeleteIntegration integration.stock",
        ]
    );
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_function_that_was_deleted_and_made_anew_gets_its_permissions_back_with_the_next_apply() {
    let bed = TestEnv::new();
    bed.proxy.latency(SLOW);
    let config = json!({
        "route_config": { "GET /a": bed.guarded("orders", "customers"), "GET /still": bed.to("users") },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
        } },
    });
    bed.apply(&config);
    let before = snapshot(bed.proxy.account());
    let visitor = bed.visit(("GET /still", "users /still"), &[]);
    for (name, body) in [("orders", "{'statusCode': 200, 'body': 'anew'}"), ("guard", "{'isAuthorized': True}")] {
        bed.proxy.account().boto("lambda", "delete_function", json!({ "FunctionName": name }));
        bed.proxy.account().create_function(name, &format!("def handler(event, context):\n    return {body}\n"));
    }
    // What calls a function that is not there fails, so this route is called from here on.
    let visitor_of_a = bed.visit(("GET /still", "users /still"), &["GET /a"]);
    let drift = bed.drift();
    let gone = drift.as_object().expect("a map");
    assert!(gone.len() == 2 && gone.values().all(|it| text(it).ends_with(" is gone")), "{drift}");
    let change = bed.planned_change(&config);
    assert_eq!(
        sorted(change.told),
        ["AddPermission authorizer_permission.customers", "AddPermission permission.orders"]
    );
    assert_eq!(change.objects, ["+authorizer_permission.customers", "+permission.orders"]);
    assert_eq!(snapshot(bed.proxy.account()), before);
    assert_eq!(bed.call("GET", "/a", None).body, "anew");
    visitor_of_a.saw_no_error();
    visitor.saw_no_error();
    bed.destroy();
}
