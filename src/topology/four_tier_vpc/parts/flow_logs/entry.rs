//! The entry of a flow log in the configuration, and its object.

use crate::model::{self, Arn, FlowLogSettings, Input, Key, KmsKey, LogGroup, Needs, Scope};
use crate::plugin::{AttributePath, Problem};
use crate::topology::places::elsewhere;

crate::attributes! {
    /// A flow log of the VPC.
    pub struct FlowLog: Encode {
        /// ARN of an existing log group of the account and Region of the VPC, or of a bucket (also with a folder) or
        /// delivery stream of any account. A delivery stream in another account requires `iam_role_arn` and
        /// `deliver_cross_account_role`.
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
        let is_group = service != "logs" || LogGroup::name_in(arn).is_some_and(LogGroup::is_name);
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

    /// The problems of a bucket folder and of roles that AWS never accepts.
    pub(super) fn never_accepted(&self, entry: &AttributePath) -> Vec<Problem> {
        let mut problems = Vec::new();
        let Input::Known(kind) = &self.settings.log_destination_type else { return problems };
        let bucket = self.log_destination.known().and_then(Option::as_deref).and_then(|arn| Arn::split(arn).ok());
        let folder = bucket.filter(|arn| arn.service == "s3").and_then(|arn| arn.resource.split('/').nth(1));
        if folder == Some("AWSLogs") {
            let message = "AWS reserves the folder AWSLogs, which it creates for the records.";
            let hint = "Use the ARN of the bucket alone, or another folder.";
            problems.push(Problem::new(entry.attribute("log_destination"), message, hint));
        }
        let role = |role: &Input<Option<String>>| role.known().map(Option::is_some);
        let roles = (role(&self.settings.iam_role_arn), role(&self.settings.deliver_cross_account_role));
        let (lone, other) = match roles {
            (Some(true), Some(false)) => ("iam_role_arn", "deliver_cross_account_role"),
            (Some(false), Some(true)) => ("deliver_cross_account_role", "iam_role_arn"),
            _ => return problems,
        };
        if kind == model::FlowLog::FIREHOSE {
            let message = format!("{lone} is set, but {other} is not.");
            let hint = "Set both for a delivery stream in another account, and none for one in the account of the VPC.";
            problems.push(Problem::new(entry.attribute(other), message, hint).of_absence());
        }
        problems
    }

    /// The problems of objects that AWS does not accept where they are. It finds a log group by its name in the account
    /// and Region of the VPC, whatever its ARN is.
    pub(super) fn elsewhere(&self, entry: &AttributePath, scope: &Scope) -> Vec<Problem> {
        let known = |input: &Input<Option<String>>| input.known().cloned().flatten();
        let (target, role) = (known(&self.log_destination), known(&self.settings.deliver_cross_account_role));
        let at = |name: &str, arn: Option<&String>, needs: Needs, hint: &str| {
            elsewhere(entry.attribute(name), arn?, scope, needs, hint)
        };
        let account = Needs { region: false, account: true };
        let (needs, hint) = match self.settings.log_destination_type.known().map(String::as_str) {
            Some(model::FlowLog::CLOUDWATCH) => {
                (Needs::ACCOUNT, "Use a log group of the account and Region of the VPC, or a bucket.")
            }
            Some(model::FlowLog::FIREHOSE) if self.settings.deliver_cross_account_role == Input::Known(None) => {
                (account, "Set iam_role_arn and deliver_cross_account_role, or use a delivery stream of this account.")
            }
            _ => (Needs::PARTITION, "Use a destination in the partition of the VPC."),
        };
        let key_hint = "CloudWatch Logs accepts only keys of its Region. Use one of these, of any account.";
        let other_account =
            target.as_deref().and_then(|arn| Arn::split(arn).ok()).filter(|arn| !arn.account.is_empty());
        let of_target = other_account.map(|arn| Scope {
            account: Some(arn.account.to_string()),
            partition: scope.partition.clone(),
            ..Scope::default()
        });
        let role_hint = "Use the role in the account of the delivery stream.";
        let of_role = of_target.zip(role).and_then(|(there, role)| {
            let foreign = Arn::split(&role).ok()?.place_in(&there, account).err()?;
            let message = format!(
                "{role:?} is of the {} {}, but the delivery stream is of {}.",
                foreign.part, foreign.its, foreign.ours
            );
            Some(Problem::new(entry.attribute("deliver_cross_account_role"), message, role_hint))
        });
        let own_role = "AWS lets only a role of the account of the VPC deliver the records. Use one.";
        let own = known(&self.settings.iam_role_arn);
        let all = [
            at("log_destination", target.as_ref(), needs, hint),
            at("iam_role_arn", own.as_ref(), Needs::ACCOUNT, own_role),
            of_role,
            at("kms_key_id", known(&self.kms_key_id).as_ref(), Needs::REGION, key_hint),
        ];
        all.into_iter().flatten().collect()
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
