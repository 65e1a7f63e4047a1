//! Secondary IPv4 ranges of VPCs. They have no tags: the range identifies the association, because a VPC has each range
//! only once.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_ec2::types::{RouteTable, Vpc, VpcCidrBlockAssociation, VpcCidrBlockStateCode};
use ipnet::Ipv4Net;

use super::route::is_created_by_aws;
use super::vpc;
use super::vpc_ipv6_block::MISSING;
use crate::aws::Session;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed, Unmanaged};
use crate::model::keys::network as keys;
use crate::model::{Entry, FoundObject, Learned, OccupiedAddresses, Spec, VpcCidrBlock};

/// How long a range may be associating.
const READY: Duration = Duration::from_secs(10 * 60);

/// The range as AWS returns it.
fn read(shown: &Shown<'_>, (id, range): (&str, Ipv4Net)) -> Observed {
    let cidr_block = range.to_string();
    let (key, vpc) = (keys::cidr_block(&cidr_block), shown.vpc.clone());
    let spec = Spec::VpcCidrBlock(VpcCidrBlock { vpc, cidr_block });
    Observed { id: id.to_string(), key, spec, learned: Learned::new() }
}

/// Adds the ranges that are in state and, in an import, all of them. The others are unmanaged, and recorded as learned
/// values of the VPC together with the unmanaged routes that exclude ranges.
pub(super) fn add_all(shown: &mut Shown<'_>, vpc: &Vpc, tables: &[RouteTable]) -> Vec<Unmanaged> {
    let mut occupied = OccupiedAddresses { routes: destinations(tables), ..OccupiedAddresses::default() };
    let network = shown.network;
    for (id, range) in secondary(vpc) {
        let key = keys::cidr_block(&range.to_string());
        let is_known = network.known.values().any(|entry| entry.key == key);
        let in_state =
            network.slots.is_some_and(|slots| slots.contains_key(id) || slots.values().any(|it| *it == key.slot));
        if is_known || in_state || network.trusts_tags() {
            shown.add(Some(read(shown, (id, range))));
        } else {
            occupied.ranges.insert(range, id.to_string());
        }
    }
    let unmanaged = |(range, id): (&Ipv4Net, &String)| Unmanaged {
        id: id.clone(),
        slot: Some(keys::cidr_block(&range.to_string()).slot),
        is_tagged: false,
        reason: format!("it associates the range {range}, which secondary_cidr_blocks does not contain"),
    };
    let unmanaged = occupied.ranges.iter().map(unmanaged).collect();
    shown.learn(network.root_id, OccupiedAddresses::LEARNED.to_string(), occupied.text());
    unmanaged
}

/// The ranges of a foreign network, for its classification.
pub(super) fn found(shown: &Shown<'_>, vpc: &Vpc) -> Vec<(FoundObject, Spec)> {
    let object = |it: (&str, Ipv4Net)| {
        let Observed { id, spec, .. } = read(shown, it);
        (FoundObject { id, ..FoundObject::default() }, spec)
    };
    secondary(vpc).map(object).collect()
}

/// The IDs of the associations that AWS has not completed.
pub(super) fn associating(vpc: &Vpc) -> impl Iterator<Item = &str> {
    let is_associating = |block: &&VpcCidrBlockAssociation| state(block) == Some(&VpcCidrBlockStateCode::Associating);
    vpc.cidr_block_association_set().iter().filter(is_associating).filter_map(|block| block.association_id())
}

/// The associated and associating ranges besides the primary one. AWS continues to return disassociated ranges.
fn secondary(vpc: &Vpc) -> impl Iterator<Item = (&str, Ipv4Net)> {
    let primary = vpc.cidr_block();
    let blocks = vpc.cidr_block_association_set().iter();
    let blocks = blocks.filter(move |block| exists(block) && block.cidr_block() != primary);
    blocks.filter_map(|block| Some((block.association_id()?, range(block)?)))
}

/// The destinations of all routes to unmanaged objects, except default routes. The provider creates no others.
fn destinations(tables: &[RouteTable]) -> BTreeMap<Ipv4Net, String> {
    let of_table = |table: &RouteTable| {
        let routes = table.routes().iter().filter(|route| !is_created_by_aws(route));
        let table_id = table.route_table_id().map(str::to_string);
        routes.filter_map(|route| Some((route.destination_cidr_block()?.parse().ok()?, table_id.clone()?))).collect()
    };
    let all = tables.iter().flat_map(|table| -> Vec<(Ipv4Net, String)> { of_table(table) });
    all.filter(|(destination, _)| destination.prefix_len() > 0).collect()
}

/// Associates the range with the VPC, or takes over its association: that of an interrupted run, or one of which the
/// plan has warned.
pub(crate) async fn create(operation: &Operation<'_>, spec: &VpcCidrBlock) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let wanted: Ipv4Net = spec.cidr_block.parse().map_err(|error| {
        Failure::new(Cause::Other, operation.key.slot.clone(), format!("{} is not a range: {error}", spec.cidr_block))
    })?;
    let find = || async { Ok(id_of(&blocks(session, vpc_id).await?, wanted)) };
    let id = match existing(operation, vpc_id, wanted).await? {
        Some(existing) => existing,
        None => {
            let mutation = Mutation::of_ec2(operation, "AssociateVpcCidrBlock");
            let request = session.ec2.associate_vpc_cidr_block().vpc_id(vpc_id).cidr_block(&spec.cidr_block);
            let associate = || {
                mutation.create(
                    || request.clone().customize().config_override(session.once_ec2()).send(),
                    |answer| {
                        let id = answer.cidr_block_association().and_then(|block| block.association_id());
                        id.map(str::to_string).ok_or_else(|| incomplete_answer("AssociateVpcCidrBlock", "an id"))
                    },
                    find,
                )
            };
            operation.retry_until_visible(&[vpc_id], associate).await?
        }
    };
    operation.record_id(&id);
    ready(operation, vpc_id, &id).await
}

/// Makes no change, because AWS cannot change a range. If `from` is `None`, waits for it, because its creation may have
/// been interrupted.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&VpcCidrBlock>,
    to: &VpcCidrBlock,
) -> Result<(), Failure> {
    match from {
        Some(_) => Ok(()),
        None => ready(operation, operation.id(&to.vpc)?, id).await,
    }
}

/// Disassociates the range. AWS rejects this while a subnet is in it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let spec = operation.of_its_kind(VpcCidrBlock::of(&entry.applied))?;
    let vpc_id = operation.id(&spec.vpc)?;
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let is_there = || async {
        let blocks = blocks(session, vpc_id).await?;
        Ok(blocks.iter().any(|block| block.association_id() == Some(id) && exists(block)))
    };
    wait::delete(&operation.work.deadlines, is_missing, is_there, || async {
        let call = session.ec2.disassociate_vpc_cidr_block().association_id(id).send().await;
        call.map(|_| ()).or_failure("DisassociateVpcCidrBlock")
    })
    .await?;
    wait::until("DisassociateVpcCidrBlock", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = blocks(session, vpc_id).await?;
        let state = blocks.iter().find(|block| block.association_id() == Some(id)).map(state);
        Ok(match state {
            None | Some(Some(VpcCidrBlockStateCode::Disassociated)) => Poll::Done(()),
            Some(state) => Poll::Pending(described(state)),
        })
    })
    .await
}

/// The association of the range, if there is one. Waits while one is disassociating, because AWS rejects another one
/// until then.
async fn existing(operation: &Operation<'_>, vpc_id: &str, wanted: Ipv4Net) -> Result<Option<String>, Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = blocks(operation.session, vpc_id).await?;
        let is_leaving = |block: &&VpcCidrBlockAssociation| {
            range(block) == Some(wanted) && state(block) == Some(&VpcCidrBlockStateCode::Disassociating)
        };
        Ok(match blocks.iter().find(is_leaving) {
            Some(block) => Poll::Pending(described(state(block))),
            None => Poll::Done(id_of(&blocks, wanted)),
        })
    })
    .await
}

/// Waits until the range is associated.
async fn ready(operation: &Operation<'_>, vpc_id: &str, id: &str) -> Result<(), Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = blocks(operation.session, vpc_id).await?;
        let Some(block) = blocks.iter().find(|block| block.association_id() == Some(id)) else {
            return Ok(Poll::Pending("the range is not visible yet".to_string()));
        };
        match state(block) {
            Some(VpcCidrBlockStateCode::Associated) => Ok(Poll::Done(())),
            Some(VpcCidrBlockStateCode::Failed) => {
                let reason = block.cidr_block_state().and_then(|state| state.status_message());
                let reason = reason.unwrap_or("AWS gave no reason");
                let message = format!("the range could not be associated with the VPC: {reason}");
                Err(Failure::new(Cause::Other, "AssociateVpcCidrBlock", message))
            }
            state => Ok(Poll::Pending(described(state))),
        }
    })
    .await
}

async fn blocks(session: &Session, vpc_id: &str) -> Result<Vec<VpcCidrBlockAssociation>, Failure> {
    let mut found = vpc::with_id(session, vpc_id).await?;
    found.retain(|vpc| vpc.vpc_id() == Some(vpc_id));
    Ok(found.pop().and_then(|vpc| vpc.cidr_block_association_set).unwrap_or_default())
}

fn id_of(blocks: &[VpcCidrBlockAssociation], wanted: Ipv4Net) -> Option<String> {
    let found = blocks.iter().find(|block| exists(block) && range(block) == Some(wanted));
    found.and_then(|block| block.association_id()).map(str::to_string)
}

fn exists(block: &VpcCidrBlockAssociation) -> bool {
    matches!(state(block), Some(VpcCidrBlockStateCode::Associated | VpcCidrBlockStateCode::Associating))
}

fn state(block: &VpcCidrBlockAssociation) -> Option<&VpcCidrBlockStateCode> {
    block.cidr_block_state().and_then(|state| state.state())
}

fn described(state: Option<&VpcCidrBlockStateCode>) -> String {
    format!("the range is {}", state.map_or("in an unknown state", |state| state.as_str()))
}

fn range(block: &VpcCidrBlockAssociation) -> Option<Ipv4Net> {
    block.cidr_block()?.parse().ok()
}

#[cfg(test)]
mod tests;
