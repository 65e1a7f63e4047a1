//! Flow logs of a VPC.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind, tagged};
use crate::model::{Claim, Key, Learned, Need, Tags};
use crate::plugin::Input;

/// A flow log of the VPC. Key `flow_log.<name>`, fixed by everything except tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowLog {
    /// The VPC.
    pub vpc: Key,
    /// The log group that it writes to, if the network creates it.
    pub log_group: Option<Key>,
    /// `cloud-watch-logs`, `s3` or `kinesis-data-firehose`.
    pub destination_type: Input<String>,
    /// The name of the log group, or the ARN of the bucket or delivery stream.
    pub destination: Input<String>,
    /// ARN of the role that writes to a log group, or that delivers to a stream of another account.
    pub iam_role_arn: Input<Option<String>>,
    /// ARN of the role of the other account.
    pub cross_account_role_arn: Input<Option<String>>,
    /// `ALL`, `ACCEPT` or `REJECT`.
    pub traffic_type: Input<String>,
    /// In seconds.
    pub max_aggregation_interval: Input<i64>,
    /// The fields of a record; `None` for the default format of AWS.
    pub log_format: Input<Option<String>>,
    /// The files in a bucket; `None` for text files without partitions.
    pub files: Input<Option<LogFiles>>,
    /// Tags.
    pub tags: Tags,
}

/// The form of the files in a bucket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogFiles {
    /// `plain-text` or `parquet`.
    pub format: String,
    /// Whether the names of folders contain the names of the partitions, as Hive expects.
    pub hive_compatible_partitions: bool,
    /// Whether there is a folder for each hour.
    pub per_hour_partition: bool,
}

impl LogFiles {
    /// The form without a choice.
    pub fn of_aws() -> LogFiles {
        LogFiles { format: "plain-text".to_string(), ..LogFiles::default() }
    }
}

impl FlowLog {
    /// The type of a destination that is a log group.
    pub const CLOUDWATCH: &str = "cloud-watch-logs";

    /// The format of AWS (VPC user guide).
    pub const DEFAULT_FORMAT: &str = "${version} ${account-id} ${interface-id} ${srcaddr} ${dstaddr} ${srcport} \
                                      ${dstport} ${protocol} ${packets} ${bytes} ${start} ${end} ${action} ${log-status}";

    /// Its inputs that AWS cannot change, as text.
    pub fn fixed(&self) -> Input<String> {
        match self.clone() {
            FlowLog {
                destination_type: Input::Known(destination_type),
                destination: Input::Known(destination),
                iam_role_arn: Input::Known(role),
                cross_account_role_arn: Input::Known(other_role),
                traffic_type: Input::Known(traffic_type),
                max_aggregation_interval: Input::Known(interval),
                log_format: Input::Known(format),
                files: Input::Known(files),
                ..
            } => {
                let files = files
                    .map(|it| format!("{} {} {}", it.format, it.hive_compatible_partitions, it.per_hour_partition));
                let optional = [role, other_role, format, files].map(|it| it.unwrap_or("-".to_string()));
                let all = [destination_type, destination, traffic_type, interval.to_string()];
                Input::Known(all.into_iter().chain(optional).collect::<Vec<_>>().join(" "))
            }
            _ => Input::Unknown,
        }
    }
}

impl Kind for FlowLog {
    fn kind(&self) -> &'static str {
        "flow log"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Records the traffic of the VPC in a log group, bucket or delivery stream.",
            resource: "aws_flow_log",
            import_id: "FLOW_LOG_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("log_group", &["log_destination"]),
                ("destination_type", &["log_destination_type"]),
                ("destination", &["log_destination"]),
                ("iam_role_arn", &["iam_role_arn"]),
                ("cross_account_role_arn", &["deliver_cross_account_role"]),
                ("traffic_type", &["traffic_type"]),
                ("max_aggregation_interval", &["max_aggregation_interval"]),
                ("log_format", &["log_format"]),
                ("files", &["destination_options"]),
                ("tags", &["tags"]),
            ],
        }
    }

    /// A log group that AWS finds missing when it delivers records is created by AWS, without a retention period.
    fn needs(&self) -> Vec<Need> {
        let group = self.log_group.as_ref().map(|group| Need::of_id(group, Restrict));
        [Need::new(&self.vpc, Restrict)].into_iter().chain(group).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::FlowLogTo { destination: self.destination.clone() }]
    }

    tagged!();

    fn fault(&self, learned: &Learned) -> Option<String> {
        let message = learned.get(DELIVERY_ERROR).filter(|message| !message.is_empty())?;
        let destination = self.destination.known().map(String::as_str).unwrap_or_default();
        let advice = match self.destination_type.known().map(String::as_str) {
            Some(FlowLog::CLOUDWATCH) => format!(
                "Check that the role trusts vpc-flow-logs.amazonaws.com and may write to log-group:{destination}:*."
            ),
            _ => "Check the policy of the destination.".to_string(),
        };
        Some(format!("delivers no records to {destination}: {message}. {advice}"))
    }
}

/// The name of the learned value with the status of the last delivery: `SUCCESS` or `FAILED`.
pub const DELIVERY_STATUS: &str = "deliver_status";

/// The name of the learned value with the error of the last delivery; empty if there was none.
pub const DELIVERY_ERROR: &str = "deliver_error";
