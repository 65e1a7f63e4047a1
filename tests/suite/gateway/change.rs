//! A change of an existing gateway: its plan, its effect, and the comparison of both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{THIS, TestEnv, assert_no_overlap, without_hash};
use crate::support::terraform::Run;

/// An applied change.
pub(super) struct Change {
    /// The changing calls, see [`TestEnv::calls`].
    pub(super) calls: Vec<String>,
    /// The attributes that the plan changed, without `aws_objects`.
    pub(super) attributes: Vec<String>,
    /// The objects that were created (`+stage`), deleted (`-stage`) and replaced (`~stage`), by key without hash. All
    /// other objects kept their ids.
    pub(super) objects: Vec<String>,
    /// The output of the plan.
    pub(super) plan: Run,
}

impl TestEnv {
    /// Writes the configuration, applies its plan, and asserts that another plan is empty. Panics if the apply created,
    /// deleted or replaced other objects than the plan showed.
    pub(super) fn planned_change(&self, attributes: &Value) -> Change {
        self.config(attributes);
        let slots = self.slots();
        let plan = self.workspace.plan(&[]);
        assert_eq!(plan.code, 2, "the plan has changes: {plan}");
        let shown = self.workspace.shown_plan();
        let changes = shown["resource_changes"].as_array().expect("a list");
        let change = &changes.iter().find(|it| it["address"] == THIS).expect("the plan has the gateway")["change"];
        assert_eq!(change["actions"], serde_json::json!(["update"]), "{plan}");

        self.proxy.clear_calls();
        self.workspace.apply_plan().succeeded();
        assert_no_overlap(&self.proxy);
        let calls = self.proxy.calls().len();
        self.assert_plan_changes_nothing();
        self.proxy.keep_calls(calls);

        let before = map(&change["before"]["aws_objects"]);
        let objects = moves(&before, &map(&self.attribute("aws_objects")));
        let unknown = &change["after_unknown"]["aws_objects"];
        if *unknown != Value::Bool(true) {
            let unknown_id = |slot: &String| (slot.clone(), "known after apply".to_owned());
            let mut after = map(&change["after"]["aws_objects"]);
            after.extend(map(unknown).keys().map(unknown_id));
            let planned = moves(&before, &after);
            assert!(objects.iter().all(|it| planned.contains(it)), "the plan lacks some of {objects:?}: {plan}");
            // The provider chooses the ids of permission statements, so a replaced one can have the same id.
            let is_named = |it: &&String| it.starts_with("~permission.") || it.starts_with("~authorizer_permission.");
            let other: Vec<_> = planned.iter().filter(|it| !objects.contains(it) && !is_named(it)).collect();
            assert!(other.is_empty(), "the apply did not change {other:?}, which the plan has: {plan}");
        }
        Change { calls: self.calls(&slots), attributes: changed_attributes(change), objects, plan }
    }

    /// Asserts that a plan is empty and makes no changing calls.
    pub(super) fn assert_plan_changes_nothing(&self) {
        let calls = self.proxy.calls().len();
        self.workspace.assert_nothing_to_do();
        let changes: Vec<String> = (self.proxy.calls().split_off(calls).into_iter())
            .filter(|it| it.call.is_mutation())
            .map(|it| it.call.action)
            .collect();
        assert!(changes.is_empty(), "a plan changes something: {changes:?}");
    }
}

/// The calls in alphabetical order, for changes whose order is not fixed.
pub(super) fn sorted(mut calls: Vec<String>) -> Vec<String> {
    calls.sort();
    calls
}

fn map(value: &Value) -> BTreeMap<String, String> {
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    value.as_object().into_iter().flatten().map(|(slot, value)| (slot.clone(), id(value))).collect()
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
