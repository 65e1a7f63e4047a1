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

# An API with a custom domain. ACM must have a certificate for the name in the Region of the gateway. Here,
# certificate_domain selects the wildcard certificate of the zone. Without it, the provider uses the best certificate
# that covers domain_name. If the same configuration creates the certificate, write this instead of certificate_domain:
# certificate_arn = aws_acm_certificate_validation.zone.certificate_arn
# With create_before_destroy, a new certificate then replaces the old one in one run, while the API serves requests.
resource "fgw_http_gateway" "orders" {
  name = "orders"

  route_config = {
    "ANY /orders/{proxy+}" = {
      faas_function_arn      = var.orders_function_arn
      payload_format_version = "2.0"
    }
  }

  domain_name        = "orders.example.com"
  certificate_domain = "*.example.com"

  # An alias record of type A. Without it, create your own record that points to the attribute domain_target.
  create_dns_entry = true
  hosted_zone_id   = var.hosted_zone_id
}

output "url" {
  value = fgw_http_gateway.orders.invoke_url
}
