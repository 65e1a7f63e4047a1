//! Words that the style guide in CONTRIBUTING.md replaces by established terms.
//!
//! The list has only words that no plain sentence of this project needs. A rule cannot judge style; it keeps the most
//! frequent terms of the early texts from coming back.

use super::rule::{assert_kept, has_word};
use super::scan::scan;
use super::tree::tree;

/// Rejected words, each with its replacement.
const WORDS: [(&str, &str); 21] = [
    ("anew", "again"),
    ("behind our back", "outside Terraform"),
    ("beside", "next to, in addition to"),
    ("cannot be had", "cannot be requested"),
    ("gone", "deleted, missing"),
    ("hand over", "import, adopt"),
    ("handed over", "imported, adopted"),
    ("in its way", "depends on it"),
    ("in the way", "depends on it"),
    ("let go of", "stop managing"),
    ("lets go of", "stops managing"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("newborn", "recently created"),
    ("nobody", "no user, no object"),
    ("of others", "unmanaged"),
    ("somebody", "a user, a process"),
    ("stands", "exists, is"),
    ("told", "reported"),
    ("whoever", "any user, any process"),
];

/// Files that name rejected words for a reason.
const EXEMPT: [&str; 3] = [
    // The style guide quotes bad examples.
    "CONTRIBUTING.md",
    // This list.
    "tests/tidy/language.rs",
    // Terms that we do not write.
    "LICENSE",
];

#[test]
fn texts_use_the_terms_of_the_style_guide() {
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| !EXEMPT.contains(&file.path.as_str())) {
        for (number, line) in file.lines() {
            let line = line.to_lowercase();
            let found = WORDS.iter().filter(|(word, _)| has_word(&line, word));
            places.extend(found.map(|(word, better)| format!("{}:{number}: {word:?}: use {better}", file.path)));
        }
    }
    assert_kept("Texts use the terms of the style guide in CONTRIBUTING.md.", &places);
}

/// The style guide asks for about 60 characters; a few tests need some more.
#[test]
fn test_names_are_short() {
    const LONGEST: usize = 65;
    let tests = scan(&tree()).tests;
    let name = |path: &str| path.rsplit("::").next().map_or(0, str::len);
    let long: Vec<String> = tests.into_iter().map(|test| test.path).filter(|path| name(path) > LONGEST).collect();
    assert_kept(&format!("The name of a test has at most {LONGEST} characters."), &long);
}
