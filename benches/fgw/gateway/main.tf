# The gateway of the benchmark, as one resource. ../../aws/gateway has the same objects for hashicorp/aws.

terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

variable "endpoint" {
  description = "Endpoint of AWS."
  type        = string
}

variable "account" {
  description = "Account ID, which is also the access key."
  type        = string
}

variable "routes" {
  description = "Number of routes. The measured change adds one route."
  type        = number
}

variable "functions" {
  description = "Number of functions that the routes call in turn. All functions exist already."
  type        = number
}

variable "copies" {
  description = "Number of gateways."
  type        = number
}

provider "fgw" {
  region     = "us-east-1"
  access_key = var.account
  secret_key = "test"

  endpoints {
    apigatewayv2   = var.endpoint
    cloudwatchlogs = var.endpoint
    lambda         = var.endpoint
    sts            = var.endpoint
  }
}

resource "fgw_http_gateway" "this" {
  count = var.copies

  name                             = "shop-${count.index}"
  access_log_logservice_group_name = "/shop/${count.index}"

  faas_authorizers = {
    customers = {
      authorizer_name                   = "guard"
      authorizer_payload_format_version = "2.0"
      enable_simple_responses           = true
    }
  }

  route_config = {
    for number in range(var.routes) : "GET /resources/${number}" => {
      faas_function_arn  = "arn:aws:lambda:us-east-1:${var.account}:function:f${number % var.functions}"
      authorizer_name    = number == 0 ? "customers" : null
      authorization_type = number == 0 ? null : "NONE"
    }
  }
}
