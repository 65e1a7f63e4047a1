//! Rules for the text of files: size, width and forbidden words.

use super::rule::{assert_kept, first_of};
use super::tree::{File, test_files, tree};

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let paths = ["work", "root", "home", "Users"].map(|top| format!("/{top}/"));
    let hosts = [("crates", "io"), ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("golang", "org")];
    let words: Vec<String> = paths.into_iter().chain(hosts.map(|(name, top)| format!("{name}.{top}"))).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut places = Vec::new();
    // Cargo writes the URL of its index into the lock file.
    for file in tree().iter().filter(|file| file.path != "Cargo.lock") {
        let found = file.lines().filter_map(|(number, line)| Some((number, first_of(line, &words)?)));
        places.extend(found.map(|(number, word)| format!("{}:{number}: {word}", file.path)));
    }
    assert_kept("No file contains a path of one machine or the host of a package registry.", &places);
}

#[test]
fn files_have_a_limited_size_and_a_purpose() {
    let files = tree();
    let tests = test_files(&files);
    let mut places = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let is_test = !file.is_of("src") || tests.iter().any(|test| file.is_of(test));
        let (most, lines) = (if is_test { 699 } else { 500 }, file.text.lines().count());
        if lines > most {
            places.push(format!("{}:{lines}: more than {most} lines", file.path));
        }
        let name = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if ["util", "utils", "helper", "helpers", "common", "misc", "manager"].contains(&name) {
            places.push(format!("{}:1: {name} names no purpose", file.path));
        }
    }
    assert_kept(
        "A product file has at most 500 lines, a test file fewer than 700, and its name states its purpose.",
        &places,
    );
}

/// rustfmt wraps code at this width, but not comments.
#[test]
fn comments_are_at_most_120_columns_wide() {
    let files = tree();
    let mut places = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let comments = file.lines().filter(|(_, line)| line.trim_start().starts_with("//"));
        let columns = comments.map(|(number, line)| (number, line.chars().count()));
        let wide = columns.filter(|(_, columns)| *columns > 120);
        places.extend(wide.map(|(number, columns)| format!("{}:{number}: {columns} columns", file.path)));
    }
    assert_kept("A line of a comment has at most 120 columns.", &places);
}

#[test]
fn wire_definitions_are_not_copied() {
    let files = tree();
    let proto: Vec<&File> = files.iter().filter(|file| file.is_of("proto")).collect();
    assert!(!proto.is_empty(), "the wire definitions are not found");
    let mut places = Vec::new();
    for file in proto {
        let words = ["copyright", "hashicorp", "spdx", "licence", "license", "mpl-"];
        let found = file.lines().filter_map(|(number, line)| Some((number, first_of(&line.to_lowercase(), &words)?)));
        places.extend(found.map(|(number, word)| format!("{}:{number}: {word}", file.path)));
    }
    assert_kept(
        "proto/ contains our own definitions: names and numbers are the interface, and the text is not copied.",
        &places,
    );
}
