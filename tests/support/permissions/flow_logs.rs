//! The permissions for the flow logs of networks, and for the log groups that networks create for them.

use super::Condition::{InRegion, None as Always, Ours, PassToFlowLogs, ServiceLinkedRoleOfDelivery, WithMark};
use super::Policy::{FlowLogs, NetworkRead};
use super::{By, Feature, Needed};

const DELIVERED: &str =
    "`CreateFlowLogs` to a bucket or a stream sets up the delivery with the permissions of the caller";

const CROSS_ACCOUNT: &str = "`CreateFlowLogs` with `deliver_cross_account_role` sets up a delivery to another account";

/// The calls that set up a delivery to Firehose.
const TO_FIREHOSE: By = (&["CreateFlowLogs"], "LogDestinationType~firehose");

pub(super) const FEATURE: Feature = Feature {
    purposes: &[
        (FlowLogs, "FlowLogs", "The flow logs", Needed::If(&["flow_logs"], "")),
        (FlowLogs, "Role", "Passes the role that writes the logs", Needed::If(&["iam_role_arn"], "")),
        (
            FlowLogs,
            "Delivery",
            "Allows AWS to deliver to a bucket or a stream",
            Needed::If(&["log_destination_type = s3", "log_destination_type = kinesis-data-firehose"], ""),
        ),
        (
            FlowLogs,
            "Stream",
            "Allows AWS to deliver to a stream of Firehose, and creates the service-linked role for that",
            Needed::If(&["log_destination_type = kinesis-data-firehose"], ""),
        ),
        (
            FlowLogs,
            "CrossAccount",
            "Allows AWS to deliver to another account",
            Needed::If(&["deliver_cross_account_role"], ""),
        ),
        (FlowLogs, "LogGroups", "The log groups that the network creates", Needed::If(&["log_group_name"], "")),
        (FlowLogs, "LogKey", "Looks up and sets the KMS key of such a log group", Needed::If(&["kms_key_id"], "")),
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
        ("kms", &[(FlowLogs, "LogKey", &["DescribeKey"], &["key"], Always)]),
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
            (&["CreateFlowLogs"], "LogDestinationType~s3"),
        ),
        (FlowLogs, "Delivery", &["logs:CreateLogDelivery"], &["*"], Always, DELIVERED, TO_FIREHOSE),
        (
            FlowLogs,
            "Stream",
            &["firehose:TagDeliveryStream"],
            &["delivery-stream"],
            Always,
            "`CreateFlowLogs` to a stream sets the tag `LogDeliveryEnabled` on it with the permissions of the caller",
            TO_FIREHOSE,
        ),
        (
            FlowLogs,
            "Stream",
            &["iam:CreateServiceLinkedRole"],
            &["delivery-role"],
            ServiceLinkedRoleOfDelivery,
            "For the first delivery to a stream in an account, AWS creates the role with the permissions of the caller",
            TO_FIREHOSE,
        ),
        (
            FlowLogs,
            "CrossAccount",
            &["logs:GetLogDelivery", "logs:ListLogDeliveries"],
            &["*"],
            Always,
            CROSS_ACCOUNT,
            (&["CreateFlowLogs"], "DeliverCrossAccountRole"),
        ),
        (FlowLogs, "Delivery", &["logs:DeleteLogDelivery"], &["*"], Always, DELIVERED, (&["DeleteFlowLogs"], "")),
    ],
    unrestricted: &[
        (FlowLogs, "LogKey", "kms:DescribeKey", "The key is yours: fill in its ID"),
        (FlowLogs, "Stream", "firehose:TagDeliveryStream", "The stream is yours and has your tags: fill in its name"),
        (
            FlowLogs,
            "CrossAccount",
            "logs:GetLogDelivery",
            "AWS supports no resources and no conditions for these actions",
        ),
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
