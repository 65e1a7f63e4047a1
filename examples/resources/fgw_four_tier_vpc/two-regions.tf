terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# One provider serves all Regions. The second network has the arguments of the first one, in another Region.
resource "fgw_four_tier_vpc" "primary" {
  vpc_name               = "primary"
  cidr_block             = "10.20.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 0
}

resource "fgw_four_tier_vpc" "standby" {
  region                 = "eu-west-1"
  vpc_name               = "standby"
  cidr_block             = "10.21.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 0
}
