//! Values in MessagePack, encoded by the rules of the protocol, without the code under test.

use fgw::plugin::Value;
use fgw::plugin::proto::tfplugin6::DynamicValue;
use fgw::plugin::value::Number;

/// A value as Terraform sends it.
pub(crate) fn encode(value: &Value) -> DynamicValue {
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, &to_wire(value)).expect("writing to memory does not fail");
    DynamicValue { msgpack, json: Vec::new() }
}

/// A value as the provider sends it.
pub(crate) fn decode(value: &DynamicValue) -> Value {
    from_wire(rmpv::decode::read_value(&mut &value.msgpack[..]).expect("the provider answers in MessagePack"))
}

/// A value as MessagePack data, to embed in other data.
pub(crate) fn to_wire(value: &Value) -> rmpv::Value {
    match value {
        // With a refinement, as Terraform sends most unknown values.
        Value::Unknown => rmpv::Value::Ext(12, vec![0x81, 0x01, 0xc2]),
        Value::Null => rmpv::Value::Nil,
        Value::Bool(value) => (*value).into(),
        Value::Number(Number::Int(number)) => (*number).into(),
        Value::Number(Number::Float(number)) => (*number).into(),
        Value::Number(Number::Decimal(text)) => text.as_str().into(),
        Value::String(text) => text.as_str().into(),
        Value::List(items) => rmpv::Value::Array(items.iter().map(to_wire).collect()),
        Value::Map(entries) => {
            rmpv::Value::Map(entries.iter().map(|(key, item)| (key.as_str().into(), to_wire(item))).collect())
        }
    }
}

fn from_wire(wire: rmpv::Value) -> Value {
    match wire {
        rmpv::Value::Nil => Value::Null,
        rmpv::Value::Ext(0, body) if body.len() == 1 => Value::Unknown,
        rmpv::Value::Boolean(value) => Value::Bool(value),
        rmpv::Value::Integer(number) => Value::from(number.as_i64().expect("a number of 64 bits")),
        rmpv::Value::F64(number) => Value::Number(Number::Float(number)),
        rmpv::Value::String(text) => Value::String(text.into_str().expect("text is UTF-8")),
        rmpv::Value::Array(items) => Value::List(items.into_iter().map(from_wire).collect()),
        rmpv::Value::Map(entries) => Value::map(
            entries.into_iter().map(|(key, item)| (key.as_str().expect("a name").to_owned(), from_wire(item))),
        ),
        other => panic!("Terraform has no such value: {other}"),
    }
}
