//! IPv6 ranges of subnets. AWS allows one for each subnet and cannot replace it in one call.

use std::time::Duration;

use aws_sdk_ec2::types::{SubnetCidrBlockStateCode, SubnetIpv6CidrBlockAssociation};
use ipnet::Ipv6Net;

use super::attributes::{self, SubnetChange};
use super::poll_until;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::ec2::ipv6_range;
use crate::cloud::{Cause, Failure};
use crate::model::Subnet;

/// hashicorp/terraform-provider-aws handles it (`internal/service/ec2/errors.go`).
const MISSING: MissingCodes = MissingCodes(&["InvalidSubnetCidrBlockAssociationID.NotFound"]);

/// How long a range may be associating or disassociating.
const READY: Duration = Duration::from_secs(3 * 60);

/// How long to retry while another subnet, which may be about to release the range, has it, or while it is in use.
const RELEASED: Duration = Duration::from_secs(2 * 60);

/// The range of an association, without host bits.
pub(super) fn range(association: &SubnetIpv6CidrBlockAssociation) -> Option<Ipv6Net> {
    association.ipv6_cidr_block().and_then(ipv6_range)
}

/// Whether the state is `associated`.
pub(super) fn is_associated(association: &SubnetIpv6CidrBlockAssociation) -> bool {
    state(association) == Some(&SubnetCidrBlockStateCode::Associated)
}

/// The range in the spec.
pub(super) fn wanted(operation: &Operation<'_>, spec: &Subnet) -> Result<Option<Ipv6Net>, Failure> {
    let Some(text) = operation.known(&spec.ipv6_cidr_block)? else { return Ok(None) };
    let invalid = || Failure::new(Cause::Other, operation.key.slot.clone(), format!("{text} is not an IPv6 range"));
    ipv6_range(text).map(Some).ok_or_else(invalid)
}

/// The association of the subnet with this range.
pub(super) fn find(subnet: &aws_sdk_ec2::types::Subnet, wanted: Ipv6Net) -> Option<&SubnetIpv6CidrBlockAssociation> {
    subnet.ipv6_cidr_block_association_set().iter().find(|it| range(it) == Some(wanted))
}

/// Whether an association is complete. `disassociated` and `failing` are interim states on the way to `associated`.
pub(super) fn poll(association: Option<&SubnetIpv6CidrBlockAssociation>) -> Result<Poll<()>, Failure> {
    let Some(association) = association else {
        return Ok(Poll::Pending("the IPv6 range is not visible yet".to_string()));
    };
    match state(association) {
        Some(SubnetCidrBlockStateCode::Associated) => Ok(Poll::Done(())),
        Some(SubnetCidrBlockStateCode::Failed) => {
            let reason = association.ipv6_cidr_block_state().and_then(|state| state.status_message());
            let reason = reason.unwrap_or("AWS gave no reason");
            let message = format!("the IPv6 range could not be associated with the subnet: {reason}");
            Err(Failure::new(Cause::Other, "AssociateSubnetCidrBlock", message))
        }
        state => Ok(Poll::Pending(describe_state(state))),
    }
}

/// Updates range and addressing. Addressing is off while the range changes, as AWS requires.
pub(super) async fn update(operation: &Operation<'_>, id: &str, from: &Subnet, to: &Subnet) -> Result<(), Failure> {
    let wanted = wanted(operation, to)?;
    let assigns = if from.ipv6_cidr_block != to.ipv6_cidr_block {
        replace_range(operation, id, wanted).await?
    } else {
        if let Some(wanted) = wanted.filter(|_| operation.is_resumed()) {
            // The association may have been interrupted.
            poll_until(operation, id, READY, |subnet| poll(find(subnet, wanted))).await?;
        }
        *operation.known(&from.assign_ipv6_address_on_creation)?
    };
    let assign = *operation.known(&to.assign_ipv6_address_on_creation)?;
    if assigns != assign {
        attributes::set(operation, id, SubnetChange::AssignIpv6(assign)).await?;
    }
    Ok(())
}

/// Makes `wanted` the only range of the subnet. Returns the value of `assign_ipv6_address_on_creation` afterwards.
async fn replace_range(operation: &Operation<'_>, id: &str, wanted: Option<Ipv6Net>) -> Result<bool, Failure> {
    use SubnetCidrBlockStateCode::{Associated, Associating, Disassociated, Disassociating, Failed};
    let session = operation.session;
    let subnet = session.pollers.subnets.now(&session.ec2, id).await?;
    let absent = || Failure::new(Cause::NotFound, "DescribeSubnets", format!("{id} does not exist"));
    let subnet = subnet.ok_or_else(absent)?;
    let mut assigns = subnet.assign_ipv6_address_on_creation().unwrap_or(false);
    let has_wanted = |it: &SubnetIpv6CidrBlockAssociation| {
        wanted.is_some() && range(it) == wanted && matches!(state(it), Some(Associated | Associating))
    };
    let mut existing = None;
    for it in subnet.ipv6_cidr_block_association_set() {
        let Some(association_id) = it.association_id() else { continue };
        if has_wanted(it) {
            existing = Some(association_id.to_string());
        } else if !matches!(state(it), Some(Disassociated | Failed)) {
            if assigns {
                attributes::set(operation, id, SubnetChange::AssignIpv6(false)).await?;
                assigns = false;
            }
            if state(it) != Some(&Disassociating) {
                disassociate(operation, id, association_id).await?;
            }
            poll_until(operation, id, READY, |subnet| {
                Ok(match by_id(subnet, association_id).map(state) {
                    None | Some(Some(Disassociated)) => Poll::Done(()),
                    Some(state) => Poll::Pending(describe_state(state)),
                })
            })
            .await?;
        }
    }
    let Some(wanted) = wanted else { return Ok(assigns) };
    let association_id = match existing {
        Some(association_id) => association_id,
        None => associate(operation, id, wanted).await?,
    };
    poll_until(operation, id, READY, |subnet| poll(by_id(subnet, &association_id))).await?;
    Ok(assigns)
}

/// Associates the range. Retries while another subnet has it, because the same apply may disassociate it there.
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
    wait::retry_while(&operation.deadlines(RELEASED), &mut backoff, is_taken, associate).await
}

async fn disassociate(operation: &Operation<'_>, id: &str, association_id: &str) -> Result<(), Failure> {
    let session = operation.session;
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, association_id);
    let exists = || async {
        let subnet = session.pollers.subnets.now(&session.ec2, id).await?;
        let state = subnet.as_ref().and_then(|subnet| by_id(subnet, association_id)).map(state);
        Ok(state.is_some_and(|state| state != Some(&SubnetCidrBlockStateCode::Disassociated)))
    };
    wait::delete(&operation.deadlines(RELEASED), is_missing, exists, || async {
        let call = session.ec2.disassociate_subnet_cidr_block().association_id(association_id).send().await;
        call.map(|_| ()).or_failure("DisassociateSubnetCidrBlock")
    })
    .await
}

fn by_id<'a>(subnet: &'a aws_sdk_ec2::types::Subnet, id: &str) -> Option<&'a SubnetIpv6CidrBlockAssociation> {
    subnet.ipv6_cidr_block_association_set().iter().find(|it| it.association_id() == Some(id))
}

/// The state. Any text that is none of AWS's states counts as `associated`, because all other states are interim ones
/// or failures. moto 5.2.5 returns such a text.
fn state(association: &SubnetIpv6CidrBlockAssociation) -> Option<&SubnetCidrBlockStateCode> {
    let state = association.ipv6_cidr_block_state().and_then(|state| state.state())?;
    let is_of_aws = SubnetCidrBlockStateCode::values().contains(&state.as_str());
    Some(if is_of_aws { state } else { &SubnetCidrBlockStateCode::Associated })
}

fn describe_state(state: Option<&SubnetCidrBlockStateCode>) -> String {
    format!("the IPv6 range is {}", state.map_or("in an unknown state", |state| state.as_str()))
}
