//! Routes and their integrations.

use super::*;
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
                self.0.extend(route.integration.problems(&path, key));
                self.link(config, &route.integration.vpc_link, path.attribute("vpc_link"));
            }
        }
        for collision in collisions(routes.keys().map(String::as_str)) {
            let hint =
                format!("Use the same variable name in both, or remove {:?} or {:?}.", collision.key, collision.other);
            self.add(path.key(collision.key), collision.message, hint);
        }
    }

    fn link(&mut self, config: &GatewayConfig, link: &Input<Option<String>>, path: AttributePath) {
        if let (Input::Known(Some(name)), Input::Known(links)) = (link, &config.vpc_links)
            && !links.contains_key(name)
        {
            let message = format!("There is no VPC link {name:?} in vpc_links.");
            self.add(path, message, "Add it there, or set vpc_link_id to the ID of a link that exists already.");
        }
    }
}
