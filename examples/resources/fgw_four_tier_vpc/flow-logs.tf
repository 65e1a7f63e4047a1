terraform {
  required_providers {
    fgw = {
      source  = "fgw/fgw"
      version = "0.2.0-rc.1"
    }
  }
}

# All traffic in a bucket, in a format that Athena reads, and the rejected traffic of the last month in a log group that
# the network creates. The policy of the bucket allows delivery.logs.amazonaws.com to write.
resource "fgw_four_tier_vpc" "production" {
  vpc_name         = "production"
  cidr_block       = "10.0.0.0/16"
  num_nat_gateways = 1

  flow_logs = {
    archive = {
      log_destination_type = "s3"
      log_destination      = "arn:aws:s3:::example-flow-logs/production/"
      destination_options = {
        file_format        = "parquet"
        per_hour_partition = true
      }
    }
    rejected = {
      log_group_name    = "/network/production/rejected"
      retention_in_days = 30
      iam_role_arn      = "arn:aws:iam::123456789012:role/flow-logs"
      traffic_type      = "REJECT"
    }
  }
}
