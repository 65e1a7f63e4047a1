//! The keys of a network's objects. The doc comment of each function states the slot and the immutable inputs.

use crate::model::{Ipv6Source, Key, Ref, Tier};
use crate::plugin::Input;

/// The slot of the VPC, the root of a network.
pub const VPC: &str = "vpc";

/// The start of the slot of a secondary IPv4 range, before the range.
pub const CIDR_BLOCK: &str = "cidr_block.";

/// The slot of the VPC's IPv6 range.
pub const IPV6_CIDR_BLOCK: &str = "ipv6_cidr_block";

/// The slot of the egress-only internet gateway.
pub const EGRESS_ONLY_INTERNET_GATEWAY: &str = "egress_only_internet_gateway";

/// The start of the slot of a flow log, before its name.
pub const FLOW_LOG: &str = "flow_log.";

/// The start of the slot of the log group that a network creates for a flow log, before the name of the log.
pub const FLOW_LOG_GROUP: &str = "log_group.flow_log.";

/// The start of the slot of an interface endpoint, before its name.
pub const INTERFACE_ENDPOINT: &str = "interface_endpoint.";

/// The slot of the security group that interface endpoints share.
pub const ENDPOINTS_GROUP: &str = "security_group.interface_endpoints";

/// The start of the slot of the security group of one interface endpoint, before the name of the endpoint.
pub const ENDPOINT_GROUP: &str = "security_group.interface_endpoint.";

/// The address family of a default route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `0.0.0.0/0`.
    Ipv4,
    /// `::/0`.
    Ipv6,
}

impl Family {
    /// The destination of its default route.
    pub fn destination(self) -> &'static str {
        match self {
            Family::Ipv4 => "0.0.0.0/0",
            Family::Ipv6 => "::/0",
        }
    }
}

/// The two services that have gateway endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointService {
    /// S3.
    ObjectStore,
    /// DynamoDB.
    KeyValue,
}

/// The slots that a network can have. `*` is any text.
pub fn slots() -> Vec<String> {
    let roots = [VPC, IPV6_CIDR_BLOCK, "internet_gateway", EGRESS_ONLY_INTERNET_GATEWAY];
    let mut slots: Vec<String> = roots.map(str::to_string).into();
    for tier in Tier::ALL.map(Tier::slot) {
        slots.extend([format!("subnet.{tier}.*"), format!("route_table.{tier}"), format!("route_table.{tier}.*")]);
        slots.extend([format!("route_table_association.{tier}.*"), format!("route.{tier}.*")]);
    }
    slots.push(format!("{CIDR_BLOCK}*"));
    slots.extend(["eip.*", "nat_gateway.*", "private_nat_gateway.*"].map(str::to_string));
    slots.extend(EndpointService::ALL.map(|service| format!("vpc_endpoint.{}", service.slot())));
    slots.extend([FLOW_LOG, FLOW_LOG_GROUP, INTERFACE_ENDPOINT, ENDPOINT_GROUP].map(|prefix| format!("{prefix}*")));
    slots.push(ENDPOINTS_GROUP.to_string());
    slots.extend([default_network_acl(), default_security_group()].map(|key| key.slot));
    slots
}

/// The tier that a slot names after this prefix, with or without an index.
pub fn tier_of(prefix: &str, slot: &str) -> Option<Tier> {
    let place = slot.strip_prefix(prefix)?;
    let tier = place.split_once('.').map_or(place, |(tier, _)| tier);
    Tier::ALL.into_iter().find(|it| it.slot() == tier)
}

/// `vpc`, fixed by primary CIDR and tenancy.
pub fn vpc(cidr_block: &Input<String>, tenancy: &Input<String>) -> Key {
    Key::fixed(VPC, join(&[cidr_block.as_ref(), tenancy.as_ref()]))
}

/// `vpc`, fixed by IPAM pool, prefix length and tenancy, for a range that the pool chooses.
pub fn vpc_of_pool(pool_id: &Input<String>, netmask_length: &Input<Option<i64>>, tenancy: &Input<String>) -> Key {
    let length = netmask_length.clone().map(|length| length.map_or("default".into(), |length| format!("/{length}")));
    Key::fixed(VPC, join(&[pool_id.as_ref(), length.as_ref(), tenancy.as_ref()]))
}

/// `cidr_block.<range>`: a secondary IPv4 range in canonical notation.
pub fn cidr_block(range: &str) -> Key {
    Key::new(format!("{CIDR_BLOCK}{range}"))
}

/// `ipv6_cidr_block`, fixed by the source of the range.
pub fn ipv6_cidr_block(source: &Ipv6Source) -> Key {
    let text = |input: &Input<Option<String>>| input.clone().map(|text| text.unwrap_or("any".into()));
    let fixed = match source {
        Ipv6Source::Amazon { network_border_group } => {
            join(&[Input::Known("amazon".to_string()).as_ref(), text(network_border_group).as_ref()])
        }
        Ipv6Source::Pool { pool_id, cidr_block, netmask_length } => {
            let length = text(&netmask_length.clone().map(|length| length.map(|length| format!("/{length}"))));
            join(&[text(pool_id).as_ref(), text(cidr_block).as_ref(), length.as_ref()])
        }
    };
    Key::fixed(IPV6_CIDR_BLOCK, fixed)
}

/// `internet_gateway`.
pub fn internet_gateway() -> Key {
    Key::new("internet_gateway")
}

/// `egress_only_internet_gateway`.
pub fn egress_only_internet_gateway() -> Key {
    Key::new(EGRESS_ONLY_INTERNET_GATEWAY)
}

/// `subnet.<tier>.<index>`, fixed by AZ ID and CIDR block.
pub fn subnet(tier: Tier, index: u32, availability_zone_id: &str, cidr_block: &Input<String>) -> Key {
    let zone = Input::Known(availability_zone_id.to_string());
    Key::fixed(subnet_slot(tier, index), join(&[zone.as_ref(), cidr_block.as_ref()]))
}

/// The ID of the AZ in the key of a subnet.
pub fn zone_in(subnet: &Key) -> Option<&str> {
    subnet.fixed.known()?.split(' ').next().filter(|zone| !zone.is_empty())
}

/// The slot of a subnet.
pub fn subnet_slot(tier: Tier, index: u32) -> String {
    format!("subnet.{}.{index}", tier.slot())
}

/// `route_table.<tier>.<index>`, or `route_table.<tier>` if one table serves the whole tier.
pub fn route_table(tier: Tier, index: Option<u32>) -> Key {
    match index {
        Some(index) => Key::new(format!("route_table.{}.{index}", tier.slot())),
        None => Key::new(format!("route_table.{}", tier.slot())),
    }
}

/// `route_table_association.<tier>.<index>`, named and fixed like its subnet.
pub fn route_table_association(subnet: &Key) -> Key {
    let position = subnet.slot.strip_prefix("subnet.").unwrap_or(&subnet.slot);
    Key::fixed(format!("route_table_association.{position}"), subnet.fixed.clone())
}

/// `eip.<slot>`.
pub fn eip(slot: u32) -> Key {
    Key::new(format!("eip.{slot}"))
}

/// `nat_gateway.<slot>`, fixed by subnet and address.
pub fn nat_gateway(slot: u32, subnet: &Key, allocation: &Input<Ref>) -> Key {
    nat_gateway_keyed_by(slot, subnet, &allocation.as_ref().map(nat_gateway_address))
}

/// The same, with the text of [`nat_gateway_address`], or with the one in an existing key.
pub fn nat_gateway_keyed_by(slot: u32, subnet: &Key, address: &Input<String>) -> Key {
    let subnet_slot = Input::Known(subnet.slot.clone());
    let fixed = join(&[subnet_slot.as_ref(), subnet.fixed.as_ref(), address.as_ref()]);
    Key::fixed(format!("nat_gateway.{slot}"), fixed)
}

/// An address as a part of the key of its NAT gateway.
pub fn nat_gateway_address(allocation: &Ref) -> String {
    match allocation {
        Ref::Key(key) => key.slot.clone(),
        Ref::Id(id) => id.clone(),
    }
}

/// The address in the key of a NAT gateway. It follows the slot, the AZ and the block of the subnet.
pub fn address_in(nat_gateway: &Key) -> Option<&str> {
    nat_gateway.fixed.known()?.splitn(4, ' ').nth(3)
}

/// `private_nat_gateway.<slot>`, fixed by subnet.
pub fn private_nat_gateway(slot: u32, subnet: &Key) -> Key {
    let subnet_slot = Input::Known(subnet.slot.clone());
    Key::fixed(format!("private_nat_gateway.{slot}"), join(&[subnet_slot.as_ref(), subnet.fixed.as_ref()]))
}

/// `route.<table>.<ipv4|ipv6>`: the default route of a table.
pub fn default_route(route_table: &Key, family: Family) -> Key {
    let table = route_table.slot.strip_prefix("route_table.").unwrap_or(&route_table.slot);
    let family = match family {
        Family::Ipv4 => "ipv4",
        Family::Ipv6 => "ipv6",
    };
    Key::new(format!("route.{table}.{family}"))
}

/// The name under which the entry of the VPC stores the ID of its main route table in `learned`.
pub const DEFAULT_ROUTE_TABLE_ID: &str = "default_route_table_id";

/// `vpc_endpoint.<objectstore|keyvalue>`, fixed by service name.
pub fn vpc_endpoint(service: EndpointService, service_name: &Input<String>) -> Key {
    Key::fixed(format!("vpc_endpoint.{}", service.slot()), service_name.clone())
}

/// `flow_log.<name>`, fixed by everything except tags ([`FlowLog::fixed`](crate::model::FlowLog::fixed)).
pub fn flow_log(name: &str, fixed: Input<String>) -> Key {
    Key::fixed(format!("{FLOW_LOG}{name}"), fixed)
}

/// `log_group.flow_log.<name>`, fixed by the name of the group.
pub fn log_group_of_flow_log(name: &str, group: &Input<String>) -> Key {
    Key::fixed(format!("{FLOW_LOG_GROUP}{name}"), group.clone())
}

/// `interface_endpoint.<name>`, fixed by the name and the Region of the service.
pub fn interface_endpoint(name: &str, service_name: &Input<String>, region: &Input<Option<String>>) -> Key {
    let region = region.clone().map(Option::unwrap_or_default);
    Key::fixed(format!("{INTERFACE_ENDPOINT}{name}"), join(&[service_name.as_ref(), region.as_ref()]))
}

/// `default_network_acl`.
pub fn default_network_acl() -> Key {
    Key::new("default_network_acl")
}

/// `default_security_group`.
pub fn default_security_group() -> Key {
    Key::new("default_security_group")
}

impl EndpointService {
    /// Both.
    pub const ALL: [EndpointService; 2] = [EndpointService::ObjectStore, EndpointService::KeyValue];

    /// The name in keys and Name tags, such as `objectstore`.
    pub fn slot(self) -> &'static str {
        match self {
            EndpointService::ObjectStore => "objectstore",
            EndpointService::KeyValue => "keyvalue",
        }
    }

    /// The last label of the service name, such as `s3`. S3 Express, `s3express`, is another service.
    pub fn label(self) -> &'static str {
        match self {
            EndpointService::ObjectStore => "s3",
            EndpointService::KeyValue => "dynamodb",
        }
    }

    /// The service with a full name such as `com.amazonaws.eu-central-1.s3`.
    pub fn of_name(service_name: &str) -> Option<EndpointService> {
        EndpointService::ALL.into_iter().find(|service| service_name.rsplit('.').next() == Some(service.label()))
    }
}

/// The parts separated by spaces; unknown if one of them is.
fn join(parts: &[Input<&String>]) -> Input<String> {
    let mut known = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Input::Known(part) => known.push(part.as_str()),
            Input::Unknown => return Input::Unknown,
        }
    }
    Input::Known(known.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_objects_in_a_subnet_depend_on_the_subnet() {
        let one = subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.0.0/21".into()));
        let other = subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.8.0/21".into()));
        let address = Input::Known(Ref::Key(eip(0)));
        assert_eq!(nat_gateway(0, &one, &address).slot, "nat_gateway.0");
        assert_ne!(nat_gateway(0, &one, &address), nat_gateway(0, &other, &address));
        assert_ne!(nat_gateway(0, &one, &address), nat_gateway(0, &one, &Input::Known(Ref::Key(eip(1)))));
        assert_ne!(route_table_association(&one), route_table_association(&other));
        assert_eq!(route_table_association(&one).slot, "route_table_association.public.0");
    }

    #[test]
    fn keys_contain_their_az_and_address() {
        let subnet = subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.0.0/21".into()));
        assert_eq!((zone_in(&subnet), zone_in(&Key::new("subnet.public.0"))), (Some("use1-az1"), None));
        let gateway = nat_gateway(0, &subnet, &Input::Known(Ref::Key(eip(3))));
        assert_eq!(address_in(&gateway), Some("eip.3"));
    }

    #[test]
    fn unknown_part_makes_the_fixed_inputs_unknown() {
        let subnet = subnet(Tier::Transit, 2, "use1-az1", &Input::Unknown);
        assert_eq!(subnet.fixed, Input::Unknown);
        assert_eq!(nat_gateway(0, &subnet, &Input::Known(Ref::Id("eipalloc-1".into()))).fixed, Input::Unknown);
    }

    #[test]
    fn s3_express_is_not_s3() {
        assert_eq!(EndpointService::of_name("com.amazonaws.us-east-1.s3"), Some(EndpointService::ObjectStore));
        assert_eq!(EndpointService::of_name("cn.com.amazonaws.cn-north-1.dynamodb"), Some(EndpointService::KeyValue));
        assert_eq!(EndpointService::of_name("com.amazonaws.us-east-1.s3express"), None);
    }

    #[test]
    fn routes_are_named_after_their_table() {
        assert_eq!(default_route(&route_table(Tier::Public, None), Family::Ipv4).slot, "route.public.ipv4");
        let table = route_table(Tier::PrivateApp, Some(0));
        assert_eq!(default_route(&table, Family::Ipv4).slot, "route.private_app.0.ipv4");
    }
}
