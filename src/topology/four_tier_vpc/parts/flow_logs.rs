//! Flow logs of the VPC, with the log groups that the network creates for them.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::Part;
use crate::model::keys::network as keys;
use crate::model::{
    self, DELIVERY_STATUS, Input, Inventory, Key, LogGroup, Object, Outside, Reference, Scope, Spec, TaggingService,
    check_tags,
};
use crate::plugin::{Encode, Nested, Problem, Value};
use crate::topology::Context;
use crate::topology::alternatives::Change;
use crate::topology::entries::{Entries, drifted};
use crate::topology::four_tier_vpc::blueprint::{Built, Draft};
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::name_tags::NAME;
use crate::topology::four_tier_vpc::outputs::Output;
use crate::topology::four_tier_vpc::tags;
use crate::topology::mirrored::Found;

pub(in super::super) use entry::FlowLog;

const ENTRIES: Entries = Entries { input: "flow_logs", slots: keys::FLOW_LOG, what: "a flow log" };

/// The log groups of the same entries.
const GROUPS: Entries = Entries { slots: keys::FLOW_LOG_GROUP, ..ENTRIES };

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
        let mut problems = ENTRIES.problems(&config.flow_logs);
        let mut used: BTreeMap<String, &str> = BTreeMap::new();
        let mut groups: BTreeMap<&str, &str> = BTreeMap::new();
        let vpc = Key::new(keys::VPC);
        for (name, log) in logs(config) {
            if let Input::Known(Some(group)) = &log.log_group_name
                && let Some(other) = groups.insert(group, name)
            {
                let message = format!("{other:?} and {name:?} both create the log group {group:?}.");
                let hint =
                    "Use another name, or create the group elsewhere and set log_destination of both to its ARN.";
                problems.push(Problem::new(ENTRIES.path(name).attribute("log_group_name"), message, hint));
                continue;
            }
            problems.extend(log.other_service(&ENTRIES.path(name)));
            problems.extend(log.never_accepted(&ENTRIES.path(name)));
            let tags = log.settings.tags.known().into_iter();
            problems
                .extend(tags.flat_map(|it| check_tags(TaggingService::Ec2, it, &ENTRIES.path(name).attribute("tags"))));
            let spec = log.spec(&vpc, None);
            let has_destination = spec.destination.known().is_some_and(|it| !it.is_empty());
            let Some(fixed) = spec.fixed().known().filter(|_| has_destination).cloned() else { continue };
            if let Some(other) = used.insert(fixed, name) {
                let message = format!("{other:?} and {name:?} have the same configuration, apart from their tags.");
                let hint = "AWS accepts only one such flow log of a VPC. Change another argument, or remove an entry.";
                problems.push(Problem::new(ENTRIES.path(name), message, hint));
            }
        }
        problems
    }

    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let groups = logs(context.config).filter(|(_, log)| matches!(log.log_group_name, Input::Known(Some(_))));
        let keys = groups.map(|(name, log)| (name, log.kms_key_id.known().map(Option::is_some)));
        let effect = "Without it, a log group is encrypted with a key of CloudWatch Logs.";
        ENTRIES.lacking("kms_key_id", keys, context.existing, effect).into_iter().collect()
    }

    fn references(&self, config: &Config, _: &Scope) -> Vec<Reference> {
        let mut all = Vec::new();
        for (name, log) in logs(config) {
            let path = ENTRIES.path(name);
            if let Input::Known(Some(group)) = &log.log_group_name {
                let to = Outside::LogGroup { name: group.clone(), slot: GROUPS.slot(name) };
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
            draft.problems.extend(log.elsewhere(&ENTRIES.path(name), draft.context.scope));
            let group = log_group(name, log, &draft.vpc).map(|(key, mut spec)| {
                spec.tags = draft.tags(&key, &[&log.settings.tags]);
                draft.add(&key, Spec::LogGroup(spec));
                key
            });
            let mut spec = log.spec(&draft.vpc, group);
            let key = keys::flow_log(name, spec.fixed());
            spec.settings.tags = draft.tags(&key, &[&log.settings.tags]);
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
                let unknown = || has_group.then(|| ("unknown".to_string(), Input::Unknown)).into_iter().collect();
                let mut logs = config.flow_logs.known().cloned().unwrap_or_else(unknown);
                for log in logs.values_mut() {
                    let Some(mut decided) = log.known().cloned().or_else(FlowLog::unknown) else { continue };
                    if !decided.log_group_name.is_known() {
                        decided.log_group_name = Input::Known(has_group.then(|| "unknown".to_string()));
                    }
                    *log = Input::Known(decided);
                }
                config.flow_logs = Input::Known(logs);
            })
        };
        vec![decided(false), decided(true)]
    }

    /// Every log of the VPC, under the name in its Name tag or at the end of its destination, unless a service of AWS
    /// or another account delivers its records.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let landscape = classifier.landscape;
        for (log, spec) in &landscape.others {
            let Some(spec) = model::FlowLog::of(spec) else { continue };
            let account = spec.settings.iam_role_arn.known().and_then(|arn| arn.as_deref()?.split(':').nth(4));
            if let Some(other) = account.filter(|account| *account != landscape.vpc_owner) {
                classifier.reject(&log.id, format!("its role belongs to the account {other}"));
            }
            if classifier.is_free(&log.id) {
                let destination = spec.destination.known().map_or("", String::as_str);
                let given = log.tags.get(NAME).filter(|name| !name.is_empty()).map_or(destination, String::as_str);
                let slot = ENTRIES.slot_of(given, |slot| classifier.result.slots.values().any(|it| it == slot));
                classifier.place(&log.id, slot);
            }
        }
    }

    fn import(&self, found: Found<'_>, scope: &Scope, attributes: &mut Value) {
        let groups: BTreeMap<&Key, &LogGroup> =
            found.specs().filter_map(|(key, spec)| Some((key, LogGroup::of(spec)?))).collect();
        let general = attributes.get("custom_tags").clone();
        ENTRIES.import(found, attributes, |spec| {
            let log = model::FlowLog::of(spec)?;
            let group = log.log_group.as_ref().and_then(|key| groups.get(key).copied());
            let mut entry = FlowLog::of(log, group, scope);
            entry.settings.tags = tags::of_entry(&log.settings.tags, &general, scope);
            Some(entry.encode())
        });
    }

    /// AWS can change the tags of a log, and the properties of its group. An entry whose log was deleted stays as long
    /// as its group exists: only the entry tells whether a destroy keeps the group.
    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let before = state.get(ENTRIES.input).clone();
        ENTRIES.reflect(inventory, state, |name, entry| {
            let group = drifted(inventory, &GROUPS.slot(name));
            if let Some(group) = group.and_then(LogGroup::of) {
                entry.set("retention_in_days", group.retention_in_days.clone().into());
                entry.set("kms_key_id", group.kms_key_arn.clone().into());
            }
            if let Some(log) = drifted(inventory, &ENTRIES.slot(name)) {
                tags::reflect_entry(log, entry);
            }
        });
        let (Some(before), Some(mut now)) = (before.as_map(), state.get(ENTRIES.input).as_map().cloned()) else {
            return;
        };
        let has_group = |name: &String| inventory.at(&GROUPS.slot(name)).is_some_and(|group| !group.is_used());
        for (name, entry) in before.iter().filter(|(name, _)| has_group(name)) {
            now.entry(name.clone()).or_insert_with(|| entry.clone());
        }
        state.set(ENTRIES.input, Value::Map(now));
    }

    fn outputs(&self) -> &'static [Output] {
        const {
            &[
                Output::texts("flow_log_ids", "IDs of the flow logs by their names in `flow_logs`.", |network| {
                    network.each(keys::FLOW_LOG, |key| network.ids.id(key))
                }),
                Output::texts("flow_log_arns", "ARNs of the flow logs by their names in `flow_logs`.", |network| {
                    network.each(keys::FLOW_LOG, |key| network.arn("vpc-flow-log", key))
                }),
                Output::texts(
                    "flow_log_deliver_statuses",
                    "Result of the last delivery of each flow log, by its name in `flow_logs`: `SUCCESS`, `FAILED`, or \
                     empty before the first delivery, which can take 10 minutes. A refresh warns of a failure.",
                    |network| network.each(keys::FLOW_LOG, |key| network.ids.learned(key, DELIVERY_STATUS)),
                ),
            ]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        let name = ENTRIES.name(slot).or_else(|| GROUPS.name(slot))?;
        Some(format!("-flow-log-{name}"))
    }
}

/// The log groups that a configuration requires, without their tags.
pub(in super::super) fn log_groups(config: &Config, vpc: &Key) -> Vec<Object> {
    let group = |(name, log): (&String, &FlowLog)| log_group(name, log, vpc);
    logs(config).filter_map(group).map(|(key, spec)| Object::new(key, Spec::LogGroup(spec))).collect()
}

/// The log groups that a configuration requires or may require, without their tags.
pub(in super::super) fn possible_log_groups(config: &Config) -> Vec<LogGroup> {
    let of = |log: &Input<FlowLog>| possible_log_group(&log.known().cloned().or_else(FlowLog::unknown)?);
    match &config.flow_logs {
        Input::Known(logs) => logs.values().filter_map(of).collect(),
        Input::Unknown => of(&Input::Unknown).into_iter().collect(),
    }
}

/// The log group of a flow log, without its tags.
fn log_group(name: &str, log: &FlowLog, vpc: &Key) -> Option<(Key, LogGroup)> {
    let spec = LogGroup { root: vpc.clone(), ..possible_log_group(log)? };
    spec.name.is_known().then(|| (keys::log_group_of_flow_log(name, &spec.name), spec))
}

/// The same, of which the name may be unknown.
fn possible_log_group(log: &FlowLog) -> Option<LogGroup> {
    let name = match &log.log_group_name {
        Input::Known(name) => Input::Known(name.clone()?),
        Input::Unknown => Input::Unknown,
    };
    Some(LogGroup {
        root: Key::new(keys::VPC),
        name,
        retention_in_days: LogGroup::period(&log.retention_in_days),
        kms_key_arn: log.kms_key_id.clone(),
        skip_destroy: log.log_group_skip_destroy.clone(),
        tags: Input::Known(BTreeMap::new()),
    })
}

/// The logs whose inputs are known.
fn logs(config: &Config) -> impl Iterator<Item = (&String, &FlowLog)> {
    config.flow_logs.known().into_iter().flatten().filter_map(|(name, log)| Some((name, log.known()?)))
}
