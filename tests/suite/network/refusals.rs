//! Invalid inputs, which a plan reports with their attributes and values. The unit tests of the rules cover all rules.

use super::TestEnv;

/// Asserts that a plan fails with all of these texts. The errors of a validation end it, so that those about several
/// inputs, which only a plan rejects, are warnings next to them.
pub(super) fn rejected(attributes: &str, says: &[&str]) {
    let env = TestEnv::with_terraform();
    env.config(attributes);
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 1, "{plan}");
    for text in says {
        assert!(plan.says(text), "no {text:?} in {plan}");
    }
    assert_eq!(env.proxy.mutations().len(), 0, "a plan changes nothing");
}

#[test]
fn invalid_inputs_are_reported_together_with_their_values() {
    rejected(
        "  cidr_block = \"10.0.0.0/29\"\n  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = \
         [\"eipalloc-1\", \"10.0.0.1\", \"eipalloc-1\"]\n  create_igw = false\n  public_subnet_cidr_blocks = { \
         zone0 = \"10.0.0.0/24\" }\n  custom_tags = { \"fgw:mine\" = \"1\" }\n  objectstore_endpoint_policy = \"{\"\n  \
         route_table_creation_timeout = \"soon\"",
        &[
            "Invalid value for cidr_block",
            "10.0.0.0/29 is a /29, but only /16 to /27 are allowed.",
            "The list has 3 addresses, but num_nat_gateways is 2.",
            "Invalid value for custom_nat_eips[1]",
            "\"10.0.0.1\" is not an allocation ID.",
            "eipalloc-1 is listed twice.",
            "Invalid value for create_igw",
            "Invalid value for public_subnet_cidr_blocks[\"zone0\"]",
            "Invalid value for custom_tags[\"fgw:mine\"]",
            "The policy is not a JSON object",
            "\"soon\" is not a duration.",
        ],
    );
}

#[test]
fn the_schema_rejects_missing_and_out_of_range_values() {
    rejected(
        "  num_nat_gateways = 201\n  tenancy = \"shared\"\n  availability_zone_state = \"fine\"",
        &["num_nat_gateways", "201", "tenancy", "\"shared\"", "availability_zone_state", "\"fine\""],
    );
    rejected("  num_availability_zones = 1", &["The argument \"num_nat_gateways\" is required"]);
}

#[test]
fn inputs_that_depend_on_the_account_are_checked_at_plan() {
    rejected(
        "  num_nat_gateways = 0\n  availability_zone_ids = [\"use1-az1\", \"use1-az9\"]",
        &["Invalid value for availability_zone_ids", "This account has no AZ use1-az9 in the Region"],
    );
    rejected(
        "  num_nat_gateways = 0\n  cidr_block = \"10.0.0.0/24\"\n  public_subnet_bits = 2\n  private_subnet_bits = 2\n  \
         persistence_subnet_bits = 2\n  subnet_spacing = 1\n  num_availability_zones = 2",
        &["Not all subnets fit into 10.0.0.0/24", "of /26, 0 to 3, and not enough of them are free"],
    );
}

#[test]
fn contradicting_inputs_are_reported_together() {
    rejected(
        "  num_nat_gateways = 1\n  enable_ipv6 = true\n  enable_private_nat = true\n  ipv4_netmask_length = 20\n  \
         transit_propagating_vgws = [\"tgw-1\"]",
        &["enable_ipv6", "ipv6_ipam_pool_id", "create_transit_subnets", "ipv4_ipam_pool_id", "tgw-1"],
    );
}
