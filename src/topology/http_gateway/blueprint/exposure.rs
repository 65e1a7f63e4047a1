//! Warnings about requests that the plan begins to accept.

use super::Draft;
use crate::model::{ApiRoute, Kind, RouteKey};
use crate::plugin::{AttributePath, Problem};
use crate::topology::http_gateway::warnings::MOST_ROUTES;

impl Draft<'_> {
    /// Warns of routes that become public, and of deleted routes whose requests a remaining route accepts that they
    /// reject.
    pub(super) fn warn_of_exposure(&mut self) {
        let wanted: Vec<&ApiRoute> = self.objects.iter().filter_map(|object| ApiRoute::of(&object.spec)).collect();
        let unmanaged: Vec<ApiRoute> = self
            .outside_routes()
            .map(|route| ApiRoute {
                api: self.api.clone(),
                route_key: route.route_key.clone(),
                integration: None,
                authorization: route.authorization.clone(),
            })
            .collect();
        let remaining: Vec<&ApiRoute> = wanted.iter().copied().chain(&unmanaged).collect();
        let kinds: Vec<&dyn Kind> = remaining.iter().map(|it| *it as &dyn Kind).collect();
        let existing: Vec<&ApiRoute> =
            self.existing.current().filter(|it| it.is_present()).filter_map(|it| ApiRoute::of(it.spec())).collect();
        let path = |key: &str| AttributePath::new("route_config").key(key);
        let mut warnings = Vec::new();
        let mut exposed = Vec::new();
        for route in &existing {
            let key = &route.route_key;
            if let Some(now) = wanted.iter().find(|it| it.route_key == *key || is_renamed(key, &it.route_key)) {
                if now.authorization.is_public() && !route.authorization.is_public() {
                    let message =
                        format!("Route {key:?} becomes public: its authorization was {}.", route.authorization);
                    let hint = "If every request is to reach its function, apply. Otherwise, set authorizer_name or \
                                authorization_type.";
                    warnings.push(Problem::new(path(&now.route_key), message, hint));
                }
            } else if let Some(other) = route.exposed_by(&kinds).map(|position| remaining[position]) {
                exposed.push(key);
                let message = format!(
                    "Route {key:?} with the authorization {} is deleted, and requests that it rejects then reach the \
                     function of {:?} with the authorization {}.",
                    route.authorization, other.route_key, other.authorization
                );
                let hint = "To reject them, keep the route, or protect the other one.";
                warnings.push(Problem::new(AttributePath::new("route_config"), message, hint));
            }
        }
        let is_new = |route: &&&ApiRoute| !existing.iter().any(|it| it.route_key == route.route_key);
        let new = wanted.iter().filter(is_new).count();
        let count = existing.len() + unmanaged.len() + new;
        if count > MOST_ROUTES && !exposed.is_empty() && new > 0 {
            let message = format!(
                "The API has {count} routes until the old ones are deleted, and AWS allows {MOST_ROUTES} by default. At the \
                 quota, the apply deletes old routes first, but not {exposed:?}, whose requests would reach other routes \
                 before the new ones exist."
            );
            let hint = "If the quota does not allow it, the change takes two applies: first delete other routes, or \
                        request a higher quota.";
            warnings.push(Problem::new(AttributePath::new("route_config"), message, hint));
        }
        self.warnings.extend(warnings);
    }
}

/// Whether two keys match the same requests.
fn is_renamed(one: &str, other: &str) -> bool {
    match (RouteKey::parse(one), RouteKey::parse(other)) {
        (Ok(one), Ok(other)) => one.shape() == other.shape(),
        _ => false,
    }
}
