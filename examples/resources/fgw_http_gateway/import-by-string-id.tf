import {
  to = fgw_http_gateway.orders
  id = "a1b2c3d4e5"
}
