//! Gateway endpoints: turned on and off, and their policies.

use serde_json::json;

use super::{SHORT_TIMEOUTS, TestEnv, text};

const ONE_AZ: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0";

fn policy(action: &str, spaces: &str) -> String {
    format!(
        "  objectstore_endpoint_policy = <<-POLICY\n    {{\"Version\":{spaces}\"2012-10-17\",{spaces}\"Statement\":\
         [{{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"{action}\",\"Resource\":\"*\"}}]}}\n  POLICY"
    )
}

#[test]
fn endpoints_are_created_and_deleted_and_policies_updated() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let (objectstore, keyvalue) = (env.id("vpc_endpoint.objectstore"), env.id("vpc_endpoint.keyvalue"));

    let limited = env.change(&format!("{ONE_AZ}\n{}", policy("s3:GetObject", "")));
    assert_eq!(limited.calls, "ModifyVpcEndpoint 1");
    assert_eq!(limited.new.len(), 1, "{limited:#?}");
    assert!(limited.new[0].contains("main-objectstore") && limited.new[0].contains("(Allow s3:GetObject *)"));

    // The same policy with other white space is no change.
    let same = env.change(&format!("{ONE_AZ}\n{}", policy("s3:GetObject", "  ")));
    assert_eq!((same.calls.as_str(), same.new.len()), ("", 0));

    let other = env.change(&format!("{ONE_AZ}\n{}", policy("s3:ListBucket", "")));
    assert_eq!(other.calls, "ModifyVpcEndpoint 1");
    let reset = env.change(ONE_AZ);
    assert_eq!(reset.calls, "ModifyVpcEndpoint 1");
    assert!(reset.new[0].contains("(Allow * *)"), "{reset:#?}");
    assert_eq!((env.id("vpc_endpoint.objectstore"), env.id("vpc_endpoint.keyvalue")), (objectstore, keyvalue));

    let off = env.change(&format!("{ONE_AZ}\n  create_vpc_endpoints = false"));
    assert_eq!(off.calls, "DeleteVpcEndpoints 2");
    assert!(off.new.is_empty() && off.old.iter().all(|line| line.starts_with("endpoint ")), "{off:#?}");
    assert!(env.attribute("objectstore_endpoint_id").is_null());
    let on = env.change(ONE_AZ);
    assert_eq!((on.calls.as_str(), on.new), ("CreateVpcEndpoint 2", off.old));
    env.destroy();
}

#[test]
fn a_gateway_endpoint_that_an_interface_endpoint_needs_is_explained() {
    let env = TestEnv::new();
    env.change(ONE_AZ);
    let other = json!({
        "VpcId": env.id("vpc"), "VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-1.s3",
        "DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": true},
    });
    let other = text(&env.proxy.boto("ec2", "create_vpc_endpoint", other)["VpcEndpoint"]["VpcEndpointId"]);
    env.workspace.assert_nothing_to_do();

    let without = format!("{ONE_AZ}\n  create_vpc_endpoints = false\n");
    env.config(&format!("{without}{SHORT_TIMEOUTS}"));
    let deferred = env.workspace.apply(&[]);
    deferred.succeeded();
    for text in [
        "vpc_endpoint.objectstore is still in use; the next apply deletes it",
        &format!("while Interface endpoint {other} for the service has"),
        "set its option private_dns_only_for_inbound_resolver_endpoint to false",
        &format!("These objects depend on it: VPC endpoint {other} \"com.amazonaws.us-east-1.s3\""),
    ] {
        assert!(deferred.says(text), "no {text:?} in {deferred}");
    }
    let pending = env.attribute("pending_deletion");
    assert!(pending["vpc_endpoint.objectstore"].is_string() && pending["vpc_endpoint.keyvalue"].is_null(), "{pending}");
    env.workspace.assert_nothing_to_do();

    let off = json!({"VpcEndpointId": other, "DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": false}});
    env.proxy.boto("ec2", "modify_vpc_endpoint", off);
    assert_eq!(env.change(&without).calls, "DeleteVpcEndpoints 1");
    env.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [other]}));
    env.end();
}
