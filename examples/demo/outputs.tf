output "subnets" {
  description = "All subnets of the network, by tier."
  value = [
    for subnet in concat(
      values(fgw_four_tier_vpc.demo.public_subnets),
      values(fgw_four_tier_vpc.demo.private_app_subnets),
      values(fgw_four_tier_vpc.demo.private_persistence_subnets),
      values(fgw_four_tier_vpc.demo.transit_subnets),
      ) : {
      name              = subnet.name
      tier              = subnet.tier
      availability_zone = subnet.availability_zone
      cidr_block        = subnet.cidr_block
      id                = subnet.id
    }
  ]
}

output "vpc_id" {
  value = fgw_four_tier_vpc.demo.vpc_id
}

output "nat_gateway_public_ips" {
  value = fgw_four_tier_vpc.demo.nat_gateway_public_ips
}

output "url" {
  value = fgw_http_gateway.demo.invoke_url
}
