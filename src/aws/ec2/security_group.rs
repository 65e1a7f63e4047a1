//! The security groups that the network creates for its interface endpoints.

use std::collections::BTreeMap;

use aws_sdk_ec2::operation::create_security_group::CreateSecurityGroupOutput;
use aws_sdk_ec2::types::{Filter, ResourceType, SecurityGroup as Group, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::conflicts::{Text, explained_by};
use super::default_security_group::{MISSING, exists};
use super::network::Network;
use super::observed::{List, Listed, Shown};
use super::security_group_rules::of_permissions;
use super::{filter, filter_any, group_rules, tags};
use crate::aws::Session;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::{Operation, OrFailure, list_all, ownership, wait};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::{name_in, network as keys};
use crate::model::{Entry, Input, Learned, SecurityGroup, SecurityGroupRule, Spec};

/// The name of a new group in a slot. AWS compares the names of a VPC without case, and does not change them.
pub(super) fn name_of(slot: &str) -> String {
    match slot.strip_prefix(keys::ENDPOINT_GROUP) {
        Some(endpoint) => format!("interface-endpoint-{endpoint}"),
        None => SHARED.to_string(),
    }
}

const SHARED: &str = "interface-endpoints";

/// All names.
const NAMES: &str = "interface-endpoint*";

fn is_slot(slot: &str) -> bool {
    slot == keys::ENDPOINTS_GROUP || name_in(slot, keys::ENDPOINT_GROUP).is_some()
}

/// A group that is not the default one.
pub(super) struct Managed(Group);

/// The default group of a VPC, and the others that the network may manage: those with its names, in the same call, and
/// those that an adoption names.
pub(super) async fn lists(network: Network<'_>) -> Result<(Vec<Group>, List), Failure> {
    let Network { session, root_id, .. } = network;
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_security_groups().filters(filter_any::<String>("vpc-id", ids));
        let call = call.filters(filter_any("group-name", ["default", NAMES]));
        list_all("DescribeSecurityGroups", call.into_paginator().items().send())
    };
    let mut found = session.shared.security_groups.of(&session.shared.networks, root_id, Group::vpc_id, list).await?;
    let missing = network.missing(
        [network.slots, network.consented],
        |spec| matches!(spec, Spec::SecurityGroup(_)),
        is_slot,
        |id| found.iter().any(|it| it.group_id() == Some(id)),
    );
    if !missing.is_empty() {
        let call = session.ec2.describe_security_groups().filters(filter_any("group-id", missing));
        found.extend(list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?);
    }
    // Not every implementation of the EC2 API applies the filters.
    found.retain(|it| it.vpc_id().is_none_or(|id| id == root_id));
    let (default, others) = found.into_iter().partition(|it| it.group_name() == Some("default"));
    let others: Vec<Group> = others;
    Ok((default, others.into_iter().map(|it| Box::new(Managed(it)) as Box<dyn Listed>).collect()))
}

/// The groups, in any VPC of the account, whose rules refer to one of these, each with the IDs that it refers to. AWS
/// deletes none of these before.
pub(super) async fn referring_to(session: &Session, ids: &[&str]) -> Result<Vec<(Group, Vec<String>)>, Failure> {
    let mut all: Vec<(Group, Vec<String>)> = Vec::new();
    let filters = ["ip-permission.group-id", "egress.ip-permission.group-id"];
    for name in filters.into_iter().filter(|_| !ids.is_empty()) {
        let call = session.ec2.describe_security_groups().filters(filter_any(name, ids.iter().copied()));
        let found = list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?;
        // Not every implementation of the EC2 API applies the filter.
        for group in found {
            let rules = group.ip_permissions().iter().chain(group.ip_permissions_egress());
            let named: Vec<&str> =
                rules.flat_map(|rule| rule.user_id_group_pairs()).filter_map(|pair| pair.group_id()).collect();
            let others = ids.iter().filter(|id| group.group_id() != Some(**id) && named.contains(id));
            let others: Vec<String> = others.map(|id| id.to_string()).collect();
            if !others.is_empty() && all.iter().all(|(it, _)| it.group_id() != group.group_id()) {
                all.push((group, others));
            }
        }
    }
    Ok(all)
}

impl Listed for Managed {
    fn id(&self) -> Option<&str> {
        self.0.group_id()
    }

    fn tags(&self) -> &[Tag] {
        self.0.tags()
    }

    fn evidence<'a>(&'a self, _: &Claims<'a>) -> Evidence<'a> {
        Evidence::new("a security group of interface endpoints", is_slot)
    }

    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(SecurityGroup::of)?;
        let id = self.id()?;
        let rules = |permissions, applied: Option<&Input<Vec<_>>>| {
            let applied = applied.and_then(Input::known).map(Vec::as_slice).unwrap_or_default();
            Input::Known(of_permissions(permissions, id, self.0.owner_id(), applied))
        };
        let spec = SecurityGroup {
            vpc: shown.vpc.clone(),
            ingress: rules(self.0.ip_permissions(), applied.map(|it| &it.ingress)),
            egress: rules(self.0.ip_permissions_egress(), applied.map(|it| &it.egress)),
            tags: tags::own(self.tags()),
        };
        Some(Observed { id: id.to_string(), key, spec: Spec::SecurityGroup(spec), learned: Learned::new() })
    }
}

/// Creates the group, and replaces AWS's rule that allows all outbound traffic.
pub(crate) async fn create(operation: &Operation<'_>, spec: &SecurityGroup) -> Result<(), Failure> {
    let (vpc_id, first) = (operation.id(&spec.vpc)?, name_of(&operation.key.slot));
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = tags::add_request(&mut tags);
    let mut number = 1;
    let id = loop {
        let name = if number == 1 { first.clone() } else { format!("{first}-{number}") };
        let create = || create_named(operation, vpc_id, &name, (&tags, &request));
        match operation.retry_until_visible(&[vpc_id], create).await {
            Err(failure) if failure.cause == Cause::Exists => {
                let other = all_in_vpc(operation.session, vpc_id).await?.into_iter().find(|it| has_name(it, &name));
                let id = other.as_ref().and_then(Group::group_id);
                // A group keeps its name when its endpoint gets another key.
                if !id.is_some_and(|id| operation.work.known.contains(id)) {
                    return Err(match other.as_ref().and_then(|other| occupied(&operation.key.slot, other)) {
                        Some(text) => explained_by(failure, text),
                        None => failure,
                    });
                }
                number += 1;
            }
            created => break created?,
        }
    };
    operation.record_id(&id);
    set_rules(operation, &id, None, spec).await
}

/// Returns the ID of the new group. `request` finds it after a lost answer.
async fn create_named(
    operation: &Operation<'_>,
    vpc_id: &str,
    name: &str,
    (tags, request): (&BTreeMap<String, String>, &Filter),
) -> Result<String, Failure> {
    let session = operation.session;
    let create = || {
        session
            .ec2
            .create_security_group()
            .vpc_id(vpc_id)
            .group_name(name)
            .description("Access to the interface endpoints of this network")
            .tag_specifications(tags::on_create(ResourceType::SecurityGroup, tags))
            .customize()
            .config_override(session.once_ec2())
            .send()
    };
    let id = |answer: CreateSecurityGroupOutput| {
        answer.group_id.ok_or_else(|| incomplete_answer("CreateSecurityGroup", "an id"))
    };
    let find = || async {
        let found = in_vpc(operation.session, vpc_id, vec![request.clone()]).await?;
        Ok(found.into_iter().find_map(|it| it.group_id))
    };
    Mutation::of_ec2(operation, "CreateSecurityGroup").create(create, id, find).await
}

async fn in_vpc(session: &Session, vpc_id: &str, filters: Vec<Filter>) -> Result<Vec<Group>, Failure> {
    let filters = [vec![filter("vpc-id", vpc_id)], filters].concat();
    let call = session.ec2.describe_security_groups().set_filters(Some(filters));
    list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await
}

/// All groups of a VPC.
pub(super) async fn all_in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<Group>, Failure> {
    let mut found = in_vpc(session, vpc_id, Vec::new()).await?;
    // Not every implementation of the EC2 API applies the filter.
    found.retain(|it| it.vpc_id().is_none_or(|id| id == vpc_id));
    Ok(found)
}

/// Whether a group has a name. AWS does not distinguish case, unlike its filters.
pub(super) fn has_name(group: &Group, name: &str) -> bool {
    group.group_name().is_some_and(|other| other.eq_ignore_ascii_case(name))
}

/// The group that has the name of the one in a slot already.
pub(super) fn occupied(slot: &str, other: &Group) -> Option<Text> {
    let (id, name) = (other.group_id()?, other.group_name()?);
    let message = format!("{id}, which this resource does not manage, has the name {name}.");
    let hint = format!(
        "To take it over, set {slot:?} = {id:?} in adopt, and give it the rules that the plan names. To use it as it is, \
         set security_group_ids of the endpoints to it. Otherwise delete it."
    );
    Some((message, hint))
}

/// Sets the rules. `from` is the spec that was read; a new object has none.
async fn set_rules(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&SecurityGroup>,
    to: &SecurityGroup,
) -> Result<(), Failure> {
    let before = from.map(|from| rules_of(operation, from)).transpose()?.unwrap_or_default();
    group_rules::apply(operation, id, before, rules_of(operation, to)?).await
}

/// The inbound and the outbound rules.
fn rules_of<'a>(
    operation: &Operation<'_>,
    spec: &'a SecurityGroup,
) -> Result<[Option<&'a [SecurityGroupRule]>; 2], Failure> {
    Ok([Some(operation.known(&spec.ingress)?), Some(operation.known(&spec.egress)?)])
}

/// Updates rules and tags.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &SecurityGroup,
    to: &SecurityGroup,
) -> Result<(), Failure> {
    if (&from.ingress, &from.egress) != (&to.ingress, &to.egress) {
        set_rules(operation, id, Some(from), to).await?;
    }
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Deletes the group. AWS rejects this as long as a network interface uses it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    wait::delete(
        &operation.work.deadlines,
        is_missing,
        || exists(session, id),
        || async {
            let call = session.ec2.delete_security_group().group_id(id).send().await;
            call.map(|_| ()).or_failure("DeleteSecurityGroup")
        },
    )
    .await
}

#[cfg(test)]
mod tests;
