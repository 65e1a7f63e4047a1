//! The functions that inputs name. A function may be replaced in the same run, and then its policy lacks the
//! permissions of the gateway.

use std::collections::BTreeSet;

use super::config::{FaasAuthorizer, GatewayConfig, RouteConfig};
use crate::model::keys::gateway as keys;
use crate::model::{Caller, Inventory, Key, LambdaPermission};
use crate::plugin::Input;

/// All routes or all authorizers.
const ALL: &str = "*";

const ROUTES: &str = "route_config";
const AUTHORIZERS: &str = "faas_authorizers";
const SUBSCRIPTION: &str = "access_log_logservice_group_subscription_destination_arn";

fn name(map: &str, entry: &str) -> String {
    format!("{map} {entry}")
}

/// The inputs that name a function and are unknown.
pub(super) fn unknown(config: &GatewayConfig) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    match &config.route_config {
        Input::Unknown => drop(unknown.insert(name(ROUTES, ALL))),
        Input::Known(routes) => {
            let is_open = |route: &RouteConfig| !route.integration.faas_function_arn.is_known();
            let routes = routes.iter().filter(|(_, route)| route.known().is_none_or(is_open));
            unknown.extend(routes.map(|(key, _)| name(ROUTES, key)));
        }
    }
    match &config.faas_authorizers {
        Input::Unknown => drop(unknown.insert(name(AUTHORIZERS, ALL))),
        Input::Known(authorizers) => {
            let is_open = |it: &FaasAuthorizer| !it.authorizer_uri.is_known() || !it.authorizer_name.is_known();
            let authorizers = authorizers.iter().filter(|(_, it)| it.known().is_none_or(is_open));
            unknown.extend(authorizers.map(|(key, _)| name(AUTHORIZERS, key)));
        }
    }
    if !config.access_log_logservice_group_subscription_destination_arn.is_known() {
        unknown.insert(SUBSCRIPTION.to_string());
    }
    unknown
}

/// The existing permissions in the policies of the functions that these inputs name.
pub(super) fn permissions(inputs: &BTreeSet<String>, config: &GatewayConfig, existing: &Inventory) -> BTreeSet<Key> {
    let is_named = |map: &str, entry: &str| inputs.contains(&name(map, entry)) || inputs.contains(&name(map, ALL));
    let routes = config.route_config.known().into_iter().flatten().filter(|(key, _)| is_named(ROUTES, key));
    let functions = routes.filter_map(|(_, route)| route.known()?.integration.function());
    let functions: BTreeSet<Key> = functions.map(|function| keys::permission(&function)).collect();
    let is_of_input = |key: &Key, permission: &LambdaPermission| match &permission.caller {
        Caller::Routes => functions.contains(key),
        Caller::Authorizer(key) => keys::authorizer_name(key).is_some_and(|it| is_named(AUTHORIZERS, it)),
        Caller::LogGroup(_) => inputs.contains(SUBSCRIPTION),
    };
    let entries = existing
        .current()
        .filter_map(|entry| LambdaPermission::of(&entry.applied).map(|permission| (&entry.key, permission)));
    entries.filter(|(key, permission)| is_of_input(key, permission)).map(|(key, _)| key.clone()).collect()
}
