//! Objects that a destroy keeps and a create uses without owning them: log groups, of both topologies.

mod forwarded;
mod settings;
mod undeletable;

use super::*;
use crate::composite::managed_roots::ManagedRoots;
use crate::composite::private_state::Private;
use crate::composite::replaced;
use crate::model::keys::{gateway as gateway_keys, network as network_keys};
use crate::model::{Key, LogGroup, OwningRoot};

const GROUP: &str = "/shop";

/// A topology with a log group, and the slot of the group.
trait Logging: Topology {
    const SLOT: &'static str;
    const SETTING: &'static str;
    const OWNER: &'static str;

    fn key() -> Key;

    /// With a retention period, and whether the group stays.
    fn config(days: i64, keeps: bool, pairs: &[(&str, Value)]) -> Value;

    /// Without logs.
    fn plain() -> Value;

    /// An input that changes the root in place.
    fn of_root() -> (&'static str, Value);
}

impl Logging for FourTierVpc {
    const SLOT: &'static str = "log_group.flow_log.app";
    const SETTING: &'static str = "log_group_skip_destroy of \"app\"";
    const OWNER: &'static str = "vpc-9";

    fn key() -> Key {
        network_keys::log_group_of_flow_log("app", &GROUP.to_string().into())
    }

    fn config(days: i64, keeps: bool, pairs: &[(&str, Value)]) -> Value {
        let log = Value::map([
            ("log_group_name", Value::from(GROUP)),
            ("iam_role_arn", "arn:aws:iam::123456789012:role/flow".into()),
            ("retention_in_days", days.into()),
            ("log_group_skip_destroy", keeps.into()),
        ]);
        let mut config = network(&[("flow_logs", Value::map([("app", log)]))]);
        for (name, value) in pairs {
            config.set(name, value.clone());
        }
        config
    }

    fn plain() -> Value {
        network(&[])
    }

    fn of_root() -> (&'static str, Value) {
        ("vpc_custom_tags", Value::map([("team", Value::from("web"))]))
    }
}

impl Logging for HttpGateway {
    const SLOT: &'static str = "log_group";
    const SETTING: &'static str = "access_log_logservice_group_skip_destroy";
    const OWNER: &'static str = "api9";

    fn key() -> Key {
        gateway_keys::log_group(&GROUP.to_string().into())
    }

    fn config(days: i64, keeps: bool, pairs: &[(&str, Value)]) -> Value {
        let mut all = vec![
            ("access_log_logservice_group_name", Value::from(GROUP)),
            ("access_log_logservice_group_retention_in_days", days.into()),
            ("access_log_logservice_group_skip_destroy", keeps.into()),
        ];
        all.extend(pairs.iter().cloned());
        gateway(&[("GET /a", route("a", None))], &[], &all)
    }

    fn plain() -> Value {
        gateway(&[("GET /a", route("a", None))], &[], &[])
    }

    fn of_root() -> (&'static str, Value) {
        ("description", "changed".into())
    }
}

/// Runs a test for both topologies.
macro_rules! for_both {
    ($name:ident, $body:ident) => {
        mod $name {
            use super::*;

            #[tokio::test(start_paused = true)]
            async fn network() {
                $body::<FourTierVpc>().await;
            }

            #[tokio::test(start_paused = true)]
            async fn gateway() {
                $body::<HttpGateway>().await;
            }
        }
    };
}

use for_both;

/// A group that something else created, with a retention of 30 days.
fn existing<P: Logging>(terraform: &Terraform<P>, owner: Option<OwningRoot>) {
    let spec =
        LogGroup { name: GROUP.to_string().into(), retention_in_days: Input::Known(Some(30)), ..LogGroup::test() };
    terraform.account.create_group(P::key(), spec, owner);
}

fn owner<P: Logging>(is_living: bool) -> Option<OwningRoot> {
    Some(OwningRoot { id: P::OWNER.to_string(), is_living })
}

fn texts(diagnostics: &Diagnostics) -> String {
    diagnostics.0.iter().map(|it| format!("{:?}: {} {}\n", it.severity, it.summary, it.detail)).collect()
}

/// The calls about the group.
fn calls<P: Logging>(terraform: &Terraform<P>) -> Vec<String> {
    let calls = terraform.account.take_calls();
    calls.into_iter().filter(|call| call.ends_with(&format!(" {}", P::key()))).collect()
}

/// How a root is replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Replaced {
    Requested,
    Tainted,
    Destroyed,
    PrivateStateLost,
}

async fn replace<P: Logging>(terraform: &mut Terraform<P>, config: &Value, how: Replaced) {
    match how {
        Replaced::Requested => {
            let plan = terraform.plan(config).await;
            let replaced = terraform.replace(config, plan.private).await;
            assert!(!replaced.has_errors(), "{replaced:?}");
        }
        Replaced::Tainted => {
            let replaced = terraform.replace(config, Vec::new()).await;
            assert!(!replaced.has_errors(), "{replaced:?}");
        }
        Replaced::Destroyed | Replaced::PrivateStateLost => {
            if how == Replaced::PrivateStateLost {
                terraform.private = Vec::new();
            }
            let destroyed = terraform.destroy().await;
            assert!(!destroyed.has_errors() && terraform.state.is_null(), "{destroyed:?}");
            terraform.assert_applies(config).await;
        }
    }
    terraform.assert_quiet(config).await;
}

const WAYS: [Replaced; 4] = [Replaced::Requested, Replaced::Tainted, Replaced::Destroyed, Replaced::PrivateStateLost];

async fn group_that_is_kept<P: Logging>() {
    for how in WAYS {
        let mut terraform = Terraform::<P>::new(1);
        let config = P::config(30, true, &[]);
        terraform.assert_applies(&config).await;
        for _ in 0..2 {
            replace(&mut terraform, &config, how).await;
            assert_eq!(terraform.account.deleted_groups(), Vec::<String>::new(), "{how:?}");
        }
        assert!(inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_used(), "{how:?}");
        // It was not created by this state, so a later setting deletes nothing.
        let deletes = P::config(30, false, &[]);
        terraform.assert_applies(&deletes).await;
        terraform.account.take_calls();
        replace_none(&mut terraform).await;
        assert_eq!(calls(&terraform), Vec::<String>::new());
        assert_eq!(terraform.account.groups().into_iter().collect::<Vec<_>>(), [GROUP]);
    }
}

async fn replace_none<P: Logging>(terraform: &mut Terraform<P>) {
    let destroyed = terraform.destroy().await;
    assert!(!destroyed.has_errors() && terraform.state.is_null(), "{destroyed:?}");
}

for_both!(a_kept_group_is_used_again_in_every_replacement, group_that_is_kept);

async fn group_that_is_deleted<P: Logging>() {
    for (round, how) in WAYS.into_iter().enumerate() {
        let mut terraform = Terraform::<P>::new(1);
        let config = P::config(30, false, &[]);
        terraform.assert_applies(&config).await;
        replace(&mut terraform, &config, how).await;
        assert_eq!(terraform.account.deleted_groups(), [GROUP], "{round}");
        assert!(inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_applied());
        terraform.end().await;
    }
}

for_both!(a_group_that_is_not_kept_is_deleted_in_every_replacement, group_that_is_deleted);

/// The root is missing at refresh, and the group stays in state.
async fn root_deleted<P: Logging>() {
    for keeps in [true, false] {
        let mut terraform = Terraform::<P>::new(1);
        let config = P::config(30, keeps, &[]);
        terraform.assert_applies(&config).await;
        terraform.account.delete_root_outside();
        terraform.refresh().await;
        terraform.assert_applies(&config).await;
        let deleted = terraform.account.deleted_groups();
        assert_eq!(deleted.is_empty(), keeps, "{deleted:?}");
        terraform.end().await;
    }
}

for_both!(a_root_that_was_deleted_by_hand_is_replaced, root_deleted);

async fn off_and_on<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    for _ in 0..2 {
        terraform.assert_applies(&P::config(30, true, &[])).await;
        terraform.assert_applies(&P::plain()).await;
    }
    assert_eq!(terraform.account.deleted_groups(), Vec::<String>::new());
    terraform.end().await;
}

for_both!(logs_are_turned_off_and_on_again, off_and_on);

async fn foreign_group<P: Logging>() {
    for owner in [None, owner::<P>(false)] {
        let mut terraform = Terraform::<P>::new(1);
        existing(&terraform, owner);
        for (days, keeps, parts) in [
            (30, false, vec!["exists already", "42 bytes stored", P::SETTING]),
            (14, true, vec!["retention_in_days", "14", "30", "in adopt"]),
        ] {
            for config in [P::config(days, keeps, &[])] {
                let refused = terraform.plan(&config).await.diagnostics;
                let text = texts(&refused);
                assert!(refused.has_errors() && parts.iter().all(|part| text.contains(part)), "{parts:?}: {text}");
            }
        }
        let config = P::config(30, true, &[]);
        let plan = terraform.plan(&config).await;
        let text = texts(&plan.diagnostics);
        for part in ["names an existing object", GROUP, "created on 2026-01-02", "42 bytes stored", "never deletes it"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        terraform.assert_applies(&config).await;
        // Another retention is refused with both values, and its owner may change it.
        let refused = terraform.plan(&P::config(14, true, &[])).await.diagnostics;
        let text = texts(&refused);
        assert!(refused.has_errors() && text.contains("14") && text.contains("30"), "{text}");
        terraform.account.change_outside(P::SLOT, |spec| {
            let Spec::LogGroup(group) = spec else { panic!() };
            group.retention_in_days = Input::Known(Some(7));
        });
        terraform.assert_quiet(&config).await;
        terraform.assert_applies(&P::config(7, true, &[])).await;
        // Without private state, it is still not owned.
        terraform.private = Vec::new();
        terraform.assert_quiet(&P::config(7, true, &[])).await;
        terraform.private = Vec::new();
        terraform.assert_applies(&P::config(7, false, &[])).await;
        replace_none(&mut terraform).await;
        assert_eq!(calls(&terraform), Vec::<String>::new());
        assert_eq!(terraform.account.groups().into_iter().collect::<Vec<_>>(), [GROUP]);
    }
}

for_both!(a_group_of_others_is_used_and_never_changed, foreign_group);

async fn living_owner<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    existing(&terraform, owner::<P>(true));
    for keeps in [true, false] {
        let config = P::config(30, keeps, &[]);
        let plan = terraform.plan(&config).await;
        let text = texts(&plan.diagnostics);
        assert!(!plan.diagnostics.has_errors() && text.contains("belongs to") && text.contains(P::OWNER), "{text}");
        terraform.account.take_calls();
        let refused = terraform.apply_plan(&config, plan).await;
        assert!(refused.has_errors() && texts(&refused).contains(P::OWNER), "{refused:?}");
        assert_eq!((terraform.account.take_calls(), &terraform.state), (Vec::new(), &Value::Null));
    }
    // The owner is destroyed between plan and apply.
    let config = P::config(30, true, &[]);
    let plan = terraform.plan(&config).await;
    terraform.account.end_owner(&P::key());
    let applied = terraform.apply_plan(&config, plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
    terraform.assert_quiet(&config).await;

    let mut terraform = Terraform::<P>::new(1);
    existing(&terraform, owner::<P>(true));
    let shared = P::config(30, true, &[("allow_duplicate_name", true.into())]);
    terraform.assert_applies(&shared).await;
    replace_none(&mut terraform).await;
    assert_eq!(terraform.account.groups().into_iter().collect::<Vec<_>>(), [GROUP]);
}

for_both!(a_group_with_a_living_owner_is_used_only_on_request, living_owner);

async fn changed_with_the_replacement<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    terraform.assert_applies(&P::config(30, true, &[])).await;
    terraform.refresh().await;
    // The destroy keeps the group, and the new root could not use it.
    for config in [P::config(30, false, &[]), P::config(14, true, &[])] {
        let private = terraform.private.clone();
        let plan = terraform.plan_successor(&config, private).await;
        assert!(plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
    }
    assert_eq!(terraform.account.deleted_groups(), Vec::<String>::new());
}

for_both!(a_replacement_that_could_not_use_its_group_is_refused_at_plan, changed_with_the_replacement);

async fn deleted_between_plan_and_apply<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    existing(&terraform, None);
    let config = P::config(30, true, &[]);
    let plan = terraform.plan(&config).await;
    terraform.account.delete_outside(P::SLOT);
    let applied = terraform.apply_plan(&config, plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
    assert!(inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_applied(), "it was created");
    terraform.assert_quiet(&config).await;

    // The other way round, the plan did not say so.
    let mut terraform = Terraform::<P>::new(1);
    let plan = terraform.plan(&config).await;
    existing(&terraform, None);
    let refused = terraform.apply_plan(&config, plan).await;
    assert!(refused.has_errors() && texts(&refused).contains("since the plan"), "{refused:?}");
    assert_eq!(terraform.state, Value::Null);
}

for_both!(an_apply_looks_a_used_group_up_again, deleted_between_plan_and_apply);

async fn adopted<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    existing(&terraform, None);
    let config = P::config(30, true, &[]);
    terraform.assert_applies(&config).await;
    let adopting = P::config(30, true, &[("adopt", Value::map([(P::SLOT, Value::from(GROUP))]))]);
    terraform.assert_applies(&adopting).await;
    assert!(!inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_used());
    let deletes = P::config(30, false, &[]);
    terraform.assert_applies(&deletes).await;
    terraform.end().await;
    assert_eq!(terraform.account.deleted_groups(), [GROUP]);
}

for_both!(adopt_takes_a_used_group_over, adopted);

async fn kept_in_plans<P: Logging>() {
    for (keeps, expected) in [(true, "These stay in AWS"), (false, "its log events are lost")] {
        let mut terraform = Terraform::<P>::new(1);
        terraform.assert_applies(&P::config(30, keeps, &[])).await;
        for private in [terraform.private.clone(), Vec::new()] {
            terraform.private = private;
            let plan = terraform.resource.plan(terraform.destroy_request()).await;
            let text = texts(&plan.diagnostics);
            assert!(text.contains(expected), "{text}");
        }
    }
}

for_both!(a_destroy_says_what_stays_and_what_is_lost, kept_in_plans);

fn allowing() -> (&'static str, Value) {
    ("allow_duplicate_name", true.into())
}

/// The configuration of a network with another key of its flow log.
fn with_key(key: &str, mut config: Value) -> Value {
    let log = config.get("flow_logs").get("app").clone();
    config.set("flow_logs", Value::map([(key, log)]));
    config
}

/// Lets the last read have found settings of the group that no input expresses.
fn find_settings<P: Logging>(terraform: &mut Terraform<P>) {
    let mut private = Private::decode(&terraform.private).expect("it is that of a state");
    let entries = &mut private.inventory.entries;
    let group = entries.iter_mut().find(|it| it.key.slot == P::SLOT).expect("it is in state");
    let settings = [(LogGroup::DATA_PROTECTION, "ACTIVATED"), (LogGroup::METRIC_FILTERS, "2")];
    group.learned.unexpressed.extend(settings.map(|(name, value)| (name.to_string(), value.to_string())));
    terraform.private = private.encode();
}

async fn settings_of_a_kept_group<P: Logging>() {
    for is_used in [false, true] {
        let mut terraform = Terraform::<P>::new(1);
        if is_used {
            existing(&terraform, None);
        }
        let config = P::config(30, true, &[]);
        terraform.assert_applies(&config).await;
        find_settings(&mut terraform);
        let plan = terraform.plan_requested_replacement(&config).await;
        let text = texts(&plan.diagnostics);
        assert!(!plan.diagnostics.has_errors() && !text.contains("metric filters"), "used {is_used}: {text}");

        // If it is tainted, its destroy checks it.
        let old = Private::decode(&terraform.private).expect("it is that of a state");
        let id = terraform.state.get("id").as_str().expect("it exists").to_string();
        let create = terraform.plan_successor(&config, Vec::new()).await;
        let mut diagnostics = create.diagnostics;
        assert!(!diagnostics.has_errors(), "used {is_used}: {}", texts(&diagnostics));
        let is_refused =
            replaced::refuse_destroy::<P>(&id, &ManagedRoots::default(), &create.private, &old, &mut diagnostics);
        assert!(!is_refused, "used {is_used}: {}", texts(&diagnostics));
    }
}

for_both!(a_replacement_uses_a_kept_group_with_all_its_settings, settings_of_a_kept_group);

#[tokio::test(start_paused = true)]
async fn a_group_that_goes_with_its_protection_stops_a_replacement() {
    for (keeps, key) in [(false, "app"), (false, "other"), (true, "app"), (true, "other")] {
        let mut terraform = Terraform::<FourTierVpc>::new(1);
        terraform.assert_applies(&FourTierVpc::config(30, keeps, &[])).await;
        find_settings(&mut terraform);
        let config = with_key(key, FourTierVpc::config(30, keeps, &[("tenancy", "dedicated".into())]));
        let update = terraform.plan(&config).await;
        let create = terraform.plan_successor(&config, update.private).await;
        let is_refused = update.diagnostics.has_errors() || create.diagnostics.has_errors();
        let text = texts(&update.diagnostics) + &texts(&create.diagnostics);
        assert_eq!(is_refused, !keeps, "keeps {keeps}, key {key}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_log_gets_another_key_after_the_owner_has_changed_its_group() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    existing(&terraform, None);
    let config = FourTierVpc::config(30, true, &[]);
    terraform.assert_applies(&config).await;
    terraform.account.change_outside(FourTierVpc::SLOT, |spec| {
        let Spec::LogGroup(group) = spec else { panic!("{spec:?}") };
        group.retention_in_days = Input::Known(Some(7));
    });
    terraform.assert_quiet(&config).await;
    terraform.assert_applies(&with_key("other", config)).await;
}

#[tokio::test(start_paused = true)]
async fn a_flow_log_gets_another_key_after_the_allowance_is_withdrawn() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    existing(&terraform, owner::<FourTierVpc>(true));
    let config = FourTierVpc::config(30, true, &[]);
    terraform.assert_applies(&FourTierVpc::config(30, true, &[allowing()])).await;
    terraform.assert_applies(&config).await;
    terraform.assert_applies(&with_key("other", config)).await;
}

/// Plans and makes a replacement as far as nothing refuses it, and asserts that nothing has changed.
async fn assert_not_replaced<P: Logging>(terraform: &mut Terraform<P>, config: &Value, how: Replaced) {
    terraform.account.take_calls();
    let text = match how {
        Replaced::Requested => {
            let plan = terraform.plan_requested_replacement(config).await;
            assert!(plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
            texts(&plan.diagnostics)
        }
        _ => {
            let refused = terraform.replace(config, Vec::new()).await;
            assert!(refused.has_errors() && !terraform.state.is_null(), "{}", texts(&refused));
            texts(&refused)
        }
    };
    assert!(text.contains(P::OWNER) && text.contains("allow_duplicate_name"), "{text}");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "{text}");
}

async fn allowance_withdrawn<P: Logging>() {
    for how in [Replaced::Requested, Replaced::Tainted] {
        let mut terraform = Terraform::<P>::new(1);
        existing(&terraform, owner::<P>(true));
        terraform.assert_applies(&P::config(30, true, &[allowing()])).await;
        let config = P::config(30, true, &[]);
        terraform.assert_applies(&config).await;
        assert_not_replaced(&mut terraform, &config, how).await;
        // With the allowance, or without the owner, it is replaced.
        replace(&mut terraform, &P::config(30, true, &[allowing()]), how).await;
        terraform.assert_applies(&config).await;
        terraform.account.end_owner(&P::key());
        replace(&mut terraform, &config, how).await;
    }
}

/// An import proposes that its group stays. The create of a requested replacement has no unchanged input.
async fn imported_and_replaced<P: Logging>() {
    for keeps in [true, false] {
        let mut terraform = Terraform::<P>::new(1);
        terraform.assert_applies(&P::config(30, true, &[])).await;
        import::reimport(&mut terraform).await;
        let plan = terraform.plan_requested_replacement(&P::config(30, keeps, &[])).await;
        assert_eq!(plan.diagnostics.has_errors(), !keeps, "{}", texts(&plan.diagnostics));
    }
}

for_both!(an_imported_root_is_not_replaced_if_its_group_stops_that, imported_and_replaced);

for_both!(a_root_is_not_destroyed_if_a_living_owner_stops_the_next_one, allowance_withdrawn);

#[tokio::test(start_paused = true)]
async fn an_argument_does_not_replace_a_root_that_a_living_owner_stops() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    existing(&terraform, owner::<FourTierVpc>(true));
    terraform.assert_applies(&FourTierVpc::config(30, true, &[allowing()])).await;
    terraform.assert_applies(&FourTierVpc::config(30, true, &[])).await;
    let dedicated = ("tenancy", Value::from("dedicated"));
    let plan = terraform.plan(&FourTierVpc::config(30, true, std::slice::from_ref(&dedicated))).await;
    let text = texts(&plan.diagnostics);
    assert!(plan.diagnostics.has_errors() && text.contains(FourTierVpc::OWNER), "{text}");
    terraform.assert_applies(&FourTierVpc::config(30, true, &[dedicated, allowing()])).await;
}

mod two_roots;
