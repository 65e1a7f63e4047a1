//! Flow logs. moto stores each as a log to a log group named after its destination, and the rest is added here: moto
//! knows no delivery streams, requires a bucket of its own, never delivers, and returns neither the options of files
//! nor tags.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Answer, Done, Element, Instead, Params, Repair, Request, async_trait, lock, unsuccessful};

/// How many answers show a new log without a delivery, which takes 10 minutes or more on AWS.
const BEFORE_DELIVERY: usize = 2;

/// The members of a log in answers that are parameters of the call which creates it.
const MEMBERS: [(&str, &str); 5] = [
    ("logDestinationType", "LogDestinationType"),
    ("logDestination", "LogDestination"),
    ("logGroupName", "LogGroupName"),
    ("deliverLogsPermissionArn", "DeliverLogsPermissionArn"),
    ("deliverCrossAccountRole", "DeliverCrossAccountRole"),
];

/// The same for the options of files in a bucket, with their defaults.
const OPTIONS: [(&str, &str, &str); 3] = [
    ("fileFormat", "DestinationOptions.FileFormat", "plain-text"),
    ("hiveCompatiblePartitions", "DestinationOptions.HiveCompatiblePartitions", "false"),
    ("perHourPartition", "DestinationOptions.PerHourPartition", "false"),
];

/// The parameters of each log by its ID, and how often it was returned.
#[derive(Debug, Default)]
pub(crate) struct FlowLogs(Mutex<HashMap<String, (Params, usize)>>);

#[async_trait]
impl Repair for FlowLogs {
    /// AWS reports some rejections inside a successful answer.
    async fn instead(&self, call: &Request<'_>) -> Instead {
        if call.name != "CreateFlowLogs" {
            return Ok(None);
        }
        let (vpc, to) = (call.param("ResourceId.1"), destination(&call.params));
        let existing = call.describe("DescribeFlowLogs", &[("resource-id", vpc)]).await?;
        let exists = existing.items("flowLogSet").iter().any(|log| {
            lock(&self.0).get(log.text_of("flowLogId")).is_some_and(|(params, _)| destination(params) == to)
        });
        let item = |code: &str, text: &str| {
            call.answer(&format!("<unsuccessful>{}</unsuccessful>", unsuccessful(vpc, code, text)))
        };
        let has_role = !call.param("DeliverLogsPermissionArn").is_empty();
        Ok(match call.param("LogDestinationType") {
            "s3" if has_role => {
                let text = "DeliverLogsPermissionArn is not applicable for s3 delivery";
                Some(call.rejected("InvalidParameter", text))
            }
            "cloud-watch-logs" if !has_role => {
                Some(call.rejected("MissingParameter", "DeliverLogsPermissionArn can't be empty"))
            }
            _ if exists => {
                Some(item("FlowLogAlreadyExists", "There is an existing Flow Log with the same configuration"))
            }
            _ if to.contains("missing") => {
                Some(item("LogDestinationNotFoundException", "LogDestination: does not exist"))
            }
            _ => None,
        })
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.name == "CreateFlowLogs" {
            params.retain(|name, _| !name.starts_with("DestinationOptions.") && name != "LogDestination");
            params.insert("LogDestinationType".into(), "cloud-watch-logs".into());
            params.insert("LogGroupName".into(), destination(&call.params).into());
            params.insert("DeliverLogsPermissionArn".into(), "arn:aws:iam::123456789012:role/proxy".into());
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateFlowLogs" => {
                let created = answer.root()?.items("flowLogIdSet").iter();
                lock(&self.0).extend(created.map(|id| (id.text.clone(), (call.params.clone(), 0))));
            }
            "DescribeFlowLogs" => {
                let tags = call.describe("DescribeTags", &[]).await?;
                for log in answer.root()?.items_mut("flowLogSet") {
                    let id = log.text_of("flowLogId").to_owned();
                    let of_log = tags.items("tagSet").iter().filter(|tag| tag.text_of("resourceId") == id);
                    let mut shown_tags = Element::leaf("tagSet", "");
                    shown_tags.children = of_log.cloned().collect();
                    log.children.push(shown_tags);
                    if let Some((params, shown)) = lock(&self.0).get_mut(&id) {
                        *shown += 1;
                        complete(log, params, *shown > BEFORE_DELIVERY);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn complete(log: &mut Element, params: &Params, is_delivered: bool) {
    let param = |name: &str| params.get(name).map(String::as_str).filter(|it| !it.is_empty());
    let replaced = ["deliverLogsStatus", "deliverLogsErrorMessage", "destinationOptions"];
    let replaced: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).chain(replaced).collect();
    log.children.retain(|it| !replaced.contains(&it.name.as_str()));
    for (name, from) in MEMBERS {
        if let Some(value) = param(from) {
            log.set(name, value);
        }
    }
    if param("LogDestinationType") == Some("s3") {
        let mut options = Element::leaf("destinationOptions", "");
        for (name, from, otherwise) in OPTIONS {
            options.set(name, param(from).unwrap_or(otherwise));
        }
        log.children.push(options);
    }
    match destination(params).contains("denied") {
        _ if !is_delivered => {}
        true => {
            log.set("deliverLogsStatus", "FAILED");
            log.set("deliverLogsErrorMessage", "Access error");
        }
        false => log.set("deliverLogsStatus", "SUCCESS"),
    }
}

fn destination(params: &Params) -> &str {
    let given = ["LogGroupName", "LogDestination"].into_iter().filter_map(|name| params.get(name));
    given.map(String::as_str).find(|it| !it.is_empty()).unwrap_or_default()
}
