//! Tables of rules for the tests of products: each with an example that breaks it and one that keeps it, in JSON.

use serde_json::Value as Json;

use crate::plugin::{Problem, Value};

/// A rule: its name, attributes that break it, the attributes at fault, what the text names, and attributes that keep
/// it.
pub(crate) type Rule = (&'static str, Json, &'static [&'static str], &'static [&'static str], Json);

/// The text that stands for an unknown value.
pub(crate) const UNKNOWN: &str = "(unknown)";

/// Asserts that each rule is told where it is broken and nowhere else, in whole sentences, and that every name is used
/// once.
pub(crate) fn assert_told(rules: Vec<Rule>, problems: impl Fn(Json) -> Vec<Problem>) {
    let mut names: Vec<&str> = rules.iter().map(|rule| rule.0).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    for (name, bad, paths, fragments, good) in rules {
        let found = problems(bad);
        let found_paths: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(found_paths, paths, "{name}: {found:#?}");
        let text: String = found.iter().map(|it| format!("{} {}\n", it.message, it.hint)).collect();
        for fragment in fragments {
            assert!(text.contains(fragment), "{name}: no {fragment} in {text}");
        }
        for problem in &found {
            assert!(problem.message.ends_with('.') && problem.hint.ends_with('.'), "{name}: {problem:?}");
        }
        assert_eq!(problems(good), [], "{name}");
    }
}

/// One JSON object with the entries of another over its own.
pub(crate) fn with(mut basis: Json, more: Json) -> Json {
    if let (Some(basis), Json::Object(more)) = (basis.as_object_mut(), more) {
        basis.extend(more);
    }
    basis
}

/// A value as Terraform would send it.
pub(crate) fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => number.as_i64().expect("tests use whole numbers").into(),
        Json::String(text) if text == UNKNOWN => Value::Unknown,
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::List(items.into_iter().map(value).collect()),
        Json::Object(fields) => Value::Map(fields.into_iter().map(|(key, it)| (key, value(it))).collect()),
    }
}
