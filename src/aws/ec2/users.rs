//! The unmanaged users of the objects of a network, from the lists that every read returns.

use aws_sdk_ec2::types::{NetworkAcl, RouteTable, VpcEndpoint};

use super::observed::Shown;
use super::route;
use super::route_table::is_main_table;
use crate::model::NetworkUsers;

/// Finds them. All managed objects must have been added. `implicit` are the unmanaged subnets of the main route table.
pub(super) fn of(
    shown: &Shown<'_>,
    (tables, implicit): (&[RouteTable], &[&str]),
    endpoints: &[VpcEndpoint],
    default_acls: &[NetworkAcl],
) -> NetworkUsers {
    let mut users = NetworkUsers::default();
    let is_managed = |id: &str| shown.key(id).is_some();
    for table in tables {
        let Some(table_id) = table.route_table_id() else { continue };
        let explicit = table.associations().iter().filter_map(|it| it.subnet_id()).filter(|id| !is_managed(id));
        let implicit = implicit.iter().copied().filter(|_| is_main_table(table));
        let subnets: Vec<String> = explicit.chain(implicit).map(|id| format!("subnet {id}")).collect();
        for (destination, target) in table.routes().iter().filter_map(|it| route::to_managed(shown, table_id, it)) {
            users.add(&target, format!("route to {destination} in {table_id}"));
            for subnet in &subnets {
                users.add(&target, subnet.clone());
            }
        }
        // A table that an apply has left is no longer managed, and its users are still listed.
        for subnet in subnets {
            users.add(table_id, subnet);
        }
    }
    for endpoint in endpoints {
        let Some(id) = endpoint.vpc_endpoint_id().filter(|id| is_managed(id)) else { continue };
        for table in endpoint.route_table_ids().iter().filter(|id| !is_managed(id)) {
            users.add(id, format!("route table {table}"));
        }
    }
    for acl in default_acls {
        let Some(id) = acl.network_acl_id() else { continue };
        for subnet in acl.associations().iter().filter_map(|it| it.subnet_id()).filter(|id| !is_managed(id)) {
            users.add(id, format!("subnet {subnet}"));
        }
    }
    users
}
