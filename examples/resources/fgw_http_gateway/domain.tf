terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
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
# certificate_domain selects the wildcard certificate of the zone. Without it, the provider uses any certificate that
# covers domain_name. If the certificate is created in the same run, it must be validated first:
# depends_on = [aws_acm_certificate_validation.zone].
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
