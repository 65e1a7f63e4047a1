//! Flow logs and their log groups.

use serde_json::{Value, json};

use super::{THIS, TestEnv};

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const ROLE: &str = "arn:aws:iam::123456789012:role/flow";

fn with(logs: &str) -> String {
    format!("{ALONE}\n  flow_logs = {{\n{logs}\n  }}")
}

/// A log to a new log group.
fn app(more: &str) -> String {
    format!("    app = {{ log_group_name = \"/net/app\", iam_role_arn = \"{ROLE}\"{more} }}")
}

/// A log to a new log group that stays.
fn kept_log(days: i64) -> String {
    app(&format!(", retention_in_days = {days}, log_group_skip_destroy = true"))
}

/// A log to a bucket.
fn audit(bucket: &str, more: &str) -> String {
    format!("    audit = {{ log_destination_type = \"s3\", log_destination = \"arn:aws:s3:::{bucket}\"{more} }}")
}

fn actions(env: &TestEnv) -> Vec<String> {
    env.proxy.mutations().into_iter().map(|record| record.call.action).collect()
}

#[test]
fn flow_logs_are_created_changed_imported_and_deleted() {
    let env = TestEnv::new();
    env.proxy.has_policies_of_configurations();
    env.change(ALONE);
    let network = env.attribute("aws_objects");
    let both = with(&format!("{}\n{}", kept_log(30), audit("logs", "")));
    let on = env.change(&both);
    assert_eq!(on.calls, "CreateFlowLogs 2, CreateLogGroup 1, PutRetentionPolicy 1");
    assert_eq!(
        on.new,
        [
            "flow log main-flow-log-app to /net/app",
            "flow log main-flow-log-audit to arn:aws:s3:::logs",
            "log group /net/app 30"
        ]
    );
    let created = actions(&env);
    let at = |action: &str| created.iter().position(|it| it == action).expect("the call was sent");
    let parameters = |name: &str| env.proxy.mutations().iter().any(|it| it.call.param("LogGroupName") == name);
    assert!(at("CreateLogGroup") < created.iter().rposition(|it| it == "CreateFlowLogs").unwrap());
    assert!(parameters("/net/app"), "AWS creates no group by itself");

    // What AWS changes in place: the group and the tags.
    let tagged = with(&format!("{}\n{}", kept_log(7), audit("logs", ", tags = { team = \"net\" }")));
    let changed = env.change(&tagged);
    assert_eq!(changed.calls, "CreateTags 1, PutRetentionPolicy 1");
    let ids = env.attribute("flow_log_ids");

    // The new log comes first, also to the same destination.
    let moved = env.change(&with(&format!("{}\n{}", kept_log(7), audit("other", ""))));
    assert_eq!(moved.calls, "CreateFlowLogs 1, DeleteFlowLogs 1");
    assert_eq!(actions(&env), ["CreateFlowLogs", "DeleteFlowLogs"]);
    let faster = with(&format!("{}\n{}", kept_log(7), audit("other", ", max_aggregation_interval = 60")));
    env.change(&faster);
    assert_eq!(actions(&env), ["CreateFlowLogs", "DeleteFlowLogs"]);
    let now = env.attribute("flow_log_ids");
    assert!(now["app"] == ids["app"] && now["audit"] != ids["audit"], "{ids} {now}");

    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();

    // The group stays with its events, and without our tags.
    let off = env.change(&with(&audit("other", ", max_aggregation_interval = 60")));
    assert_eq!(off.calls, "DeleteFlowLogs 1, UntagResource 1");
    let left = env.proxy.account().list()["log_groups"].clone();
    assert_eq!(
        (left[0]["logGroupName"].as_str(), &left[0]["tags"]),
        (Some("/net/app"), &json!({ "Name": "main-flow-log-app" }))
    );
    let all = env.change(ALONE);
    assert_eq!(all.calls, "DeleteFlowLogs 1");
    assert_eq!(env.attribute("aws_objects"), network, "nothing else was touched");
    env.destroy();
}

/// Whether AWS compares more than destinations is not documented, so both are tried.
#[test]
fn an_old_log_makes_room_only_where_aws_demands_it() {
    for (in_the_way, limit) in [(false, None), (true, None), (false, Some(1))] {
        let env = TestEnv::new();
        env.change(&with(&audit("logs", "")));
        if in_the_way {
            env.proxy.one_flow_log_to_each_destination();
        }
        if let Some(limit) = limit {
            env.proxy.limit_flow_logs(limit);
        }
        env.change(&with(&audit("logs", ", traffic_type = \"REJECT\"")));
        let expected: &[&str] = match in_the_way || limit.is_some() {
            true => &["CreateFlowLogs", "DeleteFlowLogs", "CreateFlowLogs"],
            false => &["CreateFlowLogs", "DeleteFlowLogs"],
        };
        assert_eq!(actions(&env), expected);
        env.destroy();
    }
}

#[test]
fn accepted_and_rejected_traffic_go_to_one_destination() {
    let env = TestEnv::new();
    let both = |kinds: [&str; 2]| {
        let log =
            |name: &str, kind: &str| audit("logs", &format!(", traffic_type = \"{kind}\"")).replace("audit", name);
        with(&format!("{}\n{}", log("one", kinds[0]), log("two", kinds[1])))
    };
    let on = env.change(&both(["ACCEPT", "REJECT"]));
    assert!(on.calls.contains("CreateFlowLogs 2"), "{}", on.calls);
    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();
    env.config(&both(["ACCEPT", "ACCEPT"]));
    env.workspace.plan(&[]).failed_with("have the same configuration");
    env.config(&both(["ACCEPT", "REJECT"]));
    env.destroy();
}

#[test]
fn a_group_of_another_place_is_an_error_of_the_plan() {
    let env = TestEnv::new();
    let to = |region: &str, account: &str| {
        let arn = format!("arn:aws:logs:{region}:{account}:log-group:/net");
        with(&format!("    a = {{ log_destination = \"{arn}\", iam_role_arn = \"{ROLE}\" }}"))
    };
    for (region, account, says) in
        [("eu-west-1", "123456789012", "Region eu-west-1"), ("us-east-1", "999999999999", "account 999999999999")]
    {
        env.config(&to(region, account));
        env.workspace.plan(&[]).failed_with(says);
    }
    let here = env.change(&to("us-east-1", "123456789012"));
    assert!(here.calls.contains("CreateFlowLogs 1"), "{}", here.calls);
    env.destroy();
}

#[test]
fn a_group_is_deleted_with_its_events_by_default() {
    let env = TestEnv::new();
    env.change(&with(&app("")));
    env.config(ALONE);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("its log events are lost"), "{plan}");
    let off = env.change(ALONE);
    assert_eq!(off.calls, "DeleteFlowLogs 1, DeleteLogGroup 1");
    assert_eq!(actions(&env), ["DeleteFlowLogs", "DeleteLogGroup"], "AWS would create the group again");
    env.destroy();
}

#[test]
fn what_a_group_can_have_is_set_and_removed() {
    let env = TestEnv::new();
    let key = env.proxy.account().boto("kms", "create_key", json!({}))["KeyMetadata"]["Arn"].clone();
    env.change(&with(&app("")));
    let more = format!(", retention_in_days = 7, kms_key_id = {key}, tags = {{ team = \"net\" }}");
    let on = env.change(&with(&app(&more)));
    assert_eq!(on.calls, "AssociateKmsKey 1, CreateTags 1, PutRetentionPolicy 1, TagResource 1");
    let off = env.change(&with(&app("")));
    assert_eq!(off.calls, "DeleteRetentionPolicy 1, DeleteTags 1, DisassociateKmsKey 1, UntagResource 1");
    env.destroy();
}

#[test]
fn drift_of_flow_logs_is_shown_and_corrected() {
    let env = TestEnv::new();
    let logs = with(&format!("{}\n{}", app(", retention_in_days = 7"), audit("logs", "")));
    env.change(&logs);
    let ids = env.attribute("flow_log_ids");
    env.ec2("delete_flow_logs", json!({ "FlowLogIds": [ids["audit"]] }));
    let policy = json!({ "logGroupName": "/net/app", "retentionInDays": 90 });
    env.proxy.account().boto("logs", "put_retention_policy", policy);
    let drift = &env.workspace.plan_json(&[])["resource_drift"][0]["change"]["after"]["flow_logs"];
    assert_eq!((&drift["app"]["retention_in_days"], &drift["audit"]), (&json!(90), &Value::Null), "{drift}");
    let corrected = env.change(&logs);
    assert_eq!(corrected.calls, "CreateFlowLogs 1, PutRetentionPolicy 1");
    env.destroy();
}

#[test]
fn a_log_that_cannot_deliver_is_a_warning_of_the_refresh() {
    let env = TestEnv::new();
    env.change(&with(&audit("denied", "")));
    env.workspace.apply(&["-refresh-only"]).succeeded();
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 0, "{plan}");
    let id = env.attribute("flow_log_ids")["audit"].as_str().expect("an ID").to_string();
    for text in ["AWS reports faults", "Access error", &id, "arn:aws:s3:::denied", "policy of the destination"] {
        assert!(plan.says(text), "{text} is missing in {plan}");
    }
    assert_eq!(env.attribute("flow_log_deliver_statuses"), json!({ "audit": "FAILED" }));
    env.destroy();
}

#[test]
fn rejected_destinations_are_explained_and_can_be_corrected() {
    let env = TestEnv::new();
    env.config(&with(&audit("missing", "")));
    env.workspace.apply(&[]).failed_with("Check that arn:aws:s3:::missing exists");
    env.change(&with(&audit("logs", "")));
    let vpc = env.id("vpc");
    let other = json!({
        "ResourceIds": [vpc], "ResourceType": "VPC", "TrafficType": "ALL", "LogGroupName": "/theirs",
        "DeliverLogsPermissionArn": env.of_account(ROLE), "LogDestinationType": "cloud-watch-logs",
    });
    let theirs = env.proxy.boto("ec2", "create_flow_logs", other)["FlowLogIds"][0].clone();
    let theirs = theirs.as_str().expect("an ID").to_string();
    let taken = with(&format!("{}\n{}", app("").replace("/net/app", "/theirs"), audit("logs", "")));
    // AWS creates the group with the first records.
    env.proxy.account().boto("logs", "create_log_group", json!({ "logGroupName": "/theirs" }));
    let entries = [&*format!("\"flow_log.app\" = \"{theirs}\""), "\"log_group.flow_log.app\" = \"/theirs\""];
    let adopting = |count: usize| format!("{taken}\n  adopt = {{ {} }}", entries[..count].join(", "));
    for (count, next) in entries.iter().enumerate() {
        env.config(&adopting(count));
        env.workspace.plan(&[]).failed_with(&format!("{next} in adopt"));
    }
    let adopted = env.change(&adopting(entries.len()));
    assert_eq!(adopted.calls, "CreateTags 1, TagResource 1");
    assert_eq!(env.attribute("flow_log_ids")["app"], json!(theirs));
    env.destroy();
}

#[test]
fn a_log_group_of_others_is_an_error_of_the_plan() {
    let env = TestEnv::new();
    env.proxy.account().boto("logs", "create_log_group", json!({ "logGroupName": "/net/app" }));
    env.config(&with(&app("")));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("log group \"/net/app\" exists already");
    assert!(plan.says("\"log_group.flow_log.app\" = \"/net/app\" in adopt"), "{plan}");
    env.change(ALONE);
    let adopt = format!("{}\n  adopt = {{ \"log_group.flow_log.app\" = \"/net/app\" }}", with(&app("")));
    let adopted = env.change(&adopt);
    assert_eq!(adopted.calls, "CreateFlowLogs 1, TagResource 1");
    env.destroy();
}
