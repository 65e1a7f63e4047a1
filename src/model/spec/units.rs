//! The units in which ignored drift is kept: a scalar, a tag, or an element of a set.
//!
//! A unit that was changed outside Terraform stays as it was found, as long as the configuration requires the same
//! value for it as before.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::phrases::{confidential, phrase};
use super::{Cors, Spec};
use crate::model::{Key, Ref, printable};
use crate::plugin::decode::UNKNOWN;

type Fields = Map<String, Value>;

/// A property and, for a map or a set, the element of it.
type Unit = (String, Option<String>);

/// Scalars that AWS sets together, or accepts only together: each list is one unit.
const TOGETHER: [&[&str]; 5] = [
    &["ipv6_cidr_block", "ipv6_block"],
    &["destination_arn", "role_arn", "distribution", "permission"],
    &["function_arn", "credentials_arn", "permission"],
    &["integration_uri", "vpc_link", "server_name_to_verify"],
    &["payload_format_version", "enable_simple_responses"],
];

/// The properties that are maps, of which each entry is a unit.
const MAPS: [&str; 6] =
    ["tags", "variables", "default_settings", "route_settings", "request_parameters", "response_parameters"];

/// The prefix of the properties of a CORS configuration.
const CORS: &str = "cors.";

/// The spec of an update of an object whose drift is ignored.
#[derive(Debug, PartialEq)]
pub struct Merged {
    /// The required spec, with the ignored drift that stays.
    pub spec: Spec,
    /// The ignored drift that does not stay: one phrase for each unit, with both values.
    pub overwritten: Vec<String>,
}

/// The inputs of a merge besides the specs.
pub struct MergeContext<'a> {
    /// The units that an unfinished update may have changed: as they are found, they are no drift.
    pub attempted: &'a BTreeSet<String>,
    /// The properties whose required values follow from other inputs. As long as a found value works, it stays.
    pub follows: &'a [&'static str],
    /// Whether the plan deletes the object with a key.
    pub is_deleted: &'a dyn Fn(&Key) -> bool,
}

impl Spec {
    /// Merges ignored drift into this spec, which the configuration requires. `applied` is the spec that it required at
    /// the last apply, and `found` the one in AWS.
    pub fn merged(&self, applied: &Spec, found: &Spec, context: &MergeContext<'_>) -> Merged {
        let fields = expanded([self, applied, found]);
        let [wanted, before, now] = units(&fields);
        let all: BTreeSet<&Unit> = wanted.keys().chain(before.keys()).chain(now.keys()).collect();
        let (mut merged, mut overwritten) = (BTreeMap::new(), Vec::new());
        for unit in all {
            let parts = together(unit, &wanted);
            let differs = |one: &Units, other: &Units| parts.iter().any(|part| one.get(part) != other.get(part));
            let found: Vec<Ref> = parts.iter().filter_map(|part| now.get(part)).flat_map(references).collect();
            let has_drifted = differs(&now, &before) && !context.attempted.contains(&name(&parts[0]));
            let is_deleted = found.iter().any(|it| matches!(it, Ref::Key(key) if (context.is_deleted)(key)));
            let follows = context.follows.contains(&unit.0.as_str()) && !found.iter().any(Ref::is_blackhole);
            let stays = has_drifted && !is_deleted && (follows || !differs(&wanted, &before));
            let value = if stays { now.get(unit) } else { wanted.get(unit) };
            merged.extend(value.map(|value| (unit.clone(), value.clone())));
            if has_drifted && !stays && parts[0] == *unit && differs(&now, &wanted) {
                overwritten.extend(overwriting(unit, now.get(unit), wanted.get(unit)));
            }
        }
        let [wanted, _, now] = &fields;
        let merged = Value::Object(rebuilt(merged, wanted, now));
        let mut spec: Spec =
            serde_json::from_value(merged).expect("units of specs of one kind are a spec of that kind");
        spec.make_consistent();
        Merged { spec, overwritten }
    }

    /// The names of the units in which another spec of the same kind differs.
    pub fn differing_units(&self, other: &Spec) -> BTreeSet<String> {
        let [mine, others] = units(&expanded([self, other]));
        let all = mine.keys().chain(others.keys());
        let differing = all.filter(|unit| mine.get(*unit) != others.get(*unit));
        differing.map(|unit| name(&together(unit, &mine)[0])).collect()
    }
}

type Units = BTreeMap<Unit, Value>;

/// The fields of specs of one kind. The properties of CORS configurations are fields of their own.
fn expanded<const N: usize>(specs: [&Spec; N]) -> [Fields; N] {
    let mut all = specs.map(Spec::fields);
    let is_known = |fields: &Fields| matches!(fields.get("cors"), Some(cors) if !is_unknown(cors));
    if all.iter().all(is_known) {
        for fields in &mut all {
            let cors = fields.remove("cors").filter(|cors| !cors.is_null()).unwrap_or_else(no_cors);
            let Value::Object(cors) = cors else { continue };
            fields.extend(cors.into_iter().map(|(field, value)| (format!("{CORS}{field}"), value)));
        }
    }
    all
}

fn no_cors() -> Value {
    serde_json::to_value(Cors::default()).expect("lists and scalars always serialize")
}

fn is_unknown(value: &Value) -> bool {
    value.get(UNKNOWN) == Some(&Value::Bool(true))
}

/// The units of specs of one kind. A property is divided if it is a set, or a map, in each of them.
fn units<const N: usize>(all: &[Fields; N]) -> [Units; N] {
    let is_divided = |field: &str| {
        all.iter().all(|fields| match fields.get(field) {
            Some(Value::Array(_)) => true,
            Some(map @ Value::Object(_)) => MAPS.contains(&field) && !is_unknown(map),
            _ => false,
        })
    };
    all.each_ref().map(|fields| {
        let mut units = Units::new();
        for (field, value) in fields {
            let element = |element: String, value: &Value| ((field.clone(), Some(element)), value.clone());
            match value {
                Value::Array(items) if is_divided(field) => {
                    units.extend(items.iter().map(|item| element(identity(item), item)));
                }
                Value::Object(tags) if is_divided(field) => {
                    units.extend(tags.iter().map(|(key, value)| element(key.clone(), value)));
                }
                _ => drop(units.insert((field.clone(), None), value.clone())),
            }
        }
        units
    })
}

/// What AWS identifies an element of a set by: a rule of a network ACL by its number, and one of a security group by
/// everything but its description. API Gateway may return headers and origins in another case.
fn identity(item: &Value) -> String {
    match item {
        Value::Object(rule) if rule.contains_key("rule_no") => rule["rule_no"].to_string(),
        Value::Object(rule) => {
            let identifying = rule.iter().filter(|(field, _)| *field != "description");
            Value::Object(identifying.map(|(field, value)| (field.clone(), value.clone())).collect()).to_string()
        }
        Value::String(text) => text.to_lowercase(),
        other => other.to_string(),
    }
}

/// The units that a unit is one of, the one that names them first.
fn together(unit: &Unit, units: &Units) -> Vec<Unit> {
    let (field, element) = unit;
    let scalar = |field: &str| (field.to_string(), None);
    let list = TOGETHER.iter().find(|list| list.contains(&field.as_str()) && units.contains_key(&scalar(list[0])));
    match list {
        Some(list) if element.is_none() => list.iter().map(|field| scalar(field)).collect(),
        _ => vec![unit.clone()],
    }
}

fn name((field, element): &Unit) -> String {
    element.as_ref().map_or_else(|| field.clone(), |element| format!("{field} {element}"))
}

/// The references in a value to other objects.
fn references(value: &Value) -> Vec<Ref> {
    let read = |value: &Value| {
        let key = serde_json::from_value::<Key>(value.clone()).map(Ref::Key);
        serde_json::from_value::<Ref>(value.clone()).or(key).ok()
    };
    match value {
        Value::Object(fields) => match read(value) {
            Some(reference) => vec![reference],
            None => fields.values().flat_map(references).collect(),
        },
        _ => Vec::new(),
    }
}

/// Describes a unit whose drift an update overwrites; `None` if the found rules stay, because an absent list of rules
/// leaves them.
fn overwriting((field, element): &Unit, found: Option<&Value>, required: Option<&Value>) -> Option<String> {
    let [found, required] = [found, required].map(|value| value.unwrap_or(&Value::Null));
    match (element, confidential(field)) {
        _ if found.is_array() && required.is_null() => None,
        (Some(key), Some(what)) => Some(format!("{what} {}", printable(key))),
        (Some(key), None) if MAPS.contains(&field.as_str()) => {
            Some(format!("{field} {} {} becomes {}", printable(key), phrase(field, found), phrase(field, required)))
        }
        _ => Some(format!("{field} {} becomes {}", phrase(field, found), phrase(field, required))),
    }
}

/// The fields with these units. `required` has the form of each field. Elements of sets are in its order, and found
/// ones come last. A set that stays as it was found keeps its order.
fn rebuilt(merged: Units, required: &Fields, found: &Fields) -> Fields {
    let mut divided: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    let mut fields = Fields::new();
    for ((field, element), value) in merged {
        match element {
            Some(element) => drop(divided.entry(field).or_default().insert(element, value)),
            None => drop(fields.insert(field, value)),
        }
    }
    for (field, form) in required.iter().filter(|(field, _)| !fields.contains_key(*field)).collect::<Vec<_>>() {
        let elements = divided.remove(field).unwrap_or_default();
        let value = match (form, found.get(field)) {
            (Value::Array(required), Some(Value::Array(found))) => Value::Array(in_order(elements, required, found)),
            _ => Value::Object(elements.into_iter().collect()),
        };
        fields.insert(field.clone(), value);
    }
    let cors: Vec<String> = fields.keys().filter(|field| field.starts_with(CORS)).cloned().collect();
    if !cors.is_empty() {
        let cors = cors.iter().filter_map(|field| Some((field[CORS.len()..].to_string(), fields.remove(field)?)));
        let cors = Value::Object(cors.collect());
        fields.insert("cors".to_string(), if cors == no_cors() { Value::Null } else { cors });
    }
    fields
}

fn in_order(mut elements: BTreeMap<String, Value>, required: &[Value], found: &[Value]) -> Vec<Value> {
    let is_as_found = found.len() == elements.len() && found.iter().all(|it| elements.get(&identity(it)) == Some(it));
    if is_as_found {
        return found.to_vec();
    }
    let mut items: Vec<Value> = required.iter().filter_map(|item| elements.remove(&identity(item))).collect();
    items.extend(elements.into_values());
    items
}
