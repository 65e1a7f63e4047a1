//! Diagnostics of the data sources.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::text::first;
use crate::cloud::{Root, RootFilter, RootState};
use crate::model::{Scope, printable};
use crate::plugin::{AttributePath, Diagnostics, Problem};
use crate::topology::Topology;

/// No root matches the filter.
pub(in crate::composite) fn none_found<P: Topology>(
    filter: &RootFilter<'_>,
    roots: &[Root],
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) {
    let existing = first(roots, |root| format!("{:?} ({})", root.name, printable(&root.id)));
    let existing = match existing.is_empty() {
        true => "This provider has created none there".to_string(),
        false => format!("This provider has created {}", existing.join(", ")),
    };
    let (product, place) = (P::KIND.name(), place(scope));
    let tagged = match filter.name {
        Some(name) => format!("{product}/{name}"),
        None => format!("{product}/<name>"),
    };
    diagnostics.attribute_error(
        path::<P>(filter),
        format!("Could not read {}: none matches {}", P::TYPE_NAME, criteria(filter)),
        format!(
            "In {place} no {} has the tag fgw:resource = {tagged:?}{}. {existing}.\n\nCheck the search criteria, and the region \
             and account of the provider block. If the same configuration creates it, set id to the id of its resource, so \
             that Terraform reads this data source afterwards.",
            P::KIND.root_kind(),
            if filter.tags.is_empty() { "" } else { " and these tags" },
        ),
    );
}

/// The provider block does not state yet which tags it ignores.
pub(in crate::composite) fn tags_not_shown<P: Topology>(id: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        format!("The tags of {} {} are not shown", P::TYPE_NAME, printable(id)),
        "ignore_tags in the provider block contains a value that is known only after apply. Until then, the provider \
         cannot separate the tags that it ignores from the others, so all tags in this data source are null. To read \
         them, use known values in ignore_tags, or first apply the resource that determines the value, with -target.",
    );
}

/// More than one root matches the filter.
pub(in crate::composite) fn several_found<P: Topology>(
    filter: &RootFilter<'_>,
    matching: &[&Root],
    diagnostics: &mut Diagnostics,
) {
    let line = |root: &&Root| {
        let state = root.state.filter(|state| *state != RootState::Ready);
        let state = state.map(|state| format!(", fgw:state is {}", state.as_str())).unwrap_or_default();
        let tags = if root.tags.is_empty() { "no tags".to_string() } else { format!("tags {}", written(&root.tags)) };
        format!("  {} {:?} ({tags}{state})", printable(&root.id), root.name)
    };
    let lines: Vec<String> = matching.iter().map(line).collect();
    diagnostics.attribute_error(
        path::<P>(filter),
        format!("Could not read {}: {} match {}", P::TYPE_NAME, matching.len(), criteria(filter)),
        format!(
            "These match:\n\n{}\n\nSet only id, to one of these IDs, or add tags that only one of them has.",
            lines.join("\n")
        ),
    );
}

/// There is no root with the given id.
pub(in crate::composite) fn no_such_id<P: Topology>(id: &str, scope: &Scope, diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        AttributePath::new("id"),
        format!("Could not read {} {id}: not found", P::TYPE_NAME),
        format!(
            "There is no {} with this ID in {}. Check the ID, and the region and account of the provider block.",
            P::KIND.root_kind(),
            place(scope)
        ),
    );
}

/// A value that cannot be the ID of a root. If it is an ARN, it may end with the ID.
pub(in crate::composite) fn wrong_id<P: Topology>(id: &str) -> Problem {
    let (root, example) = (P::KIND.root_kind(), P::KIND.example_id());
    let last = id.rsplit('/').next().filter(|last| P::KIND.accepts_id(last));
    let hint = match last {
        Some(last) => format!("Use the ID at its end: {last}."),
        None => format!("Use the ID of the {root}, such as {example}, not its name or another object."),
    };
    let article = if root == "API" { "an" } else { "a" };
    let message = format!("\"{}\" is not the ID of {article} {root}.", printable(id));
    Problem::new(AttributePath::new("id"), message, hint)
}

/// A root without the tag that this provider sets.
pub(in crate::composite) fn no_topology<P: Topology>(id: &str, diagnostics: &mut Diagnostics) {
    let (product, other) = (P::KIND.name(), P::KIND.data_sources_of_hashicorp());
    diagnostics.attribute_error(
        AttributePath::new("id"),
        format!("Could not read {} {id}: not managed by fgw", P::TYPE_NAME),
        format!(
            "It exists, but it does not have the tag fgw:resource = \"{product}/<name>\", which identifies the objects of this \
             provider. Outputs cannot be determined for objects that something else created: read these with {other} of \
             hashicorp/aws. If the tag was removed, set it again.",
        ),
    );
}

/// A topology whose create has not succeeded.
pub(in crate::composite) fn warn_of_unfinished<P: Topology>(id: &str, state: RootState, diagnostics: &mut Diagnostics) {
    let why = match state {
        RootState::Creating => "the run that creates it is in progress or was killed",
        RootState::Incomplete | RootState::Ready => "its create failed and was not continued",
    };
    diagnostics.warning(
        format!("{} {id} is incomplete", P::TYPE_NAME),
        format!(
            "Its tag fgw:state is {}: {why}. Outputs of missing objects are null or empty. Apply the configuration that \
             contains its resource.",
            state.as_str()
        ),
    );
}

pub(super) fn place(scope: &Scope) -> String {
    let account = scope.account.as_ref().map(|account| format!(" of account {account}")).unwrap_or_default();
    format!("Region {}{account}", scope.region)
}

/// The attribute that an error is attached to.
fn path<P: Topology>(filter: &RootFilter<'_>) -> AttributePath {
    AttributePath::new(if filter.name.is_some() { P::NAME } else { "tags" })
}

/// The criteria of a search: `name "main" and tags team = "net"`.
fn criteria(filter: &RootFilter<'_>) -> String {
    let name = filter.name.map(|name| format!("name {name:?}"));
    let tags = (!filter.tags.is_empty()).then(|| format!("tags {}", written(&filter.tags)));
    name.into_iter().chain(tags).collect::<Vec<_>>().join(" and ")
}

fn written<T: Display>(tags: &BTreeMap<T, T>) -> String {
    let tags: Vec<String> =
        tags.iter().map(|(key, value)| printable(&format!("{key} = \"{value}\"")).into_owned()).collect();
    tags.join(", ")
}
