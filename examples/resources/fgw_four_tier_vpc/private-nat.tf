terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# A network whose addresses overlap those of other networks behind a transit gateway. The app subnets reach the other
# networks through private NAT gateways in the transit tier, whose addresses these networks can route to. There is no
# route to the internet.
resource "fgw_four_tier_vpc" "private" {
  vpc_name               = "private"
  cidr_block             = "10.4.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 2

  create_public_subnets  = false
  create_transit_subnets = true
  enable_private_nat     = true
}

# A network without internet access: it has no public tier, no internet gateway and no NAT gateways.
resource "fgw_four_tier_vpc" "isolated" {
  vpc_name              = "isolated"
  cidr_block            = "10.2.0.0/20"
  num_nat_gateways      = 0
  create_public_subnets = false
}
