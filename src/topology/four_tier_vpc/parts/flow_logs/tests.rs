//! Tests of flow logs.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Claim, Drift, FoundObject, NetworkLandscape};
use crate::topology::four_tier_vpc::FourTierVpc;
use crate::topology::four_tier_vpc::classify::classify;
use crate::topology::four_tier_vpc::config::tests::{config, decode};
use crate::topology::four_tier_vpc::fixtures::{applied, facts, objects, scope};
use crate::topology::four_tier_vpc::{import, reflect, validate};
use crate::topology::rules::{UNKNOWN, value, with};
use crate::topology::{Context, Topology};

const ROLE: &str = "arn:aws:iam::123456789012:role/flow";
const BUCKET: &str = "arn:aws:s3:::logs/net";
const GROUP: &str = "arn:aws:logs:eu-central-1:123456789012:log-group:/shared";

fn input(logs: Json) -> [(&'static str, Value); 1] {
    [(ENTRIES.input, value(logs))]
}

fn problems(logs: Json) -> Vec<Problem> {
    decode(&input(logs)).map_or_else(|problems| problems, |config| validate::validate(&config))
}

#[test]
fn each_broken_rule_of_flow_logs_is_reported() {
    let bucket = |more: Json| with(json!({ "log_destination_type": "s3", "log_destination": BUCKET }), more);
    let group = |more: Json| with(json!({ "log_group_name": "/net", "iam_role_arn": ROLE }), more);
    let key = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    let stream = "arn:aws:firehose:us-east-1:123456789012:deliverystream/x";
    let existing = "arn:aws:logs:us-east-1:123456789012:log-group:/net:*";
    let to_stream = |more: Json| {
        let stream = json!({ "log_destination_type": model::FlowLog::FIREHOSE, "log_destination": stream });
        with(stream, more)
    };
    let to_existing = |name: &str| {
        let group = format!("arn:aws:logs:us-east-1:123456789012:log-group:{name}");
        json!({ "log_destination": group, "iam_role_arn": ROLE })
    };
    let (to_bucket, to_group) = (|| bucket(json!({})), || group(json!({})));
    let of = |at: &'static str, broken: Json, says: &'static [&'static str], good: Json| (at, broken, says, good);
    let rules = [
        of("log_destination", json!({ "iam_role_arn": ROLE }), &["Neither", "log_group_name"], to_group()),
        of(
            "log_destination",
            group(json!({ "log_destination": existing })),
            &["\"/net\"", "log-group:/net"],
            to_group(),
        ),
        of("log_destination", bucket(json!({ "log_destination": stream })), &["not the ARN of a bucket"], to_bucket()),
        of("log_destination", to_existing("/net:log-stream:a"), &["not the ARN of a log group"], to_existing("/net")),
        of("log_destination", bucket(json!({ "log_destination": "arn:aws:s3:::logs/AWSLogs/net" })), &["AWSLogs"], {
            bucket(json!({ "log_destination": "arn:aws:s3:::logs/net/AWSLogs" }))
        }),
        of("deliver_cross_account_role", to_stream(json!({ "iam_role_arn": ROLE })), &["iam_role_arn"], {
            to_stream(json!({ "iam_role_arn": ROLE, "deliver_cross_account_role": ROLE }))
        }),
        of(
            "iam_role_arn",
            to_stream(json!({ "deliver_cross_account_role": ROLE })),
            &["deliver_cross_account_role"],
            to_stream(json!({})),
        ),
        of(
            "log_group_name",
            group(json!({ "log_group_name": "a b" })),
            &["a b"],
            group(json!({ "log_group_name": "a/b" })),
        ),
        of(
            "log_group_name",
            group(json!({ "log_destination_type": model::FlowLog::FIREHOSE })),
            &[model::FlowLog::FIREHOSE],
            to_group(),
        ),
        of("iam_role_arn", json!({ "log_group_name": "/net" }), &["required"], to_group()),
        of(
            "iam_role_arn",
            bucket(json!({ "iam_role_arn": ROLE })),
            &[model::FlowLog::CLOUDWATCH, "\"s3\""],
            to_bucket(),
        ),
        of("iam_role_arn", group(json!({ "iam_role_arn": "flow" })), &["\"flow\""], to_group()),
        of("destination_options", group(json!({ "destination_options": {} })), &["s3", model::FlowLog::CLOUDWATCH], {
            bucket(json!({ "destination_options": {} }))
        }),
        of(
            "deliver_cross_account_role",
            bucket(json!({ "deliver_cross_account_role": ROLE })),
            &[model::FlowLog::FIREHOSE],
            to_bucket(),
        ),
        of("retention_in_days", bucket(json!({ "retention_in_days": 7 })), &["log_group_name"], {
            group(json!({ "retention_in_days": 7 }))
        }),
        of("retention_in_days", group(json!({ "retention_in_days": 8 })), &["8 days", "3653"], {
            group(json!({ "retention_in_days": 0 }))
        }),
        of("kms_key_id", group(json!({ "kms_key_id": "alias/a" })), &["alias/a"], group(json!({ "kms_key_id": key }))),
        of("log_format", bucket(json!({ "log_format": "${a},${b}" })), &["one space"], {
            bucket(json!({ "log_format": "${a} ${b}" }))
        }),
        of("max_aggregation_interval", bucket(json!({ "max_aggregation_interval": 300 })), &["300"], {
            bucket(json!({ "max_aggregation_interval": 60 }))
        }),
    ];
    for (at, broken, says, good) in rules {
        let found = problems(json!({ "x": broken }));
        let paths: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(paths, [format!("flow_logs[\"x\"].{at}")], "{found:#?}");
        let text = format!("{} {}", found[0].message, found[0].hint);
        assert!(says.iter().all(|it| text.contains(it)), "{says:?} in {text}");
        assert!(found[0].message.ends_with('.') && found[0].hint.ends_with('.'), "{text}");
        assert_eq!(problems(json!({ "x": good })), [], "{at}");
    }
    let twice = json!({ "a": to_group(), "b": { "log_destination": existing, "iam_role_arn": ROLE } });
    for (logs, at, says) in [(json!({ "A.b": to_bucket() }), "A.b", "lowercase"), (twice, "b", "\"a\" and \"b\"")] {
        let [problem] = &problems(logs)[..] else { panic!("one problem at {at}") };
        assert_eq!(problem.path, ENTRIES.path(at));
        assert!(format!("{} {}", problem.message, problem.hint).contains(says), "{problem:?}");
    }
    for interval in [60, 600] {
        let logs = json!({ "a": to_group(), "b": group(json!({ "max_aggregation_interval": interval })) });
        let [problem] = &problems(logs)[..] else { panic!("one problem at {interval}") };
        assert_eq!(problem.path, ENTRIES.path("b").attribute("log_group_name"));
        assert!(problem.message.contains("both create the log group \"/net\""), "{problem:?}");
    }
    assert_eq!(problems(json!({ "a-b_1": to_bucket(), "b": to_group() })), []);
    assert_eq!(problems(json!({ "x": UNKNOWN })), []);
}

/// The claims of the flow logs that the configuration requires.
fn claims(logs: Json) -> Vec<Claim> {
    let objects = objects(&config(&input(logs)), "a");
    let logs = objects.iter().filter(|it| model::FlowLog::of(&it.spec).is_some());
    logs.flat_map(|it| it.spec.claims()).collect()
}

#[test]
fn only_an_equal_configuration_is_in_the_way() {
    let log = |more: Json| {
        let common = json!({ "log_destination": GROUP, "iam_role_arn": ROLE, "tags": { "team": "net" } });
        json!({ "a": with(common, more) })
    };
    let before = claims(log(json!({})));
    assert!(Claim::any_collide(&before, &claims(log(json!({ "tags": { "team": "web" } })))), "tags do not count");
    for change in [
        json!({ "traffic_type": "REJECT" }),
        json!({ "max_aggregation_interval": 60 }),
        json!({ "log_format": "${srcaddr}" }),
        json!({ "iam_role_arn": "arn:aws:iam::123456789012:role/other" }),
        json!({ "log_destination": format!("{GROUP}-2") }),
    ] {
        assert!(!Claim::any_collide(&before, &claims(log(change.clone()))), "{change} is created first");
    }
}

#[test]
fn accept_and_reject_go_to_one_group() {
    let log = |kind: &str| json!({ "log_destination": GROUP, "iam_role_arn": ROLE, "traffic_type": kind });
    assert_eq!(problems(json!({ "a": log("ACCEPT"), "b": log("REJECT") })), []);
    let found = problems(json!({ "a": log("ACCEPT"), "b": log("ACCEPT") }));
    let paths: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(paths, ["flow_logs[\"b\"]"], "{found:?}");
}

/// The paths of the problems of a plan in this place.
fn refused(scope: &Scope, log: &Json) -> Vec<String> {
    let config = config(&input(json!({ "a": log })));
    let facts = facts("a");
    let existing = Inventory::default();
    let context = Context { config: &config, prior: None, existing: &existing, scope, facts: &facts };
    let problems = FourTierVpc::blueprint(&context).err().unwrap_or_default();
    for it in &problems {
        assert!(it.message.ends_with('.') && it.hint.ends_with('.'), "{it:?}");
    }
    problems.into_iter().map(|it| it.path.to_string().replace("flow_logs[\"a\"].", "")).collect()
}

#[test]
fn destinations_and_roles_of_other_places_are_refused() {
    let (ours, other) = ("123456789012", "999999999999");
    for (partition, region) in [("aws", "eu-central-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")] {
        let scope = |account: Option<&str>| Scope {
            partition: partition.into(),
            region: region.into(),
            account: account.map(str::to_string),
            ..Scope::default()
        };
        let role = |account: &str| format!("arn:{partition}:iam::{account}:role/flow");
        let group = |partition: &str, region: &str, account: &str| {
            let arn = format!("arn:{partition}:logs:{region}:{account}:log-group:/net:*");
            json!({ "log_destination": arn, "iam_role_arn": role(ours) })
        };
        let stream = |account: &str, roles: Json| {
            let arn = format!("arn:{partition}:firehose:{region}:{account}:deliverystream/x");
            with(json!({ "log_destination_type": model::FlowLog::FIREHOSE, "log_destination": arn }), roles)
        };
        let bucket = |partition: &str| json!({ "log_destination_type": "s3", "log_destination": format!("arn:{partition}:s3:::logs") });
        let roles = |account: &str| json!({ "iam_role_arn": role(ours), "deliver_cross_account_role": role(account) });
        let key = format!("arn:{partition}:kms:elsewhere-1:{ours}:key/1234abcd-12ab-34cd-56ef-1234567890ab");
        let shared_key = key.replace("elsewhere-1", region).replace(ours, other);
        let own = |more: Json| with(json!({ "log_group_name": "/net", "iam_role_arn": role(ours) }), more);
        let destination: &[&str] = &["log_destination"];
        for (log, refused_at) in [
            (group(partition, region, ours), &[][..]),
            (group(partition, region, other), destination),
            (group(partition, "elsewhere-1", ours), destination),
            (group("aws-iso", region, ours), destination),
            (bucket(partition), &[]),
            (bucket("aws-iso"), destination),
            (stream(ours, json!({})), &[]),
            (stream(other, json!({})), destination),
            (stream(other, roles(other)), &[]),
            (stream(other, roles("111122223333")), &["deliver_cross_account_role"]),
            (own(json!({ "iam_role_arn": role(other) })), &["iam_role_arn"]),
            (own(json!({ "iam_role_arn": format!("arn:aws-iso:iam::{ours}:role/flow") })), &["iam_role_arn"]),
            (own(json!({ "kms_key_id": key })), &["kms_key_id"]),
            (own(json!({ "kms_key_id": shared_key })), &[]),
        ] {
            assert_eq!(refused(&scope(Some(ours)), &log), refused_at, "{log}");
        }
        assert_eq!(refused(&scope(None), &group(partition, region, other)), Vec::<String>::new());
    }
}

#[test]
fn an_unknown_log_group_changes_only_outputs_of_flow_logs() {
    let logs = |group: Value| {
        let log = Value::map([("log_group_name", group), ("iam_role_arn", ROLE.into())]);
        config(&[(ENTRIES.input, Value::map([("a", log)]))])
    };
    assert_eq!(FlowLogs.is_wanted(&logs(Value::Unknown)), Input::Unknown);
    assert_eq!(FlowLogs.is_wanted(&logs("/net".into())), Input::Known(true));
    for unknown in [logs(Value::Unknown), config(&[(ENTRIES.input, Value::Unknown)])] {
        let changes = FlowLogs.alternatives(&unknown);
        let groups = changes.iter().map(|change| {
            let mut config = unknown.clone();
            change(&mut config);
            objects(&config, "a").iter().filter(|object| object.key.slot.starts_with(keys::FLOW_LOG_GROUP)).count()
        });
        assert_eq!(groups.collect::<Vec<_>>(), [0, 1]);
    }
}

#[test]
fn logs_are_adopted_under_their_names_unless_others_deliver_them() {
    let log = |id: &str, name: Option<&str>, destination: &str, account: Option<&str>| {
        let tags = name.map(|name| (NAME.to_string(), name.to_string())).into_iter().collect();
        let mut log = FlowLog::unknown().expect("inputs that may be unknown");
        log.log_group_name = Input::Known(None);
        log.log_destination = Input::Known(Some(destination.into()));
        let role = account.map(|account| format!("arn:aws:iam::{account}:role/flow"));
        log.settings.iam_role_arn = Input::Known(role);
        (FoundObject { id: id.into(), tags }, log.spec(&Key::new("vpc"), None).into())
    };
    let landscape = NetworkLandscape {
        vpc_id: "vpc-1".into(),
        vpc_cidr_block: "10.0.0.0/16".into(),
        vpc_owner: "123456789012".into(),
        others: vec![
            log("fl-1", Some("Prod VPC"), BUCKET, None),
            log("fl-2", None, "/aws/vpc-flow-log/vpc-1", Some("123456789012")),
            log("fl-3", None, BUCKET, None),
            log("fl-4", None, "arn:aws:s3:::x/net/", None),
            log("fl-5", None, "/other", Some("999999999999")),
        ],
        ..NetworkLandscape::default()
    };
    let found = classify(&landscape);
    let slot = |id: &str| found.slots.get(id).map(String::as_str);
    assert_eq!(slot("fl-1"), Some("flow_log.prod-vpc"));
    assert_eq!(slot("fl-2"), Some("flow_log.vpc-1"));
    assert_eq!((slot("fl-3"), slot("fl-4")), (Some("flow_log.net"), Some("flow_log.net-2")));
    assert_eq!(found.unmanaged["fl-5"], "its role belongs to the account 999999999999");
}

/// Any log: to a new group or to a bucket, with or without each optional input.
fn logs() -> impl Strategy<Value = Json> {
    let group = (prop::option::of(1..3_usize), any::<bool>(), any::<bool>()).prop_map(|(days, keep, fast)| {
        json!({
            "log_group_name": "/net", "iam_role_arn": ROLE, "retention_in_days": days.map(|it| [7, 14, 30][it]),
            "log_group_skip_destroy": keep, "max_aggregation_interval": if fast { 60 } else { 600 },
        })
    });
    let bucket = (any::<[bool; 3]>(), prop::option::of("[a-z]{3}")).prop_map(|([parquet, hour, default], field)| {
        json!({
            "log_destination_type": "s3", "log_destination": BUCKET, "traffic_type": "REJECT", "tags": { "team": "net" },
            "log_format": field.map(|it| format!("${{{it}}}")),
            "destination_options": if default { Json::Null } else {
                json!({ "file_format": if parquet { "parquet" } else { "plain-text" }, "per_hour_partition": hour })
            },
        })
    });
    (group, bucket).prop_map(|(group, bucket)| json!({ "group": group, "bucket": bucket }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_import_reproduces_flow_logs(logs in logs()) {
        let [own] = input(logs.clone());
        let general = ("custom_tags", Value::map([("cost", Value::from("net"))]));
        let config = config(&[own, general.clone()]);
        let required = objects(&config, "a");
        let imported = import::imported(&applied(&required), &scope()).expect("a network");
        prop_assert_eq!(imported.get("custom_tags"), &general.1);
        let again = decode(&[(ENTRIES.input, imported.get(ENTRIES.input).clone()), general]).expect("valid inputs");
        let tags = |config: &Config| super::logs(config).map(|(_, log)| log.settings.tags.clone()).collect::<Vec<_>>();
        prop_assert_eq!(tags(&again), tags(&config), "each tag comes from one input");
        let of = |objects: Vec<crate::model::Object>| {
            objects.into_iter().filter(|it| it.key.slot.contains(keys::FLOW_LOG)).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(objects(&again, "a")), of(required), "{}", logs);
    }
}

#[test]
fn drift_shows_in_the_entry_of_its_log() {
    let logs = json!({
        "a": { "log_group_name": "/net", "iam_role_arn": ROLE, "retention_in_days": 7, "tags": { "team": "net" } },
        "b": { "log_destination_type": "s3", "log_destination": BUCKET },
    });
    let mut inventory = applied(&objects(&config(&input(logs.clone())), "a"));
    for entry in &mut inventory.entries {
        let mut spec = entry.applied.clone();
        match &mut spec {
            Spec::LogGroup(group) => group.retention_in_days = Input::Known(Some(30)),
            Spec::FlowLog(log) if log.log_group.is_some() => {
                let Input::Known(tags) = &mut log.settings.tags else { panic!() };
                tags.insert("team".into(), Input::Known("web".into()));
            }
            Spec::FlowLog(_) => {
                entry.drift = Drift::Missing;
                continue;
            }
            _ => continue,
        }
        entry.observe(spec);
    }
    let mut state = Value::map(input(logs));
    reflect::write_drift(&mut state, &inventory);
    let entries = state.get(ENTRIES.input).as_map().unwrap();
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["a"], "the deleted log");
    assert_eq!(entries["a"].get("retention_in_days"), &30.into());
    assert_eq!(entries["a"].get("tags"), &Value::map([("team", Value::from("web"))]));
}
