//! The batched read: a whole network with a fixed number of calls, however many subnets it has.

use std::collections::HashMap;

use aws_sdk_ec2::types::{
    Address, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup, Subnet, Vpc, VpcEndpoint,
};
use ipnet::Ipv6Net;

use super::{
    default_network_acl, default_security_group, eip, filter, filter_any, internet_gateway, ipv6_range, nat_gateway,
    route, route_table, route_table_association, subnet, tags, vpc, vpc_endpoint, vpc_ipv6_block,
};
use crate::aws::Session;
use crate::aws::calls::AwsError;
use crate::aws::calls::ownership;
use crate::aws::ec2::observed::{Ours, Shown, tier_and_index};
use crate::cloud::{Failure, Seen};
use crate::model::Input;
use crate::model::TopologyKind;
use crate::model::keys::network as keys;
use crate::model::{Entry, Key, Spec};

/// The network as AWS shows it. `None` only where AWS says that neither the VPC nor an address of it exists.
///
/// An object is ours when state knows its id or when it carries this root's ownership tag. Associations and routes
/// carry no tags: they are recognized by what they belong to. Foreign objects are left out.
pub(crate) async fn read(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &[Entry],
) -> Result<Option<Seen>, Failure> {
    let known: HashMap<&str, &Entry> = known.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let (vpcs, attributes, subnets, tables, gateways, nats, addresses, endpoints, groups, acls) = tokio::join!(
        vpcs(session, root_id),
        vpc::read_attributes(session, root_id),
        subnets(session, root_id),
        route_tables(session, root_id),
        internet_gateways(session, owner, root_id, &known),
        nat_gateways(session, root_id),
        addresses(session, owner, root_id, &known),
        vpc_endpoints(session, root_id),
        default_groups(session, root_id),
        default_acls(session, root_id),
    );
    let vpcs = vpcs?;
    let Some(vpc) = vpcs.iter().find(|vpc| vpc.vpc_id() == Some(root_id)) else {
        // The answer to the filter is authoritative, and what is in a VPC goes before it. Addresses stay, and cost
        // money: a destroy that failed half-way may have left them.
        let addresses = addresses?;
        let root = known.get(root_id).map_or_else(|| Key::new(keys::VPC), |entry| entry.key.clone());
        let mut shown = Shown::new(owner, root_id, root, &known);
        show_addresses(&mut shown, &addresses);
        let objects = shown.into_objects();
        return Ok((!objects.is_empty()).then_some(Seen { objects, root_state: None }));
    };
    let (attributes, subnets, tables, gateways) = (attributes?, subnets?, tables?, gateways?);
    let (nats, addresses, endpoints, groups, acls) = (nats?, addresses?, endpoints?, groups?, acls?);

    let main_table = tables.iter().find(|table| table.associations().iter().any(|it| it.main() == Some(true)));
    let learned = [
        ("owner_id", vpc.owner_id()),
        ("cidr_block", vpc.cidr_block()),
        ("default_route_table_id", main_table.and_then(|table| table.route_table_id())),
        ("default_network_acl_id", acls.first().and_then(|acl| acl.network_acl_id())),
        ("default_security_group_id", groups.first().and_then(|group| group.group_id())),
    ];
    let learned = learned.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string())));
    let root = vpc::read(owner, root_id, known.get(root_id).copied(), vpc, attributes, learned.collect());

    // In an order in which what is referred to comes first.
    let mut shown = Shown::new(owner, root_id, root.key.clone(), &known);
    shown.add(Some(root));
    show_ipv6_blocks(&mut shown, vpc, &subnets, &session.scope.region);
    show_internet_gateways(&mut shown, &gateways);
    show_subnets(&mut shown, &subnets);
    show_route_tables(&mut shown, &tables);
    show_associations(&mut shown, &tables);
    show_addresses(&mut shown, &addresses);
    show_nat_gateways(&mut shown, &nats);
    show_routes(&mut shown, &tables);
    show_endpoints(&mut shown, &endpoints);
    show_default_acl(&mut shown, &acls);
    show_default_group(&mut shown, &groups);
    let root_state = tags::value(vpc.tags(), ownership::STATE).and_then(ownership::state_in);
    Ok(Some(Seen { objects: shown.into_objects(), root_state }))
}

/// The VPC's IPv6 ranges that state knows. They carry no tags, so at a first look ours is the one that a subnet of ours
/// has a range of. Where none has any, as a run was cut off before or after they had, it is the one that no subnet of
/// anybody uses, if there is one such only. All others are for others to use.
fn show_ipv6_blocks(shown: &mut Shown<'_>, vpc: &Vpc, subnets: &[Subnet], region: &str) {
    let (ours, others): (Vec<&Subnet>, Vec<&Subnet>) =
        subnets.iter().partition(|it| shown.ours(it.subnet_id(), it.tags()).is_some());
    let ranges_of =
        |subnets: Vec<&Subnet>| -> Vec<Ipv6Net> { subnets.into_iter().filter_map(subnet::ipv6_range).collect() };
    let (mut ranges, of_others) = (ranges_of(ours), ranges_of(others));
    let blocks = vpc.ipv6_cidr_block_association_set().iter().filter(|block| vpc_ipv6_block::exists(block));
    if ranges.is_empty() {
        let whole = blocks.clone().filter_map(|block| block.ipv6_cidr_block().and_then(ipv6_range));
        let unused: Vec<Ipv6Net> = whole.filter(|whole| !of_others.iter().any(|range| whole.contains(range))).collect();
        ranges.extend(unused.first().filter(|_| unused.len() == 1));
    }
    let first_look = shown.is_first_look();
    for block in blocks {
        let known = block.association_id().and_then(|id| shown.known(id));
        let whole = block.ipv6_cidr_block().and_then(ipv6_range);
        let (key, source) = match known {
            Some(Entry { key, applied: Spec::VpcIpv6Block(applied), .. }) => (key.clone(), applied.source.clone()),
            None if first_look && whole.is_some_and(|whole| ranges.iter().any(|range| whole.contains(range))) => {
                let source = vpc_ipv6_block::source(block, region);
                (keys::ipv6_cidr_block(&source), source)
            }
            _ => continue,
        };
        shown.add(vpc_ipv6_block::read(shown, key, source, block));
    }
}

fn show_internet_gateways(shown: &mut Shown<'_>, gateways: &[InternetGateway]) {
    for gateway in gateways {
        let key = match shown.ours(gateway.internet_gateway_id(), gateway.tags()) {
            Some(Ours::State(entry)) => entry.key.clone(),
            Some(Ours::Tag(slot)) => Key::new(slot),
            None => continue,
        };
        shown.add(internet_gateway::read(shown, key, gateway));
    }
}

fn show_subnets(shown: &mut Shown<'_>, subnets: &[Subnet]) {
    for it in subnets {
        let (place, key) = match shown.ours(it.subnet_id(), it.tags()) {
            Some(Ours::State(Entry { key, applied: Spec::Subnet(applied), .. })) => {
                ((applied.tier, applied.index), key.clone())
            }
            Some(Ours::Tag(slot)) => {
                // Someone wrote another text into our tag: it says no longer what the subnet is for.
                let Some((tier, index)) = tier_and_index(slot) else { continue };
                let zone = it.availability_zone_id().unwrap_or_default();
                let cidr_block = Input::Known(it.cidr_block().unwrap_or_default().to_string());
                ((tier, index), keys::subnet(tier, index, zone, &cidr_block))
            }
            _ => continue,
        };
        shown.add(subnet::read(shown, key, place, it));
    }
}

fn show_route_tables(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for table in tables {
        let (key, applied) = match shown.ours(table.route_table_id(), table.tags()) {
            Some(Ours::State(Entry { key, applied: Spec::RouteTable(applied), .. })) => (key.clone(), Some(applied)),
            Some(Ours::Tag(slot)) => (Key::new(slot), None),
            _ => continue,
        };
        shown.add(route_table::read(shown, key, applied, table));
    }
}

/// The associations of our subnets, whichever table they are with.
fn show_associations(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for it in tables.iter().flat_map(|table| table.associations()) {
        let (Some(id), Some(subnet_id)) = (it.route_table_association_id(), it.subnet_id()) else { continue };
        let Some(subnet) = shown.key(subnet_id).cloned() else { continue };
        let key = match shown.known(id) {
            Some(entry) => entry.key.clone(),
            None => keys::route_table_association(&subnet),
        };
        shown.add(route_table_association::read(shown, key, subnet, it));
    }
}

fn show_addresses(shown: &mut Shown<'_>, addresses: &[Address]) {
    for address in addresses {
        let key = match shown.ours(address.allocation_id(), address.tags()) {
            Some(Ours::State(entry)) => entry.key.clone(),
            Some(Ours::Tag(slot)) => Key::new(slot),
            None => continue,
        };
        shown.add(eip::read(shown, key, address));
    }
}

fn show_nat_gateways(shown: &mut Shown<'_>, gateways: &[NatGateway]) {
    for gateway in gateways.iter().filter(|gateway| nat_gateway::exists(gateway)) {
        if let Some(ours) = shown.ours(gateway.nat_gateway_id(), gateway.tags()) {
            shown.add(nat_gateway::read(shown, ours, gateway));
        }
    }
}

/// Routes of our tables that state knows, and default routes to our gateways. All others belong to others; where one of
/// these is a default route, its table tells.
fn show_routes(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for table in tables {
        let Some(table_id) = table.route_table_id() else { continue };
        let Some(key) = shown.key(table_id).cloned() else { continue };
        for it in table.routes() {
            shown.add(route::read(shown, &key, table_id, it));
        }
        for destination in ["0.0.0.0/0", "::/0"] {
            let foreign = table.routes().iter().filter_map(|it| route::foreign_default(shown, &key, table_id, it));
            let there = foreign.into_iter().find(|(to, _)| to == destination).map(|(_, target)| target);
            let name = keys::foreign_route(destination);
            let was_there = shown.known(table_id).is_some_and(|entry| entry.learned.contains_key(&name));
            // What was told once is forgotten only if something else is told.
            if let Some(target) = there.or_else(|| was_there.then(String::new)) {
                shown.learn(table_id, name, target);
            }
        }
    }
}

fn show_endpoints(shown: &mut Shown<'_>, endpoints: &[VpcEndpoint]) {
    for endpoint in endpoints.iter().filter(|it| vpc_endpoint::exists(it) && vpc_endpoint::is_gateway(it)) {
        let (key, applied) = match shown.ours(endpoint.vpc_endpoint_id(), endpoint.tags()) {
            Some(Ours::State(Entry { key, applied: Spec::VpcEndpoint(applied), .. })) => (key.clone(), Some(applied)),
            Some(Ours::Tag(slot)) => {
                (Key::fixed(slot, Input::Known(endpoint.service_name().unwrap_or_default().to_string())), None)
            }
            _ => continue,
        };
        shown.add(vpc_endpoint::read(shown, key, applied, endpoint));
    }
}

fn show_default_acl(shown: &mut Shown<'_>, acls: &[NetworkAcl]) {
    for acl in acls {
        let (key, applied) = match shown.ours(acl.network_acl_id(), acl.tags()) {
            Some(Ours::State(Entry { key, applied: Spec::DefaultNetworkAcl(applied), .. })) => {
                (key.clone(), Some(applied))
            }
            Some(Ours::Tag(_)) => (keys::default_network_acl(), None),
            _ => continue,
        };
        shown.add(default_network_acl::read(shown, key, applied, acl));
    }
}

fn show_default_group(shown: &mut Shown<'_>, groups: &[SecurityGroup]) {
    for group in groups {
        let (key, applied) = match shown.ours(group.group_id(), group.tags()) {
            Some(Ours::State(Entry { key, applied: Spec::DefaultSecurityGroup(applied), .. })) => {
                (key.clone(), Some(applied))
            }
            Some(Ours::Tag(_)) => (keys::default_security_group(), None),
            _ => continue,
        };
        shown.add(default_security_group::read(shown, key, applied, group));
    }
}

async fn vpcs(session: &Session, root_id: &str) -> Result<Vec<Vpc>, Failure> {
    let call = session.ec2.describe_vpcs().filters(filter("vpc-id", root_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeVpcs"))
}

async fn subnets(session: &Session, root_id: &str) -> Result<Vec<Subnet>, Failure> {
    let call = session.ec2.describe_subnets().filters(filter("vpc-id", root_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeSubnets"))
}

async fn route_tables(session: &Session, root_id: &str) -> Result<Vec<RouteTable>, Failure> {
    let call = session.ec2.describe_route_tables().filters(filter("vpc-id", root_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeRouteTables"))
}

/// The attached gateway. Where that is not ours, also those with this root's ownership tag: a create that was killed
/// between its two calls has left one that is attached to nothing. And those of state that are still missing: one more
/// call for each, if it can show anything.
async fn internet_gateways(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &HashMap<&str, &Entry>,
) -> Result<Vec<InternetGateway>, Failure> {
    let describe = |filter| async {
        let call = session.ec2.describe_internet_gateways().filters(filter);
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        found.map_err(|error| error.failure("DescribeInternetGateways"))
    };
    let mut found = describe(filter("attachment.vpc-id", root_id)).await?;
    let resource = ownership::resource(owner, root_id);
    let is_ours = |gateway: &InternetGateway| {
        gateway.internet_gateway_id().is_some_and(|id| known.contains_key(id))
            || tags::value(gateway.tags(), ownership::RESOURCE) == Some(resource.as_str())
    };
    if !found.iter().any(is_ours) {
        // None that is attached is ours, so no gateway is in both answers.
        found.extend(describe(tags::below(owner, root_id)).await?);
    }
    let missing = missing(
        known,
        |spec| matches!(spec, Spec::InternetGateway(_)),
        |id| found.iter().any(|it| it.internet_gateway_id() == Some(id)),
    );
    if !missing.is_empty() {
        found.extend(describe(filter_any("internet-gateway-id", missing)).await?);
    }
    Ok(found)
}

async fn nat_gateways(session: &Session, root_id: &str) -> Result<Vec<NatGateway>, Failure> {
    let call = session.ec2.describe_nat_gateways().filter(filter("vpc-id", root_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeNatGateways"))
}

/// The addresses with this root's ownership tag, and those of state that lost it: one more call if there are any.
/// Addresses belong to no VPC, and AWS answers them on one page.
async fn addresses(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &HashMap<&str, &Entry>,
) -> Result<Vec<Address>, Failure> {
    let describe = |filter| async {
        let answer = session.ec2.describe_addresses().filters(filter).send().await;
        let answer = answer.map_err(|error| error.failure("DescribeAddresses"))?;
        Ok::<_, Failure>(answer.addresses.unwrap_or_default())
    };
    let mut found = describe(tags::below(owner, root_id)).await?;
    let missing =
        missing(known, |spec| matches!(spec, Spec::Eip(_)), |id| found.iter().any(|it| it.allocation_id() == Some(id)));
    if !missing.is_empty() {
        found.extend(describe(filter_any("allocation-id", missing)).await?);
    }
    Ok(found)
}

async fn vpc_endpoints(session: &Session, root_id: &str) -> Result<Vec<VpcEndpoint>, Failure> {
    let call = session.ec2.describe_vpc_endpoints().filters(filter("vpc-id", root_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeVpcEndpoints"))
}

async fn default_groups(session: &Session, root_id: &str) -> Result<Vec<SecurityGroup>, Failure> {
    let call = session.ec2.describe_security_groups();
    let call = call.filters(filter("vpc-id", root_id)).filters(filter("group-name", "default"));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeSecurityGroups"))
}

async fn default_acls(session: &Session, root_id: &str) -> Result<Vec<NetworkAcl>, Failure> {
    let call = session.ec2.describe_network_acls();
    let call = call.filters(filter("vpc-id", root_id)).filters(filter("default", "true"));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeNetworkAcls"))
}

/// The ids of a kind that state knows and AWS has not shown.
fn missing<'a>(
    known: &HashMap<&'a str, &'a Entry>,
    is_kind: impl Fn(&Spec) -> bool,
    is_shown: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut ids: Vec<&str> =
        known.iter().filter(|(id, entry)| is_kind(&entry.applied) && !is_shown(id)).map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests;
