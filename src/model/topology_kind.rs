//! The kinds of topologies.

/// A kind of topology. Each object belongs to a topology of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    /// `fgw_four_tier_vpc`, whose root is a VPC.
    FourTierVpc,
    /// `fgw_http_gateway`, whose root is an HTTP API.
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

    /// The AWS name of the root object.
    pub fn root_kind(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "VPC",
            TopologyKind::HttpGateway => "API",
        }
    }

    /// The slot of the root object, which is created first and whose ID is the ID of the resource.
    pub fn root(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "vpc",
            TopologyKind::HttpGateway => "api",
        }
    }

    /// Whether AWS deletes unmanaged objects together with the root. Otherwise it rejects the deletion of the root.
    pub fn takes_foreign_objects_along(self) -> bool {
        match self {
            TopologyKind::FourTierVpc => false,
            TopologyKind::HttpGateway => true,
        }
    }

    /// For messages: the data sources of hashicorp/aws that read a topology of this kind that fgw did not create.
    pub fn data_sources_of_hashicorp(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "the data sources aws_vpc and aws_subnets",
            TopologyKind::HttpGateway => "the data source aws_apigatewayv2_api",
        }
    }
}
