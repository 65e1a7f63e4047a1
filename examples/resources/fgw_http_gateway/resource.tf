terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

variable "orders_function_arn" {
  description = "ARN of the Lambda function that handles orders."
  type        = string
}

# The smallest gateway: one function handles all requests to paths below /orders.
resource "fgw_http_gateway" "orders" {
  name = "orders"

  route_config = {
    "ANY /orders/{proxy+}" = {
      faas_function_arn = var.orders_function_arn
    }
  }
}

output "url" {
  value = fgw_http_gateway.orders.invoke_url
}
