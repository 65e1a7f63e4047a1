//! What a data source did not find, or found too often.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::cloud::{Root, RootFilter, RootState};
use crate::model::Scope;
use crate::plugin::{AttributePath, Diagnostics};
use crate::topology::Topology;

/// No root that is as it was asked for.
pub(in crate::composite) fn none_found<P: Topology>(
    filter: &RootFilter<'_>,
    roots: &[Root],
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) {
    const SHOWN: usize = 20;
    let mut there: Vec<String> =
        roots.iter().take(SHOWN).map(|root| format!("{:?} ({})", root.name, root.id)).collect();
    if roots.len() > SHOWN {
        there.push(format!("and {} more", roots.len() - SHOWN));
    }
    let made = match there.is_empty() {
        true => "This provider has made none there".to_string(),
        false => format!("Those that this provider has made there are {}", there.join(", ")),
    };
    let (product, place) = (P::KIND.name(), place(scope));
    let tagged = match filter.name {
        Some(name) => format!("{product}/{name}"),
        None => format!("{product}/<name>"),
    };
    diagnostics.attribute_error(
        path::<P>(filter),
        format!("No {} {}", P::TYPE_NAME, sought("is", "has", filter)),
        format!(
            "In {place} no {} has the tag fgw:resource = {tagged:?}{}. {made}.\n\nCheck what is asked for, and the region and \
             account of the provider block. Where it is made in the same run, take the id from its resource, so that this is \
             read after it.",
            P::KIND.root_kind(),
            if filter.tags.is_empty() { "" } else { " and these tags" },
        ),
    );
}

/// More roots than one that are as they were asked for.
pub(in crate::composite) fn several_found<P: Topology>(
    filter: &RootFilter<'_>,
    fitting: &[&Root],
    diagnostics: &mut Diagnostics,
) {
    let line = |root: &&Root| {
        let state = root.state.filter(|state| *state != RootState::Ready);
        let state = state.map(|state| format!(", fgw:state is {}", state.as_str())).unwrap_or_default();
        let tags = if root.tags.is_empty() { "no tags".to_string() } else { format!("tags {}", written(&root.tags)) };
        format!("  {} {:?} ({tags}{state})", root.id, root.name)
    };
    let lines: Vec<String> = fitting.iter().map(line).collect();
    diagnostics.attribute_error(
        path::<P>(filter),
        format!("{} of {} {}", fitting.len(), P::TYPE_NAME, sought("are", "have", filter)),
        format!(
            "They are\n\n{}\n\nSet id to the one that is meant and nothing else, or give tags that only that one has.",
            lines.join("\n")
        ),
    );
}

/// No root with an id.
pub(in crate::composite) fn no_such_id<P: Topology>(id: &str, scope: &Scope, diagnostics: &mut Diagnostics) {
    diagnostics.attribute_error(
        AttributePath::new("id"),
        format!("{} {id} does not exist", P::TYPE_NAME),
        format!(
            "AWS knows no {} with this id in {}. Check the id, and the region and account of the provider block.",
            P::KIND.root_kind(),
            place(scope)
        ),
    );
}

/// A root that does not say that this provider made it.
pub(in crate::composite) fn no_topology<P: Topology>(id: &str, diagnostics: &mut Diagnostics) {
    let (product, other) = (P::KIND.name(), P::KIND.data_sources_of_hashicorp());
    diagnostics.attribute_error(
        AttributePath::new("id"),
        format!("{id} was not made by {}", P::TYPE_NAME),
        format!(
            "It exists, and has no tag fgw:resource = \"{product}/<name>\", by which this provider knows what it has made. What \
             stands for which output cannot be told of what something else has made: read it with {other} of \
             hashicorp/aws. If the tag was lost, set it again.",
        ),
    );
}

/// A topology whose creation has not succeeded.
pub(in crate::composite) fn warn_of_unfinished<P: Topology>(id: &str, state: RootState, diagnostics: &mut Diagnostics) {
    let why = match state {
        RootState::Creating => "a run is making it at this moment, or was killed",
        RootState::Incomplete | RootState::Ready => "its creation failed, and has not been finished since",
    };
    diagnostics.warning(
        format!("{} {id} is not finished", P::TYPE_NAME),
        format!(
            "Its tag fgw:state is {}: {why}. Outputs for what is missing are null or empty. Apply the configuration that owns \
             it.",
            state.as_str()
        ),
    );
}

fn place(scope: &Scope) -> String {
    let account = scope.account.as_ref().map(|account| format!(" of account {account}")).unwrap_or_default();
    format!("Region {}{account}", scope.region)
}

/// The attribute that the search began with.
fn path<P: Topology>(filter: &RootFilter<'_>) -> AttributePath {
    AttributePath::new(if filter.name.is_some() { P::NAME } else { "tags" })
}

/// What was looked for: `is called "main" and has the tags team = "net"`.
fn sought(is: &str, has: &str, filter: &RootFilter<'_>) -> String {
    let name = filter.name.map(|name| format!("{is} called {name:?}"));
    let tags = (!filter.tags.is_empty()).then(|| format!("{has} the tags {}", written(&filter.tags)));
    name.into_iter().chain(tags).collect::<Vec<_>>().join(" and ")
}

fn written<T: Display>(tags: &BTreeMap<T, T>) -> String {
    let tags: Vec<String> = tags.iter().map(|(key, value)| format!("{key} = \"{value}\"")).collect();
    tags.join(", ")
}
