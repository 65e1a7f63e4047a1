//! The adoption of a topology that something else built. Pure.
//!
//! An import is not ownership. Until an apply has adopted the root, which it does last, every plan either adopts what
//! exists as it is, or is an error, and a destroy deletes nothing. `adopt` in the configuration is the consent to the
//! adoption of each object.

pub(super) mod further;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use super::decision::{Basis, Decision};
use super::diagnostics::{self, Difference, WrongEntry};
use super::observe::{is_named, named};
use super::private_state::Private;
use super::state;
use crate::cloud::Unmanaged;
use crate::model::{Entry, Inventory, Key, Spec};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Attribute, AttributeType, Diagnostics, Input, Nested, Nesting, Type, Value};
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;

/// The number of tags that AWS allows on an object, without those that AWS itself sets.
const MOST_TAGS: usize = 50;
/// The number of ownership tags on an adopted object.
const OWNERSHIP_TAGS: usize = 2;

/// The wanted objects that are not adopted: their IDs by slot, in the order of the slots.
type Wanted = BTreeMap<String, String>;

/// The slots, by ID, of the objects that `adopt` names although no import proposes them.
pub(super) fn only_by_name<P: Topology>(config: &P::Config, inventory: &Inventory) -> BTreeMap<String, String> {
    let Input::Known(adopt) = P::adopt(config) else { return BTreeMap::new() };
    let is_named = |(slot, id): &(String, String)| adopt.get(slot).and_then(Input::known) == Some(id);
    let known = P::adopted_only_by_name(inventory).into_iter().filter(is_named);
    known.map(|(slot, id)| (id, slot)).collect()
}

/// Removes the objects from an imported inventory that `adopt` does not name. Returns those that it does not name, or
/// `None` if an entry is wrong. `only_by_name` are the objects that it names although no import proposes them.
pub(super) fn consent<P: Topology>(
    config: &P::Config,
    private: &mut Private,
    only_by_name: &BTreeMap<String, String>,
    diagnostics: &mut Diagnostics,
) -> Option<Wanted> {
    let adopt = match P::adopt(config) {
        Input::Known(adopt) if adopt.values().all(Input::is_known) => adopt,
        _ => {
            refuse_unknown(diagnostics);
            return None;
        }
    };
    let given = |slot: &str| adopt.get(slot).and_then(Input::known).map(String::as_str);
    let further = P::adopted_only_by_name(&private.inventory);
    let wrong: Vec<WrongEntry> = adopt
        .iter()
        .filter_map(|(slot, id)| {
            let wrong = wrong_entry(&private.inventory, &private.unmanaged, slot, id.known()?)?;
            let instead = wrong.instead.or_else(|| further.get(slot).filter(|it| Some(*it) != id.known()).cloned());
            Some(WrongEntry { instead, ..wrong })
        })
        .collect();
    if !wrong.is_empty() {
        diagnostics::wrong_entries(&wrong, diagnostics);
        return None;
    }
    let inventory = &mut private.inventory;
    if let Some(root) = inventory.at(P::KIND.root()).filter(|root| given(&root.key.slot) != Some(&root.id)) {
        debug_assert!(root.is_foreign(), "the root is adopted last");
        let missing = named(inventory).filter(|entry| given(&entry.key.slot) != Some(&entry.id)).map(by_slot).collect();
        diagnostics::adoption_would_change::<P>(&[], &missing, &[], diagnostics);
        return None;
    }
    let mut left: Wanted =
        named(inventory).filter(|entry| given(&entry.key.slot) != Some(&entry.id)).map(by_slot).collect();
    // What is part of an object that is not adopted, or leads to it, is not adopted either.
    let mut removed: Vec<Key> = Vec::new();
    let mut is_removed = |entry: &mut Entry| {
        let needs_removed = || entry.applied.needs().iter().any(|need| removed.contains(&need.key));
        let is_left = match is_named(&entry.applied) {
            true => left.get(&entry.key.slot) == Some(&entry.id),
            false => entry.is_foreign() && needs_removed(),
        };
        removed.extend(is_left.then(|| entry.key.clone()));
        is_left
    };
    while inventory.entries.extract_if(.., &mut is_removed).count() > 0 {}
    if !only_by_name.is_empty() {
        left.extend(further);
    }
    warn_of_stacks(private, diagnostics);
    Some(left)
}

/// Reports objects that only `adopt` names and that the configuration does not require. Returns whether there are none.
pub(super) fn check_required<P: Topology>(
    only_by_name: &BTreeMap<String, String>,
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) -> bool {
    let unrequired = only_by_name.iter().filter(|(_, slot)| !decision.requires(slot));
    let wrong: Vec<WrongEntry> = unrequired.map(|(id, slot)| not_required::<P>(id, slot, true)).collect();
    diagnostics::wrong_entries(&wrong, diagnostics);
    wrong.is_empty()
}

/// An entry for a slot that the configuration does not require. `is_only_named` is whether no import proposes it.
fn not_required<P: Topology>(id: &str, slot: &str, is_only_named: bool) -> WrongEntry {
    let hint =
        if is_only_named { format!(". {}", P::ADOPTED_ONLY_BY_NAME.trim_end_matches('.')) } else { String::new() };
    let reason = format!("this configuration does not require {slot}, so {id} is not adopted{hint}");
    WrongEntry { slot: slot.to_string(), reason, instead: None }
}

/// Warns of the objects to adopt that belong to a CloudFormation stack.
fn warn_of_stacks(private: &Private, diagnostics: &mut Diagnostics) {
    let stacks = &private.stacks;
    let in_stack = |entry: &Entry| Some((format!("{} {}", entry.key.slot, entry.id), stacks.get(&entry.id)?.as_str()));
    let of_stacks: BTreeMap<String, &str> = named(&private.inventory).filter_map(in_stack).collect();
    if !of_stacks.is_empty() {
        diagnostics::objects_of_stacks(&of_stacks, diagnostics);
    }
}

fn refuse_unknown(diagnostics: &mut Diagnostics) -> bool {
    diagnostics::adopt_is_unknown(diagnostics);
    false
}

/// Why an entry of `adopt` cannot be followed.
fn wrong_entry(inventory: &Inventory, unmanaged: &[Unmanaged], slot: &str, id: &str) -> Option<WrongEntry> {
    let at_slot = inventory.current().find(|entry| entry.key.slot == slot && is_named(&entry.applied));
    if at_slot.is_some_and(|entry| entry.id == id) {
        return None;
    }
    let found = inventory.current().find(|entry| entry.id == id && is_named(&entry.applied));
    let rejected = unmanaged.iter().find(|it| it.id == id);
    let reason = match (found, rejected) {
        (Some(entry), _) => format!("{id} is {}", entry.key.slot),
        (None, Some(rejected)) => format!("{id} cannot be adopted: {}", rejected.reason),
        (None, None) => format!("there is no object {id} in this VPC or API that could be adopted"),
    };
    let instead = at_slot.map(|entry| entry.id.clone());
    Some(WrongEntry { slot: slot.to_string(), reason, instead })
}

/// What a plan would do besides adding tags.
fn refused(inventory: &Inventory, decision: &Decision) -> Vec<Difference> {
    let difference =
        |key: &Key, what: String, can_be_ignored| Some(Difference { slot: key.slot.clone(), what, can_be_ignored });
    let of_op = |action: &Action| match action {
        Action::Create(object) if inventory.allows_in_adoption(&object.spec) => None,
        Action::Create(object) => difference(&object.key, "would be created".to_string(), false),
        Action::Delete { entry, .. } => difference(&entry.key, format!("{} would be deleted", entry.id), false),
        Action::Update { before, to, id, .. } => {
            let changes = changes(before, &to.spec);
            let is_adoption = inventory.foreign(&to.key).is_some() && changes.is_empty();
            let what = format!("{id} would be changed: {}", changes.join("; "));
            difference(&to.key, what, true).filter(|_| !is_adoption)
        }
    };
    decision.plan.ops.iter().filter_map(|op| of_op(&op.action)).collect()
}

/// The entries of `adopt` whose objects have no room for the tags that a plan adds.
fn without_room(inventory: &Inventory, plan: &Plan) -> Vec<WrongEntry> {
    let known = |spec: &Spec| spec.tags().and_then(Input::known).cloned().unwrap_or_default();
    let of_op = |action: &Action| {
        let Action::Update { to, id, .. } = action else { return None };
        let entry = inventory.present().find(|entry| entry.key == to.key && entry.is_foreign())?;
        let (existing, mut added) = (known(entry.spec()), known(&to.spec));
        added.retain(|key, _| !existing.contains_key(key));
        let (count, new) = (existing.len(), added.len() + OWNERSHIP_TAGS);
        let is_full = to.spec.tags().is_some() && count + new > MOST_TAGS;
        let reason = format!("{id} has {count} tags. AWS allows {MOST_TAGS} on an object, and the adoption adds {new}");
        is_full.then(|| WrongEntry { slot: to.key.slot.clone(), reason, instead: None })
    };
    plan.ops.iter().filter_map(|op| of_op(&op.action)).collect()
}

/// The differences that an adoption may not make: all but new tags.
fn changes(before: &Spec, to: &Spec) -> Vec<String> {
    let mut extended = before.clone();
    if let (Some(Input::Known(tags)), Some(Input::Known(wanted))) = (extended.tags_mut(), to.tags()) {
        for (key, value) in wanted {
            tags.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    extended.differences(to)
}

/// Removes the objects from an imported inventory that stay unmanaged because the configuration does not list them.
pub(super) fn leave_unlisted<P: Topology>(basis: &Basis<'_, P>, inventory: &mut Inventory) {
    let decision = basis.decide(&mut inventory.clone(), &mut Diagnostics::default()).ok().flatten();
    let ops = decision.map(|decision| decision.plan.ops).unwrap_or_default();
    let is_unlisted = |entry: &Entry| {
        let deletes = |action: &Action| matches!(action, Action::Delete { entry: it, .. } if it.key == entry.key && it.id == entry.id);
        entry.is_foreign() && P::may_stay_unmanaged(&entry.applied) && ops.iter().any(|op| deletes(&op.action))
    };
    inventory.entries.retain(|entry| !is_unlisted(entry));
}

/// Whether an apply may execute a decision on a topology that is not adopted. The plan has made the same check.
pub(super) fn check_at_apply<P: Topology>(
    inventory: &Inventory,
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) -> bool {
    let refused = refused(inventory, decision);
    if !refused.is_empty() {
        diagnostics::adoption_would_change::<P>(&refused, &BTreeMap::new(), &[], diagnostics);
    }
    refused.is_empty()
}

/// Reports a plan that would do more than add tags: with the lines of `adopt` that are missing, and with the inputs
/// that reproduce what exists. `left` are the objects that could be adopted, `before` is the state.
pub(super) fn check<P: Topology>(
    basis: &Basis<'_, P>,
    filled: &Value,
    before: &Value,
    (inventory, left): (&Inventory, &Wanted),
    decision: &Decision,
    diagnostics: &mut Diagnostics,
) -> bool {
    let full = without_room(inventory, &decision.plan);
    if !full.is_empty() {
        diagnostics::wrong_entries(&full, diagnostics);
        return false;
    }
    let found = refused(inventory, decision);
    if found.is_empty() {
        return true;
    }
    let missing: Wanted =
        left.iter().filter(|(slot, _)| decision.requires(slot)).map(|(slot, id)| (slot.clone(), id.clone())).collect();
    let inputs = match missing.is_empty() {
        true => differing::<P>(basis, filled, before, (inventory, found.len()), refused).or_all(),
        false => Vec::new(),
    };
    diagnostics::adoption_would_change::<P>(&found, &missing, &texts(&inputs), diagnostics);
    false
}

/// An input, or an element of a map, that differs from what exists.
#[derive(Clone)]
struct DifferingInput {
    name: String,
    /// The key of the element. `None` if this is a whole input.
    key: Option<String>,
    /// Null for an element that the configuration does not contain.
    given: Value,
    /// Null for an element that the existing objects do not have.
    existing: Value,
}

impl DifferingInput {
    /// Both values of an input, or of each element in which two maps differ.
    fn all(attribute: &Attribute, given: &Value, existing: &Value) -> Vec<Self> {
        let name = &attribute.name;
        let input = |key, given: &Value, existing: &Value| {
            (given != existing).then(|| Self {
                name: name.clone(),
                key,
                given: given.clone(),
                existing: existing.clone(),
            })
        };
        let is_map =
            matches!(attribute.kind, AttributeType::Plain(Type::Map(_)) | AttributeType::Nested(Nesting::Map, _));
        let (Some(of_config), Some(of_aws), true) = (given.as_map(), existing.as_map(), is_map) else {
            return input(None, given, existing).into_iter().collect();
        };
        let keys: BTreeSet<&String> = of_config.keys().chain(of_aws.keys()).collect();
        keys.into_iter().filter_map(|key| input(Some(key.clone()), given.get(key), existing.get(key))).collect()
    }

    /// Replaces the given value by the existing one.
    fn correct(&self, attributes: &mut Value) {
        let Some(key) = &self.key else { return attributes.set(&self.name, self.existing.clone()) };
        let mut elements = attributes.get(&self.name).as_map().cloned().unwrap_or_default();
        match &self.existing {
            Value::Null => drop(elements.remove(key)),
            existing => drop(elements.insert(key.clone(), existing.clone())),
        }
        attributes.set(&self.name, Value::Map(elements));
    }
}

impl Display for DifferingInput {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { name, key, given, existing } = self;
        let name = key.as_ref().map_or_else(|| name.clone(), |key| format!("{name}[{key:?}]"));
        match (key, given, existing) {
            (Some(_), _, Value::Null) => write!(out, "no {name}"),
            (Some(_), Value::Null, _) => write!(out, "{name} = {existing}"),
            _ => write!(out, "{name} = {existing} instead of {given}"),
        }
    }
}

/// The inputs that differ from those which reproduce the existing objects.
struct DifferingInputs {
    all: Vec<DifferingInput>,
    /// Those without which the plan would change less.
    causes: Vec<DifferingInput>,
}

impl DifferingInputs {
    /// The causes or, if no single input is one, all.
    fn or_all(self) -> Vec<DifferingInput> {
        if self.causes.is_empty() { self.all } else { self.causes }
    }
}

fn texts(inputs: &[DifferingInput]) -> Vec<String> {
    inputs.iter().map(ToString::to_string).collect()
}

/// Compares the inputs with those in `before`. `found` are the inventory and the number of differences that `refused`
/// finds in it.
fn differing<P: Topology>(
    basis: &Basis<'_, P>,
    filled: &Value,
    before: &Value,
    (inventory, count): (&Inventory, usize),
    refused: fn(&Inventory, &Decision) -> Vec<Difference>,
) -> DifferingInputs {
    // The elements of a map are compared with none, not with null.
    let [filled, before] = [filled, before].map(|inputs| with_defaults(&P::Config::attributes(), inputs));
    let inputs = P::Config::attributes().into_iter().filter(|Attribute { name, .. }| {
        let texts = filled.get(name).as_str().zip(before.get(name).as_str());
        name != "adopt" && !texts.is_some_and(|(one, other)| P::is_same_text(name, one, other))
    });
    let both_values = |input: Attribute| DifferingInput::all(&input, filled.get(&input.name), before.get(&input.name));
    let all: Vec<DifferingInput> = inputs.flat_map(both_values).collect();
    let is_cause = |input: &&DifferingInput| {
        let mut attributes = filled.clone();
        input.correct(&mut attributes);
        let Ok((_, config)) = state::decode::<P>(&attributes) else { return false };
        let protection = super::protected::Protection::none();
        let (prior, scope, facts) = (basis.prior, basis.scope, basis.facts);
        let basis = Basis::<P> { config: &config, prior, scope, facts, protection };
        let (mut inventory, mut reported) = (inventory.clone(), Diagnostics::default());
        let decision = basis.decide(&mut inventory, &mut reported).ok().flatten();
        decision.is_some_and(|decision| refused(&inventory, &decision).len() < count)
    };
    let causes: Vec<DifferingInput> = all.iter().filter(is_cause).cloned().collect();
    DifferingInputs { all, causes }
}

/// The objects that an interrupted apply has adopted, according to a state.
pub(super) fn adopted(state: &Value) -> BTreeMap<String, String> {
    let objects = state.get("aws_objects").as_map().into_iter().flatten();
    objects.filter_map(|(slot, id)| Some((slot.clone(), id.as_str()?.to_string()))).collect()
}

fn by_slot(entry: &Entry) -> (String, String) {
    (entry.key.slot.clone(), entry.id.clone())
}
