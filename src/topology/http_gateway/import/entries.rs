//! Routes and authorizers as entries of their maps, and other attributes that have parts.

use std::collections::BTreeMap;

use crate::model::{ApiRoute, Authorizer, Cors, Integration, Inventory, Key, LogSubscription, Ref, Spec};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Input, Nested, Value};
use crate::topology::http_gateway::config::RouteConfig;

/// Which look of the objects counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::topology::http_gateway) enum Look {
    /// As they were applied, those among them that have gone since.
    Applied,
    /// As they are now.
    Now,
}

/// The objects that stay, in one of their looks.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology::http_gateway) struct FoundGateway<'a> {
    pub(in crate::topology::http_gateway) inventory: &'a Inventory,
    pub(in crate::topology::http_gateway) look: Look,
}

impl<'a> FoundGateway<'a> {
    pub(in crate::topology::http_gateway) fn specs(self) -> impl Iterator<Item = (&'a Key, &'a Spec)> {
        let staying = self.inventory.entries.iter().filter(|entry| !entry.pending_deletion);
        staying.filter_map(move |entry| match self.look {
            Look::Applied => Some((&entry.key, &entry.applied)),
            Look::Now => entry.is_present().then(|| (&entry.key, entry.spec())),
        })
    }

    fn at(self, key: &Key) -> Option<&'a Spec> {
        self.specs().find_map(|(it, spec)| (it == key).then_some(spec))
    }

    fn integration(self, route: &ApiRoute) -> Option<&'a Integration> {
        let Some(Ref::Key(key)) = &route.integration else { return None };
        if let Some(Spec::Integration(integration)) = self.at(key) { Some(integration) } else { None }
    }

    /// The name of what protects a route, `None` inside where nothing does. `None` for a protection that is not ours.
    fn authorizer_name(self, route: &ApiRoute) -> Option<Option<String>> {
        match &route.authorizer {
            None => Some(None),
            Some(Ref::Id(_)) => None,
            Some(Ref::Key(key)) => match self.at(key) {
                Some(Spec::Authorizer(authorizer)) => Some(Some(authorizer.name.clone())),
                // Never without the protection that there is.
                _ => Some(Some(key.slot.strip_prefix("authorizer.")?.to_string())),
            },
        }
    }
}

/// The attributes of an entry of `route_config`.
pub(in crate::topology::http_gateway) type Entry = BTreeMap<String, Value>;

/// The routes by key, as entries of `route_config`. `None` for one that no entry expresses, as what it leads to or is
/// protected by is not ours.
pub(in crate::topology::http_gateway) fn routes(found: FoundGateway<'_>) -> BTreeMap<&str, Option<Entry>> {
    let routes =
        found.specs().filter_map(|(_, spec)| if let Spec::ApiRoute(route) = spec { Some(route) } else { None });
    routes.map(|route| (route.route_key.as_str(), answering(found, route))).collect()
}

fn answering(found: FoundGateway<'_>, route: &ApiRoute) -> Option<Entry> {
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

/// The authorizers by name. Where an exchange was cut off, of two with one name the one counts that fills its place.
pub(in crate::topology::http_gateway) fn authorizers(found: FoundGateway<'_>) -> BTreeMap<&str, &Authorizer> {
    let mut authorizers = BTreeMap::new();
    for (key, spec) in found.specs() {
        let Spec::Authorizer(authorizer) = spec else { continue };
        let name = authorizer.name.as_str();
        if key.slot.starts_with("authorizer.") || !authorizers.contains_key(name) {
            authorizers.insert(name, authorizer);
        }
    }
    authorizers
}

/// The attributes that say what a subscription is.
pub(in crate::topology::http_gateway) fn forwarding(subscription: &LogSubscription) -> [(&'static str, Value); 4] {
    let LogSubscription { destination_arn, filter_pattern, role_arn, distribution, .. } = subscription;
    // What null stands for, where it applies.
    let distribution = distribution.clone().map(|it| it.filter(|it| it != "ByLogStream"));
    [
        ("access_log_logservice_group_subscription_destination_arn", destination_arn.clone().into()),
        ("access_log_logservice_group_subscription_filter_pattern", filter_pattern.clone().into()),
        ("access_log_logservice_group_subscription_role_arn", role_arn.clone().into()),
        ("access_log_logservice_group_subscription_distribution", distribution.into()),
    ]
}

/// AWS may leave out the older one, which is the default of every payload version.
pub(super) fn payload_format(shown: &Input<String>) -> Value {
    match shown {
        Input::Known(version) if version.is_empty() => Value::Null,
        shown => shown.clone().into(),
    }
}

/// The value of `cors_configuration` for what AWS shows. Attributes that say what was applied keep the user's words.
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
