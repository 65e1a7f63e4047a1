//! What only one object can have at a time.

use super::{Caller, Key, Ref};
use crate::plugin::Input;

/// Something that only one object can have at a time. Its new holder waits until the old one is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// The internet gateway of the VPC.
    InternetGateway,
    /// A range of addresses in the VPC; it collides with any range that overlaps.
    Addresses(ipnet::IpNet),
    /// The explicit route table of a subnet.
    TableOf {
        /// The subnet.
        subnet: Key,
    },
    /// The use of an Elastic IP address.
    ElasticIp {
        /// The address.
        allocation: Ref,
    },
    /// The route of a table to a destination.
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
    /// The statement in a function's policy that lets somebody call it.
    Statement {
        /// The function.
        function_arn: Input<String>,
        /// Its alias or version.
        qualifier: Input<Option<String>>,
        /// Who may call.
        caller: Caller,
    },
    /// A route key of the API.
    ApiRoute {
        /// `<METHOD> <path>` or `$default`.
        route_key: String,
    },
    /// The name of the variable at a place in an API's paths: all routes through it call it the same, so it collides
    /// with another name there and not with the same one.
    PathVariable {
        /// The path up to the variable, without the names of those before it.
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
    /// The stage `$default` of the API.
    DefaultStage,
    /// A custom domain.
    Domain {
        /// Its name.
        name: Input<String>,
    },
    /// What the root of a custom domain's paths leads to.
    MappingOf {
        /// The domain.
        domain: Key,
    },
    /// An alias record of type A.
    Record {
        /// The hosted zone.
        zone_id: Input<String>,
        /// Its name.
        name: Input<String>,
    },
}

impl Claim {
    /// Whether two holders of these claims cannot exist at once.
    pub fn collides(&self, other: &Claim) -> bool {
        match (self, other) {
            (Claim::Addresses(one), Claim::Addresses(other)) => one.contains(other) || other.contains(one),
            (Claim::PathVariable { place, name }, Claim::PathVariable { place: others_place, name: others_name }) => {
                place == others_place && name != others_name
            }
            _ => self == other,
        }
    }
}
