//! Lambda functions, which this provider only looks up.

use super::permission::{self, FunctionPolicy};
use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::cloud::{Cause, Failure};
use crate::model::FunctionArn;

/// Whether a function exists, with its alias or version. `GetPolicy` returns the same error for a missing function and
/// for one without a policy (recorded: AddPermission, errors-2025).
pub(crate) async fn exists(session: &Session, arn: &FunctionArn) -> Result<bool, Failure> {
    let place = FunctionPolicy::of_function(arn);
    permission::throttle(session, &place, "lambda").await;
    let call = session.lambda(&arn.region).get_function_configuration().function_name(&place.function_arn);
    match call.set_qualifier(place.qualifier).send().await.or_failure("GetFunctionConfiguration") {
        Ok(_) => Ok(true),
        Err(failure) if failure.cause == Cause::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}
