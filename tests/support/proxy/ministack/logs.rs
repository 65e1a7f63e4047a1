//! CloudWatch Logs: the keys of log groups, which ministack takes only when a group is made.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::super::call::Call;
use super::super::message::Reply;

/// The keys that groups have been given or deprived of, by the names of the groups.
#[derive(Debug, Default)]
pub(super) struct Keys(Mutex<BTreeMap<String, Value>>);

impl Keys {
    /// AWS lets the key of a group be exchanged; ministack does not know the two calls.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<Reply, String> {
        let mut keys = self.0.lock().expect("no one panics while holding it");
        let group = call.param("logGroupName").to_owned();
        match call.action.as_str() {
            "AssociateKmsKey" => keys.insert(group, call.param("kmsKeyId").into()),
            "DisassociateKmsKey" => keys.insert(group, Value::Null),
            "CreateLogGroup" | "DeleteLogGroup" if reply.is_success() => {
                keys.remove(&group);
                return Ok(reply);
            }
            "DescribeLogGroups" if reply.is_success() => return with_keys(&keys, reply),
            _ => return Ok(reply),
        };
        Ok(Reply::json(200, &json!({})))
    }
}

fn with_keys(keys: &BTreeMap<String, Value>, reply: Reply) -> Result<Reply, String> {
    let mut body = super::body_of(&reply)?;
    for group in body["logGroups"].as_array_mut().into_iter().flatten() {
        let Some(key) = group["logGroupName"].as_str().and_then(|name| keys.get(name)) else { continue };
        match key {
            Value::Null => drop(group.as_object_mut().and_then(|group| group.remove("kmsKeyId"))),
            key => group["kmsKeyId"] = key.clone(),
        }
    }
    Ok(reply.with_body(body.to_string()))
}
