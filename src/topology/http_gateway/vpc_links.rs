//! The VPC links that a gateway creates: their inputs, their checks, their objects, and the way back.

use std::collections::{BTreeMap, BTreeSet};

use super::jwt_authorizers::known_set;
use crate::model::keys::gateway as keys;
use crate::model::{Inventory, Key, TaggingService, Tags, VpcLink, check_tags};
use crate::plugin::{Check, DROPS_NAMES, Encode, Input, PlanEffect, Problem, Value};
use crate::topology::entries::{Entries, drifted};
use crate::topology::mirrored::Found;

/// The largest number of subnets of a link.
const MOST_SUBNETS: usize = 10;

/// The map of the links.
pub(super) const ENTRIES: Entries = Entries { input: "vpc_links", slots: keys::VPC_LINK, what: "a VPC link" };

/// The effect of a change that AWS does not make in place.
const REPLACED: &str = "creates another link, points the integrations to it, and then deletes the old one";

crate::attributes! {
    /// A VPC link.
    pub struct LinkConfig: Encode {
        /// Name in AWS. Defaults to the key of the entry.
        name: Input<Option<String>> = optional().check(Check::length(1, 128)).in_place(),
        /// IDs of 1 to 10 subnets, of which each gets a network interface; one per AZ is enough. API Gateway has no
        /// links in some AZs; the plan warns of those that AWS's documentation leaves out.
        subnet_ids: Input<BTreeSet<Input<String>>>
            = required().check(ids("subnet-", 1, MOST_SUBNETS)).change(PlanEffect::PartialReplace(REPLACED)),
        /// IDs of the security groups of the network interfaces, which the groups of the private endpoints must admit.
        /// Without any, AWS uses the default group of the VPC.
        security_group_ids: Input<Option<BTreeSet<Input<String>>>>
            = optional().check(ids("sg-", 0, 5)).change(PlanEffect::PartialReplace(REPLACED)),
        /// Tags.
        tags: Tags = default(Value::map::<&str>([])).in_place(),
    }
}

fn ids(prefix: &'static str, least: usize, most: usize) -> Check {
    Check::new(format!("{least} to {most} IDs that begin with {prefix}"), move |value| {
        let Value::List(items) = value else { return Ok(()) };
        if !(least..=most).contains(&items.len()) {
            return Err(format!("There are {} IDs; {least} to {most} are allowed.", items.len()));
        }
        match items.iter().filter_map(Value::as_str).find(|id| !id.starts_with(prefix)) {
            Some(id) => Err(format!("{id:?} does not begin with {prefix:?}.")),
            None => Ok(()),
        }
    })
}

/// All problems of the links.
pub(super) fn problems(links: &Input<BTreeMap<String, Input<LinkConfig>>>) -> Vec<Problem> {
    let mut problems = ENTRIES.problems(links);
    for (name, entry) in links.known().into_iter().flatten() {
        let tags = entry.known().and_then(|entry| entry.tags.known()).into_iter();
        let path = ENTRIES.path(name).attribute("tags");
        problems.extend(tags.flat_map(|tags| check_tags(TaggingService::ApiGateway, tags, &path)));
    }
    problems
}

/// The warnings about links without security groups, which may reach nothing, and about those that no route uses. What
/// routes use is `None` if it is unknown.
pub(super) fn warnings(
    links: &Input<BTreeMap<String, Input<LinkConfig>>>,
    used: Option<&BTreeSet<&str>>,
) -> Vec<Problem> {
    let is_bare = |entry: &&LinkConfig| {
        entry.security_group_ids.known().is_some_and(|groups| groups.as_ref().is_none_or(BTreeSet::is_empty))
    };
    let bare = |(name, entry): (&String, &Input<LinkConfig>)| {
        entry.known().filter(is_bare)?;
        Some(Problem::new(
            ENTRIES.path(name).attribute("security_group_ids"),
            format!(
                "The VPC link {name:?} has no security groups, so AWS uses the default security group of the VPC. \
                 {DROPS_NAMES}"
            ),
            "Set security_group_ids to groups that the private endpoints admit.",
        ))
    };
    let unused = |name: &String| {
        Problem::new(
            ENTRIES.path(name),
            format!(
                "No route of this gateway uses the VPC link {name:?}. That is right if another gateway uses its ID."
            ),
            format!("Set vpc_link = {name:?} in the routes that are to use it, or remove it."),
        )
    };
    let all = || links.known().into_iter().flatten();
    let is_unused = |name: &&String| used.is_some_and(|used| !used.contains(name.as_str()));
    let unused = all().map(|(name, _)| name).filter(is_unused).map(unused);
    all().filter_map(bare).chain(unused).collect()
}

/// The link of an entry and its key. Tags are the merged ones.
pub(super) fn object(api: &Key, name: &str, entry: &Input<LinkConfig>, tags: Tags) -> (Key, VpcLink) {
    let entry = entry.known();
    let groups = entry.map_or(Input::Unknown, |it| it.security_group_ids.clone().map(Option::unwrap_or_default));
    let spec = VpcLink {
        api: api.clone(),
        name: entry.map_or(Input::Unknown, |it| it.name.clone().map(|it| it.unwrap_or_else(|| name.to_string()))),
        subnet_ids: entry.map_or(Input::Unknown, |it| known_set(&it.subnet_ids)),
        security_group_ids: known_set(&groups),
        tags,
    };
    (keys::vpc_link(name, &spec.subnet_ids, &spec.security_group_ids), spec)
}

/// The name of the entry whose link has this key.
pub(super) fn name_of(key: &Key) -> Option<&str> {
    ENTRIES.name(&key.slot)
}

impl LinkConfig {
    /// The entry that describes a link, with these tags of its own.
    pub(super) fn of(name: &str, spec: &VpcLink, tags: Tags) -> LinkConfig {
        let inputs = |ids: BTreeSet<String>| ids.into_iter().map(Input::Known).collect::<BTreeSet<_>>();
        LinkConfig {
            name: spec.name.clone().map(|it| Some(it).filter(|it| it != name)),
            subnet_ids: spec.subnet_ids.clone().map(inputs),
            security_group_ids: spec
                .security_group_ids
                .clone()
                .map(|ids| Some(inputs(ids)).filter(|it| !it.is_empty())),
            tags,
        }
    }
}

/// Sets the entries of all links. `own` returns the tags that an entry has to contain.
pub(super) fn import(found: Found<'_>, attributes: &mut Value, own: impl Fn(&Tags) -> Tags) {
    let links = found.specs().filter_map(|(key, spec)| Some((name_of(key)?, VpcLink::of(spec)?)));
    let entry =
        |(name, link): (&str, &VpcLink)| (name.to_string(), LinkConfig::of(name, link, own(&link.tags)).encode());
    attributes.set(ENTRIES.input, Value::Map(links.map(entry).collect()));
}

/// Removes the entries of deleted links, and writes changed names and tags into the others.
pub(super) fn reflect(inventory: &Inventory, state: &mut Value) {
    ENTRIES.reflect(inventory, state, |name, entry| {
        let Some(link) = drifted(inventory, &ENTRIES.slot(name)).and_then(VpcLink::of) else { return };
        let found = LinkConfig::of(name, link, link.tags.clone()).encode();
        entry.set("name", found.get("name").clone());
        let own = entry.get("tags").as_map().into_iter().flatten().map(|(key, _)| key);
        let tags = own.filter_map(|key| Some((key.clone(), found.get("tags").as_map()?.get(key)?.clone())));
        entry.set("tags", Value::Map(tags.collect()));
    });
}
