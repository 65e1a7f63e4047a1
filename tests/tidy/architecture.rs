//! ARCHITECTURE.md names only files and tests that exist.

use super::rule::assert_kept;
use super::tree::tree;

#[test]
fn architecture_names_existing_files_and_tests() {
    let files = tree();
    let text = files.iter().find(|file| file.path == "ARCHITECTURE.md").expect("the file exists");
    let mut places = Vec::new();
    let mut invariants = 0;
    for (number, line) in text.lines() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        for name in &quoted {
            let is_path =
                ["src/", "tests/", "proto/", "docs/", "examples/", "scripts/"].iter().any(|top| name.starts_with(top));
            let folder = format!("{}/", name.trim_end_matches('/'));
            let exists = files.iter().any(|file| file.path == *name || file.path.starts_with(&folder));
            if is_path && !name.contains(['*', '{', '<']) && !exists {
                places.push(format!("ARCHITECTURE.md:{number}: {name} does not exist"));
            }
        }
        if line.starts_with("- **Invariant.**") {
            invariants += 1;
            let test = quoted.last().copied().unwrap_or_default();
            let declared = format!("fn {test}(");
            if test.is_empty() || !files.iter().any(|file| file.is_rust() && file.text.contains(&declared)) {
                places.push(format!("ARCHITECTURE.md:{number}: there is no test {test:?}"));
            }
        }
    }
    assert!(invariants > 10, "the invariants of ARCHITECTURE.md are not found");
    assert_kept(
        "ARCHITECTURE.md is correct: its files exist, and each invariant ends with the name of its test.",
        &places,
    );
}
