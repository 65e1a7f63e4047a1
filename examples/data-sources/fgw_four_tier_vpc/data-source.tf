terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# A network of another configuration, found by its name. If several networks have the name, tags select one of them.
data "fgw_four_tier_vpc" "main" {
  vpc_name = "main"

  tags = {
    Environment = "production"
  }
}

# The subnets for a database, and the address ranges of its clients.
output "database_subnet_ids" {
  value = data.fgw_four_tier_vpc.main.private_persistence_subnet_ids
}

output "client_blocks" {
  value = [for subnet in data.fgw_four_tier_vpc.main.private_app_subnets : subnet.cidr_block]
}
