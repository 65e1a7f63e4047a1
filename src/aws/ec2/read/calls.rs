//! The list calls of a read.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_ec2::types::{Address, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup};

use crate::aws::Session;
use crate::aws::calls::{OrFailure, list_all, ownership};
use crate::aws::ec2::{filter, filter_any, tags};
use crate::cloud::Failure;
use crate::model::{Entry, Spec, TopologyKind};

pub(super) async fn route_tables(session: &Session, root_id: &str) -> Result<Vec<RouteTable>, Failure> {
    let call = session.ec2.describe_route_tables().filters(filter("vpc-id", root_id));
    list_all("DescribeRouteTables", call.into_paginator().items().send()).await
}

/// The attached gateway. If it is unmanaged, also the gateways with this root's ownership tag, because a create that
/// was killed before the attachment leaves a detached one. Then the gateways in state that neither call returned. The
/// second and the third call are sent only if necessary.
pub(super) async fn internet_gateways(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &HashMap<&str, &Entry>,
    slots: Option<&BTreeMap<String, String>>,
) -> Result<Vec<InternetGateway>, Failure> {
    let describe = |filter| async {
        let call = session.ec2.describe_internet_gateways().filters(filter);
        list_all("DescribeInternetGateways", call.into_paginator().items().send()).await
    };
    let mut found = describe(filter("attachment.vpc-id", root_id)).await?;
    let resource = ownership::resource(owner, root_id);
    let is_ours = |gateway: &InternetGateway| {
        gateway.internet_gateway_id().is_some_and(|id| known.contains_key(id))
            || tags::value(gateway.tags(), ownership::RESOURCE) == Some(resource.as_str())
    };
    if !found.iter().any(is_ours) {
        // The attached gateway lacks the ownership tag, so no gateway is in both answers.
        found.extend(describe(tags::below(owner, root_id)).await?);
    }
    let missing = missing(
        known,
        [slots, None],
        |spec| matches!(spec, Spec::InternetGateway(_)),
        |slot| slot == "internet_gateway",
        |id| found.iter().any(|it| it.internet_gateway_id() == Some(id)),
    );
    if !missing.is_empty() {
        found.extend(describe(filter_any("internet-gateway-id", missing)).await?);
    }
    Ok(found)
}

pub(super) async fn nat_gateways(session: &Session, root_id: &str) -> Result<Vec<NatGateway>, Failure> {
    let call = session.ec2.describe_nat_gateways().filter(filter("vpc-id", root_id));
    list_all("DescribeNatGateways", call.into_paginator().items().send()).await
}

/// The addresses with this root's ownership tag, and those in state without the tag, for which a second call is sent if
/// there are any. Addresses have no VPC id, and AWS returns them on one page.
pub(super) async fn addresses(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &HashMap<&str, &Entry>,
    slots: [Option<&BTreeMap<String, String>>; 2],
) -> Result<Vec<Address>, Failure> {
    let describe = |filter| async {
        let answer = session.ec2.describe_addresses().filters(filter).send().await;
        let answer = answer.or_failure("DescribeAddresses")?;
        Ok::<_, Failure>(answer.addresses.unwrap_or_default())
    };
    let mut found = describe(tags::below(owner, root_id)).await?;
    let missing = missing(
        known,
        slots,
        |spec| matches!(spec, Spec::Eip(_)),
        |slot| slot.starts_with("eip."),
        |id| found.iter().any(|it| it.allocation_id() == Some(id)),
    );
    if !missing.is_empty() {
        found.extend(describe(filter_any("allocation-id", missing)).await?);
    }
    Ok(found)
}

pub(super) async fn default_groups(session: &Session, root_id: &str) -> Result<Vec<SecurityGroup>, Failure> {
    let call = session.ec2.describe_security_groups();
    let call = call.filters(filter("vpc-id", root_id)).filters(filter("group-name", "default"));
    list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await
}

pub(super) async fn network_acls(session: &Session, root_id: &str) -> Result<Vec<NetworkAcl>, Failure> {
    let call = session.ec2.describe_network_acls().filters(filter("vpc-id", root_id));
    list_all("DescribeNetworkAcls", call.into_paginator().items().send()).await
}

/// The ids of one kind that are in state and that AWS has not returned. Of an object whose kind state does not contain,
/// the slot determines the kind.
fn missing<'a>(
    known: &HashMap<&'a str, &'a Entry>,
    slots: [Option<&'a BTreeMap<String, String>>; 2],
    is_kind: impl Fn(&Spec) -> bool,
    is_slot: impl Fn(&str) -> bool,
    is_shown: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let entries = known.iter().filter(|(_, entry)| is_kind(&entry.applied)).map(|(id, _)| *id);
    let slots = slots.into_iter().flatten().flatten().filter(|(_, slot)| is_slot(slot)).map(|(id, _)| id.as_str());
    let mut ids: Vec<&str> = entries.chain(slots).filter(|id| !is_shown(id)).collect();
    ids.sort_unstable();
    ids
}
