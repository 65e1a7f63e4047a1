//! CloudWatch Logs: the KMS keys of log groups, which ministack supports only when it creates a group, and the ARNs of
//! groups with tags.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::super::call::Call;
use super::super::message::Reply;

/// The keys that were associated with a group after its creation, by the name of the group; null if the key was
/// disassociated.
#[derive(Debug, Default)]
pub(super) struct Keys(Mutex<BTreeMap<String, Value>>);

impl Keys {
    /// AWS allows a change of the key of a group; ministack does not support the two calls.
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

/// AWS creates a log group whose name contains `#`, but rejects its ARN in the calls about tags, because it does not
/// match their pattern `[\w+=/:,.@-]*`; ministack accepts any ARN.
pub(super) fn tags_rejected(call: &Call) -> Option<Reply> {
    if !["ListTagsForResource", "TagResource", "UntagResource"].contains(&call.action.as_str()) {
        return None;
    }
    let arn = call.param("resourceArn");
    let is_valid = arn.chars().all(|it| it.is_ascii_alphanumeric() || "_+=/:,.@-*".contains(it));
    let text = format!(
        "1 validation error detected: Value '{arn}' at 'resourceArn' failed to satisfy constraint: Member must satisfy \
         regular expression pattern: [\\w+=/:,.@-]*"
    );
    (!is_valid).then(|| Reply::error(call, 400, "InvalidParameterException", &text))
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
