//! The values that Terraform sends and receives, without their types.

use std::collections::{BTreeMap, BTreeSet};

/// A value of Terraform's type system. Sets and tuples are represented as lists, and objects as maps. The schema
/// distinguishes them, not the value.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Value {
    /// Known only after apply.
    Unknown,
    /// Not set.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A number of any size and precision.
    Number(Number),
    /// A string.
    String(String),
    /// A list, set or tuple.
    List(Vec<Value>),
    /// A map or object.
    Map(BTreeMap<String, Value>),
}

/// A number. Terraform's numbers have arbitrary precision. A number that neither an `i64` nor an `f64` represents
/// exactly keeps the decimal text that Terraform sent.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Number {
    /// A whole number that fits 64 bits.
    Int(i64),
    /// A fraction that a double represents exactly.
    Float(f64),
    /// Any other number, in decimal notation.
    Decimal(String),
}

impl Value {
    /// A map of these pairs of key and value.
    pub fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Whether this value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether this value itself is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown)
    }

    /// Whether this value is an empty collection or string.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::String(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            Value::Unknown | Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Whether no part of this value is unknown.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Value::Unknown => false,
            Value::List(items) => items.iter().all(Value::is_wholly_known),
            Value::Map(entries) => entries.values().all(Value::is_wholly_known),
            _ => true,
        }
    }

    /// This value with every unknown part replaced by null, for the state after a failed apply. Terraform rejects
    /// unknown values in a state, and drops a state of the wrong shape.
    pub fn without_unknowns(self) -> Value {
        match self {
            Value::Unknown => Value::Null,
            Value::List(items) => Value::List(items.into_iter().map(Value::without_unknowns).collect()),
            Value::Map(entries) => {
                Value::Map(entries.into_iter().map(|(key, value)| (key, value.without_unknowns())).collect())
            }
            other => other,
        }
    }

    /// This value with every unknown part replaced by that part of another value of the same shape.
    #[must_use]
    pub fn with_unknowns_from(self, other: &Value) -> Value {
        match (self, other) {
            (Value::Unknown, other) => other.clone(),
            (Value::List(items), Value::List(others)) if items.len() == others.len() => {
                let pairs = items.into_iter().zip(others);
                Value::List(pairs.map(|(item, other)| item.with_unknowns_from(other)).collect())
            }
            (Value::Map(entries), other) => {
                let filled = |(key, value): (String, Value)| {
                    let value = value.with_unknowns_from(other.get(&key));
                    (key, value)
                };
                Value::Map(entries.into_iter().map(filled).collect())
            }
            (known, _) => known,
        }
    }

    /// The parts that this value has in common with another one. All other parts are unknown.
    #[must_use]
    pub fn in_common_with(self, other: &Value) -> Value {
        match (self, other) {
            (value, other) if value == *other => value,
            (Value::List(items), Value::List(others)) if items.len() == others.len() => {
                let pairs = items.into_iter().zip(others);
                Value::List(pairs.map(|(item, other)| item.in_common_with(other)).collect())
            }
            (Value::Map(entries), Value::Map(others)) if entries.keys().eq(others.keys()) => {
                let pairs = entries.into_iter().zip(others.values());
                Value::Map(pairs.map(|((key, value), other)| (key, value.in_common_with(other))).collect())
            }
            _ => Value::Unknown,
        }
    }

    /// The attribute or map element of this name. Null if this value is not a map or has no such element.
    pub fn get(&self, name: &str) -> &Value {
        match self {
            Value::Map(entries) => entries.get(name).unwrap_or(&Value::Null),
            _ => &Value::Null,
        }
    }

    /// Sets an attribute of an object. Replaces a value that is not a map by a map.
    pub fn set(&mut self, name: &str, value: Value) {
        if !matches!(self, Value::Map(_)) {
            *self = Value::Map(BTreeMap::new());
        }
        if let Value::Map(entries) = self {
            entries.insert(name.to_string(), value);
        }
    }

    /// The string, if this value is a known string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of an object or map; none of another value.
    pub fn into_map(self) -> BTreeMap<String, Value> {
        match self {
            Value::Map(entries) => entries,
            _ => BTreeMap::new(),
        }
    }

    /// The entries, if this value is a known map or object.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Value>> {
        match self {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }
}

impl Number {
    /// The number as an `i64`, if it is a whole number that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Number::Int(number) => Some(*number),
            Number::Float(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(*number as i64),
            Number::Float(_) | Number::Decimal(_) => None,
        }
    }

    /// The nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        match self {
            Number::Int(number) => *number as f64,
            Number::Float(number) => *number,
            Number::Decimal(text) => text.parse().unwrap_or(f64::NAN),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(number) => number.fmt(f),
            Number::Float(number) => number.fmt(f),
            Number::Decimal(text) => f.write_str(text),
        }
    }
}

impl std::fmt::Display for Value {
    /// Formats the value in the syntax of a configuration.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Unknown => f.write_str("(known after apply)"),
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(value) => value.fmt(f),
            Value::String(value) => write!(f, "{value:?}"),
            Value::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{} {key:?} = {value}", if index > 0 { "," } else { "" })?;
                }
                f.write_str(" }")
            }
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Number(Number::Int(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Number(Number::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::String(value.to_string())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<BTreeSet<T>> for Value {
    fn from(items: BTreeSet<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<BTreeMap<String, T>> for Value {
    fn from(entries: BTreeMap<String, T>) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_common_parts_stay_known_and_lists_and_maps_keep_their_shape() {
        let value = |id: &str, ids: &[&str], last: &str| {
            let entries = Value::map([("id", Value::from(id)), (last, Value::Null)]);
            Value::map([("entries", entries), ("ids", Value::List(ids.iter().map(|id| (*id).into()).collect()))])
        };
        let one = value("a", &["a", "b"], "last");
        assert_eq!(one.clone().in_common_with(&one), one);
        let common = one.clone().in_common_with(&value("b", &["a", "c"], "last"));
        assert_eq!(*common.get("entries"), Value::map([("id", Value::Unknown), ("last", Value::Null)]));
        assert_eq!(*common.get("ids"), Value::List(vec!["a".into(), Value::Unknown]));
        let common = one.in_common_with(&value("a", &["a"], "other"));
        assert_eq!(common, Value::map([("entries", Value::Unknown), ("ids", Value::Unknown)]));
    }

    #[test]
    fn unknown_parts_are_filled_from_another_value() {
        let planned = Value::map([
            ("kept", true.into()),
            ("unknown", Value::Unknown),
            ("map", Value::map([("a", Value::Unknown), ("b", "planned".into())])),
            ("list", Value::List(vec![Value::Unknown, 1_i64.into()])),
        ]);
        let config = Value::map([
            ("kept", false.into()),
            ("unknown", "now known".into()),
            ("map", Value::map([("a", Value::from("now known")), ("b", "configured".into())])),
            ("list", Value::List(vec![0_i64.into(), 2_i64.into()])),
        ]);
        let filled = planned.with_unknowns_from(&config);
        assert_eq!((filled.get("kept"), filled.get("unknown")), (&true.into(), &"now known".into()));
        assert_eq!(*filled.get("map"), Value::map([("a", Value::from("now known")), ("b", "planned".into())]));
        assert_eq!(*filled.get("list"), Value::List(vec![0_i64.into(), 1_i64.into()]));
    }
}
