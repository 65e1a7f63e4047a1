//! A gateway is read, planned and changed only by a provider of its own account.

use serde_json::json;

use super::{TestEnv, text};
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

#[test]
fn another_account_is_not_a_deleted_gateway() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    let before = env.workspace.state().resource(super::THIS).cloned();
    let (block, other) = (Workspace::block(&env.proxy, ""), Proxy::ministack());
    let (id, here, there) = (text(&env.attribute("api_id")), &env.proxy.account().id, &other.account().id);
    let connected = format!("account {there} in Region us-east-1");
    env.workspace.write("provider.tf", &Workspace::block(&other, ""));
    let runs = [
        env.workspace.plan(&["-refresh-only"]),
        env.workspace.plan(&["-refresh=false"]),
        env.workspace.apply(&[]),
        env.workspace.destroy(),
        env.workspace.apply(&["-destroy", "-refresh=false"]),
    ];
    for run in runs {
        run.failed_with("another account");
        run.failed_with(&format!("{id} is in account {here} in Region us-east-1"));
        run.failed_with(&connected);
    }
    assert_eq!(env.workspace.state().resource(super::THIS).cloned(), before);
    env.workspace.write("provider.tf", &block);
    env.assert_plan_changes_nothing();
    env.destroy();
}
