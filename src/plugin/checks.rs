//! Checks of every configuration before it reaches the provider, and normalization of every state.

use super::{Attribute, AttributePath, AttributeType, Diagnostics, Mode, Nesting, Severity, Step, Type, Value, schema};

/// Checks a configuration against the schema alone.
pub(super) fn check_config(attributes: &[Attribute], config: &Value) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    diagnostics.problems(schema::check(attributes, config, &AttributePath::root()));
    visit(attributes, config, &AttributePath::root(), &mut diagnostics);
    diagnostics
}

/// Adds the findings of the provider. Skips errors about attributes that already have one, because the first error is
/// usually the cause of the second.
pub(super) fn add_findings(diagnostics: &mut Diagnostics, found: Diagnostics) {
    let reported: Vec<_> =
        diagnostics.0.iter().filter(|it| it.severity == Severity::Error).filter_map(|it| it.path.clone()).collect();
    let is_new = |it: &super::Diagnostic| {
        it.severity != Severity::Error || !it.path.as_ref().is_some_and(|path| reported.contains(path))
    };
    diagnostics.0.extend(found.0.into_iter().filter(is_new));
}

/// Shortens the paths of diagnostics to what Terraform finds in a configuration: an attribute or one of its elements.
/// Terraform would look up an attribute within an element at the top of the block, where another one may have its name.
/// Paths through blocks stay, and so do the summaries, which contain the whole path.
pub(super) fn end_at_places(attributes: &[Attribute], diagnostics: &mut Diagnostics) {
    for path in diagnostics.0.iter_mut().filter_map(|it| it.path.as_mut()) {
        let Some(Step::Attribute(name)) = path.0.first() else { continue };
        if attributes.iter().any(|it| it.name == *name && it.mode != Mode::Block) {
            let has_element = matches!(path.0.get(1), Some(Step::Key(_) | Step::Index(_)));
            path.0.truncate(if has_element { 2 } else { 1 });
        }
    }
}

/// Replaces null lists and maps of blocks with empty ones, at every depth. Terraform reports a null one as a bug in the
/// provider.
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
        // Terraform sends an omitted block as an empty list or map.
        let is_used = match value {
            Value::Null => false,
            Value::List(items) => attribute.mode != Mode::Block || !items.is_empty(),
            Value::Map(items) => attribute.mode != Mode::Block || !items.is_empty(),
            // A generated configuration may repeat the default.
            value => attribute.default.as_ref() != Some(value),
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
                // In a map of strings, it counts as absent.
                let is_omitted = matches!((kind, &**element), (Type::Map(_), Type::String));
                if item.is_null() && !is_omitted {
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
        // The consumer of a value of dynamic type checks its content.
        Type::Bool | Type::Number | Type::String | Type::Tuple(_) | Type::Dynamic => {}
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
    let problem = super::Problem::new(path, "An element cannot be null.", "Remove the element.");
    diagnostics.problems([problem]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::plugin::{Check, DROPS_NAMES};

    fn plain(name: &str, kind: Type) -> Attribute {
        Attribute::new(name, AttributeType::Plain(kind), "")
    }

    fn nested(name: &str, nesting: Nesting, attributes: Vec<Attribute>) -> Attribute {
        Attribute::new(name, AttributeType::Nested(nesting, attributes), "")
    }

    fn messages(attributes: &[Attribute], config: &Value) -> Vec<(Severity, String)> {
        let found = check_config(attributes, config);
        found.0.into_iter().map(|it| (it.severity, it.path.unwrap().to_string())).collect()
    }

    #[test]
    fn only_null_elements_are_rejected_at_every_depth() {
        let strings = Type::List(Box::new(Type::String));
        let map = |kind: &Type| Type::Map(Box::new(kind.clone()));
        let object = Type::Object(BTreeMap::from([("names".to_string(), strings.clone())]));
        let attributes = [
            plain("tags", map(&Type::String)),
            plain("zones", map(&strings)),
            plain("colors", Type::Set(Box::new(Type::String))),
            plain("plans", Type::List(Box::new(object))),
            nested("hinges", Nesting::Map, vec![plain("screws", strings)]),
        ];
        let list = |items: &[Value]| Value::List(items.to_vec());
        let config = Value::map([
            ("tags", Value::map([("a", Value::Null), ("b", Value::Unknown), ("c", Value::from(""))])),
            ("zones", Value::map([("a", Value::Null), ("b", list(&[]))])),
            ("colors", list(&[Value::from("red"), Value::Null])),
            ("plans", list(&[Value::map([("names", list(&[Value::Unknown, Value::Null]))])])),
            (
                "hinges",
                Value::map([
                    ("top", Value::map([("screws", list(&[Value::Null]))])),
                    ("low", Value::Null),
                    ("mid", Value::Unknown),
                ]),
            ),
        ]);
        let expected =
            [r#"zones["a"]"#, "colors", "plans[0].names[1]", r#"hinges["low"]"#, r#"hinges["top"].screws[0]"#];
        let expected: Vec<_> = expected.map(|path| (Severity::Error, path.to_string())).into();
        assert_eq!(messages(&attributes, &config), expected);
    }

    #[test]
    fn only_deprecated_attributes_in_use_cause_a_warning() {
        let attributes = [
            plain("code", Type::String).deprecated("Use a key."),
            nested("key", Nesting::List, vec![plain("shape", Type::String).deprecated("Keys are cards.")]).block(),
            nested("bolt", Nesting::List, vec![]).block().deprecated("Use a key."),
        ];
        let key = Value::map([("shape", Value::Unknown)]);
        let used = Value::map([("key", Value::List(vec![key])), ("bolt", Value::List(Vec::new()))]);
        assert_eq!(messages(&attributes, &used), [(Severity::Warning, "key[0].shape".to_string())]);
        let used = Value::map([("code", Value::from("1234"))]);
        let found = check_config(&attributes, &used);
        assert_eq!((&found.0[0].summary[..], &found.0[0].detail[..]), ("code is deprecated", "Use a key."));
    }

    #[test]
    fn paths_end_where_terraform_finds_the_place() {
        let screw = || nested("screw", Nesting::Single, vec![plain("size", Type::Number)]);
        let attributes = [
            nested("hinges", Nesting::Map, vec![plain("code", Type::String), screw()]),
            nested("frame", Nesting::Single, vec![plain("colors", Type::List(Box::new(Type::String)))]),
            nested("key", Nesting::List, vec![plain("tags", Type::Map(Box::new(Type::String)))]).block(),
            plain("code", Type::String),
        ];
        let hinge = || AttributePath::new("hinges").key("top");
        let mut diagnostics = Diagnostics::default();
        for path in [
            hinge().attribute("code"),
            hinge().attribute("screw").attribute("size"),
            AttributePath::new("frame").attribute("colors").index(1),
            AttributePath::new("key").index(0).attribute("tags").key("a"),
            AttributePath::new("code"),
            AttributePath::new("unknown").attribute("x"),
        ] {
            diagnostics.attribute_error(path, "s", "d");
        }
        diagnostics.error("s", "d");
        end_at_places(&attributes, &mut diagnostics);
        let paths = diagnostics.0.iter().map(|it| it.path.as_ref().map(ToString::to_string).unwrap_or_default());
        // Terraform would show the first one at the attribute `code` of the resource.
        let expected = ["hinges[\"top\"]", "hinges[\"top\"]", "frame", "key[0].tags[\"a\"]", "code", "unknown.x", ""];
        assert_eq!(paths.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_attribute_reports_only_its_first_error() {
        let attributes = [
            plain("width", Type::Number).check(Check::between(600, 1200)),
            plain("color", Type::String).check(Check::one_of(&["white", "red"])),
        ];
        let config = Value::map([("width", Value::from(1)), ("color", Value::from("blue"))]);
        let mut diagnostics = check_config(&attributes, &config);
        assert_eq!(diagnostics.0.len(), 2);
        let mut found = Diagnostics::default();
        found.attribute_error(AttributePath::new("width"), "It does not fit the frame", "");
        found.attribute_warning(AttributePath::new("width"), "Unusual", "");
        found.attribute_error(AttributePath::new("height"), "It is missing", "");
        found.error("No wall", "");
        add_findings(&mut diagnostics, found);
        let summaries: Vec<_> = diagnostics.0[2..].iter().map(|it| &it.summary[..]).collect();
        assert_eq!(summaries, ["Unusual", "It is missing", "No wall"]);
    }

    #[test]
    fn null_block_lists_become_empty_at_every_depth() {
        let inner = nested("tooth", Nesting::List, vec![plain("depth", Type::Number)]).block();
        let attributes = [
            plain("name", Type::String),
            nested("key", Nesting::List, vec![inner]).block(),
            nested("timeouts", Nesting::Single, vec![plain("create", Type::String)]).block(),
        ];
        let key = |tooth: Value| Value::map([("tooth", tooth)]);
        let empty = Value::List(Vec::new());
        let state = Value::map([("key", Value::List(vec![key(Value::Null)]))]);
        let normalized = with_empty_blocks(&attributes, state);
        assert_eq!(normalized.get("key"), &Value::List(vec![key(empty.clone())]));
        assert_eq!(normalized.get("timeouts"), &Value::Null);
        assert_eq!(with_empty_blocks(&attributes, Value::map::<String>([])).get("key"), &empty);
        assert_eq!(with_empty_blocks(&attributes, Value::Null), Value::Null);
    }

    fn door() -> Vec<Attribute> {
        let text = |name: &str| Attribute::new(name, AttributeType::Plain(Type::String), "");
        vec![
            text("lock").default("key"),
            text("code").only_with("lock", &["dial"]).required_with("lock", "dial"),
            text("wood").either_or(&["metal"]),
            text("metal"),
            text("alloy").only_if_set("metal"),
        ]
    }

    fn broken(values: &[(&str, Value)]) -> Vec<String> {
        let block = Value::map(values.iter().map(|(name, value)| (*name, value.clone())));
        schema::check(&door(), &block, &AttributePath::root())
            .into_iter()
            .map(|it| format!("{}: {}", it.path, it.message))
            .collect()
    }

    #[test]
    fn each_condition_names_both_attributes_and_values() {
        let wood = || ("wood", Value::from("oak"));
        let table: [(&[_], Option<&str>); 8] = [
            (&[wood()], None),
            (
                &[wood(), ("code", "1".into())],
                Some("code: code is used only with lock = \"dial\", but lock is \"key\"."),
            ),
            (&[wood(), ("lock", "dial".into())], Some("code: code is required, because lock is \"dial\".")),
            (&[wood(), ("lock", "dial".into()), ("code", "1".into())], None),
            (&[wood(), ("alloy", "x".into())], Some("alloy: alloy has no effect without metal.")),
            (&[("alloy", "x".into()), ("metal", "tin".into())], None),
            (&[], Some("wood: Neither wood nor metal is set.")),
            (&[wood(), ("metal", "tin".into())], Some("wood: Both wood (\"oak\") and metal (\"tin\") are set.")),
        ];
        for (values, expected) in table {
            assert_eq!(broken(values), Vec::from_iter(expected), "{values:?}");
        }
    }

    #[test]
    fn an_attribute_that_an_object_lacks_may_be_misspelled() {
        let doors = [nested("doors", Nesting::Map, door())];
        let broken = |values: &[(&str, Value)]| {
            let config = Value::map([("doors", Value::map([("front", Value::map(values.iter().cloned()))]))]);
            let problems = schema::check(&doors, &config, &AttributePath::root());
            problems.into_iter().map(|it| it.message).collect::<Vec<_>>()
        };
        let wood = || ("wood", Value::from("oak"));
        for (values, drops) in [
            (vec![wood(), ("lock", "dial".into())], true),
            (vec![wood(), ("alloy", "x".into())], true),
            (vec![], true),
            (vec![wood(), ("code", "1".into())], false),
            (vec![wood(), ("metal", "tin".into())], false),
        ] {
            let found = broken(&values);
            assert_eq!(found.len(), 1, "{values:?}: {found:?}");
            assert_eq!(found[0].ends_with(DROPS_NAMES), drops, "{values:?}: {found:?}");
        }
    }

    #[test]
    fn unknown_values_break_no_condition() {
        let unknown = || Value::Unknown;
        for values in [
            [("wood", unknown()), ("metal", unknown())],
            [("wood", unknown()), ("metal", "tin".into())],
            [("metal", unknown()), ("alloy", "x".into())],
            [("wood", "oak".into()), ("alloy", unknown())],
            [("wood", "oak".into()), ("code", unknown())],
        ] {
            assert_eq!(broken(&values), Vec::<String>::new(), "{values:?}");
        }
        for code in ["1".into(), unknown(), Value::Null] {
            assert_eq!(broken(&[("wood", "oak".into()), ("lock", unknown()), ("code", code)]), Vec::<String>::new());
        }
        let doors = [nested("doors", Nesting::Map, door())];
        let of_door = |door: Value| {
            schema::check(&doors, &Value::map([("doors", Value::map([("a", door)]))]), &AttributePath::root()).len()
        };
        assert_eq!([Value::Unknown, Value::Null, Value::map::<String>([])].map(of_door), [0, 0, 1]);
    }
}
