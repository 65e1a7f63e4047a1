//! The kinds of topology, of which an object belongs to one.

/// Whose objects they are: the kind of topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `fgw_four_tier_vpc`, below a VPC.
    FourTierVpc,
    /// `fgw_http_gateway`, below an HTTP API.
    HttpGateway,
}

impl Owner {
    /// The first part of the ownership tag `fgw:resource`.
    pub fn product(self) -> &'static str {
        match self {
            Owner::FourTierVpc => "four_tier_vpc",
            Owner::HttpGateway => "http_gateway",
        }
    }

    /// AWS's name for the root object.
    pub fn root_kind(self) -> &'static str {
        match self {
            Owner::FourTierVpc => "VPC",
            Owner::HttpGateway => "API",
        }
    }

    /// The slot of the root object, which is created first and whose id is the resource's id.
    pub fn root(self) -> &'static str {
        match self {
            Owner::FourTierVpc => "vpc",
            Owner::HttpGateway => "api",
        }
    }

    /// Whether AWS deletes the root with all that others keep below it. Otherwise it refuses to delete it.
    pub fn takes_foreign_objects_along(self) -> bool {
        match self {
            Owner::FourTierVpc => false,
            Owner::HttpGateway => true,
        }
    }
}
