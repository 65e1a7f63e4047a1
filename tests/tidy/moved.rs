//! No test of 0.1 is lost: each exists, or `tests/moved.txt` maps it to the test that makes its assertions now.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::assert_kept;
use super::scan::{is_root, normal, scan};
use super::tree::{File, tree};

/// The names of all tests of commit 02c1f90, from which 0.2 started, as its test binaries printed them.
const BEFORE: &str = "tests/before-0.2.txt";
/// The tests that were renamed or moved since then: `old::path -> new::path`, with an optional `# reason`. A test that
/// was split has several lines.
const MOVED: &str = "tests/moved.txt";

#[test]
fn every_test_of_0_1_exists_or_is_mapped() {
    let files = tree();
    let tests = scan(&files).tests;
    let now: BTreeSet<&str> = tests.iter().map(|test| test.path.as_str()).collect();
    let before: BTreeSet<&str> = entries(&files, BEFORE).map(|(_, name)| name).collect();
    assert!(before.len() > 1000, "the tests of 0.1 are not found");
    let (moved, mut places) = map(&files);
    for (number, old, new) in &moved {
        let mut wrong = |what: String| places.push(format!("{MOVED}:{number}: {what}"));
        if !before.contains(old) {
            wrong(format!("{old} is not in {BEFORE}"));
        }
        if now.contains(old) {
            wrong(format!("{old} still exists"));
        }
        if !now.contains(new) {
            wrong(format!("{new} does not exist"));
        }
    }
    let mapped: BTreeSet<&str> = moved.iter().map(|(_, old, _)| *old).collect();
    let lost = before.iter().filter(|name| !now.contains(*name) && !mapped.contains(*name));
    places.extend(lost.map(|name| format!("{MOVED}: {name} no longer exists: add `{name} -> its::successor`")));
    assert_kept("Each test of 0.1 exists or is in the map of moved tests, and the map is correct.", &places);
}

/// The entries of the map, and its malformed and duplicate lines.
fn map(files: &[File]) -> (Vec<(usize, &str, &str)>, Vec<String>) {
    let (mut moved, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in entries(files, MOVED) {
        match line.split_once(" -> ") {
            Some((old, new)) if moved.iter().any(|(_, one, other)| (*one, *other) == (old, new)) => {
                wrong.push(format!("{MOVED}:{number}: {old} -> {new} is a duplicate"));
            }
            Some((old, new)) => moved.push((number, old, new)),
            None => wrong.push(format!("{MOVED}:{number}: {line} is not `old::path -> new::path`")),
        }
    }
    (moved, wrong)
}

/// The lines of a list with their numbers, without comments.
fn entries<'a>(files: &'a [File], path: &str) -> impl Iterator<Item = (usize, &'a str)> {
    let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("there is no {path}"));
    let lines = file.lines().map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

/// The map identifies tests by their paths.
#[test]
fn no_two_tests_have_the_same_path() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for test in scan(&tree()).tests {
        places.entry(test.path).or_default().push(test.body.file);
    }
    let twice = places.iter().filter(|(_, files)| files.len() > 1);
    let twice: Vec<String> = twice.map(|(path, files)| format!("{path} in {}", files.join(" and "))).collect();
    assert_kept("Each test has a unique path across all test binaries.", &twice);
}

/// Cargo's search for tests is disabled (`autotests`), so a file that no manifest names would never run.
#[test]
fn every_test_binary_is_named_in_a_manifest() {
    let files = tree();
    let mut built = BTreeSet::new();
    for manifest in files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let paths = manifest.text.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"'));
        built.extend(paths.map(|path| normal(&format!("{folder}{path}"))));
    }
    let roots = files.iter().filter(|file| is_root(&file.path) && file.path.starts_with("tests/"));
    let forgotten = roots.filter(|file| !built.contains(&file.path));
    let forgotten: Vec<String> = forgotten.map(|file| format!("{}: no [[test]] names it", file.path)).collect();
    assert_kept("Each test binary is a target of a Cargo.toml.", &forgotten);
}
