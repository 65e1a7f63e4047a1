# The gateway of the benchmark, as one resource. ../../aws/gateway has the same objects for hashicorp/aws.

terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

variable "endpoint" {
  description = "Where AWS is spoken to."
  type        = string
}

variable "account" {
  description = "The account, which is the access key, too."
  type        = string
}

variable "routes" {
  description = "How many routes the gateway has. The change that is measured is one route more."
  type        = number
}

variable "functions" {
  description = "How many functions the routes call, in turn. They are there already, as is the authorizer's."
  type        = number
}

variable "copies" {
  description = "How many gateways there are."
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
      faas_function_arn = "arn:aws:lambda:us-east-1:${var.account}:function:f${number % var.functions}"
      authorizer_name   = number == 0 ? "customers" : null
    }
  }
}
