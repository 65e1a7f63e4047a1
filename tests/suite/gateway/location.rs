//! A gateway is read, planned and changed only by a provider of its own account.

use serde_json::json;

use super::TestEnv;
use crate::support::proxy::Proxy;

#[test]
fn another_account_is_not_a_deleted_gateway() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    env.subject().assert_rejected_in(&Proxy::ministack());
    env.assert_plan_changes_nothing();
    env.destroy();
}
