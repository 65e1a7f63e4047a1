//! The subscription that forwards log events.

use super::*;
use crate::model::Destination;
use crate::model::check_role;

/// The size of a filter pattern that CloudWatch Logs takes, in characters.
const LONGEST_PATTERN: usize = 1024;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const DISTRIBUTION: &str = "access_log_logservice_group_subscription_distribution";
const PATTERN: &str = "access_log_logservice_group_subscription_filter_pattern";
const ROLE: &str = "access_log_logservice_group_subscription_role_arn";

impl Problems {
    pub(super) fn subscription(&mut self, config: &GatewayConfig) {
        let pattern = config.access_log_logservice_group_subscription_filter_pattern.known();
        if let Some(length) = pattern.map(|it| it.chars().count()).filter(|it| *it > LONGEST_PATTERN) {
            let message = format!("The pattern has {length} characters; CloudWatch Logs takes {LONGEST_PATTERN}.");
            self.add(AttributePath::new(PATTERN), message, "Shorten it.");
        }
        let role = &config.access_log_logservice_group_subscription_role_arn;
        if let Input::Known(Some(role)) = role
            && let Err(message) = check_role(role)
        {
            let hint = "Give an ARN such as arn:aws:iam::123456789012:role/name.";
            self.add(AttributePath::new(ROLE), message, hint);
        }
        match &config.access_log_logservice_group_subscription_destination_arn {
            Input::Unknown => {}
            Input::Known(None) => self.without_destination(config),
            Input::Known(Some(arn)) => match Destination::parse(arn) {
                Ok(destination) => self.destination(arn, &destination, config),
                Err(message) => {
                    let hint = "Give the ARN of a Lambda function, a Kinesis stream or a Firehose delivery stream.";
                    self.add(AttributePath::new(DESTINATION), message, hint);
                }
            },
        }
    }

    fn destination(&mut self, arn: &str, destination: &Destination, config: &GatewayConfig) {
        match (destination.is_stream(), &config.access_log_logservice_group_subscription_role_arn) {
            (true, Input::Known(None)) => self.add(
                AttributePath::new(ROLE),
                format!("{arn:?} is a stream, to which CloudWatch Logs writes by a role, and there is none."),
                "Set it to the ARN of a role that logs.amazonaws.com may take and that may write to the stream.",
            ),
            (false, Input::Known(Some(role))) => self.add(
                AttributePath::new(ROLE),
                format!("{arn:?} is a function, which CloudWatch Logs calls by a permission, so {role:?} is not used."),
                format!("Remove {ROLE}: the permission is made for you."),
            ),
            _ => {}
        }
        if let Input::Known(Some(distribution)) = &config.access_log_logservice_group_subscription_distribution
            && *destination != Destination::KinesisStream
        {
            let message =
                format!("{arn:?} is not a Kinesis stream, and nothing else has shards for {distribution:?} to choose.");
            self.add(AttributePath::new(DISTRIBUTION), message, format!("Remove {DISTRIBUTION}."));
        }
    }

    fn without_destination(&mut self, config: &GatewayConfig) {
        // Where access logs are off, that has been said.
        if config.access_log_logservice_group_name == Input::Known(None) {
            return;
        }
        let pattern = config.access_log_logservice_group_subscription_filter_pattern.known();
        let set = [
            (
                DISTRIBUTION,
                config.access_log_logservice_group_subscription_distribution.known().and_then(Option::as_ref),
            ),
            (PATTERN, pattern.filter(|it| !it.is_empty())),
            (ROLE, config.access_log_logservice_group_subscription_role_arn.known().and_then(Option::as_ref)),
        ];
        for (name, value) in set {
            let Some(value) = value else { continue };
            let message = format!("It is {value:?}, but no log events are forwarded, so it would have no effect.");
            self.add(AttributePath::new(name), message, format!("Set {DESTINATION}, or remove {name}."));
        }
    }
}
