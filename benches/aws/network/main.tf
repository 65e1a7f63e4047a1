# The network of the benchmark for hashicorp/aws, with the same objects as in ../../fgw/network.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
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

variable "tags" {
  description = "Tags of every object. The measured change adds one tag."
  type        = map(string)
}

provider "aws" {
  region     = "us-east-1"
  access_key = var.account
  secret_key = "test"

  endpoints {
    ec2 = var.endpoint
    sts = var.endpoint
  }
}

data "aws_availability_zones" "available" {
  state = "available"
}

locals {
  tiers = ["public", "private-app", "private-persistence", "transit"]

  # One subnet for each tier and AZ; each tier has room for six AZs.
  subnets = {
    for place in setproduct(range(length(local.tiers)), range(var.azs)) :
    "${local.tiers[place[0]]}-${place[1]}" => {
      tier  = local.tiers[place[0]]
      index = place[1]
      cidr  = cidrsubnet("10.0.0.0/16", 5, 6 * place[0] + place[1])
    }
  }

  # The public subnets share one route table; all others have their own.
  route_tables = toset(concat(["public"], [for name, subnet in local.subnets : name if subnet.tier != "public"]))
}

resource "aws_vpc" "this" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = merge({ Name = "main-0" }, var.tags)
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = merge({ Name = "main-0" }, var.tags)
}

resource "aws_subnet" "this" {
  for_each = local.subnets

  vpc_id            = aws_vpc.this.id
  cidr_block        = each.value.cidr
  availability_zone = data.aws_availability_zones.available.names[each.value.index]
  tags              = merge({ Name = "main-0-${each.key}" }, var.tags)
}

resource "aws_route_table" "this" {
  for_each = local.route_tables

  vpc_id = aws_vpc.this.id
  tags   = merge({ Name = "main-0-${each.key}" }, var.tags)
}

resource "aws_route_table_association" "this" {
  for_each = local.subnets

  subnet_id      = aws_subnet.this[each.key].id
  route_table_id = aws_route_table.this[each.value.tier == "public" ? "public" : each.key].id
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.this["public"].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_eip" "nat" {
  count = var.azs

  domain = "vpc"
  tags   = merge({ Name = "main-0-nat-gateway-${count.index}" }, var.tags)
}

resource "aws_nat_gateway" "this" {
  count = var.azs

  allocation_id = aws_eip.nat[count.index].id
  subnet_id     = aws_subnet.this["public-${count.index}"].id
  tags          = merge({ Name = "main-0-nat-gateway-${count.index}" }, var.tags)

  # Without it, the creation of a public NAT gateway fails.
  depends_on = [aws_internet_gateway.this]
}

resource "aws_route" "private_app" {
  count = var.azs

  route_table_id         = aws_route_table.this["private-app-${count.index}"].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[count.index].id
}

resource "aws_vpc_endpoint" "this" {
  for_each = { objectstore = "s3", keyvalue = "dynamodb" }

  vpc_id            = aws_vpc.this.id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.us-east-1.${each.value}"
  route_table_ids   = [for table in aws_route_table.this : table.id]
  tags              = merge({ Name = "main-0-${each.key}" }, var.tags)
}

resource "aws_default_security_group" "this" {
  vpc_id = aws_vpc.this.id
  tags   = merge({ Name = "main-0" }, var.tags)

  ingress {
    protocol  = "-1"
    from_port = 0
    to_port   = 0
    self      = true
  }

  egress {
    protocol         = "-1"
    from_port        = 0
    to_port          = 0
    cidr_blocks      = ["0.0.0.0/0"]
    ipv6_cidr_blocks = ["::/0"]
  }
}
