//! Computes the inputs that reproduce existing objects, for an import.
//!
//! If several inputs produce the same objects, the shortest ones are chosen. Any other configuration that produces
//! these objects counts as equal.

mod entries;
mod settings;

pub(super) use entries::{authorizers, jwt_authorizers, routes};

use std::collections::BTreeMap;

use super::blueprint::default_ttl;
use super::config::{CorsConfig, FaasAuthorizer, GatewayConfig, RouteConfig};
use super::jwt_authorizers::JwtConfig;
use super::mirrored::{MIRRORED, TAG_MAPS};
use super::vpc_links;
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, Caller, DomainName, FunctionArn, Inventory, Key, LogGroup, Ref, Scope, Spec, Tags};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Encode, Input, Nested, Value};
use crate::topology::mirrored::Found;

/// The inputs; `None` if the tags of the API do not show that this provider created it, and it is not to be adopted.
/// Deleting an imported API would delete everything in it, including objects that no input expresses.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let root = inventory.at(keys::API)?;
    let is_ours = root.learned.get(keys::RESOURCE).is_some_and(|resource| resource.starts_with("http_gateway/"));
    let Spec::Api(api) = root.spec() else { return None };
    if !is_ours && !root.is_foreign() {
        return None;
    }
    let found = Found::now(inventory);
    let mut attributes = with_defaults(&GatewayConfig::attributes(), &Value::Map(BTreeMap::new()));
    for input in MIRRORED {
        input.import(inventory, &mut attributes);
    }
    if let Some(group) = found.specs().find_map(|(_, spec)| LogGroup::of(spec)) {
        attributes.set("access_log_logservice_group_skip_destroy", group.skip_destroy.clone().into());
    }
    for (map, tags) in TAG_MAPS {
        let tags = found.specs().find_map(|(_, spec)| tags(spec)).map(|tags| own(tags, scope));
        if let Some(tags) = tags.filter(|tags| !tags.is_empty()) {
            attributes.set(map, tags.into());
        }
    }
    if let Input::Known(Some(found)) = &api.cors {
        attributes.set("cors_configuration", CorsConfig::of(found).encode());
    }
    let default = settings::of_stage(found);
    let routes = routes(found).into_iter().filter_map(|(key, entry)| {
        let mut entry = entry?;
        entry.settings = settings::shortest(&entry.settings, &default);
        Some((key.to_string(), shortest_route(entry)))
    });
    attributes.set("route_config", Value::map(routes));
    if !default.is_empty() {
        attributes.set("default_route_settings", default.encode());
    }
    let authorizers = authorizers(found).into_iter();
    let authorizers = authorizers.map(|(name, spec)| (name.to_string(), shortest(spec, scope).encode()));
    attributes.set("faas_authorizers", Value::map(authorizers));
    let authorizers = jwt_authorizers(found).into_iter();
    let authorizers = authorizers.map(|(name, spec)| (name.to_string(), JwtConfig::shortest(spec).encode()));
    attributes.set("jwt_authorizers", Value::map(authorizers));
    vpc_links::import(found, &mut attributes, |tags| {
        Input::Known(own(tags, scope).into_iter().map(|(key, value)| (key, Input::Known(value))).collect())
    });
    // The domain by which the certificate was looked up is not recorded, but the certificate covers the name itself.
    let name = attributes.get("domain_name").clone();
    if !name.is_null() {
        attributes.set("certificate_domain", name);
    }
    let domain = inventory.current().find_map(|entry| DomainName::of(entry.spec()).map(|domain| (entry, domain)));
    if root.is_foreign() || domain.is_some_and(|(entry, _)| entry.is_foreign()) {
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
            spec @ (Spec::Authorizer(_) | Spec::JwtAuthorizer(_)) => match keys::authorizer_name(&Key::new(slot)) {
                Some(name) => keys::authorizer_in_aws(name, spec),
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
                for target in [&mut route.integration, &mut route.authorization.authorizer] {
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
    let found = attributes.clone();
    let mut take = |name: &str| attributes.set(name, configuration.get(name).clone());
    take("access_log_logservice_group_skip_destroy");
    let are_null = |names: &[&str]| names.iter().all(|name| found.get(name).is_null());
    if are_null(&["access_log_logservice_group_name", "access_log_destination_arn"]) {
        take("access_log_format_type");
    }
    if are_null(&["access_log_logservice_group_subscription_destination_arn"]) {
        take("access_log_logservice_group_subscription_filter_pattern");
    }
    for (name, given) in configuration.as_map().into_iter().flatten() {
        if attributes.get(name).is_null() {
            attributes.set(name, given.clone());
        }
    }
}

/// The shortest entry of `route_config`: most types follow from the authorizer.
fn shortest_route(entry: RouteConfig) -> Value {
    let is_derived = entry.authorization_type != Input::Known(Some("AWS_IAM".to_string()));
    let authorization_type = if is_derived { Input::Known(None) } else { entry.authorization_type };
    let authorization_scopes = entry.authorization_scopes.map(|scopes| scopes.filter(|scopes| !scopes.is_empty()));
    let integration = entry.integration.shortest();
    RouteConfig { authorization_type, authorization_scopes, integration, ..entry }.encode()
}

/// The shortest entry of `faas_authorizers`.
fn shortest(spec: &Authorizer, scope: &Scope) -> FaasAuthorizer {
    let uri = spec.authorizer_uri.known().map(String::as_str).unwrap_or_default();
    let (function, uri) = function_and_uri(&spec.name, uri, scope);
    let sources = spec.identity_sources.known().cloned().unwrap_or_default();
    let all = FaasAuthorizer::of(&function, spec);
    FaasAuthorizer {
        authorizer_uri: uri.into(),
        identity_sources: all.identity_sources.map(|sources| sources.filter(|it| !it.is_empty())),
        result_ttl_in_seconds: all.result_ttl_in_seconds.map(|ttl| ttl.filter(|ttl| *ttl != default_ttl(&sources))),
        ..all
    }
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
