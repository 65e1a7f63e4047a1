//! The only code that knows the AWS SDK: one file per kind of object, each with the same functions in the same
//! order (`read`, `create`, `update`, `delete`).

mod ec2;
mod errors;
mod once_ec2;
mod operation;
mod ownership;
#[cfg(test)]
mod recorded;
mod waits;

use crate::product::Scope;

pub(crate) use errors::AwsError;
pub(crate) use operation::Operation;

/// Clients for one provider configuration. Cheap to clone; connections are shared and made on first use.
#[derive(Clone)]
pub struct Session {
    pub(crate) scope: Scope,
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) apigateway: aws_sdk_apigatewayv2::Client,
    pub(crate) logs: aws_sdk_cloudwatchlogs::Client,
    /// The configuration that Lambda clients are made from, one per Region of a function.
    pub(crate) lambda_config: aws_sdk_lambda::Config,
    /// What this process has made.
    pub(crate) newborns: waits::Newborns,
    /// Watches the NAT gateways of all operations together.
    pub(crate) nat_gateways: ec2::NatGatewayPoller,
}

impl Session {
    /// A Lambda client for the Region of a function, which may differ from the provider's.
    pub(crate) fn lambda(&self, region: &str) -> aws_sdk_lambda::Client {
        let region = aws_types::region::Region::new(region.to_string());
        aws_sdk_lambda::Client::from_conf(self.lambda_config.to_builder().region(region).build())
    }
}
