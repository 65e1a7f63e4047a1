# The gateway of the benchmark for hashicorp/aws, with the same objects as in ../../fgw/gateway.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
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

provider "aws" {
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

locals {
  functions = "arn:aws:lambda:us-east-1:${var.account}:function"
  invoke    = "arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${local.functions}"
  called    = [for number in range(var.functions) : "f${number}"]
}

resource "aws_apigatewayv2_api" "this" {
  name          = "shop-0"
  protocol_type = "HTTP"
}

resource "aws_apigatewayv2_integration" "this" {
  for_each = toset(local.called)

  api_id                 = aws_apigatewayv2_api.this.id
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = "${local.invoke}:${each.value}/invocations"
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_authorizer" "customers" {
  api_id                            = aws_apigatewayv2_api.this.id
  name                              = "customers"
  authorizer_type                   = "REQUEST"
  authorizer_uri                    = "${local.invoke}:guard/invocations"
  authorizer_payload_format_version = "2.0"
  enable_simple_responses           = true
  authorizer_result_ttl_in_seconds  = 0

  # The emulator returns an empty block where AWS returns none.
  lifecycle {
    ignore_changes = [jwt_configuration]
  }
}

resource "aws_apigatewayv2_route" "this" {
  count = var.routes

  api_id             = aws_apigatewayv2_api.this.id
  route_key          = "GET /resources/${count.index}"
  target             = "integrations/${aws_apigatewayv2_integration.this["f${count.index % var.functions}"].id}"
  authorization_type = count.index == 0 ? "CUSTOM" : "NONE"
  authorizer_id      = count.index == 0 ? aws_apigatewayv2_authorizer.customers.id : null
}

resource "aws_lambda_permission" "routes" {
  for_each = toset(local.called)

  action        = "lambda:InvokeFunction"
  function_name = "${local.functions}:${each.value}"
  principal     = "apigateway.amazonaws.com"
  source_arn    = "${aws_apigatewayv2_api.this.execution_arn}/*/*"
}

resource "aws_lambda_permission" "authorizer" {
  action        = "lambda:InvokeFunction"
  function_name = "${local.functions}:guard"
  principal     = "apigateway.amazonaws.com"
  source_arn    = "${aws_apigatewayv2_api.this.execution_arn}/authorizers/${aws_apigatewayv2_authorizer.customers.id}"
}

resource "aws_cloudwatch_log_group" "access" {
  name = "/shop/0"
}

resource "aws_apigatewayv2_stage" "default" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "$default"
  auto_deploy = true

  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.access.arn
    format          = "$context.requestId $context.httpMethod $context.path $context.status"
  }
}
