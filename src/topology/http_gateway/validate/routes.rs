//! Routes and their integrations.

use super::super::config::RouteConfig;
use super::*;
use crate::model::FunctionArn;
use crate::model::route_key::{RouteKey, collisions};

impl Problems {
    pub(super) fn routes(&mut self, config: &GatewayConfig) {
        let Input::Known(routes) = &config.route_config else { return };
        let path = AttributePath::new("route_config");
        if routes.is_empty() {
            let message = "There are no routes, and API Gateway does not deploy an API without a route.";
            self.add(path.clone(), message, "Add at least one route.");
        }
        for (key, route) in routes {
            let path = path.key(key);
            if let Err((message, hint)) = RouteKey::parse(key) {
                self.add(path.clone(), message, hint);
            }
            if let Input::Known(route) = route {
                self.route(route, &path);
            }
        }
        for collision in collisions(routes.keys().map(String::as_str)) {
            let hint =
                format!("Use the same variable name in both, or remove {:?} or {:?}.", collision.key, collision.other);
            self.add(path.key(collision.key), collision.message, hint);
        }
    }

    fn route(&mut self, route: &RouteConfig, path: &AttributePath) {
        if let Input::Known(arn) = &route.faas_function_arn
            && let Err(message) = FunctionArn::parse(arn)
        {
            let hint = match FunctionArn::parse_invoke_uri(arn) {
                Some(function) => {
                    format!("Use the ARN within it, {function}: the \"arn\" of the function, not its \"invoke_arn\".")
                }
                None => "Use an ARN such as arn:aws:lambda:eu-central-1:123456789012:function:name or \
                         ...:function:name:alias."
                    .to_string(),
            };
            self.add(path.attribute("faas_function_arn"), message, hint);
        }
    }
}
