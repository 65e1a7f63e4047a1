//! Keys, which users name in several ways and CloudWatch Logs takes by one.

use super::{AwsError, Session};
use crate::cloud::Failure;
use crate::product::Found;

/// The ARN of the key with this id, alias or alias ARN.
pub(crate) async fn key_arn(session: &Session, id: &str) -> Result<Found<String>, Failure> {
    match session.kms.describe_key().key_id(id).send().await.map_err(|error| error.failure("DescribeKey")) {
        Ok(answer) => Ok(answer.key_metadata.and_then(|key| key.arn).map_or(Found::Missing, Found::There)),
        Err(failure) if failure.code.as_deref() == Some("NotFoundException") => Ok(Found::Missing),
        Err(failure) => Err(failure),
    }
}
