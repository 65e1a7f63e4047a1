//! Flow logs. moto stores each as a log to a log group named after its destination, and the rest is added here: moto
//! knows no delivery streams, compares only destinations, requires a bucket of its own, never delivers, and returns
//! neither the options of files nor tags.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// What AWS compares of two logs, with the defaults: all that it cannot change. Which of these it compares is not
/// documented.
const COMPARED: [(&str, &str); 8] = [
    ("TrafficType", ""),
    ("DeliverLogsPermissionArn", ""),
    ("DeliverCrossAccountRole", ""),
    ("LogFormat", ""),
    ("MaxAggregationInterval", "600"),
    ("DestinationOptions.FileFormat", "plain-text"),
    ("DestinationOptions.HiveCompatiblePartitions", "false"),
    ("DestinationOptions.PerHourPartition", "false"),
];

#[derive(Debug, Default)]
pub(crate) struct FlowLogs {
    /// The parameters of each log by its ID, and how often it was returned.
    logs: Mutex<HashMap<String, (Params, usize)>>,
    /// Whether AWS compares only destinations.
    compares_destinations: AtomicBool,
    /// The destinations of creates without an answer.
    begun: Mutex<Vec<String>>,
    /// How many logs a VPC may have.
    limit: Mutex<Option<usize>>,
}

impl FlowLogs {
    pub(crate) fn compare_only_destinations(&self) {
        self.compares_destinations.store(true, Ordering::Relaxed);
    }

    pub(crate) fn set_limit(&self, limit: usize) {
        *lock(&self.limit) = Some(limit);
    }

    fn is_equal(&self, one: &Params, other: &Params) -> bool {
        let value = |params: &Params, name: &str, default: &str| {
            params.get(name).filter(|it| !it.is_empty()).map_or(default.to_string(), String::clone)
        };
        let same = |(name, default): (&str, &str)| value(one, name, default) == value(other, name, default);
        let is_same_to = destination(one) == destination(other);
        is_same_to && (self.compares_destinations.load(Ordering::Relaxed) || COMPARED.into_iter().all(same))
    }
}

/// Why AWS never accepts a log, whatever exists: the code and a text. The texts are not known.
fn never_accepted(call: &Request<'_>) -> Option<(&'static str, &'static str)> {
    let has = |name: &str| !call.param(name).is_empty();
    let (has_role, has_other) = (has("DeliverLogsPermissionArn"), has("DeliverCrossAccountRole"));
    let folder = call.param("LogDestination").split('/').nth(1);
    match call.param("LogDestinationType") {
        "s3" if has_role => Some(("InvalidParameter", "DeliverLogsPermissionArn is not applicable for s3 delivery")),
        "s3" if folder == Some("AWSLogs") => Some(("InvalidParameter", "LogDestination uses a reserved folder")),
        "cloud-watch-logs" if !has_role => Some(("MissingParameter", "DeliverLogsPermissionArn can't be empty")),
        "kinesis-data-firehose" if has_role != has_other => {
            Some(("InvalidParameter", "Delivery to another account requires both roles"))
        }
        _ => None,
    }
}

#[async_trait]
impl Repair for FlowLogs {
    /// AWS reports some rejections inside a successful answer.
    async fn instead(&self, call: &Request<'_>) -> Instead {
        if call.name != "CreateFlowLogs" {
            return Ok(None);
        }
        let (vpc, to) = (call.param("ResourceId.1"), destination(&call.params));
        let existing = call.describe("DescribeFlowLogs", &[("resource-id", vpc)]).await?;
        let logs = existing.items("flowLogSet");
        let exists = logs.iter().any(|log| {
            let found = lock(&self.logs).get(log.text_of("flowLogId")).map(|(params, _)| params.clone());
            found.is_some_and(|params| self.is_equal(&params, &call.params))
        });
        let item = |code: &str, text: &str| {
            call.answer(&format!("<unsuccessful>{}</unsuccessful>", unsuccessful(vpc, code, text)))
        };
        if let Some((code, text)) = never_accepted(call) {
            return Ok(Some(call.rejected(code, text)));
        }
        Ok(if exists {
            Some(item("FlowLogAlreadyExists", "There is an existing Flow Log with the same configuration"))
        } else if to.contains("missing") {
            Some(item("LogDestinationNotFoundException", "LogDestination: does not exist"))
        } else if lock(&self.limit).is_some_and(|limit| logs.len() >= limit) {
            let text = "You've reached the limit on the number of flow logs that you can create";
            Some(item("FlowLogsLimitExceeded", text))
        } else {
            None
        })
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.name == "CreateFlowLogs" {
            params.retain(|name, _| !name.starts_with("DestinationOptions.") && name != "LogDestination");
            params.insert("LogDestinationType".into(), "cloud-watch-logs".into());
            let (to, logs, mut begun) = (destination(&call.params), lock(&self.logs), lock(&self.begun));
            let existing = logs.values().map(|(params, _)| destination(params));
            let number = existing.chain(begun.iter().map(String::as_str)).filter(|it| *it == to).count();
            // moto rejects a second log to one group.
            let name = if number == 0 { to.to_owned() } else { format!("{to}-{number}") };
            begun.push(to.to_owned());
            params.insert("LogGroupName".into(), name);
            params.insert("DeliverLogsPermissionArn".into(), "arn:aws:iam::123456789012:role/proxy".into());
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateFlowLogs" => {
                let created = answer.root()?.items("flowLogIdSet").iter();
                let (mut logs, mut begun) = (lock(&self.logs), lock(&self.begun));
                let answered = begun.iter().position(|to| *to == destination(&call.params));
                if let Some(position) = answered {
                    begun.remove(position);
                }
                logs.extend(created.map(|id| (id.text.clone(), (call.params.clone(), 0))));
            }
            "DeleteFlowLogs" => {
                let ids = call.params.iter().filter(|(name, _)| name.starts_with("FlowLogId."));
                ids.for_each(|(_, id)| drop(lock(&self.logs).remove(id)));
            }
            "DescribeFlowLogs" => {
                let tags = call.describe("DescribeTags", &[]).await?;
                for log in answer.root()?.items_mut("flowLogSet") {
                    let id = log.text_of("flowLogId").to_owned();
                    let of_log = tags.items("tagSet").iter().filter(|tag| tag.text_of("resourceId") == id);
                    let mut shown_tags = Element::leaf("tagSet", "");
                    shown_tags.children = of_log.cloned().collect();
                    log.children.push(shown_tags);
                    if let Some((params, shown)) = lock(&self.logs).get_mut(&id) {
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
