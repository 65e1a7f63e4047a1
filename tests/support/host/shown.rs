//! Values, plans and messages in Terraform's output formats.

use fgw::plugin::Value;
use fgw::plugin::value::Number;
use serde_json::{Map, Value as Json};

use super::process::Message;

/// A known value as JSON.
pub(super) fn json(value: &Value) -> Json {
    match value {
        Value::Unknown | Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(Number::Int(number)) => (*number).into(),
        Value::Number(Number::Float(number)) => (*number).into(),
        Value::Number(Number::Decimal(text)) => text.parse().map_or(Json::Null, Json::Number),
        Value::String(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(items) => items.iter().map(|(key, item)| (key.clone(), json(item))).collect(),
    }
}

/// The `after` of a planned change: its known part. Omits unknown attributes and elements of maps.
pub(super) fn after(value: &Value) -> Json {
    match value {
        Value::List(items) => items.iter().map(after).collect(),
        Value::Map(items) => {
            let known = items.iter().filter(|(_, item)| !item.is_unknown());
            known.map(|(key, item)| (key.clone(), after(item))).collect()
        }
        value => json(value),
    }
}

/// The `after_unknown` of a planned change: `true` wherever the value is unknown.
pub(super) fn after_unknown(value: &Value) -> Json {
    match value {
        Value::Unknown => true.into(),
        Value::List(items) => items.iter().map(after_unknown).collect(),
        Value::Map(items) => {
            let items = items.iter().map(|(key, item)| (key.clone(), after_unknown(item)));
            Json::Object(items.filter(|(_, item)| *item != Json::Bool(false)).collect::<Map<_, _>>())
        }
        _ => false.into(),
    }
}

/// Messages as Terraform prints them, without frames: warnings go to stdout, errors to stderr.
pub(super) fn printed(messages: &[Message], errors: bool) -> String {
    let of_kind = messages.iter().filter(|it| it.is_error == errors);
    let kind = if errors { "Error" } else { "Warning" };
    of_kind.map(|it| format!("{kind}: {}\n\n{}\n\n", it.summary, it.detail)).collect()
}
