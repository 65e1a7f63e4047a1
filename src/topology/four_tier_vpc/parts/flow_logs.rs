//! Flow logs of the VPC, with the log groups that the network creates for them.

mod entry;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::Part;
use crate::model::keys::network as keys;
use crate::model::{self, DELIVERY_STATUS, Entry, Input, Inventory, Key, LogGroup, Outside, Reference, Scope, Spec};
use crate::plugin::{AttributePath, Encode, Problem, Type, Value};
use crate::topology::alternatives::Change;
use crate::topology::four_tier_vpc::blueprint::{Built, Draft};
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::name_tags::NAME;
use crate::topology::four_tier_vpc::outputs::{Network, Output};
use crate::topology::mirrored::Found;

pub(in super::super) use entry::FlowLog;

/// The input.
const INPUT: &str = "flow_logs";

/// Flow logs of the VPC.
pub(in super::super) struct FlowLogs;

impl Part for FlowLogs {
    /// Unknown if one of its log groups may or may not exist.
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        let has_known_objects = |log: &Input<FlowLog>| log.known().is_some_and(|log| log.log_group_name.is_known());
        match &config.flow_logs {
            Input::Known(logs) if logs.values().all(has_known_objects) => Input::Known(!logs.is_empty()),
            _ => Input::Unknown,
        }
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        rules::problems(config)
    }

    fn references(&self, config: &Config, _: &Scope) -> Vec<Reference> {
        let mut all = Vec::new();
        for (name, log) in logs(config) {
            let path = AttributePath::new(INPUT).key(name);
            if let Input::Known(Some(group)) = &log.log_group_name {
                let to = Outside::LogGroup { name: group.clone(), slot: format!("{}{name}", keys::FLOW_LOG_GROUP) };
                all.push(Reference::new(to, path.attribute("log_group_name")));
            }
            if let Input::Known(Some(key)) = &log.kms_key_id {
                all.push(Reference::new(Outside::KmsKey(key.clone()), path.attribute("kms_key_id")));
            }
        }
        all
    }

    fn draft(&self, draft: &mut Draft<'_>, _: &Built<'_>) {
        for (name, log) in logs(draft.context.config) {
            let group = log.log_group_name.known().cloned().flatten();
            let group = group.map(|group| {
                let key = keys::log_group_of_flow_log(name, &Input::Known(group.clone()));
                let spec = LogGroup {
                    root: draft.vpc.clone(),
                    name: Input::Known(group),
                    retention_in_days: LogGroup::period(&log.retention_in_days),
                    kms_key_arn: log.kms_key_id.clone(),
                    skip_destroy: log.log_group_skip_destroy.clone(),
                    tags: draft.tags(&key, &[&log.tags]),
                };
                draft.add(&key, Spec::LogGroup(spec));
                key
            });
            let mut spec = log.spec(&draft.vpc, group);
            let key = keys::flow_log(name, &spec);
            spec.tags = draft.tags(&key, &[&log.tags]);
            draft.warnings.extend(gap(name, &key, &spec, draft.context.existing));
            draft.add(&key, Spec::FlowLog(spec));
        }
    }

    /// With and without log groups.
    fn alternatives(&self, config: &Config) -> Vec<Change<Config>> {
        if self.is_wanted(config).is_known() {
            return Vec::new();
        }
        let decided = |has_group: bool| -> Change<Config> {
            Box::new(move |config| {
                let logs = match std::mem::replace(&mut config.flow_logs, Input::Unknown) {
                    Input::Known(logs) => logs,
                    Input::Unknown if has_group => BTreeMap::from([("unknown".to_string(), Input::Unknown)]),
                    Input::Unknown => BTreeMap::new(),
                };
                let decide = |(name, log): (String, Input<FlowLog>)| {
                    let mut log = log.known().cloned().unwrap_or_else(FlowLog::unknown);
                    if !log.log_group_name.is_known() {
                        log.log_group_name = Input::Known(has_group.then(|| "unknown".to_string()));
                    }
                    (name, Input::Known(log))
                };
                config.flow_logs = Input::Known(logs.into_iter().map(decide).collect());
            })
        };
        vec![decided(false), decided(true)]
    }

    /// Every log of the VPC, under the name in its Name tag or at the end of its destination, unless a service of AWS
    /// or another account delivers its records.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let landscape = classifier.landscape;
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (log, spec) in &landscape.others {
            let Some(spec) = model::FlowLog::of(spec) else { continue };
            let account = spec.iam_role_arn.known().and_then(|arn| arn.as_deref()?.split(':').nth(4));
            if let Some(other) = account.filter(|account| *account != landscape.vpc_owner) {
                classifier.reject(&log.id, format!("its role belongs to the account {other}"));
            }
            if classifier.is_free(&log.id) {
                let given = log.tags.get(NAME).filter(|name| !name.is_empty());
                let destination = spec.destination.known().map_or("", String::as_str);
                let name = sanitized(given.map_or(destination, String::as_str));
                let numbered = (2..).map(|number| format!("{name}-{number}"));
                let free = std::iter::once(name.clone()).chain(numbered).find(|name| used.insert(name.clone()));
                classifier.place(&log.id, format!("{}{}", keys::FLOW_LOG, free.unwrap_or(name)));
            }
        }
    }

    fn import(&self, found: Found<'_>, scope: &Scope, attributes: &mut Value) {
        let groups: BTreeMap<&Key, &LogGroup> =
            found.specs().filter_map(|(key, spec)| Some((key, LogGroup::of(spec)?))).collect();
        let general = attributes.get("custom_tags").clone();
        // Another name than the computed one is in `name_tags`.
        let is_own = |key: &str, value: &str| {
            key != NAME && general.get(key).as_str() != Some(value) && !scope.may_be_default_tag(key, value)
        };
        let entry = |(key, spec): (&Key, &Spec)| {
            let (name, log) = (key.slot.strip_prefix(keys::FLOW_LOG)?, model::FlowLog::of(spec)?);
            let mut tags = log.tags.clone();
            if let Input::Known(tags) = &mut tags {
                tags.retain(|key, value| value.known().is_none_or(|value| is_own(key, value)));
            }
            let group = log.log_group.as_ref().and_then(|key| groups.get(key).copied());
            Some((name.to_string(), FlowLog::of(&model::FlowLog { tags, ..log.clone() }, group, scope).encode()))
        };
        attributes.set(INPUT, Value::Map(found.specs().filter_map(entry).collect()));
    }

    /// A deleted log leaves the map. AWS can change the tags of a log, and the properties of its group.
    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let Some(mut entries) = state.get(INPUT).as_map().cloned() else { return };
        let at = |prefix: &str, name: &str| {
            inventory.entries.iter().find(|entry| entry.key.slot.strip_prefix(prefix) == Some(name))
        };
        entries.retain(|name, _| at(keys::FLOW_LOG, name).is_none_or(Entry::is_present));
        for (name, entry) in &mut entries {
            if let Some(observed) = at(keys::FLOW_LOG_GROUP, name).and_then(Entry::drifted)
                && let Some(group) = LogGroup::of(observed)
            {
                entry.set("retention_in_days", group.retention_in_days.clone().into());
                entry.set("kms_key_id", group.kms_key_arn.clone().into());
            }
            let tags = at(keys::FLOW_LOG, name).and_then(Entry::drifted).and_then(|spec| spec.tags()?.known());
            if let (Some(found), Some(own)) = (tags, entry.get("tags").as_map()) {
                let own = own.keys().filter_map(|key| Some((key.clone(), found.get(key)?.clone().into())));
                entry.set("tags", Value::Map(own.collect()));
            }
        }
        state.set(INPUT, Value::Map(entries));
    }

    fn outputs(&self) -> &'static [Output] {
        fn each(network: &Network<'_>, of: impl Fn(&Key) -> Value) -> Value {
            let keys = network.objects.iter().map(|object| &object.key);
            let values = keys.filter_map(|key| Some((key.slot.strip_prefix(keys::FLOW_LOG)?.to_string(), of(key))));
            let values: BTreeMap<String, Value> = values.collect();
            if values.is_empty() { Value::Null } else { Value::Map(values) }
        }
        const {
            &[
                Output {
                    name: "flow_log_ids",
                    kind: || Type::Map(Box::new(Type::String)),
                    description: "IDs of the flow logs by their names in `flow_logs`, or null if there are none.",
                    of: |network| each(network, |key| network.ids.id(key)),
                },
                Output {
                    name: "flow_log_arns",
                    kind: || Type::Map(Box::new(Type::String)),
                    description: "ARNs of the flow logs by their names in `flow_logs`, or null if there are none.",
                    of: |network| each(network, |key| network.arn("vpc-flow-log", key)),
                },
                Output {
                    name: "flow_log_deliver_statuses",
                    kind: || Type::Map(Box::new(Type::String)),
                    description: "Result of the last delivery of each flow log, by its name in `flow_logs`: `SUCCESS`, \
                                  `FAILED`, or empty before the first delivery, which can take 10 minutes. A refresh \
                                  warns of a failure.",
                    of: |network| each(network, |key| network.ids.learned(key, DELIVERY_STATUS)),
                },
            ]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        let name = slot.strip_prefix(keys::FLOW_LOG_GROUP).or_else(|| slot.strip_prefix(keys::FLOW_LOG))?;
        rules::is_name(name).then(|| suffix(name))
    }
}

fn suffix(name: &str) -> String {
    format!("-flow-log-{name}")
}

/// The logs whose inputs are known.
fn logs(config: &Config) -> impl Iterator<Item = (&String, &FlowLog)> {
    config.flow_logs.known().into_iter().flatten().filter_map(|(name, log)| Some((name, log.known()?)))
}

/// A name as in the configuration. Of an ARN, only the last part counts.
fn sanitized(text: &str) -> String {
    let last = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let name: String =
        last.to_lowercase().chars().map(|it| if rules::is_name(&it.to_string()) { it } else { '-' }).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "log".to_string() } else { name.to_string() }
}

/// The warning that records are lost, because AWS rejects a second log to the same destination.
fn gap(name: &str, key: &Key, spec: &model::FlowLog, existing: &Inventory) -> Option<Problem> {
    let has_destination = |entry: &&Entry| {
        let log = model::FlowLog::of(&entry.applied);
        entry.key != *key && log.is_some_and(|log| log.destination == spec.destination && log.destination.is_known())
    };
    let old = existing.current().find(has_destination)?;
    let message = format!(
        "{} ({}) is deleted before its successor is created, because AWS rejects two flow logs of a VPC to one \
         destination. Up to a minute of records is lost.",
        old.key.slot, old.id
    );
    Some(Problem::new(AttributePath::new(INPUT).key(name), message, "Use another destination to keep all records."))
}
