# The APIs of one team.
list "fgw_http_gateway" "orders" {
  provider = fgw
  config {
    tags = {
      team = "orders"
    }
  }
}
