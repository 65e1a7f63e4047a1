terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# The NAT gateways use existing Elastic IP addresses, which partners have on their allow lists. A destroy does not
# release them. Each public subnet has its own route table. The transit subnets are for a transit gateway attachment. They
# share a route table, which has the name that it has in the documents of the partners.
resource "fgw_four_tier_vpc" "partners" {
  vpc_name                       = "partners"
  cidr_block                     = "10.1.0.0/16"
  num_availability_zones         = 2
  availability_zone_exclude_ids  = ["use1-az3"]
  num_nat_gateways               = 2
  use_custom_nat_eips            = true
  custom_nat_eips                = ["eipalloc-0123456789abcdef0", "eipalloc-0123456789abcdef1"]
  one_route_table_public_subnets = false
  create_transit_subnets         = true
  route_table_layout             = { transit = "per_tier" }
  name_tags                      = { "route_table.transit" = "partner-routes" }

  # The blocks of an older network. The provider computes the blocks of all other subnets.
  private_app_subnet_cidr_blocks = {
    AZ-0 = "10.1.64.0/20"
    AZ-1 = "10.1.80.0/20"
  }

  objectstore_endpoint_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = ["s3:GetObject", "s3:ListBucket"]
      Resource  = "*"
    }]
  })

  # The default security group allows only HTTPS as outbound traffic. An empty map, as for ingress here, leaves the
  # existing rules unchanged.
  default_security_group_ingress_rules = {}
  default_security_group_egress_rules = {
    Https = {
      protocol    = "tcp"
      from_port   = 443
      to_port     = 443
      cidr_blocks = ["0.0.0.0/0"]
    }
  }

  timeouts {
    create = "30m"
    delete = "30m"
  }
}
