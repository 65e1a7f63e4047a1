//! What the server checks in every configuration before a provider sees it, and mends in every state.

use super::{Attribute, AttributePath, AttributeType, Diagnostics, Mode, Nesting, Severity, Type, Value, schema};

/// Everything that a schema alone can find wrong with a configuration.
pub(super) fn check_config(attributes: &[Attribute], config: &Value) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    diagnostics.problems(schema::check(attributes, config, &AttributePath::root()));
    visit(attributes, config, &AttributePath::root(), &mut diagnostics);
    diagnostics
}

/// Adds what a provider found by itself, without errors about attributes that have one already: the first is
/// usually the cause of the second.
pub(super) fn add_findings(diagnostics: &mut Diagnostics, found: Diagnostics) {
    let reported: Vec<_> =
        diagnostics.0.iter().filter(|it| it.severity == Severity::Error).filter_map(|it| it.path.clone()).collect();
    let is_new = |it: &super::Diagnostic| {
        it.severity != Severity::Error || !it.path.as_ref().is_some_and(|path| reported.contains(path))
    };
    diagnostics.0.extend(found.0.into_iter().filter(is_new));
}

/// A state in which no list or map of blocks is null, which Terraform would take for a mistake of the provider.
pub(super) fn with_empty_blocks(attributes: &[Attribute], mut state: Value) -> Value {
    let Value::Map(entries) = &mut state else { return state };
    for attribute in attributes.iter().filter(|it| it.mode == Mode::Block) {
        let AttributeType::Nested(nesting, nested) = &attribute.kind else { continue };
        let value = entries.entry(attribute.name.clone()).or_default();
        let given = std::mem::take(value);
        *value = match (nesting, given) {
            (Nesting::List, Value::Null) => Value::List(Vec::new()),
            (Nesting::Map, Value::Null) => Value::map::<String>([]),
            (Nesting::List, Value::List(items)) => {
                Value::List(items.into_iter().map(|item| with_empty_blocks(nested, item)).collect())
            }
            (Nesting::Map, Value::Map(items)) => {
                Value::Map(items.into_iter().map(|(key, item)| (key, with_empty_blocks(nested, item))).collect())
            }
            (_, other) => with_empty_blocks(nested, other),
        };
    }
    state
}

fn visit(attributes: &[Attribute], object: &Value, path: &AttributePath, diagnostics: &mut Diagnostics) {
    for attribute in attributes {
        let value = object.get(&attribute.name);
        let path = path.attribute(&attribute.name);
        // A block that is not written is an empty list or map, and nobody used it.
        let is_used = match value {
            Value::Null => false,
            Value::List(items) => attribute.mode != Mode::Block || !items.is_empty(),
            Value::Map(items) => attribute.mode != Mode::Block || !items.is_empty(),
            _ => true,
        };
        if let Some(reason) = attribute.deprecation.as_ref().filter(|_| is_used) {
            diagnostics.attribute_warning(path.clone(), format!("{path} is deprecated"), reason);
        }
        match &attribute.kind {
            AttributeType::Plain(kind) => reject_null_elements(kind, value, &path, diagnostics),
            AttributeType::Nested(Nesting::Single, nested) => visit(nested, value, &path, diagnostics),
            AttributeType::Nested(_, nested) => {
                for (path, item) in elements(value, &path) {
                    if item.is_null() {
                        null_element(path, diagnostics);
                    } else {
                        visit(nested, item, &path, diagnostics);
                    }
                }
            }
        }
    }
}

fn reject_null_elements(kind: &Type, value: &Value, path: &AttributePath, diagnostics: &mut Diagnostics) {
    match kind {
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            for (element_path, item) in elements(value, path) {
                // An element of a set has no path of its own.
                let element_path = if matches!(kind, Type::Set(_)) { path.clone() } else { element_path };
                if item.is_null() {
                    null_element(element_path, diagnostics);
                } else {
                    reject_null_elements(element, item, &element_path, diagnostics);
                }
            }
        }
        Type::Object(attributes) => {
            for (name, kind) in attributes {
                reject_null_elements(kind, value.get(name), &path.attribute(name), diagnostics);
            }
        }
        Type::Bool | Type::Number | Type::String => {}
    }
}

fn elements<'a>(value: &'a Value, path: &AttributePath) -> Vec<(AttributePath, &'a Value)> {
    match value {
        Value::List(items) => items.iter().enumerate().map(|(index, item)| (path.index(index), item)).collect(),
        Value::Map(entries) => entries.iter().map(|(key, item)| (path.key(key), item)).collect(),
        _ => Vec::new(),
    }
}

fn null_element(path: AttributePath, diagnostics: &mut Diagnostics) {
    let problem = super::Problem::new(path, "It is null, and an element cannot be null.", "Leave the element out.");
    diagnostics.problems([problem]);
}
