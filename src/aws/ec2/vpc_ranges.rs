//! What associations of IPv4 and IPv6 ranges with a VPC have in common: AWS changes none of them, and continues to
//! return those that are disassociated.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use aws_sdk_ec2::types::{Vpc, VpcCidrBlockAssociation, VpcCidrBlockStateCode, VpcIpv6CidrBlockAssociation};

use super::vpc;
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, wait};
use crate::cloud::{Cause, Deadlines, Failure};

/// hashicorp/terraform-provider-aws handles it (`internal/service/ec2/errors.go`).
const MISSING: MissingCodes = MissingCodes(&["InvalidVpcCidrBlockAssociationID.NotFound"]);

/// How long a range may be associating.
pub(super) const READY: Duration = Duration::from_secs(10 * 60);

/// The association of a range with a VPC.
pub(super) trait Association: Sized {
    /// Those of a VPC.
    fn of_vpc(vpc: Vpc) -> Option<Vec<Self>>;

    fn id(&self) -> Option<&str>;

    fn state(&self) -> Option<&VpcCidrBlockStateCode>;

    /// Why it has failed.
    fn reason(&self) -> Option<&str>;

    /// Whether the range is associated or associating.
    fn exists(&self) -> bool {
        matches!(self.state(), Some(VpcCidrBlockStateCode::Associated | VpcCidrBlockStateCode::Associating))
    }

    /// Whether AWS is still associating it.
    fn is_associating(&self) -> bool {
        self.state() == Some(&VpcCidrBlockStateCode::Associating)
    }

    /// Its state, for a message.
    fn described(&self) -> String {
        format!("the range is {}", self.state().map_or("in an unknown state", |state| state.as_str()))
    }
}

impl Association for VpcCidrBlockAssociation {
    fn of_vpc(vpc: Vpc) -> Option<Vec<Self>> {
        vpc.cidr_block_association_set
    }

    fn id(&self) -> Option<&str> {
        self.association_id()
    }

    fn state(&self) -> Option<&VpcCidrBlockStateCode> {
        self.cidr_block_state()?.state()
    }

    fn reason(&self) -> Option<&str> {
        self.cidr_block_state()?.status_message()
    }
}

impl Association for VpcIpv6CidrBlockAssociation {
    fn of_vpc(vpc: Vpc) -> Option<Vec<Self>> {
        vpc.ipv6_cidr_block_association_set
    }

    fn id(&self) -> Option<&str> {
        self.association_id()
    }

    fn state(&self) -> Option<&VpcCidrBlockStateCode> {
        self.ipv6_cidr_block_state()?.state()
    }

    fn reason(&self) -> Option<&str> {
        self.ipv6_cidr_block_state()?.status_message()
    }
}

/// All associations of a VPC; empty if AWS does not return the VPC.
pub(super) async fn of_vpc<A: Association>(session: &Session, vpc_id: &str) -> Result<Vec<A>, Failure> {
    let mut found = vpc::with_id(session, vpc_id).await?;
    found.retain(|vpc| vpc.vpc_id() == Some(vpc_id));
    Ok(found.pop().and_then(A::of_vpc).unwrap_or_default())
}

/// Waits until a range is associated, and `is_done` is. `what` names the range in a failure.
pub(super) async fn associated<A: Association, V>(
    operation: &Operation<'_>,
    (vpc_id, id): (&str, &str),
    what: &str,
    is_done: impl Fn(&A) -> Poll<V>,
) -> Result<V, Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let all = of_vpc::<A>(operation.session, vpc_id).await?;
        let Some(range) = all.iter().find(|it| it.id() == Some(id)) else {
            return Ok(Poll::Pending("the range is not visible yet".to_string()));
        };
        match range.state() {
            Some(VpcCidrBlockStateCode::Associated) => Ok(is_done(range)),
            Some(VpcCidrBlockStateCode::Failed) => {
                let reason = range.reason().unwrap_or("AWS gave no reason");
                let message = format!("the {what} could not be associated with the VPC: {reason}");
                Err(Failure::new(Cause::Other, "AssociateVpcCidrBlock", message))
            }
            _ => Ok(Poll::Pending(range.described())),
        }
    })
    .await
}

/// Disassociates a range, and waits until it is. AWS rejects this while a subnet uses it.
pub(super) async fn disassociate<A: Association>(
    operation: &Operation<'_>,
    vpc_id: &str,
    id: &str,
    deadlines: &Deadlines,
) -> Result<(), Failure> {
    let session = operation.session;
    let find =
        async || Ok::<_, Failure>(of_vpc::<A>(session, vpc_id).await?.into_iter().find(|it| it.id() == Some(id)));
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let is_there = || async { Ok(find().await?.is_some_and(|it| it.exists())) };
    wait::delete(&operation.work.deadlines, is_missing, is_there, || async {
        let call = session.ec2.disassociate_vpc_cidr_block().association_id(id).send().await;
        call.map(|_| ()).or_failure("DisassociateVpcCidrBlock")
    })
    .await?;
    let was_leaving = AtomicBool::new(false);
    wait::until("DisassociateVpcCidrBlock", deadlines, wait::SECONDS, || async {
        let Some(range) = find().await? else { return Ok(Poll::Done(())) };
        match range.state() {
            Some(VpcCidrBlockStateCode::Disassociated) => return Ok(Poll::Done(())),
            Some(VpcCidrBlockStateCode::Disassociating) => was_leaving.store(true, Relaxed),
            // A read may still return the state from before the call.
            _ if was_leaving.load(Relaxed) => {
                let message =
                    format!("AWS accepted the removal of the range, which then failed: {}", range.described());
                return Err(Failure::new(Cause::InUse, "DisassociateVpcCidrBlock", message));
            }
            _ => {}
        }
        Ok(Poll::Pending(range.described()))
    })
    .await
}
