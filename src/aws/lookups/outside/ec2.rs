//! The lookups of objects of EC2, all of one kind with one call.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_ec2::types::{Address, Filter, ManagedPrefixList, Subnet, VpnState};
use futures::future::join_all;

use super::if_permitted;
use crate::aws::Session;
use crate::aws::calls::{OrFailure, list_all};
use crate::cloud::Failure;
use crate::model::{Finding, Outside};

/// The pauses before a missing object is read again. Terraform plans again in an apply, and another resource of the
/// same run may have created the object just before.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_millis(1500), Duration::from_secs(3)];

/// The kinds of objects that one call returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Address,
    VpnGateway,
    PrefixList,
    SecurityGroup,
    Subnet,
}

/// Whether [`objects`] looks up this object.
pub(super) fn has(outside: &Outside) -> bool {
    kind(outside).is_some()
}

fn kind(outside: &Outside) -> Option<Kind> {
    match outside {
        Outside::Address(_) => Some(Kind::Address),
        Outside::VpnGateway(_) => Some(Kind::VpnGateway),
        Outside::PrefixList(_) => Some(Kind::PrefixList),
        Outside::SecurityGroup(_) => Some(Kind::SecurityGroup),
        Outside::Subnet(_) => Some(Kind::Subnet),
        _ => None,
    }
}

/// Looks up the objects of all kinds concurrently.
pub(super) async fn objects(session: &Session, wanted: Vec<Outside>) -> Result<Vec<(Outside, Finding)>, Failure> {
    let mut by_kind: BTreeMap<Kind, Vec<Outside>> = BTreeMap::new();
    for outside in wanted {
        by_kind.entry(kind(&outside).unwrap_or(Kind::Address)).or_default().push(outside);
    }
    let found = join_all(by_kind.into_iter().map(|(kind, wanted)| of_kind(session, kind, wanted))).await;
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

async fn of_kind(session: &Session, kind: Kind, wanted: Vec<Outside>) -> Result<Vec<(Outside, Finding)>, Failure> {
    let ids: Vec<String> = wanted.iter().map(Outside::id).collect();
    let mut pauses = PAUSES.into_iter();
    let existing = loop {
        let Some(existing) = if_permitted(existing(session, kind, &ids).await)? else { return Ok(Vec::new()) };
        match pauses.next() {
            Some(pause) if !ids.iter().all(|id| existing.contains_key(id)) => tokio::time::sleep(pause).await,
            _ => break existing,
        }
    };
    let finding = |outside: &Outside| match existing.get(&outside.id()) {
        Some(detail) if detail == IN_USE => Finding::Exists { owner: None, detail: String::new() },
        Some(detail) => Finding::Exists { owner: None, detail: detail.clone() },
        None => Finding::Missing(lists_all(kind).then(|| free(&existing))),
    };
    Ok(wanted.iter().map(|outside| (outside.clone(), finding(outside))).collect())
}

/// The detail of an address that is associated with something, which is no choice for a NAT gateway.
const IN_USE: &str = "in use";

/// The IDs of the objects that are not in use.
fn free(existing: &BTreeMap<String, String>) -> Vec<String> {
    existing.iter().filter(|(_, detail)| *detail != IN_USE).map(|(id, _)| id.clone()).collect()
}

/// Whether the lookup lists all objects of the kind in the Region, because these are few.
fn lists_all(kind: Kind) -> bool {
    matches!(kind, Kind::Address | Kind::VpnGateway)
}

/// The IDs of the existing objects: of all in the Region, or of those that are wanted (see [`lists_all`]). Each with
/// the detail of its [`Finding`].
async fn existing(session: &Session, kind: Kind, ids: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let ec2 = &session.ec2;
    let filter = |name: &str| Filter::builder().name(name).set_values(Some(ids.to_vec())).build();
    let found: Vec<Option<String>> = match kind {
        Kind::Address => {
            let answer = ec2.describe_addresses().send().await.or_failure("DescribeAddresses")?;
            let detail = |it: &Address| if it.association_id.is_some() { IN_USE } else { "" }.to_string();
            let all = answer.addresses.unwrap_or_default();
            return Ok(all.into_iter().filter_map(|it| Some((it.allocation_id.clone()?, detail(&it)))).collect());
        }
        Kind::VpnGateway => {
            let answer = ec2.describe_vpn_gateways().send().await;
            let answer = answer.or_failure("DescribeVpnGateways")?;
            let mut all = answer.vpn_gateways.unwrap_or_default();
            // AWS returns deleted gateways for some time.
            all.retain(|it| !matches!(it.state, Some(VpnState::Deleted | VpnState::Deleting)));
            all.into_iter().map(|it| it.vpn_gateway_id).collect()
        }
        Kind::PrefixList => {
            let call = ec2.describe_managed_prefix_lists().filters(filter("prefix-list-id"));
            let found = list_all("DescribeManagedPrefixLists", call.into_paginator().items().send()).await?;
            return Ok(found.into_iter().filter_map(|it| Some((it.prefix_list_id.clone()?, weight(&it)))).collect());
        }
        Kind::SecurityGroup => {
            let call = ec2.describe_security_groups().filters(filter("group-id"));
            let found = list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?;
            found.into_iter().map(|it| it.group_id).collect()
        }
        Kind::Subnet => {
            let call = ec2.describe_subnets().filters(filter("subnet-id"));
            let found = list_all("DescribeSubnets", call.into_paginator().items().send()).await?;
            let zone = |it: Subnet| Some((it.subnet_id?, it.availability_zone_id.unwrap_or_default()));
            return Ok(found.into_iter().filter_map(zone).collect());
        }
    };
    Ok(found.into_iter().flatten().map(|id| (id, String::new())).collect())
}

/// The number of rules that AWS counts for a rule with this prefix list, and its address family, such as `55 IPv4`: the
/// maximum number of its entries. AWS returns none for its own lists, whose weights it documents. Empty if it is
/// unknown.
fn weight(list: &ManagedPrefixList) -> String {
    let name = list.prefix_list_name().unwrap_or_default();
    let of_aws = [(".cloudfront.origin-facing", 55), (".route53-healthchecks", 25), (".vpc-lattice", 10)];
    let documented = of_aws.iter().find(|(end, _)| name.starts_with("com.amazonaws.") && name.ends_with(end));
    let weight = list.max_entries().or(documented.map(|(_, weight)| *weight));
    weight.map(|weight| format!("{weight} {}", list.address_family().unwrap_or("IPv4"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::Recorded;

    /// Recorded: DescribeAddresses, unassociated.
    const ADDRESSES: &str = "<addressesSet><item><publicIp>18.233.241.102</publicIp><domain>vpc</domain>\
                             <allocationId>eipalloc-38192131</allocationId></item><item>\
                             <publicIp>52.207.185.218</publicIp><domain>vpc</domain>\
                             <allocationId>eipalloc-bbaf95b2</allocationId></item></addressesSet>";

    fn address(id: &str) -> Outside {
        Outside::Address(id.to_string())
    }

    async fn found(aws: &Recorded, wanted: &[Outside]) -> Vec<(Outside, Finding)> {
        objects(&aws.session(), wanted.to_vec()).await.unwrap()
    }

    fn exists() -> Finding {
        Finding::Exists { owner: None, detail: String::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn all_objects_of_a_kind_take_one_call() {
        let aws = Recorded::default().on("DescribeAddresses", ADDRESSES);
        let wanted = ["eipalloc-38192131", "eipalloc-bbaf95b2"].map(address);
        assert_eq!(found(&aws, &wanted).await, wanted.map(|it| (it, exists())));
        assert_eq!(aws.actions(), ["DescribeAddresses"]);
        assert_eq!(aws.calls("DescribeAddresses")[0].get("AllocationId.1"), None, "a missing ID would fail the call");
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_address_is_read_again_and_reported_with_the_others() {
        let aws = Recorded::default().on("DescribeAddresses", ADDRESSES);
        let start = tokio::time::Instant::now();
        let others = ["eipalloc-38192131", "eipalloc-bbaf95b2"].map(str::to_string).to_vec();
        let missing = address("eipalloc-0123456789abcdef0");
        assert_eq!(found(&aws, std::slice::from_ref(&missing)).await, [(missing, Finding::Missing(Some(others)))]);
        assert_eq!((aws.actions().len(), start.elapsed()), (4, Duration::from_secs(5)));

        // Another resource of the same run has created it just before.
        let aws = Recorded::default().on("DescribeAddresses", "<addressesSet/>").on("DescribeAddresses", ADDRESSES);
        let wanted = address("eipalloc-38192131");
        assert_eq!(found(&aws, std::slice::from_ref(&wanted)).await, [(wanted, exists())]);
    }

    /// Recorded shape: DescribeVpnGateways, created-and-attached.
    #[tokio::test(start_paused = true)]
    async fn a_deleted_gateway_is_missing() {
        let gateway = |id: &str, state: &str| {
            format!(
                "<item><vpnGatewayId>{id}</vpnGatewayId><state>{state}</state><type>ipsec.1</type><attachments/>\
                 <amazonSideAsn>64512</amazonSideAsn></item>"
            )
        };
        let set =
            format!("<vpnGatewaySet>{}{}</vpnGatewaySet>", gateway("vgw-1", "available"), gateway("vgw-2", "deleted"));
        let aws = Recorded::default().on("DescribeVpnGateways", &set);
        let [one, two] = ["vgw-1", "vgw-2"].map(|id| Outside::VpnGateway(id.to_string()));
        assert_eq!(
            found(&aws, &[one.clone(), two.clone()]).await,
            [(one, exists()), (two, Finding::Missing(Some(vec!["vgw-1".to_string()])))]
        );
    }

    /// Recorded shape: DescribeSecurityGroups. Documented shape: DescribeManagedPrefixLists.
    #[tokio::test(start_paused = true)]
    async fn groups_and_prefix_lists_are_selected_by_filters() {
        let aws = Recorded::default()
            .on("DescribeSecurityGroups", "<securityGroupInfo><item><groupId>sg-1</groupId></item></securityGroupInfo>")
            .on(
                "DescribeManagedPrefixLists",
                "<prefixListSet><item><prefixListId>pl-1</prefixListId><addressFamily>IPv6</addressFamily>\
                 <maxEntries>9</maxEntries></item><item><prefixListId>pl-2</prefixListId>\
                 <prefixListName>com.amazonaws.global.cloudfront.origin-facing</prefixListName>\
                 <addressFamily>IPv4</addressFamily></item></prefixListSet>",
            );
        let group = |id: &str| Outside::SecurityGroup(id.to_string());
        let [list, of_aws] = ["pl-1", "pl-2"].map(|id| Outside::PrefixList(id.to_string()));
        let wanted = [group("sg-1"), group("sg-2"), list.clone(), of_aws.clone()];
        let mut all = found(&aws, &wanted).await;
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let weighs = |detail: &str| Finding::Exists { owner: None, detail: detail.to_string() };
        assert_eq!(all[..2], [(list, weighs("9 IPv6")), (of_aws, weighs("55 IPv4"))]);
        assert_eq!(all[2..], [(group("sg-1"), exists()), (group("sg-2"), Finding::Missing(None))]);
        let call = &aws.calls("DescribeSecurityGroups")[0];
        let filter = ["Filter.1.Name", "Filter.1.Value.1", "Filter.1.Value.2"].map(|name| call[name].as_str());
        assert_eq!(filter, ["group-id", "sg-1", "sg-2"]);
        let call = &aws.calls("DescribeManagedPrefixLists")[0];
        assert_eq!([&call["Filter.1.Name"], &call["Filter.1.Value.1"]], ["prefix-list-id", "pl-1"]);
    }

    /// Recorded shape: DescribeSubnets.
    #[tokio::test(start_paused = true)]
    async fn subnets_are_looked_up_with_their_zones() {
        let subnet = "<item><subnetId>subnet-1</subnetId><availabilityZoneId>use1-az3</availabilityZoneId></item>";
        let aws = Recorded::default().on("DescribeSubnets", &format!("<subnetSet>{subnet}</subnetSet>"));
        let [one, two] = ["subnet-1", "subnet-2"].map(|id| Outside::Subnet(id.to_string()));
        let zone = Finding::Exists { owner: None, detail: "use1-az3".to_string() };
        assert_eq!(found(&aws, &[one.clone(), two.clone()]).await, [(one, zone), (two, Finding::Missing(None))]);
        let call = &aws.calls("DescribeSubnets")[0];
        let filter = ["Filter.1.Name", "Filter.1.Value.1", "Filter.1.Value.2"].map(|name| call[name].as_str());
        assert_eq!(filter, ["subnet-id", "subnet-1", "subnet-2"]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_lookup_without_its_permission_is_skipped() {
        let aws = Recorded::default().fail("DescribeAddresses", 403, "UnauthorizedOperation", "You are not authorized");
        assert_eq!(found(&aws, &[address("eipalloc-1")]).await, []);
        assert_eq!(aws.actions(), ["DescribeAddresses"]);
        let aws = Recorded::default().fail("DescribeAddresses", 400, "InternalError", "x");
        let failure = objects(&aws.session(), vec![address("eipalloc-1")]).await.unwrap_err();
        assert_eq!(failure.code.as_deref(), Some("InternalError"));
    }
}
