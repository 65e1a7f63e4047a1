//! Every mention of a version of Rust or Terraform agrees with Cargo.toml.

use super::rule::assert_kept;
use super::tree::{File, tree};

/// This file, which contains other versions as examples.
const THIS: &str = "tests/tidy/versions.rs";

#[test]
fn versions_of_rust_and_terraform_agree_with_cargo_toml() {
    let files = tree();
    let manifest = files.iter().find(|file| file.path == "Cargo.toml").expect("the package has a manifest");
    let rust = stated(manifest, "rust-version = ");
    let (minimum, tested) = (stated(manifest, "minimum = "), stated(manifest, "tested = "));
    let workflows: Vec<&File> = files.iter().filter(|file| file.is_of(".github/workflows")).collect();
    let built =
        workflows.iter().find_map(|file| file.lines().find_map(|(_, line)| after(line, "RUSTUP_TOOLCHAIN: \"")));
    let built = built.expect("a workflow pins its version of Rust");
    assert!(numbers(built) >= numbers(rust), "the workflows build with Rust {built}, below the minimum {rust}");

    let mut found = 0;
    let mut places = Vec::new();
    for file in files.iter().filter(|file| file.path != THIS) {
        for (number, line) in file.lines() {
            let named = [
                (minimum_of(line, "Rust "), rust),
                (minimum_of(line, "Terraform "), minimum),
                (after(line, "Tested with Terraform "), tested),
                (after(line, "required_version = \">= "), &format!("{minimum}.0")),
                (after(line, "terraform_version: \"").filter(|_| file.path.ends_with(".yml")), tested),
                (after(line, "RUSTUP_TOOLCHAIN: \""), built),
            ];
            for (version, expected) in named.into_iter().filter_map(|(version, expected)| Some((version?, expected))) {
                found += 1;
                if version != expected {
                    places.push(format!("{}:{number}: {version}, not {expected}", file.path));
                }
            }
        }
    }
    assert!(found > 8, "the mentions of versions are not found");
    assert_kept("Cargo.toml states the versions of Rust and Terraform, and all other mentions agree with it.", &places);
}

#[test]
fn configurations_require_the_version_in_cargo_toml() {
    let files = tree();
    let manifest = files.iter().find(|file| file.path == "Cargo.toml").expect("the package has a manifest");
    let expected = format!("version = \"{}\"", stated(manifest, "version = "));
    let mut found = 0;
    let mut places = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md") || file.path.ends_with(".tf")) {
        let lines: Vec<(usize, &str)> = file.lines().map(|(number, line)| (number, line.trim())).collect();
        for pair in lines.windows(2).filter(|pair| pair[0].1.ends_with("= \"fgw/fgw\"")) {
            let (number, line) = pair[1];
            found += usize::from(line == expected);
            if (line.starts_with("version") || file.is_of("examples")) && line != expected {
                places.push(format!("{}:{number}: {line}, not {expected}", file.path));
            }
        }
    }
    assert!(found >= 2, "the README and a guide require the version");
    assert_kept(
        "A configuration that requires a version of the provider requires the one in Cargo.toml, and each example does.",
        &places,
    );
}

/// The value of a key in the manifest.
fn stated<'a>(manifest: &'a File, key: &str) -> &'a str {
    let value = manifest.lines().find_map(|(_, line)| line.strip_prefix(key)).expect("Cargo.toml states the version");
    value.trim_matches('"')
}

/// The version that follows some words.
fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(words)?;
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.')).filter(|version| version.starts_with(|it: char| it.is_ascii_digit()))
}

/// The version in `Rust 1.2 or later`. The last word may be on the next line.
fn minimum_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let version = after(line, name)?;
    let (_, rest) = line.split_once(&format!("{name}{version}"))?;
    (rest == " or" || rest.starts_with(" or later")).then_some(version)
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().expect("a version has numbers")).collect()
}

#[test]
fn versions_are_found_where_they_are_named() {
    assert_eq!(minimum_of("needs Rust 1.94.1 or later with a C compiler", "Rust "), Some("1.94.1"));
    assert_eq!(minimum_of("(Terraform 1.8 or", "Terraform "), Some("1.8"));
    assert_eq!(minimum_of("written by Terraform 0.11 or is empty", "Terraform "), None);
    assert_eq!(after("Tested with Terraform 1.11.4. If", "Tested with Terraform "), Some("1.11.4"));
    assert_eq!(after("  RUSTUP_TOOLCHAIN: \"1.95.0\"", "RUSTUP_TOOLCHAIN: \""), Some("1.95.0"));
}
