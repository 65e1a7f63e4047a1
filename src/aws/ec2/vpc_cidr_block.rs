//! Secondary IPv4 ranges of VPCs. They have no tags: the range identifies the association, because a VPC has each range
//! only once.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{RouteTable, Vpc, VpcCidrBlockAssociation, VpcCidrBlockStateCode};
use ipnet::Ipv4Net;

use super::route::is_created_by_aws;
use super::vpc_ranges::{Association, READY, associated, disassociate, of_vpc};
use crate::aws::calls::Operation;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed, Unmanaged};
use crate::model::keys::network as keys;
use crate::model::{Entry, FoundObject, Learned, OccupiedAddresses, Spec, VpcCidrBlock};

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
    let associating = vpc.cidr_block_association_set().iter().filter(|block| block.is_associating());
    associating.filter_map(|block| block.association_id())
}

/// The associated and associating ranges besides the primary one. AWS continues to return disassociated ranges.
fn secondary(vpc: &Vpc) -> impl Iterator<Item = (&str, Ipv4Net)> {
    let primary = vpc.cidr_block();
    let blocks = vpc.cidr_block_association_set().iter();
    let blocks = blocks.filter(move |block| block.exists() && block.cidr_block() != primary);
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
    let find = || async { Ok(id_of(&of_vpc(session, vpc_id).await?, wanted)) };
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

/// Makes no change, because AWS cannot change a range. Waits for it if its creation has been interrupted.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    _: &VpcCidrBlock,
    to: &VpcCidrBlock,
) -> Result<(), Failure> {
    match operation.is_resumed() {
        true => ready(operation, operation.id(&to.vpc)?, id).await,
        false => Ok(()),
    }
}

/// Disassociates the range. AWS rejects this while a subnet is in it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let spec = operation.of_its_kind(VpcCidrBlock::of(&entry.applied))?;
    let (vpc_id, deadlines) = (operation.id(&spec.vpc)?, operation.deadlines(READY));
    disassociate::<VpcCidrBlockAssociation>(operation, vpc_id, &entry.id, &deadlines).await
}

/// The association of the range, if there is one. Waits while one is disassociating, because AWS rejects another one
/// until then.
async fn existing(operation: &Operation<'_>, vpc_id: &str, wanted: Ipv4Net) -> Result<Option<String>, Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = of_vpc(operation.session, vpc_id).await?;
        let is_leaving = |block: &&VpcCidrBlockAssociation| {
            range(block) == Some(wanted) && block.state() == Some(&VpcCidrBlockStateCode::Disassociating)
        };
        Ok(match blocks.iter().find(is_leaving) {
            Some(block) => Poll::Pending(block.described()),
            None => Poll::Done(id_of(&blocks, wanted)),
        })
    })
    .await
}

/// Waits until the range is associated.
async fn ready(operation: &Operation<'_>, vpc_id: &str, id: &str) -> Result<(), Failure> {
    associated(operation, (vpc_id, id), "range", |_: &VpcCidrBlockAssociation| Poll::Done(())).await
}

fn id_of(blocks: &[VpcCidrBlockAssociation], wanted: Ipv4Net) -> Option<String> {
    let found = blocks.iter().find(|block| block.exists() && range(block) == Some(wanted));
    found.and_then(|block| block.association_id()).map(str::to_string)
}

fn range(block: &VpcCidrBlockAssociation) -> Option<Ipv4Net> {
    block.cidr_block()?.parse().ok()
}

#[cfg(test)]
mod tests;
