//! Writes drift into the attributes of the configuration, so that Terraform shows a change at the attribute that
//! expresses it.
//!
//! Attributes without drift keep their values. Drift that no attribute expresses, such as a route with an unmanaged
//! integration, appears only in `drift`.

use super::config::{CorsConfig, FaasAuthorizer};
use super::import::{authorizers, jwt_authorizers, routes};
use super::jwt_authorizers::JwtConfig;
use super::mirrored::{MIRRORED, TAG_MAPS};
use super::vpc_links;
use crate::model::keys::gateway as keys;
use crate::model::{Api, Entry, Inventory, Spec};
use crate::plugin::{Encode, Input, Value};
use crate::topology::mirrored::{Found, View};

/// Writes drift into the attributes that express it.
pub(super) fn write_drift(state: &mut Value, inventory: &Inventory) {
    // AWS deletes everything together with the API. The attributes stay, because the replacement creates the same
    // objects.
    let Some(root) = inventory.at(keys::API) else { return };
    for input in MIRRORED {
        input.reflect(inventory, state);
    }
    if let (Spec::Api(applied), Some(Spec::Api(found))) = (&root.applied, root.drifted()) {
        write_cors(state, applied, found);
    }
    write_settings(state, inventory);
    write_routes(state, inventory);
    write_authorizers(state, inventory);
    write_jwt_authorizers(state, inventory);
    vpc_links::reflect(inventory, state);
    for entry in inventory.current() {
        for (map, _) in TAG_MAPS.iter().filter(|(_, tags)| tags(&entry.applied).is_some()) {
            tags(state, map, entry);
        }
    }
}

fn write_cors(state: &mut Value, applied: &Api, found: &Api) {
    let (true, Input::Known(now)) = (applied.cors != found.cors, &found.cors) else { return };
    let Some(now) = now else { return state.set("cors_configuration", Value::Null) };
    let before = applied.cors.known().cloned().flatten().unwrap_or_default();
    let (before, now) = (CorsConfig::of(&before).encode(), CorsConfig::of(now).encode());
    let mut value = match state.get("cors_configuration") {
        Value::Null => before.clone(),
        given => given.clone(),
    };
    set_differences(&mut value, &before, &now);
    state.set("cors_configuration", value);
}

fn write_settings(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = views(inventory);
    let (before, now) = (applied.default_settings().encode(), now.default_settings().encode());
    let mut value = state.get("default_route_settings").clone();
    if before != now && !value.is_null() {
        set_differences(&mut value, &before, &now);
        state.set("default_route_settings", value);
    }
}

fn write_routes(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = views(inventory);
    let (applied, now) = (routes(applied), routes(now));
    retain_entries(state, "route_config", |key, entry| {
        let Some(before) = applied.get(key) else { return Fate::Kept };
        match (before, now.get(key)) {
            (_, None) => Fate::Removed,
            (Some(before), Some(Some(now))) => {
                set_differences(entry, &before.encode(), &now.encode());
                Fate::Kept
            }
            _ => Fate::Kept,
        }
    });
}

fn write_authorizers(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = views(inventory);
    let (applied, now) = (authorizers(applied), authorizers(now));
    retain_entries(state, "faas_authorizers", |name, entry| {
        let Some(before) = applied.get(name) else { return Fate::Kept };
        let Some(now) = now.get(name) else { return Fate::Removed };
        set_differences(entry, &FaasAuthorizer::of(name, before).encode(), &FaasAuthorizer::of(name, now).encode());
        if before.identity_sources != now.identity_sources {
            // The default of an omitted TTL depends on the identity sources.
            entry.set("result_ttl_in_seconds", now.result_ttl_in_seconds.clone().into());
        }
        Fate::Kept
    });
}

fn write_jwt_authorizers(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = views(inventory);
    let (applied, now) = (jwt_authorizers(applied), jwt_authorizers(now));
    retain_entries(state, "jwt_authorizers", |name, entry| {
        let Some(before) = applied.get(name) else { return Fate::Kept };
        let Some(now) = now.get(name) else { return Fate::Removed };
        set_differences(entry, &JwtConfig::of(before).encode(), &JwtConfig::of(now).encode());
        Fate::Kept
    });
}

/// Writes changed and removed tags into a map of tags. A tag that is not in the map comes from `default_tags`.
fn tags(state: &mut Value, map: &str, entry: &Entry) {
    let tags = |spec: &Spec| spec.tags().and_then(Input::known).cloned().unwrap_or_default();
    let (applied, now) = (tags(&entry.applied), tags(entry.spec()));
    retain_entries(state, map, |key, value| match (applied.get(key), now.get(key)) {
        _ if value.is_null() => Fate::Kept,
        (Some(before), Some(now)) if before != now => {
            *value = now.clone().into();
            Fate::Kept
        }
        (Some(_), None) => Fate::Removed,
        _ => Fate::Kept,
    });
}

/// Whether an entry of a map is kept.
#[derive(PartialEq)]
enum Fate {
    Kept,
    Removed,
}

/// Changes or removes the entries of a map.
fn retain_entries(state: &mut Value, map: &str, change: impl Fn(&str, &mut Value) -> Fate) {
    let Value::Map(entries) = state.get(map) else { return };
    let mut entries = entries.clone();
    entries.retain(|key, entry| change(key, entry) == Fate::Kept);
    state.set(map, Value::Map(entries));
}

fn set_differences(entry: &mut Value, before: &Value, now: &Value) {
    for (name, value) in now.as_map().into_iter().flatten() {
        if before.get(name) != value {
            entry.set(name, value.clone());
        }
    }
}

fn views(inventory: &Inventory) -> (Found<'_>, Found<'_>) {
    (Found { inventory, view: View::Recorded }, Found::now(inventory))
}

#[cfg(test)]
mod tests;
