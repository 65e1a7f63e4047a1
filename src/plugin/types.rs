//! Types in Terraform's JSON notation.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Type, Value};

/// The JSON notation of a type.
pub(super) fn to_json(kind: &Type) -> Json {
    match kind {
        Type::Bool => json!("bool"),
        Type::Number => json!("number"),
        Type::String => json!("string"),
        Type::Dynamic => json!("dynamic"),
        Type::List(kind) => json!(["list", to_json(kind)]),
        Type::Set(kind) => json!(["set", to_json(kind)]),
        Type::Map(kind) => json!(["map", to_json(kind)]),
        Type::Tuple(kinds) => json!(["tuple", kinds.iter().map(to_json).collect::<Vec<_>>()]),
        Type::Object(attributes) => {
            let attributes: serde_json::Map<String, Json> =
                attributes.iter().map(|(name, kind)| (name.clone(), to_json(kind))).collect();
            json!(["object", attributes])
        }
    }
}

/// Parses the JSON notation of a type. `None` if the text is not a type.
pub(super) fn parse(text: &[u8]) -> Option<Type> {
    from_json(&serde_json::from_slice(text).ok()?)
}

fn from_json(json: &Json) -> Option<Type> {
    let of_element = |json: &Json| from_json(json).map(Box::new);
    Some(match json {
        Json::String(name) => match name.as_str() {
            "bool" => Type::Bool,
            "number" => Type::Number,
            "string" => Type::String,
            "dynamic" => Type::Dynamic,
            _ => return None,
        },
        Json::Array(parts) => match (parts.first()?.as_str()?, &parts[1..]) {
            ("list", [element]) => Type::List(of_element(element)?),
            ("set", [element]) => Type::Set(of_element(element)?),
            ("map", [element]) => Type::Map(of_element(element)?),
            ("tuple", [Json::Array(elements)]) => {
                Type::Tuple(elements.iter().map(from_json).collect::<Option<Vec<_>>>()?)
            }
            // A third part lists optional attributes. It is ignored, because values on the wire have all attributes.
            ("object", [Json::Object(attributes), ..]) => {
                let attribute = |(name, kind): (&String, &Json)| Some((name.clone(), from_json(kind)?));
                Type::Object(attributes.iter().map(attribute).collect::<Option<BTreeMap<_, _>>>()?)
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// The type of a value without a schema. As for a literal in Terraform, it is an object or a tuple, never a map or a
/// list.
pub(super) fn of(value: &Value) -> Type {
    match value {
        Value::Unknown | Value::Null => Type::Dynamic,
        Value::Bool(_) => Type::Bool,
        Value::Number(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::List(items) => Type::Tuple(items.iter().map(of).collect()),
        Value::Map(entries) => Type::Object(entries.iter().map(|(name, item)| (name.clone(), of(item))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_trip_in_the_notation_of_terraform() {
        let object = Type::Object(BTreeMap::from([
            ("d".to_string(), Type::Dynamic),
            ("n".to_string(), Type::Number),
            ("s".to_string(), Type::Set(Box::new(Type::String))),
        ]));
        let kind = Type::Tuple(vec![Type::List(Box::new(Type::Map(Box::new(object)))), Type::Bool]);
        let written = to_json(&kind).to_string();
        let expected =
            r#"["tuple",[["list",["map",["object",{"d":"dynamic","n":"number","s":["set","string"]}]]],"bool"]]"#;
        assert_eq!(written, expected);
        assert_eq!(parse(written.as_bytes()), Some(kind));
    }

    #[test]
    fn invalid_types_are_rejected() {
        for text in
            ["", "null", "\"text\"", "[]", "[1]", "[\"list\"]", "[\"tuple\",\"string\"]", "[\"object\",{\"a\":1}]"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        let deep = format!("{}\"string\"{}", "[\"list\",".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(deep.as_bytes()), None);
    }
}
