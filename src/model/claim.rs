//! Claims: resources that only one object can use at a time.

use super::{Caller, Key, Ref};
use crate::plugin::Input;

/// A resource that only one object can use at a time. An object with a claim is created after the deletion of an object
/// with a colliding claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// The internet gateway of the VPC.
    InternetGateway,
    /// The egress-only internet gateway of the VPC.
    EgressOnlyInternetGateway,
    /// A range of addresses in the VPC; it collides with any overlapping range.
    Addresses(ipnet::IpNet),
    /// The explicit route table association of a subnet.
    TableOf {
        /// The subnet.
        subnet: Key,
    },
    /// The use of an Elastic IP address.
    ElasticIp {
        /// The address.
        allocation: Ref,
    },
    /// The route to a destination in a route table.
    Route {
        /// The table.
        route_table: Key,
        /// The destination, in canonical CIDR notation.
        destination: String,
    },
    /// The endpoint of a service in the VPC.
    Endpoint {
        /// The service's name.
        service_name: Input<String>,
    },
    /// The private DNS name of a service in the VPC.
    PrivateDns {
        /// The service's name.
        service_name: Input<String>,
    },
    /// The configuration of a flow log. AWS rejects a second log of the VPC with an equal one (`FlowLogAlreadyExists`).
    FlowLog {
        /// All inputs that AWS cannot change, as text.
        fixed: Input<String>,
    },
    /// The statement in a function's policy that allows a caller to invoke it.
    Statement {
        /// The function.
        function_arn: Input<String>,
        /// Its alias or version.
        qualifier: Input<Option<String>>,
        /// The caller.
        caller: Caller,
    },
    /// A route key of the API.
    ApiRoute {
        /// `<METHOD> <path>` or `$default`.
        route_key: String,
    },
    /// The name of the variable at a position in the paths of an API. All routes through the position must use the same
    /// name, so it collides only with another name.
    PathVariable {
        /// The path up to and including the variable, without names of variables.
        place: String,
        /// The variable's name.
        name: String,
    },
    /// The name of a log group.
    LogGroup {
        /// The name.
        name: Input<String>,
    },
    /// The subscription filter of a log group.
    SubscriptionOf {
        /// The log group.
        log_group: Key,
    },
    /// The name of a stage of the API.
    Stage {
        /// The name.
        name: String,
    },
    /// A custom domain.
    Domain {
        /// Its name.
        name: Input<String>,
    },
    /// The API mapping of the root path of a custom domain.
    MappingOf {
        /// The domain.
        domain: Key,
    },
    /// A DNS record.
    Record {
        /// Its type.
        record_type: String,
        /// The hosted zone.
        zone_id: Input<String>,
        /// Its name.
        name: Input<String>,
    },
}

impl Claim {
    /// The claim with the ID of the object that it refers to, if that exists.
    #[must_use]
    pub fn resolved(self, id_of: &dyn Fn(&Key) -> Option<String>) -> Claim {
        match &self {
            Claim::ElasticIp { allocation: Ref::Key(key) } => match id_of(key) {
                Some(id) => Claim::ElasticIp { allocation: Ref::Id(id) },
                None => self,
            },
            _ => self,
        }
    }

    /// Whether one of these claims collides with one of the others.
    pub fn any_collide(claims: &[Claim], others: &[Claim]) -> bool {
        claims.iter().any(|claim| others.iter().any(|other| claim.collides(other)))
    }

    /// Whether objects with these claims cannot exist at the same time.
    pub fn collides(&self, other: &Claim) -> bool {
        match (self, other) {
            (Claim::Addresses(one), Claim::Addresses(other)) => one.contains(other) || other.contains(one),
            (Claim::PathVariable { place, name }, Claim::PathVariable { place: other_place, name: other_name }) => {
                place == other_place && name != other_name
            }
            _ => self == other,
        }
    }
}
