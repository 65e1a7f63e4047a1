//! A parser of what Terraform accepts, which the parser of the native syntax does not in all cases: it rejects some
//! newlines that have no meaning, such as those around the operators of a condition in a `for` expression, and objects
//! that define a key again.

use std::collections::BTreeMap;

use hcl_edit::parser::{self, Error};
use hcl_edit::structure::Body;

/// The content of a file.
pub(super) struct Parsed {
    pub(super) body: Body,
    /// The keys that their object defines before, whose names are changed: the right first letters, by offset.
    pub(super) redefined: BTreeMap<usize, char>,
}

/// Parses a file. The error is a line and a message.
pub(super) fn parse(text: &str) -> Result<Parsed, (usize, String)> {
    let mut redefined = BTreeMap::new();
    if let Ok(body) = parser::parse_body(text) {
        return Ok(Parsed { body, redefined });
    }
    let mut changed = without_ignored(text);
    // Each letter is used once, which limits the number of attempts.
    let mut letters = 'A'..='Z';
    loop {
        let error = match parser::parse_body(&changed) {
            Ok(body) => return Ok(Parsed { body, redefined }),
            Err(error) => error,
        };
        let offset = error.location().offset();
        let letter = letters.next().filter(|_| is_redefinition(&error));
        let Some((first, renamed)) = letter.and_then(|letter| renamed(&changed, offset, letter)) else {
            let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
            return Err((line, format!("The file cannot be read as HCL: {}.", error.message())));
        };
        redefined.entry(offset).or_insert(first);
        changed = renamed;
    }
}

fn is_redefinition(error: &Error) -> bool {
    error.message().ends_with("found redefined object key")
}

/// The first letter of the key at an offset, and the text with another one. `None` if the key is not a plain name.
fn renamed(text: &str, offset: usize, letter: char) -> Option<(char, String)> {
    let at = offset + usize::from(text[offset..].starts_with('"'));
    let first = text[at..].chars().next().filter(|first| first.is_ascii_alphanumeric() || *first == '_')?;
    Some((first, format!("{}{letter}{}", &text[..at], &text[at + first.len_utf8()..])))
}

/// What surrounds a position.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    /// A block or an object: a newline ends an item.
    Items,
    /// Brackets of any other kind: a newline is a space.
    Brackets,
    /// A quoted string.
    Text,
}

/// The same text, with spaces in place of the newlines that have no meaning and of the comments that end with them.
/// Positions stay as they are.
fn without_ignored(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut contexts = vec![Context::Items];
    let mut at = 0;
    while at < bytes.len() {
        let context = contexts.last().copied().unwrap_or(Context::Items);
        let rest = &bytes[at..];
        let mut length = 1;
        match (context, rest) {
            (Context::Text, [b'\\', ..]) => length = 2,
            (Context::Text, [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..]) => length = 3,
            (Context::Text, [b'$' | b'%', b'{', ..]) => {
                contexts.push(Context::Brackets);
                length = 2;
            }
            (Context::Text, [b'"', ..]) => _ = contexts.pop(),
            (Context::Text, _) => {}
            (_, [b'"', ..]) => contexts.push(Context::Text),
            (_, [b'#', ..] | [b'/', b'/', ..]) => {
                length = line_length(rest);
                if context == Context::Brackets {
                    bytes[at..at + length].fill(b' ');
                }
            }
            (_, [b'/', b'*', ..]) => length = comment_length(rest),
            (_, [b'<', b'<', ..]) => length = heredoc_length(rest),
            (_, [b'(' | b'[', ..]) => contexts.push(Context::Brackets),
            (_, [b'{', inner @ ..]) => {
                contexts.push(if begins_with_for(inner) { Context::Brackets } else { Context::Items });
            }
            (_, [b')' | b']' | b'}', ..]) => _ = contexts.pop(),
            (Context::Brackets, [b'\r' | b'\n', ..]) => bytes[at] = b' ',
            _ => {}
        }
        at += length;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The length up to the end of the line, without it.
fn line_length(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())
}

fn comment_length(text: &[u8]) -> usize {
    text.windows(2).skip(2).position(|end| end == b"*/").map_or(text.len(), |position| position + 4)
}

/// The length up to the end of the marker that ends the text, or that of the operator if no marker follows it.
fn heredoc_length(text: &[u8]) -> usize {
    let first = line_length(text);
    let marker = text[2..first].strip_prefix(b"-").unwrap_or(&text[2..first]).trim_ascii();
    let mut at = first;
    while !marker.is_empty() && at < text.len() {
        let line = &text[at + 1..];
        at += 1 + line_length(line);
        if line[..line_length(line)].trim_ascii() == marker {
            return at;
        }
    }
    2
}

fn begins_with_for(mut text: &[u8]) -> bool {
    loop {
        text = text.trim_ascii_start();
        match text {
            [b'#', ..] | [b'/', b'/', ..] => text = &text[line_length(text)..],
            [b'/', b'*', ..] => text = &text[comment_length(text)..],
            _ => break,
        }
    }
    let after = text.strip_prefix(b"for").and_then(|rest| rest.first());
    after.is_some_and(|next| next.is_ascii_whitespace() || b"#/".contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newlines_without_a_meaning_become_spaces() {
        let text = r##"a = { # kept
  b = [ # é
    1, /* kept
    */ 2 // x
  ]
  c = "\"( ${f(
    "[", # x
  )} $${ %%{ (
  "
  d = <<-EOT
    ( ${[
    ]}
    EOT
  e = {
    /* x */ # x
    for k, v in x : k =>
    v ? 1
    : { f = 1
      g = (
        2) }
  }
  for_h = { forest = 1
    i = 1 }
}
"##;
        let expected = r##"a = { # kept
  b = [ ....     1, /* kept
    */ 2 ....   ]
  c = "\"( ${f(     "[", ...   )} $${ %%{ (
  "
  d = <<-EOT
    ( ${[
    ]}
    EOT
  e = {     /* x */ ...     for k, v in x : k =>     v ? 1     : { f = 1
      g = (         2) }   }
  for_h = { forest = 1
    i = 1 }
}
"##;
        let changed = without_ignored(text);
        assert_eq!(changed.len(), text.len());
        // Dots mark the place of comments.
        let squeezed = |text: &str| text.replace('.', "").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&changed), squeezed(expected));
        assert_eq!(changed.lines().count(), expected.lines().count());
    }

    #[test]
    fn incomplete_texts_stay_as_long() {
        for text in
            ["", "\"", "\"\\", "/*", "<<", "<<EOT", "<<EOT\n", "<<EOT\nx", "}", "{", "[\n", "\"${", "#", "a = <<-\n("]
        {
            assert_eq!(without_ignored(text).len(), text.len(), "{text:?}");
        }
    }
}
