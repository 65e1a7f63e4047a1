//! What someone changes behind our back is shown and mended; what someone adds is neither.

use serde_json::json;

use super::snapshot::snapshot;
use super::{TestEnv, text};

#[test]
fn damage_is_shown_and_mended_and_what_others_added_stays() {
    let bed = TestEnv::with_terraform();
    bed.apply(&json!({
        "cors_configuration": { "allow_origins": ["https://shop.example"] },
        "route_config": { "GET /a": bed.to("orders"), "GET /b": bed.to("users") },
    }));
    let account = bed.proxy.account();
    let routes = bed.attribute("route_ids");
    let statement = bed
        .attribute("aws_objects")
        .as_object()
        .expect("a map")
        .iter()
        .find(|(slot, _)| slot.starts_with("permission.users."))
        .map(|(slot, id)| (slot.clone(), text(id)))
        .expect("it was made");
    let before = snapshot(account);

    let target = text(
        &bed.by_hand(
            "create_integration",
            json!({
                "IntegrationType": "HTTP_PROXY", "IntegrationMethod": "GET", "PayloadFormatVersion": "1.0",
                "IntegrationUri": "https://theirs.example/:function:theirs",
            }),
        )["IntegrationId"],
    );
    let theirs = json!({ "RouteKey": "GET /theirs", "Target": format!("integrations/{target}") });
    let theirs = text(&bed.by_hand("create_route", theirs)["RouteId"]);
    let foreign = json!({
        "FunctionName": "users", "StatementId": "theirs", "Action": "lambda:InvokeFunction",
        "Principal": "events.amazonaws.com",
    });
    account.boto("lambda", "add_permission", foreign);
    bed.workspace.assert_nothing_to_do();

    bed.by_hand("delete_route", json!({ "RouteId": routes["GET /a"] }));
    bed.by_hand("update_api", json!({ "CorsConfiguration": { "AllowOrigins": ["*"], "MaxAge": 9 } }));
    account.boto("lambda", "remove_permission", json!({ "FunctionName": "users", "StatementId": statement.1 }));
    let drift = bed.drift();
    assert_eq!(drift["route.GET /a"], format!("{} is gone", text(&routes["GET /a"])), "{drift}");
    assert_eq!(drift[&statement.0], format!("{} is gone", statement.1), "{drift}");
    assert!(text(&drift["api"]).contains("https://shop.example"), "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(3), "{drift}");
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("https://shop.example"), "an attribute that can express a change shows it: {plan}");

    let slots = bed.slots();
    bed.apply_config();
    let mut told = bed.told(&slots);
    told.sort();
    assert_eq!(told, ["AddPermission permission.users", "CreateRoute GET /a", "UpdateApi"]);
    assert_eq!(bed.attribute("drift"), json!({}));
    let mut after = snapshot(account);
    let of_others = ["route GET /theirs", "statement of users: Allow events.amazonaws.com"];
    let (others, ours): (Vec<String>, _) =
        after.drain(..).partition(|line| of_others.iter().any(|theirs| line.starts_with(theirs)));
    assert_eq!(others.len(), 2, "{others:?}");
    assert_eq!(ours.join("\n").replace("3 integrations", "2 integrations"), before.join("\n"));
    bed.by_hand("get_route", json!({ "RouteId": theirs }));
    bed.destroy();
    let left = account.list_of("functions");
    let users = left.iter().find(|it| it["FunctionName"] == "users").expect("functions are not ours");
    assert_eq!(users["statements"][0]["Sid"], "theirs", "only our statement goes");
}
