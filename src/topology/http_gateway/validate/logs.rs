//! Access logs: the log group, their format, and the subscription that forwards log events.

use super::*;
use crate::model::{Destination, without_newline};

/// The maximum size of a log format in API Gateway, in bytes.
const LONGEST_FORMAT: usize = 3072;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const ROLE: &str = "access_log_logservice_group_subscription_role_arn";

impl Problems {
    pub(super) fn access_logs(&mut self, config: &GatewayConfig) {
        let path = AttributePath::new("custom_access_log_format");
        let is_on = has_log_group(config) || matches!(config.access_log_destination_arn, Input::Known(Some(_)));
        let kind = config.access_log_format_type.known().map(String::as_str);
        match (&config.custom_access_log_format, kind) {
            (Input::Known(None), Some("CUSTOM")) if is_on => self.add(
                path,
                "access_log_format_type is \"CUSTOM\", but there is no custom_access_log_format.",
                "Set custom_access_log_format, or use \"JSON\" or \"CLF\".",
            ),
            (Input::Known(Some(format)), None | Some("CUSTOM")) => self.custom_format(format, path),
            _ => {}
        }
    }

    fn custom_format(&mut self, format: &str, path: AttributePath) {
        let line = without_newline(format);
        if line.contains(['\n', '\r']) {
            let message = format!("The format has {} lines; API Gateway allows one.", line.lines().count().max(2));
            self.add(path.clone(), message, "Write it on one line, for example with jsonencode().");
        }
        if format.len() > LONGEST_FORMAT {
            let message = format!("The format has {} bytes; API Gateway allows {LONGEST_FORMAT}.", format.len());
            self.add(path.clone(), message, "Remove some variables.");
        }
        if !format.contains("$context.requestId") && !format.contains("$context.extendedRequestId") {
            self.add(
                path,
                format!("The format {format:?} contains no request ID, which API Gateway requires."),
                "Add $context.requestId or $context.extendedRequestId.",
            );
        }
    }
}

impl Problems {
    pub(super) fn subscription(&mut self, config: &GatewayConfig) {
        match &config.access_log_logservice_group_subscription_destination_arn {
            Input::Unknown | Input::Known(None) => {}
            Input::Known(Some(arn)) => match Destination::parse(arn) {
                Ok(destination) if destination.is_stream() => self.stream(arn, config),
                Ok(_) => {}
                Err(message) => {
                    let hint = "Use the ARN of a Lambda function, a Kinesis stream or a Firehose delivery stream.";
                    self.add(AttributePath::new(DESTINATION), message, hint);
                }
            },
        }
    }

    fn stream(&mut self, arn: &str, config: &GatewayConfig) {
        if config.access_log_logservice_group_subscription_role_arn == Input::Known(None) && has_log_group(config) {
            self.add(
                AttributePath::new(ROLE),
                format!("{arn:?} is a stream, and CloudWatch Logs needs a role to write to a stream."),
                "Set it to the ARN of a role that logs.amazonaws.com may assume and that may write to the stream.",
            );
        }
    }
}

/// Whether access logs go to a log group of the gateway. Without it, the inputs about the group have no effect.
fn has_log_group(config: &GatewayConfig) -> bool {
    matches!(config.access_log_logservice_group_name, Input::Known(Some(_)))
}

#[cfg(test)]
mod tests {
    use super::super::super::config::{CLF, JSON};
    use super::*;

    #[test]
    fn aws_formats_satisfy_the_rules_for_custom_formats() {
        let mut problems = Problems::default();
        for format in [CLF, JSON] {
            problems.custom_format(format, AttributePath::root());
        }
        assert_eq!(problems.0, []);
    }
}
