//! Subnets.

mod attributes;
mod ipv6;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_sdk_ec2::types::{HostnameType, ResourceType, SubnetState, Tag};
use ipnet::{IpNet, Ipv6Net};

use self::attributes::SubnetChange;
use super::claims::{Claims, Evidence, Ours};
use super::guardduty::{self, Object, Within};
use super::slots::tier_and_index;
use super::{filter, filter_any, tags};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{Entry, FoundSubnet, Learned, Spec, Subnet};

/// Both spellings exist; from a recorded answer of AWS.
const MISSING: MissingCodes = MissingCodes(&["InvalidSubnetID.NotFound", "InvalidSubnetId.NotFound"]);

/// How long a subnet may be pending.
const READY: Duration = Duration::from_secs(10 * 60);

/// The IPv6 range that is associated with the subnet.
pub(super) fn ipv6_range(subnet: &aws_sdk_ec2::types::Subnet) -> Option<Ipv6Net> {
    subnet.ipv6_cidr_block_association_set().iter().find(|it| ipv6::is_associated(it)).and_then(ipv6::range)
}

/// All subnets of a VPC.
pub(super) async fn in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<aws_sdk_ec2::types::Subnet>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_subnets().filters(filter_any::<String>("vpc-id", ids));
        list_all("DescribeSubnets", call.into_paginator().items().send())
    };
    session.shared.subnets.of(&session.shared.networks, vpc_id, |it| it.vpc_id(), list).await
}

impl Listed for aws_sdk_ec2::types::Subnet {
    fn id(&self) -> Option<&str> {
        self.subnet_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    fn evidence<'a>(&'a self, _: &Claims<'a>) -> Evidence<'a> {
        let fixed = self.cidr_block().unwrap_or_default().to_string();
        Evidence { fixed, ..Evidence::new("a subnet", |slot| tier_and_index(slot).is_some()) }
    }

    /// Tier and index come from state or from the slot.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let cidr_block = Input::Known(self.cidr_block().unwrap_or_default().to_string());
        let range = ipv6_range(self).filter(|range| is_expressed(&shown.unexpressed_ranges, range));
        let mut unexpressed = unexpressed(self);
        if let (Some(block), None) = (ipv6_range(self), range) {
            unexpressed.insert(Subnet::UNEXPRESSED_IPV6_BLOCK.to_string(), block.to_string());
        }
        let assigns = self.assign_ipv6_address_on_creation().unwrap_or(false)
            && !unexpressed.contains_key(Subnet::UNEXPRESSED_IPV6_BLOCK);
        let (key, tier, index) = match ours.place(Subnet::of)? {
            (key, Some(applied)) => (key, applied.tier, applied.index),
            (key, None) => {
                let (tier, index) = tier_and_index(&key.slot)?;
                let zone = self.availability_zone_id().unwrap_or_default();
                (keys::subnet(tier, index, zone, &cidr_block), tier, index)
            }
        };
        let block = self.cidr_block().and_then(|block| block.parse().ok());
        Some(Observed {
            id: self.subnet_id()?.to_string(),
            key,
            spec: Spec::Subnet(Subnet {
                vpc: shown.vpc.clone(),
                tier,
                index,
                availability_zone: self.availability_zone()?.to_string(),
                availability_zone_id: self.availability_zone_id()?.to_string(),
                cidr_block,
                secondary_range: block.and_then(|block| shown.secondary_range_around(block)).cloned(),
                map_public_ip_on_launch: Input::Known(self.map_public_ip_on_launch().unwrap_or(false)),
                ipv6_block: range.and_then(|range| shown.ipv6_block_around(range)).cloned(),
                ipv6_cidr_block: Input::Known(range.map(|range| range.to_string())),
                assign_ipv6_address_on_creation: Input::Known(assigns),
                tags: tags::own(self.tags()),
            }),
            learned: Learned { unexpressed, ..Learned::new() },
        })
    }
}

/// The settings of a subnet that no input sets and a new one does not have.
fn unexpressed(shown: &aws_sdk_ec2::types::Subnet) -> BTreeMap<String, String> {
    let names = shown.private_dns_name_options_on_launch();
    let is_on = |name: &'static str, value: Option<bool>| (name, value.filter(|it| *it).map(|it| it.to_string()));
    let settings = [
        is_on("enable_dns64", shown.enable_dns64),
        is_on("map_customer_owned_ip_on_launch", shown.map_customer_owned_ip_on_launch()),
        is_on("enable_resource_name_dns_a_record_on_launch", names.and_then(|it| it.enable_resource_name_dns_a_record)),
        is_on(
            "enable_resource_name_dns_aaaa_record_on_launch",
            names.and_then(|it| it.enable_resource_name_dns_aaaa_record),
        ),
        (
            "private_dns_hostname_type_on_launch",
            names.and_then(|it| it.hostname_type()).filter(|it| **it != HostnameType::IpName).map(ToString::to_string),
        ),
    ];
    settings.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// Whether a block is in none of the ranges that no input expresses.
fn is_expressed(unexpressed: &[Ipv6Net], block: &Ipv6Net) -> bool {
    !unexpressed.iter().any(|whole| whole.contains(block))
}

/// The subnet for the classification of a foreign network, with the IPv6 ranges of its VPC that no input expresses.
pub(super) fn found(it: &aws_sdk_ec2::types::Subnet, unexpressed: &[Ipv6Net]) -> FoundSubnet {
    FoundSubnet {
        id: it.subnet_id().unwrap_or_default().to_string(),
        tags: tags::all(it.tags()),
        zone: it.availability_zone().unwrap_or_default().to_string(),
        cidr_block: it.cidr_block().unwrap_or_default().to_string(),
        has_ipv6: ipv6_range(it).is_some_and(|block| is_expressed(unexpressed, &block)),
    }
}

pub(crate) async fn create(operation: &Operation<'_>, spec: &Subnet) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let cidr_block = operation.known(&spec.cidr_block)?;
    let range = ipv6::wanted(operation, spec)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    // An older subnet of this tier and index may still have the same tags, so the search includes VPC, range and AZ.
    let find = || async {
        let call = session
            .ec2
            .describe_subnets()
            .set_filters(Some(tags::of_this_object(operation)?))
            .filters(filter("vpc-id", vpc_id))
            .filters(filter("cidr-block", cidr_block));
        let found = list_all("DescribeSubnets", call.into_paginator().items().send()).await?;
        let mut in_zone = found.iter().filter(|it| {
            it.availability_zone_id() == Some(spec.availability_zone_id.as_str())
                || it.availability_zone() == Some(spec.availability_zone.as_str())
        });
        Ok(in_zone.find_map(|it| it.subnet_id()).map(str::to_string))
    };
    let is_answer_lost = AtomicBool::new(false);
    let find_after_lost_answer = || {
        is_answer_lost.store(true, Ordering::Relaxed);
        find()
    };
    let mutation = Mutation::of_ec2(operation, "CreateSubnet");
    let created = operation
        .retry_until_visible(&[vpc_id], || {
            mutation.create(
                || {
                    session
                        .ec2
                        .create_subnet()
                        .vpc_id(vpc_id)
                        .cidr_block(cidr_block)
                        .set_ipv6_cidr_block(range.map(|range| range.to_string()))
                        .availability_zone(&spec.availability_zone)
                        .tag_specifications(tags::on_create(ResourceType::Subnet, &tags))
                        .customize()
                        .config_override(session.once_ec2())
                        .send()
                },
                |answer| {
                    let id = answer.subnet().and_then(|it| it.subnet_id());
                    id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateSubnet", "an id"))
                },
                find_after_lost_answer,
            )
        })
        .await;
    let id = match created {
        // The range is in use: by this subnet, if an earlier answer was lost and the subnet was not visible to the
        // search yet. Without a lost answer, the tags of an existing subnet do not matter.
        Err(failure) if failure.cause == Cause::Exists && is_answer_lost.load(Ordering::Relaxed) => {
            find().await?.ok_or(failure)?
        }
        Err(failure) if failure.cause == Cause::Exists => {
            return Err(with_overlapping(session, failure, vpc_id, cidr_block).await);
        }
        created => created?,
    };
    operation.record_id(&id);
    poll_until(operation, &id, READY, |subnet| match subnet.state() {
        Some(SubnetState::Available) => match range {
            None => Ok(Poll::Done(())),
            Some(range) => ipv6::poll(ipv6::find(subnet, range)),
        },
        Some(SubnetState::Pending) | None => Ok(Poll::Pending("the subnet is pending".to_string())),
        Some(state) => {
            Err(Failure::new(Cause::Other, "CreateSubnet", format!("the state of the subnet is {}", state.as_str())))
        }
    })
    .await?;
    // Dependents do not need the attributes below, which only affect the addresses of new interfaces.
    operation.is_usable();
    for change in attributes::changes(operation, spec)?.into_iter().filter(SubnetChange::is_on) {
        attributes::set(operation, &id, change).await?;
    }
    Ok(())
}

/// Updates addressing, the IPv6 range and tags.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &Subnet, to: &Subnet) -> Result<(), Failure> {
    if from.map_public_ip_on_launch != to.map_public_ip_on_launch {
        let change = SubnetChange::MapPublicIp(*operation.known(&to.map_public_ip_on_launch)?);
        attributes::set(operation, id, change).await?;
    }
    ipv6::update(operation, id, from, to).await?;
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Deletes the subnet, and with it its route table association.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let exists = || async { Ok(session.pollers.subnets.now(&session.ec2, id).await?.is_some()) };
    let object = Object { vpc_id: operation.root_id()?, within: Within::Subnet(id), is_missing, exists };
    guardduty::delete_without(operation, object, || async {
        let call = session.ec2.delete_subnet().subnet_id(id).send().await;
        call.map(|_| ()).or_failure("DeleteSubnet")
    })
    .await?;
    let deadlines = operation.deadlines(wait::PROPAGATION);
    session
        .pollers
        .subnets
        .until(&session.ec2, "DeleteSubnet", id, &deadlines, |subnet| {
            Ok(match subnet {
                None => Poll::Done(()),
                Some(_) => Poll::Pending("the subnet still exists".to_string()),
            })
        })
        .await
}

/// The failure of a subnet whose range is in use, with the subnets that have a part of it and what to do.
async fn with_overlapping(session: &Session, failure: Failure, vpc_id: &str, cidr_block: &str) -> Failure {
    let subnets = in_vpc(session, vpc_id).await.unwrap_or_else(|failure| {
        tracing::warn!("The subnets of {vpc_id} that overlap {cidr_block} are unknown: {failure}");
        Vec::new()
    });
    let Ok(wanted) = cidr_block.parse::<IpNet>() else { return failure };
    let overlapping = subnets.iter().filter_map(|it| {
        let range: IpNet = it.cidr_block()?.parse().ok()?;
        let overlaps = range.contains(&wanted) || wanted.contains(&range);
        overlaps.then(|| format!("{} ({range})", it.subnet_id().unwrap_or_default()))
    });
    let overlapping: Vec<String> = overlapping.collect();
    if overlapping.is_empty() {
        return failure;
    }
    let message = format!(
        "{}. {cidr_block} overlaps {}. Delete that subnet, or choose another range for this one, then run Terraform again",
        failure.message.trim_end_matches('.'),
        overlapping.join(", ")
    );
    Failure { message, ..failure }
}

async fn poll_until(
    operation: &Operation<'_>,
    id: &str,
    at_most: Duration,
    check: impl Fn(&aws_sdk_ec2::types::Subnet) -> Result<Poll<()>, Failure>,
) -> Result<(), Failure> {
    let session = operation.session;
    let check = |subnet: Option<&aws_sdk_ec2::types::Subnet>| match subnet {
        Some(subnet) => check(subnet),
        None => Ok(Poll::Pending("the subnet is not visible yet".to_string())),
    };
    session.pollers.subnets.until(&session.ec2, "DescribeSubnets", id, &operation.deadlines(at_most), check).await
}

#[cfg(test)]
mod tests;
