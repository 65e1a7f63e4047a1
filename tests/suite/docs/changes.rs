//! That what the schema says of a change is what a plan does: each input is changed in an example, and the operations
//! that the planner finds are held against the words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use fgw::model::keys::network as keys;
use fgw::model::{Entry, Inventory, Object, Spec};
use fgw::model::{Facts, Scope};
use fgw::plugin::schema::{PlanEffect, with_defaults};
use fgw::plugin::{Attribute, AttributePath, AttributeType, Mode, Nested, Value};
use fgw::reconcile::{Action, plan};
use fgw::topology::{Blueprint, Context, Topology};

/// A change of one input: its path, attributes before, attributes after. Both are set beside those of a basis.
pub(super) type Example = (&'static str, Json, Json);

/// What a plan does, from the least to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Nothing,
    InPlace,
    Disturbs,
    Parts,
    Replaces,
}

/// Asserts that every input of a product has examples, and that the gravest of them does what the schema says.
/// `facts` is what a look into the account finds for a configuration.
pub(super) fn assert_true<P: Topology>(basis: &Json, facts: fn(&Json) -> Facts, examples: Vec<Example>) {
    let mut gravest: BTreeMap<&str, Effect> = BTreeMap::new();
    for (path, before, after) in &examples {
        assert_ne!(before, after, "{path}");
        let first = path.split('.').next().unwrap_or_default();
        assert!(after.get(first).or(before.get(first)).is_some(), "the example of {path} changes something else");
        let effect = effect::<P>(facts, [before, after].map(|more| with(basis, more)));
        let so_far = gravest.entry(*path).or_insert(effect);
        *so_far = effect.max(*so_far);
    }
    let declared = declared(&P::Config::attributes(), "");
    let names = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(names(gravest.keys().copied().collect()), names(declared.keys().map(String::as_str).collect()));
    let wrong: Vec<String> = gravest
        .iter()
        .filter(|(path, effect)| !agree(declared[**path], **effect))
        .map(|(path, effect)| format!("{path} is said to be {:?}, and a plan does {effect:?}", declared[*path]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the words fit. What is said to disturb may be disturbed outside of AWS, where no plan sees it.
fn agree(declared: PlanEffect, effect: Effect) -> bool {
    match declared {
        PlanEffect::None => effect == Effect::Nothing,
        PlanEffect::InPlace => effect == Effect::InPlace,
        PlanEffect::Disruptive(_) => matches!(effect, Effect::InPlace | Effect::Disturbs),
        PlanEffect::PartialReplace(_) => effect == Effect::Parts,
        PlanEffect::RequiresReplace(_) => effect == Effect::Replaces,
    }
}

/// What the schema says, by path. The members of `timeouts` and of other nested objects are inputs as well.
fn declared(attributes: &[Attribute], path: &str) -> BTreeMap<String, PlanEffect> {
    let mut all = BTreeMap::new();
    for attribute in attributes.iter().filter(|it| it.mode != Mode::Computed) {
        let path = if path.is_empty() { attribute.name.clone() } else { format!("{path}.{}", attribute.name) };
        if let AttributeType::Nested(_, nested) = &attribute.kind {
            all.extend(declared(nested, &path));
        }
        let change = attribute.change.unwrap_or_else(|| panic!("nobody says what a change of {path} does"));
        all.insert(path, change);
    }
    all
}

fn effect<P: Topology>(facts: fn(&Json) -> Facts, configs: [Json; 2]) -> Effect {
    let [found, found_then] = configs.each_ref().map(facts);
    let [before, after] = configs.each_ref().map(decoded::<P>);
    let existing = made(&objects::<P>(&before, None, &Inventory::default(), &found));
    if !P::replaced_by(&before, &after, &existing).is_empty() {
        return Effect::Replaces;
    }
    let wanted = objects::<P>(&after, Some(&before), &existing, &found_then);
    let plan = plan(&existing, &wanted).expect("the change of one input can be ordered");
    plan.ops.iter().map(|op| gravity(&op.action)).max().unwrap_or(Effect::Nothing)
}

fn gravity(action: &Action) -> Effect {
    match action {
        // AWS has made it already, and keeps it.
        Action::Create(object) if object.spec.is_adopted() => Effect::InPlace,
        Action::Delete { entry, .. } if entry.applied.is_adopted() => Effect::InPlace,
        Action::Create(_) | Action::Delete { .. } => Effect::Parts,
        Action::Update { before, to, .. } => match (before, &to.spec) {
            (Spec::Subnet(before), Spec::Subnet(to)) if loses_block(before, to) => Effect::Disturbs,
            (Spec::Route(before), Spec::Route(to)) if before.target != to.target => Effect::Disturbs,
            (Spec::RouteTableAssociation(_), _) => Effect::Disturbs,
            _ => Effect::InPlace,
        },
    }
}

fn loses_block(before: &fgw::model::Subnet, to: &fgw::model::Subnet) -> bool {
    before.ipv6_cidr_block.known().is_some_and(Option::is_some) && before.ipv6_cidr_block != to.ipv6_cidr_block
}

fn decoded<P: Topology>(config: &Json) -> P::Config {
    let attributes = P::Config::attributes();
    let mut complete: BTreeMap<String, Value> =
        attributes.iter().map(|attribute| (attribute.name.clone(), Value::Null)).collect();
    let Value::Map(given) = value(config) else { panic!("a configuration is an object") };
    complete.extend(given);
    let mut problems = Vec::new();
    let filled = with_defaults(&attributes, &Value::Map(complete));
    let config = P::Config::decode(&filled, &AttributePath::root(), &mut problems);
    config.unwrap_or_else(|| panic!("{problems:?}"))
}

fn objects<P: Topology>(
    config: &P::Config,
    prior: Option<&P::Config>,
    existing: &Inventory,
    facts: &Facts,
) -> Vec<Object> {
    let scope = scope();
    match P::blueprint(&Context { config, prior, existing, scope: &scope, facts }) {
        Ok(Blueprint::Decided { objects, missing, .. }) if missing.is_empty() => objects,
        other => panic!("{other:?}"),
    }
}

/// The objects that should exist by a configuration, in an account where nothing exists.
pub(super) fn first_objects<P: Topology>(config: &Json, facts: fn(&Json) -> Facts) -> Vec<Object> {
    objects::<P>(&decoded::<P>(config), None, &Inventory::default(), &facts(config))
}

/// What exists once these objects have been made, with the ranges that pools and Amazon chose.
fn made(objects: &[Object]) -> Inventory {
    let entry = |object: &Object| {
        let mut entry = Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec.clone());
        let chosen = match object.key.slot.as_str() {
            keys::VPC => Some(("cidr_block", "10.0.0.0/16")),
            keys::IPV6_CIDR_BLOCK => Some(("ipv6_cidr_block", "2001:db8::/52")),
            _ => None,
        };
        entry.learned.extend(chosen.map(|(name, range)| (name.to_owned(), range.to_owned())));
        entry
    };
    Inventory { entries: objects.iter().map(entry).collect() }
}

fn scope() -> Scope {
    Scope {
        partition: "aws".into(),
        region: "eu-central-1".into(),
        account: Some("123456789012".into()),
        ..Scope::default()
    }
}

/// An object with the entries of another over its own.
pub(super) fn with(basis: &Json, more: &Json) -> Json {
    let mut basis = basis.clone();
    if let (Some(basis), Some(more)) = (basis.as_object_mut(), more.as_object()) {
        basis.extend(more.clone());
    }
    basis
}

/// Examples of the `timeouts` that every product has.
pub(super) fn timeouts() -> Vec<Example> {
    let member =
        |path: &'static str, name: &str| (path, json!({ "timeouts": {} }), json!({ "timeouts": { name: "7m" } }));
    vec![
        ("timeouts", json!({ "timeouts": null }), json!({ "timeouts": { "create": "7m" } })),
        member("timeouts.create", "create"),
        member("timeouts.read", "read"),
        member("timeouts.update", "update"),
        member("timeouts.delete", "delete"),
    ]
}

/// Examples of inputs that go from nothing to one entry: tags, for the most part.
pub(super) fn from_nothing(paths: &[&'static str], entry: &Json) -> Vec<Example> {
    let set = |path: &'static str| (path, json!({ path: null }), json!({ path: entry }));
    paths.iter().copied().map(set).collect()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().expect("examples use whole numbers").into(),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(fields) => Value::Map(fields.iter().map(|(key, it)| (key.clone(), value(it))).collect()),
    }
}
