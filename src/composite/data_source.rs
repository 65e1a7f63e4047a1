//! The one implementation of [`plugin::DataSource`](crate::plugin::DataSource), for every product: a topology that this
//! provider has made, told as its resource tells it, to a configuration that does not own it.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use async_trait::async_trait;

use super::account::account;
use super::{diagnostics, refresh, state};
use crate::cloud::{Cloud, Connection, Root, RootFilter};
use crate::model::Scope;
use crate::plugin::{
    Attribute, AttributePath, AttributeType, DataRequest, DataResponse, DataSource, Diagnostics, Schema, Type, Value,
};
use crate::topology::{IgnoredDrift, Topology};

/// One product as a Terraform data source.
pub struct Existing<P> {
    connection: Connection,
    product: PhantomData<P>,
}

impl<P: Topology> Existing<P> {
    /// The data source, on the provider's connection.
    pub fn new(connection: Connection) -> Existing<P> {
        Existing { connection, product: PhantomData }
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
            Value::Map(tags) => !tags.is_empty(),
            value => !value.is_null(),
        };
        let given: Vec<&str> = by.iter().filter(is_given).copied().collect();
        for name in &by[..2] {
            if config.get(name).as_str() == Some("") {
                let detail = "An empty text finds nothing. Give the right one, or leave it out.";
                diagnostics.attribute_error(AttributePath::new(name), format!("{name} is empty"), detail);
            }
        }
        if given.is_empty() {
            let summary = format!("Which {} is meant is not said", P::TYPE_NAME);
            let detail = format!("Give its id, or its {}, or tags that tell it from others.", P::NAME);
            diagnostics.error(summary, detail);
        }
        // What is unknown may turn out to be null.
        if !config.get("id").is_null() && !config.get("id").is_unknown() {
            for name in given.iter().filter(|name| **name != "id" && !config.get(name).is_unknown()) {
                let detail = format!("The id says already which {} is meant. Leave out one of the two.", P::TYPE_NAME);
                diagnostics.attribute_error(AttributePath::new(name), format!("{name} stands beside id"), detail);
            }
        }
        diagnostics
    }

    async fn read(&self, request: DataRequest) -> DataResponse {
        let mut diagnostics = Diagnostics::default();
        let Some(cloud) = account(&self.connection, &mut diagnostics) else {
            return DataResponse { state: None, diagnostics };
        };
        // A look changes nothing, so it may be given up in the middle of a call.
        let state = tokio::select! {
            state = look::<P>(cloud.as_ref(), &request.config, &mut diagnostics) => state,
            () = request.stop.cancelled() => None,
        };
        if state.is_none() && !diagnostics.has_errors() {
            let summary = format!("Reading {} was stopped", P::TYPE_NAME);
            diagnostics.error(summary, "Terraform was asked to stop. Nothing has changed.");
        }
        DataResponse { state, diagnostics }
    }
}

/// What is found, or `None` with an error.
async fn look<P: Topology>(cloud: &dyn Cloud, config: &Value, diagnostics: &mut Diagnostics) -> Option<Value> {
    let id = match config.get("id").as_str() {
        // With it, nothing else is asked.
        Some(id) => id.to_string(),
        None => find::<P>(cloud, &filter::<P>(config), diagnostics).await?,
    };
    let private = match refresh::refresh::<P>(cloud, &id, None, &IgnoredDrift::default()).await {
        Ok(found) => found.filter(|private| private.inventory.at(P::KIND.root()).is_some()),
        Err(failure) => {
            diagnostics::failed(&format!("Reading {} {id}", P::TYPE_NAME), &failure, diagnostics);
            return None;
        }
    };
    let Some(private) = private else {
        diagnostics::no_such_id::<P>(&id, cloud.scope(), diagnostics);
        return None;
    };
    // The network may be of a configuration with other `default_tags`, so that all of its tags are told as its own.
    let scope = Scope { default_tags: BTreeMap::new(), ..cloud.scope().clone() };
    let Some(attributes) = P::imported(&private.inventory, &scope) else {
        diagnostics::no_topology::<P>(&id, diagnostics);
        return None;
    };
    if let Some(root_state) = private.root_state {
        diagnostics::warn_of_unfinished::<P>(&id, root_state, diagnostics);
    }
    let found = refresh::state::<P>(&attributes, &id, &private, &scope);
    Some(told::<P>(config, &found))
}

/// The id of the only root that is as it was asked for.
async fn find<P: Topology>(
    cloud: &dyn Cloud,
    filter: &RootFilter<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let roots = match cloud.roots(P::KIND).await {
        Ok(roots) => roots,
        Err(failure) => {
            diagnostics::failed(&format!("Looking for {}", P::TYPE_NAME), &failure, diagnostics);
            return None;
        }
    };
    let fitting: Vec<&Root> = roots.iter().filter(|root| filter.matches(root)).collect();
    match fitting[..] {
        [root] => Some(root.id.clone()),
        [] => {
            diagnostics::none_found::<P>(filter, &roots, cloud.scope(), diagnostics);
            None
        }
        _ => {
            diagnostics::several_found::<P>(filter, &fitting, diagnostics);
            None
        }
    }
}

/// The roots that a configuration means by name and tags.
fn filter<P: Topology>(config: &Value) -> RootFilter<'_> {
    let tags = config.get("tags").as_map().into_iter().flatten();
    let tags = tags.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    RootFilter { name: config.get(P::NAME).as_str(), tags: tags.collect() }
}

/// What the configuration says, and what was found.
fn told<P: Topology>(config: &Value, found: &Value) -> Value {
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
        text("id", format!("Id of the {root}. It cannot go with `{name}` or `tags`.")),
        text(name, format!("The resource's `{name}`. Where several have it, `tags` tell them apart, or `id`.")),
        Attribute::new(
            "tags",
            tags,
            &format!("Tags that the {root} has, among others. They may stand beside `{name}`, or alone."),
        )
        .optional(),
    ];
    let common = state::common_attributes().into_iter();
    attributes.extend(common.filter(|it| ["aws_objects", "tags_all"].contains(&it.name.as_str())).map(as_seen));
    attributes.extend(P::further_outputs());
    attributes.extend(P::outputs_schema());
    attributes
}

/// The attribute as one who does not own the topology sees it.
fn as_seen(mut attribute: Attribute) -> Attribute {
    attribute.description = match attribute.name.as_str() {
        "aws_objects" => "Every AWS object of the topology by key, with its AWS id.".to_string(),
        _ => "The tags of the root object as AWS shows them, less those that the provider ignores.".to_string(),
    };
    attribute
}

fn description<P: Topology>() -> String {
    let (type_name, name, root) = (P::TYPE_NAME, P::NAME, P::KIND.root_kind());
    format!(
        "Reads what a resource `{type_name}` has made, with the outputs of that resource, so that another configuration can \
         use it. It is found by `id`, or by `{name}` and `tags`; if none or several are found, that is an error. It only \
         looks: it needs no permission to change anything.\n\nA {root} that has no tag `fgw:resource` was not made by this \
         provider, and is not read."
    )
}
