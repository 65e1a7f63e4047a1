terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# Containers in private subnets pull images and write logs without the internet. The policy limits KMS to one action,
# and a network that is connected by VPN resolves S3 to private addresses too.
resource "fgw_four_tier_vpc" "production" {
  vpc_name         = "production"
  cidr_block       = "10.0.0.0/16"
  num_nat_gateways = 0

  interface_endpoints = {
    "ecr.api" = {}
    "ecr.dkr" = {}
    logs      = {}
    s3        = {}
    kms = {
      subnet_tier = "private_persistence"
      policy = jsonencode({
        Version   = "2012-10-17"
        Statement = [{ Effect = "Allow", Principal = "*", Action = "kms:Decrypt", Resource = "*" }]
      })
    }
    mail = {
      service             = "email-smtp"
      allowed_ports       = [587]
      allowed_cidr_blocks = ["10.9.0.0/16"]
    }
  }
}
