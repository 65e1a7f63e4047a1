//! A change of a live gateway: what its plan said, what it did, and that both are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{THIS, TestEnv, assert_turns_are_taken, without_hash};
use crate::support::terraform::Run;

/// An applied change.
pub(super) struct Change {
    /// The calls that changed something, see [`TestEnv::told`].
    pub(super) told: Vec<String>,
    /// The attributes that the plan changed, `aws_objects` left out.
    pub(super) attributes: Vec<String>,
    /// The objects that were made (`+stage`), deleted (`-stage`) and exchanged (`~stage`), as planned and done. The ids
    /// of all others are what they were.
    pub(super) objects: Vec<String>,
    /// What Terraform printed about the plan.
    pub(super) plan: Run,
}

impl TestEnv {
    /// Configures, plans, applies that plan, and plans again, which must find nothing. Panics where the apply did
    /// something else to the objects than its plan said.
    pub(super) fn planned_change(&self, attributes: &Value) -> Change {
        self.config(attributes);
        let slots = self.slots();
        let plan = self.workspace.plan(&[]);
        assert_eq!(plan.code, 2, "there is something to change: {plan}");
        let shown = self.workspace.shown_plan();
        let changes = shown["resource_changes"].as_array().expect("a list");
        let change = &changes.iter().find(|it| it["address"] == THIS).expect("the gateway is there")["change"];
        assert_eq!(change["actions"], serde_json::json!(["update"]), "{plan}");

        self.proxy.clear_calls();
        self.workspace.apply_plan().succeeded();
        assert_turns_are_taken(&self.proxy);
        let calls = self.proxy.calls().len();
        self.assert_quiet();
        self.proxy.keep_calls(calls);

        let before = map(&change["before"]["aws_objects"]);
        let objects = moves(&before, &map(&self.attribute("aws_objects")));
        let unknown = &change["after_unknown"]["aws_objects"];
        if *unknown != Value::Bool(true) {
            let made_known_later = |slot: &String| (slot.clone(), "known after apply".to_owned());
            let mut after = map(&change["after"]["aws_objects"]);
            after.extend(map(unknown).keys().map(made_known_later));
            let said = moves(&before, &after);
            assert!(objects.iter().all(|it| said.contains(it)), "the plan did not say all of {objects:?}: {plan}");
            // What is made anew under a name of our choice has the id that it had.
            let is_named = |it: &&String| it.starts_with("~permission.") || it.starts_with("~authorizer_permission.");
            let other: Vec<_> = said.iter().filter(|it| !objects.contains(it) && !is_named(it)).collect();
            assert!(other.is_empty(), "the plan said {other:?} too: {plan}");
        }
        Change { told: self.told(&slots), attributes: changed_attributes(change), objects, plan }
    }

    /// Panics if a plan finds something to do, or changes something itself.
    pub(super) fn assert_quiet(&self) {
        let calls = self.proxy.calls().len();
        self.workspace.assert_nothing_to_do();
        let changes: Vec<String> = (self.proxy.calls().split_off(calls).into_iter())
            .filter(|it| it.call.is_mutation())
            .map(|it| it.call.action)
            .collect();
        assert!(changes.is_empty(), "a plan changes something: {changes:?}");
    }
}

/// The calls in an order that does not depend on which of those that wait for nothing came first.
pub(super) fn sorted(mut told: Vec<String>) -> Vec<String> {
    told.sort();
    told
}

fn map(value: &Value) -> BTreeMap<String, String> {
    let told = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    value.as_object().into_iter().flatten().map(|(slot, id)| (slot.clone(), told(id))).collect()
}

fn moves(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let slots: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let moved = |slot: &String| match (before.get(slot), after.get(slot)) {
        (old, new) if old == new => None,
        (None, _) => Some(format!("+{}", without_hash(slot))),
        (_, None) => Some(format!("-{}", without_hash(slot))),
        _ => Some(format!("~{}", without_hash(slot))),
    };
    sorted(slots.into_iter().filter_map(moved).collect())
}

fn changed_attributes(change: &Value) -> Vec<String> {
    let names: BTreeSet<&String> = ["before", "after", "after_unknown"]
        .iter()
        .flat_map(|part| change[part].as_object().into_iter().flatten().map(|(name, _)| name))
        .collect();
    let is_changed = |name: &&String| {
        change["before"][name.as_str()] != change["after"][name.as_str()]
            || holds_true(&change["after_unknown"][name.as_str()])
    };
    names.into_iter().filter(is_changed).filter(|name| *name != "aws_objects").cloned().collect()
}

fn holds_true(unknown: &Value) -> bool {
    match unknown {
        Value::Bool(unknown) => *unknown,
        Value::Array(items) => items.iter().any(holds_true),
        Value::Object(members) => members.values().any(holds_true),
        _ => false,
    }
}
