//! Blocks of a configuration, in the format of `terraform fmt`.

use super::printable::is_hidden;
use super::{Attribute, AttributeType, Mode, Nesting, Value};

/// A line of a block.
enum Line {
    Empty,
    /// Anything but an argument on one line, such as a bracket.
    Text(usize, String),
    /// An argument on one line: its depth, name and value. Those of consecutive lines are aligned.
    Argument(usize, String, String),
}

/// Returns a block with a header of a type and labels. Null attributes are omitted. Arguments are in the order of the
/// schema, those on one line first.
pub(super) fn block(header: &[&str], attributes: &[Attribute], config: &Value) -> String {
    let labels = header[1..].iter().map(|label| format!(" {}", quoted(label)));
    let mut lines = vec![Line::Text(0, format!("{}{} {{", header[0], labels.collect::<String>()))];
    body(&mut lines, 1, attributes, config);
    lines.push(Line::Text(0, "}".to_string()));
    aligned(&lines)
}

/// What the schema says about a value that may have several lines.
#[derive(Clone, Copy)]
enum Shape<'a> {
    /// An object with these attributes.
    Object(&'a [Attribute]),
    /// A list or map of such objects.
    Collection(&'a [Attribute]),
    /// Nothing.
    Plain,
}

impl<'a> Shape<'a> {
    fn of(kind: &'a AttributeType) -> Shape<'a> {
        match kind {
            AttributeType::Nested(Nesting::Single, attributes) => Shape::Object(attributes),
            AttributeType::Nested(_, attributes) => Shape::Collection(attributes),
            AttributeType::Plain(_) => Shape::Plain,
        }
    }

    fn of_element(self) -> Shape<'a> {
        if let Shape::Collection(attributes) = self { Shape::Object(attributes) } else { Shape::Plain }
    }
}

/// Adds the arguments and nested blocks of a block. Those of several lines have an empty line before them.
fn body(lines: &mut Vec<Line>, depth: usize, attributes: &[Attribute], config: &Value) {
    for (number, (attribute, value)) in ordered(attributes, config).into_iter().enumerate() {
        let name = &attribute.name;
        if number > 0 && takes_lines(attribute, value) {
            lines.push(Line::Empty);
        }
        match (&attribute.kind, attribute.mode) {
            (AttributeType::Nested(_, nested), Mode::Block) => {
                let items = if let Value::List(items) = value { items.as_slice() } else { std::slice::from_ref(value) };
                for item in items {
                    lines.push(Line::Text(depth, format!("{name} {{")));
                    body(lines, depth + 1, nested, item);
                    lines.push(Line::Text(depth, "}".to_string()));
                }
            }
            (kind, _) => argument(lines, depth, name, Shape::of(kind), value),
        }
    }
}

/// The attributes with a value, those on one line first.
fn ordered<'a>(attributes: &'a [Attribute], object: &'a Value) -> Vec<(&'a Attribute, &'a Value)> {
    let pairs = attributes.iter().map(|attribute| (attribute, object.get(&attribute.name)));
    // A state has an empty list for a block that is not set.
    let is_set = |(attribute, value): &(&Attribute, &Value)| match value {
        Value::Null => false,
        Value::List(items) => attribute.mode != Mode::Block || !items.is_empty(),
        _ => true,
    };
    let mut given: Vec<_> = pairs.filter(is_set).collect();
    given.sort_by_key(|(attribute, value)| takes_lines(attribute, value));
    given
}

fn takes_lines(attribute: &Attribute, value: &Value) -> bool {
    attribute.mode == Mode::Block || one_line(value).is_none()
}

fn argument(lines: &mut Vec<Line>, depth: usize, name: &str, shape: Shape<'_>, value: &Value) {
    match one_line(value) {
        Some(text) => lines.push(Line::Argument(depth, name.to_string(), text)),
        None => nested(lines, depth, [&format!("{name} = "), ""], shape, value),
    }
}

/// Adds a value of several lines, with a text before its first bracket and one after its last bracket.
fn nested(lines: &mut Vec<Line>, depth: usize, [before, after]: [&str; 2], shape: Shape<'_>, value: &Value) {
    let [open, close] = if matches!(value, Value::List(_)) { ["[", "]"] } else { ["{", "}"] };
    lines.push(Line::Text(depth, format!("{before}{open}")));
    match (value, shape) {
        (Value::List(items), _) => {
            for item in items {
                match one_line(item) {
                    Some(text) => lines.push(Line::Text(depth + 1, format!("{text},"))),
                    None => nested(lines, depth + 1, ["", ","], shape.of_element(), item),
                }
            }
        }
        (_, Shape::Object(attributes)) => {
            for (attribute, value) in ordered(attributes, value) {
                argument(lines, depth + 1, &attribute.name, Shape::of(&attribute.kind), value);
            }
        }
        _ => {
            for (key, value) in value.as_map().into_iter().flatten() {
                argument(lines, depth + 1, &self::key(key), shape.of_element(), value);
            }
        }
    }
    lines.push(Line::Text(depth, format!("{close}{after}")));
}

/// The value, if it fits on one line: everything but a map with entries.
fn one_line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(quoted(text)),
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(one_line).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Map(entries) => entries.values().all(Value::is_null).then(|| "{}".to_string()),
        // A state has no unknown values.
        Value::Unknown | Value::Null => Some("null".to_string()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

/// A key of a map, quoted unless it is a plain identifier.
fn key(text: &str) -> String {
    let is_plain = text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it));
    let is_keyword = ["for", "if", "in", "null", "true", "false"].contains(&text);
    if is_plain && !is_keyword { text.to_string() } else { quoted(text) }
}

/// A quoted string without interpolation.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '$' | '%' if rest.peek() == Some(&'{') => quoted.extend([character, character]),
            _ if is_hidden(character) => match u32::from(character) {
                code @ ..=0xffff => quoted.push_str(&format!("\\u{code:04x}")),
                code => quoted.push_str(&format!("\\U{code:08x}")),
            },
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The text of the lines. Terraform aligns the values of arguments on consecutive lines.
fn aligned(lines: &[Line]) -> String {
    let mut text = String::new();
    for group in lines.chunk_by(|a, b| matches!((a, b), (Line::Argument(..), Line::Argument(..)))) {
        let width = |line: &Line| if let Line::Argument(_, name, _) = line { name.chars().count() } else { 0 };
        let widest = group.iter().map(width).max().unwrap_or_default();
        for line in group {
            match line {
                Line::Empty => {}
                Line::Text(depth, line) => text.extend(["  ".repeat(*depth).as_str(), line]),
                Line::Argument(depth, name, value) => {
                    let padding = " ".repeat(widest - width(line));
                    text.extend(["  ".repeat(*depth).as_str(), name, &padding, " = ", value]);
                }
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::Type;

    #[test]
    fn a_block_is_formatted_as_terraform_fmt_does() {
        let plain = |name: &str, kind: Type| Attribute::new(name, AttributeType::Plain(kind), "");
        let text = |name: &str| plain(name, Type::String);
        let nested =
            |name: &str, nesting, attributes| Attribute::new(name, AttributeType::Nested(nesting, attributes), "");
        let map = |name: &str| plain(name, Type::Map(Box::new(Type::String)));
        let attributes = [
            map("tags"),
            text("name"),
            nested("hinges", Nesting::Map, vec![map("marks"), text("metal"), text("unset")]),
            nested("locks", Nesting::List, vec![text("kind")]),
            plain("colors", Type::Set(Box::new(Type::String))),
            nested("frame", Nesting::Single, vec![text("wood")]),
            nested("limits", Nesting::Single, vec![text("open"), text("close")]).block(),
            text("nothing"),
            nested("keys", Nesting::List, vec![text("shape")]).block(),
            map("empty"),
        ];
        let hinge = Value::map([
            ("marks", Value::map([("a", Value::from("x"))])),
            ("metal", Value::from("brass")),
            ("unset", Value::Null),
        ]);
        let tags = [("AZ-0", "plain"), ("GET /a", "${x} $x %{y}"), ("for", "keyword"), ("metal", "\"\\\n\u{202e}")];
        let config = Value::map([
            ("tags", Value::map(tags.map(|(key, value)| (key, Value::from(value))))),
            ("name", "front".into()),
            ("hinges", Value::map([("metal", hinge)])),
            (
                "locks",
                Value::List(vec![Value::map([("kind", Value::from("bolt"))]), Value::map([("kind", Value::Null)])]),
            ),
            ("colors", vec!["red", "blue"].into()),
            ("frame", Value::map([("wood", Value::from("oak"))])),
            ("limits", Value::map([("open", Value::from("1m"))])),
            ("empty", Value::map::<&str>([])),
            ("keys", Value::List(vec![])),
        ]);
        let expected = r#"resource "acme_door" "front" {
  name   = "front"
  colors = ["red", "blue"]
  empty  = {}

  tags = {
    AZ-0     = "plain"
    "GET /a" = "$${x} $x %%{y}"
    "for"    = "keyword"
    metal    = "\"\\\n\u202e"
  }

  hinges = {
    metal = {
      metal = "brass"
      marks = {
        a = "x"
      }
    }
  }

  locks = [
    {
      kind = "bolt"
    },
    {},
  ]

  frame = {
    wood = "oak"
  }

  limits {
    open = "1m"
  }
}
"#;
        assert_eq!(block(&["resource", "acme_door", "front"], &attributes, &config), expected);
        let empty = "resource \"acme_door\" \"front\" {\n}\n";
        assert_eq!(block(&["resource", "acme_door", "front"], &attributes, &Value::Null), empty);
    }
}
