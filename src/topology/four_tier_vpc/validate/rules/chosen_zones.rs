//! The rules for the AZs to use.

use serde_json::json;

use super::Rule;

pub(super) fn rules() -> Vec<Rule> {
    vec![
        (
            "a list of AZs is not empty",
            json!({"availability_zone_ids": []}),
            &["availability_zone_ids"],
            &["no AZ"],
            json!({"availability_zone_ids": ["use1-az1"]}),
        ),
        (
            "AZs are chosen by id",
            json!({"availability_zone_ids": ["use1-az1", "us-east-1b"]}),
            &["availability_zone_ids[1]"],
            &["us-east-1b", "use1-az1"],
            json!({"availability_zone_ids": ["use1-az1", "use1-az2"]}),
        ),
        (
            "an AZ is chosen once",
            json!({"availability_zone_ids": ["use1-az1", "use1-az1"]}),
            &["availability_zone_ids[1]"],
            &["use1-az1"],
            json!({"availability_zone_ids": ["use1-az2", "use1-az1"]}),
        ),
        (
            "an AZ is not both chosen and excluded",
            json!({"availability_zone_ids": ["use1-az1"], "availability_zone_exclude_ids": ["use1-az1"]}),
            &["availability_zone_ids[0]"],
            &["use1-az1", "availability_zone_exclude_ids"],
            json!({"availability_zone_ids": ["use1-az1"], "availability_zone_exclude_ids": ["use1-az2"]}),
        ),
        (
            "AZs are chosen by name",
            json!({"availability_zone_names": ["us-east-1a", "use1-az2"]}),
            &["availability_zone_names[1]"],
            &["use1-az2", "availability_zone_ids"],
            json!({"availability_zone_names": ["us-east-1a", "us-east-1b"]}),
        ),
        (
            "a list of names of AZs is not empty",
            json!({"availability_zone_names": []}),
            &["availability_zone_names"],
            &["no AZ"],
            json!({"availability_zone_names": ["us-east-1a"]}),
        ),
        (
            "an AZ is named once, and not excluded",
            json!({"availability_zone_names": ["a", "b", "a"], "availability_zone_exclude_names": ["b"]}),
            &["availability_zone_names[1]", "availability_zone_names[2]"],
            &["b is also in availability_zone_exclude_names", "a is listed twice"],
            json!({"availability_zone_names": ["a", "c"], "availability_zone_exclude_names": ["b"]}),
        ),
        (
            "AZs are chosen by id or by name",
            json!({"availability_zone_names": ["us-east-1a"], "availability_zone_ids": ["use1-az1"]}),
            &["availability_zone_names"],
            &["us-east-1a", "use1-az1"],
            json!({"availability_zone_names": ["us-east-1a"], "availability_zone_exclude_ids": ["use1-az1"]}),
        ),
    ]
}
