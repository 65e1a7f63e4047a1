terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# The smallest useful network: public, private app and private persistence subnets in every availability zone, which
# share one NAT gateway.
resource "fgw_four_tier_vpc" "main" {
  vpc_name         = "main"
  cidr_block       = "10.0.0.0/16"
  num_nat_gateways = 1
}
