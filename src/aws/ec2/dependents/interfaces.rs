//! The unmanaged network interfaces of a VPC, in its subnets and security groups. Most dependents are or have one.

use std::net::IpAddr;

use aws_sdk_ec2::types::{Filter, NetworkInterface};
use ipnet::IpNet;

use super::{Finder, groups_among};
use crate::aws::calls::list_all;
use crate::aws::ec2::{filter_any, guardduty, interface_endpoint, nat_gateway};
use crate::cloud::{Dependent, Failure};
use crate::model::{Entry, Spec};

impl Finder<'_> {
    /// Network interfaces, except those of managed NAT gateways and endpoints, which AWS deletes with these.
    /// `is_within` repeats the filter, because not every implementation of the EC2 API applies it.
    pub(super) async fn interfaces(
        &self,
        filter: Filter,
        is_within: impl Fn(&NetworkInterface) -> bool,
    ) -> Result<Vec<Dependent>, Failure> {
        // AWS hides the interfaces of some of its services by default, although they block deletions as well.
        let call = self.session.ec2.describe_network_interfaces().include_managed_resources(true).filters(filter);
        let found = list_all("DescribeNetworkInterfaces", call.into_paginator().items().send()).await?;
        let within = found.iter().filter(|interface| is_within(interface));
        let is_managed = |interface: &&NetworkInterface| {
            let is_endpoint = |id: &str| self.managed.contains(id);
            self.is_of_managed_nat(interface)
                || self.is_known_of_endpoint(interface)
                || interface_endpoint::is_interface_of(interface, is_endpoint)
        };
        let unmanaged = within.filter(|interface| !is_managed(interface));
        Ok(unmanaged.filter_map(|interface| self.interface(interface)).collect())
    }

    /// The network interfaces in these subnets and security groups, and the groups with rules that refer to these.
    pub(super) async fn in_subnets_and_groups(&self, entries: &[&Entry]) -> Vec<Result<Vec<Dependent>, Failure>> {
        let groups = groups_among(entries);
        let subnets = entries.iter().map(|entry| entry.id.as_str()).filter(|id| !groups.contains(id));
        let subnets: Vec<&str> = subnets.collect();
        let mut found = Vec::new();
        if !subnets.is_empty() {
            let in_subnets = |it: &NetworkInterface| it.subnet_id().is_none_or(|id| subnets.contains(&id));
            found.push(self.interfaces(filter_any("subnet-id", subnets.iter().copied()), in_subnets).await);
        }
        if !groups.is_empty() {
            let in_groups = |it: &NetworkInterface| {
                it.groups().iter().filter_map(|group| group.group_id()).any(|id| groups.contains(&id))
            };
            found.push(self.interfaces(filter_any("group-id", groups.iter().copied()), in_groups).await);
            found.push(self.referring_groups(&groups).await);
        }
        match found.iter().position(|list| list.as_ref().is_ok_and(|it| it.iter().any(is_of_endpoint))) {
            Some(first) => {
                let list = found.swap_remove(first);
                found.into_iter().chain(self.with_guardduty(list).await).collect()
            }
            None => found,
        }
    }

    /// Whether the interface belongs to a managed NAT gateway. AWS returns it with the NAT gateway, and writes the ID
    /// of that into its description. The API model and the answers of AWS spell the type differently.
    fn is_of_managed_nat(&self, interface: &NetworkInterface) -> bool {
        let id = interface.network_interface_id();
        if self.known.iter().any(|entry| id.is_some() && nat_gateway::interface_of(entry) == id) {
            return true;
        }
        if !interface.interface_type().is_some_and(|kind| matches!(kind.as_str(), "nat_gateway" | "natGateway")) {
            return false;
        }
        let description = interface.description().unwrap_or_default();
        description.split_whitespace().find(|word| word.starts_with("nat-")).is_none_or(|id| self.managed.contains(id))
    }

    /// Whether AWS has returned the interface with a managed endpoint. Its description need not name the endpoint.
    fn is_known_of_endpoint(&self, interface: &NetworkInterface) -> bool {
        let endpoints = self.known.iter().filter_map(|entry| entry.learned.endpoint.as_ref());
        let mut ids = endpoints.flat_map(|endpoint| &endpoint.network_interfaces);
        ids.any(|id| interface.network_interface_id() == Some(id))
    }

    fn interface(&self, interface: &NetworkInterface) -> Option<Dependent> {
        let kind = interface.interface_type().map(|kind| kind.as_str()).filter(|kind| *kind != "interface");
        let further = [
            kind.map(|kind| format!("type {kind}")),
            interface.requester_id().map(|requester| format!("created by {requester}")),
            interface
                .attachment()
                .and_then(|attachment| attachment.instance_id())
                .map(|instance| format!("attached to instance {instance}")),
        ];
        let addresses = ipv6_addresses(interface).map(|held| match held.prefix_len() {
            128 => format!("address {}", held.addr()),
            _ => format!("prefix {held}"),
        });
        // An internet gateway stays attached while a public address is mapped through it.
        let mapped = interface.association().is_some_and(|it| it.public_ip().is_some());
        let gateways = self.known.iter().filter(|entry| mapped && matches!(entry.applied, Spec::InternetGateway(_)));
        let is_in = |id: &str| interface.groups().iter().any(|group| group.group_id() == Some(id));
        let groups =
            self.known.iter().filter(|entry| matches!(entry.applied, Spec::SecurityGroup(_)) && is_in(&entry.id));
        Some(Dependent {
            kind: "network interface",
            id: interface.network_interface_id()?.to_string(),
            description: interface.description().unwrap_or_default().to_string(),
            further: further.into_iter().flatten().chain(addresses).collect::<Vec<_>>().join(", "),
            owner: interface.owner_id().map(str::to_string),
            guardduty: Vec::new(),
            holds: interface
                .subnet_id()
                .map(str::to_string)
                .into_iter()
                .chain(gateways.chain(groups).map(|entry| entry.id.clone()))
                .collect(),
        })
    }

    /// Marks the network interfaces of GuardDuty. Only interfaces of endpoints take a further call.
    pub(super) async fn with_guardduty(
        &self,
        interfaces: Result<Vec<Dependent>, Failure>,
    ) -> Vec<Result<Vec<Dependent>, Failure>> {
        match interfaces {
            Ok(found) if found.iter().any(is_of_endpoint) => {
                match guardduty::endpoints(self.session, self.root_id).await {
                    Ok(of_guardduty) => vec![Ok(mark_interfaces(found, &of_guardduty))],
                    Err(failure) => vec![Ok(found), Err(failure)],
                }
            }
            found => vec![found],
        }
    }
}

/// The type of the network interfaces of endpoints.
const OF_ENDPOINT: &str = "type vpc_endpoint";

/// The IPv6 addresses and prefixes of a network interface.
pub(super) fn ipv6_addresses(interface: &NetworkInterface) -> impl Iterator<Item = IpNet> {
    let addresses = interface.ipv6_addresses().iter().filter_map(|it| it.ipv6_address()?.parse::<IpAddr>().ok());
    let prefixes = interface.ipv6_prefixes().iter().filter_map(|it| it.ipv6_prefix()?.parse().ok());
    addresses.map(IpNet::from).chain(prefixes)
}

/// Leaves out the network interfaces of deleted NAT gateways. AWS deletes them with the NAT gateway. moto and
/// LocalStack still list them, and delete what they are in.
pub(super) fn without(mut interfaces: Vec<Dependent>, of_deleted: &[String]) -> Vec<Dependent> {
    interfaces.retain(|interface| !of_deleted.contains(&interface.id));
    interfaces
}

/// Marks the network interfaces of the endpoints of GuardDuty.
pub(super) fn mark_interfaces(mut interfaces: Vec<Dependent>, of_guardduty: &[guardduty::Endpoint]) -> Vec<Dependent> {
    for interface in &mut interfaces {
        if let Some(endpoint) = of_guardduty.iter().find(|endpoint| endpoint.interfaces.contains(&interface.id)) {
            interface.guardduty = endpoint.ids();
        }
    }
    interfaces
}

/// Whether the interface belongs to an endpoint.
fn is_of_endpoint(interface: &Dependent) -> bool {
    interface.further.contains(OF_ENDPOINT)
}
