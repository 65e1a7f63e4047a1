//! Flow logs of a VPC.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::keys::network;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags, only, role};
use crate::plugin::{Check, Encode, Input, Number, PlanEffect, Value};

/// The format of AWS (VPC user guide).
const DEFAULT_FORMAT: &str = "${version} ${account-id} ${interface-id} ${srcaddr} ${dstaddr} ${srcport} ${dstport} \
                              ${protocol} ${packets} ${bytes} ${start} ${end} ${action} ${log-status}";

const PLAIN_TEXT: &str = "plain-text";

/// A flow log of the VPC. Key `flow_log.<name>`, fixed by everything except tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowLog {
    /// The VPC.
    pub vpc: Key,
    /// The log group that it writes to, if the network creates it.
    pub log_group: Option<Key>,
    /// The name of the log group, or the ARN of the bucket or delivery stream.
    pub destination: Input<String>,
    /// Its inputs, except the destination, in the form in which AWS returns them.
    #[serde(flatten)]
    pub settings: FlowLogSettings,
}

crate::attributes! {
    /// The inputs of a flow log, except the destination.
    #[derive(Serialize, Deserialize)]
    pub struct FlowLogSettings: Encode {
        /// `cloud-watch-logs`, `s3` or `kinesis-data-firehose`.
        log_destination_type: Input<String>
            = default(FlowLog::CLOUDWATCH).check(Check::one_of(&[FlowLog::CLOUDWATCH, FlowLog::S3, FlowLog::FIREHOSE])).change(FlowLog::REPLACED),
        /// ARN of the role with which EC2 writes to a log group. With a delivery stream in another account, the role
        /// that delivers to it. It must be in the account of the VPC. The policy of a bucket allows the delivery
        /// without a role.
        iam_role_arn: Input<Option<String>> = optional().check(role()).change(FlowLog::REPLACED)
            .required_with("log_destination_type", FlowLog::CLOUDWATCH)
            .only_with("log_destination_type", &[FlowLog::CLOUDWATCH, FlowLog::FIREHOSE]),
        /// ARN of the role in the account of a delivery stream, if that is another account. `iam_role_arn` may assume
        /// it.
        deliver_cross_account_role: Input<Option<String>> = optional().check(role()).change(FlowLog::REPLACED)
            .only_with("log_destination_type", &[FlowLog::FIREHOSE]).remark(crate::model::NOT_YET_RUN),
        /// Traffic to record: `ALL`, `ACCEPT` or `REJECT`.
        traffic_type: Input<String> = default("ALL").check(Check::one_of(&["ALL", "ACCEPT", "REJECT"])).change(FlowLog::REPLACED),
        /// Maximum number of seconds that a record covers.
        max_aggregation_interval: Input<i64> = default(600_i64).check(interval()).change(FlowLog::REPLACED),
        /// Fields of a record, such as `$${version} $${vpc-id} $${srcaddr}`. Defaults to the format of AWS.
        log_format: Input<Option<String>> = optional().check(format()).change(FlowLog::REPLACED),
        /// Files in a bucket.
        destination_options: Input<Option<DestinationOptions>>
            = optional().only_with("log_destination_type", &[FlowLog::S3]).change(FlowLog::REPLACED),
        /// Tags for the flow log and the created log group.
        tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
    }
}

crate::attributes! {
    /// The files of a flow log in a bucket.
    #[derive(Serialize, Deserialize)]
    pub struct DestinationOptions: Encode {
        /// Format of the files: `plain-text` or `parquet`.
        file_format: Input<String>
            = default(PLAIN_TEXT).check(Check::one_of(&[PLAIN_TEXT, "parquet"])).change(FlowLog::REPLACED),
        /// Whether the folders are named as Hive expects.
        hive_compatible_partitions: Input<bool> = default(false).change(FlowLog::REPLACED),
        /// Whether there is a folder for each hour.
        per_hour_partition: Input<bool> = default(false).change(FlowLog::REPLACED),
    }
}

fn interval() -> Check {
    Check::new("60 or 600", |value| match value {
        Value::Number(Number::Int(60 | 600)) => Ok(()),
        _ => Err(format!("{value} is not an interval that AWS supports.")),
    })
}

/// The check of a format.
fn format() -> Check {
    Check::text("fields such as \"$${srcaddr} $${dstaddr}\", with $$ for a $ in Terraform", |format| {
        if format.split(' ').all(is_field) {
            return Ok(());
        }
        Err(format!("{format:?} does not consist of fields that are separated by one space."))
    })
}

/// Whether this is a field such as `${srcaddr}`.
fn is_field(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && only(name, "-"))
}

impl FlowLogSettings {
    /// The form in which AWS returns them: without a format or options that are those of AWS.
    pub(crate) fn normalized(mut self) -> FlowLogSettings {
        self.log_format = self.log_format.map(|format| format.filter(|format| format != DEFAULT_FORMAT));
        let of_aws = DestinationOptions {
            file_format: PLAIN_TEXT.to_string().into(),
            hive_compatible_partitions: false.into(),
            per_hour_partition: false.into(),
        };
        self.destination_options = self.destination_options.map(|options| options.filter(|it| *it != of_aws));
        self
    }
}

impl FlowLog {
    /// The type of a destination that is a log group.
    pub const CLOUDWATCH: &str = "cloud-watch-logs";

    /// The type of a bucket.
    pub const S3: &str = "s3";

    /// The type of a delivery stream.
    pub const FIREHOSE: &str = "kinesis-data-firehose";

    /// The effect of a change of an input that AWS cannot change.
    pub(crate) const REPLACED: PlanEffect = PlanEffect::PartialReplace(
        "replaces the flow log. The new one is created first, unless the VPC has as many flow logs as AWS allows: then \
         the old one is deleted first, and up to a minute of records is lost",
    );

    /// The inputs that AWS cannot change, as text.
    pub(crate) fn fixed(&self) -> Input<String> {
        let mut fixed = FlowLogSettings { tags: Input::default(), ..self.settings.clone() }.encode();
        fixed.set("destination", self.destination.clone().into());
        if fixed.is_wholly_known() { Input::Known(fixed.to_string()) } else { Input::Unknown }
    }

    /// Whether it writes to a log group.
    pub(crate) fn is_to_log_group(&self) -> bool {
        self.settings.log_destination_type.known().is_some_and(|it| it == FlowLog::CLOUDWATCH)
    }
}

impl Kind for FlowLog {
    fn kind(&self) -> &'static str {
        "flow log"
    }

    fn identity(&self) -> Identity {
        Identity::Fixed { slots: network::FLOW_LOG, input: "flow_logs" }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Records the traffic of the VPC in a log group, bucket or delivery stream.",
            resource: "aws_flow_log",
            import_id: "FLOW_LOG_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("log_group", &["log_destination"]),
                ("destination", &["log_destination"]),
                ("log_destination_type", &["log_destination_type"]),
                ("iam_role_arn", &["iam_role_arn"]),
                ("deliver_cross_account_role", &["deliver_cross_account_role"]),
                ("traffic_type", &["traffic_type"]),
                ("max_aggregation_interval", &["max_aggregation_interval"]),
                ("log_format", &["log_format"]),
                ("destination_options", &["destination_options"]),
                ("tags", &["tags"]),
            ],
        }
    }

    /// Inputs express all settings of a flow log.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// A log group that AWS finds missing when it delivers records is created by AWS, without a retention period.
    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    fn needs(&self) -> Vec<Need> {
        let group = self.log_group.as_ref().map(|group| Need::of_id(group, Restrict));
        [Need::new(&self.vpc, Restrict)].into_iter().chain(group).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::FlowLog { fixed: self.fixed() }]
    }

    tagged!(settings.tags);

    fn fault(&self, learned: &Learned) -> Option<String> {
        let message = learned.get(DELIVERY_ERROR).filter(|message| !message.is_empty())?;
        let destination = self.destination.known().map(String::as_str).unwrap_or_default();
        let advice = match self.is_to_log_group() {
            true => format!(
                "Check that the role trusts vpc-flow-logs.amazonaws.com and may write to log-group:{destination}:*."
            ),
            false => "Check the policy of the destination.".to_string(),
        };
        Some(format!("delivers no records to {destination}: {message}. {advice}"))
    }
}

/// The name of the learned value with the status of the last delivery: `SUCCESS` or `FAILED`.
pub const DELIVERY_STATUS: &str = "deliver_status";

/// The name of the learned value with the error of the last delivery; empty if there was none.
pub const DELIVERY_ERROR: &str = "deliver_error";
