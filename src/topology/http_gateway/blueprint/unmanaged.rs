//! Unmanaged routes of the API: the keys that they occupy, and the permissions that they need.

use std::collections::BTreeMap;

use super::{Draft, NO_API_ID};
use crate::model::keys::gateway as keys;
use crate::model::{
    ApiRoute, Authorization, Entry, FunctionArn, Key, Ref, RouteKey, Spec, UnmanagedRoute, authorizer_name,
};
use crate::plugin::{AttributePath, Problem};
use crate::topology::http_gateway::config::RouteConfig;
use crate::topology::http_gateway::integrations::IntegrationConfig;

impl<'a> Draft<'a> {
    /// The unmanaged routes that use an integration or an authorizer, without those that the configuration lists: these
    /// are adopted, or the plan is refused.
    pub(super) fn outside_users<'b>(&'b self, id: &'b str) -> impl Iterator<Item = &'b UnmanagedRoute> {
        self.unmanaged.users(id).filter(|route| !self.route_keys.contains(route.route_key.as_str()))
    }

    /// The unmanaged routes, without those that the configuration lists.
    pub(super) fn outside_routes(&self) -> impl Iterator<Item = &UnmanagedRoute> {
        self.unmanaged.routes.iter().filter(|route| !self.route_keys.contains(route.route_key.as_str()))
    }

    /// Keeps the permissions in state of the functions that unmanaged routes call.
    pub(super) fn keep_permissions(&mut self) {
        let functions =
            self.unmanaged.routes.iter().filter_map(|route| FunctionArn::parse(route.function.as_ref()?).ok());
        let kept: BTreeMap<Key, Spec> = functions
            .filter_map(|function| {
                let key = keys::permission(&function);
                let entry = self.existing.present().find(|entry| entry.key == key)?;
                Some((key, entry.applied.clone()))
            })
            .collect();
        for (key, spec) in kept {
            if !self.objects.iter().any(|object| object.key == key) {
                self.add(key, spec, vec![]);
            }
        }
    }

    /// Reports new routes whose paths name a variable otherwise than an unmanaged route does.
    pub(super) fn check_variables(&mut self, routes: &[(&'a str, &'a RouteConfig)]) {
        for (route_key, _) in routes {
            let Ok(wanted) = RouteKey::parse(route_key) else { continue };
            if self.has_route(route_key) {
                continue;
            }
            let conflict = self.unmanaged.routes.iter().find_map(|theirs| {
                let other = RouteKey::parse(&theirs.route_key).ok()?;
                let others = other.variables();
                let pairs =
                    wanted.variables().into_iter().flat_map(|ours| others.iter().map(move |it| (ours.clone(), it)));
                let mut different = pairs.filter(|((place, name), (at, theirs))| place == at && name != theirs);
                let ((_, name), (_, their_name)) = different.next()?;
                Some((theirs, name, *their_name))
            });
            if let Some((theirs, name, their_name)) = conflict {
                let problem = Problem::new(
                    AttributePath::new("route_config").key(route_key),
                    format!(
                        "{route_key:?} names a variable {name:?} where the unmanaged route {:?} ({}) names it \
                         {their_name:?}; API Gateway allows one variable name at each position of a path.",
                        theirs.route_key, theirs.id
                    ),
                    format!(
                        "Name it {their_name:?}, or rename the variable of that route or delete the route, and then run \
                         plan again."
                    ),
                );
                self.problems.push(problem);
            }
        }
    }

    /// Reports new routes whose keys unmanaged routes have, unless these are equal: a create adopts them.
    pub(super) fn check_route_keys(&mut self) {
        let new = self.objects.iter().filter_map(|object| match &object.spec {
            Spec::ApiRoute(route) if !self.has_route(&route.route_key) => Some(route),
            _ => None,
        });
        let taken = new.filter_map(|route| {
            let theirs = self.unmanaged.routes.iter().find(|theirs| theirs.route_key == route.route_key)?;
            (!self.is_adopted(route, theirs)).then_some(theirs)
        });
        let problems: Vec<Problem> = taken.map(|theirs| self.taken(theirs)).collect();
        self.problems.extend(problems);
    }

    fn has_route(&self, route_key: &str) -> bool {
        let is_it = |entry: &Entry| matches!(&entry.applied, Spec::ApiRoute(it) if it.route_key == route_key);
        self.existing.present().any(is_it)
    }

    /// Whether the create of a route adopts an unmanaged one: both use the same objects, or equal ones that the apply
    /// adopts too.
    fn is_adopted(&self, wanted: &ApiRoute, theirs: &UnmanagedRoute) -> bool {
        let id_of = |key: &Key| self.existing.present().find(|entry| entry.key == *key).map(|entry| &entry.id);
        let object = |key: &Key| self.objects.iter().find(|object| object.key == *key);
        let is_integration = match &wanted.integration {
            Some(Ref::Key(key)) => match (id_of(key), object(key)) {
                (Some(id), _) => theirs.integration.as_ref() == Some(id),
                (None, Some(object)) => {
                    let is_equal = matches!((&object.spec, &theirs.content), (Spec::Integration(wanted), Some(found))
                        if wanted.content() == *found);
                    let mut users = theirs.integration.iter().flat_map(|id| self.unmanaged.users(id));
                    is_equal && users.all(|user| object.routes.contains(&user.route_key))
                }
                (None, None) => false,
            },
            _ => false,
        };
        let is_authorizer = match &wanted.authorization.authorizer {
            None => theirs.authorizer().is_none(),
            Some(Ref::Key(key)) => match (id_of(key), object(key).and_then(|object| authorizer_name(&object.spec))) {
                (Some(id), _) => theirs.authorizer() == Some(id),
                // An authorizer of another name is created, an equal one is adopted.
                (None, Some(name)) => self
                    .unmanaged
                    .authorizers
                    .iter()
                    .any(|it| Some(it.id.as_str()) == theirs.authorizer() && it.name == name),
                (None, None) => false,
            },
            Some(Ref::Id(_)) => false,
        };
        let Authorization { kind, scopes, .. } = &wanted.authorization;
        let is_type = *kind == theirs.authorization.kind && *scopes == theirs.authorization.scopes;
        is_integration && is_authorizer && is_type
    }

    /// The problem of a route whose key an unmanaged route has, and the ways out.
    fn taken(&self, theirs: &UnmanagedRoute) -> Problem {
        let (api, UnmanagedRoute { route_key, id, .. }) = (self.api_id(), theirs);
        let target = theirs.integration.as_ref().map_or("nothing".to_string(), |id| format!("integration {id}"));
        let is_shared = theirs.integration.iter().any(|id| self.unmanaged.users(id).count() > 1);
        let adoption = match &theirs.content {
            Some(found) if theirs.authorization.is_public() && !is_shared => {
                let inputs = IntegrationConfig::of(found).in_words();
                format!(" To take it over as it is, set {inputs}, and no authorizer_name.")
            }
            _ => String::new(),
        };
        Problem::new(
            AttributePath::new("route_config").key(route_key),
            format!(
                "API {api} already has an unmanaged route {route_key:?} ({id}), which points to {target} with the authorization \
                 {}.",
                theirs.authorization
            ),
            format!(
                "Remove this entry, or delete the route with this command, then run plan again.{adoption}\n\n  aws \
                 apigatewayv2 delete-route --api-id {api} --route-id {id}"
            ),
        )
    }

    /// The ID of the API, for messages.
    pub(super) fn api_id(&self) -> &str {
        self.existing.current().find(|entry| entry.key == self.api).map_or(NO_API_ID, |entry| entry.id.as_str())
    }
}
