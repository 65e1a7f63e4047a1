//! The objects of a network: one file per kind with the functions `read`, `create`, `update` and `delete` in this
//! order, and one batched read of all kinds.

mod address_users;
mod claims;
pub(crate) mod default_network_acl;
pub(crate) mod default_security_group;
mod dependents;
pub(crate) mod egress_only_internet_gateway;
pub(crate) mod eip;
pub(crate) mod flow_log;
mod group_rules;
mod guardduty;
pub(crate) mod interface_endpoint;
pub(crate) mod internet_gateway;
mod ipam;
pub(crate) mod nat_gateway;
mod nat_gateway_addresses;
mod network;
mod network_acl_rules;
mod observed;
mod obstacles;
mod conflicts;
mod pollers;
mod private_names;
mod read;
pub(crate) mod route;
pub(crate) mod route_table;
pub(crate) mod route_table_association;
pub(crate) mod security_group;
mod security_group_rules;
mod slots;
pub(crate) mod subnet;
pub(crate) mod tags;
mod users;
pub(crate) mod vpc;
pub(crate) mod vpc_cidr_block;
pub(crate) mod vpc_endpoint;
pub(crate) mod vpc_ipv6_block;
mod vpc_ranges;
#[cfg(test)]
pub(crate) mod recorded;

use std::hash::{BuildHasher, Hasher, RandomState};

use aws_sdk_ec2::types::Filter;
use ipnet::Ipv6Net;

use crate::aws::Session;
use crate::cloud::{Failure, Observed};
use crate::model::{Object, TopologyKind};

pub(crate) use dependents::dependents;
pub(crate) use obstacles::obstacles;
pub(crate) use pollers::Pollers;
pub(crate) use read::{discover, read};
pub(crate) use vpc::{mark_root, namesakes, roots};

/// Whether a VPC exists.
pub(crate) async fn exists(session: &Session, vpc_id: &str) -> Result<bool, Failure> {
    Ok(!vpc::with_id(session, vpc_id).await?.is_empty())
}

/// The objects among `objects` that exist with the tags of this network, of the kinds that not every read looks for.
pub(crate) async fn leftovers(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let mut found = flow_log::leftovers(session, owner, root_id, objects).await?;
    found.extend(egress_only_internet_gateway::leftovers(session, owner, root_id, objects).await?);
    Ok(found)
}

/// A filter for a `Describe` call. Filters are preferred to lists of ids, because one missing id in such a list fails
/// the whole call.
fn filter(name: impl Into<String>, value: impl Into<String>) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// A filter that matches any of several values. AWS accepts at most 200.
fn filter_any<T: Into<String>>(name: impl Into<String>, values: impl IntoIterator<Item = T>) -> Filter {
    Filter::builder().name(name).set_values(Some(values.into_iter().map(Into::into).collect())).build()
}

/// An idempotency token. The SDK generates none for endpoints and flow logs.
fn client_token() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// An IPv6 range without host bits; `None` if the text is not a range. AWS writes one range in several ways.
fn ipv6_range(text: &str) -> Option<Ipv6Net> {
    Some(text.parse::<Ipv6Net>().ok()?.trunc())
}
