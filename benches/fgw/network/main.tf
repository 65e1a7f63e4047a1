# The network of the benchmark, as one resource. ../../aws/network has the same objects for hashicorp/aws.

terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

variable "endpoint" {
  description = "Where AWS is spoken to."
  type        = string
}

variable "account" {
  description = "The account, which is the access key, too."
  type        = string
}

variable "azs" {
  description = "How many AZs the network has, each with a NAT gateway."
  type        = number
}

variable "copies" {
  description = "How many networks there are."
  type        = number
}

variable "tags" {
  description = "Tags of every object. The change that is measured is one tag more."
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
