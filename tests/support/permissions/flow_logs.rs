//! The permissions for the flow logs of networks, and for the log groups that networks create for them.

use super::Condition::{InRegion, None as Always, Ours, PassToFlowLogs, WithMark};
use super::Feature;
use super::Policy::{FlowLogs, NetworkRead};

const DELIVERED: &str =
    "`CreateFlowLogs` to a bucket or a stream sets up the delivery with the permissions of the caller";

pub(super) const FEATURE: Feature = Feature {
    purposes: &[
        (FlowLogs, "FlowLogs", "The flow logs", "no `flow_logs`"),
        (FlowLogs, "Role", "Passes the role that writes to a log group", "no `iam_role_arn`"),
        (FlowLogs, "Delivery", "Allows AWS to deliver to a bucket or a stream", "only flow logs to log groups"),
        (FlowLogs, "LogGroups", "The log groups that the network creates", "no `log_group_name`"),
        (FlowLogs, "LogKey", "Sets the KMS key of such a log group", "no `kms_key_id`"),
    ],
    calls: &[
        (
            "ec2",
            &[
                (NetworkRead, "Network", &["DescribeFlowLogs"], &["*"], InRegion),
                (FlowLogs, "FlowLogs", &["CreateFlowLogs"], &["vpc-flow-log"], WithMark),
                (FlowLogs, "FlowLogs", &["CreateFlowLogs"], &["vpc"], Ours),
                (FlowLogs, "FlowLogs", &["DeleteFlowLogs"], &["vpc-flow-log"], Ours),
            ],
        ),
        (
            "logs",
            &[
                (FlowLogs, "LogGroups", &["DescribeLogGroups"], &["*"], Always),
                (FlowLogs, "LogGroups", &["ListTagsForResource"], &["log-group"], Always),
                (FlowLogs, "LogGroups", &["CreateLogGroup"], &["log-group-parts"], WithMark),
                (
                    FlowLogs,
                    "LogGroups",
                    &["DeleteLogGroup", "DeleteRetentionPolicy", "PutRetentionPolicy"],
                    &["log-group-parts"],
                    Ours,
                ),
                (FlowLogs, "LogGroups", &["TagResource", "UntagResource"], &["log-group"], Ours),
                (FlowLogs, "LogKey", &["AssociateKmsKey", "DisassociateKmsKey"], &["log-group-parts"], Ours),
            ],
        ),
    ],
    implied: &[
        (
            FlowLogs,
            "LogGroups",
            &["logs:TagResource"],
            &["log-group"],
            WithMark,
            "`CreateLogGroup` with tags also needs the permission to tag the group",
            (&["CreateLogGroup"], "tags"),
        ),
        (
            FlowLogs,
            "Role",
            &["iam:PassRole"],
            &["flow-log-role"],
            PassToFlowLogs,
            "`CreateFlowLogs` with `iam_role_arn` passes that role",
            (&["CreateFlowLogs"], "DeliverLogsPermissionArn"),
        ),
        (
            FlowLogs,
            "Delivery",
            &["logs:CreateLogDelivery"],
            &["*"],
            Always,
            DELIVERED,
            (&["CreateFlowLogs"], "!DeliverLogsPermissionArn"),
        ),
        (FlowLogs, "Delivery", &["logs:DeleteLogDelivery"], &["*"], Always, DELIVERED, (&["DeleteFlowLogs"], "")),
    ],
    unrestricted: &[
        (
            FlowLogs,
            "Delivery",
            "logs:CreateLogDelivery",
            "AWS supports no resources and no conditions for these actions",
        ),
        (
            FlowLogs,
            "LogGroups",
            "logs:DescribeLogGroups",
            "AWS supports no resources and no conditions for this action",
        ),
        (
            FlowLogs,
            "LogGroups",
            "logs:ListTagsForResource",
            "It changes nothing, and shows whether the group has the tags: fill in the name of the log group",
        ),
    ],
    kinds: &[("vpc-flow-log", "fl-", &["FlowLogId"])],
    associated: &[],
};
