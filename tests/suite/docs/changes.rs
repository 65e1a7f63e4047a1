//! Compares the documented effect of a change with the plan: examples change each input, and the planned operations
//! must have the effect that the schema declares.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use fgw::model::keys::network as keys;
use fgw::model::{Entry, Inventory, Object, Spec};
use fgw::model::{Facts, Scope};
use fgw::plugin::schema::{PlanEffect, with_defaults};
use fgw::plugin::{Attribute, AttributePath, AttributeType, Mode, Nested, Value};
use fgw::reconcile::{Action, plan};
use fgw::topology::{Blueprint, Context, Topology};

/// A change of one input: its path, and the attributes before and after. Both are merged into those of a basis.
pub(super) type Example = (&'static str, Json, Json);

/// The effect of a plan, from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Nothing,
    InPlace,
    Disturbs,
    Parts,
    Replaces,
}

/// Asserts that every input of a topology has examples, and that the most severe effect among them is the one that the
/// schema declares. `facts` returns what lookups in the account find for a configuration.
pub(super) fn assert_effects<P: Topology>(basis: &Json, facts: fn(&Json) -> Facts, examples: Vec<Example>) {
    let mut effects: BTreeMap<&str, Effect> = BTreeMap::new();
    for (path, before, after) in &examples {
        assert_ne!(before, after, "{path}");
        let first = path.split('.').next().unwrap_or_default();
        assert!(after.get(first).or(before.get(first)).is_some(), "the example of {path} changes something else");
        let effect = effect::<P>(facts, [before, after].map(|more| with(basis, more)));
        let most_severe = effects.entry(*path).or_insert(effect);
        *most_severe = effect.max(*most_severe);
    }
    let declared = declared(&P::Config::attributes());
    let names = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(names(effects.keys().copied().collect()), names(declared.keys().map(String::as_str).collect()));
    let wrong: Vec<String> = effects
        .iter()
        .filter(|(path, effect)| !agree(declared[**path], **effect))
        .map(|(path, effect)| format!("{path} is declared as {:?}, but the plan has {effect:?}", declared[*path]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a plan has the declared effect. A disruption may be outside AWS, where no plan shows it.
fn agree(declared: PlanEffect, effect: Effect) -> bool {
    match declared {
        PlanEffect::Handling | PlanEffect::None => effect == Effect::Nothing,
        PlanEffect::InPlace => effect == Effect::InPlace,
        PlanEffect::Disruptive(_) => matches!(effect, Effect::InPlace | Effect::Disturbs),
        PlanEffect::PartialReplace(_) => effect == Effect::Parts,
        PlanEffect::RequiresReplace(_) => effect == Effect::Replaces,
    }
}

/// The declared effects by path.
fn declared(attributes: &[Attribute]) -> BTreeMap<String, PlanEffect> {
    let mut all = BTreeMap::new();
    inputs(attributes, "", &mut |path, attribute| {
        let change = attribute.change.unwrap_or_else(|| panic!("the schema declares no effect for a change of {path}"));
        all.insert(path.to_owned(), change);
    });
    all
}

/// Calls the function with the path of each input. The members of nested objects, such as `timeouts`, are inputs too.
pub(super) fn inputs(attributes: &[Attribute], path: &str, of: &mut impl FnMut(&str, &Attribute)) {
    for attribute in attributes.iter().filter(|it| it.mode != Mode::Computed) {
        let path = if path.is_empty() { attribute.name.clone() } else { format!("{path}.{}", attribute.name) };
        of(&path, attribute);
        if let AttributeType::Nested(_, nested) = &attribute.kind {
            inputs(nested, &path, of);
        }
    }
}

fn effect<P: Topology>(facts: fn(&Json) -> Facts, configs: [Json; 2]) -> Effect {
    let [found, found_then] = configs.each_ref().map(facts);
    let [before, after] = configs.each_ref().map(decoded::<P>);
    let existing = created(&objects::<P>(&before, None, &Inventory::default(), &found));
    if !P::replaced_by(&before, &after, &existing).is_empty() {
        return Effect::Replaces;
    }
    let wanted = objects::<P>(&after, Some(&before), &existing, &found_then);
    let plan = plan(&existing, &wanted).expect("the change of one input can be ordered");
    plan.ops.iter().map(|op| severity(&op.action)).max().unwrap_or(Effect::Nothing)
}

fn severity(action: &Action) -> Effect {
    match action {
        // AWS creates the object with the VPC, and keeps it.
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
    decoded_value::<P>(&filled::<P>(config))
}

/// The attributes of a configuration with their defaults.
fn filled<P: Topology>(config: &Json) -> Value {
    let attributes = P::Config::attributes();
    let mut complete: BTreeMap<String, Value> =
        attributes.iter().map(|attribute| (attribute.name.clone(), Value::Null)).collect();
    let Value::Map(given) = value(config) else { panic!("a configuration is an object") };
    complete.extend(given);
    with_defaults(&attributes, &Value::Map(complete))
}

fn decoded_value<P: Topology>(attributes: &Value) -> P::Config {
    let mut problems = Vec::new();
    let complete = with_defaults(&P::Config::attributes(), attributes);
    let config = P::Config::decode(&complete, &AttributePath::root(), &mut problems);
    config.unwrap_or_else(|| panic!("{problems:?}"))
}

/// Inputs for which a rule does not hold, by the reason.
pub(super) type Exceptions = &'static [(&'static str, &'static [&'static str])];

/// Asserts that an import reads each input that changes objects, and that a change of the same properties outside
/// Terraform changes this input and no other one, and results in the objects as they are. `not_imported` and
/// `not_reflected` are all exceptions. Of the latter, a change may appear in another input.
pub(super) fn assert_way_back<P: Topology>(
    basis: &Json,
    facts: fn(&Json) -> Facts,
    examples: &[Example],
    [not_imported, not_reflected]: [Exceptions; 2],
) {
    let (mut imported, mut reflected): (BTreeMap<&'static str, bool>, BTreeMap<&'static str, bool>) =
        Default::default();
    for (path, before, after) in examples {
        let configs = [before, after].map(|more| with(basis, more));
        let effect = effect::<P>(facts, configs.clone());
        if effect == Effect::Nothing {
            continue;
        }
        let input = path.split('.').next().unwrap_or_default();
        let [was, is] = configs.each_ref().map(|config| as_imported::<P>(config, facts).get(input).clone());
        *imported.entry(*path).or_default() |= was != is;
        if matches!(effect, Effect::InPlace | Effect::Disturbs) {
            let changed = reflected_in::<P>(facts, &configs);
            let is_elsewhere = not_reflected.iter().any(|(_, paths)| paths.contains(path));
            assert!(is_elsewhere || changed.iter().all(|name| name == input), "{path} changes {changed:?}");
            *reflected.entry(*path).or_default() |= changed.iter().any(|name| name == input);
        }
    }
    let unread = |read: BTreeMap<&'static str, bool>| -> BTreeSet<&'static str> {
        read.into_iter().filter(|(_, is_read)| !is_read).map(|(path, _)| path).collect()
    };
    let all = |exceptions: Exceptions| -> BTreeSet<&'static str> {
        exceptions.iter().flat_map(|(_, paths)| paths.iter().copied()).collect()
    };
    let found = (unread(imported), unread(reflected));
    assert_eq!(found, (all(not_imported), all(not_reflected)), "the inputs that no import and no refresh reads");
}

/// The inputs of an import of the objects of a configuration.
fn as_imported<P: Topology>(config: &Json, facts: fn(&Json) -> Facts) -> Value {
    let (decoded, facts) = (decoded::<P>(config), facts(config));
    let first = created(&objects::<P>(&decoded, None, &Inventory::default(), &facts));
    // The ranges of subnets are known once AWS has assigned that of the VPC.
    let mut inventory = created(&objects::<P>(&decoded, Some(&decoded), &first, &facts));
    for entry in inventory.entries.iter_mut().filter(|entry| entry.applied.is_root()) {
        entry.learned.insert("resource".into(), format!("{}/name", P::KIND.name()));
    }
    P::imported(&inventory, &scope()).expect("the root has the tags of the provider")
}

/// The inputs that change in the state of the first configuration if the properties of its objects are changed outside
/// Terraform to those of the second one.
fn reflected_in<P: Topology>(facts: fn(&Json) -> Facts, configs: &[Json; 2]) -> Vec<String> {
    let [found, found_then] = configs.each_ref().map(facts);
    let [before, after] = configs.each_ref().map(decoded::<P>);
    let mut existing = created(&objects::<P>(&before, None, &Inventory::default(), &found));
    let wanted = objects::<P>(&after, Some(&before), &existing, &found_then);
    for entry in &mut existing.entries {
        if let Some(object) = wanted.iter().find(|object| object.key == entry.key) {
            entry.observe(object.spec.clone());
        }
    }
    let state = filled::<P>(&configs[0]);
    let mut written = state.clone();
    P::write_drift(&mut written, &existing);
    let names = P::Config::attributes().into_iter().map(|attribute| attribute.name);
    let changed: Vec<String> = names.filter(|name| state.get(name) != written.get(name)).collect();
    if !changed.is_empty() {
        let again = objects::<P>(&decoded_value::<P>(&written), Some(&before), &existing, &found_then);
        // Their order depends on the objects that exist.
        let specs = |all: &[Object]| all.iter().map(|it| (it.key.clone(), it.spec.clone())).collect::<Vec<_>>();
        assert_eq!(specs(&again), specs(&wanted), "{changed:?}");
    }
    changed
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

/// The objects that a configuration requires in an empty account.
pub(super) fn first_objects<P: Topology>(config: &Json, facts: fn(&Json) -> Facts) -> Vec<Object> {
    objects::<P>(&decoded::<P>(config), None, &Inventory::default(), &facts(config))
}

/// The inventory after these objects have been created, with ranges as IPAM pools and Amazon assign them,
/// and with another network ACL than the default one for each subnet.
fn created(objects: &[Object]) -> Inventory {
    let entry = |object: &Object| {
        let mut entry = Entry::new(object.key.clone(), format!("id-{}", object.key), object.spec.clone());
        let chosen = match object.key.slot.as_str() {
            keys::VPC => Some(("cidr_block", "10.0.0.0/16")),
            keys::IPV6_CIDR_BLOCK => Some(("ipv6_cidr_block", "2001:db8::/52")),
            _ => None,
        };
        let is_subnet = matches!(object.spec, Spec::Subnet(_));
        entry.learned.network_acl_id = is_subnet.then(|| "acl-0123456789abcdef0".to_owned());
        entry.learned.extend(chosen.map(|(name, value)| (name.to_owned(), value.to_owned())));
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

/// A JSON object with the entries of another one merged over its own.
pub(super) fn with(basis: &Json, more: &Json) -> Json {
    let mut basis = basis.clone();
    if let (Some(basis), Some(more)) = (basis.as_object_mut(), more.as_object()) {
        basis.extend(more.clone());
    }
    basis
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().expect("examples use no larger numbers").into(),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(fields) => Value::Map(fields.iter().map(|(key, it)| (key.clone(), value(it))).collect()),
    }
}
