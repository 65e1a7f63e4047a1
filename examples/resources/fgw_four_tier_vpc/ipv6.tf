terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# A network with IPv6: each public and private app subnet gets a /64 of an Amazon-provided range. The private app subnets
# reach the internet over IPv6 through an egress-only internet gateway, which accepts no connections from there. To use a
# range from an IPAM pool, set ipv6_ipam_pool_id instead of assign_generated_ipv6_cidr_block. To use an IPv4 range from a
# pool, set ipv4_ipam_pool_id and ipv4_netmask_length instead of cidr_block.
resource "fgw_four_tier_vpc" "dual_stack" {
  vpc_name               = "dual-stack"
  cidr_block             = "10.3.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 1

  enable_ipv6                      = true
  assign_generated_ipv6_cidr_block = true

  ipv6_subnet_tiers                     = ["public", "private_app"]
  assign_ipv6_address_on_creation_tiers = ["public", "private_app"]

  # Inbound, the default network ACL allows all IPv4 traffic from within the VPC, and HTTPS and TCP responses to outbound
  # connections over IPv4 and IPv6.
  apply_default_nacl_rules = true
  default_nacl_ingress_rules = {
    FromVpc       = { rule_no = 90, action = "allow", protocol = "-1", from_port = 0, to_port = 0, cidr_block = "10.3.0.0/16" }
    Https         = { rule_no = 100, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, cidr_block = "0.0.0.0/0" }
    HttpsIpv6     = { rule_no = 101, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, ipv6_cidr_block = "::/0" }
    Responses     = { rule_no = 110, action = "allow", protocol = "tcp", from_port = 1024, to_port = 65535, cidr_block = "0.0.0.0/0" }
    ResponsesIpv6 = { rule_no = 111, action = "allow", protocol = "tcp", from_port = 1024, to_port = 65535, ipv6_cidr_block = "::/0" }
  }
}

output "ipv6_cidr_block" {
  value = fgw_four_tier_vpc.dual_stack.ipv6_cidr_block
}
