//! The kinds of objects of a network, in the order of creation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{DeleteAfter, NoAction, Restrict};
use crate::model::{Claim, Key, Need, Ref, Tags};
use crate::plugin::Input;

/// A VPC, the root of a network. Key `vpc`, fixed by primary CIDR and tenancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vpc {
    /// `vpc_name`, stored in the ownership tag.
    pub name: Input<String>,
    /// Primary IPv4 range in CIDR notation, as requested; `None` if an IPAM pool chooses it. The chosen range is stored
    /// in `learned` as `cidr_block`.
    pub cidr_block: Input<Option<String>>,
    /// ID of the IPAM pool of the range. AWS does not return it after the create.
    pub ipv4_ipam_pool_id: Input<Option<String>>,
    /// Prefix length requested from the pool; `None` if the range is configured or the pool has a default.
    pub ipv4_netmask_length: Input<Option<i64>>,
    /// `default` or `dedicated`.
    pub instance_tenancy: Input<String>,
    /// Whether the Amazon DNS server is available in the VPC.
    pub enable_dns_support: Input<bool>,
    /// Whether instances get public DNS names. AWS requires `enable_dns_support` for it.
    pub enable_dns_hostnames: Input<bool>,
    /// Whether network address usage metrics are computed.
    pub enable_network_address_usage_metrics: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// The VPC's IPv6 range. Key `ipv6_cidr_block`, fixed by its source. Its ID is that of the association, and the range
/// is stored in `learned` as `ipv6_cidr_block`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcIpv6Block {
    /// Its VPC.
    pub vpc: Key,
    /// The source of the range.
    pub source: Ipv6Source,
}

/// The source of an IPv6 range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ipv6Source {
    /// A /56 that Amazon assigns.
    Amazon {
        /// The network border group from which the addresses are advertised; `None` means the Region.
        network_border_group: Input<Option<String>>,
    },
    /// An IPAM pool.
    Pool {
        /// The ID of the pool; `None` if the range was found in AWS, which does not return the pool.
        pool_id: Input<Option<String>>,
        /// The requested range.
        cidr_block: Input<Option<String>>,
        /// The requested prefix length.
        netmask_length: Input<Option<i64>>,
    },
}

/// An internet gateway, attached to its VPC. Key `internet_gateway`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InternetGateway {
    /// The VPC it is attached to; `None` if it was found unattached.
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

/// A subnet. Key `subnet.<tier>.<index>`, fixed by AZ ID and CIDR block.
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
    /// AZ ID, such as `use1-az4`.
    pub availability_zone_id: String,
    /// IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// Whether instances get a public address.
    pub map_public_ip_on_launch: Input<bool>,
    /// The VPC's IPv6 range that contains the subnet's range.
    pub ipv6_block: Option<Key>,
    /// IPv6 range in canonical CIDR notation. Unknown until the range of the VPC is known.
    pub ipv6_cidr_block: Input<Option<String>>,
    /// Whether network interfaces get an IPv6 address. AWS requires an IPv6 range for it.
    pub assign_ipv6_address_on_creation: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

/// A route table. Key `route_table.<tier>.<index>`, or `route_table.public` if one table serves all public subnets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTable {
    /// Its VPC.
    pub vpc: Key,
    /// Virtual private gateways whose routes the provider propagates to it, sorted. Unmanaged propagations are not
    /// included.
    pub propagating_gateways: Input<Vec<Input<String>>>,
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
    /// The VPC. AWS does not require it for an address, but it must exist first, so that every object of a killed run
    /// can be found by the ID of the VPC.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

/// A NAT gateway. Key `nat_gateway.<index>`, fixed by subnet and address, or `private_nat_gateway.<index>`, fixed by
/// subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NatGateway {
    /// Its subnet.
    pub subnet: Key,
    /// The address of a public NAT gateway; `None` for a private one.
    pub allocation: Option<Input<Ref>>,
    /// The internet gateway that a public NAT gateway needs attached.
    pub internet_gateway: Option<Key>,
    /// Number of secondary private addresses; 0 for a public NAT gateway.
    pub secondary_private_ip_address_count: Input<i64>,
    /// Tags.
    pub tags: Tags,
}

/// A managed route. Key `route.<table>.<ipv4|ipv6>`, ID `<route table ID>_<destination>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The table.
    pub route_table: Key,
    /// Destination in canonical CIDR notation.
    pub destination: String,
    /// An internet or NAT gateway; the prefix of its ID shows which.
    pub target: Ref,
}

/// A gateway endpoint. Key `vpc_endpoint.<objectstore|keyvalue>`, fixed by service name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcEndpoint {
    /// Its VPC.
    pub vpc: Key,
    /// The service name as listed by AWS in this Region.
    pub service_name: Input<String>,
    /// The route tables to which AWS adds its prefix list routes, sorted.
    pub route_tables: Vec<Ref>,
    /// IAM policy as JSON; `None` means full access, the default of AWS.
    pub policy: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The VPC's default network ACL, adopted. Key `default_network_acl`, ID of the ACL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultNetworkAcl {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules by number, without the default rule of AWS that denies the rest.
    pub ingress: Input<Vec<NetworkAclRule>>,
    /// Outbound rules by number, without the default rule of AWS that denies the rest.
    pub egress: Input<Vec<NetworkAclRule>>,
    /// Subnets that have another ACL and are associated with this one when they are added to this list, sorted. All
    /// other subnets keep their ACLs. AWS associates this one with new subnets.
    pub taken: Vec<TakenSubnet>,
    /// Tags.
    pub tags: Tags,
}

/// A subnet that the default network ACL takes from another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TakenSubnet {
    /// The subnet.
    pub subnet: Key,
    /// The ID of the ACL that it had in the plan. It is not taken from any other ACL.
    pub from: String,
}

/// One rule of a network ACL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetworkAclRule {
    /// Position in the order of evaluation, 1 to 32766; unique within a direction.
    pub rule_no: i64,
    /// Whether it allows; otherwise it denies.
    pub allow: bool,
    /// Number of the protocol; `-1` for all.
    pub protocol: String,
    /// IPv4 or IPv6 range, canonical.
    pub cidr_block: String,
    /// First and last port; `None` if the protocol has no ports.
    pub ports: Option<(i64, i64)>,
    /// ICMP type and code, where -1 means all; `None` for other protocols.
    pub icmp: Option<(i64, i64)>,
}

/// The VPC's default security group, adopted. Key `default_security_group`, ID of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefaultSecurityGroup {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules, sorted, one per source; `None` leaves the existing rules unchanged.
    pub ingress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Outbound rules, sorted, one per destination; `None` leaves the existing rules unchanged.
    pub egress: Input<Option<Vec<SecurityGroupRule>>>,
    /// Tags.
    pub tags: Tags,
}

/// One rule of a security group, with one source or destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecurityGroupRule {
    /// `-1` for all, `tcp`, `udp`, `icmp`, `icmpv6`, or a number.
    pub protocol: String,
    /// First port or ICMP type; `None` if the protocol has none.
    pub from_port: Option<i64>,
    /// Last port or ICMP code; `None` if the protocol has none.
    pub to_port: Option<i64>,
    /// The source or destination of the traffic.
    pub source: RuleSource,
    /// Free text.
    pub description: Option<String>,
}

/// The source or destination of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// An IPv4 range, canonical.
    CidrIpv4(String),
    /// An IPv6 range, canonical.
    CidrIpv6(String),
    /// The group itself.
    ItSelf,
    /// The ID of a prefix list.
    PrefixList(String),
    /// The ID of another group, after the ID of its account and a slash if that is another account.
    SecurityGroup(String),
}

impl Tier {
    /// All tiers, in the order of the specification.
    pub const ALL: [Tier; 4] = [Tier::Public, Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];

    /// The name in keys and outputs, such as `private_app`.
    pub fn slot(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private_app",
            Tier::PrivatePersistence => "private_persistence",
            Tier::Transit => "transit",
        }
    }

    /// The name in Name tags and messages, such as `private-app`.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private-app",
            Tier::PrivatePersistence => "private-persistence",
            Tier::Transit => "transit",
        }
    }
}

impl Vpc {
    /// AWS does not return the pool of a range.
    pub(super) fn mask_unowned(&mut self, wanted: &Vpc) {
        if self.ipv4_ipam_pool_id == Input::Known(None) {
            self.ipv4_ipam_pool_id = wanted.ipv4_ipam_pool_id.clone();
            self.ipv4_netmask_length = wanted.ipv4_netmask_length.clone();
            if wanted.cidr_block == Input::Known(None) {
                self.cidr_block = Input::Known(None);
            }
        }
    }
}

impl VpcIpv6Block {
    /// A pool releases the range after the deletion of the VPC, so the wait for it comes last.
    pub(super) fn needs(&self) -> Vec<Need> {
        let on_delete = if self.is_of_pool() { DeleteAfter } else { Restrict };
        vec![Need::new(&self.vpc, on_delete)]
    }

    /// AWS deletes the range with the VPC. That of a pool still has to be waited for.
    pub(super) fn parent(&self) -> Option<&Key> {
        (!self.is_of_pool()).then_some(&self.vpc)
    }

    fn is_of_pool(&self) -> bool {
        matches!(self.source, Ipv6Source::Pool { .. })
    }

    /// AWS does not return the pool of a range.
    pub(super) fn mask_unowned(&mut self, wanted: &VpcIpv6Block) {
        if let (Ipv6Source::Pool { pool_id: Input::Known(None), .. }, Ipv6Source::Pool { .. }) =
            (&self.source, &wanted.source)
        {
            self.source = wanted.source.clone();
        }
    }
}

impl InternetGateway {
    pub(super) fn needs(&self) -> Vec<Need> {
        self.vpc.iter().map(|vpc| Need::new(vpc, Restrict)).collect()
    }
}

impl Subnet {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.ipv6_block.iter().map(|block| Need::new(block, Restrict)));
        needs
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let ipv6 = self.ipv6_cidr_block.known().and_then(Option::as_ref);
        let blocks = [self.cidr_block.known(), ipv6].into_iter().flatten();
        blocks.filter_map(|cidr| cidr.parse().ok()).map(Claim::Addresses).collect()
    }
}

impl RouteTable {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    /// Propagating gateways are managed one by one.
    pub(super) fn merge_owned(&mut self, other: &RouteTable) {
        if let (Input::Known(gateways), Input::Known(others)) =
            (&mut self.propagating_gateways, &other.propagating_gateways)
        {
            let missing: Vec<_> = others.iter().filter(|it| it.is_known() && !gateways.contains(it)).cloned().collect();
            gateways.extend(missing);
            gateways.sort();
        }
    }

    /// Propagations of other gateways may be unmanaged.
    pub(super) fn mask_unowned(&mut self, wanted: &RouteTable) {
        if let (Input::Known(found), Input::Known(wanted)) =
            (&mut self.propagating_gateways, &wanted.propagating_gateways)
        {
            found.retain(|gateway| wanted.contains(gateway));
        }
    }
}

impl RouteTableAssociation {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.subnet, Restrict)];
        needs.extend(Need::of(&self.route_table, Restrict));
        needs
    }
}

impl Eip {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }
}

impl NatGateway {
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.subnet, Restrict)];
        needs.extend(self.internet_gateway.iter().map(|gateway| Need::new(gateway, Restrict)));
        if let Some(Input::Known(address)) = &self.allocation {
            needs.extend(Need::of(address, Restrict));
        }
        needs
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        match &self.allocation {
            Some(Input::Known(allocation)) => vec![Claim::ElasticIp { allocation: allocation.clone() }],
            _ => vec![],
        }
    }
}

impl Route {
    /// AWS allows deleting the target first and keeps the route as a blackhole.
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.route_table, Restrict)];
        needs.extend(Need::of(&self.target, NoAction));
        needs
    }
}

impl VpcEndpoint {
    /// The endpoint with the tables among these keys that it had before and no longer has; `None` if there are none.
    pub(super) fn keeping_route_tables(&self, before: &VpcEndpoint, keys: &BTreeSet<Key>) -> Option<VpcEndpoint> {
        let is_kept = |table: &&Ref| {
            let is_deleted = matches!(table, Ref::Key(key) if keys.contains(key));
            is_deleted && !self.route_tables.contains(table)
        };
        let kept: Vec<Ref> = before.route_tables.iter().filter(is_kept).cloned().collect();
        if kept.is_empty() {
            return None;
        }
        let mut endpoint = self.clone();
        endpoint.route_tables.extend(kept);
        endpoint.route_tables.sort();
        Some(endpoint)
    }

    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.route_tables.iter().flat_map(|table| Need::of(table, Restrict)));
        needs
    }
}

impl DefaultNetworkAcl {
    /// The list only records associations, so the subnets are deleted in any order.
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.taken.iter().map(|taken| Need::new(&taken.subnet, NoAction)));
        needs
    }

    /// With an IPv6 range, AWS adds rule 101, which allows all IPv6 traffic, to each direction that has only the
    /// original rule 100.
    pub(super) fn with_ipv6_range(mut self) -> DefaultNetworkAcl {
        for rules in [&mut self.ingress, &mut self.egress] {
            let Input::Known(rules) = rules else { continue };
            if let [NetworkAclRule { rule_no: 100, allow: true, protocol, cidr_block, .. }] = rules.as_slice()
                && protocol == "-1"
                && cidr_block == "0.0.0.0/0"
            {
                rules.push(NetworkAclRule { rule_no: 101, cidr_block: "::/0".to_string(), ..rules[0].clone() });
            }
        }
        self
    }
}

impl DefaultSecurityGroup {
    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    /// With an IPv6 range, AWS adds an egress rule that allows all IPv6 traffic to a group that has only the original
    /// egress rule.
    pub(super) fn with_ipv6_range(mut self) -> DefaultSecurityGroup {
        if let Input::Known(Some(rules)) = &mut self.egress
            && let [SecurityGroupRule { protocol, source: RuleSource::CidrIpv4(range), .. }] = rules.as_slice()
            && protocol == "-1"
            && range == "0.0.0.0/0"
        {
            let source = RuleSource::CidrIpv6("::/0".to_string());
            rules.push(SecurityGroupRule { source, description: None, ..rules[0].clone() });
        }
        self
    }

    /// An empty map of rules leaves the existing rules unchanged.
    pub(super) fn mask_unowned(&mut self, wanted: &DefaultSecurityGroup) {
        if wanted.ingress == Input::Known(None) {
            self.ingress = Input::Known(None);
        }
        if wanted.egress == Input::Known(None) {
            self.egress = Input::Known(None);
        }
    }
}
