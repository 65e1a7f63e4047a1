//! Networks and APIs that something else built, for adoptions.

#[path = "foreign/api.rs"]
pub(crate) mod api;
#[path = "foreign/network.rs"]
pub(crate) mod network;

use serde_json::Value;

use super::emulator::Account;

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// What [`structure`] leaves out: what an adoption may add to objects, the functions, which get permissions and are not
/// part of an API, and the deployments that API Gateway makes on its own.
const LEFT_OUT: [&str; 6] =
    ["tags", "Tags", "Associations", "functions", "DeploymentId", "LastDeploymentStatusMessage"];

/// The objects of an account that an adoption does not change.
pub(crate) fn structure(account: &Account) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(members) => {
                members.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut all = account.list();
    strip(&mut all);
    all
}

/// Panics with the lines that differ, unless both structures are equal.
pub(crate) fn assert_same(before: &Value, after: &Value) {
    let lines = |value: &Value| -> Vec<String> { format!("{value:#}").lines().map(str::to_owned).collect() };
    let (before, after) = (lines(before), lines(after));
    let missing: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    let new: Vec<&String> = after.iter().filter(|line| !before.contains(line)).collect();
    assert!(before == after, "an adoption has changed {missing:#?} to {new:#?}");
}
