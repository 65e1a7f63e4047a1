terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

# A gateway that another configuration owns, by its name.
data "fgw_http_gateway" "shop" {
  name = "shop"
}

# Where it answers, and what a permission for one of its routes is given to.
output "url" {
  value = data.fgw_http_gateway.shop.invoke_url
}

output "orders_source_arn" {
  value = "${data.fgw_http_gateway.shop.execution_arn}/*/GET/orders"
}
