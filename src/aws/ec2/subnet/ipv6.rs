//! IPv6 ranges of subnets. AWS gives a subnet one at most, and exchanges none in one step.

use std::time::Duration;

use aws_sdk_ec2::types::{SubnetCidrBlockStateCode, SubnetIpv6CidrBlockAssociation};
use ipnet::Ipv6Net;

use super::attributes::{self, SubnetChange};
use super::look_until;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{AwsError, Operation};
use crate::aws::ec2::ipv6_range;
use crate::cloud::{Cause, Failure};
use crate::model::Subnet;

/// How long a range may be associating or disassociating.
const READY: Duration = Duration::from_secs(3 * 60);

/// How long a range may stay with another subnet, which may be about to give it up, or in use.
const FREE: Duration = Duration::from_secs(2 * 60);

/// The range of an association, without host bits.
pub(super) fn range(association: &SubnetIpv6CidrBlockAssociation) -> Option<Ipv6Net> {
    association.ipv6_cidr_block().and_then(ipv6_range)
}

/// Whether the subnet has the range.
pub(super) fn is_associated(association: &SubnetIpv6CidrBlockAssociation) -> bool {
    state(association) == Some(&SubnetCidrBlockStateCode::Associated)
}

/// The range that the subnet is to have.
pub(super) fn wanted(operation: &Operation<'_>, spec: &Subnet) -> Result<Option<Ipv6Net>, Failure> {
    let Some(text) = operation.known(&spec.ipv6_cidr_block)? else { return Ok(None) };
    let refused = || Failure::new(Cause::Other, operation.key.slot.clone(), format!("{text} is no IPv6 range"));
    ipv6_range(text).map(Some).ok_or_else(refused)
}

/// The association of a new subnet with its range.
pub(super) fn find(subnet: &aws_sdk_ec2::types::Subnet, wanted: Ipv6Net) -> Option<&SubnetIpv6CidrBlockAssociation> {
    subnet.ipv6_cidr_block_association_set().iter().find(|it| range(it) == Some(wanted))
}

/// How far an association is. `disassociated` and `failing` are passed on the way.
pub(super) fn look(association: Option<&SubnetIpv6CidrBlockAssociation>) -> Result<Poll<()>, Failure> {
    let Some(association) = association else {
        return Ok(Poll::Pending("the IPv6 range is not visible yet".to_string()));
    };
    match state(association) {
        Some(SubnetCidrBlockStateCode::Associated) => Ok(Poll::Done(())),
        Some(SubnetCidrBlockStateCode::Failed) => {
            let reason = association.ipv6_cidr_block_state().and_then(|state| state.status_message());
            let message = format!("the subnet got no IPv6 range: {}", reason.unwrap_or("AWS gave no reason"));
            Err(Failure::new(Cause::Other, "AssociateSubnetCidrBlock", message))
        }
        state => Ok(Poll::Pending(words(state))),
    }
}

/// Brings range and addressing from one look to another. Where the look is not known for sure, the subnet is looked at
/// first. Addressing is off while the range changes, as AWS demands.
pub(super) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&Subnet>,
    to: &Subnet,
) -> Result<(), Failure> {
    let assigns = match from {
        Some(from) if from.ipv6_cidr_block == to.ipv6_cidr_block => {
            *operation.known(&from.assign_ipv6_address_on_creation)?
        }
        _ => exchange(operation, id, wanted(operation, to)?).await?,
    };
    let assign = *operation.known(&to.assign_ipv6_address_on_creation)?;
    if assigns != assign {
        attributes::set(operation, id, SubnetChange::AssignIpv6(assign)).await?;
    }
    Ok(())
}

/// Gives the subnet this range and no other. Tells whether its interfaces get addresses afterwards.
async fn exchange(operation: &Operation<'_>, id: &str, wanted: Option<Ipv6Net>) -> Result<bool, Failure> {
    use SubnetCidrBlockStateCode::{Associated, Associating, Disassociated, Disassociating, Failed};
    let session = operation.session;
    let subnet = session.pollers.subnets.now(&session.ec2, id).await?;
    let absent = || Failure::new(Cause::NotFound, "DescribeSubnets", format!("{id} does not exist"));
    let subnet = subnet.ok_or_else(absent)?;
    let mut assigns = subnet.assign_ipv6_address_on_creation().unwrap_or(false);
    let has_wanted = |it: &SubnetIpv6CidrBlockAssociation| {
        wanted.is_some() && range(it) == wanted && matches!(state(it), Some(Associated | Associating))
    };
    let mut staying = None;
    for it in subnet.ipv6_cidr_block_association_set() {
        let Some(association_id) = it.association_id() else { continue };
        if has_wanted(it) {
            staying = Some(association_id.to_string());
        } else if !matches!(state(it), Some(Disassociated | Failed)) {
            if assigns {
                attributes::set(operation, id, SubnetChange::AssignIpv6(false)).await?;
                assigns = false;
            }
            if state(it) != Some(&Disassociating) {
                disassociate(operation, association_id).await?;
            }
            look_until(operation, id, READY, |subnet| {
                Ok(match by_id(subnet, association_id).map(state) {
                    None | Some(Some(Disassociated)) => Poll::Done(()),
                    Some(state) => Poll::Pending(words(state)),
                })
            })
            .await?;
        }
    }
    let Some(wanted) = wanted else { return Ok(assigns) };
    let association_id = match staying {
        Some(association_id) => association_id,
        None => associate(operation, id, wanted).await?,
    };
    look_until(operation, id, READY, |subnet| look(by_id(subnet, &association_id))).await?;
    Ok(assigns)
}

/// Sends the call that gives the range, again for a while where another subnet has it: that one may give it up in this
/// very apply.
async fn associate(operation: &Operation<'_>, id: &str, wanted: Ipv6Net) -> Result<String, Failure> {
    let session = operation.session;
    let mutation = Mutation::of_ec2(operation, "AssociateSubnetCidrBlock");
    let send = || {
        mutation.create(
            || {
                session
                    .ec2
                    .associate_subnet_cidr_block()
                    .subnet_id(id)
                    .ipv6_cidr_block(wanted.to_string())
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| {
                let association = answer.ipv6_cidr_block_association();
                let association_id = association.and_then(|it| it.association_id()).map(str::to_string);
                association_id.ok_or_else(|| incomplete_answer("AssociateSubnetCidrBlock", "an id"))
            },
            || async {
                use SubnetCidrBlockStateCode::{Associated, Associating};
                let subnet = session.pollers.subnets.now(&session.ec2, id).await?;
                let associations = subnet.and_then(|it| it.ipv6_cidr_block_association_set).unwrap_or_default();
                let found = associations
                    .iter()
                    .find(|it| range(it) == Some(wanted) && matches!(state(it), Some(Associated | Associating)));
                Ok(found.and_then(|it| it.association_id()).map(str::to_string))
            },
        )
    };
    let is_taken = |failure: &Failure| failure.cause == Cause::Exists;
    let mut backoff = Backoff::new(wait::SECONDS);
    let associate = || async { operation.retry_until_visible(&[id], send).await };
    wait::retry_while(&operation.deadlines(FREE), &mut backoff, is_taken, associate).await
}

async fn disassociate(operation: &Operation<'_>, association_id: &str) -> Result<(), Failure> {
    let session = operation.session;
    wait::retry_while_in_use(&operation.deadlines(FREE), || async {
        let call = session.ec2.disassociate_subnet_cidr_block().association_id(association_id).send().await;
        call.map(|_| ()).map_err(|error| error.failure("DisassociateSubnetCidrBlock"))
    })
    .await
}

fn by_id<'a>(subnet: &'a aws_sdk_ec2::types::Subnet, id: &str) -> Option<&'a SubnetIpv6CidrBlockAssociation> {
    subnet.ipv6_cidr_block_association_set().iter().find(|it| it.association_id() == Some(id))
}

fn state(association: &SubnetIpv6CidrBlockAssociation) -> Option<&SubnetCidrBlockStateCode> {
    association.ipv6_cidr_block_state().and_then(|state| state.state())
}

fn words(state: Option<&SubnetCidrBlockStateCode>) -> String {
    format!("the IPv6 range is {}", state.map_or("there", |state| state.as_str()))
}
