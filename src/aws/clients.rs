//! The clients of one provider configuration.

use std::sync::Arc;

use super::calls::process_state::ProcessState;
use super::ec2::Pollers;
use super::shared_reads::SharedReads;
use crate::aws::calls::shared_lists::Company;
use crate::model::{Scope, TopologyKind};

/// The clients of one provider configuration. Cheap to clone: clones share connections, which are opened on first use.
#[derive(Clone)]
pub struct Session {
    pub(crate) scope: Scope,
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) apigateway: aws_sdk_apigatewayv2::Client,
    pub(crate) logs: aws_sdk_cloudwatchlogs::Client,
    pub(crate) acm: aws_sdk_acm::Client,
    pub(crate) kms: aws_sdk_kms::Client,
    pub(crate) route53: aws_sdk_route53::Client,
    /// The configuration of the Lambda clients, which are created for the Region of each function.
    pub(crate) lambda_config: aws_sdk_lambda::Config,
    /// Shared polls of EC2 objects.
    pub(crate) pollers: Arc<Pollers>,
    /// The lists that the reads of several roots share.
    pub(crate) shared: Arc<SharedReads>,
    /// The state that all sessions of this process share.
    pub(crate) process: Arc<ProcessState>,
}

impl Session {
    /// The roots of this kind whose reads share lists.
    pub(crate) fn company(&self, owner: TopologyKind) -> &Arc<Company> {
        match owner {
            TopologyKind::FourTierVpc => &self.shared.networks,
            TopologyKind::HttpGateway => &self.shared.gateways,
        }
    }

    /// A Lambda client for the Region of a function, which may differ from the provider's.
    pub(crate) fn lambda(&self, region: &str) -> aws_sdk_lambda::Client {
        let region = aws_types::region::Region::new(region.to_string());
        aws_sdk_lambda::Client::from_conf(self.lambda_config.to_builder().region(region).build())
    }
}
