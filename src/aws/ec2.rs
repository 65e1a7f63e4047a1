//! The objects of a network: one file per kind, each with the same functions in the same order (`read`, `create`,
//! `update`, `delete`), and one batched read of them all.

pub(crate) mod default_network_acl;
pub(crate) mod default_security_group;
mod dependents;
pub(crate) mod eip;
mod endpoint_policy;
pub(crate) mod internet_gateway;
mod ipam;
pub(crate) mod nat_gateway;
mod nat_gateway_addresses;
mod network_acl_rules;
mod observed;
mod pollers;
mod read;
pub(crate) mod route;
pub(crate) mod route_table;
pub(crate) mod route_table_association;
mod security_group_rules;
pub(crate) mod subnet;
mod tags;
pub(crate) mod vpc;
pub(crate) mod vpc_endpoint;
pub(crate) mod vpc_ipv6_block;
#[cfg(test)]
pub(crate) mod recorded;

use aws_sdk_ec2::types::Filter;
use ipnet::Ipv6Net;

pub(crate) use dependents::dependents;
pub(crate) use pollers::Pollers;
pub(crate) use read::read;
pub(crate) use vpc::{mark_root, roots, unfinished_roots};

/// Restricts a describing call. Filters are preferred to lists of ids, where one missing id fails the whole call.
fn filter(name: impl Into<String>, value: impl Into<String>) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// The same for any of several values, of which AWS takes at most 200.
fn filter_any<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Filter {
    Filter::builder().name(name).set_values(Some(values.into_iter().map(str::to_string).collect())).build()
}

/// An IPv6 range without host bits, as AWS writes it in more than one way; `None` for what is none.
fn ipv6_range(text: &str) -> Option<Ipv6Net> {
    Some(text.parse::<Ipv6Net>().ok()?.trunc())
}
