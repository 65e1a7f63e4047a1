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
  default     = "arn:aws:lambda:eu-central-1:123456789012:function:orders"
}

# One API for two functions. Routes with the same function and settings share an integration. The provider adds and
# removes the permissions to invoke the functions together with the routes.
resource "fgw_http_gateway" "shop" {
  name        = "shop"
  description = "Orders and catalogue."
  api_version = "2026-01"

  route_config = {
    "GET /catalogue" = {
      faas_function_arn  = "arn:aws:lambda:eu-central-1:123456789012:function:catalogue:live"
      authorization_type = "NONE"
    }
    "GET /orders/{id}" = {
      faas_function_arn      = var.orders_function_arn
      payload_format_version = "2.0"
      authorizer_name        = "customer"
    }
    "POST /orders" = {
      faas_function_arn      = var.orders_function_arn
      payload_format_version = "2.0"
      authorizer_name        = "customer"
    }
    # Not ANY, because that includes the OPTIONS requests that browsers send without credentials.
    "GET /admin/{proxy+}" = {
      faas_function_arn      = var.orders_function_arn
      payload_format_version = "2.0"
      timeout_milliseconds   = 10000
      authorizer_name        = "staff"
    }
  }

  faas_authorizers = {
    # Returns {"isAuthorized": true}. API Gateway caches a response for five minutes for the same header.
    customer = {
      authorizer_name                   = "authorize-customer"
      authorizer_payload_format_version = "2.0"
      enable_simple_responses           = true
      identity_sources                  = ["$request.header.Authorization"]
      result_ttl_in_seconds             = 300
    }
    # Returns an IAM policy, and is called for each request.
    staff = {
      authorizer_name = "authorize-staff"
    }
  }

  cors_configuration = {
    allow_origins     = ["https://shop.example.com"]
    allow_methods     = ["GET", "POST"]
    allow_headers     = ["authorization", "content-type"]
    allow_credentials = true
    max_age           = 3600
  }

  access_log_logservice_group_name              = "/aws/vendedlogs/shop/access"
  access_log_logservice_group_retention_in_days = 30
  access_log_logservice_group_tags = {
    Retention = "short"
  }

  api_tags = {
    Team = "shop"
  }
  stage_tags = {
    Team = "shop"
  }
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
