import {
  to = fgw_four_tier_vpc.main
  identity = {
    id     = "vpc-0123456789abcdef0"
    region = "eu-central-1"
  }
}
