# The largest network of the benchmark: all four tiers with every input that creates objects. It is not compared with
# hashicorp/aws.

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
    cloudwatchlogs = var.endpoint
    ec2            = var.endpoint
    sts            = var.endpoint
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

  one_route_table_public_subnets = false

  enable_ipv6                            = true
  assign_generated_ipv6_cidr_block       = true
  ipv6_subnet_tiers                      = ["public", "private_app", "private_persistence", "transit"]
  secondary_cidr_blocks                  = ["100.64.0.0/16"]
  private_persistence_subnet_cidr_blocks = { for az in range(var.azs) : "AZ-${az}" => "100.64.${az}.0/24" }

  interface_endpoints = {
    for service in ["kms", "ecr.api", "ecr.dkr", "logs", "sts", "secretsmanager", "sqs", "sns"] : service => {}
  }

  flow_logs = {
    all      = { log_group_name = "/network/${count.index}/all", iam_role_arn = "arn:aws:iam::${var.account}:role/flow-logs" }
    rejected = { log_destination_type = "s3", log_destination = "arn:aws:s3:::flow-logs/${count.index}/", traffic_type = "REJECT" }
  }

  apply_default_nacl_rules = true
  default_security_group_ingress_rules = {
    for port in range(8000, 8020) : "port-${port}" => {
      protocol = "tcp", from_port = port, to_port = port, cidr_blocks = ["10.0.0.0/8"]
    }
  }
}
