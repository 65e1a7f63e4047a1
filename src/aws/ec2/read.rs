//! The batched read of a network. The number of calls does not depend on the number of subnets.

mod discovered;

use std::collections::{BTreeSet, HashMap};

use aws_sdk_ec2::types::{
    Address, EgressOnlyInternetGateway, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup, Subnet,
    Vpc, VpcEndpoint,
};

use super::network::Network;
use super::observed::{List, Listed, Shown};
use super::route_table::is_main_table;
use super::vpc_ranges::Association;
use super::{
    default_network_acl, egress_only_internet_gateway, eip, flow_log, interface_endpoint, internet_gateway,
    nat_gateway, nat_gateway_addresses, route, route_table, route_table_association, security_group, subnet, tags,
    users, vpc, vpc_cidr_block, vpc_endpoint, vpc_ipv6_block,
};
use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::cloud::{Failure, Known, Seen, Unmanaged};
use crate::model::TopologyKind;
use crate::model::keys::network as keys;
use crate::model::{Classification, Entry, FoundObject, Key, Learned, NetworkLandscape, NetworkUsers, UnmanagedSubnet};

pub(crate) use discovered::discover;

/// The network as AWS returns it. `None` only if AWS reports that neither the VPC nor an object that outlives it
/// exists.
///
/// [`Claims`](super::claims::Claims) decides which objects are managed. Associations and routes have no tags; they are
/// identified by their subnet or route table.
pub(crate) async fn read(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: Known<'_>,
) -> Result<Option<Seen>, Failure> {
    let Known { entries, slots, consented } = known;
    let known: HashMap<&str, &Entry> = entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let network = Network { session, owner, root_id, known: &known, slots, consented };
    let seen = Lists::of(network).await?.seen(network, None);
    Ok(Some(seen).filter(|seen| !seen.objects.is_empty()))
}

/// The objects of a VPC as AWS lists them.
#[derive(Default)]
struct Lists {
    /// If the VPC does not exist, the lists contain only objects that outlive it. After a failed destroy, addresses may
    /// remain, for which AWS charges, and log groups.
    vpc: Option<(Vpc, vpc::Attributes)>,
    subnets: Vec<Subnet>,
    tables: Vec<RouteTable>,
    gateways: Vec<InternetGateway>,
    egress_gateways: Vec<EgressOnlyInternetGateway>,
    nats: Vec<NatGateway>,
    addresses: Vec<Address>,
    endpoints: Vec<VpcEndpoint>,
    /// The default group.
    groups: Vec<SecurityGroup>,
    /// The default ACL.
    acls: Vec<NetworkAcl>,
    other_acls: Vec<NetworkAcl>,
    /// The kinds that no other kind needs.
    others: Vec<List>,
}

impl Lists {
    async fn of(network: Network<'_>) -> Result<Lists, Failure> {
        let Network { session, root_id, .. } = network;
        let (vpcs, attributes, subnets, tables, gateways, egress, nats, addresses, endpoints, groups, acls, flow_logs) = tokio::join!(
            vpc::with_id(session, root_id),
            vpc::read_attributes(session, root_id),
            subnet::in_vpc(session, root_id),
            route_table::in_vpc(session, root_id),
            internet_gateway::list(network),
            egress_only_internet_gateway::list(network),
            nat_gateway::in_vpc(session, root_id),
            eip::list(network),
            vpc_endpoint::in_vpc(session, root_id),
            security_group::lists(network),
            default_network_acl::all_in_vpc(session, root_id),
            flow_log::lists(network),
        );
        let mut others = flow_logs?;
        // DescribeVpcs with a filter is authoritative, and the objects in a VPC are deleted before it.
        let Some(vpc) = vpcs?.into_iter().find(|vpc| vpc.vpc_id() == Some(root_id)) else {
            for list in &mut others {
                list.retain(|it| it.outlives_vpc());
            }
            return Ok(Lists { addresses: addresses?, others, ..Lists::default() });
        };
        let attributes = attributes?;
        let (groups, other_groups) = groups?;
        let endpoints = endpoints?.into_iter().filter(vpc_endpoint::exists);
        let (endpoints, interface) = endpoints.partition::<Vec<_>, _>(vpc_endpoint::is_gateway);
        let interface = interface.into_iter().filter(interface_endpoint::is_managed);
        let interface = interface.map(|it| Box::new(interface_endpoint::Interface(it)) as Box<dyn Listed>);
        others.extend([other_groups, interface.collect()]);
        let (acls, other_acls) = acls?.into_iter().partition(|acl| acl.is_default() == Some(true));
        let mut lists = Lists {
            vpc: Some((vpc, attributes)),
            subnets: subnets?,
            tables: tables?,
            gateways: gateways?,
            egress_gateways: egress?,
            nats: nats?,
            addresses: addresses?,
            endpoints,
            groups,
            acls,
            other_acls,
            others,
        };
        lists.nats.retain(nat_gateway::exists);
        Ok(lists)
    }

    /// The managed objects. With a classification, something else built the network.
    fn seen(&self, network: Network<'_>, classification: Option<&Classification>) -> Seen {
        let network = Network { slots: classification.map(|it| &it.slots).or(network.slots), ..network };
        let Network { root_id, owner, .. } = network;
        let entry = network.known.get(root_id).copied();
        let root = self.vpc.as_ref().map(|(vpc, attributes)| {
            let mut root = vpc::read(owner, root_id, entry, vpc, *attributes, self.learned_of_vpc(vpc));
            if classification.is_some() {
                vpc::name_by_tag(&mut root, vpc);
            }
            root
        });
        let key = root.as_ref().map(|root| &root.key).or(entry.map(|entry| &entry.key)).cloned();
        let mut shown = Shown::new(network, key.unwrap_or_else(|| Key::new(keys::VPC)), &self.tables, &self.nats);
        self.claim(&mut shown);
        shown.add(root);
        let unmanaged = self.add_to(&mut shown);
        let vpc = self.vpc.as_ref().map(|(vpc, _)| vpc);
        let root_state = vpc.and_then(|vpc| tags::value(vpc.tags(), ownership::STATE)).and_then(ownership::state_in);
        let mut seen = Seen { root_state, incomplete: incomplete(vpc, &self.nats), ..shown.into_seen() };
        match classification {
            Some(_) => seen.stacks.extend(self.landscape(network).stacks()),
            None => seen.unmanaged.extend(unmanaged),
        }
        seen.unmanaged.sort();
        seen
    }

    /// Decides which objects are managed: of each kind after those that its evidence names.
    fn claim<'a>(&'a self, shown: &mut Shown<'a>) {
        shown.claim(&self.subnets);
        shown.claim(&self.tables);
        shown.claim(&self.gateways);
        shown.claim(&self.egress_gateways);
        shown.claim(&self.nats);
        shown.claim(&self.addresses);
        shown.claim(&self.endpoints);
        shown.claim_lists(&self.others);
        shown.claim(&self.groups);
        shown.claim(&self.acls);
    }

    /// Adds the managed objects, each after the objects that it refers to. Returns the unmanaged subnets that use the
    /// main route table, and the unmanaged ranges.
    fn add_to(&self, shown: &mut Shown<'_>) -> Vec<Unmanaged> {
        let Lists { subnets, tables, .. } = self;
        let root_id = shown.network.root_id;
        let mut unmanaged = Vec::new();
        if let Some((vpc, _)) = &self.vpc {
            unmanaged.extend(vpc_cidr_block::add_all(shown, vpc, tables));
            unmanaged.extend(vpc_ipv6_block::add_all(shown, vpc, subnets));
        }
        shown.add_all(&self.gateways);
        shown.add_all(&self.egress_gateways);
        shown.add_all(subnets);
        learn_network_acls(shown, subnets, &self.other_acls);
        learn_unmanaged_subnets(shown, root_id, subnets);
        shown.add_all(tables);
        let implicit = implicit_subnets(shown, tables, subnets);
        let of_main_table = self.main_table().map(|main| learn_implicit_subnets(shown, main, &implicit));
        unmanaged.extend(of_main_table.into_iter().flatten());
        route_table_association::add_all(shown, tables);
        shown.add_all(&self.addresses);
        shown.add_all(&self.nats);
        route::add_all(shown, tables);
        shown.add_all(&self.endpoints);
        shown.add_lists(&self.others);
        shown.add_all(&self.acls);
        shown.add_all(&self.groups);
        let users = users::of(shown, (tables, &implicit), &self.endpoints, &self.acls);
        shown.learn(root_id, NetworkUsers::LEARNED.to_string(), users.text());
        unmanaged
    }

    /// The objects for the classification of a foreign network.
    fn landscape(&self, network: Network<'_>) -> NetworkLandscape {
        let shown = Shown::new(network, Key::new(keys::VPC), &[], &[]);
        let egress_gateways = self.egress_gateways.iter().map(|it| it as &dyn Listed);
        let others = egress_gateways.chain(self.others.iter().flatten().map(AsRef::as_ref)).filter_map(|it| {
            let found = FoundObject { id: it.id()?.to_string(), tags: tags::all(it.tags()) };
            Some((found, it.spec(&shown)?))
        });
        let vpc = self.vpc.as_ref().map(|(vpc, _)| vpc);
        let ranges = vpc.into_iter().flat_map(|vpc| vpc_cidr_block::found(&shown, vpc));
        let unexpressed_ranges = vpc.map(vpc_ipv6_block::unexpressed_ranges).unwrap_or_default();
        let text = |of: fn(&Vpc) -> Option<&str>| vpc.and_then(of).unwrap_or_default().to_string();
        NetworkLandscape {
            vpc_id: text(Vpc::vpc_id),
            vpc_tags: vpc.map(|vpc| tags::all(vpc.tags())).unwrap_or_default(),
            vpc_cidr_block: text(Vpc::cidr_block),
            vpc_owner: text(Vpc::owner_id),
            subnets: self.subnets.iter().map(|it| subnet::found(it, &unexpressed_ranges)).collect(),
            route_tables: self.tables.iter().map(Into::into).collect(),
            internet_gateways: self.gateways.iter().map(Into::into).collect(),
            nat_gateways: nat_gateway::found(&self.nats),
            endpoints: self.endpoints.iter().map(Into::into).collect(),
            others: others.chain(ranges).collect(),
            unexpressed: vpc.map(vpc_ipv6_block::unexpressed_reasons).unwrap_or_default(),
            default_network_acl: self.acls.first().map(Into::into),
            default_security_group: self.groups.first().map(Into::into),
        }
    }

    fn main_table(&self) -> Option<&str> {
        self.tables.iter().find(|table| is_main_table(table)).and_then(|table| table.route_table_id())
    }

    /// Further values of the VPC.
    fn learned_of_vpc(&self, vpc: &Vpc) -> Learned {
        let learned = [
            ("owner_id", vpc.owner_id()),
            ("cidr_block", vpc.cidr_block()),
            (keys::DEFAULT_ROUTE_TABLE_ID, self.main_table()),
            ("default_network_acl_id", self.acls.first().and_then(|acl| acl.network_acl_id())),
            ("default_security_group_id", self.groups.first().and_then(|group| group.group_id())),
        ];
        let learned = learned.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string())));
        Learned { unexpressed: vpc::unexpressed(vpc), ..learned.collect() }
    }
}

/// The ids of the pending NAT gateways, which no traffic may be routed to yet, and of the associating ranges.
fn incomplete(vpc: Option<&Vpc>, nats: &[NatGateway]) -> BTreeSet<String> {
    let nats = nats.iter().filter(|nat| nat_gateway_addresses::is_pending(nat)).filter_map(|nat| nat.nat_gateway_id());
    let secondary = vpc.into_iter().flat_map(vpc_cidr_block::associating);
    let blocks = vpc.into_iter().flat_map(|vpc| vpc.ipv6_cidr_block_association_set());
    let blocks = blocks.filter(|block| block.is_associating());
    nats.chain(secondary).chain(blocks.filter_map(|block| block.association_id())).map(str::to_string).collect()
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
        Some(UnmanagedSubnet { id, block: it.cidr_block()?.parse().ok()?, ipv6_block: subnet::ipv6_range(it) })
    });
    let unmanaged: Vec<UnmanagedSubnet> = unmanaged.collect();
    let found = (!unmanaged.is_empty()).then(|| UnmanagedSubnet::join(unmanaged));
    shown.learn(root_id, UnmanagedSubnet::LEARNED.to_string(), found);
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

#[cfg(test)]
mod tests;
