//! IPv6 ranges of VPCs. They have no tags: a range is managed if state contains the id of its association.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::types::{Subnet, Vpc, VpcIpv6CidrBlockAssociation};
use ipnet::{IpNet, Ipv6Net};

use super::claims::Ours;
use super::slots::tier_and_index;
use super::vpc_ranges::{Association, READY, associated, disassociate, of_vpc};
use super::{ipam, ipv6_range, subnet};
use crate::aws::calls::Operation;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed, Unmanaged};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{Entry, Ipv6Source, Key, Learned, Spec, Tier, VpcIpv6Block};

/// The name that AWS returns for its own pool.
const AMAZON: &str = "Amazon";

/// The name that AWS returns for all pools of IPAM.
const IPAM: &str = "IPAM Managed";

/// The pool of a range that its owner has brought to AWS without IPAM (BYOIP). No input names such a pool.
fn byoip_pool(block: &VpcIpv6CidrBlockAssociation) -> Option<&str> {
    let is_expressed = |pool: &str| pool.is_empty() || [AMAZON, IPAM].contains(&pool) || pool.starts_with("ipam-pool-");
    block.ipv6_pool().filter(|pool| !is_expressed(pool))
}

/// The ranges of a VPC that no input expresses.
fn unexpressed(vpc: &Vpc) -> impl Iterator<Item = (&VpcIpv6CidrBlockAssociation, &str)> {
    let blocks = vpc.ipv6_cidr_block_association_set().iter().filter(|block| block.exists());
    blocks.filter_map(|block| Some((block, byoip_pool(block)?)))
}

/// The addresses of these ranges.
pub(super) fn unexpressed_ranges(vpc: &Vpc) -> Vec<Ipv6Net> {
    unexpressed(vpc).filter_map(|(block, _)| range(block)).collect()
}

/// Why each of these ranges is unmanaged, by the ID of its association.
pub(super) fn unexpressed_reasons(vpc: &Vpc) -> BTreeMap<String, String> {
    let reason = |pool: &str| format!("its range comes from the pool {pool}, which no input expresses");
    unexpressed(vpc).filter_map(|(block, pool)| Some((block.association_id()?.to_string(), reason(pool)))).collect()
}

/// The range as AWS returns it. `source` is passed in, because it never changes and AWS returns only a part of it.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    source: Ipv6Source,
    block: &VpcIpv6CidrBlockAssociation,
) -> Option<Observed> {
    Some(Observed {
        id: block.association_id()?.to_string(),
        key,
        spec: Spec::VpcIpv6Block(VpcIpv6Block { vpc: shown.vpc.clone(), source }),
        learned: learned(block),
    })
}

/// Adds the VPC's IPv6 ranges that are in state. Ranges have no tags, so a first read, without state, adopts the range
/// that contains the range of a managed subnet. If no managed subnet has an IPv6 range, because a run was interrupted,
/// it adopts the only range that no subnet uses, if there is exactly one. A network has one range of each source: of
/// several, it adopts the one that public subnets use. All other ranges are unmanaged. No subnet uses a range that is
/// associating, which AWS returns as an empty one. Returns the ranges that no input expresses; their blocks of subnets
/// are unmanaged too.
pub(super) fn add_all(shown: &mut Shown<'_>, vpc: &Vpc, subnets: &[Subnet]) -> Vec<Unmanaged> {
    let (managed, unmanaged): (Vec<&Subnet>, Vec<&Subnet>) =
        subnets.iter().partition(|it| shown.ours(it.subnet_id()).is_some());
    let ranges_of =
        |subnets: Vec<&Subnet>| -> Vec<Ipv6Net> { subnets.into_iter().filter_map(subnet::ipv6_range).collect() };
    let is_public = |it: &&Subnet| match shown.ours(it.subnet_id()) {
        Some(Ours::State(entry)) => tier_and_index(&entry.key.slot).is_some_and(|(tier, _)| tier == Tier::Public),
        Some(Ours::Slot(slot)) => tier_and_index(slot).is_some_and(|(tier, _)| tier == Tier::Public),
        None => false,
    };
    let public = ranges_of(managed.iter().copied().filter(is_public).collect());
    let (managed, unmanaged) = (ranges_of(managed), ranges_of(unmanaged));
    let blocks = vpc.ipv6_cidr_block_association_set().iter().filter(|block| block.exists());
    let is_used = |block: &VpcIpv6CidrBlockAssociation, by: &[Ipv6Net]| {
        range(block).is_some_and(|whole| by.iter().any(|range| whole.contains(range)))
    };
    let expressed = blocks.clone().filter(|block| byoip_pool(block).is_none());
    let unused: Vec<Option<&str>> =
        expressed.filter(|block| !is_used(block, &unmanaged)).map(|block| block.association_id()).collect();
    let is_adopted = |block: &VpcIpv6CidrBlockAssociation| match managed.is_empty() {
        true => unused == [block.association_id()],
        false => is_used(block, &managed),
    };
    let first_read = shown.is_first_read();
    let mut blocks: Vec<&VpcIpv6CidrBlockAssociation> = blocks.collect();
    blocks.sort_by_key(|block| !is_used(block, &public));
    let mut adopted = BTreeSet::new();
    for block in blocks {
        let known = block.association_id().and_then(|id| shown.known(id));
        let (key, source) = match known {
            Some(Entry { key, applied: Spec::VpcIpv6Block(applied), .. }) => (key.clone(), applied.source.clone()),
            None if first_read && is_adopted(block) && byoip_pool(block).is_none() => {
                let source = source(block, &shown.network.session.scope.region);
                let key = keys::ipv6_cidr_block(&source);
                if !adopted.insert(key.clone()) {
                    continue;
                }
                (key, source)
            }
            _ => continue,
        };
        shown.add(read(shown, key, source, block));
    }
    let mut reasons = unexpressed_reasons(vpc);
    // An earlier version has adopted such a range as one of IPAM.
    reasons.retain(|id, _| shown.key(id).is_none());
    let of_reasons = |it: &&VpcIpv6CidrBlockAssociation| it.association_id().is_some_and(|id| reasons.contains_key(id));
    shown.unexpressed_ranges =
        vpc.ipv6_cidr_block_association_set().iter().filter(of_reasons).filter_map(range).collect();
    let unmanaged = |(id, reason)| Unmanaged { id, slot: None, is_tagged: false, reason };
    reasons.into_iter().map(unmanaged).collect()
}

/// The source of a range, as far as AWS returns it.
pub(super) fn source(block: &VpcIpv6CidrBlockAssociation, region: &str) -> Ipv6Source {
    if block.ipv6_pool() == Some(AMAZON) {
        let group = block.network_border_group().filter(|group| *group != region).map(str::to_string);
        return Ipv6Source::Amazon { network_border_group: Input::Known(group) };
    }
    let (pool_id, cidr_block) = (Input::Known(None), Input::Known(None));
    Ipv6Source::Pool { pool_id, cidr_block, netmask_length: Input::Known(None) }
}

/// Associates a range with the VPC, or adopts the one that an interrupted run associated.
pub(crate) async fn create(operation: &Operation<'_>, spec: &VpcIpv6Block) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let source = Source::of(operation, &spec.source)?;
    let before = blocks_with_ranges(operation, vpc_id).await?;
    let fits = |block: &&VpcIpv6CidrBlockAssociation| block.exists() && source.fits(block, &session.scope.region);
    let id = |block: &VpcIpv6CidrBlockAssociation| block.association_id().map(str::to_string);
    let id = match leftover(operation, vpc_id, before.iter().filter(fits).collect()).await? {
        Some(leftover) => leftover,
        None => {
            let request = source.request(session.ec2.associate_vpc_cidr_block().vpc_id(vpc_id))?;
            let mutation = Mutation::of_ec2(operation, "AssociateVpcCidrBlock");
            let associate = || {
                mutation.create(
                    || request.clone().customize().config_override(session.once_ec2()).send(),
                    |answer| {
                        let created = answer.ipv6_cidr_block_association().and_then(id);
                        created.ok_or_else(|| incomplete_answer("AssociateVpcCidrBlock", "an id"))
                    },
                    || async {
                        let now = of_vpc::<VpcIpv6CidrBlockAssociation>(session, vpc_id).await?;
                        let is_new = |id: &String| !before.iter().any(|block| block.association_id() == Some(id));
                        Ok(now.iter().filter(fits).filter_map(id).find(is_new))
                    },
                )
            };
            let pools: Vec<&str> = source.pool_id().into_iter().collect();
            operation
                .retry_until_visible(&[&[vpc_id], pools.as_slice()].concat(), || ipam::monitored(operation, associate))
                .await?
        }
    };
    operation.record_id(&id);
    ready(operation, vpc_id, &id).await
}

/// Returns the range that an interrupted run associated: the only one of these that is not in state and that no
/// unmanaged subnet uses. Calls nothing if all of them are in state.
async fn leftover(
    operation: &Operation<'_>,
    vpc_id: &str,
    mut ranges: Vec<&VpcIpv6CidrBlockAssociation>,
) -> Result<Option<String>, Failure> {
    let is_in_state = |id: Option<&str>| id.is_some_and(|id| operation.work.known.contains(id));
    ranges.retain(|it| !is_in_state(it.association_id()));
    if ranges.is_empty() {
        return Ok(None);
    }
    let mut subnets = subnet::in_vpc(operation.session, vpc_id).await?;
    subnets.retain(|it| !is_in_state(it.subnet_id()));
    let used: Vec<Ipv6Net> = subnets.iter().filter_map(subnet::ipv6_range).collect();
    ranges.retain(|it| !range(it).is_some_and(|whole| used.iter().any(|part| whole.contains(part))));
    Ok(match ranges.as_slice() {
        [only] => only.association_id().map(str::to_string),
        _ => None,
    })
}

/// Makes no change, because AWS cannot change a range. A pool that AWS did not return may become known after an import,
/// which needs no call. Waits for the range if its creation has been interrupted.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    _: &VpcIpv6Block,
    to: &VpcIpv6Block,
) -> Result<(), Failure> {
    match operation.is_resumed() {
        true => ready(operation, operation.id(&to.vpc)?, id).await,
        false => Ok(()),
    }
}

/// Disassociates the range. AWS rejects this while a subnet has a part of it. If the range came from a pool, waits
/// until the pool has released it, because until then a new VPC may find the pool exhausted. With the VPC, AWS has
/// deleted the range too, so that only this wait remains.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let VpcIpv6Block { vpc, source } = operation.of_its_kind(VpcIpv6Block::of(&entry.applied))?;
    let Ok(vpc_id) = operation.id(vpc) else {
        return released(operation, entry, source, operation.root_id()?).await;
    };
    let deadlines = operation.deadlines(wait::PROPAGATION);
    disassociate::<VpcIpv6CidrBlockAssociation>(operation, vpc_id, &entry.id, &deadlines).await?;
    released(operation, entry, source, vpc_id).await
}

/// Waits until the pool has released the range, if the range is from a pool that is known.
async fn released(operation: &Operation<'_>, entry: &Entry, source: &Ipv6Source, vpc_id: &str) -> Result<(), Failure> {
    let Ipv6Source::Pool { pool_id: Input::Known(Some(pool_id)), .. } = source else { return Ok(()) };
    let range = entry.learned.get("ipv6_cidr_block").and_then(|text| ipv6_range(text));
    ipam::released(operation, pool_id, vpc_id, range.map(IpNet::V6)).await
}

/// Waits until the range is associated, and records it. `disassociated` and `failing` are interim states on the way
/// there.
async fn ready(operation: &Operation<'_>, vpc_id: &str, id: &str) -> Result<(), Failure> {
    let is_done = |block: &VpcIpv6CidrBlockAssociation| match learned(block) {
        learned if learned.is_empty() => Poll::Pending("the range is associated, but empty".to_string()),
        learned => Poll::Done(learned),
    };
    let learned = associated(operation, (vpc_id, id), "IPv6 range", is_done).await?;
    operation.record_learned(learned);
    Ok(())
}

/// All ranges of the VPC. AWS returns an empty range while it is associating, so this waits for those that are not in
/// state: a run that was killed may have associated them.
async fn blocks_with_ranges(
    operation: &Operation<'_>,
    vpc_id: &str,
) -> Result<Vec<VpcIpv6CidrBlockAssociation>, Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = of_vpc::<VpcIpv6CidrBlockAssociation>(operation.session, vpc_id).await?;
        let is_in_state = |block: &VpcIpv6CidrBlockAssociation| {
            block.association_id().is_some_and(|id| operation.work.known.contains(id))
        };
        let is_empty = |block: &VpcIpv6CidrBlockAssociation| block.exists() && range(block).is_none();
        Ok(match blocks.iter().any(|block| !is_in_state(block) && is_empty(block)) {
            true => Poll::Pending("an IPv6 range that is not in state is associating".to_string()),
            false => Poll::Done(blocks),
        })
    })
    .await
}

/// The range; `None` while AWS returns an empty one.
pub(super) fn range(block: &VpcIpv6CidrBlockAssociation) -> Option<Ipv6Net> {
    block.ipv6_cidr_block().and_then(ipv6_range)
}

fn learned(block: &VpcIpv6CidrBlockAssociation) -> Learned {
    range(block).map(|range| ("ipv6_cidr_block".to_string(), range.to_string())).into_iter().collect()
}

type Request = aws_sdk_ec2::operation::associate_vpc_cidr_block::builders::AssociateVpcCidrBlockFluentBuilder;

/// An [`Ipv6Source`] whose values are all known.
enum Source<'a> {
    Amazon { network_border_group: Option<&'a str> },
    Pool { pool_id: Option<&'a str>, cidr_block: Option<&'a str>, netmask_length: Option<i64> },
}

impl<'a> Source<'a> {
    fn of(operation: &Operation<'_>, source: &'a Ipv6Source) -> Result<Source<'a>, Failure> {
        Ok(match source {
            Ipv6Source::Amazon { network_border_group } => {
                Source::Amazon { network_border_group: operation.known(network_border_group)?.as_deref() }
            }
            Ipv6Source::Pool { pool_id, cidr_block, netmask_length } => Source::Pool {
                pool_id: operation.known(pool_id)?.as_deref(),
                cidr_block: operation.known(cidr_block)?.as_deref(),
                netmask_length: *operation.known(netmask_length)?,
            },
        })
    }

    fn pool_id(&self) -> Option<&'a str> {
        match *self {
            Source::Amazon { .. } => None,
            Source::Pool { pool_id, .. } => pool_id,
        }
    }

    fn request(&self, call: Request) -> Result<Request, Failure> {
        Ok(match *self {
            Source::Amazon { network_border_group } => call
                .amazon_provided_ipv6_cidr_block(true)
                .set_ipv6_cidr_block_network_border_group(network_border_group.map(str::to_string)),
            Source::Pool { pool_id: None, .. } => {
                let message =
                    "the IPAM pool of the range is unknown, because AWS does not return it; set ipv6_ipam_pool_id";
                return Err(Failure::new(Cause::Other, "AssociateVpcCidrBlock", message));
            }
            Source::Pool { pool_id, cidr_block, netmask_length } => call
                .set_ipv6_ipam_pool_id(pool_id.map(str::to_string))
                .set_ipv6_cidr_block(cidr_block.map(str::to_string))
                .set_ipv6_netmask_length(ipam::netmask_length("AssociateVpcCidrBlock", netmask_length)?),
        })
    }

    /// Whether a range may come from this source, as far as AWS returns its source. A range that is associating may
    /// come from any pool.
    fn fits(&self, block: &VpcIpv6CidrBlockAssociation, region: &str) -> bool {
        let is_amazon = block.ipv6_pool() == Some(AMAZON);
        match *self {
            Source::Amazon { network_border_group } => {
                let group = block.network_border_group().unwrap_or(region);
                is_amazon && group == network_border_group.unwrap_or(region)
            }
            Source::Pool { cidr_block, netmask_length, .. } => {
                let has_range = |range: Ipv6Net| {
                    cidr_block.is_none_or(|wanted| ipv6_range(wanted) == Some(range))
                        && netmask_length.is_none_or(|length| length == i64::from(range.prefix_len()))
                };
                !is_amazon && byoip_pool(block).is_none() && range(block).is_none_or(has_range)
            }
        }
    }
}

#[cfg(test)]
mod tests;
