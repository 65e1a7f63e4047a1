# The network of the benchmark, as one resource. ../../aws/network has the same objects for hashicorp/aws.

terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

variable "endpoint" {
  description = "Endpoint of AWS."
  type        = string
}

variable "account" {
  description = "Account ID, which is also the access key."
  type        = string
}

variable "azs" {
  description = "Number of AZs, each with a NAT gateway."
  type        = number
}

variable "copies" {
  description = "Number of networks."
  type        = number
}

variable "tags" {
  description = "Tags of every object. The measured change adds one tag."
  type        = map(string)
}

provider "fgw" {
  region     = "us-east-1"
  access_key = var.account
  secret_key = "test"

  endpoints {
    ec2 = var.endpoint
    sts = var.endpoint
  }
}

resource "fgw_four_tier_vpc" "this" {
  count = var.copies

  vpc_name               = "main-${count.index}"
  cidr_block             = "10.${count.index}.0.0/16"
  num_availability_zones = var.azs
  num_nat_gateways       = var.azs
  create_transit_subnets = true
  custom_tags            = var.tags
}
