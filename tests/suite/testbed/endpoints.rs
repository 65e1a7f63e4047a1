//! Corrections of moto for interface endpoints.

use serde_json::{Value, json};

use super::{Network, text};

impl Network {
    /// Creates an interface endpoint of a service.
    fn interface_endpoint(&self, service: &str, further: Value) -> String {
        let mut endpoint = json!({
            "VpcId": self.vpc, "VpcEndpointType": "Interface", "ServiceName": format!("com.amazonaws.us-east-1.{service}"),
        });
        endpoint.as_object_mut().expect("a map").extend(further.as_object().expect("a map").clone());
        text(&self.ec2("create_vpc_endpoint", endpoint)["VpcEndpoint"]["VpcEndpointId"])
    }

    /// The network interfaces in a subnet, each as type and description.
    fn interfaces(&self, subnet: &str) -> Vec<[String; 2]> {
        let filters = json!({"Filters": [{"Name": "subnet-id", "Values": [subnet]}]});
        let found = self.ec2("describe_network_interfaces", filters)["NetworkInterfaces"].clone();
        let shown = |it: &Value| [text(&it["InterfaceType"]), text(&it["Description"])];
        found.as_array().expect("a list").iter().map(shown).collect()
    }
}

#[test]
fn an_endpoint_uses_its_subnets_and_its_group() {
    let network = Network::new();
    let [first, second] = &network.subnets;
    let group = json!({"VpcId": network.vpc, "GroupName": "endpoint", "Description": "of the endpoint"});
    let group = text(&network.ec2("create_security_group", group)["GroupId"]);
    let further = json!({"SubnetIds": [first, second], "SecurityGroupIds": [group]});
    let endpoint = network.interface_endpoint("guardduty-data", further);
    let shown = ["vpc_endpoint".to_owned(), format!("VPC Endpoint Interface {endpoint}")];
    assert_eq!([network.interfaces(first), network.interfaces(second)], [vec![shown.clone()], vec![shown.clone()]]);
    assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": first})), "DependencyViolation");
    assert_eq!(network.rejected("delete_security_group", json!({"GroupId": group})), "DependencyViolation");

    network.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": endpoint, "RemoveSubnetIds": [first]}));
    assert_eq!([network.interfaces(first), network.interfaces(second)], [vec![], vec![shown]]);
    network.ec2("delete_subnet", json!({"SubnetId": first}));

    network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]}));
    assert!(network.interfaces(second).is_empty());
    network.ec2("delete_security_group", json!({"GroupId": group}));
}

#[test]
fn a_gateway_endpoint_stays_while_an_interface_endpoint_needs_it() {
    let network = Network::new();
    let gateway = json!({
        "VpcId": network.vpc, "VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-east-1.s3",
    });
    let gateway = text(&network.ec2("create_vpc_endpoint", gateway)["VpcEndpoint"]["VpcEndpointId"]);
    let option = |value: bool| json!({"DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": value}});
    let other = network.interface_endpoint("s3", option(true));
    let shown = network.ec2("describe_vpc_endpoints", json!({"VpcEndpointIds": [other]}));
    assert_eq!(shown["VpcEndpoints"][0]["DnsOptions"]["PrivateDnsOnlyForInboundResolverEndpoint"], true);

    let rejections = || {
        let deleted = network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [gateway]}));
        deleted["Unsuccessful"].as_array().expect("a list").clone()
    };
    let rejected = rejections();
    assert_eq!(rejected[0]["Error"]["Code"], "InvalidParameter");
    assert!(text(&rejected[0]["Error"]["Message"]).contains(&other), "{rejected:?}");
    let mut off = option(false);
    off["VpcEndpointId"] = other.into();
    network.ec2("modify_vpc_endpoint", off);
    assert!(rejections().is_empty());
}
