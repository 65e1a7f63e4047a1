//! Objects that AWS has only begun to create or to change, and rules that it adds only to its own.

use super::*;

fn addresses(nat: &Value) -> Vec<Value> {
    nat["NatGatewayAddresses"].as_array().expect("a list").clone()
}

fn described(network: &Network, nat: &str) -> Vec<Value> {
    addresses(&network.ec2("describe_nat_gateways", json!({"NatGatewayIds": [nat]}))["NatGateways"][0])
}

#[test]
fn a_pending_nat_gateway_has_no_ip() {
    let network = Network::new();
    let public = json!({"SubnetId": network.subnets[0], "AllocationId": network.address, "ConnectivityType": "public"});
    let created = network.ec2("create_nat_gateway", public)["NatGateway"].clone();
    assert_eq!(created["State"], "pending");
    let first = json!([{"AllocationId": network.address, "IsPrimary": true, "Status": "associating"}]);
    assert_eq!(json!(addresses(&created)), first);
    let id = text(&created["NatGatewayId"]);
    assert_eq!(json!(described(&network, &id)), first);
    let available = described(&network, &id);
    assert!(available[0]["PublicIp"].is_string() && available[0]["PrivateIp"].is_string(), "{available:?}");

    let private = json!({"SubnetId": network.subnets[1], "ConnectivityType": "private"});
    let created = network.ec2("create_nat_gateway", private)["NatGateway"].clone();
    assert_eq!(json!(addresses(&created)), json!([{}]));
}

#[test]
fn a_secondary_address_has_no_ip_while_it_is_assigned() {
    let network = Network::new();
    let private = json!({"SubnetId": network.subnets[1], "ConnectivityType": "private"});
    let id = text(&network.ec2("create_nat_gateway", private)["NatGateway"]["NatGatewayId"]);
    assert_eq!([network.nat_state(&id), network.nat_state(&id)], ["pending", "available"]);
    let assign = json!({"NatGatewayId": id, "PrivateIpAddressCount": 1});
    network.ec2("assign_private_nat_gateway_address", assign.clone());
    let busy = network.rejected("assign_private_nat_gateway_address", assign);
    assert_eq!(busy, "OperationInProgress");
    assert_eq!(described(&network, &id)[1], json!({"IsPrimary": false, "Status": "assigning"}));
    let assigned = described(&network, &id)[1].clone();
    assert_eq!(assigned["Status"], "succeeded");
    let unassign = json!({"NatGatewayId": id, "PrivateIpAddresses": [assigned["PrivateIp"]]});
    network.ec2("unassign_private_nat_gateway_address", unassign);
    let leaving = described(&network, &id)[1].clone();
    assert_eq!((&leaving["Status"], &leaving["PrivateIp"]), (&json!("unassigning"), &assigned["PrivateIp"]));
    assert_eq!(described(&network, &id).len(), 1);
}

#[test]
fn a_vpc_has_one_internet_gateway() {
    let network = Network::new();
    let attach = |gateway: &str| json!({"InternetGatewayId": gateway, "VpcId": network.vpc});
    let again = network.rejected("attach_internet_gateway", attach(&network.gateway));
    assert_eq!(again, "Resource.AlreadyAssociated");
    let other = network.ec2("create_internet_gateway", json!({}));
    let other = text(&other["InternetGateway"]["InternetGatewayId"]);
    assert_eq!(network.rejected("attach_internet_gateway", attach(&other)), "InvalidParameterValue");
}

#[test]
fn only_original_rules_get_rules_for_ipv6() {
    let proxy = Proxy::moto();
    let vpc = text(&proxy.boto("ec2", "create_vpc", json!({"CidrBlock": "10.0.0.0/16"}))["Vpc"]["VpcId"]);
    let of_vpc = json!([{"Name": "vpc-id", "Values": [vpc]}]);
    let acl = || proxy.boto("ec2", "describe_network_acls", json!({"Filters": of_vpc}))["NetworkAcls"][0].clone();
    let id = text(&acl()["NetworkAclId"]);
    let changed = json!({
        "NetworkAclId": id, "RuleNumber": 90, "Protocol": "-1", "RuleAction": "deny", "Egress": false,
        "CidrBlock": "10.0.0.0/8",
    });
    proxy.boto("ec2", "create_network_acl_entry", changed);
    let group = || {
        let found = proxy.boto("ec2", "describe_security_groups", json!({"Filters": of_vpc}));
        found["SecurityGroups"][0].clone()
    };
    let all = json!([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    let revoke = json!({"GroupId": group()["GroupId"], "IpPermissions": all});
    proxy.boto("ec2", "revoke_security_group_egress", revoke);
    let associate = json!({"VpcId": vpc, "AmazonProvidedIpv6CidrBlock": true});
    proxy.boto("ec2", "associate_vpc_cidr_block", associate);
    let entries = acl()["Entries"].as_array().expect("a list").clone();
    let numbers = |egress: bool| {
        let of_direction = entries.iter().filter(|entry| entry["Egress"] == egress);
        let mut numbers: Vec<i64> = of_direction.map(|entry| entry["RuleNumber"].as_i64().expect("a number")).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(true), [100, 101, 32767, 32768]);
    assert_eq!(numbers(false), [90, 100, 32767, 32768]);
    assert_eq!(group()["IpPermissionsEgress"], json!([]));
}

#[test]
fn allocations_of_a_pool_cannot_be_filtered() {
    let proxy = Proxy::moto();
    let filters = json!([{"Name": "resource-id", "Values": ["vpc-1"]}]);
    let filtered = json!({"IpamPoolId": "ipam-pool-1", "Filters": filters});
    let rejected = proxy.try_boto("ec2", "get_ipam_pool_allocations", filtered).expect_err("AWS rejects this");
    assert_eq!(rejected.code, "InvalidParameterValue");
}
