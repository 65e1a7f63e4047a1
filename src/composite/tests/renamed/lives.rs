//! Every map, every kind of rename, and every life of the state in between.

use super::*;
use crate::composite::tests::import::reimport;

/// What happens between the plan of a rename and a state without anything left to do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Life {
    /// The apply succeeds.
    Ordinary,
    /// Private state is lost before the plan, which refreshes.
    PrivateStateLost,
    /// The whole state is lost, and the root is imported again.
    Imported,
    /// Each call for a renamed object fails once.
    Failed,
    /// Each call panics once.
    Panicked,
    /// The state of the apply is lost: Terraform was killed at its end.
    Killed,
    /// Some calls were executed, and the state was lost.
    KilledHalfWay,
    /// An apply failed half way, and then the keys are those of before.
    TakenBack,
}

const LIVES: [Life; 8] = [
    Life::Ordinary,
    Life::PrivateStateLost,
    Life::Imported,
    Life::Failed,
    Life::Panicked,
    Life::Killed,
    Life::KilledHalfWay,
    Life::TakenBack,
];

async fn live<P: Topology>(config: &Value, input: &str, keys: Keys<'_>, life: Life) {
    let mut terraform = Terraform::<P>::new(2);
    terraform.assert_applies(config).await;
    let mut ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    let renamed = with_keys(config, input, keys);
    let mut last = renamed.clone();
    terraform.account.take_calls();
    let before = (terraform.state.clone(), terraform.private.clone());
    match life {
        Life::Ordinary => {}
        Life::PrivateStateLost => {
            terraform.private = Vec::new();
            terraform.refresh().await;
        }
        Life::Imported => {
            reimport(&mut terraform).await;
            ids = terraform.slots_by_id().into_keys().collect();
        }
        Life::Failed | Life::Panicked | Life::TakenBack | Life::KilledHalfWay => {
            let plan = terraform.plan(&renamed).await;
            let slots = plan.planned.get("aws_objects").as_map().unwrap().keys().cloned();
            let slots: Vec<String> = slots.filter(|slot| before.0.get("aws_objects").get(slot).is_null()).collect();
            let some = slots.iter().step_by(if life == Life::Failed { 1 } else { 2 }).cloned().collect();
            let account = Arc::clone(&terraform.account);
            let list = if life == Life::Panicked { &account.panicking } else { &account.failing };
            *list.lock().unwrap() = some;
            let failed = terraform.apply(&renamed).await;
            // Authorizers have no tags, and keep their names.
            assert!(failed.has_errors() || input.ends_with("authorizers") || slots.is_empty(), "{failed:?}");
            list.lock().unwrap().clear();
            if life == Life::TakenBack {
                last = config.clone();
            }
            if life == Life::KilledHalfWay {
                (terraform.state, terraform.private) = before;
            }
        }
        Life::Killed => {
            terraform.assert_applies(&renamed).await;
            (terraform.state, terraform.private) = before;
        }
    }
    for is_refreshed in [false, true] {
        if is_refreshed {
            terraform.refresh().await;
        }
        let diagnostics = terraform.apply(&last).await;
        assert!(errors(&diagnostics).is_empty(), "{diagnostics:?}");
        if is_refreshed {
            terraform.assert_kept(&last, &ids).await;
        }
    }
    terraform.end().await;
}

async fn live_all<P: Topology>(config: &Value, maps: &[(&str, [&str; 2])]) {
    for (input, keys) in maps {
        for renames in some_renames(*keys) {
            for life in LIVES {
                live::<P>(config, input, &renames, life).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn renamed_entries_of_a_network_keep_their_objects_in_every_life() {
    for skip_destroy in [false, true] {
        live_all::<FourTierVpc>(&some_entries(skip_destroy), &OF_NETWORK).await;
    }
}

#[tokio::test(start_paused = true)]
async fn renamed_entries_of_a_gateway_keep_their_objects_in_every_life() {
    live_all::<HttpGateway>(&some_gateway(), &OF_GATEWAY).await;
}

#[tokio::test(start_paused = true)]
async fn a_protected_object_may_be_renamed_but_not_replaced() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let protecting = |config: &Value, patterns: &[&str]| {
        let mut config = config.clone();
        config.set("protected_objects", patterns.to_vec().into());
        config
    };
    let config = protecting(&some_entries(false), &["flow_log.a", "log_group.flow_log.a"]);
    terraform.assert_applies(&config).await;
    let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    // Another configuration is another log, so the old one would be deleted.
    let mut replaced = with_keys(&config, "flow_logs", &[("a", "y")]);
    set_in(&mut replaced, "flow_logs", "y", "traffic_type", "REJECT".into());
    let patterns_of_both: [&[&str]; 2] =
        [&["flow_log.a", "log_group.flow_log.a"], &["flow_log.y", "log_group.flow_log.y"]];
    for patterns in patterns_of_both {
        let plan = terraform.plan(&protecting(&replaced, patterns)).await;
        let [error] = &errors(&plan.diagnostics)[..] else { panic!("{:?}", plan.diagnostics) };
        assert!(error.summary.ends_with(": protected objects") && error.detail.contains("flow_log.a"), "{error:?}");
    }
    let renamed = with_keys(&config, "flow_logs", &[("a", "y")]);
    terraform.account.take_calls();
    for patterns in patterns_of_both {
        let renamed = protecting(&renamed, patterns);
        terraform.assert_applies(&renamed).await;
        terraform.assert_kept(&renamed, &ids).await;
    }
    // The new key is protected now.
    let without = protecting(&with_keys(&config, "flow_logs", &[]), &["flow_log.y"]);
    let mut without_log = without.clone();
    without_log.set("flow_logs", Value::map::<&str>([]));
    let plan = terraform.plan(&without_log).await;
    assert!(errors(&plan.diagnostics)[0].detail.contains("flow_log.y"), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn ignored_drift_stays_ignored_under_the_new_key() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let ignoring = |config: &Value, slot: &str| {
        let mut config = config.clone();
        config.set("ignore_drift", vec![slot].into());
        config
    };
    let config = some_entries(false);
    terraform.assert_applies(&ignoring(&config, "log_group.flow_log.a")).await;
    terraform.account.change_outside("log_group.flow_log.a", |spec| {
        let Spec::LogGroup(group) = spec else { panic!("{spec:?}") };
        group.retention_in_days = Input::Known(Some(3));
    });
    terraform.refresh().await;
    let renamed = ignoring(&with_keys(&config, "flow_logs", &[("a", "y")]), "log_group.flow_log.y");
    terraform.assert_applies(&renamed).await;
    let group = inventory(&terraform.private).at("log_group.flow_log.y").unwrap().clone();
    let Some(Spec::LogGroup(found)) = group.observed() else { panic!("{group:?}") };
    assert_eq!(found.retention_in_days, Input::Known(Some(3)), "the drift stays");
}

#[tokio::test(start_paused = true)]
async fn an_object_pending_deletion_is_taken_back_under_another_key() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(false);
    terraform.assert_applies(&config).await;
    let id = terraform.state.get("aws_objects").get("interface_endpoint.a").clone();
    let mut private = crate::composite::private_state::Private::decode(&terraform.private).unwrap();
    let entry = private.inventory.entries.iter_mut().find(|it| it.key.slot == "interface_endpoint.a").unwrap();
    entry.pending_deletion = true;
    terraform.private = private.encode();
    let renamed = with_keys(&config, "interface_endpoints", &[("a", "y")]);
    terraform.refresh().await;
    assert!(!terraform.state.get("pending_deletion").get("interface_endpoint.a").is_null());
    terraform.account.take_calls();
    terraform.assert_applies(&renamed).await;
    assert_eq!(terraform.state.get("aws_objects").get("interface_endpoint.y"), &id);
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete interface") || call.starts_with("create interface")));
}

#[tokio::test(start_paused = true)]
async fn adopt_may_name_the_old_or_the_new_key() {
    let config = some_entries(false);
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&config).await;
    let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    let id = terraform.state.get("aws_objects").get("flow_log.a").clone();
    let adopting = |config: &Value, slot: &str| {
        let mut config = config.clone();
        config.set("adopt", Value::map([(slot, id.clone())]));
        config
    };
    terraform.assert_applies(&adopting(&config, "flow_log.a")).await;
    terraform.account.take_calls();
    let renamed = with_keys(&config, "flow_logs", &[("a", "y")]);
    for slot in ["flow_log.a", "flow_log.y"] {
        let renamed = adopting(&renamed, slot);
        terraform.assert_applies(&renamed).await;
        terraform.assert_kept(&renamed, &ids).await;
    }
}

#[tokio::test(start_paused = true)]
async fn roles_that_may_not_tag_are_told_so_and_lose_nothing() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(false);
    terraform.assert_applies(&config).await;
    let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    let renamed = with_keys(&config, "flow_logs", &[("a", "y")]);
    terraform.account.failing.lock().unwrap().push("flow_log.y".into());
    terraform.account.take_calls();
    for _ in 0..2 {
        let diagnostics = terraform.apply(&renamed).await;
        let summaries: Vec<&str> = errors(&diagnostics).into_iter().map(|it| it.summary.as_str()).collect();
        assert_eq!(summaries[0], "Could not update flow log \"flow_log.y\"", "{diagnostics:?}");
        assert_eq!(terraform.slots_by_id().into_keys().collect::<Vec<_>>(), ids);
        terraform.refresh().await;
    }
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&renamed).await;
    terraform.assert_kept(&renamed, &ids).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_identity_matches_nothing_until_an_apply_finds_it() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(false);
    terraform.assert_applies(&config).await;
    let renamed = with_keys(&config, "interface_endpoints", &[("a", "y")]);
    let mut unknown = renamed.clone();
    set_in(&mut unknown, "interface_endpoints", "y", "service", Value::Unknown);
    let shown = terraform.plan(&unknown).await;
    assert!(!shown.diagnostics.has_errors(), "{:?}", shown.diagnostics);
    assert_eq!(continued(&shown.diagnostics), Vec::<&str>::new());
    // Terraform plans again when the value is known, and accepts that more of it stays.
    let last = terraform.plan_again(&renamed, shown.private.clone()).await;
    terraform.assert_as_planned(&shown.planned, &last.planned, "plan");
    // A host that does not plan again.
    terraform.account.take_calls();
    let planned = PlanResponse { planned: shown.planned.clone(), ..shown };
    let (state, ids) = (terraform.state.clone(), terraform.slots_by_id());
    let diagnostics = terraform.apply_plan(&renamed, planned).await;
    let [error] = &errors(&diagnostics)[..] else { panic!("{diagnostics:?}") };
    assert!(error.summary.ends_with(": renamed keys"), "{error:?}");
    assert!(error.detail.contains("interface_endpoints: y continues a"), "{error:?}");
    assert!(error.detail.contains("rename the keys alone"), "{error:?}");
    assert_eq!((terraform.account.take_calls(), terraform.slots_by_id()), (Vec::new(), ids));
    terraform.state = state;
    terraform.assert_applies(&renamed).await;
}

/// The inputs of the authorizer, of which each determines its permission, become known between the plans.
#[tokio::test(start_paused = true)]
async fn an_authorizer_with_an_unknown_function_keeps_its_permission() {
    for input in ["authorizer_name", "authorizer_uri", "authorizer_credentials_arn"] {
        let mut terraform = Terraform::<HttpGateway>::new(2);
        let config = some_gateway();
        terraform.assert_applies(&config).await;
        let ids = terraform.slots_by_id();
        let renamed = with_keys(&config, "faas_authorizers", &[("a", "y")]);
        let mut unknown = renamed.clone();
        set_in(&mut unknown, "faas_authorizers", "y", input, Value::Unknown);
        let shown = terraform.plan(&unknown).await;
        assert!(!shown.diagnostics.has_errors(), "{input}: {:?}", shown.diagnostics);
        let last = terraform.plan_again(&renamed, shown.private.clone()).await;
        terraform.assert_as_planned(&shown.planned, &last.planned, "plan");
        terraform.account.take_calls();
        let applied = terraform.apply_plan(&renamed, last).await;
        assert!(!applied.has_errors(), "{input}: {applied:?}");
        let calls = terraform.account.take_calls();
        let others = calls.iter().filter(|call| call.starts_with("create") || call.starts_with("delete"));
        assert_eq!(others.collect::<Vec<_>>(), [""; 0], "{input}");
        assert_eq!(terraform.slots_by_id().keys().collect::<Vec<_>>(), ids.keys().collect::<Vec<_>>(), "{input}");
        terraform.assert_quiet(&renamed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_an_interrupted_run_are_taken_over_under_another_key() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(false);
    let mut without = config.clone();
    without.set("flow_logs", Value::map::<&str>([]));
    without.set("interface_endpoints", Value::map::<&str>([]));
    terraform.assert_applies(&without).await;
    let before = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(&config).await;
    let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    // The run was killed, and the next configuration has other keys.
    (terraform.state, terraform.private) = before;
    let renamed = with_keys(&with_keys(&config, "flow_logs", &[("a", "y")]), "interface_endpoints", &[("a", "y")]);
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&renamed).await;
    terraform.assert_kept(&renamed, &ids).await;
}
