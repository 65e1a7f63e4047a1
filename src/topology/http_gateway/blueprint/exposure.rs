//! Requests that the plan begins to accept: their order, and warnings about them.

use std::collections::BTreeSet;

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{ApiRoute, Authorization, Entry, Kind, Ref, RouteKey};
use crate::plugin::{AttributePath, DROPS_NAMES, Input, Problem};
use crate::topology::http_gateway::authorization::Required;
use crate::topology::http_gateway::config::{GatewayConfig, RouteConfig};

impl<'a> Draft<'a> {
    /// The routes whose authorization changes, and those that will no longer accept requests which another route then
    /// rejects. Their function may change only with the call that changes the route.
    pub(super) fn reauthorized(
        &self,
        config: &GatewayConfig,
        routes: &[(&'a str, &'a RouteConfig)],
    ) -> BTreeSet<&'a str> {
        let wanted = routes.iter().filter_map(|(route_key, route)| {
            let Required { kind, authorizer, scopes } = config.authorization(route)?;
            let authorizer = authorizer.and_then(|name| Some(Ref::Key(self.protections.get(name)?.0.clone())));
            let authorization = Authorization { kind, authorizer, scopes };
            let found = self.existing_route(route_key);
            let is_changed = found.is_none_or(|found| found.authorization != authorization);
            Some((*route_key, RouteKey::parse(route_key).ok()?, authorization, is_changed))
        });
        let wanted: Vec<(&str, RouteKey<'_>, Authorization, bool)> = wanted.collect();
        let loses_requests = |key: &RouteKey<'_>, authorization: &Authorization| {
            let mut changed = wanted.iter().filter(|(.., is_changed)| *is_changed);
            changed.any(|(_, other_key, other, _)| is_exposed((other_key, other), (key, authorization)))
        };
        let all = wanted.iter().filter(|(_, key, it, is_changed)| *is_changed || loses_requests(key, it));
        all.map(|(route_key, ..)| *route_key).collect()
    }

    /// The existing route with a key, or else with one that differs only in names of path variables.
    fn existing_route(&self, route_key: &str) -> Option<&ApiRoute> {
        let routes = || {
            let present = self.existing.present().filter(|entry| !entry.is_missing());
            present.filter_map(|entry| ApiRoute::of(entry.spec()))
        };
        let shape = |key: &str| RouteKey::parse(key).ok().map(|key| key.shape());
        let renamed = || routes().find(|it| route_key.contains('{') && shape(&it.route_key) == shape(route_key));
        routes().find(|it| it.route_key == route_key).or_else(renamed)
    }

    /// Orders the changes so that at no time a request meets a weaker authorization than before and afterwards: a route
    /// that changes waits for new or changed ones that API Gateway prefers to it and that reject some of its requests,
    /// and the change of an authorizer for the routes that leave it.
    pub(super) fn order_exposure(&mut self) {
        if self.existing.deployed().is_empty() {
            return;
        }
        let routes = self.objects.iter().enumerate().filter_map(|(at, it)| Some((at, ApiRoute::of(&it.spec)?)));
        let all = routes.filter_map(|(at, route)| Some((at, route, RouteKey::parse(&route.route_key).ok()?)));
        let all: Vec<(usize, &ApiRoute, RouteKey<'_>)> = all.collect();
        let is_changed = |route: &ApiRoute| {
            self.existing_route(&route.route_key).is_none_or(|found| found.authorization != route.authorization)
        };
        let changed: Vec<_> = all.iter().filter(|(_, route, _)| is_changed(route)).collect();
        let (mut after, mut updated_after) = (Vec::new(), Vec::new());
        for (at, route, key) in &all {
            let exposed = changed.iter().filter(|(_, other, other_key)| {
                is_exposed((other_key, &other.authorization), (key, &route.authorization))
            });
            after.extend(exposed.map(|(_, other, _)| (*at, keys::route(&other.route_key))));
        }
        let leaves = |entry: &Entry| {
            let route = ApiRoute::of(entry.spec())?;
            let Some(Ref::Key(left)) = &route.authorization.authorizer else { return None };
            let (_, now, _) = changed.iter().find(|(_, it, _)| it.has_requests_of(route))?;
            let is_left = now.authorization.authorizer != route.authorization.authorizer;
            let at = self.objects.iter().position(|object| object.key == *left)?;
            is_left.then(|| (at, keys::route(&now.route_key)))
        };
        updated_after.extend(self.existing.present().filter_map(leaves));
        for (at, key) in after {
            self.objects[at].after.push(key);
        }
        for (at, key) in updated_after {
            self.objects[at].updated_after.push(key);
        }
    }

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
        for route in &existing {
            let key = &route.route_key;
            if let Some(now) = wanted.iter().find(|it| it.has_requests_of(route)) {
                if now.authorization.is_public() && !route.authorization.is_public() {
                    let message =
                        format!("Route {key:?} becomes public: its authorization was {}.", route.authorization);
                    let hint = "If every request is to reach its function, apply. Otherwise, set authorizer_name or \
                                authorization_type.";
                    warnings.push(Problem::new(path(&now.route_key), message, hint));
                }
            } else if let Some(other) = route.exposed_by(&kinds).map(|position| remaining[position]) {
                let message = format!(
                    "Route {key:?} with the authorization {} is deleted, and requests that it rejects then reach the \
                     function of {:?} with the authorization {}.",
                    route.authorization, other.route_key, other.authorization
                );
                let hint = "To reject them, keep the route, or protect the other one.";
                warnings.push(Problem::new(AttributePath::new("route_config"), message, hint));
            }
        }
        self.warnings.extend(warnings);
    }

    /// Warns of new and changed routes that are public by default in a gateway that protects something, or that need no
    /// scope by default although other routes of their authorizer need one. Terraform drops a misspelled
    /// `authorizer_name` without an error.
    pub(super) fn warn_of_open_routes(&mut self, routes: &[(&'a str, &'a RouteConfig)]) {
        let required: Vec<&ApiRoute> = self.objects.iter().filter_map(|object| ApiRoute::of(&object.spec)).collect();
        let is_silent = |key: &str, is_silent: fn(&RouteConfig) -> bool| {
            routes.iter().any(|(route_key, route)| *route_key == key && is_silent(route))
        };
        // One whose authorization changes has a warning of its own, or shows it in the plan.
        let is_changed = |route: &ApiRoute| {
            let found = self.existing_route(&route.route_key);
            found.is_none_or(|found| found.authorization == route.authorization && found != route)
        };
        let listed = |is_open: &dyn Fn(&ApiRoute) -> bool| {
            let open = required.iter().filter(|it| is_open(it) && is_changed(it));
            open.map(|it| format!("{:?}", it.route_key)).collect::<Vec<_>>().join(", ")
        };
        let protects = !self.protections.is_empty() || required.iter().any(|it| !it.authorization.is_public());
        let public = listed(&|it| {
            let sets_nothing = |route: &RouteConfig| route.authorization_type == Input::Known(None);
            protects && it.authorization.is_public() && is_silent(&it.route_key, sets_nothing)
        });
        let without_scope = listed(&|it| {
            let sets_nothing = |route: &RouteConfig| route.authorization_scopes == Input::Known(None);
            let has_scoped_sibling = || {
                let is_same = |other: &&&ApiRoute| other.authorization.authorizer == it.authorization.authorizer;
                required.iter().filter(is_same).any(|other| it.authorization.is_weaker_than(&other.authorization))
            };
            let is_open = it.authorization.authorizer.is_some() && has_scoped_sibling();
            is_open && is_silent(&it.route_key, sets_nothing)
        });
        let mut warn = |message: String, hint: &str| {
            self.warnings.push(Problem::new(AttributePath::new("route_config"), message, hint));
        };
        if !public.is_empty() {
            let message = format!(
                "These routes are public, although this gateway has authorizers or protected routes: {public}. They set \
                 neither authorizer_name nor authorization_type. {DROPS_NAMES}"
            );
            warn(
                message,
                "If they are to be public, set authorization_type = \"NONE\". Otherwise, set authorizer_name.",
            );
        }
        if !without_scope.is_empty() {
            let message = format!(
                "These routes accept tokens without a scope, although other routes of their authorizer need one: \
                 {without_scope}. They do not set authorization_scopes. {DROPS_NAMES}"
            );
            warn(message, "If they are to need no scope, set authorization_scopes = [].");
        }
    }
}

/// Whether the other route would accept requests that this one, which API Gateway prefers, rejects.
fn is_exposed(
    (key, authorization): (&RouteKey<'_>, &Authorization),
    (other_key, other): (&RouteKey<'_>, &Authorization),
) -> bool {
    other.is_weaker_than(authorization) && key.precedes(other_key) && key.overlaps(other_key)
}
