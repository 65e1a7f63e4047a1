//! Configurations of existing resources: for Terraform, and as text from the output of `terraform show -json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::printable::printable;
use super::{Attribute, Mode, Provider, Resource, Schema, Value, hcl, json, schema};

/// The configuration of a state. It has all attributes of the schema; those that are not configured are null.
pub(super) fn configuration(resource: &dyn Resource, attributes: &[Attribute], state: &Value) -> Value {
    let config = if state.is_null() { Value::Null } else { resource.configuration(state) };
    Value::map(attributes.iter().map(|attribute| {
        let value = if attribute.mode == Mode::Computed { &Value::Null } else { config.get(&attribute.name) };
        (attribute.name.clone(), value.clone())
    }))
}

/// A state or a plan, as `terraform show -json` and `tofu show -json` print it.
#[derive(Deserialize)]
struct Shown {
    format_version: String,
    values: Option<Values>,
    /// Of a plan: the state that it starts from, with the objects that it imports.
    prior_state: Option<PriorState>,
}

#[derive(Deserialize)]
struct PriorState {
    values: Option<Values>,
}

#[derive(Deserialize)]
struct Values {
    root_module: Module,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    resources: Vec<Instance>,
    #[serde(default)]
    child_modules: Vec<Module>,
}

/// One instance of a resource or data source.
#[derive(Deserialize)]
struct Instance {
    address: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    schema_version: i64,
    /// Set for an old object that a replacement has not deleted yet.
    deposed_key: Option<String>,
    values: Box<RawValue>,
}

/// Returns a resource block for each resource of the provider, in the format of `terraform fmt`. `shown` is the output
/// of `terraform show -json`. The error is a message for the user.
pub fn generate(provider: &impl Provider, shown: &[u8]) -> Result<String, String> {
    let root = root_module(shown)?;
    let resources: BTreeMap<_, _> =
        provider.resources().into_iter().map(|it| (it.type_name(), (it.schema(), it))).collect();
    let mut instances = Vec::new();
    if let Some(module) = root {
        collect(module, &mut instances);
    }
    let mut blocks = Vec::new();
    for instance in instances.iter().filter(|it| it.mode == "managed" && it.deposed_key.is_none()) {
        if let Some((schema, resource)) = resources.get(instance.kind.as_str()) {
            blocks.push(block(resource.as_ref(), schema, instance)?);
        }
    }
    if blocks.is_empty() {
        let types = resources.keys().copied().collect::<Vec<_>>().join(" or ");
        return Err(format!("The input contains no resource of type {types}."));
    }
    Ok(blocks.join("\n"))
}

/// Returns the root module of a state, or of the prior state of a plan. `None` if the state is empty.
fn root_module(shown: &[u8]) -> Result<Option<Module>, String> {
    const HINT: &str = "Pass the output of terraform show -json, or of tofu show -json.";
    let any: Box<RawValue> =
        serde_json::from_slice(shown).map_err(|error| format!("The input is not JSON: {error}. {HINT}"))?;
    let shown: Shown = serde_json::from_str(any.get())
        .map_err(|error| format!("The input is not a state that terraform show -json prints: {error}. {HINT}"))?;
    if shown.format_version.split('.').next() != Some("1") {
        let version = printable(&shown.format_version);
        return Err(format!("The input has format version {version}, but this version of the provider reads 1.x."));
    }
    let values = shown.values.or(shown.prior_state.and_then(|state| state.values));
    Ok(values.map(|values| values.root_module))
}

/// Adds the instances of a module and its child modules.
fn collect(module: Module, instances: &mut Vec<Instance>) {
    instances.extend(module.resources);
    for child in module.child_modules {
        collect(child, instances);
    }
}

/// Returns the block of one instance. An instance whose address is not `TYPE.NAME` has its address as a comment.
fn block(resource: &dyn Resource, schema: &Schema, instance: &Instance) -> Result<String, String> {
    let Instance { address, kind, name, schema_version, .. } = instance;
    let shown_address = printable(address);
    if *schema_version > schema.version {
        return Err(format!(
            "{shown_address} has schema version {schema_version}, but this version of the provider supports versions up \
             to {}. Use the version of the provider that wrote the state, or a later one.",
            schema.version
        ));
    }
    let object = schema::object_type(&schema.attributes);
    let state = json::decode(instance.values.get().as_bytes(), &object).map_err(|problem| {
        format!("{shown_address} does not match the schema: {}: {} {}", problem.path, problem.message, problem.hint)
    })?;
    let config = configuration(resource, &schema.attributes, &state);
    let block = hcl::block(&["resource", kind, name], &schema.attributes, &config);
    match *address == format!("{kind}.{name}") {
        true => Ok(block),
        false => Ok(format!("# {shown_address}\n{block}")),
    }
}
