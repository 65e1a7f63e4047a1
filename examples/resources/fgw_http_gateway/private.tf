terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# An API in front of a service in a VPC, which clients reach only through it. The security group of the load balancer has
# to admit that of the link. The access logs go to a Firehose delivery stream.
resource "fgw_http_gateway" "shop" {
  name = "shop"

  vpc_links = {
    main = {
      subnet_ids         = ["subnet-0123456789abcdef0", "subnet-0fedcba9876543210"]
      security_group_ids = ["sg-0123456789abcdef0"]
    }
  }

  route_config = {
    "ANY /{proxy+}" = {
      integration_uri = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/app/shop/0123456789abcdef/0123456789abcdef"
      vpc_link        = "main"
      tls_config      = { server_name_to_verify = "shop.internal.example.com" }
    }
  }

  access_log_destination_arn = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/amazon-apigateway-shop"
}

output "url" {
  value = fgw_http_gateway.shop.invoke_url
}
