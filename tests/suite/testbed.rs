//! Tests of the test bed.

use serde_json::json;

use crate::support::proxy::Proxy;

#[test]
fn calls_through_the_proxy_reach_the_account_of_the_test_and_are_logged() {
    for proxy in [Proxy::moto(), Proxy::ministack()] {
        proxy.boto("ec2", "create_vpc", json!({"CidrBlock": "10.7.0.0/16"}));
        assert_eq!(proxy.account().list_of("vpcs")[0]["CidrBlock"], "10.7.0.0/16");
        assert_eq!(proxy.count("CreateVpc"), 1);
        let caller = proxy.boto("sts", "get_caller_identity", json!({}));
        assert_eq!(caller["Account"], proxy.account().id.as_str());
    }
}
