//! The objects of a network: one file per kind, each with the same functions in the same order (`read`, `create`,
//! `update`, `delete`), and one batched read of them all.

mod default_security_group;
mod eip;
mod internet_gateway;
mod nat_gateway;
mod nat_gateway_poller;
mod network;
mod network_interfaces;
mod policy;
mod route;
mod route_table;
mod route_table_association;
mod security_group_rules;
mod shown;
mod subnet;
mod tags;
mod vpc;
mod vpc_endpoint;
mod without_token;

use aws_sdk_ec2::types::Filter;

use super::Operation;
use crate::cloud::Failure;
use crate::objects::{Entry, Spec};

pub(crate) use nat_gateway_poller::NatGatewayPoller;
pub(crate) use network::read;
pub(crate) use vpc::{mark_root, unfinished_roots};

/// Makes an object and waits until it is ready. `None` for a kind that is not EC2's.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Spec) -> Option<Result<(), Failure>> {
    Some(match spec {
        Spec::Vpc(it) => vpc::create(operation, it).await,
        Spec::InternetGateway(it) => internet_gateway::create(operation, it).await,
        Spec::Subnet(it) => subnet::create(operation, it).await,
        Spec::RouteTable(it) => route_table::create(operation, it).await,
        Spec::RouteTableAssociation(it) => route_table_association::create(operation, it).await,
        Spec::Eip(it) => eip::create(operation, it).await,
        Spec::NatGateway(it) => nat_gateway::create(operation, it).await,
        Spec::Route(it) => route::create(operation, it).await,
        Spec::VpcEndpoint(it) => vpc_endpoint::create(operation, it).await,
        Spec::DefaultSecurityGroup(it) => default_security_group::create(operation, it).await,
        _ => return None,
    })
}

/// Brings an object from one look to another, in place; `from` is `None` where its look is not known for sure.
/// `None` for a kind that is not EC2's.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&Spec>,
    to: &Spec,
) -> Option<Result<(), Failure>> {
    /// The spec that an object has now, as its kind. A spec of another kind, which a key never has, says nothing.
    macro_rules! from {
        ($kind:ident) => {
            from.and_then(|from| if let Spec::$kind(it) = from { Some(it) } else { None })
        };
    }
    Some(match to {
        Spec::Vpc(to) => vpc::update(operation, id, from!(Vpc), to).await,
        Spec::InternetGateway(to) => internet_gateway::update(operation, id, from!(InternetGateway), to).await,
        Spec::Subnet(to) => subnet::update(operation, id, from!(Subnet), to).await,
        Spec::RouteTable(to) => route_table::update(operation, id, from!(RouteTable), to).await,
        Spec::RouteTableAssociation(to) => {
            route_table_association::update(operation, id, from!(RouteTableAssociation), to).await
        }
        Spec::Eip(to) => eip::update(operation, id, from!(Eip), to).await,
        Spec::NatGateway(to) => nat_gateway::update(operation, id, from!(NatGateway), to).await,
        Spec::Route(to) => route::update(operation, id, from!(Route), to).await,
        Spec::VpcEndpoint(to) => vpc_endpoint::update(operation, id, from!(VpcEndpoint), to).await,
        Spec::DefaultSecurityGroup(to) => {
            default_security_group::update(operation, id, from!(DefaultSecurityGroup), to).await
        }
        _ => return None,
    })
}

/// Deletes an object and waits until it has gone; absence is success. `None` for a kind that is not EC2's.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Option<Result<(), Failure>> {
    Some(match &entry.applied {
        Spec::Vpc(_) => vpc::delete(operation, entry).await,
        Spec::InternetGateway(_) => internet_gateway::delete(operation, entry).await,
        Spec::Subnet(_) => subnet::delete(operation, entry).await,
        Spec::RouteTable(_) => route_table::delete(operation, entry).await,
        Spec::RouteTableAssociation(_) => route_table_association::delete(operation, entry).await,
        Spec::Eip(_) => eip::delete(operation, entry).await,
        Spec::NatGateway(_) => nat_gateway::delete(operation, entry).await,
        Spec::Route(_) => route::delete(operation, entry).await,
        Spec::VpcEndpoint(_) => vpc_endpoint::delete(operation, entry).await,
        Spec::DefaultSecurityGroup(it) => default_security_group::delete(operation, entry, it).await,
        _ => return None,
    })
}

/// Restricts a describing call. Filters are preferred to lists of ids, where one missing id fails the whole call.
fn filter(name: impl Into<String>, value: impl Into<String>) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// The same for any of several values, of which AWS takes at most 200.
fn filter_any<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Filter {
    Filter::builder().name(name).set_values(Some(values.into_iter().map(str::to_string).collect())).build()
}
