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

    /// An ID of a root, as an example for messages.
    pub fn example_id(self) -> &'static str {
        match self {
            TopologyKind::FourTierVpc => "vpc-0123456789abcdef0",
            TopologyKind::HttpGateway => "a1b2c3d4e5",
        }
    }

    /// Whether a text can be the ID of a root. The IDs of emulators have other lengths than those of AWS.
    pub fn accepts_id(self, id: &str) -> bool {
        let is_plain = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        match self {
            TopologyKind::FourTierVpc => id.strip_prefix("vpc-").is_some_and(is_plain),
            TopologyKind::HttpGateway => is_plain(id),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_objects_are_not_those_of_a_root() {
        for id in ["vpc-0123456789abcdef0", "vpc-1"] {
            assert!(TopologyKind::FourTierVpc.accepts_id(id) && !TopologyKind::HttpGateway.accepts_id(id), "{id}");
        }
        assert!(TopologyKind::HttpGateway.accepts_id("a1b2c3d4e5"));
        for id in ["my-network", "subnet-0ab", "vpc-", "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-0ab", "Vpc-1"] {
            assert!(!TopologyKind::FourTierVpc.accepts_id(id) && !TopologyKind::HttpGateway.accepts_id(id), "{id}");
        }
    }
}
