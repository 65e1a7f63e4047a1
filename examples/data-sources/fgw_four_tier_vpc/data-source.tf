terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

# A network that another configuration owns, by its name. Where several have the name, tags tell them apart.
data "fgw_four_tier_vpc" "main" {
  vpc_name = "main"

  tags = {
    Environment = "production"
  }
}

# What a database is placed in, and what its clients are.
output "database_subnet_ids" {
  value = data.fgw_four_tier_vpc.main.private_persistence_subnet_ids
}

output "client_blocks" {
  value = [for subnet in data.fgw_four_tier_vpc.main.private_app_subnets : subnet.cidr_block]
}
