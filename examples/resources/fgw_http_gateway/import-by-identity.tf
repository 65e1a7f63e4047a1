import {
  to = fgw_http_gateway.orders
  identity = {
    id     = "a1b2c3d4e5"
    region = "eu-central-1"
  }
}
