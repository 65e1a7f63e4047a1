//! What others changed, in the words of the configuration: Terraform shows a change where the user wrote the value.
//!
//! What is as applied is left as the user wrote it. What no attribute expresses, such as a route that leads to
//! something that is not ours, is in `drift` alone.

use std::collections::BTreeMap;

use super::config::access_log_format_in_words;
use super::import::{FoundGateway, Look, authorizers, cors, forwarding, routes};
use crate::model::keys::gateway as keys;
use crate::model::{Api, Authorizer, Entry, Inventory, Spec};
use crate::plugin::{Input, Value};

/// Writes what differs from what was applied into the attributes that express it.
pub(super) fn write_drift(state: &mut Value, inventory: &Inventory) {
    // With the API everything has gone. What there was is what the replacement makes again.
    let Some(root) = inventory.at(keys::API) else { return };
    if let (Spec::Api(applied), Some(Spec::Api(found))) = (&root.applied, root.drifted()) {
        the_api(state, applied, found);
    }
    the_routes(state, inventory);
    the_authorizers(state, inventory);
    access_logs(state, inventory);
    domain(state, inventory);
    for entry in inventory.present().filter(|entry| !entry.pending_deletion) {
        let map = match &entry.applied {
            Spec::Api(_) => "api_tags",
            Spec::Stage(_) => "stage_tags",
            Spec::LogGroup(_) => "access_log_logservice_group_tags",
            _ => continue,
        };
        tags(state, map, entry);
    }
}

fn the_api(state: &mut Value, applied: &Api, found: &Api) {
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

fn the_routes(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = looks(inventory);
    let (applied, now) = (routes(applied), routes(now));
    entries(state, "route_config", |key, entry| {
        let Some(before) = applied.get(key) else { return Fate::Stays };
        match (before, now.get(key)) {
            (_, None) => Fate::Goes,
            (Some(before), Some(Some(now))) => {
                set_what_differs(entry, before, now);
                Fate::Stays
            }
            _ => Fate::Stays,
        }
    });
}

fn the_authorizers(state: &mut Value, inventory: &Inventory) {
    let (applied, now) = looks(inventory);
    let (applied, now) = (authorizers(applied), authorizers(now));
    entries(state, "faas_authorizers", |name, entry| {
        let Some(before) = applied.get(name) else { return Fate::Stays };
        let Some(now) = now.get(name) else { return Fate::Goes };
        set_what_differs(entry, &precisely(before), &precisely(now));
        if before.identity_sources != now.identity_sources {
            // What a TTL that is left out stands for depends on them.
            entry.set("result_ttl_in_seconds", now.result_ttl_in_seconds.clone().into());
        }
        Fate::Stays
    });
}

/// What an authorizer is, in attributes that say it whatever the others say.
fn precisely(spec: &Authorizer) -> BTreeMap<String, Value> {
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
                for ((name, before), (_, now)) in forwarding(applied).into_iter().zip(forwarding(found)) {
                    if before != now {
                        state.set(name, now);
                    }
                }
            }
            (Spec::Stage(applied), Some(Spec::Stage(found))) => {
                // Logs that are off or go elsewhere cannot be said without giving up the group and its events.
                let (Some(before), Some(now)) = (&applied.access_log, &found.access_log) else { continue };
                let (true, Input::Known(format)) = (before.format != now.format, &now.format) else { continue };
                let (kind, custom) = access_log_format_in_words(format);
                state.set("access_log_format_type", kind.into());
                state.set("custom_access_log_format", custom.into());
            }
            _ => {}
        }
    }
}

/// A domain or record that is gone. That a certificate is another one or that a name leads elsewhere no input says.
fn domain(state: &mut Value, inventory: &Inventory) {
    for entry in inventory.entries.iter().filter(|entry| !entry.pending_deletion && !entry.is_present()) {
        match &entry.applied {
            Spec::DomainName(_) => state.set("domain_name", Value::Null),
            Spec::DnsRecord(_) => state.set("create_dns_entry", false.into()),
            _ => {}
        }
    }
}

/// A key of a map of tags changes or goes. A tag that is not in the map is of `default_tags`.
fn tags(state: &mut Value, map: &str, entry: &Entry) {
    let look = |spec: &Spec| spec.tags().and_then(Input::known).cloned().unwrap_or_default();
    let (applied, now) = (look(&entry.applied), look(entry.spec()));
    entries(state, map, |key, value| match (applied.get(key), now.get(key)) {
        (Some(before), Some(now)) if before != now => {
            *value = now.clone().into();
            Fate::Stays
        }
        (Some(_), None) => Fate::Goes,
        _ => Fate::Stays,
    });
}

/// What becomes of an entry.
#[derive(PartialEq)]
enum Fate {
    Stays,
    Goes,
}

/// Changes the entries of a map, or lets them go.
fn entries(state: &mut Value, map: &str, change: impl Fn(&str, &mut Value) -> Fate) {
    let Value::Map(entries) = state.get(map) else { return };
    let mut entries = entries.clone();
    entries.retain(|key, entry| change(key, entry) == Fate::Stays);
    state.set(map, Value::Map(entries));
}

fn set_what_differs(entry: &mut Value, before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) {
    for (name, value) in now {
        if before.get(name) != Some(value) {
            entry.set(name, value.clone());
        }
    }
}

fn looks(inventory: &Inventory) -> (FoundGateway<'_>, FoundGateway<'_>) {
    (FoundGateway { inventory, look: Look::Applied }, FoundGateway { inventory, look: Look::Now })
}

#[cfg(test)]
mod tests;
