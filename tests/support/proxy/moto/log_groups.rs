//! The KMS keys of log groups. moto has no calls for them.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Answer, Done, Instead, Repair, Reply, Request, async_trait, lock};

/// The keys that were set after the creation of a group, by its name. An empty key is none.
#[derive(Debug, Default)]
pub(crate) struct LogGroups(Mutex<HashMap<String, String>>);

#[async_trait]
impl Repair for LogGroups {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        if !["logs AssociateKmsKey", "logs DisassociateKmsKey"].contains(&call.name) {
            return Ok(None);
        }
        lock(&self.0).insert(call.param("logGroupName").to_owned(), call.param("kmsKeyId").to_owned());
        Ok(Some(Reply::json(200, &json!({}))))
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "logs DescribeLogGroups" {
            return Ok(());
        }
        let mut all: Value = serde_json::from_str(&answer.reply.text()).map_err(|error| error.to_string())?;
        for group in all["logGroups"].as_array_mut().into_iter().flatten() {
            let key = lock(&self.0).get(group["logGroupName"].as_str().unwrap_or_default()).cloned();
            if let (Some(key), Some(group)) = (key, group.as_object_mut()) {
                group.remove("kmsKeyId");
                group.extend((!key.is_empty()).then(|| ("kmsKeyId".to_owned(), key.into())));
            }
        }
        answer.reply = answer.reply().with_body(all.to_string());
        Ok(())
    }
}
