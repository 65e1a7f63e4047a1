terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

resource "fgw_four_tier_vpc" "main" {
  vpc_name               = "shop"
  cidr_block             = "10.0.0.0/16"
  num_availability_zones = 2
  num_nat_gateways       = 1
}

resource "aws_db_subnet_group" "orders" {
  name       = "orders"
  subnet_ids = fgw_four_tier_vpc.main.private_persistence_subnet_ids
}

resource "aws_security_group" "web" {
  name_prefix = "web-"
  vpc_id      = fgw_four_tier_vpc.main.vpc_id

  ingress {
    protocol    = "tcp"
    from_port   = 443
    to_port     = 443
    cidr_blocks = ["0.0.0.0/0"]
  }

  egress {
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_lb" "web" {
  name               = "web"
  load_balancer_type = "application"
  subnets            = fgw_four_tier_vpc.main.public_subnet_ids
  security_groups    = [aws_security_group.web.id]
}

# One instance for each app subnet. The keys of the map are known in the first plan, so for_each accepts it.
resource "aws_instance" "worker" {
  for_each      = fgw_four_tier_vpc.main.private_app_subnets
  ami           = "ami-0123456789abcdef0"
  instance_type = "t3.micro"
  subnet_id     = each.value.id

  tags = {
    Name = each.key
  }
}

resource "aws_lambda_function" "orders" {
  function_name = "orders"
  role          = "arn:aws:iam::123456789012:role/orders"
  runtime       = "python3.13"
  handler       = "orders.handler"
  filename      = "orders.zip"

  vpc_config {
    subnet_ids         = fgw_four_tier_vpc.main.private_app_subnet_ids
    security_group_ids = [aws_security_group.web.id]
  }
}

# The gateway creates the permission, so the function needs no aws_lambda_permission.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  route_config = {
    "GET /orders" = {
      faas_function_arn      = aws_lambda_function.orders.arn
      payload_format_version = "2.0"
    }
  }
}
