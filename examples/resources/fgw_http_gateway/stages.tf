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

# An API that clients reach at https://<api id>.execute-api.<region>.amazonaws.com/v1. Integrations and functions read
# the variables of the stage.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  stage_name        = "v1"
  stage_description = "Version 1 of the public API."
  stage_variables = {
    level = "live"
  }

  route_config = {
    "GET /orders" = {
      faas_function_arn = var.orders_function_arn
    }
  }
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
