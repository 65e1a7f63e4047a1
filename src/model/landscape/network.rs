//! The objects in a VPC.

use std::collections::BTreeMap;

use super::{FoundTags, STACK};
use crate::model::{NetworkAclRule, SecurityGroupRule, Spec};

/// The objects in a VPC, as far as a network can contain them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkLandscape {
    /// The ID of the VPC.
    pub vpc_id: String,
    /// Its tags.
    pub vpc_tags: FoundTags,
    /// Its primary IPv4 CIDR block.
    pub vpc_cidr_block: String,
    /// The account that owns the VPC.
    pub vpc_owner: String,
    /// The subnets.
    pub subnets: Vec<FoundSubnet>,
    /// The route tables.
    pub route_tables: Vec<FoundRouteTable>,
    /// The internet gateways.
    pub internet_gateways: Vec<FoundObject>,
    /// The NAT gateways that have neither failed nor been deleted.
    pub nat_gateways: Vec<FoundNatGateway>,
    /// The gateway endpoints.
    pub endpoints: Vec<FoundEndpoint>,
    /// The objects of all other kinds, with their specs.
    pub others: Vec<(FoundObject, Spec)>,
    /// Why no input expresses an object without tags, by its ID: a clause such as "its range comes from the pool X".
    pub unexpressed: BTreeMap<String, String>,
    /// The default network ACL of the VPC.
    pub default_network_acl: Option<FoundNetworkAcl>,
    /// The default security group of the VPC.
    pub default_security_group: Option<FoundSecurityGroup>,
}

impl NetworkLandscape {
    /// The IDs and the tags of all objects.
    pub fn tags(&self) -> impl Iterator<Item = (&String, &FoundTags)> {
        [(&self.vpc_id, &self.vpc_tags)].into_iter().chain(self.tags_below())
    }

    /// The same without the VPC.
    pub fn tags_below(&self) -> impl Iterator<Item = (&String, &FoundTags)> {
        (self.subnets.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.route_tables.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.internet_gateways.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.nat_gateways.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.endpoints.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.others.iter().map(|(it, _)| (&it.id, &it.tags)))
            .chain(self.default_network_acl.iter().map(|it| (&it.id, &it.tags)))
            .chain(self.default_security_group.iter().map(|it| (&it.id, &it.tags)))
    }

    /// The names of the CloudFormation stacks that objects belong to, by the IDs of these objects.
    pub fn stacks(&self) -> BTreeMap<String, String> {
        self.tags().filter_map(|(id, tags)| Some((id.clone(), tags.get(STACK)?.clone()))).collect()
    }
}

/// An object without further properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundObject {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
}

/// A subnet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundSubnet {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// The name of its AZ.
    pub zone: String,
    /// Its IPv4 CIDR block; empty for an IPv6-only subnet.
    pub cidr_block: String,
    /// Whether it has an IPv6 CIDR block.
    pub has_ipv6: bool,
}

/// A route table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundRouteTable {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// Whether it is the main route table of the VPC, which serves every subnet without a table of its own.
    pub is_main: bool,
    /// The IDs of the subnets and gateways that are associated with it explicitly.
    pub associated: Vec<String>,
    /// The destinations of its routes, with the IDs of their targets.
    pub routes: Vec<(String, String)>,
}

/// A NAT gateway.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundNatGateway {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// The ID of its subnet.
    pub subnet: String,
    /// Whether it is private.
    pub is_private: bool,
}

/// A gateway endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundEndpoint {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// The name of its service, such as `com.amazonaws.eu-central-1.s3`.
    pub service_name: String,
    /// The IDs of its route tables.
    pub route_tables: Vec<String>,
}

/// A network ACL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundNetworkAcl {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// Its inbound rules, sorted by number, without the rules of AWS that deny the rest.
    pub ingress: Vec<NetworkAclRule>,
    /// Its outbound rules, in the same form.
    pub egress: Vec<NetworkAclRule>,
}

/// A security group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundSecurityGroup {
    /// Its ID.
    pub id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// Its inbound rules, sorted, one per source.
    pub ingress: Vec<SecurityGroupRule>,
    /// Its outbound rules, sorted, one per destination.
    pub egress: Vec<SecurityGroupRule>,
}
