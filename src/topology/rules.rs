//! Tables of validation rules for tests: each rule has a JSON example that breaks it and one that satisfies it.

use serde_json::Value as Json;

use crate::plugin::{Problem, Value};

/// A rule: its name, attributes that break it, the paths of the problems, fragments of their texts, and attributes that
/// satisfy it.
pub(crate) type Rule = (&'static str, Json, &'static [&'static str], &'static [&'static str], Json);

/// The text that represents an unknown value.
pub(crate) const UNKNOWN: &str = "(unknown)";

/// Asserts that a broken rule is reported at its paths only and in whole sentences, that a satisfied one is not, and
/// that names are unique.
pub(crate) fn assert_reported(rules: Vec<Rule>, problems: impl Fn(Json) -> Vec<Problem>) {
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
            assert!(text.contains(fragment), "{name}: {fragment} is missing in {text}");
        }
        for problem in &found {
            assert!(problem.message.ends_with('.') && problem.hint.ends_with('.'), "{name}: {problem:?}");
        }
        assert_eq!(problems(good), [], "{name}");
    }
}

/// Merges two JSON objects; entries of `more` override those of `basis`.
pub(crate) fn with(mut basis: Json, more: Json) -> Json {
    if let (Some(basis), Json::Object(more)) = (basis.as_object_mut(), more) {
        basis.extend(more);
    }
    basis
}

/// The value that Terraform would send for this JSON.
pub(crate) fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().expect("tests use no larger numbers").into(),
        },
        Json::String(text) if text == UNKNOWN => Value::Unknown,
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::List(items.into_iter().map(value).collect()),
        Json::Object(fields) => Value::Map(fields.into_iter().map(|(key, it)| (key, value(it))).collect()),
    }
}
