//! The table of messages in the guide is that of the code.

use std::collections::BTreeSet;

use super::rule::assert_kept;
use super::scan::{closing, length_of_quoted, without_text};
use super::tree::{File, product, tree};

const GUIDE: &str = "docs/guides/when-something-goes-wrong.md";

/// The calls that add a diagnostic, and the position of the summary in their arguments.
const CALLS: [(&str, usize); 8] = [
    (".error(", 0),
    (".warning(", 0),
    (".attribute_error(", 1),
    (".attribute_warning(", 1),
    ("diagnostics::failed(", 0),
    ("one_error(", 0),
    ("decoding_error(", 0),
    ("ConfigError::new(", 0),
];

/// Arguments that only pass a summary on. Its text is in `let summary = ...` or in `ConfigError::new`.
const PASSED_ON: [&str; 4] = ["summary", "&summary", "error.summary", ""];

#[test]
fn the_guide_lists_the_summaries_of_all_diagnostics() {
    let (mut in_code, mut computed) = (BTreeSet::new(), Vec::new());
    for file in product() {
        for summary in summaries(&file) {
            match summary {
                Ok(summary) => drop(in_code.insert(summary)),
                Err(place) => computed.push(place),
            }
        }
    }
    assert_kept("The summary of a diagnostic is a literal in the call that adds it.", &computed);
    let files = tree();
    let guide = files.iter().find(|file| file.path == GUIDE).expect("the guide exists");
    let in_guide: BTreeSet<String> = rows(&guide.text).collect();
    let missing: Vec<String> = in_code.difference(&in_guide).cloned().collect();
    assert_kept("The table of messages in the guide has a row for each summary.", &missing);
    let stale: Vec<String> = in_guide.difference(&in_code).cloned().collect();
    assert_kept("The table of messages in the guide has no row for a summary that does not exist.", &stale);
}

#[test]
fn no_summary_begins_with_error() {
    let summaries = product().into_iter().flat_map(|file| summaries(&file).into_iter().flatten());
    let doubled: Vec<String> = summaries.filter(|summary| summary.starts_with("Error")).collect();
    assert_kept("A summary does not begin with \"Error\", because Terraform prints this word before it.", &doubled);
}

/// The summaries in a file, with `<>` for each placeholder. `Err` is the place of one that is computed elsewhere.
fn summaries(file: &File) -> Vec<Result<String, String>> {
    let code = without_text(&file.text);
    let end = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    let mut found = Vec::new();
    for (call, position) in CALLS {
        for (at, _) in code[..end].match_indices(call) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            let is_declared = code[..at].ends_with("fn ");
            if is_declared || (!call.starts_with('.') && (before.is_alphanumeric() || before == '_')) {
                continue;
            }
            let Some((begin, end)) = argument(&code, at + call.len() - 1, position) else { continue };
            found.extend(summary(file, begin, end));
        }
    }
    for (at, statement) in code[..end].match_indices("let summary = ") {
        let begin = at + statement.len();
        let length = code[begin..].find(';').expect("a statement ends");
        found.extend(summary(file, begin, begin + length));
    }
    found
}

/// The text of one expression, or the place of an expression that is computed. `None` for one that is passed on.
fn summary(file: &File, begin: usize, end: usize) -> Option<Result<String, String>> {
    let text: Vec<&str> = file.text[begin..end].lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let text = text.join(" ");
    let text = text.trim();
    match literal(text) {
        Some(text) => Some(Ok(without_placeholders(&text))),
        None if PASSED_ON.contains(&text) => None,
        None => Some(Err(format!("{}:{}: {text}", file.path, file.text[..begin].lines().count()))),
    }
}

/// Where an argument begins and ends, by the bracket that opens the list.
fn argument(code: &str, open: usize, position: usize) -> Option<(usize, usize)> {
    let close = closing(code, open);
    let (mut depth, mut begin, mut bounds) = (0, open + 1, Vec::new());
    for (at, sign) in code[open + 1..close].char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                bounds.push((begin, open + 1 + at));
                begin = open + 2 + at;
            }
            _ => {}
        }
    }
    bounds.push((begin, close));
    bounds.get(position).copied()
}

/// The text of `"..."` or `format!("...", ...)`.
fn literal(argument: &str) -> Option<String> {
    let argument = argument.trim_start_matches('&');
    let quoted = argument.strip_prefix("format!(").unwrap_or(argument).trim_start();
    let text = quoted.starts_with('"').then(|| &quoted[1..length_of_quoted(quoted, '"') - 1])?;
    Some(text.replace("\\\"", "\""))
}

/// `Could not create {} {name:?}` becomes `Could not create <> "<>"`.
fn without_placeholders(text: &str) -> String {
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (placeholder, rest) = part.split_once('}').unwrap_or((part, ""));
        result.push_str(if placeholder.ends_with(":?") { "\"<>\"" } else { "<>" });
        result.push_str(rest);
    }
    result
}

/// The first cells of the table's rows, with `<>` for each `<placeholder>`.
fn rows(guide: &str) -> impl Iterator<Item = String> {
    guide.lines().filter_map(|line| {
        let message = line.strip_prefix("| `")?.split_once('`')?.0;
        let mut parts = message.split('<');
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            result.push_str("<>");
            result.push_str(part.split_once('>').map_or(part, |(_, rest)| rest));
        }
        Some(result)
    })
}

#[test]
fn summaries_are_read_from_calls_and_rows() {
    let text = "fn f() {\n    found.error(format!(\"Could not create {} {name:?}\", a(b, c)), detail);\n    \
                found.attribute_warning(path.key(\"a, b\"), \"Empty \\\"name\\\"\", \"\");\n    one_error(make(), x);\n}\n";
    let file = File { path: "src/a.rs".into(), text: text.into() };
    let expected = [
        Ok("Could not create <> \"<>\"".to_owned()),
        Ok("Empty \"name\"".to_owned()),
        Err("src/a.rs:4: make()".to_owned()),
    ];
    assert_eq!(summaries(&file), expected);
    let table = "| Message | Cause |\n|---|---|\n| `Could not create <type> \"<name>\"` | A call failed. |\n";
    assert_eq!(rows(table).collect::<Vec<_>>(), ["Could not create <> \"<>\""]);
}
