terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# A gateway of another configuration, found by its name.
data "fgw_http_gateway" "shop" {
  name = "shop"
}

# The URL of the gateway, and the source ARN for a permission for one of its routes.
output "url" {
  value = data.fgw_http_gateway.shop.invoke_url
}

output "orders_source_arn" {
  value = "${data.fgw_http_gateway.shop.execution_arn}/*/GET/orders"
}
