echo 'resource "fgw_four_tier_vpc" "main" {}' > imported.tf
terraform import fgw_four_tier_vpc.main vpc-0123456789abcdef0
provider=$(find -L .terraform/providers -name 'terraform-provider-fgw_v*')
terraform show -json | "$provider" generate
