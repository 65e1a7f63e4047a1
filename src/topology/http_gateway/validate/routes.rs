//! Routes and their integrations.

use std::collections::BTreeSet;

use super::super::config::RouteConfig;
use super::*;
use crate::model::FunctionArn;
use crate::model::route_key::{RouteKey, collisions};

/// AWS's default quota of routes, which our users are held to: an API beyond it fails half made.
const MOST_ROUTES: usize = 300;

/// AWS's quota of integrations, which it raises for nobody.
const MOST_INTEGRATIONS: usize = 300;

impl Problems {
    pub(super) fn routes(&mut self, config: &GatewayConfig) {
        let Input::Known(routes) = &config.route_config else { return };
        let path = AttributePath::new("route_config");
        if routes.is_empty() {
            let message = "There are no routes, and AWS does not deploy an API without one.";
            self.add(path.clone(), message, "Add at least one route.");
        }
        if routes.len() > MOST_ROUTES {
            let message = format!("There are {} routes; an API has at most {MOST_ROUTES}.", routes.len());
            self.add(path.clone(), message, "Join routes by variables, or split the gateway.");
        }
        let integrations: BTreeSet<_> = routes.values().filter_map(Input::known).filter_map(integration).collect();
        if integrations.len() > MOST_INTEGRATIONS {
            let message = format!(
                "The routes need {} integrations, one for each distinct function, payload version, timeout and \
                 description; an API has at most {MOST_INTEGRATIONS}.",
                integrations.len()
            );
            self.add(path.clone(), message, "Give routes of one function the same settings, or split the gateway.");
        }
        for (key, route) in routes {
            let path = path.key(key);
            if let Err((message, hint)) = RouteKey::parse(key) {
                self.add(path.clone(), message, hint);
            }
            if let Input::Known(route) = route {
                self.route(config, route, &path);
            }
        }
        for collision in collisions(routes.keys().map(String::as_str)) {
            let hint =
                format!("Call the variable the same in both, or remove {:?} or {:?}.", collision.key, collision.other);
            self.add(path.key(collision.key), collision.message, hint);
        }
    }

    fn route(&mut self, config: &GatewayConfig, route: &RouteConfig, path: &AttributePath) {
        if let Input::Known(arn) = &route.faas_function_arn
            && let Err(message) = FunctionArn::parse(arn)
        {
            let hint = match FunctionArn::parse_invoke_uri(arn) {
                Some(function) => {
                    format!("Give the ARN within it, {function}: \"arn\" of the function, not \"invoke_arn\".")
                }
                None => "Give an ARN such as arn:aws:lambda:eu-central-1:123456789012:function:name or \
                         ...:function:name:alias."
                    .to_string(),
            };
            self.add(path.attribute("faas_function_arn"), message, hint);
        }
        if let Input::Known(Some(description)) = &route.description {
            self.length(description, 0, 1024, path.attribute("description"));
        }
        if let (Input::Known(Some(name)), Input::Known(authorizers)) =
            (&route.authorizer_name, &config.faas_authorizers)
            && !authorizers.contains_key(name)
        {
            let names: Vec<String> = authorizers.keys().map(|it| format!("{it:?}")).collect();
            let known =
                if names.is_empty() { "there are none".to_string() } else { format!("there are {}", names.join(", ")) };
            self.add(
                path.attribute("authorizer_name"),
                format!("{name:?} is not a key of faas_authorizers; {known}."),
                "Add it there, use another one, or leave authorizer_name out.",
            );
        }
    }
}

/// What makes an integration of its own, where all of it is known.
fn integration(route: &RouteConfig) -> Option<(&str, &str, i64, &str)> {
    let description = route.description.known()?.as_deref().unwrap_or_default();
    let (arn, version) = (route.faas_function_arn.known()?, route.payload_format_version.known()?);
    Some((arn, version, *route.timeout_milliseconds.known()?, description))
}
