//! Gateway endpoints: on, off, and their policies.

use super::TestEnv;

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0";

fn policy(action: &str, spaces: &str) -> String {
    format!(
        "  objectstore_endpoint_policy = <<-POLICY\n    {{\"Version\":{spaces}\"2012-10-17\",{spaces}\"Statement\":\
         [{{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"{action}\",\"Resource\":\"*\"}}]}}\n  POLICY"
    )
}

#[test]
fn endpoints_come_and_go_and_their_policies_change_in_place() {
    let bed = TestEnv::new();
    bed.change(ONE_AZ);
    let (objectstore, keyvalue) = (bed.id("vpc_endpoint.objectstore"), bed.id("vpc_endpoint.keyvalue"));

    let limited = bed.change(&format!("{ONE_AZ}\n{}", policy("s3:GetObject", "")));
    assert_eq!(limited.calls, "ModifyVpcEndpoint 1");
    assert_eq!(limited.new.len(), 1, "{limited:#?}");
    assert!(limited.new[0].contains("main-objectstore") && limited.new[0].contains("(Allow s3:GetObject *)"));

    // The same policy in another hand is no change of the network.
    let same = bed.change(&format!("{ONE_AZ}\n{}", policy("s3:GetObject", "  ")));
    assert_eq!((same.calls.as_str(), same.new.len()), ("", 0));

    let other = bed.change(&format!("{ONE_AZ}\n{}", policy("s3:ListBucket", "")));
    assert_eq!(other.calls, "ModifyVpcEndpoint 1");
    let reset = bed.change(ONE_AZ);
    assert_eq!(reset.calls, "ModifyVpcEndpoint 1");
    assert!(reset.new[0].contains("(Allow * *)"), "{reset:#?}");
    assert_eq!((bed.id("vpc_endpoint.objectstore"), bed.id("vpc_endpoint.keyvalue")), (objectstore, keyvalue));

    let off = bed.change(&format!("{ONE_AZ}\n  create_vpc_endpoints = false"));
    assert_eq!(off.calls, "DeleteVpcEndpoints 2");
    assert!(off.new.is_empty() && off.gone.iter().all(|line| line.starts_with("endpoint ")), "{off:#?}");
    assert!(bed.attribute("objectstore_endpoint_id").is_null());
    let on = bed.change(ONE_AZ);
    assert_eq!((on.calls.as_str(), on.new), ("CreateVpcEndpoint 2", off.gone));
    bed.destroy();
}
