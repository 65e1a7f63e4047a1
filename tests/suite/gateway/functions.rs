//! The functions of a gateway, and the permissions to invoke them.

use serde_json::{Value, json};

use super::change::sorted;
use super::snapshot::snapshot;
use super::{SECRET, SLOW, THIS, TestEnv, text};

/// The statements in the policy of a function, or of its alias or version.
fn policy(env: &TestEnv, function: &str, qualifier: Option<&str>) -> Vec<Value> {
    let mut arguments = json!({ "FunctionName": function });
    if let Some(qualifier) = qualifier {
        arguments["Qualifier"] = qualifier.into();
    }
    match env.proxy.account().try_boto("lambda", "get_policy", arguments) {
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

/// The action and the qualifier of each change of a policy.
fn changed_policies(env: &TestEnv) -> Vec<String> {
    let of_policies = env.proxy.mutations().into_iter().filter(|it| it.call.service == "lambda");
    sorted(
        of_policies.map(|it| format!("{} {}", it.call.action, it.call.param("Qualifier")).trim().to_owned()).collect(),
    )
}

/// Adds unmanaged statements to the policy of a function until it is full. Returns their IDs.
fn fill_policy(env: &TestEnv, function: &str) -> Vec<String> {
    let sid = |number: usize| format!("old-{number}");
    let mut length = 0;
    for number in 0.. {
        // The last ones are shorter, so that the policy is full and not longer than AWS allows.
        let path = match 20_350_usize.saturating_sub(length) {
            left if left > 2500 => 900,
            left if left > 1250 => 500,
            left => left.saturating_sub(350),
        };
        let source = format!("arn:aws:execute-api:us-east-1:123456789012:deleted{number}/{}", "x".repeat(path));
        let statement = json!({ "FunctionName": function, "StatementId": sid(number), "SourceArn": source,
                                "Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com" });
        env.proxy.account().boto("lambda", "add_permission", statement);
        let policy = env.proxy.account().boto("lambda", "get_policy", json!({ "FunctionName": function }));
        length = text(&policy["Policy"]).len();
        if length > 20_200 {
            assert!(length <= 20_480, "{length}");
            return (0..=number).map(sid).collect();
        }
    }
    unreachable!("each statement adds to the length")
}

#[test]
fn a_full_policy_is_reported_with_ways_out_that_work() {
    for with_alias in [false, true] {
        let env = TestEnv::with_terraform();
        let account = env.proxy.account();
        let mut others = fill_policy(&env, "orders");
        let arn = env.arn("orders");
        let remove = |sid: String| {
            account.boto("lambda", "remove_permission", json!({ "FunctionName": arn, "StatementId": sid }));
        };
        env.config(&json!({ "route_config": { "GET /a": env.to("orders") } }));
        let failed = env.workspace.apply(&[]);
        for text in [
            "PolicyLengthExceededException".to_owned(),
            "bigger than the limit (20480)".to_owned(),
            format!("aws lambda get-policy --function-name {arn} --query Policy --output text"),
            format!("aws lambda remove-permission --function-name {arn} --statement-id SID"),
            format!("aws lambda create-alias --function-name {arn} --name gateway"),
            "run terraform untaint first".to_owned(),
        ] {
            assert!(failed.says(&text), "no {text:?} in {failed}");
        }
        let api = env.attribute("id");

        // The steps of the message.
        if with_alias {
            let alias = json!({ "FunctionName": arn, "Name": "gateway", "FunctionVersion": "$LATEST" });
            account.boto("lambda", "create_alias", alias);
            let route = json!({ "faas_function_arn": format!("{arn}:gateway") });
            env.config(&json!({ "route_config": { "GET /a": route } }));
        } else {
            remove(others.remove(0));
        }
        env.workspace.run(&["untaint", "-no-color", THIS]).succeeded();
        env.workspace.apply(&[]).succeeded();
        assert_eq!(env.attribute("id"), api, "nothing is created again");
        assert_eq!(env.send("GET", "/a", None).status, 200);
        assert_eq!(env.workspace.plan(&["-detailed-exitcode"]).code, 0);
        others.into_iter().for_each(remove);
        env.destroy();
    }
}

#[test]
fn a_permission_is_set_on_the_alias_or_version_of_the_route() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    account.boto("lambda", "publish_version", json!({ "FunctionName": "orders" }));
    let alias = json!({ "FunctionName": "orders", "Name": "live", "FunctionVersion": "1" });
    account.boto("lambda", "create_alias", alias);
    account
        .update_function("orders", "def handler(event, context):\n    return {'statusCode': 200, 'body': 'newest'}\n");
    let qualified = |qualifier: &str| json!({ "faas_function_arn": format!("{}:{qualifier}", env.arn("orders")) });
    let routes = |live: Value, one: Value| json!({ "route_config": { "GET /live": live, "GET /one": one, "GET /newest": env.to("orders") } });
    env.apply(&routes(qualified("live"), qualified("1")));
    assert_eq!(changed_policies(&env), ["AddPermission", "AddPermission 1", "AddPermission live"]);
    let named_by = |arn: &str, statements: &[Value]| statements.iter().filter(|it| it["Resource"] == arn).count();
    for qualifier in ["live", "1"] {
        let arn = format!("{}:{qualifier}", env.arn("orders"));
        assert_eq!(named_by(&arn, &policy(&env, "orders", Some(qualifier))), 1, "{qualifier}");
    }
    let body = |path: &str| env.send("GET", path, None).body;
    assert_eq!((body("/live").as_str(), body("/one").as_str()), ("orders /live", "orders /one"));
    assert_eq!(body("/newest"), "newest");
    let client = env.load_client(("GET /newest", "newest"), &["GET /live", "GET /one"]);

    let change = env.planned_change(&routes(qualified("live"), qualified("live")));
    assert_eq!(change.calls, ["UpdateIntegration integration.GET /one", "RemovePermission permission.orders:1"]);
    assert_eq!(changed_policies(&env), ["RemovePermission 1"]);

    let change = env.planned_change(&routes(env.to("orders"), qualified("live")));
    assert_eq!(change.calls, ["UpdateIntegration integration.GET /live"]);
    env.planned_change(&routes(env.to("orders"), env.to("orders")));
    assert_eq!(changed_policies(&env), ["RemovePermission live"]);
    assert_eq!((body("/live").as_str(), policy(&env, "orders", Some("live")).len()), ("newest", 0));
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_function_of_another_account_is_reported_with_a_command() {
    let env = TestEnv::new();
    let theirs = |function: &str| format!("arn:aws:lambda:eu-west-1:999999999999:function:{function}");
    let config = |function: String| {
        json!({
            "route_config": {
                "GET /still": env.to("users"),
                "GET /theirs": { "faas_function_arn": function, "authorizer_name": "theirs" },
            },
            "faas_authorizers": { "theirs": { "authorizer_name": theirs("gatekeeper") } },
        })
    };
    env.config(&config(theirs("stock:live")));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("belongs to account 999999999999, not to"), "{plan}");
    assert!(plan.says("aws lambda add-permission --region eu-west-1"), "{plan}");
    assert!(plan.says("API_ID is the output api_id"), "{plan}");
    let account = &env.proxy.account().id;
    for command in [
        format!(
            "aws lambda add-permission --region eu-west-1 --function-name {} --qualifier live --statement-id \
             http-gateway-API_ID --action lambda:InvokeFunction --principal apigateway.amazonaws.com --source-arn \
             'arn:aws:execute-api:us-east-1:{account}:API_ID/*/*'",
            theirs("stock")
        ),
        format!(
            "aws lambda add-permission --region eu-west-1 --function-name {} --statement-id \
             http-gateway-API_ID-authorizer-AUTHORIZER_ID --action lambda:InvokeFunction --principal \
             apigateway.amazonaws.com --source-arn \
             'arn:aws:execute-api:us-east-1:{account}:API_ID/authorizers/AUTHORIZER_ID'",
            theirs("gatekeeper")
        ),
    ] {
        assert!(plan.says(&command), "no {command} in {plan}");
    }
    env.workspace.apply_plan().succeeded();
    let functions = env.proxy.calls().into_iter().filter(|it| it.call.service == "lambda");
    let functions: Vec<String> = functions.map(|it| it.call.param("FunctionName").to_owned()).collect();
    assert!(!functions.is_empty() && functions.iter().all(|it| it.contains(&env.proxy.account().id)), "{functions:?}");

    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "{plan}");
    assert!(!plan.says("belongs to account"), "the policy cannot be read, so the warning appears once: {plan}");
    // A further function is new, and the ID of the API is known.
    env.config(&config(theirs("stock:other")));
    let plan = env.workspace.plan(&[]);
    let source = format!("'arn:aws:execute-api:us-east-1:{account}:{}/*/*'", text(&env.attribute("api_id")));
    assert!(plan.says("--qualifier other") && plan.says(&source) && !plan.says("gatekeeper"), "{plan}");

    // The route fails until the owner has run the commands, so the client does not call it.
    let client = env.load_client(("GET /still", "users /still"), &[]);
    let change = env.planned_change(&config(env.arn("orders")));
    assert_eq!(change.calls, ["AddPermission permission.orders", "UpdateIntegration integration.GET /theirs"]);
    client.saw_no_error();
    env.end();
}

#[test]
fn a_recreated_function_gets_its_permissions_at_the_next_apply() {
    let env = TestEnv::new();
    env.proxy.latency(SLOW);
    let config = json!({
        "route_config": { "GET /a": env.guarded("orders", "customers"), "GET /still": env.to("users") },
        "faas_authorizers": { "customers": {
            "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
        } },
    });
    env.apply(&config);
    let before = snapshot(env.proxy.account());
    let client = env.load_client(("GET /still", "users /still"), &[]);
    for (name, body) in [("orders", "{'statusCode': 200, 'body': 'new'}"), ("guard", "{'isAuthorized': True}")] {
        env.proxy.account().boto("lambda", "delete_function", json!({ "FunctionName": name }));
        env.proxy.account().create_function(name, &format!("def handler(event, context):\n    return {body}\n"));
    }
    assert_eq!(env.send("GET", "/a", Some(SECRET)).status, 500, "the new functions have no permissions");
    let drift = env.drift();
    let missing = drift.as_object().expect("a map");
    assert!(missing.len() == 2 && missing.values().all(|it| text(it).ends_with(" is missing")), "{drift}");
    let change = env.planned_change(&config);
    assert_eq!(
        sorted(change.calls),
        ["AddPermission authorizer_permission.customers", "AddPermission permission.orders"]
    );
    assert_eq!(change.objects, ["+authorizer_permission.customers", "+permission.orders"]);
    assert_eq!(snapshot(env.proxy.account()), before);
    assert_eq!(env.send("GET", "/a", None).body, "new");
    client.saw_no_error();
    env.end();
}
