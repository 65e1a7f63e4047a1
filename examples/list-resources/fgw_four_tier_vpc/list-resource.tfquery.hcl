# All networks that a killed or failed run left behind. `terraform query -generate-config-out=found.tf` writes import
# blocks and the configuration of each.
list "fgw_four_tier_vpc" "unfinished" {
  provider = fgw
  config {
    states = ["creating", "incomplete"]
  }
}
