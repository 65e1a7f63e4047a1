//! Checks of the state: the IDs in `aws_objects` compared with an independent listing of the account.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::emulator::Account;
use crate::support::listing::ours_in;
use crate::support::terraform::State;

/// The IDs, in the form of the state, of all objects of the provider in an account: those with its tags, untagged ones
/// inside or on one of its objects, and the statements that allow AWS services to invoke functions.
pub(crate) fn existing(account: &Account) -> BTreeSet<String> {
    let all = account.list();
    let mut ids = BTreeSet::new();
    let ours = ours_in(&all);
    let tagged = ours.iter().filter_map(|line| line.split(' ').nth(1));
    ids.extend(tagged.map(str::to_owned));
    for table in list(&all["route_tables"]).filter(|table| is_ours(table)) {
        let id = text(&table["RouteTableId"]);
        ids.extend(list(&table["Associations"]).map(|it| text(&it["RouteTableAssociationId"])));
        for route in list(&table["Routes"]).filter(|route| route["Origin"] == "CreateRoute") {
            let endpoint = route["GatewayId"].as_str().is_some_and(|gateway| gateway.starts_with("vpce-"));
            let destination = [&route["DestinationCidrBlock"], &route["DestinationIpv6CidrBlock"]];
            let destination = destination.into_iter().find_map(Value::as_str).filter(|_| !endpoint);
            ids.extend(destination.map(|destination| format!("{id}_{destination}")));
        }
    }
    for vpc in list(&all["vpcs"]).filter(|vpc| is_ours(vpc)) {
        for (set, state) in
            [("CidrBlockAssociationSet", "CidrBlockState"), ("Ipv6CidrBlockAssociationSet", "Ipv6CidrBlockState")]
        {
            // The range that a VPC is created with is no object of its own.
            let ranges = list(&vpc[set]).filter(|it| it["CidrBlock"] != vpc["CidrBlock"]);
            let ranges = ranges.filter(|it| it[state]["State"] != "disassociated");
            ids.extend(ranges.map(|it| text(&it["AssociationId"])));
        }
    }
    for api in list(&all["apis"]).filter(|api| is_ours(api)) {
        for (kind, id) in [("routes", "RouteId"), ("integrations", "IntegrationId"), ("authorizers", "AuthorizerId")] {
            ids.extend(list(&api[kind]).map(|it| text(&it[id])));
        }
        ids.extend(list(&api["stages"]).map(|it| text(&it["StageName"])));
    }
    for domain in list(&all["domain_names"]).filter(|domain| is_ours(domain)) {
        ids.extend(list(&domain["mappings"]).map(|it| text(&it["ApiMappingId"])));
    }
    for group in list(&all["log_groups"]).filter(|group| is_ours(group)) {
        let name = text(&group["logGroupName"]);
        ids.extend(list(&group["subscriptionFilters"]).map(|it| format!("{name}|{}", text(&it["filterName"]))));
    }
    // A hosted zone of a campaign contains only its own two records and those of the provider.
    for zone in list(&all["hosted_zones"]) {
        let records = list(&zone["records"]).filter(|record| record["Type"] == "A" || record["Type"] == "AAAA");
        let id = |it: &Value| {
            let name = text(&it["Name"]);
            format!("{}_{}_{}", text(&zone["Id"]), name.trim_end_matches('.'), text(&it["Type"]))
        };
        ids.extend(records.map(id));
    }
    ids
}

/// Asserts that a state has each object of an account with a tag of the provider and each of its permissions, and only
/// objects that exist. A test that is about something else than a destroy ends with this, and `make test-all` destroys
/// what such a test leaves.
pub(crate) fn assert_accurate(state: &State, account: &Account) {
    let mut known = BTreeSet::new();
    for resource in state.resources_of("fgw_") {
        for objects in ["aws_objects", "pending_deletion"] {
            known.extend(resource[objects].as_object().into_iter().flatten().map(|(_, id)| text(id)));
        }
    }
    let listing = account.list();
    for line in ours_in(&listing) {
        let id = line.split(' ').nth(1).expect("kind and ID");
        assert!(known.contains(id), "{line} is not in state: {known:?}");
    }
    let listing = listing.to_string();
    for id in known {
        assert!(id.split(['_', '|']).all(|part| listing.contains(part)), "{id} is in state but does not exist");
    }
}

/// Whether this run is `make test-all`.
pub(crate) fn destroys_everything() -> bool {
    std::env::var_os("FGW_TEST_ALL").is_some()
}

/// The IDs of the network ACLs and security groups that AWS created together with VPCs of the provider.
pub(crate) fn given(account: &Account) -> BTreeSet<String> {
    let all = account.list();
    let vpcs: BTreeSet<&str> =
        list(&all["vpcs"]).filter(|vpc| is_ours(vpc)).filter_map(|vpc| vpc["VpcId"].as_str()).collect();
    let of_ours = |object: &&Value| object["VpcId"].as_str().is_some_and(|vpc| vpcs.contains(vpc));
    let acls = list(&all["network_acls"]).filter(|acl| acl["IsDefault"] == true).filter(of_ours);
    let groups = list(&all["security_groups"]).filter(|group| group["GroupName"] == "default").filter(of_ours);
    let acls = acls.map(|acl| text(&acl["NetworkAclId"]));
    acls.chain(groups.map(|group| text(&group["GroupId"]))).collect()
}

fn is_ours(object: &Value) -> bool {
    object["tags"].as_object().is_some_and(|tags| tags.keys().any(|key| key.starts_with("fgw:")))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}
