//! How and when ministack deploys the changes of APIs, see `deployments.py`.

use serde_json::{Value, json};

use super::emulator::Account;
use super::http;
use super::wait::until;

/// The settings of an account. They apply to deployments that have not ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deployments<'a> {
    /// The time in seconds from a change to the end of its deployment, if it is not the default of 0.3 s.
    pub(crate) seconds: Option<f64>,
    /// Whether one deployment covers all changes until its end. By default, each change has its own, in order.
    pub(crate) coalesced: bool,
    /// The message with which deployments fail.
    pub(crate) failure: Option<&'a str>,
    /// The number of deployments that succeed before the first one that fails.
    pub(crate) succeeding: usize,
    /// The number of deployments that fail; `None` for all.
    pub(crate) failing: Option<usize>,
}

/// Changes the settings of an account.
pub(crate) fn set(account: &Account, settings: Deployments<'_>) {
    let Deployments { seconds, coalesced, failure, succeeding, failing } = settings;
    let body = json!({
        "seconds": seconds.unwrap_or(0.3), "coalesced": coalesced, "failure": failure, "succeeding": succeeding,
        "failing": failing,
    });
    let request = http::in_account(account, "apigateway", "PUT", PATH).body(&body.to_string());
    let answer = request.send().expect("ministack answers");
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Changes settings of the VPC links of an account, such as the listeners that they reach, see `integrations.py`. The
/// account replaces 123456789012 in their ARNs.
pub(crate) fn set_links(account: &Account, settings: &Value) {
    let request = http::in_account(account, "apigateway", "PUT", "/v2/vpclinks/_listeners");
    let answer = request.body(&account.fill_in(&settings.to_string())).send().expect("ministack answers");
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// The VPC links of an account that have network interfaces. This does not count as a read of them.
pub(crate) fn connected_links(account: &Account) -> Vec<Value> {
    let request = http::in_account(account, "apigateway", "GET", "/v2/vpclinks/_listeners");
    let answer = request.send().expect("ministack answers").json();
    answer["connected"].as_array().expect("a list").clone()
}

/// Waits until all deployments have ended.
pub(crate) fn wait(account: &Account) {
    until("all changes are deployed", || pending(account) == 0);
}

/// The deletions that began before the changes were deployed.
pub(crate) fn early_deletions(account: &Account) -> Vec<String> {
    let paths = status(account)["early"].as_array().cloned().expect("a list");
    paths.iter().map(|path| path.as_str().expect("a path").to_owned()).collect()
}

/// Waits until a deployment that a test creates has a later time than all changes before this call. Times have a
/// resolution of one second.
pub(crate) fn wait_for_a_later_second(account: &Account) {
    let time = || status(account)["time"].as_u64().expect("a number");
    let now = time();
    until("the second is over", || time() > now);
}

fn pending(account: &Account) -> u64 {
    status(account)["pending"].as_u64().expect("a number")
}

fn status(account: &Account) -> Value {
    let answer = http::in_account(account, "apigateway", "GET", PATH).send().expect("ministack answers");
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

const PATH: &str = "/v2/apis/_deployments";
