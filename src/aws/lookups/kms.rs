//! KMS keys. Users identify a key in several ways, but CloudWatch Logs accepts only its ARN.

use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::cloud::{Cause, Failure};
use crate::model::Found;

/// The ARN of the key with this id, alias or alias ARN.
pub(crate) async fn key_arn(session: &Session, id: &str) -> Result<Found<String>, Failure> {
    match session.kms.describe_key().key_id(id).send().await.or_failure("DescribeKey") {
        Ok(answer) => Ok(answer.key_metadata.and_then(|key| key.arn).map_or(Found::Missing, Found::There)),
        Err(failure) if failure.cause == Cause::NotFound => Ok(Found::Missing),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};

    const ARN: &str = "arn:aws:kms:r:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";

    async fn key_arn_with(answer: Answer) -> (Result<Found<String>, Failure>, Recorded) {
        let aws = Recorded::default().on("DescribeKey", answer);
        (key_arn(&aws.session("r"), "alias/logs").await, aws)
    }

    /// Recorded: DescribeKey.
    #[tokio::test(start_paused = true)]
    async fn an_alias_resolves_to_the_arn_of_its_key() {
        let metadata = json!({ "KeyMetadata": { "AWSAccountId": "123456789012",
            "KeyId": "1234abcd-12ab-34cd-56ef-1234567890ab", "Arn": ARN, "CreationDate": 1_715_008_487.651, "Enabled": true,
            "Description": "", "KeyUsage": "ENCRYPT_DECRYPT", "KeyState": "Enabled", "Origin": "AWS_KMS",
            "KeyManager": "CUSTOMER", "CustomerMasterKeySpec": "SYMMETRIC_DEFAULT", "KeySpec": "SYMMETRIC_DEFAULT",
            "EncryptionAlgorithms": ["SYMMETRIC_DEFAULT"], "MultiRegion": false } });
        let (found, aws) = key_arn_with(Answer::Json(200, metadata)).await;
        assert_eq!(found, Ok(Found::There(ARN.to_string())));
        assert_eq!(aws.body("DescribeKey"), json!({ "KeyId": "alias/logs" }));
    }

    /// Recorded: DescribeKey.
    #[tokio::test(start_paused = true)]
    async fn an_absent_key_is_missing_and_a_denied_one_is_an_error() {
        let missing = Answer::Error(400, "NotFoundException", "Alias arn:aws:kms:r:1:alias/logs is not found.");
        assert_eq!(key_arn_with(missing).await.0, Ok(Found::Missing));
        let text = "User: u is not authorized to perform: kms:DescribeKey on resource: r";
        let (found, aws) = key_arn_with(Answer::Error(400, "AccessDeniedException", text)).await;
        let failure = found.unwrap_err();
        assert_eq!(failure.cause, crate::cloud::Cause::Denied);
        assert!(failure.message.contains("the permission kms:DescribeKey is missing"), "{failure}");
        assert_eq!(aws.calls().len(), 1);
    }
}
