//! Reads flow logs and the log groups that a network creates for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_ec2::types::{FlowLog, Tag};
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::aws::ec2::claims::{Claims, Ours};
use crate::aws::ec2::observed::Shown;
use crate::aws::ec2::{flow_log, tags};
use crate::aws::logs::group;
use crate::aws::logs::group::FoundGroup;
use crate::cloud::{Failure, Observed};
use crate::model::keys::network as keys;
use crate::model::{Entry, Input, Key, Object, Spec, TopologyKind};

/// A log group, with its tags as EC2 returns them.
pub(super) type LogGroup = (FoundGroup, Vec<Tag>);

/// The flow logs of the VPC and the log groups that the network creates for them. No call is sent for a network without
/// flow logs in state. A first read looks for them, and for the groups of those with this root's ownership tag.
pub(super) async fn listed(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: &HashMap<&str, &Entry>,
    slots: Option<&BTreeMap<String, String>>,
    consented: Option<&BTreeMap<String, String>>,
) -> Result<(Vec<FlowLog>, Vec<LogGroup>), Failure> {
    let named = [slots, consented].into_iter().flatten().flatten().map(|(id, slot)| (slot, id));
    let in_state = known.values().map(|entry| (&entry.key.slot, &entry.id));
    let all: Vec<(&String, &String)> = in_state.chain(named).collect();
    let of = |prefix: &'static str| all.iter().filter(move |(slot, _)| slot.starts_with(prefix));
    let is_first_read = known.is_empty() && slots.is_none();
    let mut groups: BTreeSet<String> = of(keys::FLOW_LOG_GROUP).map(|(_, name)| (*name).clone()).collect();
    let mut logs = Vec::new();
    if is_first_read || of(keys::FLOW_LOG).next().is_some() {
        logs = flow_log::of_vpc(session, root_id).await?;
    }
    if is_first_read {
        let resource = ownership::resource(owner, root_id);
        let ours = logs.iter().filter(|log| tags::value(log.tags(), ownership::RESOURCE) == Some(resource.as_str()));
        groups.extend(ours.filter(|log| flow_log::is_to_log_group(log)).filter_map(flow_log::destination));
    }
    let found = join_all(groups.iter().map(|name| group::find(session, name))).await;
    let found: Vec<Option<FoundGroup>> = found.into_iter().collect::<Result<_, _>>()?;
    let is_the_same = |found: &FoundGroup| {
        let entry = found.shown.log_group_name.as_deref().and_then(|name| known.get(name));
        entry.is_none_or(|entry| group::is_the_same(&found.shown, &entry.learned))
    };
    let found = found.into_iter().flatten().filter(is_the_same);
    Ok((logs, found.map(|found| (found.clone(), tags::from_map(found.tags))).collect()))
}

pub(super) fn add_log_groups(shown: &mut Shown<'_>, groups: &[LogGroup]) {
    for (found, _) in groups {
        let Some(name) = &found.shown.log_group_name else { continue };
        let key = match shown.ours(Some(name)) {
            Some(Ours::State(entry)) => entry.key.clone(),
            Some(Ours::Slot(slot)) => Key::fixed(slot, Input::Known(name.clone())),
            None => continue,
        };
        // The default of the input.
        shown.add(group::read(found, shown.vpc.clone(), key, true));
    }
}

/// Adds the flow logs. Log groups must have been added.
pub(super) fn add_flow_logs(shown: &mut Shown<'_>, logs: &[FlowLog]) {
    for log in logs {
        let place = match shown.ours(log.flow_log_id()) {
            Some(Ours::State(Entry { key, applied: Spec::FlowLog(applied), .. })) => Ok((key.clone(), applied)),
            Some(Ours::Slot(slot)) => Err(slot),
            _ => continue,
        };
        shown.add(flow_log::read(shown, place, log));
    }
}

/// The flow logs and their log groups among `objects` that exist with the tags of this network.
pub(crate) async fn leftovers(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let wanted = objects.iter().filter(|it| matches!(it.spec, Spec::FlowLog(_) | Spec::LogGroup(_)));
    let names = wanted.clone().filter_map(|it| match &it.spec {
        Spec::LogGroup(group) => Some((group.name.known()?.clone(), it.key.slot.clone())),
        _ => None,
    });
    let names: BTreeMap<String, String> = names.collect();
    let wanted: Vec<&Key> = wanted.map(|it| &it.key).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let none = HashMap::new();
    let (logs, groups) = listed(session, owner, root_id, &none, None, Some(&names)).await?;
    let mut claims = Claims::new(root_id, ownership::resource(owner, root_id), &none, None, None);
    claims.log_groups(&groups);
    claims.flow_logs(&logs);
    let mut shown = Shown::new(root_id, Key::new(keys::VPC), &none, claims);
    add_log_groups(&mut shown, &groups);
    add_flow_logs(&mut shown, &logs);
    let found = shown.into_seen().objects.into_iter();
    Ok(found.filter(|it| wanted.contains(&&it.key)).collect())
}
