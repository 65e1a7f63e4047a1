//! Drift: changes made outside Terraform are shown and fixed, and unmanaged objects are left alone.

use serde_json::json;

use super::snapshot::snapshot;
use super::{TestEnv, text};

#[test]
fn drift_is_shown_and_fixed_and_unmanaged_objects_stay() {
    let env = TestEnv::with_terraform();
    env.apply(&json!({
        "cors_configuration": { "allow_origins": ["https://shop.example"] },
        "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("users") },
    }));
    let account = env.proxy.account();
    let routes = env.attribute("route_ids");
    let statement = env
        .attribute("aws_objects")
        .as_object()
        .expect("a map")
        .iter()
        .find(|(slot, _)| slot.starts_with("permission.users."))
        .map(|(slot, id)| (slot.clone(), text(id)))
        .expect("it is created");
    let before = snapshot(account);

    let target = text(
        &env.api_call(
            "create_integration",
            json!({
                "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
                "IntegrationUri": "https://theirs.example/:function:theirs",
            }),
        )["IntegrationId"],
    );
    let theirs = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{target}") });
    let theirs = text(&env.api_call("create_route", theirs)["RouteId"]);
    let unmanaged = json!({
        "FunctionName": "users", "StatementId": "theirs", "Action": "lambda:InvokeFunction",
        "Principal": "events.amazonaws.com",
    });
    account.boto("lambda", "add_permission", unmanaged);
    env.workspace.assert_nothing_to_do();

    env.api_call("delete_route", json!({ "RouteId": routes["GET /a"] }));
    env.api_call("update_api", json!({ "CorsConfiguration": { "AllowOrigins": ["*"], "MaxAge": 9 } }));
    account.boto("lambda", "remove_permission", json!({ "FunctionName": "users", "StatementId": statement.1 }));
    let drift = env.drift();
    assert_eq!(drift["route.GET /a"], format!("{} is missing", text(&routes["GET /a"])), "{drift}");
    assert_eq!(drift[&statement.0], format!("{} is missing", statement.1), "{drift}");
    assert!(text(&drift["api"]).contains("https://shop.example"), "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(3), "{drift}");
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("https://shop.example"), "the plan shows drift in the attribute that it affects: {plan}");

    let slots = env.slots();
    env.apply_config();
    let mut calls = env.calls(&slots);
    calls.sort();
    assert_eq!(calls, ["AddPermission permission.users", "CreateRoute GET /a", "UpdateApi"]);
    assert_eq!(env.attribute("drift"), json!({}));
    let mut after = snapshot(account);
    let of_others = ["route GET /theirs", "statement of users: Allow events.amazonaws.com"];
    let (others, ours): (Vec<String>, _) =
        after.drain(..).partition(|line| of_others.iter().any(|theirs| line.starts_with(theirs)));
    assert_eq!(others.len(), 2, "{others:?}");
    // The removed maximum age is cleared by 0.
    let ours = ours.join("\n").replace("3 integrations", "2 integrations").replace(r#","MaxAge":0"#, "");
    assert_eq!(ours, before.join("\n"));
    env.api_call("get_route", json!({ "RouteId": theirs }));
    env.destroy();
    let left = account.list_of("functions");
    let users = left.iter().find(|it| it["FunctionName"] == "users").expect("functions are not deleted");
    assert_eq!(users["statements"][0]["Sid"], "theirs", "only the managed statement is deleted");
}
