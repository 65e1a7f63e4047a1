//! Routes and authorizers as entries of their maps, and other attributes that consist of several values.

use std::collections::BTreeMap;

use crate::model::keys::gateway as keys;
use crate::model::{ApiRoute, Authorizer, Cors, Integration, Inventory, Key, LogSubscription, Ref, Spec};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};
use crate::topology::http_gateway::config::RouteConfig;

/// Which specs of the objects to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::topology::http_gateway) enum View {
    /// The specs as applied, including those of objects that no longer exist.
    Applied,
    /// The current specs.
    Current,
}

/// The objects of an inventory that are not pending deletion, in one view.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology::http_gateway) struct FoundGateway<'a> {
    pub(in crate::topology::http_gateway) inventory: &'a Inventory,
    pub(in crate::topology::http_gateway) view: View,
}

impl<'a> FoundGateway<'a> {
    pub(in crate::topology::http_gateway) fn specs(self) -> impl Iterator<Item = (&'a Key, &'a Spec)> {
        let kept = self.inventory.entries.iter().filter(|entry| !entry.pending_deletion);
        kept.filter_map(move |entry| match self.view {
            View::Applied => Some((&entry.key, &entry.applied)),
            View::Current => entry.is_present().then(|| (&entry.key, entry.spec())),
        })
    }

    fn at(self, key: &Key) -> Option<&'a Spec> {
        self.specs().find_map(|(it, spec)| (it == key).then_some(spec))
    }

    fn integration(self, route: &ApiRoute) -> Option<&'a Integration> {
        let Some(Ref::Key(key)) = &route.integration else { return None };
        if let Some(Spec::Integration(integration)) = self.at(key) { Some(integration) } else { None }
    }

    /// The name of a route's authorizer, `Some(None)` without one. `None` if the authorizer is unmanaged.
    fn authorizer_name(self, route: &ApiRoute) -> Option<Option<String>> {
        match &route.authorizer {
            None => Some(None),
            Some(Ref::Id(_)) => None,
            Some(Ref::Key(key)) => match self.at(key) {
                Some(Spec::Authorizer(authorizer)) => Some(Some(name_of(key, authorizer).to_string())),
                // A route is never reported without its authorizer, even if that has no entry.
                _ => Some(Some(key.slot.strip_prefix("authorizer.")?.to_string())),
            },
        }
    }
}

/// The attributes of an entry of `route_config`.
pub(in crate::topology::http_gateway) type Entry = BTreeMap<String, Value>;

/// The routes by key, as entries of `route_config`. `None` for a route that no entry expresses, because its integration
/// or authorizer is unmanaged.
pub(in crate::topology::http_gateway) fn routes(found: FoundGateway<'_>) -> BTreeMap<&str, Option<Entry>> {
    let routes = found.specs().filter_map(|(_, spec)| ApiRoute::of(spec));
    routes.map(|route| (route.route_key.as_str(), route_entry(found, route))).collect()
}

fn route_entry(found: FoundGateway<'_>, route: &ApiRoute) -> Option<Entry> {
    let integration = found.integration(route)?;
    let entry = Value::map([
        ("faas_function_arn", integration.function_arn.clone().into()),
        ("description", integration.description.clone().into()),
        ("payload_format_version", payload_format(&integration.payload_format_version)),
        ("timeout_milliseconds", integration.timeout_in_millis.clone().into()),
        ("authorizer_name", found.authorizer_name(route)?.into()),
    ]);
    with_defaults(&RouteConfig::attributes(), &entry).as_map().cloned()
}

/// The authorizers by name. If a replacement was interrupted and two have the same name, the one with the configured
/// slot counts.
pub(in crate::topology::http_gateway) fn authorizers(found: FoundGateway<'_>) -> BTreeMap<&str, &Authorizer> {
    let mut authorizers = BTreeMap::new();
    for (key, spec) in found.specs() {
        let Spec::Authorizer(authorizer) = spec else { continue };
        let name = name_of(key, authorizer);
        if key.slot.starts_with("authorizer.") || !authorizers.contains_key(name) {
            authorizers.insert(name, authorizer);
        }
    }
    authorizers
}

/// The name of an authorizer in `faas_authorizers`. Its name in AWS may be another one, which its key contains.
fn name_of<'a>(key: &'a Key, authorizer: &'a Authorizer) -> &'a str {
    let configured = keys::authorizer_name(key).filter(|_| key.fixed.known() == Some(&authorizer.name));
    configured.unwrap_or(&authorizer.name)
}

/// The attributes that describe a subscription.
pub(in crate::topology::http_gateway) fn subscription_attributes(
    subscription: &LogSubscription,
) -> [(&'static str, Value); 4] {
    let LogSubscription { destination_arn, filter_pattern, role_arn, distribution, .. } = subscription;
    // Null means `ByLogStream` for a Kinesis stream.
    let distribution = distribution.clone().map(|it| it.filter(|it| it != "ByLogStream"));
    [
        ("access_log_logservice_group_subscription_destination_arn", destination_arn.clone().into()),
        ("access_log_logservice_group_subscription_filter_pattern", filter_pattern.clone().into()),
        ("access_log_logservice_group_subscription_role_arn", role_arn.clone().into()),
        ("access_log_logservice_group_subscription_distribution", distribution.into()),
    ]
}

/// AWS may omit version 1.0, which is the default of every payload version attribute.
pub(super) fn payload_format(found: &Input<String>) -> Value {
    match found {
        Input::Known(version) if version.is_empty() => Value::Null,
        found => found.clone().into(),
    }
}

/// The value of `cors_configuration` for the configuration in AWS. Attributes without drift keep their value in
/// `state`.
pub(in crate::topology::http_gateway) fn cors(state: &Value, applied: Option<&Cors>, found: Option<&Cors>) -> Value {
    let Some(found) = found else { return Value::Null };
    let none = Cors::default();
    let applied = applied.unwrap_or(&none);
    let list = |items: &[String]| match items {
        [] => Value::Null,
        items => Value::from(items.to_vec()),
    };
    let either = |name: &str, differs: bool, value: Value| match differs {
        true => (name.to_string(), value),
        false => (name.to_string(), state.get(name).clone()),
    };
    let credentials = if found.allow_credentials { Value::Bool(true) } else { Value::Null };
    Value::map([
        either("allow_credentials", applied.allow_credentials != found.allow_credentials, credentials),
        either("allow_headers", applied.allow_headers != found.allow_headers, list(&found.allow_headers)),
        either("allow_methods", applied.allow_methods != found.allow_methods, list(&found.allow_methods)),
        either("allow_origins", applied.allow_origins != found.allow_origins, list(&found.allow_origins)),
        either("expose_headers", applied.expose_headers != found.expose_headers, list(&found.expose_headers)),
        either("max_age", applied.max_age != found.max_age, found.max_age.into()),
    ])
}
