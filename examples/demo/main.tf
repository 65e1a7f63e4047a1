# The configuration of `make demo`: one network and one gateway.

terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# Credentials and the endpoint of the local emulator come from the environment, so this block also works with real AWS.
provider "fgw" {
  region = "us-east-1"

  default_tags {
    tags = {
      Project = "fgw-demo"
    }
  }
}

variable "hello_function_arn" {
  description = "ARN of the Lambda function that handles requests (functions/hello.py)."
  type        = string
}

variable "authorizer_function_name" {
  description = "Name of the Lambda function that authorizes requests (functions/authorize.py)."
  type        = string
}

resource "fgw_four_tier_vpc" "demo" {
  vpc_name               = "demo"
  cidr_block             = "10.0.0.0/16"
  num_availability_zones = 3
  num_nat_gateways       = 1
  create_transit_subnets = true

  custom_tags = {
    Environment = "demo"
  }
}

resource "fgw_http_gateway" "demo" {
  name        = "demo"
  description = "Shows open and protected routes."

  route_config = {
    "GET /hello" = {
      faas_function_arn      = var.hello_function_arn
      payload_format_version = "2.0"
      authorization_type     = "NONE"
    }
    "GET /private" = {
      faas_function_arn      = var.hello_function_arn
      payload_format_version = "2.0"
      authorizer_name        = "token"
    }
    "ANY /echo/{proxy+}" = {
      faas_function_arn      = var.hello_function_arn
      payload_format_version = "2.0"
      description            = "Answers whatever path comes in."
      timeout_milliseconds   = 5000
      authorization_type     = "NONE"
    }
  }

  faas_authorizers = {
    token = {
      authorizer_name                   = var.authorizer_function_name
      authorizer_payload_format_version = "2.0"
      enable_simple_responses           = true
      identity_sources                  = ["$request.header.Authorization"]
      result_ttl_in_seconds             = 60
    }
  }

  cors_configuration = {
    allow_origins = ["https://app.example.com"]
    allow_methods = ["GET", "POST"]
    allow_headers = ["authorization", "content-type"]
    max_age       = 300
  }

  access_log_logservice_group_name              = "/aws/vendedlogs/demo/access"
  access_log_logservice_group_retention_in_days = 7

  api_tags = {
    Environment = "demo"
  }
}
