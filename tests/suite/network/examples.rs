//! The examples that users copy.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{TestEnv, text};

#[test]
fn the_examples_apply_and_destroy() {
    for example in all() {
        let bed = TestEnv::with_terraform();
        bed.workspace.config(&prepared(&bed, &example));
        bed.workspace.apply(&[]).succeeded();
        bed.workspace.assert_nothing_to_do();
        bed.workspace.destroy().succeeded();
        bed.proxy.account().assert_nothing_of_ours_is_left();
    }
}

#[test]
fn the_first_example_comes_back_by_the_examples_of_imports() {
    let bed = TestEnv::with_terraform();
    bed.workspace.config(&prepared(&bed, &directory().join("resource.tf")));
    bed.workspace.apply(&[]).succeeded();
    bed.workspace.import_as_shown(&directory());
    bed.workspace.destroy().succeeded();
    bed.proxy.account().assert_nothing_of_ours_is_left();
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_four_tier_vpc")
}

/// Every file of examples, but those of imports, which are no whole configurations.
pub(super) fn all() -> Vec<PathBuf> {
    let directory = directory();
    let mut files: Vec<_> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|file| file.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tf"))
        .filter(|path| !path.ends_with("import-by-string-id.tf"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are examples in {}", directory.display());
    files
}

/// An example as it can be applied in the account of a test.
pub(super) fn prepared(bed: &TestEnv, example: &Path) -> String {
    let example = std::fs::read_to_string(example).expect("an example can be read");
    with_real_addresses(bed, without_terraform_block(&example))
}

/// The workspace requires the provider already.
pub(super) fn without_terraform_block(example: &str) -> &str {
    match example.split_once("terraform {\n") {
        Some((_, rest)) => rest.split_once("\n}\n").expect("a block ends").1,
        None => example,
    }
}

/// An example names addresses that exist in the reader's account; here they are allocated.
fn with_real_addresses(bed: &TestEnv, example: &str) -> String {
    let mut parts = example.split("\"eipalloc-");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let allocated = bed.ec2("allocate_address", json!({"Domain": "vpc"}));
        let rest = part.split_once('"').expect("a text ends").1;
        written += &format!("\"{}\"{rest}", text(&allocated["AllocationId"]));
    }
    written
}
