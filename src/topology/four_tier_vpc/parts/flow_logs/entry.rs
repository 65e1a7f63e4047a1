//! The entry of a flow log in the configuration, and its object.

use crate::model::{self, Arn, FlowLogSettings, Input, Key, KmsKey, LogGroup, Scope};
use crate::plugin::{AttributePath, Problem};

crate::attributes! {
    /// A flow log of the VPC.
    pub struct FlowLog: Encode {
        /// ARN of an existing log group, bucket (also with a folder) or delivery stream.
        log_destination: Input<Option<String>>
            = optional().either_or(&["log_group_name"]).change(model::FlowLog::REPLACED),
        /// Name of a log group to create for the flow log.
        log_group_name: Input<Option<String>> = optional().check(LogGroup::new_name()).change(model::FlowLog::REPLACED)
            .only_with("log_destination_type", &[model::FlowLog::CLOUDWATCH]),
        /// Number of days for which the created log group keeps its events. By default, and with 0, they never
        /// expire.
        retention_in_days: Input<Option<i64>>
            = optional().check(LogGroup::retention()).only_if_set("log_group_name").in_place(),
        /// ARN of the KMS key that encrypts the created log group.
        kms_key_id: Input<Option<String>>
            = optional().check(KmsKey::check_arn()).only_if_set("log_group_name").in_place(),
        /// Whether the created log group stays in AWS, with its events, when it is no longer required. If it is `true`
        /// and the group exists already, the flow log uses it, provided that retention and key are equal. The network
        /// then never changes or deletes it until `adopt` names it.
        log_group_skip_destroy: Input<bool> = default(false).handling(),
        ..settings: FlowLogSettings
    }
}

impl FlowLog {
    /// The name of the log group, or the ARN of another destination.
    pub(super) fn destination(&self) -> Input<String> {
        match (&self.log_group_name, &self.log_destination) {
            (Input::Known(Some(name)), _) => Input::Known(name.clone()),
            (Input::Known(None), arn) => arn.clone().map(|arn| {
                let arn = arn.unwrap_or_default();
                LogGroup::name_in(&arn).map_or(arn.clone(), str::to_string)
            }),
            (Input::Unknown, _) => Input::Unknown,
        }
    }

    /// The object that the entry requires, with the tags of the entry alone.
    pub(super) fn spec(&self, vpc: &Key, log_group: Option<Key>) -> model::FlowLog {
        let settings = self.settings.clone().normalized();
        model::FlowLog { vpc: vpc.clone(), log_group, destination: self.destination(), settings }
    }

    /// The problem of a destination of another service than its type.
    pub(super) fn other_service(&self, entry: &AttributePath) -> Option<Problem> {
        let (arn, kind) = (self.log_destination.known()?.as_ref()?, self.settings.log_destination_type.known()?);
        let (service, what) = match kind.as_str() {
            model::FlowLog::CLOUDWATCH => ("logs", "a log group"),
            model::FlowLog::S3 => ("s3", "a bucket"),
            _ => ("firehose", "a delivery stream"),
        };
        let is_group = service != "logs" || LogGroup::name_in(arn).is_some();
        if Arn::split(arn).is_ok_and(|parts| parts.service == service) && is_group {
            return None;
        }
        let message = format!("{arn:?} is not the ARN of {what}, but log_destination_type is {kind:?}.");
        Some(Problem::new(
            entry.attribute("log_destination"),
            message,
            "Correct log_destination or log_destination_type.",
        ))
    }

    /// The entry that requires an object.
    pub(super) fn of(log: &model::FlowLog, group: Option<&LogGroup>, scope: &Scope) -> FlowLog {
        let arn = |destination: String| match (log.is_to_log_group(), &scope.account) {
            (true, Some(account)) => {
                format!("arn:{}:logs:{}:{account}:log-group:{destination}", scope.partition, scope.region)
            }
            _ => destination,
        };
        FlowLog {
            log_destination: match group {
                Some(_) => Input::Known(None),
                None => log.destination.clone().map(|destination| Some(arn(destination))),
            },
            log_group_name: group.map_or(Input::Known(None), |group| group.name.clone().map(Some)),
            retention_in_days: group.map_or(Input::Known(None), |group| group.retention_in_days.clone()),
            kms_key_id: group.map_or(Input::Known(None), |group| group.kms_key_arn.clone()),
            log_group_skip_destroy: group.map_or(Input::Known(false), |group| group.skip_destroy.clone()),
            settings: log.settings.clone(),
        }
    }
}
