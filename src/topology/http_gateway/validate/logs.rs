//! Access logs: the log group, their format, and the subscription that forwards log events.

use super::*;
use crate::model::{Destination, KmsKey, check_role, only};

/// The size of a format that API Gateway takes, in bytes.
const LONGEST_FORMAT: usize = 3072;

/// The size of a filter pattern that CloudWatch Logs takes, in characters.
const LONGEST_PATTERN: usize = 1024;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const DISTRIBUTION: &str = "access_log_logservice_group_subscription_distribution";
const PATTERN: &str = "access_log_logservice_group_subscription_filter_pattern";
const ROLE: &str = "access_log_logservice_group_subscription_role_arn";

impl Problems {
    pub(super) fn access_logs(&mut self, config: &GatewayConfig) {
        match &config.access_log_logservice_group_name {
            Input::Unknown => {}
            Input::Known(Some(name)) => self.group_name(name),
            Input::Known(None) => self.without_access_logs(config),
        }
        if let Input::Known(Some(key)) = &config.access_log_logservice_group_kms_key_id
            && let Err(message) = KmsKey::parse(key)
        {
            let hint = "Give the id or ARN of a key of your own, its alias as alias/<name>, or the alias's ARN.";
            self.add(AttributePath::new("access_log_logservice_group_kms_key_id"), message, hint);
        }
        self.format(config);
    }

    fn group_name(&mut self, name: &str) {
        let path = AttributePath::new("access_log_logservice_group_name");
        if name.is_empty() || name.len() > 512 {
            let message = format!("{name:?} has {} characters; a log group's name has 1 to 512.", name.len());
            self.add(path, message, "Choose another name, or leave it out to turn access logs off.");
        } else if !only(name, "._-/#") {
            let message = format!("{name:?} is not a log group's name.");
            self.add(path, message, "Use letters, digits, and . _ - / # alone.");
        } else if name.starts_with("aws/") {
            let message = format!("{name:?} starts with \"aws/\", which AWS keeps for itself.");
            self.add(path, message, "Choose another name; \"/aws/\" is allowed.");
        }
    }

    fn without_access_logs(&mut self, config: &GatewayConfig) {
        let is_set = |input: &Input<Option<String>>| matches!(input, Input::Known(Some(_)));
        let set = [
            (
                "access_log_logservice_group_retention_in_days",
                matches!(config.access_log_logservice_group_retention_in_days, Input::Known(Some(_))),
            ),
            (
                "access_log_logservice_group_tags",
                matches!(&config.access_log_logservice_group_tags, Input::Known(Some(tags)) if !tags.is_empty()),
            ),
            ("access_log_logservice_group_kms_key_id", is_set(&config.access_log_logservice_group_kms_key_id)),
            (
                "access_log_logservice_group_subscription_destination_arn",
                is_set(&config.access_log_logservice_group_subscription_destination_arn),
            ),
            (
                "access_log_logservice_group_subscription_distribution",
                is_set(&config.access_log_logservice_group_subscription_distribution),
            ),
            (
                "access_log_logservice_group_subscription_filter_pattern",
                config.access_log_logservice_group_subscription_filter_pattern.known().is_some_and(|it| !it.is_empty()),
            ),
            (
                "access_log_logservice_group_subscription_role_arn",
                is_set(&config.access_log_logservice_group_subscription_role_arn),
            ),
            ("access_log_format_type", matches!(config.access_log_format_type.known(), Some(it) if it != "JSON")),
            ("custom_access_log_format", is_set(&config.custom_access_log_format)),
        ];
        for (name, _) in set.into_iter().filter(|(_, set)| *set) {
            let message = format!("{name} is set, but access logs are off, so it would have no effect.");
            let hint = format!("Set access_log_logservice_group_name, or remove {name}.");
            self.add(AttributePath::new(name), message, hint);
        }
    }

    fn format(&mut self, config: &GatewayConfig) {
        let path = AttributePath::new("custom_access_log_format");
        let kind = config.access_log_format_type.known().map(String::as_str);
        match (&config.custom_access_log_format, kind) {
            (Input::Known(None), Some("CUSTOM")) => self.add(
                path,
                "access_log_format_type is \"CUSTOM\", but there is no custom_access_log_format.",
                "Set custom_access_log_format, or use \"JSON\" or \"CLF\".",
            ),
            (Input::Known(Some(_)), Some(kind @ ("CLF" | "JSON"))) => self.add(
                path,
                format!(
                    "custom_access_log_format is set, but access_log_format_type is {kind:?}, so it would have no \
                     effect."
                ),
                "Set access_log_format_type to \"CUSTOM\", or remove custom_access_log_format.",
            ),
            (Input::Known(Some(format)), _) => self.custom_format(format, path),
            _ => {}
        }
    }

    fn custom_format(&mut self, format: &str, path: AttributePath) {
        if format.contains(['\n', '\r']) {
            let message = format!("The format has {} lines; API Gateway takes one.", format.lines().count().max(2));
            self.add(path.clone(), message, "Write it in one line, for instance with jsonencode().");
        }
        if format.len() > LONGEST_FORMAT {
            let message = format!("The format has {} bytes; API Gateway takes {LONGEST_FORMAT}.", format.len());
            self.add(path.clone(), message, "Leave some variables out.");
        }
        if !format.contains("$context.requestId") && !format.contains("$context.extendedRequestId") {
            self.add(
                path,
                format!("The format {format:?} names no request id, which API Gateway demands."),
                "Add $context.requestId or $context.extendedRequestId.",
            );
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::super::super::config::{CLF, JSON};
    use super::*;

    #[test]
    fn the_formats_of_aws_obey_the_rules_for_custom_ones() {
        let mut problems = Problems::default();
        for format in [CLF, JSON] {
            problems.custom_format(format, AttributePath::root());
        }
        assert_eq!(problems.0, []);
    }
}
