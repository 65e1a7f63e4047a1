//! What AWS shows changed, in the words of the configuration.

use super::{cors, keys};
use crate::objects::{Inventory, Spec};
use crate::plugin::{Input, Value};

/// Writes what someone changed on the API into the attributes that express it. What is as applied is left as the
/// user wrote it.
pub(super) fn reflect(state: &mut Value, inventory: &Inventory) {
    let Some(entry) = inventory.at(keys::API) else { return };
    let (Spec::Api(applied), Some(Spec::Api(found))) = (&entry.applied, entry.drifted()) else { return };
    if applied.name != found.name {
        state.set("name", found.name.clone().into());
    }
    if applied.description != found.description {
        state.set("description", found.description.clone().into());
    }
    if applied.version != found.version {
        state.set("api_version", found.version.clone().into());
    }
    if let (true, Input::Known(now)) = (applied.cors != found.cors, &found.cors) {
        let before = applied.cors.known().and_then(Option::as_ref);
        let value = cors::reflected(state.get("cors_configuration"), before, now.as_ref());
        state.set("cors_configuration", value);
    }
}
