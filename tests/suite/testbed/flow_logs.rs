//! Corrections of moto for flow logs.

use serde_json::{Value, json};

use super::{Network, text};

const ROLE: &str = "arn:aws:iam::123456789012:role/flow";

impl Network {
    fn flow_log(&self, more: &Value) -> Value {
        let mut log = json!({
            "ResourceIds": [self.vpc], "ResourceType": "VPC", "TrafficType": "ALL", "LogDestinationType": "s3",
            "LogDestination": "arn:aws:s3:::logs",
        });
        log.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        log
    }

    /// The ID of a new log, or the code inside the answer.
    fn created_log(&self, more: &Value) -> String {
        let answer = self.ec2("create_flow_logs", self.flow_log(more));
        match answer["FlowLogIds"].get(0) {
            Some(id) => text(id),
            None => text(&answer["Unsuccessful"][0]["Error"]["Code"]),
        }
    }
}

#[test]
fn only_an_equal_flow_log_exists_already() {
    let network = Network::new();
    let log = |more: Value| network.created_log(&more);
    let changes = [
        json!({}),
        json!({ "TrafficType": "REJECT" }),
        json!({ "MaxAggregationInterval": 60 }),
        json!({ "LogFormat": "${srcaddr}" }),
        json!({ "DestinationOptions": {
            "FileFormat": "parquet", "HiveCompatiblePartitions": false, "PerHourPartition": false,
        }}),
        json!({ "LogDestination": "arn:aws:s3:::other" }),
    ];
    let ids: Vec<String> = changes.iter().map(|change| log(change.clone())).collect();
    assert!(ids.iter().all(|id| id.starts_with("fl-")), "{ids:?}");
    assert_eq!(log(json!({ "MaxAggregationInterval": 600 })), "FlowLogAlreadyExists", "it is the default");
    network.proxy.one_flow_log_to_each_destination();
    assert_eq!(log(json!({ "TrafficType": "ACCEPT" })), "FlowLogAlreadyExists");
    network.ec2("delete_flow_logs", json!({ "FlowLogIds": ids }));
    network.proxy.limit_flow_logs(1);
    assert!(log(json!({})).starts_with("fl-"));
    assert_eq!(log(json!({ "LogDestination": "arn:aws:s3:::other" })), "FlowLogsLimitExceeded");
}

#[test]
fn flow_logs_that_aws_never_accepts_are_rejected() {
    let network = Network::new();
    let stream = "arn:aws:firehose:us-east-1:123456789012:deliverystream/x";
    let to_stream = json!({ "LogDestinationType": "kinesis-data-firehose", "LogDestination": stream });
    let with = |mut log: Value, name: &str| {
        log[name] = ROLE.into();
        log
    };
    for (more, code) in [
        (json!({ "LogDestination": "arn:aws:s3:::logs/AWSLogs/" }), "InvalidParameter"),
        (with(json!({}), "DeliverLogsPermissionArn"), "InvalidParameter"),
        (with(to_stream.clone(), "DeliverLogsPermissionArn"), "InvalidParameter"),
        (with(to_stream.clone(), "DeliverCrossAccountRole"), "InvalidParameter"),
    ] {
        assert_eq!(network.rejected("create_flow_logs", network.flow_log(&more)), code, "{more}");
    }
    let both = with(with(to_stream.clone(), "DeliverLogsPermissionArn"), "DeliverCrossAccountRole");
    assert!(network.created_log(&both).starts_with("fl-"));
    assert!(network.created_log(&to_stream).starts_with("fl-"));
}
