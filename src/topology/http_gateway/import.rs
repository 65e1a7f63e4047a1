//! Computes the inputs that reproduce existing objects, for an import.
//!
//! If several inputs produce the same objects, the shortest ones are chosen. Any other configuration that produces
//! these objects counts as equal.

mod entries;

pub(super) use entries::{FoundGateway, View, authorizers, cors, routes, subscription_attributes};

use std::collections::BTreeMap;

use super::blueprint::default_ttl;
use super::config::{FaasAuthorizer, GatewayConfig, access_log_format_attributes};
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, Caller, DomainName, FunctionArn, Inventory, Key, Ref, Scope, Spec, Stage, Tags};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};

/// The inputs; `None` if the tags of the API do not show that this provider created it, and it is not to be adopted.
/// Deleting an imported API would delete everything in it, including objects that no input expresses.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let root = inventory.at(keys::API)?;
    let is_ours = root.learned.get(keys::RESOURCE).is_some_and(|resource| resource.starts_with("http_gateway/"));
    let Spec::Api(api) = root.spec() else { return None };
    if !is_ours && !root.not_adopted {
        return None;
    }
    let found = FoundGateway { inventory, view: View::Current };
    let mut attributes = with_defaults(&GatewayConfig::attributes(), &Value::Map(BTreeMap::new()));
    attributes.set("name", api.name.clone().into());
    attributes.set("description", api.description.clone().into());
    attributes.set("api_version", api.version.clone().into());
    attributes.set("api_tags", own(&api.tags, scope).into());
    if let Input::Known(Some(found)) = &api.cors {
        attributes.set("cors_configuration", cors(&Value::Null, None, Some(found)));
    }
    let routes = routes(found).into_iter().filter_map(|(key, entry)| Some((key.to_string(), Value::map(entry?))));
    attributes.set("route_config", Value::map(routes));
    let authorizers = authorizers(found).into_iter();
    let authorizers = authorizers.map(|(name, spec)| (name.to_string(), authorizer_entry(spec, scope)));
    attributes.set("faas_authorizers", Value::map(authorizers));
    access_logs(found, scope, &mut attributes);
    subscription(found, &mut attributes);
    domain(found, &mut attributes);
    let domain = inventory.current().find_map(|entry| DomainName::of(entry.spec()).map(|domain| (entry, domain)));
    if root.not_adopted || domain.is_some_and(|(entry, _)| entry.not_adopted) {
        // The best certificate may be another one than that of the domain.
        attributes.set("certificate_domain", Value::Null);
        let certificate = domain.map(|(_, domain)| domain.certificate_arn.clone());
        attributes.set("certificate_arn", certificate.map_or(Value::Null, Value::from));
    }
    Some(attributes)
}

/// Gives the integrations and authorizers in `aws_objects`, and the permissions of the latter, the names that they have
/// there. An import names an integration after a route that uses it now, but it was named after one that used it first.
/// An authorizer has another name in AWS if an unmanaged route uses the one with the first name.
pub(super) fn restore_keys(attributes: &Value, inventory: &mut Inventory) {
    let known = attributes.get("aws_objects").as_map().cloned().unwrap_or_default();
    let mut names: BTreeMap<Key, Key> = BTreeMap::new();
    for entry in &mut inventory.entries {
        let slot = known.iter().find(|(_, id)| id.as_str() == Some(entry.id.as_str())).map(|(slot, _)| slot);
        let Some(slot) = slot.filter(|slot| **slot != entry.key.slot) else { continue };
        let key = match &entry.applied {
            Spec::Integration(_) if slot.starts_with("integration.") => Key::new(slot),
            Spec::Authorizer(authorizer) => match keys::authorizer_name(&Key::new(slot)) {
                Some(name) => keys::renamed_authorizer(name, &authorizer.name),
                None => continue,
            },
            _ => continue,
        };
        let before = std::mem::replace(&mut entry.key, key.clone());
        names.insert(before, key);
    }
    for entry in &mut inventory.entries {
        match &mut entry.applied {
            Spec::ApiRoute(route) => {
                for target in [&mut route.integration, &mut route.authorizer] {
                    if let Some(Ref::Key(key)) = target
                        && let Some(name) = names.get(key)
                    {
                        key.clone_from(name);
                    }
                }
            }
            Spec::LambdaPermission(permission) => {
                if let Caller::Authorizer(key) = &mut permission.caller
                    && let Some(name) = names.get(key)
                {
                    key.clone_from(name);
                    let place = (&permission.function_arn, &permission.qualifier);
                    if let (Input::Known(function), Input::Known(qualifier)) = place {
                        entry.key = keys::authorizer_permission_of(name, function, qualifier.as_deref());
                    }
                }
            }
            _ => {}
        }
    }
}

/// Copies attributes that cannot be read from AWS from a configuration. Without a log group or a subscription, these
/// include the inputs that apply only to it.
pub(super) fn take_as_applied(attributes: &mut Value, configuration: &Value) {
    for (object, dependent) in [
        ("access_log_logservice_group_name", "access_log_format_type"),
        (
            "access_log_logservice_group_subscription_destination_arn",
            "access_log_logservice_group_subscription_filter_pattern",
        ),
    ] {
        if attributes.get(object).is_null() {
            attributes.set(dependent, configuration.get(dependent).clone());
        }
    }
    for (name, given) in configuration.as_map().into_iter().flatten() {
        if attributes.get(name).is_null() {
            attributes.set(name, given.clone());
        }
    }
}

fn access_logs(found: FoundGateway<'_>, scope: &Scope, attributes: &mut Value) {
    let stage = found.specs().find_map(|(_, spec)| Stage::of(spec));
    if let Some(Stage { tags, .. }) = stage {
        attributes.set("stage_tags", own(tags, scope).into());
    }
    // A log group that this resource does not manage cannot be expressed: its name in the configuration would create a
    // group.
    let group =
        found.specs().find_map(|(key, spec)| if let Spec::LogGroup(group) = spec { Some((key, group)) } else { None });
    let Some((key, group)) = group else { return };
    attributes.set("access_log_logservice_group_name", group.name.clone().into());
    attributes.set("access_log_logservice_group_retention_in_days", group.retention_in_days.clone().into());
    attributes.set("access_log_logservice_group_kms_key_id", group.kms_key_arn.clone().into());
    let tags = own(&group.tags, scope);
    attributes.set("access_log_logservice_group_tags", Some(tags).filter(|tags| !tags.is_empty()).into());
    let format = stage.and_then(|stage| stage.access_log.as_ref()).filter(|log| log.log_group == Ref::Key(key.clone()));
    if let Some(format) = format.and_then(|log| log.format.known()) {
        let (kind, custom) = access_log_format_attributes(format);
        attributes.set("access_log_format_type", kind.into());
        attributes.set("custom_access_log_format", custom.into());
    }
}

fn subscription(found: FoundGateway<'_>, attributes: &mut Value) {
    for (_, spec) in found.specs() {
        let Spec::LogSubscription(subscription) = spec else { continue };
        for (name, value) in subscription_attributes(subscription) {
            attributes.set(name, value);
        }
    }
}

fn domain(found: FoundGateway<'_>, attributes: &mut Value) {
    for (_, spec) in found.specs() {
        match spec {
            Spec::DomainName(domain) => {
                attributes.set("domain_name", domain.domain_name.clone().into());
                // The domain by which the certificate was looked up is not recorded, but the certificate covers the
                // name itself.
                attributes.set("certificate_domain", domain.domain_name.clone().into());
            }
            Spec::DnsRecord(record) => {
                attributes.set("create_dns_entry", true.into());
                attributes.set("hosted_zone_id", record.zone_id.clone().into());
            }
            _ => {}
        }
    }
}

/// An entry of `faas_authorizers`.
fn authorizer_entry(spec: &Authorizer, scope: &Scope) -> Value {
    let uri = spec.authorizer_uri.known().map(String::as_str).unwrap_or_default();
    let (function, uri) = function_and_uri(&spec.name, uri, scope);
    let sources = spec.identity_sources.known().cloned().unwrap_or_default();
    let default_ttl_of_sources = Input::Known(default_ttl(&sources));
    let entry = Value::map([
        ("authorizer_name", function.into()),
        ("authorizer_uri", uri.into()),
        ("authorizer_payload_format_version", entries::payload_format(&spec.payload_format_version)),
        ("identity_sources", if sources.is_empty() { Value::Null } else { sources.into() }),
        (
            "result_ttl_in_seconds",
            if spec.result_ttl_in_seconds == default_ttl_of_sources {
                Value::Null
            } else {
                spec.result_ttl_in_seconds.clone().into()
            },
        ),
        ("enable_simple_responses", spec.enable_simple_responses.clone().into()),
        ("authorizer_credentials_arn", spec.credentials_arn.clone().into()),
    ]);
    with_defaults(&FaasAuthorizer::attributes(), &entry)
}

/// `authorizer_name` and `authorizer_uri` for an invoke URI. The latter is `None` if it follows from the former.
fn function_and_uri(name: &str, uri: &str, scope: &Scope) -> (String, Option<String>) {
    let Some(function) = FunctionArn::parse_invoke_uri(uri) else {
        return (name.to_string(), Some(uri.to_string()));
    };
    let is_near = function.partition == scope.partition
        && function.region == scope.region
        && scope.account.as_ref() == Some(&function.account);
    let function_name = if is_near { function.short() } else { function.to_string() };
    (function_name, (function.invoke_uri() != uri).then(|| uri.to_string()))
}

/// The tags that `default_tags` does not set.
fn own(tags: &Tags, scope: &Scope) -> BTreeMap<String, String> {
    let tags = tags.known().into_iter().flatten().filter_map(|(key, value)| Some((key, value.known()?)));
    let own = tags.filter(|(key, value)| !scope.may_be_default_tag(key, value));
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
pub(super) mod tests;
