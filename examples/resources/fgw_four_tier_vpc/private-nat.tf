terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

# A network that overlaps with others behind a transit gateway: the app subnets reach them through private NAT gateways
# in the transit tier, whose addresses the others can route to. Nothing leads to the internet.
resource "fgw_four_tier_vpc" "private" {
  vpc_name               = "private"
  cidr_block             = "10.4.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 2

  create_public_subnets  = false
  create_transit_subnets = true
  enable_private_nat     = true
}

# No way to the internet: no public tier, hence neither an internet gateway nor NAT gateways.
resource "fgw_four_tier_vpc" "isolated" {
  vpc_name              = "isolated"
  cidr_block            = "10.2.0.0/20"
  num_nat_gateways      = 0
  create_public_subnets = false
}
