//! Encoding of values on the wire between Terraform and a provider: msgpack, typed by the schema.

use std::collections::BTreeMap;

use super::{AttributePath, Number, Problem, Type, Value, number, types};

/// The maximum nesting depth of a value. Schemas have a handful of levels; the limit protects against malformed input.
/// The decoder counts two to three for each level.
const DEPTH_LIMIT: usize = 200;

/// Terraform's marker for an unknown value: extension 0 with a body of one byte.
const UNKNOWN: (i8, [u8; 1]) = (0, [0]);

/// Decodes a value of a type. The error has the path of the part that does not match the type.
pub(super) fn decode(bytes: &[u8], kind: &Type) -> Result<Value, Problem> {
    let mut rest = bytes;
    let wire = rmpv::decode::read_value_with_max_depth(&mut rest, DEPTH_LIMIT)
        .map_err(|error| type_mismatch(&AttributePath::root(), format!("The value is not valid msgpack: {error}.")))?;
    if holds_reserved_byte(bytes) {
        return Err(type_mismatch(
            &AttributePath::root(),
            "The value is not valid msgpack: it has the reserved marker 0xc1.".to_string(),
        ));
    }
    if !rest.is_empty() {
        let message = format!("The value is followed by {} more bytes.", rest.len());
        return Err(type_mismatch(&AttributePath::root(), message));
    }
    from_wire(wire, kind, &AttributePath::root())
}

/// Whether one of the markers is 0xc1, which msgpack reserves. The decoder treats it as nil, so that a corrupted
/// attribute would be decoded as not set.
fn holds_reserved_byte(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(marker) = bytes.get(at) {
        let length = |width: usize| {
            let digits = bytes.get(at + 1..at + 1 + width).unwrap_or_default();
            1 + width + digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit))
        };
        at += match marker {
            0xc1 => return true,
            0xa0..=0xbf => 1 + usize::from(marker & 0x1f),
            0xc4 | 0xd9 => length(1),
            0xc5 | 0xda => length(2),
            0xc6 | 0xdb => length(4),
            // Extensions have a byte for their kind.
            0xc7 => 1 + length(1),
            0xc8 => 1 + length(2),
            0xc9 => 1 + length(4),
            0xd4..=0xd8 => 2 + (1 << (marker - 0xd4)),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 | 0xdc | 0xde => 3,
            0xca | 0xce | 0xd2 | 0xdd | 0xdf => 5,
            0xcb | 0xcf | 0xd3 => 9,
            // Small numbers, nil, bools, and short maps and lists, whose elements follow.
            _ => 1,
        };
    }
    false
}

/// Encodes a value of a type. A part that does not match the type is encoded as null and reported, so that one invalid
/// attribute does not lose the whole state.
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
        // Extension 0 is a plain unknown value, and 12 is one with a known prefix, bounds or length. An extension of a
        // later version is an unknown value, too.
        (_, rmpv::Value::Ext(..)) => Value::Unknown,
        (Type::Bool, rmpv::Value::Boolean(value)) => Value::Bool(value),
        (Type::Number, wire) => Value::Number(number_from_wire(wire, path)?),
        (Type::String, rmpv::Value::String(text)) => Value::String(utf8(text, path)?),
        (Type::List(kind), rmpv::Value::Array(items)) => {
            let items = items.into_iter().enumerate();
            Value::List(items.map(|(index, item)| from_wire(item, kind, &path.index(index))).collect::<Result<_, _>>()?)
        }
        (Type::Tuple(kinds), rmpv::Value::Array(items)) if items.len() == kinds.len() => {
            let items = items.into_iter().zip(kinds).enumerate();
            let items = items.map(|(index, (item, kind))| from_wire(item, kind, &path.index(index)));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        (Type::Dynamic, rmpv::Value::Array(parts)) => dynamic_from_wire(parts, path)?,
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
                    return Err(type_mismatch(&path, "The schema has no such attribute.".to_string()));
                };
                decoded.insert(name, from_wire(item, kind, &path)?);
            }
            Value::Map(decoded)
        }
        (kind, _) => return Err(type_mismatch(path, format!("The value is not {}.", in_words(kind)))),
    })
}

/// Decodes a value of dynamic type: a list of its type, in JSON, and the value itself.
fn dynamic_from_wire(parts: Vec<rmpv::Value>, path: &AttributePath) -> Result<Value, Problem> {
    let wrong = || type_mismatch(path, format!("The value is not {}.", in_words(&Type::Dynamic)));
    let [kind, wire]: [rmpv::Value; 2] = parts.try_into().map_err(|_| wrong())?;
    let text = match &kind {
        rmpv::Value::Binary(text) => text.as_slice(),
        rmpv::Value::String(text) => text.as_bytes(),
        _ => return Err(wrong()),
    };
    from_wire(wire, &types::parse(text).ok_or_else(wrong)?, path)
}

fn number_from_wire(wire: rmpv::Value, path: &AttributePath) -> Result<Number, Problem> {
    let number = match &wire {
        rmpv::Value::Integer(integer) => integer.as_i64().map(Number::Int).or(integer.as_u64().map(number::from_u64)),
        rmpv::Value::F32(float) if float.is_finite() => Some(number::from_f64(f64::from(*float))),
        rmpv::Value::F64(float) if float.is_finite() => Some(number::from_f64(*float)),
        rmpv::Value::String(text) => text.as_str().and_then(number::parse),
        _ => None,
    };
    number.ok_or_else(|| type_mismatch(path, "The value is not a finite number.".to_string()))
}

fn key_from_wire(key: rmpv::Value, path: &AttributePath) -> Result<String, Problem> {
    match key {
        rmpv::Value::String(text) => utf8(text, path),
        _ => Err(type_mismatch(path, "A key is not a string.".to_string())),
    }
}

fn utf8(text: rmpv::Utf8String, path: &AttributePath) -> Result<String, Problem> {
    text.into_str().ok_or_else(|| type_mismatch(path, "A string is not valid UTF-8.".to_string()))
}

fn to_wire(value: &Value, kind: &Type, path: &AttributePath, problems: &mut Vec<Problem>) -> rmpv::Value {
    match (kind, value) {
        (_, Value::Unknown) => rmpv::Value::Ext(UNKNOWN.0, UNKNOWN.1.to_vec()),
        (_, Value::Null) => rmpv::Value::Nil,
        (Type::Bool, Value::Bool(value)) => rmpv::Value::Boolean(*value),
        (Type::Number, Value::Number(Number::Int(number))) => rmpv::Value::from(*number),
        // Terraform panics on NaN.
        (Type::Number, Value::Number(Number::Float(number))) if number.is_finite() => rmpv::Value::F64(*number),
        (Type::Number, Value::Number(Number::Decimal(text))) if number::parse(text).is_some() => {
            rmpv::Value::from(text.as_str())
        }
        (Type::String, Value::String(text)) => rmpv::Value::from(text.as_str()),
        (Type::List(kind), Value::List(items)) => rmpv::Value::Array(
            items.iter().enumerate().map(|(index, item)| to_wire(item, kind, &path.index(index), problems)).collect(),
        ),
        (Type::Tuple(kinds), Value::List(items)) if items.len() == kinds.len() => {
            let items = items.iter().zip(kinds).enumerate();
            let items = items.map(|(index, (item, kind))| to_wire(item, kind, &path.index(index), problems));
            rmpv::Value::Array(items.collect())
        }
        (Type::Dynamic, value) => {
            let kind = types::of(value);
            let item = to_wire(value, &kind, path, problems);
            rmpv::Value::Array(vec![rmpv::Value::Binary(types::to_json(&kind).to_string().into_bytes()), item])
        }
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
                problems.push(type_mismatch(&path.attribute(name), "The schema has no such attribute.".to_string()));
            }
            // Terraform drops the whole state if one attribute is missing, so every attribute is encoded.
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
            problems.push(type_mismatch(path, format!("The value is not {}.", in_words(kind))));
            rmpv::Value::Nil
        }
    }
}

pub(super) fn type_mismatch(path: &AttributePath, message: String) -> Problem {
    Problem::new(
        path.clone(),
        message,
        "Terraform and the provider use different schemas, which no configuration can cause. Report this as a bug.",
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
        Type::Tuple(_) => "a tuple of that length",
        Type::Object(_) => "an object",
        Type::Dynamic => "a pair of a type and a value",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn object<const N: usize>(attributes: [(&str, Type); N]) -> Type {
        Type::Object(attributes.into_iter().map(|(name, kind)| (name.to_string(), kind)).collect())
    }

    fn bytes(wire: &rmpv::Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, wire).unwrap();
        bytes
    }

    fn decoded(wire: rmpv::Value, kind: &Type) -> Value {
        decode(&bytes(&wire), kind).unwrap()
    }

    fn encoded(value: impl Into<Value>, kind: &Type) -> Vec<u8> {
        let (bytes, problems) = encode(&value.into(), kind);
        assert_eq!(problems, []);
        bytes
    }

    #[test]
    fn every_form_of_a_number_is_read() {
        let number = |wire: rmpv::Value| decoded(wire, &Type::Number);
        assert_eq!(number(rmpv::Value::from(-7)), Value::from(-7));
        assert_eq!(number(rmpv::Value::from(3.0)), Value::from(3));
        assert_eq!(number(rmpv::Value::F32(0.5)), Value::Number(Number::Float(0.5)));
        assert_eq!(number(rmpv::Value::from("0.1")), Value::Number(Number::Decimal("0.1".to_string())));
        let large = Value::Number(Number::Decimal(u64::MAX.to_string()));
        assert_eq!(number(rmpv::Value::from(u64::MAX)), large);
        assert_eq!(number(rmpv::Value::from(u64::MAX.to_string())), large);
    }

    #[test]
    fn a_number_is_written_as_terraform_writes_it() {
        assert_eq!(encoded(5, &Type::Number), [0x05]);
        assert_eq!(encoded(-1, &Type::Number), [0xff]);
        assert_eq!(encoded(Value::Number(Number::Float(1.5)), &Type::Number), bytes(&rmpv::Value::F64(1.5)));
        let tenth = Value::Number(Number::Decimal("0.1".to_string()));
        assert_eq!(encoded(tenth, &Type::Number), b"\xa30.1");
    }

    #[test]
    fn invalid_numbers_are_encoded_as_null() {
        for number in [Number::Float(f64::NAN), Number::Float(f64::INFINITY), Number::Decimal("one".to_string())] {
            let (bytes, problems) = encode(&Value::Number(number), &Type::Number);
            assert_eq!((&bytes[..], problems.len()), (&[0xc0][..], 1));
        }
    }

    #[test]
    fn unknowns_are_read_from_any_extension_and_sent_as_extension_0() {
        for (extension, body) in
            [(0, vec![]), (0, vec![0]), (12, vec![0x81, 0x01, 0xc2]), (12, vec![9; 300]), (99, vec![])]
        {
            for kind in [Type::Bool, Type::String, Type::Map(Box::new(Type::String)), object([])] {
                assert_eq!(decoded(rmpv::Value::Ext(extension, body.clone()), &kind), Value::Unknown);
            }
        }
        assert_eq!(encoded(Value::Unknown, &Type::String), [0xd4, 0, 0]);
    }

    #[test]
    fn every_attribute_of_an_object_is_written_and_read() {
        let kind = object([("a", Type::String), ("b", Type::Bool)]);
        let expected = Value::map([("a", Value::Null), ("b", Value::from(true))]);
        let wire = rmpv::Value::Map(vec![("b".into(), true.into())]);
        assert_eq!(decoded(wire, &kind), expected);
        assert_eq!(encoded(Value::map([("b", Value::from(true))]), &kind), b"\x82\xa1a\xc0\xa1b\xc3");
    }

    #[test]
    fn decoding_reports_type_mismatches_with_their_path() {
        let kind = object([("doors", Type::List(Box::new(object([("tags", Type::Map(Box::new(Type::String)))]))))]);
        let tags = rmpv::Value::Map(vec![("x".into(), 1.into())]);
        let doors = rmpv::Value::Array(vec![rmpv::Value::Map(vec![("tags".into(), tags)])]);
        let problem = decode(&bytes(&rmpv::Value::Map(vec![("doors".into(), doors)])), &kind).unwrap_err();
        assert_eq!(problem.path.to_string(), r#"doors[0].tags["x"]"#);
        let problem = decode(&bytes(&rmpv::Value::Map(vec![("windows".into(), 1.into())])), &kind).unwrap_err();
        assert_eq!(problem.path.to_string(), "windows");
    }

    #[test]
    fn encoding_replaces_type_mismatches_with_null() {
        let kind = object([("id", Type::String), ("width", Type::Number)]);
        let state = Value::map([("id", Value::from("d-1")), ("width", Value::from("wide")), ("extra", Value::Null)]);
        let (bytes, problems) = encode(&state, &kind);
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(paths, ["extra", "width"]);
        let kept = Value::map([("id", Value::from("d-1")), ("width", Value::Null)]);
        assert_eq!(decode(&bytes, &kind), Ok(kept));
    }

    #[test]
    fn the_reserved_byte_is_not_decoded_as_null() {
        assert!(decode(&[0xc1], &Type::Bool).is_err());
        let kind = Type::List(Box::new(Type::String));
        assert!(decode(&[0x91, 0xc1], &kind).is_err());
        let long = "x".repeat(70_000);
        for before in [
            rmpv::Value::from("a"),
            long.as_str().into(),
            long[..200].into(),
            long[..300].into(),
            rmpv::Value::Ext(0, vec![0]),
            rmpv::Value::Ext(12, vec![0xc1; 3]),
            rmpv::Value::Ext(12, vec![0xc1; 300]),
            rmpv::Value::Nil,
        ] {
            let whole = bytes(&rmpv::Value::Array(vec![before.clone(), "\u{c1}".into()]));
            assert!(decode(&whole, &kind).is_ok(), "{before:.40}");
            let broken = [&[0x92], &bytes(&before)[..], &[0xc1]].concat();
            assert!(decode(&broken, &kind).is_err(), "{before:.40}");
        }
        let numbers =
            [1.into(), (-7).into(), 200.into(), 70_000.into(), i64::MIN.into(), 0.5.into(), rmpv::Value::F32(0.5)];
        for number in numbers {
            let kind = Type::List(Box::new(Type::Number));
            assert!(decode(&[&[0x91], &bytes(&number)[..]].concat(), &kind).is_ok(), "{number}");
            assert!(decode(&[&[0x92], &bytes(&number)[..], &[0xc1]].concat(), &kind).is_err(), "{number}");
        }
    }

    #[test]
    fn deep_nesting_and_trailing_bytes_are_rejected() {
        let kind = Type::List(Box::new(Type::Bool));
        assert!(decode(&[0x91; 100_000], &kind).is_err());
        assert!(decode(&[0x90, 0x90], &kind).is_err());
        assert!(decode(&[], &kind).is_err());
        // The header of a list of 2^32 - 1 elements, without any element.
        assert!(decode(&[0xdd, 0xff, 0xff, 0xff, 0xff], &kind).is_err());
        assert!(decode(b"\xa1\xff", &Type::String).is_err());
    }

    fn typed_value() -> impl Strategy<Value = (Type, Value)> {
        let number = prop_oneof![
            any::<i64>().prop_map(Number::Int),
            any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(number::from_f64),
            "[1-9][0-9]{25}\\.[0-9]{3}[1-9]".prop_map(Number::Decimal),
        ];
        let leaf = prop_oneof![
            any::<bool>().prop_map(|it| (Type::Bool, Value::Bool(it))),
            number.prop_map(|it| (Type::Number, Value::Number(it))),
            any::<String>().prop_map(|it| (Type::String, Value::String(it))),
            Just((Type::String, Value::Unknown)),
            Just((Type::Bool, Value::Null)),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                (inner.clone(), 0usize..4)
                    .prop_map(|((kind, value), count)| (Type::List(Box::new(kind)), Value::List(vec![value; count]))),
                inner.clone().prop_map(|(kind, value)| (Type::Set(Box::new(kind)), Value::List(vec![value]))),
                (inner.clone(), proptest::collection::vec(any::<String>(), 0..4)).prop_map(|((kind, value), keys)| {
                    let entries = keys.into_iter().map(|key| (key, value.clone()));
                    (Type::Map(Box::new(kind)), Value::map(entries))
                }),
                proptest::collection::btree_map("[a-z]{1,8}", inner, 0..4).prop_map(|attributes| {
                    let kinds = attributes.iter().map(|(name, (kind, _))| (name.clone(), kind.clone())).collect();
                    let values = attributes.into_iter().map(|(name, (_, value))| (name, value)).collect();
                    (Type::Object(kinds), Value::Map(values))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_round_trip((kind, value) in typed_value()) {
            prop_assert_eq!(decode(&encoded(value.clone(), &kind), &kind), Ok(value));
        }

        #[test]
        fn arbitrary_bytes_never_make_the_decoder_panic(
            (kind, value) in typed_value(),
            garbage in proptest::collection::vec(any::<u8>(), 0..64),
            place in any::<prop::sample::Index>(),
        ) {
            let mut corrupted = encoded(value, &kind);
            let place = place.index(corrupted.len() + 1);
            corrupted.splice(place..corrupted.len().min(place + garbage.len() / 2), garbage.iter().copied());
            // Any result is correct; a panic is not.
            let _ = (decode(&corrupted, &kind), decode(&garbage, &kind));
        }
    }
}
