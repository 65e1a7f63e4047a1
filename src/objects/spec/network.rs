//! The kinds of objects of a network, in the order of creation.

use serde::{Deserialize, Serialize};

use crate::objects::{Key, Ref, Tags};
use crate::plugin::Input;

/// A VPC, the root of a network. Key `vpc`, fixed by primary CIDR and tenancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vpc {
    /// `vpc_name`, kept in the ownership tag.
    pub name: Input<String>,
    /// Primary IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// `default` or `dedicated`.
    pub instance_tenancy: Input<String>,
    /// Whether the Amazon DNS server answers.
    pub enable_dns_support: Input<bool>,
    /// Whether instances get public DNS names. AWS wants `enable_dns_support` for it.
    pub enable_dns_hostnames: Input<bool>,
    /// Whether network address usage metrics are computed.
    pub enable_network_address_usage_metrics: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// An internet gateway, attached to its VPC. Key `internet_gateway`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InternetGateway {
    /// The VPC it is attached to; `None` where it is found unattached.
    pub vpc: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

/// The tier of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the specification names them")]
pub enum Tier {
    Public,
    PrivateApp,
    PrivatePersistence,
    Transit,
}

/// A subnet. Key `subnet.<tier>.<index>`, fixed by AZ id and CIDR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its VPC.
    pub vpc: Key,
    /// Its tier.
    pub tier: Tier,
    /// The index of its AZ in the network.
    pub index: u32,
    /// AZ name, such as `us-east-1a`.
    pub availability_zone: String,
    /// AZ id, such as `use1-az4`.
    pub availability_zone_id: String,
    /// IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// Whether instances get a public address.
    pub map_public_ip_on_launch: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// A route table. Key `route_table.<tier>.<index>`, or `route_table.public` where one serves all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTable {
    /// Its VPC.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

/// A subnet's explicit route table. Key `route_table_association.<tier>.<index>`, fixed like its subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTableAssociation {
    /// The subnet.
    pub subnet: Key,
    /// The table.
    pub route_table: Ref,
}

/// An Elastic IP address. Key `eip.<index>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eip {
    /// The VPC, which an address does not need, but which must exist first: a killed run leaves nothing that
    /// is not reachable from the VPC's id.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

/// A NAT gateway. Key `nat_gateway.<index>` or `private_nat_gateway.<index>`, fixed by subnet and address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NatGateway {
    /// The subnet that it stands in.
    pub subnet: Key,
    /// The address of a public NAT gateway; `None` for a private one.
    pub allocation: Option<Input<Ref>>,
    /// The internet gateway that a public NAT gateway needs attached.
    pub internet_gateway: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

/// A route of our own. Key `route.<table>.<ipv4|ipv6>`, id `<route table id>_<destination>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The table.
    pub route_table: Key,
    /// Destination in canonical CIDR notation.
    pub destination: String,
    /// An internet or NAT gateway; the id's prefix says which.
    pub target: Ref,
}

/// A gateway endpoint. Key `vpc_endpoint.<objectstore|keyvalue>`, fixed by service name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcEndpoint {
    /// Its VPC.
    pub vpc: Key,
    /// The service's name as AWS lists it in this Region.
    pub service_name: Input<String>,
    /// The tables that it writes its prefix-list routes into, sorted.
    pub route_tables: Vec<Ref>,
    /// IAM policy as JSON; `None` is AWS's full access.
    pub policy: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The VPC's default security group, adopted. Key `default_security_group`, id of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultSecurityGroup {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules, sorted, one per source; `None` leaves what is there.
    pub ingress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Outbound rules, sorted, one per destination; `None` leaves what is there.
    pub egress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Tags.
    pub tags: Tags,
}

/// One rule of a security group: AWS's rule, with one source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecurityGroupRule {
    /// `-1` for all, `tcp`, `udp`, `icmp`, `icmpv6`, or a number.
    pub protocol: String,
    /// First port or ICMP type; `None` where the protocol has none.
    pub from_port: Option<i64>,
    /// Last port or ICMP code; `None` where the protocol has none.
    pub to_port: Option<i64>,
    /// Where traffic comes from or goes to.
    pub source: RuleSource,
    /// Free text.
    pub description: Option<String>,
}

/// The other end of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// An IPv4 range, canonical.
    CidrIpv4(String),
    /// An IPv6 range, canonical.
    CidrIpv6(String),
    /// The group itself.
    ItSelf,
    /// A prefix list id.
    PrefixList(String),
    /// Another group's id.
    SecurityGroup(String),
}

impl Tier {
    /// All tiers, in the order of the specification.
    pub const ALL: [Tier; 4] = [Tier::Public, Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];

    /// As in keys and outputs: `private_app`.
    pub fn slot(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private_app",
            Tier::PrivatePersistence => "private_persistence",
            Tier::Transit => "transit",
        }
    }

    /// As in names: `private-app`.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private-app",
            Tier::PrivatePersistence => "private-persistence",
            Tier::Transit => "transit",
        }
    }
}
