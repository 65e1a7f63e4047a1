//! Corrections of moto for interface endpoints.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Network, text};
use crate::support::proxy::lasts::Lasts;

/// A service of another account.
const PARTNER: &str = "com.amazonaws.vpce.us-east-1.vpce-svc-0123456789abcdef0";

impl Network {
    /// With the attributes of the VPC that private DNS needs.
    fn with_dns() -> Self {
        let network = Self::new();
        network.ec2("modify_vpc_attribute", json!({"VpcId": network.vpc, "EnableDnsHostnames": {"Value": true}}));
        network
    }

    /// A subnet in an AZ. The two other ones are in `us-east-1a`.
    fn subnet_in(&self, zone: &str) -> String {
        let range = format!("10.0.{}.0/24", 100 + zone.as_bytes()[zone.len() - 1]);
        let subnet = json!({"VpcId": self.vpc, "CidrBlock": range, "AvailabilityZone": zone});
        text(&self.ec2("create_subnet", subnet)["Subnet"]["SubnetId"])
    }

    fn group(&self, name: &str) -> String {
        let group = json!({"VpcId": self.vpc, "GroupName": name, "Description": "of the endpoint"});
        text(&self.ec2("create_security_group", group)["GroupId"])
    }

    /// The arguments for an interface endpoint of a service.
    fn arguments(&self, service: &str, further: &Value) -> Value {
        let name = match service {
            PARTNER => service.to_owned(),
            _ => format!("com.amazonaws.us-east-1.{service}"),
        };
        let mut endpoint = json!({"VpcId": self.vpc, "VpcEndpointType": "Interface", "ServiceName": name});
        endpoint.as_object_mut().expect("a map").extend(further.as_object().expect("a map").clone());
        endpoint
    }

    /// Creates an interface endpoint of a service.
    fn interface_endpoint(&self, service: &str, further: Value) -> String {
        let created = self.ec2("create_vpc_endpoint", self.arguments(service, &further));
        text(&created["VpcEndpoint"]["VpcEndpointId"])
    }

    /// An endpoint in state `available`.
    fn available_endpoint(&self, service: &str, further: Value) -> String {
        let endpoint = self.interface_endpoint(service, further);
        assert_eq!([self.state(&endpoint), self.state(&endpoint)], ["pending", "available"]);
        endpoint
    }

    fn shown(&self, endpoint: &str) -> Value {
        self.ec2("describe_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]}))["VpcEndpoints"][0].clone()
    }

    fn state(&self, endpoint: &str) -> String {
        text(&self.shown(endpoint)["State"])
    }

    fn modify(&self, endpoint: &str, mut change: Value) {
        change["VpcEndpointId"] = endpoint.into();
        self.ec2("modify_vpc_endpoint", change);
    }

    /// Asserts that AWS rejects an endpoint of the service with this code, and a message that contains this text.
    fn assert_no_endpoint(&self, service: &str, further: Value, code: &str, part: &str) {
        let arguments = self.arguments(service, &further);
        let error = self.proxy.try_boto("ec2", "create_vpc_endpoint", arguments).expect_err("AWS rejects this");
        assert!(error.code == code && error.message.contains(part), "{error:?}");
    }

    /// The same for a change of an endpoint.
    fn assert_no_change(&self, endpoint: &str, mut change: Value, code: &str, part: &str) {
        change["VpcEndpointId"] = endpoint.into();
        let error = self.proxy.try_boto("ec2", "modify_vpc_endpoint", change).expect_err("AWS rejects this");
        assert!(error.code == code && error.message.contains(part), "{error:?}");
    }

    fn network_interfaces(&self, subnet: &str) -> Vec<Value> {
        let filters = json!({"Filters": [{"Name": "subnet-id", "Values": [subnet]}]});
        let found = self.ec2("describe_network_interfaces", filters)["NetworkInterfaces"].clone();
        found.as_array().expect("a list").clone()
    }

    /// The network interfaces in a subnet, each as type and description.
    fn interfaces(&self, subnet: &str) -> Vec<[String; 2]> {
        let shown = |it: Value| [text(&it["InterfaceType"]), text(&it["Description"])];
        self.network_interfaces(subnet).into_iter().map(shown).collect()
    }

    /// The IDs of the groups of the only network interface in a subnet.
    fn interface_groups(&self, subnet: &str) -> BTreeSet<String> {
        let interfaces = self.network_interfaces(subnet);
        assert_eq!(interfaces.len(), 1, "{interfaces:?}");
        ids(&interfaces[0]["Groups"])
    }
}

/// The IDs in the list of groups of an endpoint or of a network interface.
fn ids(groups: &Value) -> BTreeSet<String> {
    groups.as_array().expect("a list").iter().map(|group| text(&group["GroupId"])).collect()
}

fn names(entries: &Value) -> Vec<String> {
    entries.as_array().expect("a list").iter().map(|entry| text(&entry["DnsName"])).collect()
}

#[test]
fn an_endpoint_uses_its_subnets_and_its_group() {
    let network = Network::with_dns();
    let (first, second) = (&network.subnets[0], &network.subnet_in("us-east-1b"));
    let group = network.group("endpoint");
    let further = json!({"SubnetIds": [first, second], "SecurityGroupIds": [group]});
    let endpoint = network.available_endpoint("guardduty-data", further);
    let shown = ["vpc_endpoint".to_owned(), format!("VPC Endpoint Interface {endpoint}")];
    assert_eq!([network.interfaces(first), network.interfaces(second)], [vec![shown.clone()], vec![shown.clone()]]);
    assert_eq!(network.interface_groups(first), BTreeSet::from([group.clone()]));
    assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": first})), "DependencyViolation");
    assert_eq!(network.rejected("delete_security_group", json!({"GroupId": group})), "DependencyViolation");

    network.modify(&endpoint, json!({"RemoveSubnetIds": [first]}));
    // The interface blocks the deletion of the subnet for some time.
    assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": first})), "DependencyViolation");
    assert_eq!(network.shown(&endpoint)["NetworkInterfaceIds"].as_array().map(Vec::len), Some(1));
    assert_eq!([network.interfaces(first), network.interfaces(second)], [vec![], vec![shown.clone()]]);
    network.ec2("delete_subnet", json!({"SubnetId": first}));

    network.proxy.endpoint_interfaces(Lasts::Answers(2));
    network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]}));
    assert_eq!(network.interfaces(second), [shown]);
    assert_eq!(network.rejected("delete_security_group", json!({"GroupId": group})), "DependencyViolation");
    assert!(network.interfaces(second).is_empty());
    network.ec2("delete_security_group", json!({"GroupId": group}));
    network.ec2("delete_subnet", json!({"SubnetId": second}));
}

#[test]
fn an_endpoint_is_pending_and_then_deleting() {
    let network = Network::with_dns();
    network.proxy.endpoint_pending(Lasts::Answers(2));
    let created = network.ec2("create_vpc_endpoint", network.arguments("kms", &json!({})));
    let endpoint = text(&created["VpcEndpoint"]["VpcEndpointId"]);
    assert_eq!(created["VpcEndpoint"]["State"], "pending");
    let in_state = |state: &str| {
        let filters = json!({"Filters": [{"Name": "vpc-endpoint-state", "Values": [state]}]});
        network.ec2("describe_vpc_endpoints", filters)["VpcEndpoints"].as_array().map_or(0, Vec::len)
    };
    assert_eq!([in_state("pending"), in_state("available"), in_state("available")], [1, 0, 1]);

    network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]}));
    assert_eq!([in_state("deleting"), in_state("deleting")], [1, 0]);
    let listed = network.ec2("describe_vpc_endpoints", json!({}))["VpcEndpoints"].clone();
    assert_eq!(listed, json!([]));
    let by_id = json!({"VpcEndpointIds": [endpoint]});
    assert_eq!(network.rejected("describe_vpc_endpoints", by_id.clone()), "InvalidVpcEndpointId.NotFound");
    let again = network.ec2("delete_vpc_endpoints", by_id);
    assert_eq!(again["Unsuccessful"][0]["Error"]["Code"], "InvalidVpcEndpoint.NotFound");
}

#[test]
fn an_endpoint_can_fail() {
    let network = Network::with_dns();
    network.proxy.endpoint_fails(2, "InsufficientFreeAddressesInSubnet", "full");
    network.available_endpoint("kms", json!({}));
    let failed = network.interface_endpoint("logs", json!({}));
    assert_eq!(network.state(&failed), "pending");
    let shown = network.shown(&failed);
    assert_eq!(shown["State"], "failed");
    assert_eq!(shown["LastError"], json!({"Code": "InsufficientFreeAddressesInSubnet", "Message": "full"}));
    network.assert_no_change(&failed, json!({"PrivateDnsEnabled": false}), "IncorrectState", "failed");
}

#[test]
fn the_owner_of_a_service_accepts_or_rejects_endpoints() {
    let network = Network::with_dns();
    network.proxy.endpoint_service(PARTNER, &["us-east-1b"], Some("api.example.com"));
    let subnet = network.subnet_in("us-east-1b");
    let private = json!({"PrivateDnsEnabled": true});
    network.assert_no_endpoint(
        PARTNER,
        private.clone(),
        "InvalidParameter",
        "accepted by the owner of com.amazonaws.vpce",
    );
    let endpoint = network.interface_endpoint(PARTNER, json!({"SubnetIds": [subnet]}));
    assert_eq!([network.state(&endpoint), network.state(&endpoint)], ["pendingAcceptance", "pendingAcceptance"]);
    network.assert_no_change(&endpoint, private.clone(), "InvalidParameter", "accepted by the owner");
    let shown = network.shown(&endpoint);
    let dns = names(&shown["DnsEntries"]);
    assert!(dns[1].ends_with("-us-east-1b.vpce-svc-0123456789abcdef0.us-east-1.vpce.amazonaws.com"), "{dns:?}");
    assert_eq!((dns.len(), &shown["PrivateDnsEnabled"]), (2, &json!(false)));

    network.proxy.answer_endpoint_requests(true);
    assert_eq!([network.state(&endpoint), network.state(&endpoint)], ["pending", "available"]);
    network.modify(&endpoint, private);
    assert_eq!(names(&network.shown(&endpoint)["DnsEntries"])[2], "api.example.com");

    let other = network.interface_endpoint(PARTNER, json!({}));
    network.proxy.answer_endpoint_requests(false);
    assert_eq!([network.state(&other), network.state(&endpoint)], ["rejected", "available"]);
}

#[test]
fn an_endpoint_has_the_defaults_of_aws() {
    let network = Network::with_dns();
    let (first, second) = (&network.subnets[0], &network.subnet_in("us-east-1b"));
    let created =
        network.ec2("create_vpc_endpoint", network.arguments("ecr.api", &json!({"SubnetIds": [first, second]})));
    let created = &created["VpcEndpoint"];
    let id = text(&created["VpcEndpointId"]);
    let shown = network.shown(&id);
    for member in ["Groups", "DnsEntries", "NetworkInterfaceIds", "PolicyDocument", "SubnetIds", "DnsOptions"] {
        assert_eq!(created[member], shown[member], "{member}");
    }
    let default = network.proxy.account().list_of("security_groups")[0]["GroupId"].clone();
    assert_eq!(shown["Groups"], json!([{"GroupId": default, "GroupName": "default"}]));
    assert_eq!(network.interface_groups(first), ids(&shown["Groups"]));
    let policy: Value = serde_json::from_str(&text(&shown["PolicyDocument"])).expect("JSON");
    let full = json!({"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"});
    assert_eq!(policy, json!({"Statement": [full]}));
    let settings = ["PrivateDnsEnabled", "RequesterManaged", "IpAddressType", "DnsOptions", "ServiceRegion"];
    assert_eq!(
        settings.map(|it| &shown[it]),
        [&json!(true), &json!(false), &json!("ipv4"), &json!({"DnsRecordIpType": "ipv4"}), &json!("us-east-1")]
    );
    let [regional, zonal, other, private] = names(&shown["DnsEntries"]).try_into().expect("four names");
    let (before, _) = regional.split_once(".api.ecr.us-east-1.vpce.amazonaws.com").expect("the base name");
    assert!(before.starts_with(&format!("{id}-")), "{regional}");
    let zones = ["us-east-1a", "us-east-1b"].map(|zone| regional.replacen(before, &format!("{before}-{zone}"), 1));
    assert_eq!(BTreeSet::from([zonal, other]), BTreeSet::from(zones));
    assert_eq!(private, "api.ecr.us-east-1.amazonaws.com");
    assert_eq!(shown["NetworkInterfaceIds"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_change_of_an_endpoint_is_stored() {
    let network = Network::with_dns();
    let (first, second) = (&network.subnets[0], &network.subnet_in("us-east-1b"));
    let groups = ["one", "two"].map(|name| network.group(name));
    let further = json!({"SubnetIds": [first], "SecurityGroupIds": [groups[0]]});
    let endpoint = network.available_endpoint("xray", further);
    let policy = "{\"Version\":\"2012-10-17\",\"Statement\":[]}";
    let change = json!({
        "AddSubnetIds": [second], "AddSecurityGroupIds": [groups[1]], "RemoveSecurityGroupIds": [groups[0]],
        "PolicyDocument": policy, "PrivateDnsEnabled": false, "DnsOptions": {"DnsRecordIpType": "service-defined"},
    });
    network.modify(&endpoint, change);
    network.assert_no_change(&endpoint, json!({}), "OperationInProgress", "modify operation in progress");
    let shown = network.shown(&endpoint);
    assert_eq!((&shown["State"], network.state(&endpoint).as_str()), (&json!("pending"), "available"));
    assert_eq!(shown["SubnetIds"], json!([first, second]));
    assert_eq!(ids(&shown["Groups"]), BTreeSet::from([groups[1].clone()]));
    for subnet in [first, second] {
        assert_eq!(network.interface_groups(subnet), ids(&shown["Groups"]));
    }
    assert_eq!((&shown["PolicyDocument"], &shown["PrivateDnsEnabled"]), (&json!(policy), &json!(false)));
    assert_eq!(shown["DnsOptions"], json!({"DnsRecordIpType": "service-defined"}));
    assert_eq!(names(&shown["DnsEntries"]).len(), 3, "without the private name");
    network.ec2("delete_security_group", json!({"GroupId": groups[0]}));

    // A subnet that the endpoint has left can be added again, while its old network interface still exists.
    network.modify(&endpoint, json!({"RemoveSubnetIds": [first], "ResetPolicy": true}));
    assert!(network.shown(&endpoint)["PolicyDocument"] != policy);
    network.modify(&endpoint, json!({"AddSubnetIds": [first]}));
    assert_eq!((network.interfaces(first).len(), network.interfaces(first).len()), (2, 1));
    assert_eq!(network.shown(&endpoint)["NetworkInterfaceIds"].as_array().map(Vec::len), Some(2));
}

#[test]
fn invalid_changes_of_an_endpoint_are_rejected() {
    let network = Network::with_dns();
    let [first, second] = &network.subnets;
    let endpoint = network.available_endpoint("email-smtp", json!({}));
    network.assert_no_change(&endpoint, json!({"AddSubnetIds": [first]}), "InvalidParameter", "availability zone");
    let endpoint = network.available_endpoint("kms", json!({"SubnetIds": [first]}));
    let group = text(&network.shown(&endpoint)["Groups"][0]["GroupId"]);
    let missing = "subnet-00000000000000000";
    for (change, code, part) in [
        (json!({"AddSubnetIds": [second]}), "DuplicateSubnetsInSameZone", "in different availability zones"),
        (json!({"AddSubnetIds": [second], "RemoveSubnetIds": [first]}), "DuplicateSubnetsInSameZone", second.as_str()),
        (json!({"RemoveSubnetIds": [second]}), "InvalidParameter", "not associated"),
        (json!({"RemoveSecurityGroupIds": [group]}), "InvalidParameter", "at least one security group"),
        (json!({"AddSubnetIds": [missing]}), "InvalidSubnetId.NotFound", missing),
        (json!({"AddSecurityGroupIds": ["sg-00000000000000000"]}), "InvalidGroup.NotFound", "sg-00000000000000000"),
        (json!({"IpAddressType": "dualstack"}), "InvalidParameter", "does not support dualstack"),
        (json!({"DnsOptions": {"DnsRecordIpType": "ipv6"}}), "InvalidParameter", "does not match"),
    ] {
        network.assert_no_change(&endpoint, change, code, part);
    }
    let missing = json!({"VpcEndpointId": "vpce-00000000000000000"});
    assert_eq!(network.rejected("modify_vpc_endpoint", missing), "InvalidVpcEndpointId.NotFound");
    assert_eq!(network.state(&endpoint), "available", "no rejected request has begun a change");
    network.ec2("modify_vpc_attribute", json!({"VpcId": network.vpc, "EnableDnsHostnames": {"Value": false}}));
    network.assert_no_change(&endpoint, json!({"PrivateDnsEnabled": true}), "InvalidParameter", "enableDnsHostnames");
}

#[test]
fn invalid_endpoints_are_rejected() {
    let network = Network::with_dns();
    let [first, second] = &network.subnets;
    let policy = "{\"Version\":\"2012-10-17\",\"Statement\":[]}";
    let option = |value: bool| json!({"DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": value}});
    network.interface_endpoint("kms", json!({}));
    for (service, further, code, part) in [
        ("logs", json!({"SubnetIds": [first, second]}), "DuplicateSubnetsInSameZone", second.as_str()),
        ("email-smtp", json!({"SubnetIds": [first]}), "InvalidParameter", "does not support the availability zone"),
        ("nothing", json!({}), "InvalidServiceName", "'com.amazonaws.us-east-1.nothing' does not exist"),
        (PARTNER, json!({}), "InvalidServiceName", PARTNER),
        ("dynamodb", json!({}), "InvalidServiceName", "dynamodb"),
        ("kms", json!({}), "InvalidParameter", "conflicting DNS domain for kms.us-east-1.amazonaws.com"),
        ("s3", json!({}), "InvalidParameter", "must have a Gateway endpoint for the service"),
        ("logs", option(false), "InvalidParameter", "not supported for this service"),
        ("apprunner.requests", json!({"PrivateDnsEnabled": true}), "InvalidParameter", "provide a private DNS name"),
        ("eks", json!({"PolicyDocument": policy}), "InvalidParameter", "only supports the full-access endpoint policy"),
        ("logs", json!({"IpAddressType": "ipv6"}), "InvalidParameter", "does not support ipv6"),
        ("xray", json!({"IpAddressType": "ipv6", "SubnetIds": [first]}), "InvalidParameter", "IPv6-only"),
        ("logs", json!({"SubnetIds": ["subnet-0"]}), "InvalidSubnetId.NotFound", "subnet-0"),
        ("logs", json!({"SecurityGroupIds": ["sg-0"]}), "InvalidGroup.NotFound", "sg-0"),
        ("xray", json!({"IpAddressType": "dualstack", "SubnetIds": [first]}), "InvalidParameter", "no IPv6 CIDR block"),
    ] {
        network.assert_no_endpoint(service, further, code, part);
    }
    network.available_endpoint("s3", option(false));
    network.available_endpoint("kms", json!({"PrivateDnsEnabled": false}));
    network.available_endpoint("xray", json!({"IpAddressType": "dualstack"}));
    let off = json!({"VpcId": network.vpc, "EnableDnsHostnames": {"Value": false}});
    network.ec2("modify_vpc_attribute", off);
    network.assert_no_endpoint("logs", json!({}), "InvalidParameter", "enableDnsHostnames VPC attributes set to true");
}

#[test]
fn parameters_of_the_other_kind_of_endpoint_are_rejected() {
    let network = Network::with_dns();
    let gateway = |further: Value| {
        let mut all = json!({"VpcEndpointType": "Gateway"});
        all.as_object_mut().expect("a map").extend(further.as_object().expect("a map").clone());
        all
    };
    let option = json!({"DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": false}});
    for (further, part) in [
        (gateway(option), "applicable only to Interface VPC Endpoints"),
        (gateway(json!({"SubnetIds": [network.subnets[0]]})), "only supported for Interface"),
        (json!({"RouteTableIds": [network.table()]}), "only supported for Gateway type"),
    ] {
        network.assert_no_endpoint("s3", further, "InvalidParameter", part);
    }
    network.ec2("create_vpc_endpoint", network.arguments("s3", &gateway(json!({"RouteTableIds": [network.table()]}))));
}

#[test]
fn a_private_dns_name_is_free_after_the_deletion() {
    let network = Network::with_dns();
    let first = network.interface_endpoint("kms", json!({}));
    network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [first]}));
    network.assert_no_endpoint("kms", json!({}), "InvalidParameter", "conflicting DNS domain");
    assert_eq!(network.state(&first), "deleting");
    network.available_endpoint("kms", json!({}));
}

#[test]
fn services_have_the_properties_of_aws() {
    let network = Network::new();
    network.proxy.endpoint_service(PARTNER, &["us-east-1a"], None);
    let found = |filter: &str, value: &str| {
        let filters = json!({"Filters": [{"Name": filter, "Values": [value]}]});
        let found = network.ec2("describe_vpc_endpoint_services", filters);
        let details = found["ServiceDetails"].as_array().expect("a list").clone();
        assert_eq!(found["ServiceNames"].as_array().map(Vec::len), Some(details.len()));
        details
    };
    let service = |name: &str| {
        let details = found("service-name", &format!("com.amazonaws.us-east-1.{name}"));
        assert_eq!(details.len(), 1, "{details:?}");
        details[0].clone()
    };
    assert_eq!(service("logs")["SupportedIpAddressTypes"], json!(["ipv4"]));
    assert_eq!(service("logs")["PrivateDnsName"], "logs.us-east-1.amazonaws.com");
    assert_eq!(service("email-smtp")["AvailabilityZones"], json!(["us-east-1b", "us-east-1c", "us-east-1d"]));
    assert_eq!(service("eks")["VpcEndpointPolicySupported"], false);
    // As recorded.
    let runner = service("apprunner.requests");
    assert_eq!(runner["BaseEndpointDnsNames"], json!(["requests.apprunner.us-east-1.vpce.amazonaws.com"]));
    assert_eq!(runner["SupportedIpAddressTypes"], json!(["ipv6", "ipv4"]));
    assert!(runner["PrivateDnsName"].is_null());
    let s3 = found("service-name", "com.amazonaws.us-east-1.s3");
    let of = |kind: &str| s3.iter().find(|it| it["ServiceType"][0]["ServiceType"] == kind).expect("both types").clone();
    assert_eq!(of("Gateway")["BaseEndpointDnsNames"], json!(["s3.us-east-1.amazonaws.com"]));
    assert_eq!(of("Interface")["PrivateDnsName"], "*.s3.us-east-1.amazonaws.com");
    let (all, gateways) = (found("service-type", "Interface"), found("service-type", "Gateway"));
    assert!(all.len() > 200 && gateways.len() == 2, "{} {}", all.len(), gateways.len());
    let partner = all.iter().find(|it| it["ServiceName"] == PARTNER).expect("it is listed");
    assert_eq!((&partner["AcceptanceRequired"], &partner["Owner"]), (&json!(true), &Value::Null));
    assert_eq!(found("service-name", PARTNER), std::slice::from_ref(partner));
}

#[test]
fn a_service_can_be_in_another_region() {
    let network = Network::with_dns();
    let name = "com.amazonaws.eu-west-1.kms";
    let further = json!({"SubnetIds": [network.subnets[0]], "ServiceName": name});
    network.assert_no_endpoint("kms", further.clone(), "InvalidServiceName", name);
    let mut with_region = further;
    with_region["ServiceRegion"] = "eu-west-1".into();
    let shown = network.shown(&network.available_endpoint("kms", with_region));
    assert_eq!((&shown["ServiceName"], &shown["ServiceRegion"]), (&json!(name), &json!("eu-west-1")));
    assert_eq!(names(&shown["DnsEntries"])[2], "kms.eu-west-1.amazonaws.com");
    let filter = json!([{"Name": "service-name", "Values": [name]}]);
    let request = json!({"Filters": filter, "ServiceRegions": ["eu-west-1"]});
    let found = network.ec2("describe_vpc_endpoint_services", request)["ServiceDetails"].clone();
    assert_eq!((&found[0]["ServiceRegion"], &found[0]["AvailabilityZones"]), (&json!("eu-west-1"), &Value::Null));
}

#[test]
fn changes_in_moto_itself_are_completed() {
    let network = Network::with_dns();
    let (first, second) = (&network.subnets[0], &network.subnet_in("us-east-1b"));
    let endpoint = network.available_endpoint("kms", json!({"SubnetIds": [first, second]}));
    let outside = |method: &str, arguments: Value| network.proxy.account().boto("ec2", method, arguments);
    outside("modify_vpc_endpoint", json!({"VpcEndpointId": endpoint, "RemoveSubnetIds": [first]}));
    assert_eq!((network.interfaces(first).len(), network.interfaces(first).len()), (1, 0));
    outside("delete_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]}));
    assert_eq!(network.state(&endpoint), "deleted");
    assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": second})), "DependencyViolation");
    network.ec2("delete_subnet", json!({"SubnetId": second}));
    network.available_endpoint("kms", json!({}));
}

#[test]
fn a_gateway_endpoint_stays_while_an_interface_endpoint_needs_it() {
    let network = Network::with_dns();
    let gateway = json!({
        "VpcId": network.vpc, "VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-east-1.s3",
    });
    let gateway = text(&network.ec2("create_vpc_endpoint", gateway)["VpcEndpoint"]["VpcEndpointId"]);
    // AWS's default.
    let other = network.available_endpoint("s3", json!({}));
    let option =
        |endpoint: &str| network.shown(endpoint)["DnsOptions"]["PrivateDnsOnlyForInboundResolverEndpoint"].clone();
    assert_eq!(option(&other), true);

    let rejections = || {
        let deleted = network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [gateway]}));
        deleted["Unsuccessful"].as_array().expect("a list").clone()
    };
    let rejected = rejections();
    assert_eq!(rejected[0]["Error"]["Code"], "InvalidParameter");
    assert!(text(&rejected[0]["Error"]["Message"]).contains(&other), "{rejected:?}");
    network.modify(&other, json!({"DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": false}}));
    assert_eq!(option(&other), false);
    assert!(rejections().is_empty());
}

#[test]
fn names_of_groups_differ_not_only_in_case() {
    let network = Network::new();
    network.group("Interface-Endpoints");
    let again = json!({"VpcId": network.vpc, "GroupName": "interface-endpoints", "Description": "again"});
    assert_eq!(network.rejected("create_security_group", again), "InvalidGroup.Duplicate");
    let other = Network {
        vpc: text(&network.ec2("create_vpc", json!({"CidrBlock": "10.1.0.0/16"}))["Vpc"]["VpcId"]),
        ..network
    };
    other.group("interface-endpoints");
}

#[test]
fn new_groups_are_hidden_at_first() {
    let network = Network::new();
    network.proxy.hide_new_objects(Lasts::Answers(1));
    let group = network.group("new");
    let by_id = json!({"GroupIds": [group]});
    assert_eq!(network.rejected("describe_security_groups", by_id.clone()), "InvalidGroup.NotFound");
    assert_eq!(network.ec2("describe_security_groups", by_id)["SecurityGroups"][0]["GroupId"], group.as_str());
}

#[test]
fn calls_for_endpoints_are_throttled_on_request_only() {
    let network = Network::with_dns();
    let delete = || network.proxy.try_boto("ec2", "delete_vpc_endpoints", json!({"VpcEndpointIds": ["vpce-0"]}));
    for _ in 0..6 {
        delete().expect("the limits are off");
    }
    network.proxy.throttle_with_stopped_clock();
    let create = || network.proxy.try_boto("ec2", "create_vpc_endpoint", network.arguments("nothing", &json!({})));
    let modify = || network.proxy.try_boto("ec2", "modify_vpc_endpoint", json!({"VpcEndpointId": "vpce-0"}));
    let throttled = || network.proxy.count_like(|it| it.error.as_deref() == Some("RequestLimitExceeded"));
    for _ in 0..4 {
        for code in [create().expect_err("no service").code, modify().expect_err("no endpoint").code] {
            assert_ne!(code, "RequestLimitExceeded");
        }
        delete().expect("AWS lists it as unsuccessful");
    }
    assert_eq!(throttled(), 0, "each action has its own bucket of 4");
    for error in [create().map(drop), modify().map(drop), delete().map(drop)] {
        assert_eq!(error.expect_err("the bucket is empty").code, "RequestLimitExceeded");
    }
    // One token takes 3.4 s.
    network.proxy.advance(Duration::from_secs(4));
    delete().expect("the bucket has a token again");
    assert_eq!(delete().expect_err("only one").code, "RequestLimitExceeded");
    assert_eq!(throttled(), 4);
}
