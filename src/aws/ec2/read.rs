//! The batched read of a network. The number of calls does not depend on the number of subnets.

mod calls;
mod discovered;
mod flow_logs;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_ec2::types::{
    Address, FlowLog, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup, Subnet, Vpc, VpcEndpoint,
    VpcIpv6CidrBlockAssociation,
};
use ipnet::Ipv6Net;

use super::{
    default_network_acl, default_security_group, eip, internet_gateway, landscape, nat_gateway, nat_gateway_addresses,
    route, route_table, route_table_association, subnet, tags, users, vpc, vpc_endpoint, vpc_ipv6_block,
};
use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::aws::ec2::claims::{Claims, Ours, is_main_table};
use crate::aws::ec2::observed::Shown;
use crate::aws::ec2::slots::tier_and_index;
use crate::cloud::{Failure, Known, Seen, Unmanaged};
use crate::model::Input;
use crate::model::TopologyKind;
use crate::model::keys::network as keys;
use crate::model::{Classification, Entry, Key, Learned, NetworkLandscape, NetworkUsers, Spec, Tier, UnmanagedSubnet};

use flow_logs::{LogGroup, add_flow_logs, add_log_groups};

pub(crate) use discovered::discover;
pub(crate) use flow_logs::leftovers;

/// The network as AWS returns it. `None` only if AWS reports that neither the VPC nor an address of it exists.
///
/// [`Claims`] decides which objects are managed. Associations and routes have no tags; they are identified by their
/// subnet or route table.
pub(crate) async fn read(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: Known<'_>,
) -> Result<Option<Seen>, Failure> {
    let Known { entries, slots, consented } = known;
    let known: HashMap<&str, &Entry> = entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let network = Network { session, owner, root_id, known: &known, slots, consented };
    Ok(match network.list().await? {
        Listed::Vpc(lists) => Some(network.seen(&lists, None)),
        Listed::Rest { addresses, log_groups } => {
            let root = known.get(root_id).map_or_else(|| Key::new(keys::VPC), |entry| entry.key.clone());
            let mut claims = network.claims(slots);
            claims.addresses(&addresses, &[], |id| is_given(&known, id));
            claims.log_groups(&log_groups);
            let mut shown = Shown::new(root_id, root, &known, claims);
            add_addresses(&mut shown, &addresses);
            add_log_groups(&mut shown, &log_groups);
            Some(shown.into_seen()).filter(|seen| !seen.objects.is_empty())
        }
    })
}

/// A network to read, with what is known of it.
#[derive(Clone, Copy)]
struct Network<'a> {
    session: &'a Session,
    owner: TopologyKind,
    root_id: &'a str,
    known: &'a HashMap<&'a str, &'a Entry>,
    slots: Option<&'a BTreeMap<String, String>>,
    consented: Option<&'a BTreeMap<String, String>>,
}

/// What AWS lists.
enum Listed {
    /// The VPC and the objects in it.
    Vpc(Box<Lists>),
    /// The VPC does not exist. After a failed destroy, addresses may remain, for which AWS charges, and log groups.
    Rest { addresses: Vec<Address>, log_groups: Vec<LogGroup> },
}

impl<'a> Network<'a> {
    async fn list(&self) -> Result<Listed, Failure> {
        let Network { session, owner, root_id, known, slots, consented } = *self;
        let (vpcs, attributes, subnets, tables, gateways, nats, addresses, endpoints, groups, acls, flow_logs) = tokio::join!(
            vpc::with_id(session, root_id),
            vpc::read_attributes(session, root_id),
            subnet::in_vpc(session, root_id),
            calls::route_tables(session, root_id),
            calls::internet_gateways(session, owner, root_id, known, slots),
            calls::nat_gateways(session, root_id),
            calls::addresses(session, owner, root_id, known, [slots, consented]),
            vpc_endpoint::in_vpc(session, root_id),
            calls::default_groups(session, root_id),
            calls::network_acls(session, root_id),
            flow_logs::listed(session, owner, root_id, known, slots, consented),
        );
        let (flow_logs, log_groups) = flow_logs?;
        // DescribeVpcs with a filter is authoritative, and the objects in a VPC are deleted before it.
        let Some(vpc) = vpcs?.into_iter().find(|vpc| vpc.vpc_id() == Some(root_id)) else {
            return Ok(Listed::Rest { addresses: addresses?, log_groups });
        };
        let attributes = attributes?;
        let (acls, other_acls) = acls?.into_iter().partition(|acl| acl.is_default() == Some(true));
        let mut lists = Lists {
            vpc,
            attributes,
            subnets: subnets?,
            tables: tables?,
            gateways: gateways?,
            nats: nats?,
            addresses: addresses?,
            endpoints: endpoints?,
            flow_logs,
            log_groups,
            groups: groups?,
            acls,
            other_acls,
        };
        lists.nats.retain(nat_gateway::exists);
        lists.endpoints.retain(|it| vpc_endpoint::exists(it) && vpc_endpoint::is_gateway(it));
        Ok(Listed::Vpc(Box::new(lists)))
    }

    fn claims(&self, slots: Option<&'a BTreeMap<String, String>>) -> Claims<'a> {
        let resource = ownership::resource(self.owner, self.root_id);
        Claims::new(self.root_id, resource, self.known, slots, self.consented)
    }

    /// The managed objects. With a classification, something else built the network.
    fn seen(&self, lists: &Lists, classification: Option<&Classification>) -> Seen {
        let Network { session, owner, root_id, known, .. } = *self;
        let Lists { vpc, attributes, nats, endpoints, .. } = lists;
        let entry = known.get(root_id).copied();
        let mut root = vpc::read(owner, root_id, entry, vpc, *attributes, lists.learned_of_vpc());
        if classification.is_some() {
            landscape::name(&mut root, vpc);
        }
        let mut claims = self.claims(classification.map(|it| &it.slots).or(self.slots));
        lists.claim(&mut claims, known);
        let mut shown = Shown::new(root_id, root.key.clone(), known, claims);
        shown.add(Some(root));
        let unmanaged = lists.add_to(&mut shown, root_id, &session.scope.region);
        let root_state = tags::value(vpc.tags(), ownership::STATE).and_then(ownership::state_in);
        let (incomplete, created) = (incomplete(vpc, nats), created(nats, endpoints));
        let mut seen = Seen { root_state, incomplete, created, ..shown.into_seen() };
        match classification {
            Some(_) => seen.stacks.extend(lists.landscape().stacks()),
            None => seen.unmanaged.extend(unmanaged),
        }
        seen.unmanaged.sort();
        seen
    }
}

/// The objects of a VPC as AWS lists them.
struct Lists {
    vpc: Vpc,
    attributes: vpc::Attributes,
    subnets: Vec<Subnet>,
    tables: Vec<RouteTable>,
    gateways: Vec<InternetGateway>,
    nats: Vec<NatGateway>,
    addresses: Vec<Address>,
    endpoints: Vec<VpcEndpoint>,
    flow_logs: Vec<FlowLog>,
    /// Those that the network creates for flow logs.
    log_groups: Vec<LogGroup>,
    /// The default group.
    groups: Vec<SecurityGroup>,
    /// The default ACL.
    acls: Vec<NetworkAcl>,
    other_acls: Vec<NetworkAcl>,
}

impl Lists {
    fn landscape(&self) -> NetworkLandscape {
        let Lists { vpc, subnets, tables, gateways, nats, endpoints, groups, acls, .. } = self;
        let mut landscape = landscape::of(vpc, subnets, tables, gateways, nats, endpoints);
        landscape::add_defaults(&mut landscape, acls, groups);
        landscape.flow_logs = self.flow_logs.iter().map(landscape::flow_log).collect();
        landscape
    }

    fn main_table(&self) -> Option<&str> {
        self.tables.iter().find(|table| is_main_table(table)).and_then(|table| table.route_table_id())
    }

    /// Further values of the VPC.
    fn learned_of_vpc(&self) -> Learned {
        let learned = [
            ("owner_id", self.vpc.owner_id()),
            ("cidr_block", self.vpc.cidr_block()),
            (keys::DEFAULT_ROUTE_TABLE_ID, self.main_table()),
            ("default_network_acl_id", self.acls.first().and_then(|acl| acl.network_acl_id())),
            ("default_security_group_id", self.groups.first().and_then(|group| group.group_id())),
        ];
        learned.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect()
    }

    /// Decides which of these objects are managed.
    fn claim<'a>(&'a self, claims: &mut Claims<'a>, known: &HashMap<&str, &Entry>) {
        claims.subnets(&self.subnets);
        claims.route_tables(&self.tables);
        claims.internet_gateways(&self.gateways, &self.tables);
        claims.nat_gateways(&self.nats, &self.tables);
        claims.addresses(&self.addresses, &self.nats, |id| is_given(known, id));
        claims.endpoints(&self.endpoints);
        claims.log_groups(&self.log_groups);
        claims.flow_logs(&self.flow_logs);
        claims.defaults(&self.groups, &self.acls);
    }

    /// Adds the managed objects, each after the objects that it refers to. Returns the unmanaged subnets that use the
    /// main route table.
    fn add_to(&self, shown: &mut Shown<'_>, root_id: &str, region: &str) -> Vec<Unmanaged> {
        let Lists { vpc, subnets, tables, .. } = self;
        add_ipv6_blocks(shown, vpc, subnets, region);
        add_internet_gateways(shown, &self.gateways);
        add_subnets(shown, subnets);
        learn_network_acls(shown, subnets, &self.other_acls);
        learn_unmanaged_subnets(shown, root_id, subnets);
        add_route_tables(shown, tables);
        let implicit = implicit_subnets(shown, tables, subnets);
        let unmanaged = self.main_table().map(|main| learn_implicit_subnets(shown, main, &implicit));
        add_associations(shown, tables);
        add_addresses(shown, &self.addresses);
        add_nat_gateways(shown, &self.nats);
        add_routes(shown, tables);
        add_endpoints(shown, &self.endpoints);
        add_log_groups(shown, &self.log_groups);
        add_flow_logs(shown, &self.flow_logs);
        add_default_acl(shown, &self.acls);
        add_default_group(shown, &self.groups);
        let users = users::of(shown, (tables, &implicit), &self.endpoints, &self.acls);
        shown.learn(root_id, NetworkUsers::LEARNED.to_string(), users.text());
        unmanaged.into_iter().flatten().collect()
    }
}

/// Whether the configuration last applied gives an object in state an address by this id.
fn is_given(known: &HashMap<&str, &Entry>, id: &str) -> bool {
    known.values().any(|entry| entry.applied.is_given(id))
}

/// The ids of the pending NAT gateways, which no traffic may be routed to yet, and of the associating IPv6 ranges.
fn incomplete(vpc: &Vpc, nats: &[NatGateway]) -> BTreeSet<String> {
    let nats = nats.iter().filter(|nat| nat_gateway_addresses::is_pending(nat)).filter_map(|nat| nat.nat_gateway_id());
    let blocks = vpc.ipv6_cidr_block_association_set().iter().filter(|block| vpc_ipv6_block::is_associating(block));
    nats.chain(blocks.filter_map(|block| block.association_id())).map(str::to_string).collect()
}

/// Adds the VPC's IPv6 ranges that are in state. Ranges have no tags, so a first read, without state, adopts the range
/// that contains the range of a managed subnet. If no managed subnet has an IPv6 range, because a run was interrupted,
/// it adopts the only range that no subnet uses, if there is exactly one. A network has one range of each source: of
/// several, it adopts the one that public subnets use. All other ranges are unmanaged. No subnet uses a range that is
/// associating, which AWS returns as an empty one.
fn add_ipv6_blocks(shown: &mut Shown<'_>, vpc: &Vpc, subnets: &[Subnet], region: &str) {
    let (managed, unmanaged): (Vec<&Subnet>, Vec<&Subnet>) =
        subnets.iter().partition(|it| shown.ours(it.subnet_id()).is_some());
    let ranges_of =
        |subnets: Vec<&Subnet>| -> Vec<Ipv6Net> { subnets.into_iter().filter_map(subnet::ipv6_range).collect() };
    let is_public = |it: &&Subnet| match shown.ours(it.subnet_id()) {
        Some(Ours::State(entry)) => tier_and_index(&entry.key.slot).is_some_and(|(tier, _)| tier == Tier::Public),
        Some(Ours::Slot(slot)) => tier_and_index(slot).is_some_and(|(tier, _)| tier == Tier::Public),
        None => false,
    };
    let public = ranges_of(managed.iter().copied().filter(is_public).collect());
    let (managed, unmanaged) = (ranges_of(managed), ranges_of(unmanaged));
    let blocks = vpc.ipv6_cidr_block_association_set().iter().filter(|block| vpc_ipv6_block::exists(block));
    let is_used = |block: &VpcIpv6CidrBlockAssociation, by: &[Ipv6Net]| {
        vpc_ipv6_block::range(block).is_some_and(|whole| by.iter().any(|range| whole.contains(range)))
    };
    let unused: Vec<Option<&str>> =
        blocks.clone().filter(|block| !is_used(block, &unmanaged)).map(|block| block.association_id()).collect();
    let is_adopted = |block: &VpcIpv6CidrBlockAssociation| match managed.is_empty() {
        true => unused == [block.association_id()],
        false => is_used(block, &managed),
    };
    let first_read = shown.is_first_read();
    let mut blocks: Vec<&VpcIpv6CidrBlockAssociation> = blocks.collect();
    blocks.sort_by_key(|block| !is_used(block, &public));
    let mut adopted = BTreeSet::new();
    for block in blocks {
        let known = block.association_id().and_then(|id| shown.known(id));
        let (key, source) = match known {
            Some(Entry { key, applied: Spec::VpcIpv6Block(applied), .. }) => (key.clone(), applied.source.clone()),
            None if first_read && is_adopted(block) => {
                let source = vpc_ipv6_block::source(block, region);
                let key = keys::ipv6_cidr_block(&source);
                if !adopted.insert(key.clone()) {
                    continue;
                }
                (key, source)
            }
            _ => continue,
        };
        shown.add(vpc_ipv6_block::read(shown, key, source, block));
    }
}

/// The times of creation by id, of the kinds for which EC2 returns one.
fn created(nats: &[NatGateway], endpoints: &[VpcEndpoint]) -> BTreeMap<String, String> {
    let nats = nats.iter().map(|it| (it.nat_gateway_id(), it.create_time.as_ref()));
    let endpoints = endpoints.iter().map(|it| (it.vpc_endpoint_id(), it.creation_timestamp()));
    nats.chain(endpoints).filter_map(|(id, time)| Some((id?.to_string(), time?.to_string()))).collect()
}

fn add_internet_gateways(shown: &mut Shown<'_>, gateways: &[InternetGateway]) {
    for gateway in gateways {
        let key = match shown.ours(gateway.internet_gateway_id()) {
            Some(Ours::State(entry)) => entry.key.clone(),
            Some(Ours::Slot(slot)) => Key::new(slot),
            None => continue,
        };
        shown.add(internet_gateway::read(shown, key, gateway));
    }
}

fn add_subnets(shown: &mut Shown<'_>, subnets: &[Subnet]) {
    for it in subnets {
        let (place, key) = match shown.ours(it.subnet_id()) {
            Some(Ours::State(Entry { key, applied: Spec::Subnet(applied), .. })) => {
                ((applied.tier, applied.index), key.clone())
            }
            Some(Ours::Slot(slot)) => {
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

/// Records, for each managed subnet, the ACL with which it is associated instead of the default one.
fn learn_network_acls(shown: &mut Shown<'_>, subnets: &[Subnet], others: &[NetworkAcl]) {
    for subnet_id in subnets.iter().filter_map(|subnet| subnet.subnet_id()) {
        let mut associations = others.iter().flat_map(|acl| acl.associations());
        let acl = associations.find(|it| it.subnet_id() == Some(subnet_id)).and_then(|it| it.network_acl_id());
        if let Some(learned) = shown.learned_of(subnet_id) {
            learned.network_acl_id = acl.map(str::to_string);
        }
    }
}

/// Records the blocks of unmanaged subnets as a learned value of the VPC.
fn learn_unmanaged_subnets(shown: &mut Shown<'_>, root_id: &str, subnets: &[Subnet]) {
    let unmanaged = subnets.iter().filter_map(|it| {
        let id = it.subnet_id().filter(|id| shown.key(id).is_none())?.to_string();
        Some(UnmanagedSubnet { id, block: it.cidr_block()?.parse().ok()? })
    });
    let unmanaged: Vec<UnmanagedSubnet> = unmanaged.collect();
    let found = (!unmanaged.is_empty()).then(|| UnmanagedSubnet::join(unmanaged));
    shown.learn(root_id, UnmanagedSubnet::LEARNED.to_string(), found);
}

fn add_route_tables(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for table in tables {
        let (key, applied) = match shown.ours(table.route_table_id()) {
            Some(Ours::State(Entry { key, applied: Spec::RouteTable(applied), .. })) => (key.clone(), Some(applied)),
            Some(Ours::Slot(slot)) => (Key::new(slot), None),
            _ => continue,
        };
        shown.add(route_table::read(shown, key, applied, table));
    }
}

/// The unmanaged subnets that the main route table serves because they have no association. Managed subnets must have
/// been added.
fn implicit_subnets<'a>(shown: &Shown<'_>, tables: &[RouteTable], subnets: &'a [Subnet]) -> Vec<&'a str> {
    let associated: BTreeSet<&str> =
        tables.iter().flat_map(|table| table.associations()).filter_map(|it| it.subnet_id()).collect();
    let ids = subnets.iter().filter_map(|subnet| subnet.subnet_id());
    ids.filter(|id| !associated.contains(id) && shown.key(id).is_none()).collect()
}

/// Records them in the main route table. Returns them if the table is managed. Route tables must have been added.
fn learn_implicit_subnets(shown: &mut Shown<'_>, main: &str, implicit: &[&str]) -> Vec<Unmanaged> {
    let Some(learned) = shown.learned_of(main) else { return Vec::new() };
    learned.implicit_subnets = implicit.iter().map(|id| (*id).to_string()).collect();
    let reason = format!("it has no route table of its own and uses {main}, the main route table");
    let unmanaged = |id: &str| Unmanaged { id: id.into(), slot: None, is_tagged: false, reason: reason.clone() };
    implicit.iter().copied().map(unmanaged).collect()
}

/// Adds the associations of managed subnets, with any route table.
fn add_associations(shown: &mut Shown<'_>, tables: &[RouteTable]) {
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

fn add_addresses(shown: &mut Shown<'_>, addresses: &[Address]) {
    for address in addresses {
        let key = match shown.ours(address.allocation_id()) {
            Some(Ours::State(entry)) => entry.key.clone(),
            Some(Ours::Slot(slot)) => Key::new(slot),
            None => continue,
        };
        shown.add(eip::read(shown, key, address));
    }
}

fn add_nat_gateways(shown: &mut Shown<'_>, gateways: &[NatGateway]) {
    for gateway in gateways {
        if let Some(ours) = shown.ours(gateway.nat_gateway_id()) {
            shown.add(nat_gateway::read(shown, ours, gateway));
        }
    }
}

/// Adds the routes of managed tables that are in state, and default routes to managed gateways. All other routes are
/// unmanaged, and recorded as learned values of their table.
fn add_routes(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for table in tables {
        let Some(table_id) = table.route_table_id() else { continue };
        let Some(key) = shown.key(table_id).cloned() else { continue };
        for it in table.routes() {
            shown.add(route::read(shown, &key, table_id, it));
        }
        let unmanaged = table.routes().iter().filter_map(|it| route::unmanaged(shown, &key, table_id, it));
        let unmanaged: Vec<(String, String)> = unmanaged.collect();
        if let Some(learned) = shown.learned_of(table_id) {
            learned.unmanaged_routes = unmanaged;
        }
    }
}

fn add_endpoints(shown: &mut Shown<'_>, endpoints: &[VpcEndpoint]) {
    for endpoint in endpoints {
        let (key, applied) = match shown.ours(endpoint.vpc_endpoint_id()) {
            Some(Ours::State(Entry { key, applied: Spec::VpcEndpoint(applied), .. })) => (key.clone(), Some(applied)),
            Some(Ours::Slot(slot)) => {
                (Key::fixed(slot, Input::Known(endpoint.service_name().unwrap_or_default().to_string())), None)
            }
            _ => continue,
        };
        shown.add(vpc_endpoint::read(shown, key, applied, endpoint));
    }
}

fn add_default_acl(shown: &mut Shown<'_>, acls: &[NetworkAcl]) {
    for acl in acls {
        let (key, applied) = match shown.ours(acl.network_acl_id()) {
            Some(Ours::State(Entry { key, applied: Spec::DefaultNetworkAcl(applied), .. })) => {
                (key.clone(), Some(applied))
            }
            Some(Ours::Slot(_)) => (keys::default_network_acl(), None),
            _ => continue,
        };
        shown.add(default_network_acl::read(shown, key, applied, acl));
    }
}

fn add_default_group(shown: &mut Shown<'_>, groups: &[SecurityGroup]) {
    for group in groups {
        let (key, applied) = match shown.ours(group.group_id()) {
            Some(Ours::State(Entry { key, applied: Spec::DefaultSecurityGroup(applied), .. })) => {
                (key.clone(), Some(applied))
            }
            Some(Ours::Slot(_)) => (keys::default_security_group(), None),
            _ => continue,
        };
        shown.add(default_security_group::read(shown, key, applied, group));
    }
}

#[cfg(test)]
mod tests;
