//! Flow logs. moto stores each as a log to a log group named after its destination, and the rest is added here: moto
//! knows no delivery streams, requires a bucket of its own, never delivers, and returns neither the options of files
//! nor tags.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::with_params;
use crate::support::proxy::call::Call;
use crate::support::proxy::lock;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;
use crate::support::proxy::xml::Element;

/// How many answers show a new log without a delivery, which takes 10 minutes or more on AWS.
const BEFORE_DELIVERY: usize = 2;

/// The parameters of a log, and how often it was returned.
type Stored = (BTreeMap<String, String>, usize);

/// The logs by their IDs.
#[derive(Debug, Default)]
pub(super) struct FlowLogs(Mutex<HashMap<String, Stored>>);

impl FlowLogs {
    /// AWS reports a rejection inside a successful answer.
    pub(super) async fn rejected(
        &self,
        emulator: &Upstream,
        call: &Call,
        message: &Message,
    ) -> Result<Option<Reply>, String> {
        let (vpc, to) = (call.param("ResourceId.1"), destination(&call.params));
        let role = call.param("DeliverLogsPermissionArn");
        let kind = call.param("LogDestinationType");
        let filter = [("Filter.1.Name", "resource-id"), ("Filter.1.Value.1", vpc)];
        let existing = emulator.describe(message, "DescribeFlowLogs", &filter).await?;
        let exists = existing.items("flowLogSet").iter().any(|log| {
            lock(&self.0).get(log.text_of("flowLogId")).is_some_and(|(params, _)| destination(params) == to)
        });
        let item = |code: &str, text: &str| {
            Some(Reply::xml(
                200,
                &format!(
                    "<CreateFlowLogsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r</requestId>\
                     <unsuccessful><item><resourceId>{vpc}</resourceId><error><code>{code}</code><message>{text}</message>\
                     </error></item></unsuccessful></CreateFlowLogsResponse>"
                ),
            ))
        };
        Ok(match kind {
            "s3" if !role.is_empty() => {
                let text = "DeliverLogsPermissionArn is not applicable for s3 delivery";
                Some(Reply::error(call, 400, "InvalidParameter", text))
            }
            "cloud-watch-logs" if role.is_empty() => {
                Some(Reply::error(call, 400, "MissingParameter", "DeliverLogsPermissionArn can't be empty"))
            }
            _ if exists => item("FlowLogAlreadyExists", "There is an existing Flow Log with the same configuration"),
            _ if to.contains("missing") => item("LogDestinationNotFoundException", "LogDestination: does not exist"),
            _ => None,
        })
    }

    pub(super) fn forwarded(call: &Call, message: Message) -> Message {
        let mut params = call.params.clone();
        params.retain(|name, _| !name.starts_with("DestinationOptions.") && name != "LogDestination");
        params.insert("LogDestinationType".into(), "cloud-watch-logs".into());
        params.insert("LogGroupName".into(), destination(&call.params).into());
        params.insert("DeliverLogsPermissionArn".into(), "arn:aws:iam::123456789012:role/proxy".into());
        with_params(message, &params)
    }

    pub(super) fn created(&self, call: &Call, reply: &Reply) -> Result<(), String> {
        for id in Element::parse(&reply.text())?.items("flowLogIdSet") {
            lock(&self.0).insert(id.text.clone(), (call.params.clone(), 0));
        }
        Ok(())
    }

    pub(super) async fn described(
        &self,
        emulator: &Upstream,
        message: &Message,
        reply: Reply,
    ) -> Result<Reply, String> {
        let mut root = Element::parse(&reply.text())?;
        let tags = emulator.describe(message, "DescribeTags", &[]).await?;
        for log in root.items_mut("flowLogSet") {
            let of_log =
                tags.items("tagSet").iter().filter(|tag| tag.text_of("resourceId") == log.text_of("flowLogId"));
            let mut shown = Element::leaf("tagSet", "");
            shown.children = of_log.cloned().collect();
            log.children.push(shown);
            let mut logs = lock(&self.0);
            let Some((params, shown)) = logs.get_mut(log.text_of("flowLogId")) else { continue };
            *shown += 1;
            let param = |name: &str| params.get(name).map_or("", String::as_str);
            let shown_as = [
                ("logDestinationType", "LogDestinationType"),
                ("logDestination", "LogDestination"),
                ("logGroupName", "LogGroupName"),
                ("deliverLogsPermissionArn", "DeliverLogsPermissionArn"),
                ("deliverCrossAccountRole", "DeliverCrossAccountRole"),
            ];
            let replaced = ["deliverLogsStatus", "deliverLogsErrorMessage", "destinationOptions"];
            log.children.retain(|it| {
                !replaced.contains(&it.name.as_str()) && shown_as.iter().all(|(name, _)| *name != it.name)
            });
            for (name, from) in shown_as.into_iter().filter(|(_, from)| !param(from).is_empty()) {
                log.set(name, param(from));
            }
            if param("LogDestinationType") == "s3" {
                let mut options = Element::leaf("destinationOptions", "");
                for (name, from, otherwise) in [
                    ("fileFormat", "DestinationOptions.FileFormat", "plain-text"),
                    ("hiveCompatiblePartitions", "DestinationOptions.HiveCompatiblePartitions", "false"),
                    ("perHourPartition", "DestinationOptions.PerHourPartition", "false"),
                ] {
                    options.set(name, Some(param(from)).filter(|it| !it.is_empty()).unwrap_or(otherwise));
                }
                log.children.push(options);
            }
            match destination(params).contains("denied") {
                _ if *shown <= BEFORE_DELIVERY => {}
                true => {
                    log.set("deliverLogsStatus", "FAILED");
                    log.set("deliverLogsErrorMessage", "Access error");
                }
                false => log.set("deliverLogsStatus", "SUCCESS"),
            }
        }
        Ok(reply.with_body(root.to_string()))
    }
}

fn destination(params: &BTreeMap<String, String>) -> &str {
    let given = ["LogGroupName", "LogDestination"].into_iter().filter_map(|name| params.get(name));
    given.map(String::as_str).find(|it| !it.is_empty()).unwrap_or_default()
}
