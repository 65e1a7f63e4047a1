//! Decoding of values from the JSON of the state file, typed by the schema.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{AttributePath, Problem, Type, Value, number, types};

/// Decodes a value of a type. Attributes that the type does not have are dropped and missing ones are null, because the
/// schema may have changed since the state was written. Numbers keep every digit.
pub(super) fn decode(json: &[u8], kind: &Type) -> Result<Value, Problem> {
    let root = AttributePath::root();
    let raw: Box<RawValue> = serde_json::from_slice(json)
        .map_err(|error| type_mismatch(&root, &format!("The value is not JSON: {error}.")))?;
    from_json(&raw, kind, &root)
}

fn from_json(raw: &RawValue, kind: &Type, path: &AttributePath) -> Result<Value, Problem> {
    if raw.get() == "null" {
        return Ok(Value::Null);
    }
    Ok(match kind {
        Type::Bool => Value::Bool(parse(raw, "a bool", path)?),
        Type::Number => {
            // Terraform writes a number as a JSON number, but also accepts a string.
            let text = if raw.get().starts_with('"') { parse(raw, "a number", path)? } else { raw.get().to_string() };
            let number = number::parse(&text);
            Value::Number(number.ok_or_else(|| type_mismatch(path, "The value is not a finite number."))?)
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
                return Err(type_mismatch(path, &format!("The value is not a tuple of {} elements.", kinds.len())));
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
            let typed: Typed = parse(raw, "a pair of a type and a value", path)?;
            let kind = types::parse(typed.kind.get().as_bytes());
            let kind = kind.ok_or_else(|| type_mismatch(path, "The type of the value is invalid."))?;
            from_json(&typed.value, &kind, path)?
        }
    })
}

/// A value of dynamic type.
#[derive(serde::Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: Box<RawValue>,
    value: Box<RawValue>,
}

fn parse<T: DeserializeOwned>(raw: &RawValue, what: &str, path: &AttributePath) -> Result<T, Problem> {
    serde_json::from_str(raw.get()).map_err(|error| type_mismatch(path, &format!("The value is not {what}: {error}.")))
}

fn type_mismatch(path: &AttributePath, message: &str) -> Problem {
    Problem::new(
        path.clone(),
        message,
        "The stored state does not match the provider's schema. If the state was edited, restore it from a backup.",
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
            ("colors".to_string(), Type::Set(Box::new(Type::String))),
        ]))
    }

    #[test]
    fn new_attributes_are_null_and_removed_ones_are_dropped() {
        let json = br#"{"width": 0.1, "removed": {"a": [1]}, "parts": [{"old": true}, null], "tags": {"a": "b"}}"#;
        let expected = Value::map([
            ("width", Value::Number(Number::Decimal("0.1".to_string()))),
            ("locked", Value::Null),
            ("parts", Value::List(vec![Value::map([("name", Value::Null)]), Value::Null])),
            ("tags", Value::map([("a", Value::from("b"))])),
            ("colors", Value::Null),
        ]);
        assert_eq!(decode(json, &door()), Ok(expected));
    }

    #[test]
    fn numbers_keep_more_digits_than_a_double_has() {
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
    fn deeply_nested_json_does_not_overflow_the_stack() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(decode(format!(r#"{{"width": {deep}}}"#).as_bytes(), &door()).is_err());
        assert!(decode(format!(r#"{{"parts": {deep}}}"#).as_bytes(), &door()).is_err());
        let dropped = decode(format!(r#"{{"removed": {deep}}}"#).as_bytes(), &door()).unwrap();
        assert_eq!(dropped.get("width"), &Value::Null);
    }
}
