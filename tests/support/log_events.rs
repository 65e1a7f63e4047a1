//! Log groups of an account, and their events.

use serde_json::{Value, json};

use super::emulator::Account;

/// Creates a log group outside Terraform.
pub(crate) fn create_group(account: &Account, name: &str, days: Option<i64>, tags: Value) {
    account.boto("logs", "create_log_group", json!({ "logGroupName": name, "tags": tags }));
    if let Some(days) = days {
        account.boto("logs", "put_retention_policy", json!({ "logGroupName": name, "retentionInDays": days }));
    }
}

/// Writes an event to a log group.
pub(crate) fn write(account: &Account, group: &str, text: &str) {
    let stream = json!({ "logGroupName": group, "logStreamName": text });
    account.boto("logs", "create_log_stream", stream);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis();
    let millis = u64::try_from(now).expect("it fits");
    let events = json!([{ "timestamp": millis, "message": text }]);
    let event = json!({ "logGroupName": group, "logStreamName": text, "logEvents": events });
    account.boto("logs", "put_log_events", event);
}

/// The texts of the events of a log group, sorted. Empty if the group does not exist.
pub(crate) fn read(account: &Account, group: &str) -> Vec<String> {
    let exists = account.list_of("log_groups").iter().any(|it| it["logGroupName"] == group);
    if !exists {
        return Vec::new();
    }
    let found = account.boto("logs", "filter_log_events", json!({ "logGroupName": group }));
    let events = found["events"].as_array().expect("a list").iter();
    let mut texts: Vec<String> = events.map(|it| it["message"].as_str().expect("a text").to_owned()).collect();
    texts.sort();
    texts
}
