terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# Routes for tokens of an issuer, for signed requests, and for everyone.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  jwt_authorizers = {
    # A user pool of Amazon Cognito. The audience is the ID of its app client.
    users = {
      issuer   = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEf123"
      audience = ["4kq0example"]
    }
  }

  # Also the authorizer of routes that are added later.
  default_authorizer_name = "users"

  route_config = {
    # Without scopes, every valid token is accepted.
    "GET /orders/{id}" = {
      faas_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:orders"
    }
    # A token needs one of these scopes.
    "POST /orders" = {
      faas_function_arn    = "arn:aws:lambda:eu-central-1:123456789012:function:orders"
      authorization_scopes = ["orders/write", "orders/admin"]
    }
    # Signed requests of callers whose IAM policies allow execute-api:Invoke.
    "POST /stock" = {
      faas_function_arn  = "arn:aws:lambda:eu-central-1:123456789012:function:stock"
      authorization_type = "AWS_IAM"
    }
    # A public route.
    "GET /health" = {
      faas_function_arn  = "arn:aws:lambda:eu-central-1:123456789012:function:stock"
      authorization_type = "NONE"
    }
  }
}

# Fails if a route without a token, a signature or a function that decides is not one of the public ones.
check "public_routes" {
  assert {
    condition     = [for key, it in fgw_http_gateway.shop.route_authorizations : key if it == "NONE"] == ["GET /health"]
    error_message = "A route is public that should not be."
  }
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
