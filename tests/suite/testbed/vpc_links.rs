//! VPC links, which ministack and moto lack.

use super::*;

#[test]
fn a_link_uses_its_subnets_and_groups_until_it_is_deleted() {
    let (network, gateways) = (Network::new(), Proxy::ministack());
    network.proxy.has_links_of(gateways.account().clone());
    let group = json!({"GroupName": "links", "Description": "links", "VpcId": network.vpc});
    let group = text(&network.ec2("create_security_group", group)["GroupId"]);
    let [first, second] = network.subnets.clone();
    let link = |arguments: Value| text(&gateways.boto("apigatewayv2", "create_vpc_link", arguments)["VpcLinkId"]);
    let main = link(json!({"Name": "main", "SubnetIds": [first], "SecurityGroupIds": [group]}));
    let other = link(json!({"Name": "other", "SubnetIds": [second]}));

    let shown = network.ec2("describe_network_interfaces", json!({}));
    let shown = shown["NetworkInterfaces"].as_array().expect("a list").clone();
    let of = |subnet: &str| shown.iter().find(|it| it["SubnetId"] == subnet).expect("each subnet has one");
    assert_eq!((shown.len(), &of(&first)["InterfaceType"]), (2, &json!("api_gateway_managed")));
    assert_eq!(of(&first)["Groups"][0]["GroupId"], group.as_str());
    assert_eq!(of(&second)["Groups"][0]["GroupName"], "default");
    for (method, arguments) in [
        ("delete_subnet", json!({"SubnetId": first})),
        ("delete_subnet", json!({"SubnetId": second})),
        ("delete_security_group", json!({"GroupId": group})),
    ] {
        assert_eq!(network.rejected(method, arguments), "DependencyViolation");
    }

    for id in [main, other] {
        gateways.boto("apigatewayv2", "delete_vpc_link", json!({"VpcLinkId": id}));
        assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": second})), "DependencyViolation");
        let is_deleted = || gateways.try_boto("apigatewayv2", "get_vpc_link", json!({"VpcLinkId": id})).is_err();
        until("the link is deleted", is_deleted);
    }
    network.ec2("delete_subnet", json!({"SubnetId": first}));
    network.ec2("delete_subnet", json!({"SubnetId": second}));
    network.ec2("delete_security_group", json!({"GroupId": group}));
}
