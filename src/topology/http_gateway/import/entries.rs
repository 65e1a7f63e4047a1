//! Routes and authorizers as entries of their maps, and other attributes that consist of several values.

use std::collections::BTreeMap;

use crate::model::keys::gateway as keys;
use crate::model::{
    ApiRoute, Authorizer, Cors, Integration, JwtAuthorizer, Key, Ref, RouteSettings, Spec, Stage, authorizer_name,
};
use crate::plugin::Input;
use crate::topology::http_gateway::config::{CorsConfig, FaasAuthorizer, RouteConfig};
use crate::topology::http_gateway::integrations::{IntegrationConfig, payload_format};
use crate::topology::mirrored::Found;

impl<'a> Found<'a> {
    fn at(self, key: &Key) -> Option<&'a Spec> {
        self.specs().find_map(|(it, spec)| (it == key).then_some(spec))
    }

    fn integration(self, route: &ApiRoute) -> Option<&'a Integration> {
        let Some(Ref::Key(key)) = &route.integration else { return None };
        Integration::of(self.at(key)?)
    }

    /// The settings of routes without settings of their own.
    pub(in crate::topology::http_gateway) fn default_settings(self) -> RouteSettings {
        self.all(Stage::of).next().map(|stage| stage.default_settings.clone()).unwrap_or_default()
    }

    fn route_settings(self, route_key: &str) -> RouteSettings {
        let settings = self.all(Stage::of).next().and_then(|stage| stage.route_settings.get(route_key));
        settings.cloned().unwrap_or_default()
    }

    /// The name of a route's authorizer, `Some(None)` without one. `None` if the authorizer is unmanaged.
    fn authorizer_name(self, route: &ApiRoute) -> Option<Option<String>> {
        match &route.authorization.authorizer {
            None => Some(None),
            Some(Ref::Id(_)) => None,
            Some(Ref::Key(key)) => match self.at(key).and_then(|spec| name_of(key, spec)) {
                Some(name) => Some(Some(name.to_string())),
                // A route is never reported without its authorizer, even if that has no entry.
                _ => Some(Some(key.slot.strip_prefix("authorizer.")?.to_string())),
            },
        }
    }
}

/// The routes by key. `None` for a route that no entry of `route_config` expresses, because its integration or
/// authorizer is unmanaged.
pub(in crate::topology::http_gateway) fn routes(found: Found<'_>) -> BTreeMap<&str, Option<RouteConfig>> {
    found.all(ApiRoute::of).map(|route| (route.route_key.as_str(), RouteConfig::of(found, route))).collect()
}

impl RouteConfig {
    fn of(found: Found<'_>, route: &ApiRoute) -> Option<RouteConfig> {
        let integration = found.integration(route)?;
        Some(RouteConfig {
            authorizer_name: found.authorizer_name(route)?.into(),
            authorization_type: Some(route.authorization.kind.name().to_string()).into(),
            authorization_scopes: route
                .authorization
                .scopes
                .clone()
                .map(|scopes| Some(scopes.into_iter().map(Input::Known).collect())),
            integration: IntegrationConfig::of(integration),
            settings: found.route_settings(&route.route_key),
        })
    }
}

/// The request authorizers by name.
pub(in crate::topology::http_gateway) fn authorizers(found: Found<'_>) -> BTreeMap<&str, &Authorizer> {
    by_name(found, Authorizer::of)
}

/// The JWT authorizers by name.
pub(in crate::topology::http_gateway) fn jwt_authorizers(found: Found<'_>) -> BTreeMap<&str, &JwtAuthorizer> {
    by_name(found, JwtAuthorizer::of)
}

/// The authorizers of one type by name. If a replacement was interrupted and two have the same name, the one with the
/// configured slot counts.
fn by_name<'a, K>(found: Found<'a>, kind: fn(&Spec) -> Option<&K>) -> BTreeMap<&'a str, &'a K> {
    let mut authorizers = BTreeMap::new();
    for (key, spec) in found.specs() {
        let (Some(authorizer), Some(name)) = (kind(spec), name_of(key, spec)) else { continue };
        if key.slot.starts_with("authorizer.") || !authorizers.contains_key(name) {
            authorizers.insert(name, authorizer);
        }
    }
    authorizers
}

/// The name of an authorizer in its map. Its name in AWS may be another one, which its key contains.
fn name_of<'a>(key: &'a Key, authorizer: &'a Spec) -> Option<&'a str> {
    let configured = keys::authorizer_name(key).filter(|name| keys::authorizer_in_aws(name, authorizer) == *key);
    configured.or(authorizer_name(authorizer))
}

impl FaasAuthorizer {
    /// The entry that describes an authorizer without depending on defaults or other attributes.
    pub(in crate::topology::http_gateway) fn of(name: &str, spec: &Authorizer) -> FaasAuthorizer {
        FaasAuthorizer {
            authorizer_name: name.to_string().into(),
            authorizer_uri: spec.authorizer_uri.clone().map(Some),
            authorizer_payload_format_version: payload_format(&spec.payload_format_version),
            identity_sources: spec.identity_sources.clone().map(|sources| Some(inputs(&sources))),
            result_ttl_in_seconds: spec.result_ttl_in_seconds.clone().map(Some),
            enable_simple_responses: spec.enable_simple_responses.clone(),
            authorizer_credentials_arn: spec.credentials_arn.clone(),
        }
    }
}

impl CorsConfig {
    /// The shortest attributes for a configuration in AWS.
    pub(in crate::topology::http_gateway) fn of(found: &Cors) -> CorsConfig {
        let list = |items: &[String]| Some(inputs(items)).filter(|items| !items.is_empty()).into();
        CorsConfig {
            allow_credentials: Some(true).filter(|_| found.allow_credentials).into(),
            allow_headers: list(&found.allow_headers),
            allow_methods: list(&found.allow_methods),
            allow_origins: list(&found.allow_origins),
            expose_headers: list(&found.expose_headers),
            max_age: found.max_age.into(),
        }
    }
}

fn inputs(items: &[String]) -> Vec<Input<String>> {
    items.iter().cloned().map(Input::Known).collect()
}
