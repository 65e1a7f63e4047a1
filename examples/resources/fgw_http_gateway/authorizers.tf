terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# Two functions authorize the requests to different routes.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  route_config = {
    # A public route.
    "GET /catalogue" = {
      faas_function_arn  = "arn:aws:lambda:eu-central-1:123456789012:function:catalogue:live"
      authorization_type = "NONE"
    }
    "GET /orders/{id}" = {
      faas_function_arn      = "arn:aws:lambda:eu-central-1:123456789012:function:orders"
      payload_format_version = "2.0"
      authorizer_name        = "customer"
    }
    "DELETE /orders/{id}" = {
      faas_function_arn      = "arn:aws:lambda:eu-central-1:123456789012:function:orders"
      payload_format_version = "2.0"
      authorizer_name        = "staff"
    }
  }

  faas_authorizers = {
    # Payload 2.0 with simple responses: the function returns {"isAuthorized": true}. It is called for each request.
    customer = {
      authorizer_name                   = "authorize-customer"
      authorizer_payload_format_version = "2.0"
      enable_simple_responses           = true
    }
    # Payload 1.0: the function returns an IAM policy. If the header or the query parameter is missing, API Gateway
    # rejects the request without calling the function. It caches a response for five minutes for the same values.
    staff = {
      authorizer_name                   = "authorize-staff"
      authorizer_payload_format_version = "1.0"
      identity_sources                  = ["$request.header.Authorization", "$request.querystring.branch"]
      result_ttl_in_seconds             = 300
    }
  }
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
