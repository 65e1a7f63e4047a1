//! The unmanaged users of the objects of a network.

use super::*;
use crate::model::{Inventory, NetworkUsers, unmanaged_users, used_by_unmanaged};

/// A route table with routes to these targets and associations with these subnets; `main` for the main one.
fn table(id: &str, its_tags: &str, routes: &[(&str, &str)], subnets: &[&str]) -> String {
    let route = |(to, target): &(&str, &str)| {
        let parameter = if target.starts_with("nat-") { "natGatewayId" } else { "gatewayId" };
        format!(
            "<item><destinationCidrBlock>{to}</destinationCidrBlock><{parameter}>{target}</{parameter}>\
             <state>active</state><origin>CreateRoute</origin></item>"
        )
    };
    let association = |subnet: &&str| match *subnet {
        "main" => format!(
            "<item><routeTableAssociationId>rtbassoc-main</routeTableAssociationId><routeTableId>{id}</routeTableId>\
             <main>true</main></item>"
        ),
        subnet => format!(
            "<item><routeTableAssociationId>rtbassoc-{subnet}</routeTableAssociationId><routeTableId>{id}\
             </routeTableId><subnetId>{subnet}</subnetId><main>false</main></item>"
        ),
    };
    format!(
        "<item><routeTableId>{id}</routeTableId><routeSet>{}</routeSet><associationSet>{}</associationSet>{its_tags}\
         </item>",
        routes.iter().map(route).collect::<String>(),
        subnets.iter().map(association).collect::<String>()
    )
}

async fn read_with(tables: &str) -> Vec<Observed> {
    let subnets = format!(
        "<subnetSet>{}{}{}</subnetSet>",
        subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/24"),
        subnet_item("subnet-7", "", "10.0.7.0/24"),
        subnet_item("subnet-8", "", "10.0.8.0/24")
    );
    let gateways = format!(
        "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet><item><vpcId>vpc-1</vpcId>\
         <state>available</state></item></attachmentSet>{}</item></internetGatewaySet>",
        below("internet_gateway")
    );
    let tables = format!("<routeTableSet>{tables}</routeTableSet>");
    let answers =
        [("DescribeSubnets", &subnets[..]), ("DescribeInternetGateways", &gateways), ("DescribeRouteTables", &tables)];
    objects(&network(&answers), &[]).await
}

fn inventory(seen: &[Observed]) -> Inventory {
    let entry = |it: &Observed| {
        let mut entry = Entry::new(it.key.clone(), it.id.clone(), it.spec.clone());
        entry.learned = it.learned.clone();
        entry
    };
    Inventory { entries: seen.iter().map(entry).collect() }
}

#[tokio::test(start_paused = true)]
async fn unmanaged_users_are_found_in_the_lists_of_a_read() {
    let ours = table("rtb-1", &below("route_table.public.0"), &[("0.0.0.0/0", "igw-1")], &["subnet-1", "subnet-7"]);
    let main = table("rtb-main", "", &[("0.0.0.0/0", "igw-1"), ("10.9.0.0/16", "nat-9")], &["main"]);
    let inventory = inventory(&read_with(&format!("{ours}{main}")).await);
    assert_eq!(unmanaged_users(&inventory, "rtb-1"), ["subnet subnet-7"]);
    // Subnets without an association use the main route table, with its routes.
    assert_eq!(unmanaged_users(&inventory, "igw-1"), ["route to 0.0.0.0/0 in rtb-main", "subnet subnet-8"]);
    assert_eq!(unmanaged_users(&inventory, "nat-9").len(), 0, "an unmanaged gateway");
    assert_eq!(used_by_unmanaged(&inventory), [("rtb-1".to_string(), "rtb-1".to_string())].into());
}

#[tokio::test(start_paused = true)]
async fn tables_that_are_not_managed_any_more_have_users_too() {
    let ours = table("rtb-1", &below("route_table.public.0"), &[("0.0.0.0/0", "igw-1")], &["subnet-1"]);
    let theirs = table("rtb-9", "", &[], &["subnet-7", "subnet-8"]);
    let seen = read_with(&format!("{ours}{theirs}")).await;
    assert_eq!(unmanaged_users(&inventory(&seen), "rtb-1").len(), 0);
    let learned = at(&seen, "vpc").learned.get(NetworkUsers::LEARNED).cloned();
    assert_eq!(learned.as_deref(), Some("{\"rtb-9\":[\"subnet subnet-7\",\"subnet subnet-8\"]}"));
}
