terraform {
  required_version = ">= 1.8.0"

  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# The layout of a network with a transit tier in three availability zones, for a review before it is created.
locals {
  layout = provider::fgw::subnet_layout("10.0.0.0/16", 3, {
    create_transit_subnets         = true
    transit_subnet_bits            = 12
    transit_subnet_spacing         = 4080
    private_app_subnet_cidr_blocks = { AZ-0 = "10.0.192.0/20" }
  })
}

output "layout" {
  value = local.layout

  precondition {
    condition     = length(local.layout.warnings) == 0
    error_message = join("\n", local.layout.warnings)
  }
}

# The function in one line: the private app subnets of another range.
output "private_app_blocks" {
  value = values(provider::fgw::subnet_layout("10.1.0.0/16", 2).private_app_subnet_cidr_blocks)
}
