//! The rules of AWS for tags.

use std::collections::BTreeMap;

use crate::model::MOST_TAGS;
use crate::plugin::{AttributePath, Input, Problem};

/// What [`is_allowed`] takes, as an instruction.
pub(super) const ALLOWED: &str = "Use letters, digits, spaces, and _ . : / = + - @ alone.";

/// Checks tags as configured.
pub(super) fn check(tags: Option<&BTreeMap<String, Input<String>>>, path: &AttributePath, problems: &mut Vec<Problem>) {
    let Some(tags) = tags else { return };
    check_count(tags.len(), path, problems);
    for (key, value) in tags {
        let path = path.key(key);
        let lower = key.to_ascii_lowercase();
        if lower.starts_with("aws:") || lower.starts_with("fgw:") {
            let owner = if lower.starts_with("aws:") { "AWS" } else { "this provider" };
            let message = format!("Tag keys that start with {:?} belong to {owner}.", &key[..4]);
            problems.push(Problem::new(path.clone(), message, "Choose another key."));
        }
        let length = key.chars().count();
        if !(1..=128).contains(&length) {
            let message = format!("The tag key {key:?} has {length} characters; AWS takes 1 to 128.");
            problems.push(Problem::new(path.clone(), message, "Choose another key."));
        }
        if !key.chars().all(is_allowed) {
            let message = format!("The tag key {key:?} has characters that AWS does not take.");
            problems.push(Problem::new(path.clone(), message, ALLOWED));
        }
        let Some(value) = value.known() else { continue };
        let length = value.chars().count();
        if length > 256 {
            let message = format!("The tag's value has {length} characters; AWS takes at most 256.");
            problems.push(Problem::new(path.clone(), message, "Shorten it."));
        }
        if !value.chars().all(is_allowed) {
            let message = format!("The tag's value {value:?} has characters that AWS does not take.");
            problems.push(Problem::new(path, message, ALLOWED));
        }
    }
}

/// Checks the number of tags of one object, `default_tags` among them where they are known.
pub(super) fn check_count(count: usize, path: &AttributePath, problems: &mut Vec<Problem>) {
    if count > MOST_TAGS {
        problems.push(Problem::new(
            path.clone(),
            format!("There are {count} tags; AWS allows 50 on an object, and the provider needs 2 of them."),
            format!("Leave {} out, here or in default_tags.", count - MOST_TAGS),
        ));
    }
}

/// Whether AWS takes a character in the key or value of a tag.
pub(super) fn is_allowed(character: char) -> bool {
    character.is_alphanumeric() || character == ' ' || "_.:/=+-@".contains(character)
}
