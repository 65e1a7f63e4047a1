//! The inputs that became known only after the plan: other resources of the same run have created the objects that they
//! name, so AWS may not return these objects yet. Pure.

use std::collections::BTreeSet;

use crate::plugin::Value;

/// The texts in a configuration that were unknown in the plan.
pub(super) fn of(planned: &Value, config: &Value) -> BTreeSet<String> {
    match (planned, config) {
        (Value::Unknown, config) => texts(config),
        // The elements of a set have no order.
        (Value::List(planned), Value::List(items)) if !planned.iter().all(Value::is_wholly_known) => {
            items.iter().filter(|item| !planned.contains(item)).flat_map(texts).collect()
        }
        (planned @ Value::Map(_), Value::Map(entries)) => {
            entries.iter().flat_map(|(key, config)| of(planned.get(key), config)).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn texts(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => [text.clone()].into(),
        Value::List(items) => items.iter().flat_map(texts).collect(),
        Value::Map(entries) => entries.values().flat_map(texts).collect(),
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_were_unknown_in_the_plan_are_new() {
        let text = |text: &str| Value::from(text);
        let config = Value::map([
            ("name", text("shop")),
            ("addresses", vec!["eipalloc-1", "eipalloc-2"].into()),
            ("gateways", vec!["vgw-1"].into()),
            ("tags", Value::map([("team", text("net")), ("stack", text("arn"))])),
        ]);
        let planned = Value::map([
            ("name", text("shop")),
            ("addresses", Value::List(vec![Value::Unknown, text("eipalloc-1")])),
            ("gateways", Value::Unknown),
            ("tags", Value::map([("team", text("net")), ("stack", Value::Unknown)])),
        ]);
        let expected = ["arn", "eipalloc-2", "vgw-1"].map(str::to_string);
        assert_eq!(of(&planned, &config), expected.into());
        assert_eq!(of(&config, &config), BTreeSet::new());
    }
}
