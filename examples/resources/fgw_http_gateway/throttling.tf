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

variable "hosted_zone_id" {
  description = "ID of the Route 53 hosted zone of example.com."
  type        = string
}

# An API that clients reach only through its custom domain, over IPv4 and IPv6, with limits for all routes and stricter
# ones for payments. Once the default limits are set, they can be changed but not removed.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  default_route_settings = {
    throttling_rate_limit    = 500
    throttling_burst_limit   = 200
    detailed_metrics_enabled = true
  }

  route_config = {
    "GET /orders" = {
      faas_function_arn = var.orders_function_arn
    }
    "POST /payments" = {
      faas_function_arn      = var.orders_function_arn
      throttling_rate_limit  = 10
      throttling_burst_limit = 5
    }
  }

  domain_name                  = "shop.example.com"
  certificate_domain           = "*.example.com"
  create_dns_entry             = true
  hosted_zone_id               = var.hosted_zone_id
  domain_ip_address_type       = "dualstack"
  disable_execute_api_endpoint = true
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
