//! Creating calls that carry no idempotency token: `CreateVpc`, `CreateSubnet`, `CreateInternetGateway`,
//! `AllocateAddress`, `AssociateVpcCidrBlock`, `AssociateSubnetCidrBlock`.
//!
//! When the answer is lost, AWS may have made the object, and sending the call again would make another one that
//! nobody knows of. So the object is looked for first, by its ownership tags, or, where it has none, by what was
//! not there before.
use std::time::Duration;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use tokio::time::Instant;

use crate::aws::calls::wait::Pauses;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Failure, Patience};

/// How often the call is sent.
const ATTEMPTS: u32 = 3;

/// How long AWS is given to show an object that it may have made.
const SEARCH: Duration = Duration::from_secs(10);

/// Sends a call once, and again only when its answer was lost and `find` does not find the object.
pub(super) async fn create<T, O, E, S, F>(
    operation: &Operation<'_>,
    action: &str,
    send: impl Fn() -> S,
    answered: impl Fn(O) -> Result<T, Failure>,
    find: impl Fn() -> F,
) -> Result<T, Failure>
where
    S: Future<Output = Result<O, SdkError<E, HttpResponse>>>,
    F: Future<Output = Result<Option<T>, Failure>>,
    SdkError<E, HttpResponse>: AwsError,
{
    let mut sent = 0;
    loop {
        sent += 1;
        let error = match send().await {
            Ok(answer) => return answered(answer),
            Err(error) => error,
        };
        let failure = error.failure(action);
        if !error.is_lost() {
            return Err(failure);
        }
        let patience = operation.patience(SEARCH);
        let mut pauses = Pauses::new(Duration::from_secs(2));
        loop {
            if let Some(found) = find().await? {
                return Ok(found);
            }
            if pauses.pause(&patience).await.is_err() {
                break;
            }
        }
        let Patience { deadline, stop, .. } = &operation.work.patience;
        if sent == ATTEMPTS || stop.is_cancelled() || Instant::now() >= *deadline {
            return Err(failure);
        }
    }
}
