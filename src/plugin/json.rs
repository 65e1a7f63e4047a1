//! Values in the form of the state file: JSON, typed by the schema.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{AttributePath, Problem, Type, Value, number, types};

/// Reads a value of a type. Attributes that the type does not have are dropped and missing ones are null, for
/// the schema may have gained and lost some since the state was written. Numbers keep every digit.
pub(super) fn decode(json: &[u8], kind: &Type) -> Result<Value, Problem> {
    let root = AttributePath::root();
    let raw: Box<RawValue> =
        serde_json::from_slice(json).map_err(|error| type_mismatch(&root, &format!("It is not JSON: {error}.")))?;
    from_json(&raw, kind, &root)
}

fn from_json(raw: &RawValue, kind: &Type, path: &AttributePath) -> Result<Value, Problem> {
    if raw.get() == "null" {
        return Ok(Value::Null);
    }
    Ok(match kind {
        Type::Bool => Value::Bool(parse(raw, "a bool", path)?),
        Type::Number => {
            // Terraform writes a number as such, but accepts it as a string.
            let text = if raw.get().starts_with('"') { parse(raw, "a number", path)? } else { raw.get().to_string() };
            Value::Number(number::parse(&text).ok_or_else(|| type_mismatch(path, "It is not a finite number."))?)
        }
        Type::String => Value::String(parse(raw, "a string", path)?),
        Type::List(kind) => {
            let items: Vec<Box<RawValue>> = parse(raw, "a list", path)?;
            let items = items.iter().enumerate();
            Value::List(items.map(|(index, item)| from_json(item, kind, &path.index(index))).collect::<Result<_, _>>()?)
        }
        Type::Tuple(kinds) => {
            let items: Vec<Box<RawValue>> = parse(raw, "a tuple", path)?;
            if items.len() != kinds.len() {
                return Err(type_mismatch(path, &format!("It is not a tuple of {}.", kinds.len())));
            }
            let items = items.iter().zip(kinds).enumerate();
            let items = items.map(|(index, (item, kind))| from_json(item, kind, &path.index(index)));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        Type::Set(kind) => {
            let items: Vec<Box<RawValue>> = parse(raw, "a set", path)?;
            Value::List(items.iter().map(|item| from_json(item, kind, path)).collect::<Result<_, _>>()?)
        }
        Type::Map(kind) => {
            let entries: BTreeMap<String, Box<RawValue>> = parse(raw, "a map", path)?;
            let mut decoded = BTreeMap::new();
            for (key, item) in entries {
                let item = from_json(&item, kind, &path.key(&key))?;
                decoded.insert(key, item);
            }
            Value::Map(decoded)
        }
        Type::Object(attributes) => {
            let entries: BTreeMap<String, Box<RawValue>> = parse(raw, "an object", path)?;
            let mut decoded = BTreeMap::new();
            for (name, kind) in attributes {
                let value = match entries.get(name) {
                    Some(item) => from_json(item, kind, &path.attribute(name))?,
                    None => Value::Null,
                };
                decoded.insert(name.clone(), value);
            }
            Value::Map(decoded)
        }
        Type::Dynamic => {
            let typed: Typed = parse(raw, "a value with its type", path)?;
            let kind = types::parse(typed.kind.get().as_bytes());
            from_json(&typed.value, &kind.ok_or_else(|| type_mismatch(path, "Its type is none."))?, path)?
        }
    })
}

/// A value of any type.
#[derive(serde::Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: Box<RawValue>,
    value: Box<RawValue>,
}

fn parse<T: DeserializeOwned>(raw: &RawValue, what: &str, path: &AttributePath) -> Result<T, Problem> {
    serde_json::from_str(raw.get()).map_err(|error| type_mismatch(path, &format!("It is not {what}: {error}.")))
}

fn type_mismatch(path: &AttributePath, message: &str) -> Problem {
    Problem::new(
        path.clone(),
        message,
        "The stored state does not fit the provider's schema. If it was edited, restore it from the state's backup.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::Number;

    fn door() -> Type {
        let part = Type::Object(BTreeMap::from([("name".to_string(), Type::String)]));
        Type::Object(BTreeMap::from([
            ("width".to_string(), Type::Number),
            ("locked".to_string(), Type::Bool),
            ("parts".to_string(), Type::List(Box::new(part))),
            ("tags".to_string(), Type::Map(Box::new(Type::String))),
            ("colours".to_string(), Type::Set(Box::new(Type::String))),
        ]))
    }

    #[test]
    fn attributes_that_came_are_null_and_attributes_that_went_are_dropped_at_every_depth() {
        let json = br#"{"width": 0.1, "gone": {"a": [1]}, "parts": [{"old": true}, null], "tags": {"a": "b"}}"#;
        let expected = Value::map([
            ("width", Value::Number(Number::Decimal("0.1".to_string()))),
            ("locked", Value::Null),
            ("parts", Value::List(vec![Value::map([("name", Value::Null)]), Value::Null])),
            ("tags", Value::map([("a", Value::from("b"))])),
            ("colours", Value::Null),
        ]);
        assert_eq!(decode(json, &door()), Ok(expected));
    }

    #[test]
    fn a_number_keeps_digits_that_no_double_has() {
        let decoded = decode(br#"{"width": 3.14159265358979323846264338327950288}"#, &door()).unwrap();
        let digits = Number::Decimal("3.14159265358979323846264338327950288".to_string());
        assert_eq!(decoded.get("width"), &Value::Number(digits));
        assert_eq!(decode(br#"{"width": "12"}"#, &door()).unwrap().get("width"), &Value::from(12));
    }

    #[test]
    fn a_wrong_type_is_reported_with_its_path() {
        let problem = decode(br#"{"parts": [{"name": 1}]}"#, &door()).unwrap_err();
        assert_eq!(problem.path.to_string(), "parts[0].name");
        assert!(decode(b"{", &door()).is_err());
        assert!(decode(b"", &door()).is_err());
    }

    #[test]
    fn json_that_nests_without_end_is_no_danger() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(decode(format!(r#"{{"width": {deep}}}"#).as_bytes(), &door()).is_err());
        assert!(decode(format!(r#"{{"parts": {deep}}}"#).as_bytes(), &door()).is_err());
        let dropped = decode(format!(r#"{{"gone": {deep}}}"#).as_bytes(), &door()).unwrap();
        assert_eq!(dropped.get("width"), &Value::Null);
    }
}
