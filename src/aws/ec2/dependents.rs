//! Unmanaged objects in a network. `DependencyViolation` does not name the dependents, so they are searched for here,
//! in the subnets to delete or in the whole VPC.

mod interfaces;

use std::collections::HashSet;

use aws_sdk_ec2::types::{
    AttachmentStatus, Filter, NatGatewayState, NetworkInterface, SecurityGroup, Tag, VpcEndpoint, VpcPeeringConnection,
    VpcPeeringConnectionStateReasonCode as Peering,
};
use ipnet::Ipv4Net;

use self::interfaces::{ipv6_addresses, mark_interfaces, without};
use super::route_table::is_main_table;
use super::{filter, filter_any, guardduty, nat_gateway, security_group, tags, vpc_endpoint};
use crate::aws::Session;
use crate::aws::calls::{OrFailure, list_all};
use crate::cloud::{Dependent, DependentScope, Dependents, Failure};
use crate::model::{Entry, Spec, VpcCidrBlock};

/// The unmanaged objects that block the deletion of these subnets, or of the VPC with all its managed objects. The
/// failures of calls are returned together with the objects that the other calls found.
pub(crate) async fn dependents(
    session: &Session,
    root_id: &str,
    within: DependentScope<'_>,
    known: &[Entry],
) -> Dependents {
    let finder = Finder { session, root_id, known, managed: known.iter().map(|entry| entry.id.as_str()).collect() };
    let in_vpc = |interface: &NetworkInterface| interface.vpc_id().is_none_or(|id| id == root_id);
    let found = match within {
        // By default a VPC has at most 200 subnets, which is also the limit of the values of a filter.
        DependentScope::Subnets(ids) => {
            let in_subnets = |interface: &NetworkInterface| interface.subnet_id().is_none_or(|id| ids.contains(&id));
            let interfaces = finder.interfaces(filter_any("subnet-id", ids.iter().copied()), in_subnets).await;
            finder.with_guardduty(interfaces).await
        }
        DependentScope::NetworkInterfaces => vec![finder.interfaces(filter("vpc-id", root_id), in_vpc).await],
        DependentScope::DefaultSecurityGroup => {
            let is_default = |interface: &NetworkInterface| {
                in_vpc(interface) && interface.groups().iter().any(|group| group.group_name() == Some("default"))
            };
            vec![finder.interfaces(filter("vpc-id", root_id), is_default).await]
        }
        DependentScope::Addresses(ids, ranges) => {
            let has_addresses = |interface: &NetworkInterface| {
                interface.subnet_id().is_some_and(|id| ids.contains(&id))
                    && ipv6_addresses(interface).any(|held| ranges.iter().any(|range| range.contains(&held)))
            };
            vec![finder.interfaces(filter_any("subnet-id", ids.iter().copied()), has_addresses).await]
        }
        DependentScope::Domains(_) | DependentScope::LogGroups(_) => vec![],
        DependentScope::Objects(entries, _) if entries.iter().all(|entry| has_own_lists(entry)) => {
            finder.in_subnets_and_groups(entries).await
        }
        DependentScope::Root | DependentScope::Objects(..) => {
            let (interfaces, groups, endpoints, requested, accepted, vpn, egress, nats, subnets, tables, acls, igws) = tokio::join!(
                finder.interfaces(filter("vpc-id", root_id), in_vpc),
                finder.security_groups(),
                finder.endpoints(),
                finder.peerings("requester-vpc-info.vpc-id"),
                finder.peerings("accepter-vpc-info.vpc-id"),
                finder.vpn_gateways(),
                finder.egress_only_gateways(),
                finder.nat_gateways(),
                finder.subnets(),
                finder.route_tables(),
                finder.network_acls(),
                finder.internet_gateways(),
            );
            let subnets = add_route_tables(subnets, &tables);
            let (nats, interfaces) = match nats {
                Ok((nats, ended)) => (Ok(nats), interfaces.map(|found| without(found, &ended))),
                Err(failure) => (Err(failure), interfaces),
            };
            let interfaces = match (interfaces, &endpoints) {
                (Ok(interfaces), Ok((_, of_guardduty))) => Ok(mark_interfaces(interfaces, of_guardduty)),
                (interfaces, _) => interfaces,
            };
            let endpoints = endpoints.map(|(endpoints, _)| endpoints);
            let tables = tables.map(|(tables, _)| tables);
            let referring = match within {
                DependentScope::Objects(entries, _) => finder.referring_groups(&groups_among(entries)).await,
                _ => Ok(Vec::new()),
            };
            let lists =
                [interfaces, groups, endpoints, requested, accepted, vpn, egress, nats, subnets, tables, acls, igws];
            lists.into_iter().chain([referring]).collect()
        }
    };
    Dependents::of(found)
}

/// Whether the users of this object can be listed alone. Those of other kinds are found among all objects of the VPC.
fn has_own_lists(entry: &Entry) -> bool {
    matches!(entry.applied, Spec::Subnet(_) | Spec::SecurityGroup(_))
}

/// The IDs of the managed security groups among these objects.
fn groups_among<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let groups = entries.iter().filter(|entry| matches!(entry.applied, Spec::SecurityGroup(_)));
    groups.map(|entry| entry.id.as_str()).collect()
}

/// Pairs of an unmanaged subnet and the managed route table that it uses.
type Associated = Vec<(String, String)>;

/// A search for the unmanaged objects of one VPC.
struct Finder<'a> {
    session: &'a Session,
    root_id: &'a str,
    known: &'a [Entry],
    /// The ids in state.
    managed: HashSet<&'a str>,
}

impl Finder<'_> {
    /// The id, or `None` if it belongs to a managed object.
    fn unmanaged<'b>(&self, id: Option<&'b str>) -> Option<&'b str> {
        id.filter(|id| !self.managed.contains(id))
    }

    fn in_vpc(&self) -> Filter {
        filter("vpc-id", self.root_id)
    }

    /// The security groups that have rules with these groups as the source or destination.
    async fn referring_groups(&self, ids: &[&str]) -> Result<Vec<Dependent>, Failure> {
        let found = security_group::referring_to(self.session, ids).await?;
        let dependent = |(group, holds): (SecurityGroup, Vec<String>)| {
            let id = group.group_id()?;
            Some(Dependent { holds, ..named_group(&group, id) })
        };
        Ok(found.into_iter().filter_map(dependent).collect())
    }

    /// Security groups, except the default one, which AWS deletes with the VPC.
    async fn security_groups(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_security_groups().filters(self.in_vpc());
        let found = list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?;
        let unmanaged = found.iter().filter(|group| group.group_name() != Some("default"));
        Ok(unmanaged
            .filter_map(|group| {
                let mut dependent = named_group(group, self.unmanaged(group.group_id())?);
                if guardduty::is_group(group, self.root_id) {
                    dependent.guardduty = vec![dependent.id.clone()];
                }
                Some(dependent)
            })
            .collect())
    }

    /// Endpoints of all types, and those of GuardDuty among them. One that is being deleted is left out, but its
    /// network interfaces are listed.
    async fn endpoints(&self) -> Result<(Vec<Dependent>, Vec<guardduty::Endpoint>), Failure> {
        let found = vpc_endpoint::in_vpc(self.session, self.root_id).await?;
        let existing: Vec<&VpcEndpoint> = found.iter().filter(|endpoint| vpc_endpoint::exists(endpoint)).collect();
        let dependents = existing.iter().filter_map(|endpoint| {
            let id = self.unmanaged(endpoint.vpc_endpoint_id())?;
            let mut dependent = named("VPC endpoint", id, endpoint.tags(), endpoint.owner_id());
            dependent.description = endpoint.service_name().unwrap_or_default().to_string();
            dependent.further =
                endpoint.vpc_endpoint_type().map(|kind| format!("type {}", kind.as_str())).unwrap_or_default();
            dependent.holds = self.needed_gateway_endpoints(endpoint);
            dependent.guardduty = guardduty::Endpoint::of(endpoint).map(|it| it.ids()).unwrap_or_default();
            Some(dependent)
        });
        let dependents = dependents.collect();
        Ok((dependents, existing.into_iter().filter_map(guardduty::Endpoint::of).collect()))
    }

    /// The managed gateway endpoints that AWS does not delete while this interface endpoint exists.
    fn needed_gateway_endpoints(&self, endpoint: &VpcEndpoint) -> Vec<String> {
        let options = endpoint.dns_options();
        let is_inbound_only =
            options.and_then(|options| options.private_dns_only_for_inbound_resolver_endpoint()) == Some(true);
        let has_its_service = |entry: &&Entry| match &entry.applied {
            Spec::VpcEndpoint(gateway) => gateway.service_name.known().map(String::as_str) == endpoint.service_name(),
            _ => false,
        };
        self.known.iter().filter(|entry| is_inbound_only && has_its_service(entry)).map(|it| it.id.clone()).collect()
    }

    /// Peering connections in which the VPC is on one `side`, requester or accepter. AWS has a filter for each side.
    async fn peerings(&self, side: &str) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_vpc_peering_connections().filters(filter(side, self.root_id));
        let found = list_all("DescribeVpcPeeringConnections", call.into_paginator().items().send()).await?;
        let unmanaged = found.iter().filter(|it| exists(it));
        Ok(unmanaged
            .filter_map(|it| {
                let sides = [it.requester_vpc_info(), it.accepter_vpc_info()];
                let other = sides.into_iter().flatten().find(|side| side.vpc_id() != Some(self.root_id));
                let id = self.unmanaged(it.vpc_peering_connection_id())?;
                let owner = other.and_then(|other| other.owner_id());
                let mut dependent = named("peering connection", id, it.tags(), None);
                if let Some(vpc_id) = other.and_then(|other| other.vpc_id()) {
                    let account = owner.map(|owner| format!(" in account {owner}")).unwrap_or_default();
                    dependent.further = format!("with {vpc_id}{account}");
                }
                Some(dependent)
            })
            .collect())
    }

    async fn vpn_gateways(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_vpn_gateways().filters(filter("attachment.vpc-id", self.root_id));
        let answer = call.send().await.or_failure("DescribeVpnGateways")?;
        let is_attached = |gateway: &&aws_sdk_ec2::types::VpnGateway| {
            let mut here = gateway.vpc_attachments().iter().filter(|it| it.vpc_id() == Some(self.root_id));
            here.any(|it| it.state() != Some(&AttachmentStatus::Detached))
        };
        Ok(answer
            .vpn_gateways()
            .iter()
            .filter(is_attached)
            .filter_map(|it| Some(named("VPN gateway", self.unmanaged(it.vpn_gateway_id())?, it.tags(), None)))
            .collect())
    }

    /// Egress-only internet gateways. AWS has no filter by VPC for them.
    async fn egress_only_gateways(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_egress_only_internet_gateways();
        let found = list_all("DescribeEgressOnlyInternetGateways", call.into_paginator().items().send()).await?;
        let here = found.iter().filter(|it| it.attachments().iter().any(|at| at.vpc_id() == Some(self.root_id)));
        Ok(here
            .filter_map(|it| {
                let id = self.unmanaged(it.egress_only_internet_gateway_id())?;
                Some(named("egress-only internet gateway", id, it.tags(), None))
            })
            .collect())
    }

    /// NAT gateways in any subnet, and the network interfaces of deleted ones. Unmanaged ones are listed too, as
    /// dependents of the subnet.
    async fn nat_gateways(&self) -> Result<(Vec<Dependent>, Vec<String>), Failure> {
        let call = self.session.ec2.describe_nat_gateways().filter(self.in_vpc());
        let found = list_all("DescribeNatGateways", call.into_paginator().items().send()).await?;
        let unmanaged = found.iter().filter(|gateway| nat_gateway::exists(gateway));
        let dependents = unmanaged.filter_map(|it| {
            let mut dependent = named("NAT gateway", self.unmanaged(it.nat_gateway_id())?, it.tags(), None);
            dependent.further = it.subnet_id().map(|subnet| format!("in {subnet}")).unwrap_or_default();
            Some(dependent)
        });
        let ended = found.iter().filter(|it| it.state() == Some(&NatGatewayState::Deleted));
        let interfaces = ended.flat_map(|it| it.nat_gateway_addresses()).filter_map(|it| it.network_interface_id());
        Ok((dependents.collect(), interfaces.map(str::to_string).collect()))
    }

    async fn subnets(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_subnets().filters(self.in_vpc());
        let found = list_all("DescribeSubnets", call.into_paginator().items().send()).await?;
        Ok(found
            .iter()
            .filter_map(|it| {
                let mut dependent = named("subnet", self.unmanaged(it.subnet_id())?, it.tags(), it.owner_id());
                dependent.further = it.cidr_block().unwrap_or_default().to_string();
                dependent.holds = self.ranges_around(&dependent.further);
                Some(dependent)
            })
            .collect())
    }

    /// The managed secondary ranges with this block, which AWS does not disassociate while a subnet has it.
    fn ranges_around(&self, block: &str) -> Vec<String> {
        let Ok(block) = block.parse::<Ipv4Net>() else { return Vec::new() };
        let contains = |entry: &&Entry| {
            let range = VpcCidrBlock::of(&entry.applied).and_then(|it| it.cidr_block.parse::<Ipv4Net>().ok());
            range.is_some_and(|range| range.contains(&block))
        };
        self.known.iter().filter(contains).map(|entry| entry.id.clone()).collect()
    }

    /// Route tables, except the main one, which AWS deletes with the VPC; and the unmanaged subnets that use managed
    /// tables.
    async fn route_tables(&self) -> Result<(Vec<Dependent>, Associated), Failure> {
        let call = self.session.ec2.describe_route_tables().filters(self.in_vpc());
        let found = list_all("DescribeRouteTables", call.into_paginator().items().send()).await?;
        let unmanaged = found.iter().filter(|table| !is_main_table(table)).filter_map(|table| {
            let id = self.unmanaged(table.route_table_id())?;
            Some(named("route table", id, table.tags(), table.owner_id()))
        });
        let associated = found.iter().flat_map(|table| table.associations()).filter_map(|it| {
            let table = it.route_table_id().filter(|table| self.managed.contains(table))?;
            Some((self.unmanaged(it.subnet_id())?.to_string(), table.to_string()))
        });
        Ok((unmanaged.collect(), associated.collect()))
    }

    /// Network ACLs, except the default one, which AWS deletes with the VPC.
    async fn network_acls(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_network_acls();
        let call = call.filters(self.in_vpc()).filters(filter("default", "false"));
        let found = list_all("DescribeNetworkAcls", call.into_paginator().items().send()).await?;
        Ok(found
            .iter()
            .filter_map(|it| Some(named("network ACL", self.unmanaged(it.network_acl_id())?, it.tags(), it.owner_id())))
            .collect())
    }

    async fn internet_gateways(&self) -> Result<Vec<Dependent>, Failure> {
        let call = self.session.ec2.describe_internet_gateways().filters(filter("attachment.vpc-id", self.root_id));
        let found = list_all("DescribeInternetGateways", call.into_paginator().items().send()).await?;
        Ok(found
            .iter()
            .filter_map(|it| {
                let id = self.unmanaged(it.internet_gateway_id())?;
                Some(named("internet gateway", id, it.tags(), it.owner_id()))
            })
            .collect())
    }
}

/// A security group with its name as the description.
fn named_group(group: &SecurityGroup, id: &str) -> Dependent {
    let mut dependent = named("security group", id, group.tags(), group.owner_id());
    dependent.description = group.group_name().unwrap_or_default().to_string();
    dependent.further = group.description().unwrap_or_default().to_string();
    dependent
}

/// A dependent with its Name tag as the description.
fn named(kind: &'static str, id: &str, its_tags: &[Tag], owner: Option<&str>) -> Dependent {
    Dependent {
        kind,
        id: id.to_string(),
        description: tags::value(its_tags, "Name").unwrap_or_default().to_string(),
        further: String::new(),
        owner: owner.map(str::to_string),
        holds: Vec::new(),
        guardduty: Vec::new(),
    }
}

/// Whether the peering connection exists. AWS returns one for some hours after its end.
fn exists(peering: &VpcPeeringConnection) -> bool {
    let code = peering.status().and_then(|status| status.code());
    !matches!(code, Some(Peering::Deleted | Peering::Deleting | Peering::Expired | Peering::Failed | Peering::Rejected))
}

/// Adds the managed route table that each unmanaged subnet uses to the objects that the subnet blocks.
fn add_route_tables(
    subnets: Result<Vec<Dependent>, Failure>,
    tables: &Result<(Vec<Dependent>, Associated), Failure>,
) -> Result<Vec<Dependent>, Failure> {
    let mut subnets = subnets?;
    for (subnet, table) in tables.iter().flat_map(|(_, associated)| associated) {
        if let Some(dependent) = subnets.iter_mut().find(|dependent| dependent.id == *subnet) {
            dependent.holds.push(table.clone());
        }
    }
    Ok(subnets)
}

#[cfg(test)]
mod tests;
