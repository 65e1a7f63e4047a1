//! Values in the form in which they travel between Terraform and a provider: msgpack, typed by the schema.

use std::collections::BTreeMap;

use super::{AttributePath, Number, Problem, Type, Value, number};

/// How deep a value may be nested. Schemas are a handful of levels deep; the limit is there for a peer that
/// sends nonsense. The decoder counts two to three for each level.
const DEPTH_LIMIT: usize = 200;

/// Terraform's own marker for "unknown": extension 0 with a body of one byte.
const UNKNOWN: (i8, [u8; 1]) = (0, [0]);

/// Reads a value of a type. What does not fit the type is a problem with its path.
pub(super) fn decode(bytes: &[u8], kind: &Type) -> Result<Value, Problem> {
    let mut rest = bytes;
    let wire = rmpv::decode::read_value_with_max_depth(&mut rest, DEPTH_LIMIT)
        .map_err(|error| misfit(&AttributePath::root(), format!("The value is not valid msgpack: {error}.")))?;
    if !rest.is_empty() {
        let message = format!("{} bytes follow the value.", rest.len());
        return Err(misfit(&AttributePath::root(), message));
    }
    from_wire(wire, kind, &AttributePath::root())
}

/// Writes a value of a type. What does not fit the type is written as null and reported, so that a mistake in
/// one attribute does not cost the whole state.
pub(super) fn encode(value: &Value, kind: &Type) -> (Vec<u8>, Vec<Problem>) {
    let mut problems = Vec::new();
    let wire = to_wire(value, kind, &AttributePath::root(), &mut problems);
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &wire).expect("writing to memory does not fail");
    (bytes, problems)
}

fn from_wire(wire: rmpv::Value, kind: &Type, path: &AttributePath) -> Result<Value, Problem> {
    Ok(match (kind, wire) {
        (_, rmpv::Value::Nil) => Value::Null,
        // Extension 0 is a plain unknown, 12 one of which Terraform knows a prefix, bounds or a length. Whatever
        // later versions add is an unknown, too.
        (_, rmpv::Value::Ext(..)) => Value::Unknown,
        (Type::Bool, rmpv::Value::Boolean(value)) => Value::Bool(value),
        (Type::Number, wire) => Value::Number(number_from_wire(wire, path)?),
        (Type::String, rmpv::Value::String(text)) => Value::String(utf8(text, path)?),
        (Type::List(kind), rmpv::Value::Array(items)) => {
            let items = items.into_iter().enumerate();
            Value::List(items.map(|(index, item)| from_wire(item, kind, &path.index(index))).collect::<Result<_, _>>()?)
        }
        // An element of a set has no path of its own.
        (Type::Set(kind), rmpv::Value::Array(items)) => {
            Value::List(items.into_iter().map(|item| from_wire(item, kind, path)).collect::<Result<_, _>>()?)
        }
        (Type::Map(kind), rmpv::Value::Map(entries)) => {
            let mut decoded = BTreeMap::new();
            for (key, item) in entries {
                let key = key_from_wire(key, path)?;
                let item = from_wire(item, kind, &path.key(&key))?;
                decoded.insert(key, item);
            }
            Value::Map(decoded)
        }
        (Type::Object(attributes), rmpv::Value::Map(entries)) => {
            let mut decoded: BTreeMap<String, Value> =
                attributes.keys().map(|name| (name.clone(), Value::Null)).collect();
            for (name, item) in entries {
                let name = key_from_wire(name, path)?;
                let path = path.attribute(&name);
                let Some(kind) = attributes.get(&name) else {
                    return Err(misfit(&path, "The schema has no such attribute.".to_string()));
                };
                decoded.insert(name, from_wire(item, kind, &path)?);
            }
            Value::Map(decoded)
        }
        (kind, _) => return Err(misfit(path, format!("It is not {}.", in_words(kind)))),
    })
}

fn number_from_wire(wire: rmpv::Value, path: &AttributePath) -> Result<Number, Problem> {
    let number = match &wire {
        rmpv::Value::Integer(integer) => integer.as_i64().map(Number::Int).or(integer.as_u64().map(number::from_u64)),
        rmpv::Value::F32(float) if float.is_finite() => Some(number::from_f64(f64::from(*float))),
        rmpv::Value::F64(float) if float.is_finite() => Some(number::from_f64(*float)),
        rmpv::Value::String(text) => text.as_str().and_then(number::parse),
        _ => None,
    };
    number.ok_or_else(|| misfit(path, "It is not a finite number.".to_string()))
}

fn key_from_wire(key: rmpv::Value, path: &AttributePath) -> Result<String, Problem> {
    match key {
        rmpv::Value::String(text) => utf8(text, path),
        _ => Err(misfit(path, "A key of it is not a string.".to_string())),
    }
}

fn utf8(text: rmpv::Utf8String, path: &AttributePath) -> Result<String, Problem> {
    text.into_str().ok_or_else(|| misfit(path, "A string of it is not UTF-8.".to_string()))
}

fn to_wire(value: &Value, kind: &Type, path: &AttributePath, problems: &mut Vec<Problem>) -> rmpv::Value {
    match (kind, value) {
        (_, Value::Unknown) => rmpv::Value::Ext(UNKNOWN.0, UNKNOWN.1.to_vec()),
        (_, Value::Null) => rmpv::Value::Nil,
        (Type::Bool, Value::Bool(value)) => rmpv::Value::Boolean(*value),
        (Type::Number, Value::Number(Number::Int(number))) => rmpv::Value::from(*number),
        // Terraform ends with a panic when it is sent "not a number".
        (Type::Number, Value::Number(Number::Float(number))) if number.is_finite() => rmpv::Value::F64(*number),
        (Type::Number, Value::Number(Number::Decimal(text))) if number::parse(text).is_some() => {
            rmpv::Value::from(text.as_str())
        }
        (Type::String, Value::String(text)) => rmpv::Value::from(text.as_str()),
        (Type::List(kind), Value::List(items)) => rmpv::Value::Array(
            items.iter().enumerate().map(|(index, item)| to_wire(item, kind, &path.index(index), problems)).collect(),
        ),
        (Type::Set(kind), Value::List(items)) => {
            rmpv::Value::Array(items.iter().map(|item| to_wire(item, kind, path, problems)).collect())
        }
        (Type::Map(kind), Value::Map(entries)) => {
            let entries = entries.iter();
            rmpv::Value::Map(
                entries
                    .map(|(key, item)| (rmpv::Value::from(key.as_str()), to_wire(item, kind, &path.key(key), problems)))
                    .collect(),
            )
        }
        (Type::Object(attributes), Value::Map(entries)) => {
            for name in entries.keys().filter(|name| !attributes.contains_key(*name)) {
                problems.push(misfit(&path.attribute(name), "The schema has no such attribute.".to_string()));
            }
            // Terraform drops a whole state that lacks one attribute, so every attribute is written.
            let attributes = attributes.iter();
            rmpv::Value::Map(
                attributes
                    .map(|(name, kind)| {
                        let item = to_wire(value.get(name), kind, &path.attribute(name), problems);
                        (rmpv::Value::from(name.as_str()), item)
                    })
                    .collect(),
            )
        }
        (kind, _) => {
            problems.push(misfit(path, format!("It is not {}.", in_words(kind))));
            rmpv::Value::Nil
        }
    }
}

pub(super) fn misfit(path: &AttributePath, message: String) -> Problem {
    Problem::new(
        path.clone(),
        message,
        "Terraform and the provider disagree about the schema, which no configuration can cause: please report it.",
    )
}

pub(super) fn in_words(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "a bool",
        Type::Number => "a finite number",
        Type::String => "a string",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Map(_) => "a map",
        Type::Object(_) => "an object",
    }
}
