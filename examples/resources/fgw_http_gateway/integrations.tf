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

# An API that moves from an older service to functions: requests without a route of their own still reach that service,
# and two routes pass requests to a queue and to an event bus without a function between.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  route_config = {
    "GET /orders/{id}" = {
      faas_function_arn = var.orders_function_arn
      response_parameters = {
        "200" = { "overwrite:header.cache-control" = "no-store" }
      }
    }
    "ANY /{proxy+}" = {
      integration_uri    = "https://legacy.example.com/v1/{proxy}"
      request_parameters = { "overwrite:header.x-forwarded-by" = "$context.apiId" }
      response_parameters = {
        "500" = { "overwrite:statuscode" = "502", "remove:header.x-powered-by" = "''" }
      }
    }
    "POST /orders" = {
      integration_subtype = "SQS-SendMessage"
      credentials_arn     = "arn:aws:iam::123456789012:role/shop-gateway"
      request_parameters = {
        QueueUrl    = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders"
        MessageBody = "$request.body"
      }
    }
    "POST /events" = {
      integration_subtype = "EventBridge-PutEvents"
      credentials_arn     = "arn:aws:iam::123456789012:role/shop-gateway"
      request_parameters = {
        Source     = "shop"
        DetailType = "order"
        Detail     = "$request.body"
      }
    }
  }
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
