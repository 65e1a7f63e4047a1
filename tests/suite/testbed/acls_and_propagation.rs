//! Corrections of moto for the rules of network ACLs and for route propagation.

use serde_json::json;

use super::{Network, text};

#[test]
fn acl_rule_keeps_its_icmp_type_until_it_is_replaced() {
    let network = Network::new();
    let filter = json!({"Filters": [{"Name": "vpc-id", "Values": [network.vpc]}]});
    let acl = text(&network.ec2("describe_network_acls", filter.clone())["NetworkAcls"][0]["NetworkAclId"]);
    let mut rule = json!({
        "NetworkAclId": acl, "RuleNumber": 7, "Egress": true, "Protocol": "1", "RuleAction": "allow",
        "CidrBlock": "10.0.0.0/8", "IcmpTypeCode": {"Type": 8, "Code": -1},
    });
    network.ec2("create_network_acl_entry", rule.clone());
    let shown = || {
        let acls = network.ec2("describe_network_acls", filter.clone());
        let entries = acls["NetworkAcls"][0]["Entries"].as_array().expect("entries").clone();
        entries.into_iter().find(|entry| entry["RuleNumber"] == 7).expect("the rule")
    };
    assert_eq!(shown()["IcmpTypeCode"], json!({"Type": 8, "Code": -1}));
    rule["Protocol"] = "-1".into();
    rule.as_object_mut().expect("an object").remove("IcmpTypeCode");
    network.ec2("replace_network_acl_entry", rule);
    assert_eq!((shown()["Protocol"].as_str(), shown().get("IcmpTypeCode")), (Some("-1"), None));
}

#[test]
fn only_attached_gateways_propagate_until_it_is_disabled() {
    let network = Network::new();
    let (table, other) = (network.table(), network.table());
    let gateway = network.ec2("create_vpn_gateway", json!({"Type": "ipsec.1"}));
    let gateway = text(&gateway["VpnGateway"]["VpnGatewayId"]);
    let both = json!({"RouteTableId": table, "GatewayId": gateway});
    assert_eq!(network.rejected("enable_vgw_route_propagation", both.clone()), "Gateway.NotAttached");
    let missing = json!({"RouteTableId": table, "GatewayId": "vgw-00000000"});
    assert_eq!(network.rejected("enable_vgw_route_propagation", missing), "InvalidVpnGatewayID.NotFound");
    network.ec2("attach_vpn_gateway", json!({"VpnGatewayId": gateway, "VpcId": network.vpc}));
    network.ec2("enable_vgw_route_propagation", both.clone());
    let shown = |table: &str| {
        let tables = network.ec2("describe_route_tables", json!({"RouteTableIds": [table]}));
        tables["RouteTables"][0]["PropagatingVgws"].clone()
    };
    assert_eq!((shown(&table), shown(&other)), (json!([{"GatewayId": gateway}]), json!([])));
    network.ec2("disable_vgw_route_propagation", both);
    assert_eq!(shown(&table), json!([]));
}
