import {
  to = fgw_four_tier_vpc.main
  id = "vpc-0123456789abcdef0"
}
