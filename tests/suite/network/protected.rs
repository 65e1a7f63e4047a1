//! `protected_objects`: no plan and no apply deletes a protected object.

use super::{THIS, TestEnv};
use crate::support::proxy::fault::Fault;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_vpc_endpoints = false";
const PROTECTED: &str = "  protected_objects = [\"subnet.*\"]";

fn protected() -> String {
    format!("{ONE_AZ}\n{PROTECTED}")
}

impl TestEnv {
    fn vpcs(&self) -> usize {
        self.proxy.account().list_of("vpcs").len()
    }

    fn taint(&self) {
        self.workspace.run(&["taint", "-no-color", THIS]).succeeded();
    }

    /// Adds lines to the provider block.
    fn add_to_provider(&self, lines: &str) {
        let path = self.workspace.path().join("provider.tf");
        let text = std::fs::read_to_string(path).expect("the workspace has a provider block");
        self.workspace.write("provider.tf", &text.replacen("  region", &format!("{lines}\n  region"), 1));
    }
}

#[test]
fn an_update_deletes_a_nat_gateway_only_without_its_pattern() {
    let env = TestEnv::new();
    let azs = |ids: &str, nats: usize, protected: &str| {
        format!(
            "  availability_zone_ids = [{ids}]\n  num_nat_gateways = {nats}\n  create_vpc_endpoints = false\n  \
             protected_objects = [{protected}]"
        )
    };
    let (both, patterns) = ("\"use1-az1\", \"use1-az2\"", "\"nat_gateway.*\", \"subnet.public.*\"");
    env.change(&azs(both, 2, patterns));
    env.proxy.clear_calls();
    for (config, key) in
        [(azs(both, 1, patterns), "nat_gateway.1"), (azs("\"use1-az1\", \"use1-az4\"", 2, patterns), "subnet.public.1")]
    {
        env.config(&config);
        let plan = env.workspace.plan(&[]);
        plan.failed_with("Could not plan fgw_four_tier_vpc \"main\": protected objects");
        plan.failed_with(&format!("{key} ({}), protected by", env.id(key)));
    }
    assert_eq!(env.calls(), "");

    let patterns = env.change(&azs(both, 2, "\"subnet.public.*\", \"vpc\""));
    assert_eq!(patterns.calls, "", "a change of patterns alone changes nothing in AWS");
    let fewer = env.change(&azs(both, 1, "\"subnet.public.*\""));
    assert!(fewer.calls.contains("DeleteNatGateway 1"), "{fewer:#?}");

    env.workspace.destroy().failed_with("Could not destroy fgw_four_tier_vpc");
    env.change(&azs(both, 1, ""));
    env.destroy();
}

#[test]
fn a_misspelled_pattern_is_an_error() {
    let env = TestEnv::new();
    env.config(&format!("{ONE_AZ}\n  protected_objects = [\"nat_gatway.*\"]"));
    env.workspace.plan(&[]).failed_with("\"nat_gatway.*\" matches no key that aws_objects can contain");
}

#[test]
fn a_requested_replacement_of_protected_objects_is_refused() {
    let env = TestEnv::with_terraform();
    env.change(&protected());
    env.proxy.clear_calls();
    let replace = format!("-replace={THIS}");
    let subnet = env.id("subnet.public.0");
    for config in [protected(), ONE_AZ.to_owned()] {
        env.config(&config);
        for run in [env.workspace.plan(&[&replace]), env.workspace.apply(&[&replace])] {
            run.failed_with(&format!("Could not replace fgw_four_tier_vpc {}: protected objects", env.id("vpc")));
            run.failed_with(&format!("subnet.public.0 ({subnet})"));
        }
    }
    let other_range = protected() + "\n  cidr_block = \"10.9.0.0/16\"";
    env.config(&other_range);
    env.workspace.plan(&[]).failed_with("Could not replace fgw_four_tier_vpc");
    assert_eq!(env.calls(), "");

    env.change(ONE_AZ);
    let replaced = env.apply_with(&[&replace]);
    assert!(replaced.calls.contains("DeleteVpc 1"), "{replaced:#?}");
    env.end();
}

#[test]
fn a_tainted_network_with_protected_objects_is_not_replaced() {
    let env = TestEnv::with_terraform();
    env.change(&protected());
    env.taint();
    env.proxy.clear_calls();
    let apply = env.workspace.apply(&[]);
    apply.failed_with(&format!("Could not destroy fgw_four_tier_vpc {}: protected objects", env.id("vpc")));
    apply.failed_with("If the resource is tainted, this command keeps it: terraform untaint ADDRESS");
    assert_eq!(env.calls(), "");
    assert!(env.workspace.state().is_tainted(THIS));
    env.workspace.untaint(THIS);
    env.workspace.assert_nothing_to_do();
    env.change(ONE_AZ);
    env.end();
}

#[test]
fn a_deposed_network_is_deleted_only_if_the_provider_block_allows_it() {
    let env = TestEnv::with_terraform();
    let config = |range: &str| {
        format!(
            "{ONE_AZ}\n{PROTECTED}\n  cidr_block = \"{range}\"\n  lifecycle {{\n    create_before_destroy = true\n  }}"
        )
    };
    env.change(&config("10.0.0.0/16"));
    let old = env.id("vpc");
    // The plan of a tainted resource does not contain its state, so it cannot refuse the replacement.
    env.taint();
    env.config(&config("10.9.0.0/16"));
    let refused = format!("Could not destroy fgw_four_tier_vpc {old}: protected objects");
    env.workspace.apply(&[]).failed_with(&refused);
    assert_ne!(env.id("vpc"), old);
    assert_eq!(env.vpcs(), 2);

    // The value of the deposed object stays, whatever the configuration is.
    env.config(&format!("{ONE_AZ}\n  cidr_block = \"10.9.0.0/16\""));
    let plan = env.workspace.plan(&[]);
    plan.failed_with(&refused);
    plan.failed_with(&format!("set allow_protected_deletion = [\"{old}\"] in the provider block"));
    env.add_to_provider(&format!("  allow_protected_deletion = [\"{old}\"]"));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.vpcs(), 1);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn a_removed_block_may_keep_protected_objects_but_not_delete_them() {
    let env = TestEnv::with_terraform();
    env.change(&protected());
    let removed =
        |destroy: bool| format!("removed {{\n  from = {THIS}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n");
    env.proxy.clear_calls();
    for config in ["", &removed(true)] {
        env.workspace.config(config);
        env.workspace.apply(&[]).failed_with("Could not destroy fgw_four_tier_vpc");
    }
    env.workspace.config(&removed(false));
    env.workspace.apply(&[]).succeeded();
    assert!(env.workspace.state().resource(THIS).is_none());
    assert_eq!((env.calls(), env.vpcs()), (String::new(), 1));
}

#[test]
fn a_failed_create_is_replaced_although_its_objects_are_protected() {
    let env = TestEnv::with_terraform();
    env.config(&protected());
    env.proxy.fault(Fault::on("CreateRouteTable").answer(400, "RouteTableLimitExceeded", "too many route tables"));
    env.workspace.apply(&[]).failed_with("RouteTableLimitExceeded");
    assert!(env.workspace.state().is_tainted(THIS));
    let first = env.id("vpc");
    assert!(env.attribute("aws_objects")["subnet.public.0"].is_string());
    env.proxy.clear_faults();
    env.apply();
    assert_ne!(env.id("vpc"), first);
    assert_eq!(env.vpcs(), 1);
    env.change(ONE_AZ);
    env.end();
}
