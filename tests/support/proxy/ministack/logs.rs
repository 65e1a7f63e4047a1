//! CloudWatch Logs: the KMS keys of log groups, which ministack supports only when it creates a group, their deletion
//! protection, the number of their subscription filters, and the ARNs of groups with tags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;

/// The number of subscription filters that a log group can have.
const FILTERS: usize = 2;

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

/// The groups with deletion protection, which ministack lacks.
#[derive(Debug, Default)]
pub(super) struct Protection(Mutex<BTreeSet<String>>);

impl Protection {
    /// The answer to a change of the protection, and to the deletion of a group with it.
    pub(super) fn answer(&self, call: &Call, message: &Message) -> Option<Reply> {
        let mut protected = self.0.lock().expect("no one panics while holding it");
        if call.action == "PutLogGroupDeletionProtection" {
            let group = call.param("logGroupIdentifier").to_owned();
            match message.json()["deletionProtectionEnabled"] == true {
                true => protected.insert(group),
                false => protected.remove(&group),
            };
            return Some(Reply::json(200, &json!({})));
        }
        let is_refused = call.action == "DeleteLogGroup" && protected.contains(call.param("logGroupName"));
        let text = "Cannot delete log group with deletion protection enabled. Disable deletion protection first.";
        is_refused.then(|| Reply::error(call, 400, "ValidationException", text))
    }

    /// Adds the protection to the groups that a call returns.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<Reply, String> {
        let protected = self.0.lock().expect("no one panics while holding it");
        if call.action != "DescribeLogGroups" || !reply.is_success() || protected.is_empty() {
            return Ok(reply);
        }
        let mut body = super::body_of(&reply)?;
        for group in body["logGroups"].as_array_mut().into_iter().flatten() {
            let is_protected = group["logGroupName"].as_str().is_some_and(|name| protected.contains(name));
            group["deletionProtectionEnabled"] = is_protected.into();
        }
        Ok(reply.with_body(body.to_string()))
    }
}

/// AWS rejects a third subscription filter of a group, and replaces one with the same name; ministack allows any
/// number.
pub(super) async fn third_filter(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    if call.action != "PutSubscriptionFilter" {
        return Ok(None);
    }
    let body = json!({ "logGroupName": call.param("logGroupName") });
    let mut list = Message { body: body.to_string().into(), ..message.clone() };
    list.headers.insert("x-amz-target", HeaderValue::from_static("Logs_20140328.DescribeSubscriptionFilters"));
    let reply = emulator.forward(&Call::parse(&list), &list).await?;
    let found = if reply.is_success() { super::body_of(&reply)? } else { Value::Null };
    let names: Vec<&str> = match found["subscriptionFilters"].as_array() {
        Some(filters) => filters.iter().filter_map(|it| it["filterName"].as_str()).collect(),
        None => Vec::new(),
    };
    let is_third = names.len() >= FILTERS && !names.contains(&call.param("filterName"));
    Ok(is_third.then(|| Reply::error(call, 400, "LimitExceededException", "Resource limit exceeded.")))
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
