//! Writes drift into the attributes of the configuration, so that Terraform shows a change at the attribute that
//! expresses it.
//!
//! Attributes without drift keep their values. Drift that no attribute expresses, such as a route with an unmanaged
//! integration, appears only in `drift`.

use std::collections::BTreeMap;

use super::config::access_log_format_attributes;
use super::import::{FoundGateway, View, authorizers, cors, routes, subscription_attributes};
use crate::model::keys::gateway as keys;
use crate::model::{Api, Authorizer, Entry, Inventory, Spec};
use crate::plugin::{Input, Value};

/// Writes drift into the attributes that express it.
pub(super) fn write_drift(state: &mut Value, inventory: &Inventory) {
    // AWS deletes everything together with the API. The attributes stay, because the replacement creates the same
    // objects.
    let Some(root) = inventory.at(keys::API) else { return };
    if let (Spec::Api(applied), Some(Spec::Api(found))) = (&root.applied, root.drifted()) {
        write_api(state, applied, found);
    }
    write_routes(state, inventory);
    write_authorizers(state, inventory);
    access_logs(state, inventory);
    domain(state, inventory);
    for entry in inventory.current() {
        let map = match &entry.applied {
            Spec::Api(_) => "api_tags",
            Spec::Stage(_) => "stage_tags",
            Spec::LogGroup(_) => "access_log_logservice_group_tags",
            _ => continue,
        };
        tags(state, map, entry);
    }
}

fn write_api(state: &mut Value, applied: &Api, found: &Api) {
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
        let value = cors(state.get("cors_configuration"), before, now.as_ref());
        state.set("cors_configuration", value);
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
                set_differences(entry, before, now);
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
        set_differences(entry, &authorizer_attributes(before), &authorizer_attributes(now));
        if before.identity_sources != now.identity_sources {
            // The default of an omitted TTL depends on the identity sources.
            entry.set("result_ttl_in_seconds", now.result_ttl_in_seconds.clone().into());
        }
        Fate::Kept
    });
}

/// The attributes of an authorizer that describe it without depending on defaults or other attributes.
fn authorizer_attributes(spec: &Authorizer) -> BTreeMap<String, Value> {
    let attributes: [(&str, Value); 6] = [
        ("authorizer_uri", spec.authorizer_uri.clone().into()),
        ("authorizer_payload_format_version", spec.payload_format_version.clone().into()),
        ("identity_sources", spec.identity_sources.known().cloned().unwrap_or_default().into()),
        ("result_ttl_in_seconds", spec.result_ttl_in_seconds.clone().into()),
        ("enable_simple_responses", spec.enable_simple_responses.clone().into()),
        ("authorizer_credentials_arn", spec.credentials_arn.clone().into()),
    ];
    attributes.map(|(name, value)| (name.to_string(), value)).into()
}

fn access_logs(state: &mut Value, inventory: &Inventory) {
    for entry in inventory.entries.iter().filter(|entry| !entry.pending_deletion) {
        match (&entry.applied, entry.drifted()) {
            (Spec::LogGroup(_), _) if !entry.is_present() => {
                state.set("access_log_logservice_group_name", Value::Null);
            }
            (Spec::LogGroup(applied), Some(Spec::LogGroup(found))) => {
                if applied.retention_in_days != found.retention_in_days {
                    let days = found.retention_in_days.clone();
                    state.set("access_log_logservice_group_retention_in_days", days.into());
                }
                if applied.kms_key_arn != found.kms_key_arn {
                    state.set("access_log_logservice_group_kms_key_id", found.kms_key_arn.clone().into());
                }
            }
            (Spec::LogSubscription(_), _) if !entry.is_present() => {
                state.set("access_log_logservice_group_subscription_destination_arn", Value::Null);
            }
            (Spec::LogSubscription(applied), Some(Spec::LogSubscription(found))) => {
                let before = subscription_attributes(applied).into_iter();
                for ((name, before), (_, now)) in before.zip(subscription_attributes(found)) {
                    if before != now {
                        state.set(name, now);
                    }
                }
            }
            (Spec::Stage(applied), Some(Spec::Stage(found))) => {
                // If logs are off or go to another group, no attribute can express it without also removing the group
                // and its events.
                let (Some(before), Some(now)) = (&applied.access_log, &found.access_log) else { continue };
                let (true, Input::Known(format)) = (before.format != now.format, &now.format) else { continue };
                let (kind, custom) = access_log_format_attributes(format);
                state.set("access_log_format_type", kind.into());
                state.set("custom_access_log_format", custom.into());
            }
            _ => {}
        }
    }
}

/// Writes a deleted domain or record. The output `certificate_arn` already has another certificate, and no input
/// expresses another target of a name.
fn domain(state: &mut Value, inventory: &Inventory) {
    for entry in inventory.entries.iter().filter(|entry| !entry.pending_deletion && !entry.is_present()) {
        match &entry.applied {
            Spec::DomainName(_) => {
                state.set("domain_name", Value::Null);
                state.set("certificate_arn", Value::Null);
            }
            Spec::DnsRecord(_) => state.set("create_dns_entry", false.into()),
            _ => {}
        }
    }
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

fn set_differences(entry: &mut Value, before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) {
    for (name, value) in now {
        if before.get(name) != Some(value) {
            entry.set(name, value.clone());
        }
    }
}

fn views(inventory: &Inventory) -> (FoundGateway<'_>, FoundGateway<'_>) {
    (FoundGateway { inventory, view: View::Applied }, FoundGateway { inventory, view: View::Current })
}

#[cfg(test)]
mod tests;
