//! The examples that users copy.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{TestEnv, text};
use crate::both;

#[test]
fn the_examples_apply_and_destroy() {
    for example in all() {
        let env = TestEnv::with_terraform();
        env.workspace.config(&prepared(&env, &example));
        env.workspace.apply(&[]).succeeded();
        env.workspace.assert_nothing_to_do();
        env.workspace.destroy().succeeded();
        env.proxy.account().assert_nothing_of_ours_is_left();
    }
}

#[test]
fn the_first_example_is_restored_by_the_import_examples() {
    let env = TestEnv::with_terraform();
    env.workspace.config(&prepared(&env, &directory().join("resource.tf")));
    env.workspace.apply(&[]).succeeded();
    env.workspace.import_as_shown(&directory());
    env.workspace.destroy().succeeded();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

fn directory() -> PathBuf {
    both::examples("fgw_four_tier_vpc")
}

/// All complete examples.
pub(super) fn all() -> Vec<PathBuf> {
    both::complete_examples("fgw_four_tier_vpc")
}

/// An example, adapted to the account of a test.
pub(super) fn prepared(env: &TestEnv, example: &Path) -> String {
    let example = std::fs::read_to_string(example).expect("an example can be read");
    env.of_account(&with_real_addresses(env, both::without_terraform_block(&example)))
}

/// Allocates addresses and puts their ids in place of those in the example.
fn with_real_addresses(env: &TestEnv, example: &str) -> String {
    let mut parts = example.split("\"eipalloc-");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let allocated = env.ec2("allocate_address", json!({"Domain": "vpc"}));
        let rest = part.split_once('"').expect("a string ends").1;
        written += &format!("\"{}\"{rest}", text(&allocated["AllocationId"]));
    }
    written
}
