//! The number of calls of a refresh and of a plan, which does not depend on the size of the network.

use std::collections::BTreeMap;

use super::TestEnv;

/// The calls of a refresh and of a plan, by action, for a network with this many AZs and NAT gateways.
fn plan_calls(azs: usize) -> [BTreeMap<String, usize>; 2] {
    let env = TestEnv::new();
    env.config(&format!(
        "  num_availability_zones = {azs}\n  num_nat_gateways = {azs}\n  create_transit_subnets = true\n  \
         apply_default_nacl_rules = true"
    ));
    env.workspace.apply(&[]).succeeded();
    let calls_of = |options: &[&str]| {
        env.proxy.clear_calls();
        let plan = env.workspace.plan(options);
        assert_eq!(plan.code, 0, "{plan}");
        assert_eq!(env.calls(), "", "{plan}");
        env.proxy.by_action()
    };
    [calls_of(&["-refresh-only"]), calls_of(&[])]
}

#[test]
fn six_azs_take_as_few_calls_as_one() {
    let [refresh, plan] = plan_calls(6);
    assert_eq!([refresh.clone(), plan.clone()], plan_calls(1));
    let identity = refresh.get("GetCallerIdentity").copied().unwrap_or_default();
    let refresh = refresh.values().sum::<usize>();
    assert!(identity <= 1 && refresh - identity <= 15, "{plan:#?}");
    assert_eq!(plan.values().sum::<usize>(), refresh, "the plan uses the lookups of the refresh: {plan:#?}");
}
