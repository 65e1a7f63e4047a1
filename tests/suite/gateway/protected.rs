//! `protected_objects`: no plan and no apply deletes a protected object.

use serde_json::json;

use super::{TestEnv, with};

#[test]
fn a_gateway_keeps_its_protected_routes_until_the_pattern_is_removed() {
    let env = TestEnv::new();
    let (one, both) = (
        json!({ "route_config": { "GET /a": env.to("orders") } }),
        json!({ "route_config": { "GET /a": env.to("orders"), "GET /b": env.to("users") } }),
    );
    let protected = json!({ "protected_objects": ["route.GET /*", "stage"] });
    env.apply(&with(&both, &protected));
    env.proxy.clear_calls();
    env.config(&with(&one, &protected));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("Could not plan fgw_http_gateway \"shop\": protected objects");
    plan.failed_with("route.GET /b (");
    let destroy = env.workspace.destroy();
    destroy.failed_with("Could not destroy fgw_http_gateway");
    destroy.failed_with("stage (");
    assert_eq!(env.proxy.mutations().len(), 0);

    let calls = env.change(&with(&one, &json!({ "protected_objects": ["stage"] })));
    assert!(calls.iter().any(|call| call.starts_with("DeleteRoute")), "{calls:?}");
    assert_eq!(env.change(&one), [""; 0]);
    env.destroy();
}
