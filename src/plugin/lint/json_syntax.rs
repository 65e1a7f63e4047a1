//! Expressions in the JSON syntax.

use std::collections::BTreeSet;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::expression::{Entry, Expression, Place};
use super::hcl_syntax;

/// The parser of the native syntax has the same limit.
const DEEPEST: usize = 64;

/// The content of a file. The error is a line and a message. Adds the names that its expressions read to `reads`.
pub(super) fn file(text: &str, file: usize, reads: &mut BTreeSet<String>) -> Result<Expression, (usize, String)> {
    let without_mark = text.trim_start_matches('\u{feff}');
    let value: &RawValue = serde_json::from_str(without_mark)
        .map_err(|error| (error.line(), format!("The file cannot be read as JSON: {error}.")))?;
    Ok(Reader { text, file, reads }.value(value, 0))
}

struct Reader<'a> {
    text: &'a str,
    file: usize,
    reads: &'a mut BTreeSet<String>,
}

impl Reader<'_> {
    /// A value borrows from the text, so its address is its position.
    fn place(&self, value: &RawValue) -> Place {
        Place { file: self.file, offset: value.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr()) }
    }

    fn value(&mut self, value: &RawValue, depth: usize) -> Expression {
        if depth > DEEPEST {
            return Expression::Other;
        }
        match value.get().as_bytes().first() {
            Some(b'{') => serde_json::from_str::<Entries>(value.get()).map_or(Expression::Other, |Entries(entries)| {
                let entries = entries.into_iter().map(|(key, value)| Entry {
                    place: self.place(key),
                    key: if let Expression::Text(key) = self.string(key) { Some(key) } else { None },
                    value: self.value(value, depth + 1),
                });
                Expression::Object(entries.collect())
            }),
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(value.get()).map_or(Expression::Other, |items| {
                Expression::Tuple(items.into_iter().map(|item| self.value(item, depth + 1)).collect())
            }),
            Some(b'"') => self.string(value),
            _ => Expression::Other,
        }
    }

    fn string(&mut self, value: &RawValue) -> Expression {
        let Ok(text) = serde_json::from_str::<String>(value.get()) else { return Expression::Other };
        match text.contains("${") || text.contains("%{") {
            true => hcl_syntax::template(&text, self.place(value), self.reads).unwrap_or(Expression::Other),
            false => Expression::Text(text),
        }
    }
}

/// The keys and values of an object, as written.
struct Entries<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(&'de RawValue, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Collect).map(Entries)
    }
}
