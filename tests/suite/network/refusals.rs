//! What a plan refuses, with attribute and values. The table of rules is tested beside the rules.

use super::Bed;

/// Plans, and asserts that it fails and says all of this.
fn refused(attributes: &str, says: &[&str]) {
    let bed = Bed::new();
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
fn what_is_not_carried_out_yet_is_refused_and_not_ignored() {
    let inputs = [
        ("enable_private_nat", "true"),
        ("nat_secondary_private_ip_address_count", "2"),
        ("ipv4_ipam_pool_id", "\"ipam-pool-1\""),
        ("ipv4_netmask_length", "20"),
        ("enable_ipv6", "true"),
        ("assign_generated_ipv6_cidr_block", "true"),
        ("assign_ipv6_address_on_creation", "true"),
        ("ipv6_cidr_block", "\"2001:db8::/56\""),
        ("ipv6_cidr_block_network_border_group", "\"us-east-1\""),
        ("ipv6_ipam_pool_id", "\"ipam-pool-2\""),
        ("ipv6_netmask_length", "56"),
        ("ipv6_subnet_bits", "4"),
        ("public_subnet_ipv6_cidr_blocks", "{ AZ-0 = \"2001:db8::/64\" }"),
        ("apply_default_nacl_rules", "true"),
        ("public_propagating_vgws", "[\"vgw-1\"]"),
        ("private_propagating_vgws", "[\"vgw-1\"]"),
        ("persistence_propagating_vgws", "[\"vgw-1\"]"),
        ("transit_propagating_vgws", "[\"vgw-1\"]"),
    ];
    let lines: Vec<String> = inputs.iter().map(|(name, value)| format!("  {name} = {value}")).collect();
    let says: Vec<String> =
        inputs.iter().map(|(name, _)| format!("{name} is not supported yet in this version.")).collect();
    let says: Vec<&str> = says.iter().map(String::as_str).collect();
    refused(&format!("  num_nat_gateways = 0\n{}", lines.join("\n")), &says);
}
