//! The guide on the first run on an AWS account: its list of arguments is generated from the schema, and its policies
//! are those of the permissions guide.

use std::path::Path;
use std::process::Command;

use fgw::plugin::{Attribute, AttributeType, Provider as _};
use fgw::provider::Fgw;
use fgw::topology::NOT_YET_RUN;
use serde_json::Value;

use super::Guide;

/// The paths of the attributes that no emulator supports.
fn not_yet_run(attributes: &[Attribute], parent: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for attribute in attributes {
        let path = format!("{parent}{}", attribute.name);
        if let AttributeType::Nested(_, nested) = &attribute.kind {
            paths.extend(not_yet_run(nested, &format!("{path}.")));
        }
        if attribute.remark == Some(NOT_YET_RUN) {
            paths.push(path);
        }
    }
    paths
}

#[test]
fn guide_on_the_first_run_lists_the_arguments_without_an_emulator() {
    let mut guide = Guide::open("first-run-on-an-aws-account.md");
    let mut list = String::new();
    for resource in Fgw::default().resources() {
        let paths = not_yet_run(&resource.schema().attributes, "");
        let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        list += &format!("- `{}`: {}\n", resource.type_name(), names.join(", "));
    }
    guide.put("not-yet-run", &list);
    guide.check();
}

#[test]
fn policies_are_written_for_the_account_and_the_region() {
    let root = env!("CARGO_MANIFEST_DIR");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let run = |account: &str, names: &[&str]| {
        let account = format!("ACCOUNT={account}");
        let arguments = ["-s", "--no-print-directory", "policies", &account, "REGION=cn-north-1"]
            .into_iter()
            .chain(names.iter().copied());
        let make = Command::new("make").args(arguments).current_dir(root).env("OUTPUT", directory.path()).output();
        make.expect("make can be started")
    };
    let written = run("210987654321", &[]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let roles = String::from_utf8_lossy(&written.stderr);
    assert!(roles.contains("a role for terraform plan with network-read.json and gateway-read.json"), "{roles}");
    let files = String::from_utf8(written.stdout).expect("paths are text");
    assert_eq!(files.lines().count(), 11, "{files}");
    assert!(files.contains("gateway-change.json (examples to fill in: FUNCTION)"), "{files}");
    let guide = Guide::open("permissions.md");
    for file in files.lines() {
        let file = file.split(" (").next().expect("a line is not empty");
        let name = Path::new(file).file_stem().and_then(|name| name.to_str()).expect("a file has a name");
        let text = std::fs::read_to_string(file).expect("the file was written");
        let policy: Value = serde_json::from_str(&text).expect("a policy is JSON");
        let expected = &guide.text[guide.part(name)];
        let expected = expected.trim().trim_start_matches("```json").trim_end_matches("```");
        let expected = expected.replace("123456789012", "210987654321").replace("eu-central-1", "cn-north-1");
        let expected = expected.replace("arn:aws:", "arn:aws-cn:").replace("arn%3Aaws%3A", "arn%3Aaws-cn%3A");
        let expected: Value = serde_json::from_str(&expected).expect("JSON too");
        assert_eq!(policy, expected, "{name}");
    }
    let named = run("210987654321", &["FUNCTION=orders,carts", "DOMAIN=shop.example.org"]);
    let files = String::from_utf8(named.stdout).expect("paths are text");
    assert!(!files.contains("FUNCTION") && !files.contains("DOMAIN"), "{files}");
    let text = std::fs::read_to_string(directory.path().join("gateway-change.json")).expect("the file was written");
    assert!(!text.contains("my-function"), "{text}");
    for name in ["orders", "carts", "orders:*", "carts:*"] {
        assert!(
            text.contains(&format!("arn:aws-cn:lambda:cn-north-1:210987654321:function:{name}\"")),
            "{name}: {text}"
        );
    }
    let refused = run("1234", &[]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("make policies ACCOUNT=123456789012 REGION="));
}
