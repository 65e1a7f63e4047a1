//! The rules for flow logs that can be checked without AWS.

use std::collections::BTreeMap;

use super::entry::{CLOUDWATCH, FIREHOSE, FlowLog, S3};
use super::{INPUT, logs};
use crate::model::{Arn, Input, KmsKey, LogGroup, TaggingService, check_role, check_tags, only};
use crate::plugin::{AttributePath, Problem};
use crate::topology::four_tier_vpc::config::Config;

/// Whether a log can have this name. It is a part of slots.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && only(name, "_-") && !name.contains(|it: char| it.is_ascii_uppercase())
}

pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names = config.flow_logs.known().into_iter().flatten().map(|(name, _)| name);
    problems.extend(names.filter(|name| !is_name(name)).map(|name| {
        let message = format!("{name:?} is not a name of a flow log.");
        Problem::new(AttributePath::new(INPUT).key(name), message, "Use only lowercase letters, digits, _ and -.")
    }));
    let mut used: BTreeMap<String, &str> = BTreeMap::new();
    for (name, log) in logs(config) {
        problems.extend(of_log(&AttributePath::new(INPUT).key(name), log));
        let Some(destination) = log.destination() else { continue };
        if let Some(other) = used.insert(destination.clone(), name) {
            let message = format!("{other:?} and {name:?} write to the same destination, {destination}.");
            let hint = "AWS accepts one flow log of a VPC for each destination. Use another one, or remove an entry.";
            problems.push(Problem::new(AttributePath::new(INPUT).key(name), message, hint));
        }
    }
    problems
}

impl FlowLog {
    /// The name of its log group or the ARN of another destination, if that is known.
    fn destination(&self) -> Option<String> {
        let arn = || self.log_destination.known().cloned().flatten();
        let given = self.log_group_name.known()?.clone().or_else(arn)?;
        Some(LogGroup::name_in(&given).map_or(given.clone(), str::to_string))
    }
}

fn of_log(path: &AttributePath, log: &FlowLog) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |name: &str, message: String, hint: &str| {
        problems.push(Problem::new(path.attribute(name), message, hint));
    };
    let set = |input: &Input<Option<String>>| input.known().cloned().flatten();
    let (arn, group, role) = (set(&log.log_destination), set(&log.log_group_name), set(&log.iam_role_arn));
    if let (Input::Known(_), Input::Known(_)) = (&log.log_destination, &log.log_group_name) {
        let hint = "Set exactly one of log_destination, for an existing one, and log_group_name, for a new log group.";
        match (&arn, &group) {
            (None, None) => add("log_destination", "The flow log has no destination.".to_string(), hint),
            (Some(arn), Some(group)) => {
                let message = format!("The flow log has two destinations, {arn:?} and the log group {group:?}.");
                add("log_destination", message, hint);
            }
            _ => {}
        }
    }
    if let Some((message, hint)) = group.as_deref().and_then(|group| LogGroup::check_name(group).err()) {
        add("log_group_name", message, hint);
    }
    if let Some(message) = role.as_deref().and_then(|role| check_role(role).err()) {
        add("iam_role_arn", message, "Use the ARN of a role.");
    }
    if let Some(message) = set(&log.deliver_cross_account_role).and_then(|role| check_role(&role).err()) {
        add("deliver_cross_account_role", message, "Use the ARN of a role.");
    }
    if log.log_group_name == Input::Known(None) {
        let of_group = [
            ("retention_in_days", matches!(log.retention_in_days, Input::Known(Some(_)))),
            ("kms_key_id", matches!(log.kms_key_id, Input::Known(Some(_)))),
        ];
        for (name, _) in of_group.into_iter().filter(|(_, is_set)| *is_set) {
            let message = format!("{name} is a property of the log group that log_group_name creates.");
            add(name, message, "Set log_group_name, or remove it.");
        }
    }
    if let Some(key) = set(&log.kms_key_id)
        && !matches!(KmsKey::parse(&key), Ok(KmsKey::Arn(_)))
    {
        add("kms_key_id", format!("{key:?} is not the ARN of a KMS key."), "Use the ARN of a customer-managed key.");
    }
    if let Some(format) = set(&log.log_format)
        && !format.split(' ').all(is_field)
    {
        let message = format!("{format:?} does not consist of fields that are separated by one space.");
        add("log_format", message, "Use fields such as \"$${srcaddr} $${dstaddr}\", with $$ for a $ in Terraform.");
    }
    if let Input::Known(kind) = &log.log_destination_type {
        of_kind(kind, log, arn.as_deref(), &mut add);
    }
    if let Input::Known(tags) = &log.tags {
        problems.extend(check_tags(TaggingService::Ec2, tags, &path.attribute("tags")));
    }
    problems
}

/// The inputs that depend on the kind of the destination.
fn of_kind(kind: &str, log: &FlowLog, arn: Option<&str>, add: &mut impl FnMut(&str, String, &str)) {
    let is_set = |input: &Input<Option<String>>| matches!(input, Input::Known(Some(_)));
    if is_set(&log.log_group_name) && kind != CLOUDWATCH {
        let message = format!("A flow log to a log group has the type {CLOUDWATCH:?}, but this one has {kind:?}.");
        add("log_group_name", message, "Remove log_group_name, or log_destination_type.");
    }
    match (kind, &log.iam_role_arn) {
        (CLOUDWATCH, Input::Known(None)) => add(
            "iam_role_arn",
            "A flow log to CloudWatch Logs requires a role.".to_string(),
            "Set iam_role_arn to a role that vpc-flow-logs.amazonaws.com may assume.",
        ),
        (S3, Input::Known(Some(role))) => {
            let message = format!("AWS ignores the role of a flow log to S3, but iam_role_arn is {role:?}.");
            add("iam_role_arn", message, "Remove iam_role_arn. The policy of the bucket allows the delivery.");
        }
        _ => {}
    }
    let only_for = [
        ("destination_options", S3, matches!(log.destination_options, Input::Known(Some(_)))),
        ("deliver_cross_account_role", FIREHOSE, is_set(&log.deliver_cross_account_role)),
    ];
    for (name, only, _) in only_for.into_iter().filter(|(_, only, is_set)| *is_set && *only != kind) {
        let message = format!("{name} is used only with the type {only:?}, but this flow log has {kind:?}.");
        add(name, message, "Remove it, or change log_destination_type.");
    }
    let service = match kind {
        CLOUDWATCH => "logs",
        S3 => "s3",
        _ => "firehose",
    };
    let Some(arn) = arn else { return };
    match Arn::split(arn) {
        Ok(parts) if parts.service == service => {
            if service == "logs" && LogGroup::name_in(arn).is_none() {
                add(
                    "log_destination",
                    format!("{arn:?} is not the ARN of a log group."),
                    "Use the ARN of a log group.",
                );
            }
        }
        Ok(_) => {
            let message = format!("{arn:?} is not an ARN of {service}, but the flow log has the type {kind:?}.");
            add("log_destination", message, "Correct log_destination or log_destination_type.");
        }
        Err(message) => add("log_destination", message, "Use the ARN of a log group, bucket or delivery stream."),
    }
}

/// Whether this is a field such as `${srcaddr}`.
fn is_field(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && only(name, "-"))
}
