//! The permissions for the flow logs of networks, and for the log groups that networks create for them.

use super::Condition::{None as Always, Ours, PassToFlowLogs, WithMark};
use super::Policy::{self, FlowLogs};
use super::gateway::{Calls as OtherCalls, implied};
use super::network::Calls;
use super::{Purpose, Row};

/// The purposes of statements.
pub(super) const PURPOSES: &[Purpose] = &[
    (FlowLogs, "FlowLogs", "The flow logs", "no `flow_logs`"),
    (FlowLogs, "Role", "Passes the role that writes to a log group", "no `iam_role_arn`"),
    (FlowLogs, "Delivery", "Allows AWS to deliver to a bucket or a stream", "only flow logs to log groups"),
    (FlowLogs, "LogGroups", "The log groups that the network creates", "no `log_group_name`"),
    (FlowLogs, "LogKey", "Sets the KMS key of such a log group", "no `kms_key_id`"),
];

pub(super) const EC2: &[Calls] = &[
    (FlowLogs, "FlowLogs", &["CreateFlowLogs"], &["vpc-flow-log"], WithMark),
    (FlowLogs, "FlowLogs", &["CreateFlowLogs"], &["vpc"], Ours),
    (FlowLogs, "FlowLogs", &["DeleteFlowLogs"], &["vpc-flow-log"], Ours),
];

const GROUPS: (Policy, &str) = (FlowLogs, "LogGroups");

pub(super) const OTHERS: &[OtherCalls] = &[
    ("logs", &["DescribeLogGroups"], GROUPS, "logs:DescribeLogGroups", &["*"], Always),
    ("logs", &["ListTagsForResource"], GROUPS, "logs:ListTagsForResource", &["log-group"], Always),
    ("logs", &["CreateLogGroup"], GROUPS, "logs:CreateLogGroup", &["log-group-parts"], WithMark),
    ("logs", &["DeleteLogGroup"], GROUPS, "logs:DeleteLogGroup", &["log-group-parts"], Ours),
    ("logs", &["DeleteRetentionPolicy"], GROUPS, "logs:DeleteRetentionPolicy", &["log-group-parts"], Ours),
    ("logs", &["PutRetentionPolicy"], GROUPS, "logs:PutRetentionPolicy", &["log-group-parts"], Ours),
    ("logs", &["TagResource"], GROUPS, "logs:TagResource", &["log-group"], Ours),
    ("logs", &["UntagResource"], GROUPS, "logs:UntagResource", &["log-group"], Ours),
    ("logs", &["AssociateKmsKey"], (FlowLogs, "LogKey"), "logs:AssociateKmsKey", &["log-group-parts"], Ours),
    ("logs", &["DisassociateKmsKey"], (FlowLogs, "LogKey"), "logs:DisassociateKmsKey", &["log-group-parts"], Ours),
];

const DELIVERED: &str =
    "`CreateFlowLogs` to a bucket or a stream sets up the delivery with the permissions of the caller";

pub(super) const IMPLIED: &[Row] = &[
    implied(
        "logs",
        GROUPS,
        "logs:TagResource",
        &["log-group"],
        WithMark,
        "`CreateLogGroup` with tags also needs the permission to tag the group",
    ),
    implied(
        "iam",
        (FlowLogs, "Role"),
        "iam:PassRole",
        &["flow-log-role"],
        PassToFlowLogs,
        "`CreateFlowLogs` with `iam_role_arn` passes that role",
    ),
    implied("logs", (FlowLogs, "Delivery"), "logs:CreateLogDelivery", &["*"], Always, DELIVERED),
    implied("logs", (FlowLogs, "Delivery"), "logs:DeleteLogDelivery", &["*"], Always, DELIVERED),
];

/// Why no condition restricts a statement, and what to fill in instead.
pub(super) const UNRESTRICTED: &[(Policy, &str, &str, &str)] = &[
    (FlowLogs, "Delivery", "logs:CreateLogDelivery", "AWS supports no resources and no conditions for these actions"),
    (FlowLogs, "LogGroups", "logs:DescribeLogGroups", "AWS supports no resources and no conditions for this action"),
    (
        FlowLogs,
        "LogGroups",
        "logs:ListTagsForResource",
        "It changes nothing, and shows whether the group has the tags: fill in the name of the log group",
    ),
];
