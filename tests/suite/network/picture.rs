//! An account as lines of text: one object each, with names in place of ids, so that tables can be written by hand.

use std::collections::BTreeMap;

use serde_json::Value;

/// The objects of an account, each with its id and its line. Lines begin with the kind; tags but Name and ours end them.
#[derive(Debug)]
pub(super) struct Picture(Vec<(String, String)>);

/// How the line of one kind is written.
type Line = fn(&Value, &Names) -> String;

impl Picture {
    /// From a listing by boto3.
    pub(super) fn of(listing: &Value) -> Self {
        let names = names(listing);
        let mut lines = Vec::new();
        let kinds: [(&str, &str, Line); 9] = [
            ("vpcs", "VpcId", vpc),
            ("internet_gateways", "InternetGatewayId", internet_gateway),
            ("subnets", "SubnetId", subnet),
            ("route_tables", "RouteTableId", route_table),
            ("addresses", "AllocationId", |address, names| format!("address {}", names.name(&address["AllocationId"]))),
            ("nat_gateways", "NatGatewayId", nat_gateway),
            ("vpc_endpoints", "VpcEndpointId", vpc_endpoint),
            ("security_groups", "GroupId", security_group),
            ("network_acls", "NetworkAclId", network_acl),
        ];
        for (kind, id, line) in kinds {
            for object in list(&listing[kind]) {
                lines.push((word(&object[id]), line(object, &names) + &tags(object)));
            }
        }
        assert!(list(&listing["egress_only_internet_gateways"]).is_empty(), "nothing here makes any");
        lines.sort_by(|a, b| a.1.cmp(&b.1));
        Self(lines)
    }

    /// All lines, in alphabetical order.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.0.iter().map(|(_, line)| line.as_str()).collect()
    }

    /// The lines of objects of `other` that are not here, or look otherwise here.
    pub(super) fn missing_of(&self, other: &Self) -> Vec<String> {
        other.0.iter().filter(|it| !self.0.contains(it)).map(|(_, line)| line.clone()).collect()
    }
}

/// Names of objects by id.
struct Names(BTreeMap<String, String>);

impl Names {
    /// The Name tag, or the id where there is none.
    fn name(&self, id: &Value) -> String {
        let id = word(id);
        self.0.get(&id).cloned().unwrap_or(id)
    }
}

fn names(listing: &Value) -> Names {
    let kinds = [
        ("vpcs", "VpcId"),
        ("internet_gateways", "InternetGatewayId"),
        ("subnets", "SubnetId"),
        ("route_tables", "RouteTableId"),
        ("addresses", "AllocationId"),
        ("nat_gateways", "NatGatewayId"),
        ("vpc_endpoints", "VpcEndpointId"),
        ("security_groups", "GroupId"),
    ];
    let mut names = BTreeMap::new();
    for (kind, id) in kinds {
        for object in list(&listing[kind]) {
            if let Some(name) = object["tags"]["Name"].as_str() {
                names.insert(word(&object[id]), name.to_owned());
            }
        }
    }
    Names(names)
}

fn vpc(vpc: &Value, names: &Names) -> String {
    format!(
        "vpc {} {} {} support={} hostnames={} metrics={}",
        names.name(&vpc["VpcId"]),
        word(&vpc["CidrBlock"]),
        word(&vpc["InstanceTenancy"]),
        vpc["EnableDnsSupport"],
        vpc["EnableDnsHostnames"],
        vpc["EnableNetworkAddressUsageMetrics"]
    )
}

fn internet_gateway(gateway: &Value, names: &Names) -> String {
    let vpcs = joined(&gateway["Attachments"], |attachment| names.name(&attachment["VpcId"]));
    format!("internet_gateway {} on {vpcs}", names.name(&gateway["InternetGatewayId"]))
}

fn subnet(subnet: &Value, names: &Names) -> String {
    format!(
        "subnet {} {} {} {} public_ip={}",
        names.name(&subnet["SubnetId"]),
        word(&subnet["AvailabilityZone"]),
        word(&subnet["AvailabilityZoneId"]),
        word(&subnet["CidrBlock"]),
        subnet["MapPublicIpOnLaunch"]
    )
}

/// Routes to endpoints are left out: AWS makes them, and the endpoint's line has its tables.
fn route_table(table: &Value, names: &Names) -> String {
    let main = list(&table["Associations"]).iter().any(|association| association["Main"] == true);
    let name = if main { "(main)".to_owned() } else { names.name(&table["RouteTableId"]) };
    let explicit = list(&table["Associations"]).iter().filter(|association| association["Main"] != true);
    let mut subnets: Vec<String> = explicit.map(|association| names.name(&association["SubnetId"])).collect();
    subnets.sort();
    let routes = list(&table["Routes"]).iter().filter(|route| route["DestinationPrefixListId"].is_null());
    let mut routes: Vec<String> = routes
        .map(|route| {
            let target = ["NatGatewayId", "GatewayId"].into_iter().find(|target| !route[target].is_null());
            let target = target.map_or_else(|| "nothing".to_owned(), |target| names.name(&route[target]));
            format!("{}>{target}", word(&route["DestinationCidrBlock"]))
        })
        .collect();
    routes.sort();
    format!("table {name} [{}] {}", subnets.join(" "), routes.join(" "))
}

fn nat_gateway(gateway: &Value, names: &Names) -> String {
    let addresses = joined(&gateway["NatGatewayAddresses"], |address| names.name(&address["AllocationId"]));
    format!(
        "nat {} {} {} in {} with {addresses}",
        names.name(&gateway["NatGatewayId"]),
        word(&gateway["ConnectivityType"]),
        word(&gateway["State"]),
        names.name(&gateway["SubnetId"])
    )
}

fn vpc_endpoint(endpoint: &Value, names: &Names) -> String {
    let mut tables: Vec<String> = list(&endpoint["RouteTableIds"]).iter().map(|id| names.name(id)).collect();
    tables.sort();
    let policy: Value = serde_json::from_str(&word(&endpoint["PolicyDocument"])).expect("a policy is JSON");
    // The statement ids and the version differ between AWS and moto; what it allows does not.
    let policy = joined(&policy["Statement"], |statement| {
        format!("{} {} {}", word(&statement["Effect"]), word(&statement["Action"]), word(&statement["Resource"]))
    });
    format!(
        "endpoint {} {} {} ({policy}) [{}]",
        names.name(&endpoint["VpcEndpointId"]),
        word(&endpoint["VpcEndpointType"]),
        word(&endpoint["ServiceName"]),
        tables.join(" ")
    )
}

fn security_group(group: &Value, names: &Names) -> String {
    let rules = |permissions: &Value| {
        let mut rules = Vec::new();
        for permission in list(permissions) {
            let ports = match (permission["FromPort"].as_i64(), permission["ToPort"].as_i64()) {
                (Some(from), Some(to)) => format!(":{from}-{to}"),
                _ => String::new(),
            };
            for (kind, source) in [
                ("IpRanges", "CidrIp"),
                ("Ipv6Ranges", "CidrIpv6"),
                ("UserIdGroupPairs", "GroupId"),
                ("PrefixListIds", "PrefixListId"),
            ] {
                for range in list(&permission[kind]) {
                    let itself = range[source] == group["GroupId"];
                    let source = if itself { "self".to_owned() } else { word(&range[source]) };
                    rules.push(format!("{}{ports} {source}", word(&permission["IpProtocol"])));
                }
            }
        }
        rules.sort();
        rules.join(", ")
    };
    format!(
        "group {} {} in({}) out({})",
        word(&group["GroupName"]),
        names.name(&group["GroupId"]),
        rules(&group["IpPermissions"]),
        rules(&group["IpPermissionsEgress"])
    )
}

/// moto lists subnets that are gone; they have no name.
fn network_acl(acl: &Value, names: &Names) -> String {
    let subnets = list(&acl["Associations"]).iter().filter(|it| names.0.contains_key(&word(&it["SubnetId"]))).count();
    let mut entries: Vec<String> = list(&acl["Entries"])
        .iter()
        .map(|entry| {
            let direction = if entry["Egress"] == true { "out" } else { "in" };
            format!("{direction} {} {} {}", entry["RuleNumber"], word(&entry["RuleAction"]), word(&entry["CidrBlock"]))
        })
        .collect();
    entries.sort();
    let kind = if acl["IsDefault"] == true { "default" } else { "other" };
    format!("acl {kind} ({}) {subnets} subnets", entries.join(", "))
}

/// The tags but Name and those that say whose an object is.
fn tags(object: &Value) -> String {
    let tags = object["tags"].as_object().into_iter().flatten();
    let others = tags.filter(|(key, _)| *key != "Name" && !key.starts_with("fgw:"));
    let others: Vec<String> = others.map(|(key, value)| format!("{key}={}", word(value))).collect();
    if others.is_empty() { String::new() } else { format!(" {{{}}}", others.join(", ")) }
}

fn joined(items: &Value, text: impl Fn(&Value) -> String) -> String {
    list(items).iter().map(text).collect::<Vec<_>>().join(" ")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text without its quotes; all else as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
