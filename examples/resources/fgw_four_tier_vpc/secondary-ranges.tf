terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# A cluster whose pods have addresses of their own: nodes are in the private app tier, and pods in the private persistence
# tier, which is in a secondary range and reaches the internet through the NAT gateway. The range does not need to be
# unique in the company, because no other network has to reach the pods.
resource "fgw_four_tier_vpc" "cluster" {
  vpc_name               = "cluster"
  cidr_block             = "10.0.0.0/16"
  secondary_cidr_blocks  = ["100.64.0.0/16"]
  num_availability_zones = 2
  num_nat_gateways       = 1

  private_persistence_subnet_cidr_blocks = {
    AZ-0 = "100.64.0.0/17"
    AZ-1 = "100.64.128.0/17"
  }
  allow_private_persistence_internet_access = true

  private_app_subnet_custom_tags         = { "kubernetes.io/role/internal-elb" = "1" }
  private_persistence_subnet_custom_tags = { "kubernetes.io/role/cni" = "1" }
}
