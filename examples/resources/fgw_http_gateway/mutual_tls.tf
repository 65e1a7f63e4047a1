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

# An API for partners, which accepts only clients with a certificate of an issuer in the trust store: a PEM file in S3.
# If its bucket has versioning, set truststore_version to the version_id of the aws_s3_object, so that a plan shows each
# change of the file. disable_execute_api_endpoint closes the endpoint that asks for no certificate.
resource "fgw_http_gateway" "partners" {
  name = "partners"

  route_config = {
    "ANY /orders/{proxy+}" = {
      faas_function_arn      = var.orders_function_arn
      payload_format_version = "2.0"
    }
  }

  domain_name        = "partners.example.com"
  certificate_domain = "*.example.com"
  create_dns_entry   = true
  hosted_zone_id     = var.hosted_zone_id

  mutual_tls_authentication = {
    truststore_uri = "s3://example-truststore/partners.pem"
  }

  disable_execute_api_endpoint = true
}

output "url" {
  value = fgw_http_gateway.partners.invoke_url
}
