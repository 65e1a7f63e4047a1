//! The examples that users copy.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Bed;

#[test]
fn the_examples_apply_and_destroy() {
    for example in all() {
        let bed = Bed::new();
        bed.workspace.config(&prepared(&bed, &example));
        bed.workspace.apply(&[]).succeeded();
        bed.workspace.assert_nothing_to_do();
        bed.workspace.destroy().succeeded();
        bed.proxy.account().assert_nothing_of_ours_is_left();
    }
}

/// Every file of examples.
pub(super) fn all() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_http_gateway");
    let mut files: Vec<_> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|file| file.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tf"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are examples in {}", directory.display());
    files
}

/// An example as it can be applied in the account of a test, which has its functions from now on.
pub(super) fn prepared(bed: &Bed, example: &Path) -> String {
    let example = std::fs::read_to_string(example).expect("an example can be read");
    let example = without_terraform_block(&example)
        .replace(":123456789012:", &format!(":{}:", bed.proxy.account().id))
        .replace(":eu-central-1:", ":us-east-1:");
    make_functions(bed, &example);
    example
}

/// The workspace requires the provider already.
fn without_terraform_block(example: &str) -> &str {
    match example.split_once("terraform {\n") {
        Some((_, rest)) => rest.split_once("\n}\n").expect("a block ends").1,
        None => example,
    }
}

/// The functions that an example names by ARN, or as that of an authorizer, with their aliases.
fn make_functions(bed: &Bed, example: &str) {
    let by_arn = example.split(":function:").skip(1).filter_map(|rest| rest.split_once('"'));
    let is_name = |line: &&str| line.split_whitespace().next() == Some("authorizer_name");
    let in_authorizers = example.split_once("faas_authorizers = {").map_or("", |(_, rest)| rest);
    let by_name = in_authorizers.lines().filter(is_name).filter_map(|line| line.split('"').nth(1));
    let named: BTreeSet<&str> = by_arn.map(|(name, _)| name).chain(by_name).collect();
    let mut made = BTreeSet::from(["orders", "users", "guard", "keeper"]);
    for function in named {
        let (name, alias) = function.split_once(':').map_or((function, None), |(name, alias)| (name, Some(alias)));
        if made.insert(name) {
            let source = "def handler(event, context):\n    return {'statusCode': 200, 'body': 'here'}\n";
            bed.proxy.account().create_function(name, source);
        }
        if let Some(alias) = alias {
            let alias = json!({ "FunctionName": name, "Name": alias, "FunctionVersion": "$LATEST" });
            bed.proxy.account().boto("lambda", "create_alias", alias);
        }
    }
}
