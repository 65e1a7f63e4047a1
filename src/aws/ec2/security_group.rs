//! The security groups that the network creates for its interface endpoints.

use aws_sdk_ec2::types::{ResourceType, SecurityGroup as Group, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::default_security_group::{MISSING, exists};
use super::network::Network;
use super::observed::{List, Listed, Shown};
use super::security_group_rules::of_permissions;
use super::{filter, filter_any, group_rules, tags};
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::{Operation, OrFailure, list_all, ownership, wait};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::{name_in, network as keys};
use crate::model::{Entry, Input, Learned, SecurityGroup, Spec};

/// The name of the group in a slot. AWS compares the names of a VPC without case, and does not change them.
fn name_of(slot: &str) -> String {
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
    let (session, vpc_id, name) = (operation.session, operation.id(&spec.vpc)?, name_of(&operation.key.slot));
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = tags::add_request(&mut tags);
    let of_vpc = |filters: Vec<_>| async move {
        let filters = [vec![filter("vpc-id", vpc_id)], filters].concat();
        let call = session.ec2.describe_security_groups().set_filters(Some(filters));
        list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await
    };
    let mutation = Mutation::of_ec2(operation, "CreateSecurityGroup");
    let create = || {
        mutation.create(
            || {
                session
                    .ec2
                    .create_security_group()
                    .vpc_id(vpc_id)
                    .group_name(&name)
                    .description("Access to the interface endpoints of this network")
                    .tag_specifications(tags::on_create(ResourceType::SecurityGroup, &tags))
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| answer.group_id.ok_or_else(|| incomplete_answer("CreateSecurityGroup", "an id")),
            || async { Ok(of_vpc(vec![request.clone()]).await?.into_iter().find_map(|it| it.group_id)) },
        )
    };
    let id = match operation.retry_until_visible(&[vpc_id], create).await {
        Err(failure) if failure.cause == Cause::Exists => {
            // A filter distinguishes case.
            let has_name = |it: &Group| it.group_name().is_some_and(|other| other.eq_ignore_ascii_case(&name));
            let other = of_vpc(Vec::new()).await?.into_iter().find(has_name);
            return Err(occupied(failure, &operation.key.slot, other.as_ref()));
        }
        created => created?,
    };
    operation.record_id(&id);
    set_rules(operation, &id, spec).await
}

/// Names the group that has the name already.
fn occupied(failure: Failure, slot: &str, other: Option<&Group>) -> Failure {
    let Some((id, name)) = other.and_then(|it| Some((it.group_id()?, it.group_name()?))) else { return failure };
    let message = format!(
        "{}. {id}, which this resource does not manage, has the name {name}. To take it over, set {slot:?} = {id:?} in \
         adopt, and give it the rules that the plan names. To use it as it is, set security_group_ids of the endpoints \
         to it. Otherwise delete it",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}

async fn set_rules(operation: &Operation<'_>, id: &str, spec: &SecurityGroup) -> Result<(), Failure> {
    let (ingress, egress) = (operation.known(&spec.ingress)?, operation.known(&spec.egress)?);
    group_rules::apply(operation, id, [Some(ingress), Some(egress)]).await
}

/// Updates rules and tags.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&SecurityGroup>,
    to: &SecurityGroup,
) -> Result<(), Failure> {
    if from.is_none_or(|from| (&from.ingress, &from.egress) != (&to.ingress, &to.egress)) {
        set_rules(operation, id, to).await?;
    }
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
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
