//! Access logs: formats, and how long events are kept.

use super::config::GatewayConfig;
use crate::plugin::{Check, Input, Number, Value};

/// AWS's Common Log Format for HTTP APIs.
pub(super) const CLF: &str = "$context.identity.sourceIp - - [$context.requestTime] \"$context.httpMethod $context.routeKey \
                   $context.protocol\" $context.status $context.responseLength $context.requestId";

/// AWS's JSON format for HTTP APIs.
pub(super) const JSON: &str = "{ \"requestId\":\"$context.requestId\", \"ip\": \"$context.identity.sourceIp\", \
                    \"requestTime\":\"$context.requestTime\", \"httpMethod\":\"$context.httpMethod\",\
                    \"routeKey\":\"$context.routeKey\", \"status\":\"$context.status\",\
                    \"protocol\":\"$context.protocol\", \"responseLength\":\"$context.responseLength\" }";

/// The days that CloudWatch Logs can keep events for.
const RETENTIONS: [i64; 22] =
    [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

/// The line that API Gateway writes for each request. Unknown where an input that decides it is.
pub(super) fn format(config: &GatewayConfig) -> Input<String> {
    match config.access_log_format_type.known().map(String::as_str) {
        None => Input::Unknown,
        Some("CLF") => Input::Known(CLF.to_string()),
        Some("CUSTOM") => match &config.custom_access_log_format {
            Input::Unknown => Input::Unknown,
            Input::Known(format) => Input::Known(format.clone().unwrap_or_default()),
        },
        Some(_) => Input::Known(JSON.to_string()),
    }
}

/// The rule for retention.
pub(super) fn retention() -> Check {
    let rule = format!("one of {} days", RETENTIONS.map(|it| it.to_string()).join(", "));
    Check::new(rule.clone(), move |value| match value {
        Value::Number(Number::Int(days)) if RETENTIONS.contains(days) => Ok(()),
        Value::Number(_) => Err(format!("{value} is not {rule}.")),
        _ => Ok(()),
    })
}

/// `access_log_format_type` and `custom_access_log_format` for a format.
pub(super) fn in_words(format: &str) -> (&'static str, Option<String>) {
    match format {
        CLF => ("CLF", None),
        JSON => ("JSON", None),
        custom => ("CUSTOM", Some(custom.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_format_is_json() {
        assert!(serde_json::from_str::<serde_json::Value>(JSON).is_ok());
    }
}
