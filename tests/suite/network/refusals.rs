//! What a plan refuses, with attribute and values. The table of rules is tested beside the rules.

use super::TestEnv;

/// Plans, and asserts that it fails and says all of this.
pub(super) fn refused(attributes: &str, says: &[&str]) {
    let bed = TestEnv::with_terraform();
    bed.config(attributes);
    let plan = bed.workspace.plan(&[]);
    for text in says {
        plan.failed_with(text);
    }
    assert_eq!(bed.proxy.mutations().len(), 0, "a plan changes nothing");
}

#[test]
fn bad_inputs_are_refused_together_with_attribute_and_values() {
    refused(
        "  cidr_block = \"10.0.0.0/29\"\n  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = \
         [\"eipalloc-1\", \"10.0.0.1\", \"eipalloc-1\"]\n  enable_dns_support = false\n  public_subnet_cidr_blocks = { \
         zone0 = \"10.0.0.0/24\" }\n  custom_tags = { \"fgw:mine\" = \"1\" }\n  objectstore_endpoint_policy = \"{\"\n  \
         route_table_creation_timeout = \"soon\"",
        &[
            "Invalid value for cidr_block",
            "10.0.0.0/29 is a /29; allowed are /16 to /27.",
            "It has 3 addresses, and num_nat_gateways is 2.",
            "Invalid value for custom_nat_eips[1]",
            "\"10.0.0.1\" is no allocation id.",
            "eipalloc-1 is given twice.",
            "Invalid value for enable_dns_hostnames",
            "Invalid value for public_subnet_cidr_blocks[\"zone0\"]",
            "Invalid value for custom_tags[\"fgw:mine\"]",
            "The policy is no JSON object",
            "\"soon\" is not a duration such as",
        ],
    );
}

#[test]
fn values_out_of_range_and_missing_ones_are_refused_by_the_schema() {
    refused(
        "  num_nat_gateways = 201\n  tenancy = \"shared\"\n  availability_zone_state = \"fine\"",
        &["num_nat_gateways", "201", "tenancy", "\"shared\"", "availability_zone_state", "\"fine\""],
    );
    refused("  num_availability_zones = 1", &["The argument \"num_nat_gateways\" is required"]);
}

#[test]
fn what_only_the_account_can_tell_is_refused_at_plan_too() {
    refused(
        "  num_nat_gateways = 0\n  availability_zone_ids = [\"use1-az1\", \"use1-az9\"]",
        &["Invalid value for availability_zone_ids", "The account has no AZ use1-az9 in this Region"],
    );
    refused(
        "  num_nat_gateways = 0\n  cidr_block = \"10.0.0.0/24\"\n  public_subnet_bits = 2\n  private_subnet_bits = 2\n  \
         persistence_subnet_bits = 2\n  subnet_spacing = 1\n  num_availability_zones = 2",
        &["There is no free /26 in 10.0.0.0/24"],
    );
}

#[test]
fn inputs_that_contradict_each_other_are_refused_together() {
    refused(
        "  num_nat_gateways = 1\n  enable_ipv6 = true\n  enable_private_nat = true\n  ipv4_netmask_length = 20\n  \
         transit_propagating_vgws = [\"tgw-1\"]",
        &["enable_ipv6", "ipv6_ipam_pool_id", "create_transit_subnets", "ipv4_ipam_pool_id", "tgw-1"],
    );
}
