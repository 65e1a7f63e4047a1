//! The override for EC2 calls that make something and carry no idempotency token.

use aws_smithy_types::retry::RetryConfig;

use super::Session;

impl Session {
    /// Sends a call once: the SDK would repeat it after a lost answer, and make a second object.
    pub(crate) fn once_ec2(&self) -> aws_sdk_ec2::config::Builder {
        aws_sdk_ec2::Config::builder().retry_config(RetryConfig::disabled())
    }
}
