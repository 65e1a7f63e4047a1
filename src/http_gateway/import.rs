//! From what exists to the inputs that reproduce it, for an import.

use std::collections::BTreeMap;

use super::{cors, keys};
use crate::objects::{Inventory, Spec, Tags};
use crate::plugin::{Input, Value};
use crate::product::Scope;

/// The inputs that the API and its stage show. An HTTP API is adopted whoever made it, as its objects take no tags.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let Spec::Api(api) = inventory.at(keys::API)?.spec() else { return None };
    let mut attributes = Value::map([
        ("name", api.name.clone().into()),
        ("description", api.description.clone().into()),
        ("api_version", api.version.clone().into()),
        ("api_tags", own(&api.tags, scope)),
    ]);
    if let Input::Known(Some(found)) = &api.cors {
        attributes.set("cors_configuration", cors::reflected(&Value::Null, None, Some(found)));
    }
    let stage = inventory.present().find_map(|it| if let Spec::Stage(stage) = it.spec() { Some(stage) } else { None });
    if let Some(stage) = stage {
        attributes.set("stage_tags", own(&stage.tags, scope));
    }
    Some(attributes)
}

/// Takes what is not read back from a configuration.
pub(super) fn take_as_applied(attributes: &mut Value, configuration: &Value) {
    for (name, given) in configuration.as_map().into_iter().flatten() {
        if attributes.get(name).is_null() {
            attributes.set(name, given.clone());
        }
    }
}

/// What `default_tags` does not explain.
fn own(tags: &Tags, scope: &Scope) -> Value {
    let tags = tags.known().into_iter().flatten().filter_map(|(key, value)| Some((key, value.known()?)));
    let own = tags.filter(|(key, value)| scope.default_tags.get(*key) != Some(value));
    own.map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>().into()
}
