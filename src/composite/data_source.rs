//! The implementation of [`plugin::DataSource`](crate::plugin::DataSource), generic over the topology. A data source
//! exposes the outputs of a resource to configurations that do not own it.

use std::marker::PhantomData;

use async_trait::async_trait;

use super::account::account;
use super::{diagnostics, location, refresh, state};
use crate::cloud::{Cloud, Connection, Root, RootFilter};
use crate::model::{Scope, Tags};
use crate::plugin::{
    Attribute, AttributePath, AttributeType, DataRequest, DataResponse, DataSource, Diagnostics, Schema, Type, Value,
};
use crate::topology::{IgnoredDrift, Topology};

/// A topology as a Terraform data source.
pub struct Existing<P> {
    connection: Connection,
    topology: PhantomData<P>,
}

impl<P: Topology> Existing<P> {
    /// Creates the data source on the connection of the provider.
    pub fn new(connection: Connection) -> Existing<P> {
        Existing { connection, topology: PhantomData }
    }
}

#[async_trait]
impl<P: Topology> DataSource for Existing<P> {
    fn type_name(&self) -> &'static str {
        P::TYPE_NAME
    }

    fn schema(&self) -> Schema {
        Schema { version: 0, description: description::<P>(), attributes: attributes::<P>() }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        let by = ["id", P::NAME, "tags"];
        let is_given = |name: &&&str| match config.get(name) {
            Value::Map(tags) => tags.values().any(|value| !value.is_null()),
            value => !value.is_null(),
        };
        let given: Vec<&str> = by.iter().filter(is_given).copied().collect();
        for name in &by[..2] {
            if config.get(name).as_str() == Some("") {
                diagnostics::empty_name(name, &mut diagnostics);
            }
        }
        if let Some(id) = config.get("id").as_str().filter(|id| !id.is_empty() && !P::KIND.accepts_id(id)) {
            diagnostics.problems([diagnostics::wrong_id::<P>(id)]);
        }
        if given.is_empty() {
            let summary = format!("Missing search criteria for {}", P::TYPE_NAME);
            let detail = format!("Set id, {}, or tags that only one {} has.", P::NAME, P::KIND.root_kind());
            diagnostics.error(summary, detail);
        }
        // An unknown value may become null.
        if !config.get("id").is_null() && !config.get("id").is_unknown() {
            for name in given.iter().filter(|name| **name != "id" && !config.get(name).is_unknown()) {
                let detail = format!("The id alone identifies the {}. Remove id or {name}.", P::KIND.root_kind());
                diagnostics.attribute_error(AttributePath::new(name), format!("{name} conflicts with id"), detail);
            }
        }
        diagnostics
    }

    async fn read(&self, request: DataRequest) -> DataResponse {
        let mut diagnostics = Diagnostics::default();
        let cloud = account(&self.connection, &mut diagnostics)
            .and_then(|regions| location::of_config(&regions, request.config.get(location::REGION), &mut diagnostics));
        let Some(cloud) = cloud else {
            return DataResponse { state: None, diagnostics };
        };
        let state = read::<P>(cloud.as_ref(), &request.config, &mut diagnostics).await;
        DataResponse { state, diagnostics }
    }
}

/// Returns the state of the data source, or `None` and an error.
async fn read<P: Topology>(cloud: &dyn Cloud, config: &Value, diagnostics: &mut Diagnostics) -> Option<Value> {
    let id = match config.get("id").as_str() {
        // Neither the name nor the tags are checked against a root with this id.
        Some(id) => id.to_string(),
        None => find::<P>(cloud, &filter::<P>(config), diagnostics).await?,
    };
    let private = match refresh::refresh::<P>(cloud, &id, None, &IgnoredDrift::default()).await {
        Ok(found) => found.filter(|private| private.inventory.at(P::KIND.root()).is_some()),
        Err(failure) => {
            diagnostics::failed(format!("Could not read {} {id}", P::TYPE_NAME), &failure, diagnostics);
            return None;
        }
    };
    let Some(mut private) = private else {
        diagnostics::no_such_id::<P>(&id, cloud.scope(), diagnostics);
        return None;
    };
    // The configuration that owns the topology may have other `default_tags`, so all tags are reported as its own tags.
    let scope = Scope { default_tags: Tags::default(), ..cloud.scope().clone() };
    let Some(attributes) = P::imported(&private.inventory, &scope) else {
        diagnostics::no_topology::<P>(&id, diagnostics);
        return None;
    };
    if let Some(root_state) = private.root_state {
        diagnostics::warn_of_unfinished::<P>(&id, root_state, diagnostics);
    }
    if scope.ignore_tags.may_have_more {
        // Terraform accepts no unknown value in the result of a data source.
        let specs = private.inventory.entries.iter_mut().filter_map(|entry| entry.applied.tags_mut());
        specs.for_each(|tags| *tags = Tags::Unknown);
        diagnostics::tags_not_shown::<P>(&id, diagnostics);
    }
    let found = refresh::state::<P>(&attributes, &id, &private, &scope);
    Some(merged::<P>(config, &found))
}

/// Returns the id of the only root that matches the filter, or `None` and an error.
async fn find<P: Topology>(
    cloud: &dyn Cloud,
    filter: &RootFilter<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let roots = match cloud.roots(P::KIND).await {
        Ok(roots) => roots,
        Err(failure) => {
            diagnostics::failed(format!("Could not read {}", P::TYPE_NAME), &failure, diagnostics);
            return None;
        }
    };
    let matching: Vec<&Root> = roots.iter().filter(|root| filter.matches(root)).collect();
    match matching[..] {
        [root] => Some(root.id.clone()),
        [] => {
            diagnostics::none_found::<P>(filter, &roots, cloud.scope(), diagnostics);
            None
        }
        _ => {
            diagnostics::several_found::<P>(filter, &matching, diagnostics);
            None
        }
    }
}

/// Returns the filter by name and tags that a configuration contains.
pub(super) fn filter<P: Topology>(config: &Value) -> RootFilter<'_> {
    let tags = config.get("tags").as_map().into_iter().flatten();
    let tags = tags.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    RootFilter { name: config.get(P::NAME).as_str(), tags: tags.collect() }
}

/// Returns the configured attributes, and the found ones for the rest.
fn merged<P: Topology>(config: &Value, found: &Value) -> Value {
    Value::map(attributes::<P>().into_iter().map(|attribute| {
        let written = config.get(&attribute.name);
        let value = if written.is_null() { found.get(&attribute.name) } else { written };
        let value = if attribute.name == "tags" { written } else { value };
        (attribute.name, value.clone())
    }))
}

fn attributes<P: Topology>() -> Vec<Attribute> {
    let (name, root) = (P::NAME, P::KIND.root_kind());
    let text = |name: &str, description: String| {
        Attribute::new(name, AttributeType::Plain(Type::String), &description).optional_computed()
    };
    let tags = AttributeType::Plain(Type::Map(Box::new(Type::String)));
    let mut attributes = vec![
        text("id", format!("ID of the {root}. Conflicts with `{name}` and `tags`.")),
        text(name, format!("Name of the {root}, as set in the resource. If several {root}s have it, also set `tags`.")),
        Attribute::new(
            "tags",
            tags,
            &format!("Tags that the {root} must have. It may also have others. Can be combined with `{name}`."),
        )
        .optional(),
        location::attribute_of_data_source(),
    ];
    let common = state::common_attributes(P::KIND.root_kind()).into_iter();
    attributes.extend(common.filter(|it| ["aws_objects", "tags_all"].contains(&it.name.as_str())).map(as_seen::<P>));
    attributes.extend(P::further_outputs());
    attributes.extend(P::outputs_schema());
    attributes
}

/// Returns an attribute of the resource with the description for a data source.
fn as_seen<P: Topology>(mut attribute: Attribute) -> Attribute {
    let root = P::KIND.root_kind();
    attribute.description = match attribute.name.as_str() {
        "aws_objects" => format!("AWS IDs of the {root} and of all objects that belong to it, by object key."),
        _ => format!("Tags of the {root} in AWS, except those that `ignore_tags` of the provider block excludes."),
    };
    attribute
}

fn description<P: Topology>() -> String {
    let (type_name, name, root) = (P::TYPE_NAME, P::NAME, P::KIND.root_kind());
    format!(
        "Reads the outputs of an existing `{type_name}`, for use in a configuration that does not manage it. The data \
         source finds the {root} by `id`, or by `{name}`, `tags` or both. The read fails if no {root} matches, or more \
         than one. It needs only read permissions.\n\nThe data source does not read {root}s without the tag \
         `fgw:resource`, because this provider did not create them."
    )
}
