//! The objects of a foreign network, as AWS returns them, for their classification.

use aws_sdk_ec2::types::{
    ConnectivityType, FlowLog, InternetGateway, NatGateway, NatGatewayState, NetworkAcl, Route, RouteTable,
    RouteTableAssociation, SecurityGroup, Subnet, Tag, Vpc, VpcEndpoint,
};

use super::claims::is_main_table;
use super::{flow_log, network_acl_rules, security_group_rules, tags};
use crate::cloud::Observed;
use crate::model::{
    FoundEndpoint, FoundFlowLog, FoundNatGateway, FoundNetworkAcl, FoundObject, FoundRouteTable, FoundSecurityGroup,
    FoundSubnet, FoundTags, Input, NetworkLandscape, Spec,
};

/// The landscape. The endpoints are gateway endpoints, and all objects exist.
pub(super) fn of(
    vpc: &Vpc,
    subnets: &[Subnet],
    tables: &[RouteTable],
    gateways: &[InternetGateway],
    nats: &[NatGateway],
    endpoints: &[VpcEndpoint],
) -> NetworkLandscape {
    NetworkLandscape {
        vpc_id: text(vpc.vpc_id()),
        vpc_tags: all(vpc.tags()),
        vpc_cidr_block: text(vpc.cidr_block()),
        vpc_owner: text(vpc.owner_id()),
        subnets: subnets.iter().map(subnet).collect(),
        route_tables: tables.iter().map(table).collect(),
        internet_gateways: gateways
            .iter()
            .map(|it| FoundObject { id: text(it.internet_gateway_id()), tags: all(it.tags()) })
            .collect(),
        // AWS returns a failed gateway for about an hour. It is no part of the network.
        nat_gateways: nats.iter().filter(|it| it.state() != Some(&NatGatewayState::Failed)).map(nat_gateway).collect(),
        endpoints: endpoints.iter().map(endpoint).collect(),
        ..NetworkLandscape::default()
    }
}

/// Adds the default network ACL and the default security group.
pub(super) fn add_defaults(landscape: &mut NetworkLandscape, acls: &[NetworkAcl], groups: &[SecurityGroup]) {
    landscape.default_network_acl = acls.first().map(network_acl);
    landscape.default_security_group = groups.first().map(security_group);
}

/// Gives the VPC the name by which people know it: its Name tag or, without one, its ID.
pub(super) fn name(root: &mut Observed, vpc: &Vpc) {
    let given = tags::value(vpc.tags(), "Name").map(str::trim).filter(|name| !name.is_empty());
    if let Spec::Vpc(spec) = &mut root.spec {
        spec.name = Input::Known(given.unwrap_or(&root.id).to_string());
    }
}

fn subnet(it: &Subnet) -> FoundSubnet {
    FoundSubnet {
        id: text(it.subnet_id()),
        tags: all(it.tags()),
        zone: text(it.availability_zone()),
        cidr_block: text(it.cidr_block()),
    }
}

fn table(it: &RouteTable) -> FoundRouteTable {
    let associated = |it: &RouteTableAssociation| it.subnet_id().or(it.gateway_id()).map(str::to_string);
    FoundRouteTable {
        id: text(it.route_table_id()),
        tags: all(it.tags()),
        is_main: is_main_table(it),
        associated: it.associations().iter().filter_map(associated).collect(),
        routes: it.routes().iter().filter_map(route).collect(),
    }
}

fn route(it: &Route) -> Option<(String, String)> {
    let destination =
        it.destination_cidr_block().or(it.destination_ipv6_cidr_block()).or(it.destination_prefix_list_id())?;
    let target = it
        .gateway_id()
        .or(it.nat_gateway_id())
        .or(it.transit_gateway_id())
        .or(it.egress_only_internet_gateway_id())
        .or(it.vpc_peering_connection_id())
        .or(it.network_interface_id())
        .or(it.instance_id())
        .unwrap_or("unknown");
    Some((destination.to_string(), target.to_string()))
}

fn nat_gateway(it: &NatGateway) -> FoundNatGateway {
    FoundNatGateway {
        id: text(it.nat_gateway_id()),
        tags: all(it.tags()),
        subnet: text(it.subnet_id()),
        is_private: it.connectivity_type() == Some(&ConnectivityType::Private),
    }
}

fn endpoint(it: &VpcEndpoint) -> FoundEndpoint {
    FoundEndpoint {
        id: text(it.vpc_endpoint_id()),
        tags: all(it.tags()),
        service_name: text(it.service_name()),
        route_tables: it.route_table_ids().to_vec(),
    }
}

/// A flow log for a landscape.
pub(super) fn flow_log(it: &FlowLog) -> FoundFlowLog {
    let account_of = |arn: &str| arn.split(':').nth(4).map(str::to_string);
    FoundFlowLog {
        id: text(it.flow_log_id()),
        tags: all(it.tags()),
        destination: flow_log::destination(it).unwrap_or_default(),
        account_of_role: it.deliver_logs_permission_arn().and_then(account_of),
    }
}

fn network_acl(it: &NetworkAcl) -> FoundNetworkAcl {
    FoundNetworkAcl {
        id: text(it.network_acl_id()),
        tags: all(it.tags()),
        ingress: network_acl_rules::of_entries(it.entries(), false),
        egress: network_acl_rules::of_entries(it.entries(), true),
    }
}

fn security_group(it: &SecurityGroup) -> FoundSecurityGroup {
    let id = text(it.group_id());
    let rules = |permissions| security_group_rules::of_permissions(permissions, &id, it.owner_id(), &[]);
    FoundSecurityGroup {
        tags: all(it.tags()),
        ingress: rules(it.ip_permissions()),
        egress: rules(it.ip_permissions_egress()),
        id,
    }
}

fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_string()
}

fn all(tags: &[Tag]) -> FoundTags {
    tags.iter().filter_map(|tag| Some((tag.key()?.to_string(), tag.value().unwrap_or_default().to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_nat_gateways_are_left_out() {
        let gateway = |id: &str, state: NatGatewayState| NatGateway::builder().nat_gateway_id(id).state(state).build();
        let gateways = [gateway("nat-1", NatGatewayState::Failed), gateway("nat-2", NatGatewayState::Pending)];
        let landscape = of(&Vpc::builder().cidr_block("10.0.0.0/16").build(), &[], &[], &[], &gateways, &[]);
        let ids: Vec<&str> = landscape.nat_gateways.iter().map(|it| it.id.as_str()).collect();
        assert_eq!((ids, landscape.vpc_cidr_block.as_str()), (vec!["nat-2"], "10.0.0.0/16"));
    }
}
