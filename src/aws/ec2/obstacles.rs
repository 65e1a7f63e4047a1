//! The unmanaged objects because of which AWS would reject a create or a change, before the first call of an apply.
//!
//! A plan reports them, and an apply only if they appear after its plan: with the same texts, which are in the files of
//! the kinds.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::types::{self as ec2, VpcEndpoint as Endpoint};

use super::conflicts::{self, Text};
use super::{address_users, egress_only_internet_gateway, eip, filter_any, flow_log, nat_gateway, private_names};
use super::{security_group, tags, vpc_endpoint};
use crate::aws::Session;
use crate::cloud::{Begun, Failure, Obstacle};
use crate::model::{
    EgressOnlyInternetGateway, Entry, FlowLog, Input, InterfaceEndpoint, Key, NatGateway, Ref, SecurityGroup,
    VpcEndpoint,
};

/// The obstacles of a network. A new VPC contains none.
pub(crate) async fn obstacles(
    session: &Session,
    vpc_id: Option<&str>,
    begun: &[Begun<'_>],
    existing: &[Entry],
) -> Result<Vec<Obstacle>, Failure> {
    let mut found = of_addresses(session, begun, existing).await?;
    if let Some(vpc_id) = vpc_id {
        found.extend(in_vpc(session, vpc_id, begun, existing).await?);
    }
    Ok(found)
}

async fn in_vpc(
    session: &Session,
    vpc_id: &str,
    begun: &[Begun<'_>],
    existing: &[Entry],
) -> Result<Vec<Obstacle>, Failure> {
    let mut found = of_endpoints(session, vpc_id, begun, existing).await?;
    let is_managed = |id: &str| existing.iter().any(|entry| entry.id == id);
    let new = || begun.iter().filter(|it| it.before.is_none());
    let groups: Vec<&Key> = new().filter(|it| SecurityGroup::of(it.spec).is_some()).map(|it| it.key).collect();
    if !groups.is_empty() {
        let others = security_group::all_in_vpc(session, vpc_id).await?;
        for key in groups {
            let name = security_group::name_of(&key.slot);
            let other = others.iter().find(|it| security_group::has_name(it, &name));
            add(&mut found, key, other.and_then(|it| Some((it.group_id()?, security_group::occupied(&key.slot, it)?))));
        }
    }
    let logs: Vec<(&Key, &FlowLog)> = new().filter_map(|it| Some((it.key, FlowLog::of(it.spec)?))).collect();
    if !logs.is_empty() {
        let mut others = flow_log::of_vpc(session, vpc_id).await?;
        others.retain(|it| !it.flow_log_id().is_some_and(is_managed));
        for (key, spec) in logs {
            let other = flow_log::equal(&others, spec).and_then(|it| it.flow_log_id());
            add(&mut found, key, other.map(|id| (id, flow_log::taken(&key.slot, id, spec))));
        }
    }
    if let Some(begun) = new().find(|it| EgressOnlyInternetGateway::of(it.spec).is_some()) {
        let other = egress_only_internet_gateway::in_vpc(session, vpc_id).await?;
        let text = other.as_deref().map(|id| (id, egress_only_internet_gateway::occupied(vpc_id, id)));
        add(&mut found, begun.key, text);
    }
    found.retain(|it| !is_managed(&it.id));
    Ok(found)
}

fn add(found: &mut Vec<Obstacle>, key: &Key, other: Option<(&str, Text)>) {
    found.extend(other.map(|(id, (message, hint))| Obstacle {
        key: key.clone(),
        id: id.to_string(),
        owner: None,
        message,
        hint,
    }));
}

/// What uses the addresses of the user that new NAT gateways get.
async fn of_addresses(session: &Session, begun: &[Begun<'_>], existing: &[Entry]) -> Result<Vec<Obstacle>, Failure> {
    let new = begun.iter().filter(|it| it.before.is_none());
    let new = new.filter_map(|it| {
        let spec = NatGateway::of(it.spec)?;
        Some((nat_gateway::given_address(spec)?, (it.key, &spec.subnet)))
    });
    let new: BTreeMap<&str, (&Key, &Key)> = new.collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let mut addresses = eip::describe(session.ec2.clone(), filter_any("allocation-id", new.keys().copied())).await?;
    addresses.retain(|it| address_users::user_of(it).is_some());
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let gateways = nat_gateway::of_account(session).await?;
    let mut found = Vec::new();
    for address in &addresses {
        let Some((id, user)) = address.allocation_id().zip(address_users::user_of(address)) else { continue };
        let Some((key, subnet)) = new.get(id) else { continue };
        let uses = |it: &&ec2::NatGateway| {
            it.nat_gateway_addresses()
                .iter()
                .any(|it| it.allocation_id() == Some(id) || it.network_interface_id() == Some(user))
        };
        let gateway = gateways.iter().filter(uses).max_by_key(|it| nat_gateway::exists(it));
        let Some((gateway, gateway_id)) = gateway.and_then(|it| Some((it, it.nat_gateway_id()?))) else {
            let (message, hint) = address_users::associated(address, user);
            found.push(Obstacle { key: (*key).clone(), id: user.to_string(), owner: None, message, hint });
            continue;
        };
        // A create waits until a deleted one has released its address.
        if !nat_gateway::exists(gateway) || existing.iter().any(|entry| entry.id == gateway_id) {
            continue;
        }
        let is_at = |entry: &Entry| entry.key == **subnet && Some(entry.id.as_str()) == gateway.subnet_id();
        let slot = existing.iter().any(is_at).then_some(key.slot.as_str());
        let owner = tags::resource(gateway.tags()).and_then(|it| it.split_once('/')).map(|(_, root_id)| root_id);
        let (message, hint) = address_users::of_nat_gateway(id, (gateway_id, owner), slot);
        let owner = owner.map(str::to_string);
        found.push(Obstacle { key: (*key).clone(), id: gateway_id.to_string(), owner, message, hint });
    }
    Ok(found)
}

/// Endpoints with the private names of a service, or with routes to it.
async fn of_endpoints(
    session: &Session,
    vpc_id: &str,
    begun: &[Begun<'_>],
    existing: &[Entry],
) -> Result<Vec<Obstacle>, Failure> {
    let has_names = |it: &InterfaceEndpoint| it.private_dns_enabled == Input::Known(true);
    let gains_names = |it: &&Begun<'_>| !it.before.and_then(InterfaceEndpoint::of).is_some_and(has_names);
    let named = begun.iter().filter(gains_names);
    let named = named.filter_map(|it| Some((it.key, InterfaceEndpoint::of(it.spec).filter(|it| has_names(it))?)));
    let named: Vec<(&Key, &String)> = named.filter_map(|(key, it)| Some((key, it.service_name.known()?))).collect();
    let id_of = |table: &Ref| match table {
        Ref::Key(key) => existing.iter().find(|entry| entry.key == *key).map(|entry| entry.id.clone()),
        Ref::Id(id) => Some(id.clone()),
    };
    let routed = begun.iter().filter_map(|it| {
        let (before, after) = (it.before.and_then(VpcEndpoint::of), VpcEndpoint::of(it.spec)?);
        let is_new = |table: &&Ref| before.is_none_or(|before| !before.route_tables.contains(table));
        let tables: BTreeSet<String> = after.route_tables.iter().filter(is_new).filter_map(id_of).collect();
        Some((it.key, after.service_name.known()?, tables)).filter(|(.., tables)| !tables.is_empty())
    });
    let routed: Vec<(&Key, &String, BTreeSet<String>)> = routed.collect();
    let mut found = Vec::new();
    if named.is_empty() && routed.is_empty() {
        return Ok(found);
    }
    let mut others = vpc_endpoint::in_vpc(session, vpc_id).await?;
    others.retain(|it| !existing.iter().any(|entry| Some(entry.id.as_str()) == it.vpc_endpoint_id()));
    for (key, service) in named {
        let other = others.iter().find(|it| private_names::has_names(it, service));
        let text = |it: &'_ Endpoint| private_names::taken(&key.slot, it, service);
        add(&mut found, key, other.and_then(|it| Some((it.vpc_endpoint_id()?, text(it)))));
    }
    for (key, service, tables) in routed {
        let tables: Vec<String> = tables.into_iter().collect();
        let other = others.iter().find(|it| conflicts::has_routes(it, service, &tables));
        let text = |it: &'_ Endpoint| conflicts::routes(it, service, &tables);
        add(&mut found, key, other.and_then(|it| Some((it.vpc_endpoint_id()?, text(it)))));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
