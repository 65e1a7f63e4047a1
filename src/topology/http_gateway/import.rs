//! From what exists to the inputs that reproduce it, for an import.
//!
//! What AWS shows is read back. Where several words lead to the same objects, the shortest ones are taken, so that any
//! configuration which leads there too counts as equal.

mod entries;

pub(super) use entries::{FoundGateway, Look, authorizers, cors, forwarding, routes};

use std::collections::BTreeMap;

use super::blueprint::default_ttl;
use super::config::{FaasAuthorizer, GatewayConfig, access_log_format_in_words};
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, FunctionArn, Inventory, Ref, Scope, Spec, Stage, Tags};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};

/// The inputs; `None` where the API does not say that this provider made it. All that such an API has would be deleted
/// with it, and what no input expresses would be lost.
pub(super) fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
    let root = inventory.at(keys::API)?;
    let is_ours = root.learned.get(keys::RESOURCE).is_some_and(|resource| resource.starts_with("http_gateway/"));
    let Spec::Api(api) = root.spec() else { return None };
    if !is_ours {
        return None;
    }
    let found = FoundGateway { inventory, look: Look::Now };
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
    let authorizers = authorizers(found).into_iter().map(|(name, spec)| (name.to_string(), protecting(spec, scope)));
    attributes.set("faas_authorizers", Value::map(authorizers));
    access_logs(found, scope, &mut attributes);
    subscription(found, &mut attributes);
    domain(found, &mut attributes);
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

fn access_logs(found: FoundGateway<'_>, scope: &Scope, attributes: &mut Value) {
    let stage = found.specs().find_map(|(_, spec)| if let Spec::Stage(stage) = spec { Some(stage) } else { None });
    if let Some(Stage { tags, .. }) = stage {
        attributes.set("stage_tags", own(tags, scope).into());
    }
    // A group that the stage writes to and that is not ours cannot be configured: there it would be made.
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
        let (kind, custom) = access_log_format_in_words(format);
        attributes.set("access_log_format_type", kind.into());
        attributes.set("custom_access_log_format", custom.into());
    }
}

fn subscription(found: FoundGateway<'_>, attributes: &mut Value) {
    for (_, spec) in found.specs() {
        let Spec::LogSubscription(subscription) = spec else { continue };
        for (name, value) in forwarding(subscription) {
            attributes.set(name, value);
        }
    }
}

fn domain(found: FoundGateway<'_>, attributes: &mut Value) {
    for (_, spec) in found.specs() {
        match spec {
            Spec::DomainName(domain) => {
                attributes.set("domain_name", domain.domain_name.clone().into());
                // The certificate covers the name itself, by whichever name it was looked up once.
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
fn protecting(spec: &Authorizer, scope: &Scope) -> Value {
    let uri = spec.authorizer_uri.known().map(String::as_str).unwrap_or_default();
    let (function, uri) = called(&spec.name, uri, scope);
    let sources = spec.identity_sources.known().cloned().unwrap_or_default();
    let unsaid_ttl = Input::Known(default_ttl(&sources));
    let entry = Value::map([
        ("authorizer_name", function.into()),
        ("authorizer_uri", uri.into()),
        ("authorizer_payload_format_version", entries::payload_format(&spec.payload_format_version)),
        ("identity_sources", if sources.is_empty() { Value::Null } else { sources.into() }),
        (
            "result_ttl_in_seconds",
            if spec.result_ttl_in_seconds == unsaid_ttl {
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

/// `authorizer_name` and `authorizer_uri` for an invoke URI. The latter is left out where the former leads to it.
fn called(name: &str, uri: &str, scope: &Scope) -> (String, Option<String>) {
    let Some(function) = FunctionArn::parse_invoke_uri(uri) else {
        return (name.to_string(), Some(uri.to_string()));
    };
    let is_near = function.partition == scope.partition
        && function.region == scope.region
        && scope.account.as_ref() == Some(&function.account);
    let said = if is_near { function.short() } else { function.to_string() };
    (said, (function.invoke_uri() != uri).then(|| uri.to_string()))
}

/// What `default_tags` does not explain.
fn own(tags: &Tags, scope: &Scope) -> BTreeMap<String, String> {
    let tags = tags.known().into_iter().flatten().filter_map(|(key, value)| Some((key, value.known()?)));
    let own = tags.filter(|(key, value)| scope.default_tags.get(*key) != Some(value));
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
pub(super) mod tests;
