//! The kinds of topology, of which an object belongs to one.

/// A kind of topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    /// `fgw_four_tier_vpc`, below a VPC.
    FourTierVpc,
    /// `fgw_http_gateway`, below an HTTP API.
    HttpGateway,
}

impl TopologyKind {
    /// The first part of the ownership tag `fgw:resource`.
    pub fn name(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "four_tier_vpc",
            TopologyKind::HttpGateway => "http_gateway",
        }
    }

    /// AWS's name for the root object.
    pub fn root_kind(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "VPC",
            TopologyKind::HttpGateway => "API",
        }
    }

    /// The slot of the root object, which is created first and whose id is the resource's id.
    pub fn root(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "vpc",
            TopologyKind::HttpGateway => "api",
        }
    }

    /// Whether AWS deletes the root with all that others keep below it. Otherwise it refuses to delete it.
    pub fn takes_foreign_objects_along(self) -> bool {
        match self {
            TopologyKind::FourTierVpc => false,
            TopologyKind::HttpGateway => true,
        }
    }

    /// What reads a topology of this kind that this provider has not created, for messages.
    pub fn data_sources_of_hashicorp(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "the data sources aws_vpc and aws_subnets",
            TopologyKind::HttpGateway => "the data source aws_apigatewayv2_api",
        }
    }

    /// For messages: values of the tag `fgw:object` by which objects are handed over to the resource, and what becomes
    /// of those without one.
    pub fn tags_to_hand_over(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => {
                "\"subnet.public.0\". Objects without these tags stay foreign: they are neither shown nor touched."
            }
            TopologyKind::HttpGateway => {
                "\"stage\" and \"log_group\". Routes, integrations and authorizers take no tags: those that call \
                 functions belong to the resource then, which deletes what its configuration leaves out."
            }
        }
    }
}
