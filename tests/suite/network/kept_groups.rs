//! Log groups that a network keeps, and those that it uses without owning them.

use serde_json::{Value, json};

use super::{THIS, TestEnv};
use crate::support::log_events;

const ALONE: &str = "  num_availability_zones = 1\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_private_persistence_subnets = false\n  create_vpc_endpoints = false";

const GROUP: &str = "/net/app";
const ROLE: &str = "arn:aws:iam::123456789012:role/flow";

/// A network with a flow log to a group that is kept or not.
fn logging(keeps: bool, more: &str) -> String {
    let log = format!("log_group_name = \"{GROUP}\", iam_role_arn = \"{ROLE}\", log_group_skip_destroy = {keeps}");
    format!("{ALONE}\n  flow_logs = {{ app = {{ {log}, retention_in_days = 30 }} }}\n{more}")
}

fn events(env: &TestEnv) -> Vec<String> {
    log_events::read(env.proxy.account(), GROUP)
}

fn tags(env: &TestEnv) -> Value {
    let groups = env.proxy.account().list_of("log_groups");
    groups.iter().find(|it| it["logGroupName"] == GROUP).map_or(Value::Null, |it| it["tags"].clone())
}

/// The changing calls about log groups. `UntagResource` is not one of them.
fn changes(env: &TestEnv) -> Vec<String> {
    let actions = env.proxy.mutations().into_iter().map(|record| record.call.action);
    actions.filter(|it| it.contains("LogGroup") || it.contains("Retention") || it == "TagResource").collect()
}

/// Runs `replace` twice, and asserts that a group that is kept keeps its events.
fn replaced(env: &TestEnv, keeps: bool, replace: impl Fn(usize)) {
    env.change(&logging(keeps, ""));
    log_events::write(env.proxy.account(), GROUP, "first");
    for round in 0..2 {
        replace(round);
        let expected: &[&str] = if keeps { &["first"] } else { &[] };
        assert_eq!(events(env), expected, "round {round}");
        env.workspace.assert_nothing_to_do();
    }
    env.destroy();
    assert_eq!(!events(env).is_empty(), keeps);
}

#[test]
fn a_kept_group_survives_another_range() {
    for keeps in [true, false] {
        let env = TestEnv::new();
        replaced(&env, keeps, |round| {
            env.config(&logging(keeps, &format!("  cidr_block = \"10.{}.0.0/16\"", round + 1)));
            let plan = env.workspace.plan(&[]);
            let says = if keeps { "These stay in AWS" } else { "its log events are lost" };
            assert!(plan.says(says), "{plan}");
            env.workspace.apply(&[]).succeeded();
        });
    }
}

#[test]
fn a_kept_group_survives_a_requested_replacement() {
    for keeps in [true, false] {
        let env = TestEnv::with_terraform();
        replaced(&env, keeps, |_| drop(env.workspace.apply(&["-replace", THIS]).succeeded().clone()));
    }
}

#[test]
fn a_kept_group_survives_a_tainted_network() {
    let env = TestEnv::with_terraform();
    replaced(&env, true, |_| {
        env.workspace.run(&["taint", "-no-color", THIS]).succeeded();
        env.workspace.apply(&[]).succeeded();
    });
}

#[test]
fn a_kept_group_survives_create_before_destroy() {
    let lifecycle = "  allow_duplicate_name = true\n  lifecycle {\n    create_before_destroy = true\n  }";
    let env = TestEnv::with_terraform();
    replaced(&env, true, |_| {
        env.config(&logging(true, lifecycle));
        env.workspace.apply(&["-replace=fgw_four_tier_vpc.this"]).succeeded();
    });
    // A group that is not kept belongs to the old network until its end.
    let env = TestEnv::with_terraform();
    env.change(&logging(false, lifecycle));
    log_events::write(env.proxy.account(), GROUP, "first");
    env.proxy.clear_calls();
    env.workspace.apply(&["-replace=fgw_four_tier_vpc.this"]).failed_with("log group");
    assert_eq!((env.proxy.mutations().len(), events(&env)), (0, vec!["first".to_owned()]));
}

#[test]
fn a_kept_group_survives_a_destroy_in_every_state() {
    for (has_private_state, options) in
        [(true, &[][..]), (false, &[][..]), (true, &["-refresh=false"][..]), (false, &["-refresh=false"][..])]
    {
        for keeps in [true, false] {
            let env = TestEnv::new();
            replaced(&env, keeps, |_| {
                if !has_private_state {
                    env.workspace.lose_private_state(THIS);
                }
                env.workspace.apply(&[&["-destroy"], options].concat()).succeeded();
                env.workspace.apply(&[]).succeeded();
            });
        }
    }
}

#[test]
fn a_group_of_others_is_never_changed() {
    let account_of = |env: &TestEnv| {
        log_events::create_group(env.proxy.account(), GROUP, Some(30), json!({ "whose": "theirs" }));
        log_events::write(env.proxy.account(), GROUP, "theirs");
    };
    let env = TestEnv::new();
    account_of(&env);
    env.config(&logging(false, ""));
    env.workspace.plan(&[]).failed_with("log group \"/net/app\" exists already");
    env.config(&logging(true, "").replace("= 30", "= 14"));
    let refused = env.workspace.plan(&[]);
    assert!(refused.code == 1 && refused.says("14") && refused.says("30"), "{refused}");
    env.config(&logging(true, ""));
    let plan = env.workspace.plan(&[]);
    for part in ["names an existing object", "bytes stored", "created on 20"] {
        assert!(plan.says(part), "{part}: {plan}");
    }
    env.change(&logging(true, ""));
    assert_eq!(changes(&env), Vec::<String>::new());
    env.workspace.lose_private_state(THIS);
    env.workspace.assert_nothing_to_do();
    for keeps in [false, true, false] {
        env.change(&logging(keeps, ""));
        assert_eq!(changes(&env), Vec::<String>::new());
    }
    env.workspace.lose_private_state(THIS);
    env.proxy.clear_calls();
    env.destroy();
    assert_eq!(changes(&env), Vec::<String>::new());
    assert_eq!((events(&env), tags(&env)), (vec!["theirs".to_owned()], json!({ "whose": "theirs" })));
}

/// Two networks of one configuration: the first one owns the group, and the second one is not created.
#[test]
fn two_networks_never_own_one_group() {
    let env = TestEnv::new();
    let other = |allowed: bool| {
        let network = super::network(&format!(
            "{}\n  vpc_name = \"other\"\n  cidr_block = \"10.9.0.0/16\"\n  \
            allow_duplicate_name = {allowed}",
            logging(true, "")
        ));
        network.replace("\"this\"", "\"other\"")
    };
    let both = |allowed: bool| format!("{}\n{}", super::network(&logging(true, "")), other(allowed));
    env.change(&logging(true, ""));
    log_events::write(env.proxy.account(), GROUP, "first");
    let owned = tags(&env);
    env.workspace.config(&env.of_account(&both(false)));
    let plan = env.workspace.plan(&[]);
    // The host plans the two in any order, and the error is that of the plan that comes second.
    let of_owner = "Both this resource and fgw_four_tier_vpc \"other\" require the log group \"/net/app\"";
    let of_other = ["The log group \"/net/app\" belongs to fgw_four_tier_vpc \"main\"", "whose configuration keeps it"];
    let is_named = plan.says(of_owner) || of_other.iter().all(|text| plan.says(text));
    assert!(plan.code == 1 && is_named, "{plan}");
    env.proxy.clear_calls();
    env.workspace.apply(&[]).failed_with("of their own");
    assert_eq!(env.proxy.mutations().len(), 0);
    env.workspace.config(&env.of_account(&both(true)));
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(tags(&env), owned, "the second network only uses it");
    // The destroy of the user changes nothing, whatever its setting says by then.
    env.change(&logging(true, ""));
    assert_eq!((events(&env), tags(&env)), (vec!["first".to_owned()], owned));
    env.destroy();
}

#[test]
fn two_new_networks_never_require_one_group() {
    let env = TestEnv::new();
    let other = format!("{}\n  vpc_name = \"other\"\n  cidr_block = \"10.9.0.0/16\"", logging(true, ""));
    let other = super::network(&other).replace("\"this\"", "\"other\"");
    env.workspace.config(&env.of_account(&format!("{}\n{other}", super::network(&logging(true, "")))));
    let run = env.workspace.apply(&[]);
    run.failed_with("require the log group \"/net/app\" of their own");
    assert_eq!(env.proxy.mutations().len(), 0, "{run}");
}
