terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# The usual production network: public, private app and private persistence subnets in three availability zones, a NAT
# gateway in each zone, and endpoints for S3 and DynamoDB.
resource "fgw_four_tier_vpc" "production" {
  vpc_name               = "production"
  cidr_block             = "10.0.0.0/16"
  num_availability_zones = 3
  num_nat_gateways       = 3

  custom_tags = {
    Environment = "production"
  }

  # The AWS Load Balancer Controller finds subnets by these tags. Tags that were set outside Terraform stay.
  public_subnet_custom_tags = {
    "kubernetes.io/role/elb" = "1"
  }
  private_app_subnet_custom_tags = {
    "kubernetes.io/role/internal-elb" = "1"
  }
}

# The outputs with subnets are maps by subnet name, for use in for expressions and for_each.
output "app_subnets" {
  value = { for name, subnet in fgw_four_tier_vpc.production.private_app_subnets : name => subnet.cidr_block }
}

output "addresses_to_allow" {
  value = fgw_four_tier_vpc.production.nat_gateway_public_ips
}
