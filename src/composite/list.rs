//! The implementation of [`plugin::ListResource`](crate::plugin::ListResource), generic over the topology.
//! `terraform query` finds roots with it, also those that no state contains, and writes import blocks for them.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;

use super::account::account;
use super::apply::Shared;
use super::{Progress, Siblings, data_source, diagnostics, import, location};
use crate::cloud::{Cloud, Connection, Root, RootFilter, RootState, SharedCloud};
use crate::plugin::{
    Attribute, AttributePath, AttributeType, Diagnostics, ListRequest, ListResource, Listed, Schema, Type, Value,
};
use crate::topology::Topology;

/// The states of a root by which a list selects.
const STATES: [&str; 4] = ["creating", "incomplete", "ready", "unknown"];

/// The roots of a topology as a list resource.
pub struct Roots<P> {
    connection: Connection,
    shared: Shared,
    topology: PhantomData<P>,
}

impl<P: Topology> Roots<P> {
    /// Creates the list resource on the connection of the provider, with the progress file of the provider.
    pub fn new(connection: Connection, progress: Arc<Progress>) -> Roots<P> {
        Roots { connection, shared: Shared::new(progress, Siblings::default()), topology: PhantomData }
    }
}

#[async_trait]
impl<P: Topology> ListResource for Roots<P> {
    fn type_name(&self) -> &'static str {
        P::TYPE_NAME
    }

    fn schema(&self) -> Schema {
        Schema { version: 0, description: description::<P>(), attributes: attributes::<P>() }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        if config.get(P::NAME).as_str() == Some("") {
            diagnostics::empty_name(P::NAME, &mut diagnostics);
        }
        for (number, state) in items(config.get("states")).iter().enumerate() {
            if let Some(state) = state.as_str().filter(|state| !STATES.contains(state)) {
                let path = AttributePath::new("states").index(number);
                diagnostics::unknown_root_state(path, state, &STATES, &mut diagnostics);
            }
        }
        diagnostics
    }

    async fn list(&self, request: ListRequest) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        let cloud = account(&self.connection, &mut diagnostics)
            .and_then(|regions| location::of_config(&regions, request.config.get(location::REGION), &mut diagnostics));
        let Some(cloud) = cloud else { return diagnostics };
        let list = list::<P>(&cloud, &request, &mut diagnostics);
        self.shared.retry_limits().scope(list).await;
        diagnostics
    }
}

/// Sends the roots that match, sorted by name and id.
async fn list<P: Topology>(cloud: &SharedCloud, request: &ListRequest, diagnostics: &mut Diagnostics) {
    let mut roots = match cloud.roots(P::KIND).await {
        Ok(roots) => roots,
        Err(failure) => {
            diagnostics::failed(format!("Could not list {}", P::TYPE_NAME), &failure, diagnostics);
            return;
        }
    };
    let filter = Filter::of::<P>(&request.config);
    roots.retain(|root| filter.matches(root));
    roots.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    let mut complete = 0;
    for root in &roots {
        if complete >= request.limit {
            return;
        }
        let listed = listed::<P>(cloud.as_ref(), root, request.with_state).await;
        complete += usize::from(listed.identity.is_some());
        if request.found.send(listed).await.is_err() {
            return;
        }
    }
}

/// Returns a root as a result. Its state is what an import would return.
async fn listed<P: Topology>(cloud: &dyn Cloud, root: &Root, with_state: bool) -> Listed {
    let display_name = format!("{} ({}, {})", root.name, root.id, state_name(root.state));
    let identity = location::identity_of(&root.id, cloud.scope());
    if !with_state {
        let diagnostics = Diagnostics::default();
        return Listed { identity: Some(identity), display_name, state: None, diagnostics };
    }
    let imported = import::import::<P>(cloud, &root.id, None).await;
    match imported.state {
        // The warnings of an import are shown when the root is imported.
        Some(state) => {
            let diagnostics = Diagnostics::default();
            Listed { identity: Some(identity), display_name, state: Some(state), diagnostics }
        }
        None => {
            let mut diagnostics = Diagnostics::default();
            diagnostics::not_listed(&display_name, &imported.diagnostics, &mut diagnostics);
            Listed { identity: None, display_name, state: None, diagnostics }
        }
    }
}

/// What a configuration selects.
struct Filter<'a> {
    by_name_and_tags: RootFilter<'a>,
    /// `None` for all.
    states: Option<BTreeSet<&'a str>>,
}

impl Filter<'_> {
    fn of<P: Topology>(config: &Value) -> Filter<'_> {
        let states = Some(config.get("states")).filter(|states| !states.is_null());
        Filter {
            by_name_and_tags: data_source::filter::<P>(config),
            states: states.map(|states| items(states).iter().filter_map(Value::as_str).collect()),
        }
    }

    fn matches(&self, root: &Root) -> bool {
        let has_state = self.states.as_ref().is_none_or(|states| states.contains(state_name(root.state)));
        has_state && self.by_name_and_tags.matches(root)
    }
}

/// The elements of a list; none if it is null or unknown.
fn items(list: &Value) -> &[Value] {
    match list {
        Value::List(items) => items,
        _ => &[],
    }
}

/// The name of a state. A root without the tag, or with another value, may have been changed by others.
fn state_name(state: Option<RootState>) -> &'static str {
    state.map_or("unknown", RootState::as_str)
}

fn attributes<P: Topology>() -> Vec<Attribute> {
    let root = P::KIND.root_kind();
    let optional = |name: &str, kind: Type, description: &str| {
        Attribute::new(name, AttributeType::Plain(kind), description).optional()
    };
    vec![
        optional(P::NAME, Type::String, &format!("Name of the {root}, as set in the resource.")),
        optional(
            "tags",
            Type::Map(Box::new(Type::String)),
            &format!("Tags that the {root} must have. It may also have others."),
        ),
        optional(
            "states",
            Type::List(Box::new(Type::String)),
            "States of which the resource must have one: `creating` while a run creates it or after that run was \
             killed, `incomplete` after a failed create, `ready` otherwise, and `unknown` if the tag `fgw:state` is \
             missing or invalid. All by default.",
        ),
        location::attribute_of_list(),
    ]
}

fn description<P: Topology>() -> String {
    let (type_name, root) = (P::TYPE_NAME, P::KIND.root_kind());
    format!(
        "Finds existing `{type_name}` resources, including those that no state contains, such as the remains of an \
         interrupted run. It finds each {root} with the tag `fgw:resource` that this provider sets. Terraform \
         1.14 introduced `terraform query`."
    )
}
