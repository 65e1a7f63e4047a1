terraform {
  required_providers {
    fgw = {
      source = "fgw/fgw"
    }
  }
}

# The block of hashicorp/aws can be copied: the arguments have the same names. Credentials are better left to the
# environment, a profile or a role than written here.
provider "fgw" {
  region = "eu-central-1"

  default_tags {
    tags = {
      Owner = "platform"
    }
  }
}
