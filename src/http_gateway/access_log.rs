//! Access logs: formats, and the rules of log groups.

use super::config::GatewayConfig;
use crate::plugin::{AttributePath, Check, Input, Number, Problem, Value};

/// AWS's Common Log Format for HTTP APIs.
const CLF: &str = "$context.identity.sourceIp - - [$context.requestTime] \"$context.httpMethod $context.routeKey \
                   $context.protocol\" $context.status $context.responseLength $context.requestId";

/// AWS's JSON format for HTTP APIs.
const JSON: &str = "{ \"requestId\":\"$context.requestId\", \"ip\": \"$context.identity.sourceIp\", \
                    \"requestTime\":\"$context.requestTime\", \"httpMethod\":\"$context.httpMethod\",\
                    \"routeKey\":\"$context.routeKey\", \"status\":\"$context.status\",\
                    \"protocol\":\"$context.protocol\", \"responseLength\":\"$context.responseLength\" }";

/// The days that CloudWatch Logs can keep events for.
const RETENTIONS: [i64; 22] =
    [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

/// The size of a format that API Gateway takes, in bytes.
const LONGEST_FORMAT: usize = 3072;

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

/// Checks the settings of access logs against each other and against AWS's rules.
pub(super) fn check(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    match &config.access_log_logservice_group_name {
        Input::Unknown => {}
        Input::Known(Some(name)) => check_group_name(name, problems),
        Input::Known(None) => check_nothing_else_is_set(config, problems),
    }
    check_format(config, problems);
}

fn check_group_name(name: &str, problems: &mut Vec<Problem>) {
    let path = AttributePath::new("access_log_logservice_group_name");
    if name.is_empty() || name.len() > 512 {
        let message = format!("{name:?} has {} characters; a log group's name has 1 to 512.", name.len());
        problems.push(Problem::new(path, message, "Choose another name."));
    } else if !name.chars().all(|it| it.is_ascii_alphanumeric() || "._-/#".contains(it)) {
        let message = format!("{name:?} is not a log group's name.");
        problems.push(Problem::new(path, message, "Use letters, digits, and . _ - / # alone."));
    } else if name.starts_with("aws/") {
        let message = format!("{name:?} starts with \"aws/\", which AWS keeps for itself.");
        problems.push(Problem::new(path, message, "Choose another name; \"/aws/\" is allowed."));
    }
}

fn check_nothing_else_is_set(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    let set = [
        (
            "access_log_logservice_group_retention_in_days",
            matches!(config.access_log_logservice_group_retention_in_days, Input::Known(Some(_))),
        ),
        (
            "access_log_logservice_group_tags",
            matches!(&config.access_log_logservice_group_tags, Input::Known(Some(tags)) if !tags.is_empty()),
        ),
        ("access_log_format_type", matches!(config.access_log_format_type.known(), Some(it) if it != "JSON")),
        ("custom_access_log_format", matches!(config.custom_access_log_format, Input::Known(Some(_)))),
    ];
    for (name, _) in set.into_iter().filter(|(_, set)| *set) {
        problems.push(Problem::new(
            AttributePath::new(name),
            format!("{name} is set, but access logs are off, so it would have no effect."),
            format!("Set access_log_logservice_group_name, or remove {name}."),
        ));
    }
}

fn check_format(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    let path = AttributePath::new("custom_access_log_format");
    let kind = config.access_log_format_type.known().map(String::as_str);
    match (&config.custom_access_log_format, kind) {
        (Input::Known(None), Some("CUSTOM")) => problems.push(Problem::new(
            path,
            "access_log_format_type is \"CUSTOM\", but there is no custom_access_log_format.",
            "Set custom_access_log_format, or use \"JSON\" or \"CLF\".",
        )),
        (Input::Known(Some(_)), Some(kind @ ("CLF" | "JSON"))) => problems.push(Problem::new(
            path,
            format!(
                "custom_access_log_format is set, but access_log_format_type is {kind:?}, so it would have no effect."
            ),
            "Set access_log_format_type to \"CUSTOM\", or remove custom_access_log_format.",
        )),
        (Input::Known(Some(format)), _) => check_custom_format(format, path, problems),
        _ => {}
    }
}

fn check_custom_format(format: &str, path: AttributePath, problems: &mut Vec<Problem>) {
    if format.contains(['\n', '\r']) {
        let message = format!("The format has {} lines; API Gateway takes one.", format.lines().count().max(2));
        problems.push(Problem::new(path.clone(), message, "Write it in one line, for instance with jsonencode()."));
    }
    if format.len() > LONGEST_FORMAT {
        let message = format!("The format has {} bytes; API Gateway takes {LONGEST_FORMAT}.", format.len());
        problems.push(Problem::new(path.clone(), message, "Leave some variables out."));
    }
    if !format.contains("$context.requestId") && !format.contains("$context.extendedRequestId") {
        problems.push(Problem::new(
            path,
            format!("The format {format:?} names no request id, which API Gateway demands."),
            "Add $context.requestId or $context.extendedRequestId.",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_of_aws_obey_the_rules_for_custom_ones() {
        for format in [CLF, JSON] {
            let mut problems = Vec::new();
            check_custom_format(format, AttributePath::root(), &mut problems);
            assert_eq!(problems, vec![]);
        }
        assert!(serde_json::from_str::<serde_json::Value>(JSON).is_ok());
    }
}
