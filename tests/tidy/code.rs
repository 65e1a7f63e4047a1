//! Rules for code: forbidden constructs, the order of functions in a file, and the targets of the manifests.

use std::collections::BTreeSet;

use super::rule::{assert_kept, broken, first_of};
use super::scan::{is_root, normal};
use super::tree::{File, product, tree};

/// This file, which contains the words that are forbidden in the others.
const THIS: &str = "tests/tidy/code.rs";

#[test]
fn no_call_is_dropped_when_another_one_fails() {
    let files = tree();
    let code = files.iter().filter(|file| file.is_rust() && file.path != THIS);
    let places = broken(code, |line| first_of(line, &["try_join", "abort_on_drop", "JoinSet"]));
    assert_kept("A dropped call may have created something: wait for all calls, then check the results.", &places);
}

#[test]
fn every_kind_of_object_has_its_operations_in_one_order() {
    let files = product();
    let aws: Vec<&File> = files.iter().filter(|file| file.is_of("src/aws")).collect();
    let mut places = Vec::new();
    let mut texts = String::new();
    for file in aws {
        let position = |name: &str| {
            let declared = format!("fn {name}(");
            // In a network, `read` belongs to an implementation of `Listed`.
            let is_declared =
                |line: &str| line.starts_with("pub") || (name == "read" && line.trim_start().starts_with("fn "));
            file.lines().find(|(_, line)| is_declared(line) && line.contains(&declared)).map(|(number, _)| number)
        };
        let Some(create) = position("create") else { continue };
        texts.push_str(&file.text);
        let in_order = [Some(create), position("update"), position("delete")];
        if in_order.contains(&None) || !in_order.is_sorted() {
            places.push(format!("{}:{create}: update and delete do not follow create", file.path));
        }
        if let Some(read) = position("read").filter(|read| *read > create) {
            places.push(format!("{}:{read}: read follows create", file.path));
        }
    }
    for kind in kinds(&files) {
        if !texts.contains(&format!("spec: &{kind})")) && !texts.contains(&format!("spec: &{kind},")) {
            places.push(format!("src/model/spec.rs: no file below src/aws creates {kind}"));
        }
    }
    assert_kept("Each kind has a file with read, create, update, delete in that order.", &places);
}

fn kinds(files: &[File]) -> Vec<String> {
    let list = files.iter().find(|file| file.path == "src/model/spec.rs").expect("this file lists the kinds");
    let lines = list.text.lines().skip_while(|line| *line != "kinds! {").skip(1).take_while(|line| *line != "}");
    let kinds: Vec<String> = lines.map(|line| line.trim().trim_end_matches(',').to_string()).collect();
    assert!(kinds.len() > 10, "the kinds are not found: {kinds:?}");
    kinds
}

#[test]
fn no_stubs_open_notes_or_ignored_tests() {
    let files = tree();
    let places: Vec<String> = files
        .iter()
        .filter(|file| file.path != THIS)
        .filter(|file| [".rs", ".py", ".sh", ".tf", ".proto"].iter().any(|end| file.path.ends_with(end)))
        .flat_map(|file| {
            let words = ["todo!", "unimplemented!", "#[ignore", "#[should_panic", "FIXME", "XXX", "TODO", "dbg!"];
            let found = file.lines().filter_map(move |(number, line)| Some((number, first_of(line, &words)?)));
            found.map(|(number, word)| format!("{}:{number}: {word}", file.path)).collect::<Vec<_>>()
        })
        .collect();
    assert_kept("There are no stubs, no notes about open work, and no tests that do not run.", &places);
}

#[test]
fn every_possible_panic_states_a_reason() {
    let places = broken(&product(), |line| first_of(line, &[".unwrap()", ".expect(\"\")", "unreachable!", "panic!("]));
    assert_kept("Outside tests, expect states why it cannot fail, and nothing else panics.", &places);
}

#[test]
fn releases_do_not_contain_panic_on_demand() {
    let files = tree();
    let mut named = Vec::new();
    for file in product().iter().filter(|file| file.path != "src/cloud/panic_on_demand.rs") {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[1].contains("panic_on_demand")) {
            assert_eq!(pair[0], "#[cfg(debug_assertions)]", "{}: {}", file.path, pair[1]);
            named.push(file.path.clone());
        }
    }
    assert_eq!(named, ["src/cloud.rs", "src/provider.rs"]);
    // Cargo disables these assertions in a release unless a profile, a flag or the environment enables them.
    let settings = ["Cargo.toml", ".cargo/config.toml", "Makefile", "scripts/package.py"];
    let settings: Vec<&File> = files.iter().filter(|file| settings.contains(&file.path.as_str())).collect();
    assert_eq!(settings.len(), 4);
    for file in settings {
        let text = file.text.to_lowercase().replace('_', "-");
        assert!(!text.contains("debug-assertions"), "{} sets debug assertions", file.path);
    }
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
