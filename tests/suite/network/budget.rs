//! How many calls a look at a network takes: as many for a large one as for a small one.

use std::collections::BTreeMap;

use super::TestEnv;

/// The calls of a refresh and of a whole plan, by action, of a network with this many AZs and NAT gateways.
fn looks(azs: usize) -> [BTreeMap<String, usize>; 2] {
    let bed = TestEnv::new();
    bed.config(&format!(
        "  num_availability_zones = {azs}\n  num_nat_gateways = {azs}\n  create_transit_subnets = true\n  \
         apply_default_nacl_rules = true"
    ));
    bed.workspace.apply(&[]).succeeded();
    let calls_of = |options: &[&str]| {
        bed.proxy.clear_calls();
        let plan = bed.workspace.plan(options);
        assert_eq!(plan.code, 0, "{plan}");
        assert_eq!(bed.calls(), "", "{plan}");
        bed.proxy.by_action()
    };
    [calls_of(&["-refresh-only"]), calls_of(&[])]
}

#[test]
fn a_look_at_six_azs_takes_as_many_calls_as_a_look_at_one_and_few() {
    let [refresh, plan] = looks(6);
    assert_eq!([refresh.clone(), plan.clone()], looks(1));
    let who = refresh.get("GetCallerIdentity").copied().unwrap_or_default();
    let refresh = refresh.values().sum::<usize>();
    assert!(who <= 1 && refresh - who <= 14, "{plan:#?}");
    assert!(plan.values().sum::<usize>() <= 16, "{plan:#?}");
    assert!(plan.values().sum::<usize>() - refresh <= 2, "account and AZ look-ups: {plan:#?}");
}
