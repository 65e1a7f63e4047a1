//! Examples that change each input, from the schema and a few configurations.

use serde_json::{Value as Json, json};

use super::changes::{Example, inputs, with};
use fgw::plugin::{Attribute, AttributeType, Nested as _, Type, Value};
use fgw::topology::Topology;

/// The values of inputs that need a certain form: the path, in which `*` is any text, and the values before and after
/// a change.
pub(super) type Values = Vec<(&'static str, Json, Json)>;

/// Examples of all inputs, each in both directions. Each changes the first configuration that contains the input or,
/// if none does, the object around it. All configurations are merged into `basis`. Booleans, numbers, tags and texts
/// without a form have other values that the schema allows. `whole` are examples that replace those of their inputs, in
/// one direction.
pub(super) fn examples<P: Topology>(basis: &Json, bases: &[Json], values: &Values, whole: &[Example]) -> Vec<Example> {
    let timeouts = json!({ "timeouts": { "create": "7m" } });
    let bases: Vec<Json> = bases.iter().chain([&timeouts, &json!({})]).map(|base| with(basis, base)).collect();
    let of_timeouts = ("timeouts.*", Json::Null, json!("7m"));
    let mut found = whole.to_vec();
    inputs(&P::Config::attributes(), "", &mut |path, attribute| {
        if whole.iter().any(|(of, ..)| *of == path) {
            return;
        }
        let given = values.iter().chain([&of_timeouts]).filter(|(pattern, ..)| is_of(path, pattern));
        let given: Vec<(Json, Json)> = given.map(|(_, before, after)| (before.clone(), after.clone())).collect();
        let (base, place) = place(&bases, path);
        let pairs = if given.is_empty() {
            derived(attribute, base.pointer(&place)).unwrap_or_else(|| panic!("{path} needs an example of its values"))
        } else {
            given
        };
        let path: &'static str = path.to_owned().leak();
        for (before, after) in pairs {
            let [before, after] = [before, after].map(|value| set(base, &place, value));
            found.extend([(path, before.clone(), after.clone()), (path, after, before)]);
        }
    });
    for (pattern, ..) in values {
        assert!(found.iter().any(|(path, ..)| is_of(path, pattern)), "{pattern} is no input");
    }
    found
}

fn is_of(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => path.starts_with(begin) && path.ends_with(end),
        None => path == pattern,
    }
}

/// The configuration to change, and the place of the input in it.
fn place<'a>(bases: &'a [Json], path: &str) -> (&'a Json, String) {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    let around: Vec<_> = bases.iter().filter_map(|base| Some((base, object(base, parent)?))).collect();
    let contains = |(base, place): &&(&Json, String)| base.pointer(&format!("{place}/{name}")).is_some();
    // The last configuration has no further inputs.
    let otherwise = if parent.is_empty() { around.last() } else { around.first() };
    let Some((base, place)) = around.iter().find(contains).or(otherwise) else {
        panic!("no configuration has {parent}");
    };
    (base, format!("{place}/{name}"))
}

/// The place of a nested object: of a map, that of its first entry.
fn object(base: &Json, path: &str) -> Option<String> {
    path.split('.').filter(|it| !it.is_empty()).try_fold(String::new(), |place, name| {
        let place = format!("{place}/{name}");
        let (key, first) = base.pointer(&place)?.as_object()?.iter().next()?;
        Some(if first.is_object() { format!("{place}/{}", key.replace('/', "~1")) } else { place })
    })
}

fn set(base: &Json, place: &str, value: Json) -> Json {
    let mut changed = base.clone();
    let (parent, name) = place.rsplit_once('/').unwrap_or_default();
    changed.pointer_mut(parent).expect("the object exists")[name] = value;
    changed
}

/// The values before and after a change of an input that has this value in the configuration. `None` if values of its
/// type need a form.
fn derived(attribute: &Attribute, value: Option<&Json>) -> Option<Vec<(Json, Json)>> {
    let default = match &attribute.default {
        Some(Value::Bool(value)) => json!(value),
        Some(Value::Number(value)) => json!(value.as_i64()),
        Some(Value::String(value)) => json!(value),
        _ => Json::Null,
    };
    let before = value.unwrap_or(&default).clone();
    let is_allowed = |value: &Value| attribute.checks.iter().all(|check| (check.test)(value).is_ok());
    let after = match &attribute.kind {
        AttributeType::Nested(..) => {
            let none = if attribute.is_empty_by_default() { json!({}) } else { Json::Null };
            return Some(vec![(none, before)]);
        }
        AttributeType::Plain(Type::Bool) => Some(json!(before != true)),
        AttributeType::Plain(Type::Number) => {
            let next = before.as_i64().unwrap_or_default() + 1;
            [next, 60, 600].into_iter().find(|it| is_allowed(&(*it).into())).map(Json::from)
        }
        AttributeType::Plain(Type::String) => {
            let rules = attribute.checks.iter().filter_map(|check| check.rule.strip_prefix("one of "));
            let other = format!("{}x", before.as_str().unwrap_or_default());
            let texts = rules.flat_map(|rule| rule.split(", ")).chain([other.as_str()]);
            texts.map(Json::from).find(|it| *it != before && is_allowed(&it.as_str().unwrap_or_default().into()))
        }
        AttributeType::Plain(Type::Map(of)) if **of == Type::String => {
            let team = |name: &str| json!({ "Team": name });
            return Some(vec![(Json::Null, team("web")), (team("shop"), team("web"))]);
        }
        AttributeType::Plain(_) => None,
    };
    after.map(|after| vec![(before, after)])
}

#[test]
fn an_input_of_another_form_needs_values() {
    let list = Attribute::new("zones", AttributeType::Plain(Type::List(Box::new(Type::String))), "");
    assert_eq!(derived(&list, None), None);
    let size = Attribute::new("size", AttributeType::Plain(Type::Number), "").default(2_i64);
    assert_eq!(derived(&size, None), Some(vec![(json!(2), json!(3))]));
}
