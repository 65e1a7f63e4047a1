//! An account as lines of text, one for each object, with names in place of ids, so that tests can list expected lines.

use std::collections::BTreeMap;

use ipnet::Ipv6Net;
use serde_json::Value;

use crate::support::listing::id_of;

/// The objects of an account, each with its id and its line. A line starts with the kind, and ends with the tags except
/// `Name` and the ownership tags.
#[derive(Debug)]
pub(super) struct Snapshot(Vec<(String, String)>);

/// Formats the line of an object of one kind.
type Line = fn(&Value, &Names) -> String;

impl Snapshot {
    /// From a listing by boto3.
    pub(super) fn of(listing: &Value) -> Self {
        let names = names(listing);
        let mut lines = Vec::new();
        let kinds: [(&str, Line); 13] = [
            ("vpcs", vpc),
            ("internet_gateways", internet_gateway),
            ("egress_only_internet_gateways", egress_gateway),
            ("vpn_gateways", vpn_gateway),
            ("subnets", subnet),
            ("route_tables", route_table),
            ("addresses", |address, names| format!("address {}", names.name(&address["AllocationId"]))),
            ("nat_gateways", nat_gateway),
            ("vpc_endpoints", vpc_endpoint),
            ("flow_logs", |log, names| {
                format!("flow log {} to {}", names.name(&log["FlowLogId"]), word(&log["LogGroupName"]))
            }),
            ("log_groups", |group, _| {
                format!("log group {} {}", word(&group["logGroupName"]), group["retentionInDays"])
            }),
            ("security_groups", security_group),
            ("network_acls", network_acl),
        ];
        for (kind, line) in kinds {
            for object in list(&listing[kind]) {
                lines.push((word(&object[id_of(kind)]), line(object, &names) + &tags(object)));
            }
        }
        lines.sort_by(|a, b| a.1.cmp(&b.1));
        Self(lines)
    }

    /// All lines, in alphabetical order.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.0.iter().map(|(_, line)| line.as_str()).collect()
    }

    /// The lines of `other` that this snapshot lacks: those of objects that are missing here or differ.
    pub(super) fn missing_of(&self, other: &Self) -> Vec<String> {
        other.0.iter().filter(|it| !self.0.contains(it)).map(|(_, line)| line.clone()).collect()
    }
}

/// The names of objects by id, and the IPv6 ranges of VPCs, which AWS chooses, so that tests cannot contain them.
struct Names {
    names: BTreeMap<String, String>,
    ipv6_ranges: Vec<Ipv6Net>,
}

impl Names {
    /// The tag `Name`, or the id if there is none.
    fn name(&self, id: &Value) -> String {
        let id = word(id);
        self.names.get(&id).cloned().unwrap_or(id)
    }

    /// An IPv6 block as its number in the VPC's range, such as `#2/64`. The range itself is `#0/56`. A block outside
    /// all ranges is unchanged.
    fn block(&self, block: &str) -> String {
        let Ok(net) = block.parse::<Ipv6Net>() else { return block.to_owned() };
        let Some(range) = self.ipv6_ranges.iter().find(|range| range.contains(&net)) else { return net.to_string() };
        let offset = u128::from(net.network()) - u128::from(range.network());
        format!("#{}/{}", offset >> (128 - net.prefix_len()), net.prefix_len())
    }
}

fn names(listing: &Value) -> Names {
    let mut names = BTreeMap::new();
    for (kind, objects) in listing.as_object().into_iter().flatten() {
        for object in list(objects) {
            if let Some(name) = object["tags"]["Name"].as_str() {
                names.insert(word(&object[id_of(kind)]), name.to_owned());
            }
        }
    }
    let ipv6_ranges = list(&listing["vpcs"]).iter().flat_map(ipv6_blocks).filter_map(|range| range.parse().ok());
    Names { names, ipv6_ranges: ipv6_ranges.collect() }
}

/// The IPv6 blocks of a VPC or a subnet, without disassociated ones, which AWS still returns for some time.
fn ipv6_blocks(object: &Value) -> Vec<String> {
    let blocks = list(&object["Ipv6CidrBlockAssociationSet"]).iter();
    let blocks = blocks.filter(|block| {
        let state = &block["Ipv6CidrBlockState"]["State"];
        state != "disassociated" && state != "disassociating"
    });
    blocks.map(|block| word(&block["Ipv6CidrBlock"])).collect()
}

fn vpc(vpc: &Value, names: &Names) -> String {
    format!(
        "vpc {} {}{}{} {} support={} hostnames={} metrics={}",
        names.name(&vpc["VpcId"]),
        word(&vpc["CidrBlock"]),
        secondary_ranges(vpc),
        ipv6(vpc, names),
        word(&vpc["InstanceTenancy"]),
        vpc["EnableDnsSupport"],
        vpc["EnableDnsHostnames"],
        vpc["EnableNetworkAddressUsageMetrics"]
    )
}

/// The secondary ranges of a VPC, each after ` +`, sorted.
fn secondary_ranges(vpc: &Value) -> String {
    let blocks = list(&vpc["CidrBlockAssociationSet"]).iter();
    let blocks =
        blocks.filter(|it| it["CidrBlock"] != vpc["CidrBlock"] && it["CidrBlockState"]["State"] == "associated");
    let mut ranges: Vec<String> = blocks.map(|block| word(&block["CidrBlock"])).collect();
    ranges.sort();
    ranges.iter().map(|range| format!(" +{range}")).collect()
}

fn internet_gateway(gateway: &Value, names: &Names) -> String {
    let vpcs = joined(&gateway["Attachments"], |attachment| names.name(&attachment["VpcId"]));
    format!("internet_gateway {} on {vpcs}", names.name(&gateway["InternetGatewayId"]))
}

/// The IPv6 blocks of a VPC or a subnet, each after a space.
fn ipv6(object: &Value, names: &Names) -> String {
    ipv6_blocks(object).iter().map(|block| format!(" {}", names.block(block))).collect()
}

fn egress_gateway(gateway: &Value, names: &Names) -> String {
    let vpcs = joined(&gateway["Attachments"], |attachment| names.name(&attachment["VpcId"]));
    format!("egress_gateway {} on {vpcs}", names.name(&gateway["EgressOnlyInternetGatewayId"]))
}

fn vpn_gateway(gateway: &Value, names: &Names) -> String {
    let vpcs = joined(&gateway["VpcAttachments"], |attachment| names.name(&attachment["VpcId"]));
    format!("vpn_gateway {} on {vpcs}", names.name(&gateway["VpnGatewayId"]))
}

fn subnet(subnet: &Value, names: &Names) -> String {
    let assigns = if subnet["AssignIpv6AddressOnCreation"] == true { " assigns_ipv6" } else { "" };
    format!(
        "subnet {} {} {} {}{} public_ip={}{assigns}",
        names.name(&subnet["SubnetId"]),
        word(&subnet["AvailabilityZone"]),
        word(&subnet["AvailabilityZoneId"]),
        word(&subnet["CidrBlock"]),
        ipv6(subnet, names),
        subnet["MapPublicIpOnLaunch"]
    )
}

/// The line omits routes to endpoints: AWS creates them, and the endpoint's line has its tables. It also omits local
/// IPv6 routes: AWS deletes them with the range, moto does not.
fn route_table(table: &Value, names: &Names) -> String {
    let main = list(&table["Associations"]).iter().any(|association| association["Main"] == true);
    let name = if main { "(main)".to_owned() } else { names.name(&table["RouteTableId"]) };
    let explicit = list(&table["Associations"]).iter().filter(|association| association["Main"] != true);
    let mut subnets: Vec<String> = explicit.map(|association| names.name(&association["SubnetId"])).collect();
    subnets.sort();
    let is_inside = |route: &Value| route["DestinationIpv6CidrBlock"].is_string() && route["GatewayId"] == "local";
    let routes = list(&table["Routes"]).iter();
    let routes = routes.filter(|route| route["DestinationPrefixListId"].is_null() && !is_inside(route));
    let mut routes: Vec<String> = routes
        .map(|route| {
            let targets = ["NatGatewayId", "GatewayId", "EgressOnlyInternetGatewayId"];
            let target = targets.into_iter().find(|target| !route[target].is_null());
            let target = target.map_or_else(|| "nothing".to_owned(), |target| names.name(&route[target]));
            let ipv6 = route["DestinationIpv6CidrBlock"].as_str().map(str::to_owned);
            format!("{}>{target}", ipv6.unwrap_or_else(|| word(&route["DestinationCidrBlock"])))
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
    // Statement ids and version differ between AWS and moto; the permissions do not.
    let policy = joined(&policy["Statement"], |statement| {
        format!("{} {} {}", word(&statement["Effect"]), word(&statement["Action"]), word(&statement["Resource"]))
    });
    let mut subnets: Vec<String> = list(&endpoint["SubnetIds"]).iter().map(|id| names.name(id)).collect();
    subnets.sort();
    let groups: Vec<String> = list(&endpoint["Groups"]).iter().map(|group| names.name(&group["GroupId"])).collect();
    format!(
        "endpoint {} {} {} ({policy}) [{}]",
        names.name(&endpoint["VpcEndpointId"]),
        word(&endpoint["VpcEndpointType"]),
        word(&endpoint["ServiceName"]),
        [tables, subnets, groups].concat().join(" ")
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

/// Counts only subnets with a name, because moto's associations contain deleted subnets. Omits ICMP types, because moto
/// does not store them.
fn network_acl(acl: &Value, names: &Names) -> String {
    let associations = list(&acl["Associations"]).iter();
    let subnets = associations.filter(|it| names.names.contains_key(&word(&it["SubnetId"]))).count();
    let mut entries: Vec<&Value> = list(&acl["Entries"]).iter().collect();
    entries.sort_by_key(|entry| (entry["Egress"] == true, entry["RuleNumber"].as_i64()));
    let entries: Vec<String> = entries
        .into_iter()
        .map(|entry| {
            let direction = if entry["Egress"] == true { "out" } else { "in" };
            let cidr = entry["Ipv6CidrBlock"].as_str().map_or_else(|| word(&entry["CidrBlock"]), str::to_owned);
            let protocol = word(&entry["Protocol"]);
            // A rule for all traffic has no ports, and its protocol is omitted.
            let mut traffic = if protocol == "-1" { String::new() } else { format!(" {protocol}") };
            if let (Some(from), Some(to)) = (entry["PortRange"]["From"].as_i64(), entry["PortRange"]["To"].as_i64())
                && ["6", "17"].contains(&protocol.as_str())
            {
                traffic += &format!(":{from}-{to}");
            }
            format!("{direction} {} {}{traffic} {cidr}", entry["RuleNumber"], word(&entry["RuleAction"]))
        })
        .collect();
    let kind = if acl["IsDefault"] == true { "default" } else { "other" };
    let name = names.names.get(&word(&acl["NetworkAclId"])).map(|name| format!(" {name}")).unwrap_or_default();
    format!("acl {kind}{name} ({}) {subnets} subnets", entries.join(", "))
}

/// The tags except `Name` and the ownership tags, with a space before them.
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

/// A string without its quotes, other values as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
