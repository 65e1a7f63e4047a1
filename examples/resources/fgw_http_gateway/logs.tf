terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# Access logs that are kept for three months and encrypted with a customer managed key. Entries of failed requests are
# forwarded to a function.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  route_config = {
    "GET /catalogue" = {
      faas_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:catalogue:live"
    }
  }

  access_log_logservice_group_name              = "/aws/vendedlogs/shop/access"
  access_log_logservice_group_retention_in_days = 90
  access_log_logservice_group_tags = {
    Retention = "quarter"
  }

  # The policy of the key must allow logs.eu-central-1.amazonaws.com to use it.
  access_log_logservice_group_kms_key_id = "alias/shop-logs"

  # One line of JSON for each request.
  access_log_format_type = "CUSTOM"
  custom_access_log_format = jsonencode({
    requestId = "$context.requestId"
    route     = "$context.routeKey"
    status    = "$context.status"
    latency   = "$context.responseLatency"
    error     = "$context.integrationErrorMessage"
  })

  # The provider adds the permission for CloudWatch Logs to invoke the function, and removes it with the subscription.
  access_log_logservice_group_subscription_destination_arn = "arn:aws:lambda:eu-central-1:123456789012:function:forward-errors"
  access_log_logservice_group_subscription_filter_pattern  = "{ $.status = 5* }"
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
