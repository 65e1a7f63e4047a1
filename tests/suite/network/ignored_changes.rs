//! `ignore_changes` beside another change: Terraform plans with the ignored values, and hands the written ones to apply.

use serde_json::json;

use super::Bed;

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_private_app_subnets = false\n  \
                     create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

#[test]
fn an_apply_of_another_change_leaves_an_ignored_attribute_as_others_left_it() {
    let bed = Bed::new();
    let ignoring = format!("{ALONE}\n  lifecycle {{\n    ignore_changes = [enable_dns_hostnames]\n  }}");
    bed.change(&ignoring);
    bed.ec2("modify_vpc_attribute", json!({"VpcId": bed.id("vpc"), "EnableDnsHostnames": {"Value": false}}));
    let tagged = bed.change(&format!("  vpc_custom_tags = {{ a = \"b\" }}\n{ignoring}"));
    assert_eq!(tagged.calls, "CreateTags 1");
    assert_eq!(bed.attribute("enable_dns_hostnames"), false);
    bed.destroy();
}

#[test]
fn an_apply_does_not_carry_out_a_change_that_terraform_was_told_to_ignore() {
    let bed = Bed::new();
    let ignoring = format!("{ALONE}\n  lifecycle {{\n    ignore_changes = [map_public_ip_on_launch]\n  }}");
    bed.change(&ignoring);
    let changed =
        bed.change(&format!("  map_public_ip_on_launch = true\n  vpc_custom_tags = {{ a = \"b\" }}\n{ignoring}"));
    assert_eq!(changed.calls, "CreateTags 1", "the plan showed nothing else");
    assert_eq!(bed.attribute("map_public_ip_on_launch"), false);
    bed.destroy();
}
