terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# The arguments have the same names as those of hashicorp/aws, so its block can be copied. Prefer credentials from the
# environment, a profile or a role to credentials in this block.
provider "fgw" {
  region = "eu-central-1"

  default_tags {
    tags = {
      Owner = "platform"
    }
  }
}
