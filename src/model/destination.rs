//! Destinations of log events.

use super::{FunctionArn, LogGroup};
use crate::model::{Arn, only};
use crate::plugin::Check;

/// The beginning of the name of a delivery stream to which API Gateway writes access logs.
const ACCESS_LOGS: &str = "amazon-apigateway-";

/// A destination of log events, identified by its ARN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A Lambda function, which CloudWatch Logs calls with a permission in the function's policy.
    Function(FunctionArn),
    /// A Kinesis stream, to which CloudWatch Logs writes with a role.
    KinesisStream,
    /// A Firehose delivery stream, to which CloudWatch Logs writes with a role.
    DeliveryStream,
}

impl Destination {
    /// Parses an ARN. The error is a sentence.
    pub fn parse(text: &str) -> Result<Destination, String> {
        let arn = Arn::split(text)?;
        let (destination, prefix, longest) = match arn.service {
            "lambda" => return FunctionArn::parse(text).map(Destination::Function),
            "kinesis" => (Destination::KinesisStream, "stream/", 128),
            "firehose" => (Destination::DeliveryStream, "deliverystream/", 64),
            service => {
                return Err(format!("{text:?} is an ARN of {service:?}, not of Lambda, Kinesis or Firehose."));
            }
        };
        let Some(name) = arn.resource.strip_prefix(prefix) else {
            return Err(format!("{text:?} is not the ARN of a stream."));
        };
        Arn::parse(text)?;
        if name.is_empty() || name.len() > longest || !only(name, "_.-") {
            return Err(format!(
                "{text:?} has the invalid stream name {name:?}; a name is 1 to {longest} letters, digits, and _ . -."
            ));
        }
        Ok(destination)
    }

    /// The check of an input with the destination of access logs, which API Gateway writes to itself.
    pub(crate) fn of_access_logs() -> Check {
        let rule = format!("the ARN of a log group, or of a delivery stream whose name begins with {ACCESS_LOGS:?}");
        Check::text(&rule, |text| {
            let arn = Arn::split(text)?;
            if let ("logs", Some(name)) = (arn.service, LogGroup::name_in(text)) {
                return if LogGroup::is_name(name) {
                    Ok(())
                } else {
                    Err(format!("{name:?} is not the name of a log group."))
                };
            }
            match Destination::parse(text) {
                Ok(Destination::DeliveryStream) if arn.resource.contains(ACCESS_LOGS) => Ok(()),
                _ => Err(format!("API Gateway does not write access logs to {text:?}.")),
            }
        })
    }

    /// Whether it is a stream, which needs a role, and not a function, which needs a permission.
    pub fn is_stream(&self) -> bool {
        !matches!(self, Destination::Function(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_streams_are_distinguished() {
        let parse = |text: &str| Destination::parse(text).unwrap();
        let function = "arn:aws-cn:lambda:cn-north-1:123456789012:function:sink:live";
        assert_eq!(parse(function), Destination::Function(FunctionArn::parse(function).unwrap()));
        assert_eq!(parse("arn:aws:kinesis:eu-central-1:123456789012:stream/a.b"), Destination::KinesisStream);
        let delivery = parse("arn:aws-us-gov:firehose:us-gov-west-1:123456789012:deliverystream/logs");
        assert_eq!(delivery, Destination::DeliveryStream);
        assert!(delivery.is_stream() && !parse(function).is_stream());
    }

    #[test]
    fn access_logs_go_to_log_groups_and_named_delivery_streams() {
        let check = Destination::of_access_logs();
        let is_valid = |text: &str| (check.test)(&text.into()).is_ok();
        let logs = "arn:aws:logs:eu-central-1:123456789012:log-group:";
        let firehose = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/";
        for name in ["/shop/access", "shop:*", "#shop"] {
            assert!(is_valid(&format!("{logs}{name}")), "{name}");
        }
        assert!(is_valid(&format!("{firehose}amazon-apigateway-shop")));
        assert!(!is_valid(&format!("{firehose}shop")), "AWS requires the prefix");
        for text in [logs, "shop", "arn:aws:kinesis:eu-central-1:123456789012:stream/amazon-apigateway-a"] {
            assert!(!is_valid(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_destinations() {
        for text in [
            "",
            "orders",
            "arn:aws:s3:::bucket",
            "arn:aws:logs:eu-central-1:123456789012:destination:x",
            "arn:aws:lambda:eu-central-1:123456789012:layer:x",
            "arn:aws:kinesis:eu-central-1:123456789012:stream/",
            "arn:aws:kinesis:eu-central-1:123456789012:stream/a/consumer/b:1",
            "arn:aws:kinesis::123456789012:stream/a",
            "arn:aws:kinesis:eu-central-1:1234:stream/a",
            "arn:aws:kinesis:eu-central-1:123456789012:deliverystream/a",
            "arn:aws:firehose:eu-central-1:123456789012:stream/a",
        ] {
            assert!(Destination::parse(text).is_err(), "{text}");
        }
        let long = |length| format!("arn:aws:firehose:eu-central-1:123456789012:deliverystream/{}", "x".repeat(length));
        assert!(Destination::parse(&long(64)).is_ok() && Destination::parse(&long(65)).is_err());
    }
}
