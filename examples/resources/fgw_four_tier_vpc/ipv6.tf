terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

# Public subnets with IPv6 addresses from a range of Amazon's, a /64 for each. A range of your own comes from an IPAM
# pool: ipv6_ipam_pool_id = "ipam-pool-..." instead of assign_generated_ipv6_cidr_block. IPv4 ranges do as well:
# ipv4_ipam_pool_id and ipv4_netmask_length instead of cidr_block.
resource "fgw_four_tier_vpc" "dual_stack" {
  vpc_name               = "dual-stack"
  cidr_block             = "10.3.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 1

  enable_ipv6                      = true
  assign_generated_ipv6_cidr_block = true
  assign_ipv6_address_on_creation  = true

  # The default network ACL lets in HTTPS and the answers to what went out, for both families.
  apply_default_nacl_rules = true
  default_nacl_ingress_rules = {
    Inside    = { rule_no = 90, action = "allow", protocol = "-1", from_port = 0, to_port = 0, cidr_block = "10.3.0.0/16" }
    Https     = { rule_no = 100, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, cidr_block = "0.0.0.0/0" }
    HttpsIpv6 = { rule_no = 101, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, ipv6_cidr_block = "::/0" }
    Answers   = { rule_no = 110, action = "allow", protocol = "tcp", from_port = 1024, to_port = 65535, cidr_block = "0.0.0.0/0" }
  }
}

output "ipv6_cidr_block" {
  value = fgw_four_tier_vpc.dual_stack.ipv6_cidr_block
}
