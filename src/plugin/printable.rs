//! Text from outside in messages and logs.

use std::borrow::Cow;

/// The text in one line. Characters that end the line, control a terminal, are invisible or change the direction of
/// the text are escaped as in Rust: `\n`, `\u{202e}`. In the name of an object they could forge a message.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same for a text of several lines.
pub(super) fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character != '\n' && is_hidden(character))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_escaped(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown.into()
}

/// Whether a character is not visible, or changes how others are shown.
pub(super) fn is_hidden(character: char) -> bool {
    // C0, DEL and C1. The others are the line separators, and the format characters: soft hyphen, Arabic letter mark,
    // Mongolian vowel separator, zero-width characters, directional marks, byte order mark, annotations and tags.
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_all_others_stay() {
        let escaped = [
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[2K\u{9b}2K\u{7f}", "\\u{1b}[2K\\u{9b}2K\\u{7f}"),
            ("x\u{202e}y\u{2066}z\u{200d}", "x\\u{202e}y\\u{2066}z\\u{200d}"),
            ("\u{2028}\u{feff}\u{e0041}", "\\u{2028}\\u{feff}\\u{e0041}"),
        ];
        for (text, expected) in escaped {
            assert_eq!(printable(text), expected);
        }
        for text in ["", "door.front.0", "a \"b\" \\n 'c'", "Zürich 東京 नमस्ते 🚀"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_text_of_several_lines_keeps_only_its_line_ends() {
        assert_eq!(printable_lines("a\n\r\n\u{85}b"), "a\n\\r\n\\u{85}b");
    }
}
