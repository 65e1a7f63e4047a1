//! The entry of a flow log in the configuration, and its object.

use std::collections::BTreeMap;

use crate::model::{self, Input, Key, LogFiles, LogGroup, Scope, Tags};
use crate::plugin::{Check, Number, PlanEffect, Value};
use crate::topology::NOT_YET_RUN;

pub(super) const CLOUDWATCH: &str = model::FlowLog::CLOUDWATCH;
pub(super) const S3: &str = "s3";
pub(super) const FIREHOSE: &str = "kinesis-data-firehose";

const REPLACED: PlanEffect = PlanEffect::PartialReplace(
    "replaces the flow log. The new one is created first, unless both have the same destination, which AWS rejects: then \
     up to a minute of records is lost",
);

crate::attributes! {
    /// A flow log of the VPC.
    pub struct FlowLog: Encode {
        /// `cloud-watch-logs`, `s3` or `kinesis-data-firehose`.
        log_destination_type: Input<String>
            = default(CLOUDWATCH).check(Check::one_of(&[CLOUDWATCH, S3, FIREHOSE])).change(REPLACED),
        /// ARN of an existing log group, bucket (also with a folder) or delivery stream. Each flow log requires either
        /// `log_destination` or `log_group_name`.
        log_destination: Input<Option<String>> = optional().change(REPLACED),
        /// Name of a log group to create for the flow log.
        log_group_name: Input<Option<String>> = optional().change(REPLACED),
        /// Number of days for which the created log group keeps its events. By default, they never expire.
        retention_in_days: Input<Option<i64>> = optional().check(LogGroup::retention()).in_place(),
        /// ARN of the KMS key that encrypts the created log group.
        kms_key_id: Input<Option<String>> = optional().in_place(),
        /// Whether the created log group stays in AWS, with its events, when it is no longer required.
        log_group_skip_destroy: Input<bool> = default(true).in_place(),
        /// ARN of the role with which EC2 writes to a log group; required for one. With a delivery stream in another
        /// account, the role that delivers to it.
        iam_role_arn: Input<Option<String>> = optional().change(REPLACED),
        /// Traffic to record: `ALL`, `ACCEPT` or `REJECT`.
        traffic_type: Input<String> = default("ALL").check(Check::one_of(&["ALL", "ACCEPT", "REJECT"])).change(REPLACED),
        /// Maximum number of seconds that a record covers: 60 or 600.
        max_aggregation_interval: Input<i64> = default(600_i64).check(interval()).change(REPLACED),
        /// Fields of a record, such as `$${version} $${vpc-id} $${srcaddr}`. Defaults to the format of AWS.
        log_format: Input<Option<String>> = optional().change(REPLACED),
        /// Files in a bucket.
        destination_options: Input<Option<DestinationOptions>> = optional().change(REPLACED),
        /// ARN of the role in the account of a delivery stream.
        deliver_cross_account_role: Input<Option<String>> = optional().change(REPLACED).remark(NOT_YET_RUN),
        /// Tags for the flow log and the created log group.
        tags: Tags = default(Value::Map(BTreeMap::new())).in_place(),
    }
}

crate::attributes! {
    /// The files of a flow log in a bucket.
    pub struct DestinationOptions: Encode {
        /// Format of the files: `plain-text` or `parquet`.
        file_format: Input<String>
            = default("plain-text").check(Check::one_of(&["plain-text", "parquet"])).change(REPLACED),
        /// Whether the folders are named as Hive expects.
        hive_compatible_partitions: Input<bool> = default(false).change(REPLACED),
        /// Whether there is a folder for each hour.
        per_hour_partition: Input<bool> = default(false).change(REPLACED),
    }
}

fn interval() -> Check {
    Check::new("60 or 600", |value| match value {
        Value::Number(Number::Int(60 | 600)) => Ok(()),
        _ => Err(format!("{value} is not an interval that AWS supports.")),
    })
}

impl FlowLog {
    /// A log of which nothing is known.
    pub(super) fn unknown() -> FlowLog {
        FlowLog {
            log_destination_type: Input::Unknown,
            log_destination: Input::Unknown,
            log_group_name: Input::Unknown,
            retention_in_days: Input::Unknown,
            kms_key_id: Input::Unknown,
            log_group_skip_destroy: Input::Unknown,
            iam_role_arn: Input::Unknown,
            traffic_type: Input::Unknown,
            max_aggregation_interval: Input::Unknown,
            log_format: Input::Unknown,
            destination_options: Input::Unknown,
            deliver_cross_account_role: Input::Unknown,
            tags: Input::Unknown,
        }
    }

    /// The object, without tags.
    pub(super) fn spec(&self, vpc: &Key, log_group: Option<Key>) -> model::FlowLog {
        let destination = match &self.log_group_name {
            Input::Known(Some(name)) => Input::Known(name.clone()),
            _ => self.log_destination.clone().map(|arn| {
                let arn = arn.unwrap_or_default();
                LogGroup::name_in(&arn).map_or(arn.clone(), str::to_string)
            }),
        };
        let files = self.destination_options.clone().map(|options| {
            let files = options.map(|it| LogFiles {
                format: it.file_format.known().cloned().unwrap_or_default(),
                hive_compatible_partitions: it.hive_compatible_partitions == Input::Known(true),
                per_hour_partition: it.per_hour_partition == Input::Known(true),
            });
            files.filter(|files| *files != LogFiles::of_aws())
        });
        model::FlowLog {
            vpc: vpc.clone(),
            log_group,
            destination_type: self.log_destination_type.clone(),
            destination,
            iam_role_arn: self.iam_role_arn.clone(),
            cross_account_role_arn: self.deliver_cross_account_role.clone(),
            traffic_type: self.traffic_type.clone(),
            max_aggregation_interval: self.max_aggregation_interval.clone(),
            log_format: self.log_format.clone().map(|format| format.filter(|it| it != model::FlowLog::DEFAULT_FORMAT)),
            files,
            tags: Input::Known(BTreeMap::new()),
        }
    }

    /// The entry that requires an object.
    pub(super) fn of(log: &model::FlowLog, group: Option<&LogGroup>, scope: &Scope) -> FlowLog {
        let is_group = log.destination_type == Input::Known(CLOUDWATCH.to_string());
        let arn = |destination: String| match (is_group, &scope.account) {
            (true, Some(account)) => {
                format!("arn:{}:logs:{}:{account}:log-group:{destination}", scope.partition, scope.region)
            }
            _ => destination,
        };
        FlowLog {
            log_destination_type: log.destination_type.clone(),
            log_destination: match group {
                Some(_) => Input::Known(None),
                None => log.destination.clone().map(|destination| Some(arn(destination))),
            },
            log_group_name: group.map_or(Input::Known(None), |group| group.name.clone().map(Some)),
            retention_in_days: group.map_or(Input::Known(None), |group| group.retention_in_days.clone()),
            kms_key_id: group.map_or(Input::Known(None), |group| group.kms_key_arn.clone()),
            log_group_skip_destroy: group.map_or(Input::Known(true), |group| group.skip_destroy.clone()),
            iam_role_arn: log.iam_role_arn.clone(),
            traffic_type: log.traffic_type.clone(),
            max_aggregation_interval: log.max_aggregation_interval.clone(),
            log_format: log.log_format.clone(),
            destination_options: log.files.clone().map(|files| {
                files.map(|files| DestinationOptions {
                    file_format: Input::Known(files.format),
                    hive_compatible_partitions: Input::Known(files.hive_compatible_partitions),
                    per_hour_partition: Input::Known(files.per_hour_partition),
                })
            }),
            deliver_cross_account_role: log.cross_account_role_arn.clone(),
            tags: log.tags.clone(),
        }
    }
}
