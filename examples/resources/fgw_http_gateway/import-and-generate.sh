echo 'resource "fgw_http_gateway" "orders" {}' > imported.tf
terraform import fgw_http_gateway.orders a1b2c3d4e5
provider=$(find -L .terraform/providers -name 'terraform-provider-fgw_v*')
terraform show -json | "$provider" generate
