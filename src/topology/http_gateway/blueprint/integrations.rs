//! The assignment of routes to integrations.
//!
//! The name of an integration is not derived from its content, so that a change of the content updates it in place. An
//! integration is updated only if all routes of the API that use it get the new content: any other route would reach
//! the wrong function until it is moved or deleted. Of an integration that an unmanaged route uses, not even drift is
//! corrected.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Integration, Inventory, Key, Ref, RouteKey, Spec, UnmanagedInApi};
use crate::plugin::{AttributePath, Problem};
use crate::topology::IgnoredDrift;
use crate::topology::http_gateway::config::RouteConfig;

/// The AWS quota of integrations per API, which cannot be increased.
const MOST_INTEGRATIONS: usize = 300;

/// A required integration.
#[derive(Clone, Debug, PartialEq)]
struct Assigned<'a> {
    key: Key,
    /// It without its permission.
    content: Integration,
    /// The keys of the routes that use it, at least one.
    routes: Vec<&'a str>,
}

/// An integration in the inventory.
struct Existing<'a> {
    /// The applied content. Drift is corrected, so it does not count, unless the integration is shared.
    content: Integration,
    /// The content in AWS, if it has drifted and the drift is not ignored.
    drifted: Option<Integration>,
    is_missing: bool,
    /// Whether an unmanaged route uses it, so that its content stays. An adoption changes nothing in any case.
    is_shared: bool,
    /// The existing routes that use it, by the key of the wanted route; `None` for a route that is no longer wanted, or
    /// that was pointed to this integration outside Terraform. An unmanaged route with a wanted key is one of them: it
    /// is adopted, or the plan is refused.
    users: Vec<Option<&'a str>>,
}

/// An incomplete assignment.
struct Assignment<'a> {
    wanted: &'a BTreeMap<&'a str, Integration>,
    /// The routes whose authorization changes.
    reauthorized: &'a BTreeSet<&'a str>,
    existing: BTreeMap<&'a Key, Existing<'a>>,
    /// The integration that each wanted route had in the last apply.
    before: BTreeMap<&'a str, &'a Key>,
    assigned: Vec<Assigned<'a>>,
}

/// Assigns each route to an integration with its content.
fn assign<'a>(
    wanted: &'a BTreeMap<&'a str, Integration>,
    reauthorized: &'a BTreeSet<&'a str>,
    inventory: &'a Inventory,
    ignored: &IgnoredDrift,
) -> Vec<Assigned<'a>> {
    let mut assignment = Assignment::of(wanted, reauthorized, inventory, ignored);
    assignment.keep_those_that_change_as_a_whole();
    assignment.keep_those_with_wanted_content();
    assignment.assign_the_rest(inventory);
    assignment.assigned
}

impl<'a> Assignment<'a> {
    fn of(
        wanted: &'a BTreeMap<&'a str, Integration>,
        reauthorized: &'a BTreeSet<&'a str>,
        inventory: &'a Inventory,
        ignored: &IgnoredDrift,
    ) -> Assignment<'a> {
        let mut existing = BTreeMap::new();
        let unmanaged = UnmanagedInApi::of(inventory);
        for entry in &inventory.entries {
            let (adopted, others): (Vec<_>, Vec<_>) =
                unmanaged.users(&entry.id).partition(|route| wanted.contains_key(route.route_key.as_str()));
            let is_shared = !others.is_empty() && !entry.is_foreign();
            let spec = if is_shared { entry.spec() } else { &entry.applied };
            let Spec::Integration(spec) = spec else { continue };
            let content = spec.content();
            let found = entry.observed().filter(|_| !ignored.covers(&entry.key.slot)).and_then(Integration::of);
            let drifted = found.map(Integration::content);
            let users = adopted.iter().map(|route| wanted.get_key_value(route.route_key.as_str()).map(|(key, _)| *key));
            let (is_missing, users) = (!entry.is_present(), users.collect());
            existing.insert(&entry.key, Existing { content, drifted, is_missing, is_shared, users });
        }
        let mut before = BTreeMap::new();
        let successors = Successors::of(wanted, inventory);
        for entry in &inventory.entries {
            let Spec::ApiRoute(applied) = &entry.applied else { continue };
            let route = successors.of_route(&applied.route_key);
            if let (Some(route), Some(Ref::Key(key))) = (route, &applied.integration) {
                before.insert(route, key);
            }
            let Some(key) = integration_in_aws(entry) else { continue };
            if let Some(integration) = existing.get_mut(key) {
                let is_drifted = applied.integration.as_ref() != Some(&Ref::Key(key.clone()));
                integration.users.push(route.filter(|_| !is_drifted));
            }
        }
        Assignment { wanted, reauthorized, existing, before, assigned: Vec::new() }
    }

    /// Keeps the integrations of which all users want the same content. Their content changes in place, unless the
    /// authorization of a user changes too: a new function would then answer requests with the old authorization, or
    /// the other way round. With another integration, one call changes both.
    fn keep_those_that_change_as_a_whole(&mut self) {
        for (key, integration) in &self.existing {
            let routes: Option<Vec<&str>> = integration.users.iter().copied().collect();
            let Some(routes) = routes else { continue };
            let is_reauthorized = routes.iter().any(|route| self.reauthorized.contains(route));
            let mut contents = routes.iter().map(|route| &self.wanted[route]);
            if let Some(content) = contents.next()
                && contents.all(|other| other == content)
                && integration.can_have(content)
                && (*content == integration.content || !(integration.is_shared || is_reauthorized))
            {
                self.assigned.push(Assigned { key: (*key).clone(), content: content.clone(), routes });
            }
        }
    }

    /// Keeps the content of the other integrations for those of their users that still want it.
    fn keep_those_with_wanted_content(&mut self) {
        for (key, integration) in &self.existing {
            if !integration.can_have(&integration.content) || self.is_assigned(key) {
                continue;
            }
            let content = &integration.content;
            let users = integration.users.iter().flatten().copied();
            let routes: Vec<&str> = users.filter(|route| self.wanted[route] == *content).collect();
            if !routes.is_empty() {
                self.assigned.push(Assigned { key: (*key).clone(), content: content.clone(), routes });
            }
        }
    }

    /// Assigns the remaining routes, in the order of their keys.
    fn assign_the_rest(&mut self, inventory: &Inventory) {
        for (route, content) in self.wanted {
            if self.assigned.iter().any(|it| it.routes.contains(route)) {
                continue;
            }
            let key = self.kept_with(route, content).unwrap_or_else(|| self.new_key(route, inventory));
            match self.assigned.iter_mut().find(|it| it.key == key) {
                Some(integration) => integration.routes.push(route),
                None => self.assigned.push(Assigned { key, content: content.clone(), routes: vec![route] }),
            }
        }
    }

    /// An integration that is required already or exists, and has this content: if possible the one that the route had
    /// before, otherwise one that other routes use.
    fn kept_with(&self, route: &str, content: &Integration) -> Option<Key> {
        let assigned = self.assigned.iter().filter(|it| it.content == *content).map(|it| &it.key);
        let unassigned = self
            .existing
            .iter()
            .filter(|(key, it)| it.content == *content && it.can_have(content) && !self.is_assigned(key));
        let candidates: Vec<&Key> = assigned.chain(unassigned.map(|(key, _)| *key)).collect();
        let before = self.before.get(route).copied();
        before.filter(|key| candidates.contains(key)).or(candidates.first().copied()).cloned()
    }

    /// The key of an integration to create: that of the missing integration which the route had before, or a new one
    /// that no object has had since the last apply.
    fn new_key(&self, route: &str, inventory: &Inventory) -> Key {
        let is_missing =
            |key: &&&Key| self.existing.get(**key).is_some_and(|it| it.is_missing) && !self.is_assigned(key);
        if let Some(key) = self.before.get(route).filter(is_missing) {
            return (*key).clone();
        }
        let is_free =
            |key: &Key| !self.is_assigned(key) && !inventory.entries.iter().any(|entry| entry.key.slot == key.slot);
        let numbered = (2_u64..).map(|number| keys::integration(&format!("{route}#{number}")));
        let mut names = std::iter::once(keys::integration(route)).chain(numbered);
        names.find(is_free).expect("the inventory is finite")
    }

    fn is_assigned(&self, key: &Key) -> bool {
        self.assigned.iter().any(|it| it.key == *key)
    }
}

/// The wanted routes that take the place of existing ones.
struct Successors<'a> {
    wanted: BTreeSet<&'a str>,
    /// The wanted routes that do not exist yet, by their keys without the names of path variables.
    renamed: BTreeMap<String, &'a str>,
}

impl<'a> Successors<'a> {
    fn of(wanted: &'a BTreeMap<&'a str, Integration>, inventory: &Inventory) -> Successors<'a> {
        let exists = |key: &str| {
            inventory.entries.iter().any(|entry| matches!(&entry.applied, Spec::ApiRoute(it) if it.route_key == key))
        };
        let wanted: BTreeSet<&str> = wanted.keys().copied().collect();
        let new = wanted.iter().copied().filter(|key| !exists(key));
        let renamed = new.filter_map(|key| Some((RouteKey::parse(key).ok()?.shape(), key))).collect();
        Successors { wanted, renamed }
    }

    /// The wanted route with the key of an existing one, or with one that differs only in names of path variables.
    fn of_route(&self, key: &str) -> Option<&'a str> {
        let renamed = || self.renamed.get(&RouteKey::parse(key).ok()?.shape()).copied();
        self.wanted.get(key).copied().or_else(renamed)
    }
}

/// The integration that a route has in AWS, even if its drift is ignored. `None` if the route does not exist.
fn integration_in_aws(route: &Entry) -> Option<&Key> {
    match route.observed().unwrap_or(&route.applied) {
        Spec::ApiRoute(it) if !route.is_missing() => match it.integration.as_ref()? {
            Ref::Key(key) => Some(key),
            Ref::Id(_) => None,
        },
        _ => None,
    }
}

impl Existing<'_> {
    /// Whether an update can give it this content. Otherwise, another integration takes its place.
    fn can_have(&self, content: &Integration) -> bool {
        let found = self.drifted.as_ref();
        !self.is_missing && self.content.can_become(content) && found.is_none_or(|found| found.can_become(content))
    }
}

impl<'a> Draft<'a> {
    /// Adds the integrations. Returns them by route key. `permissions` contains the permissions by function ARN.
    pub(super) fn integrations(
        &mut self,
        routes: &[(&'a str, &'a RouteConfig)],
        permissions: &BTreeMap<&str, Option<Key>>,
        reauthorized: &BTreeSet<&str>,
    ) -> Option<BTreeMap<&'a str, Key>> {
        let wanted =
            routes.iter().map(|(key, route)| Some((*key, route.integration.required(&self.api, &self.links)?)));
        let wanted = wanted.collect::<Option<BTreeMap<&str, Integration>>>()?;
        let ignored = IgnoredDrift::of(self.ignored);
        let mut integrations = BTreeMap::new();
        let mut created = 0;
        for Assigned { key, content, routes: users } in assign(&wanted, reauthorized, self.existing, &ignored) {
            created += usize::from(!self.existing.present().any(|entry| entry.key == key));
            integrations.extend(users.iter().filter_map(|user| {
                routes.iter().find(|(route, _)| route == user).map(|(route, _)| (*route, key.clone()))
            }));
            let function = content.function_to_allow();
            let permission = function.and_then(|function| permissions.get(function.as_str())).cloned().flatten();
            let spec = Integration { permission, ..content };
            self.add(key, Spec::Integration(spec), vec![]);
        }
        self.check_quota(created);
        Some(integrations)
    }

    /// Old integrations are deleted after new ones are created, so both count.
    fn check_quota(&mut self, created: usize) {
        let is_integration = |entry: &&Entry| matches!(entry.applied, Spec::Integration(_));
        let unmanaged: BTreeSet<_> = self.unmanaged.routes.iter().filter_map(|it| it.integration.as_ref()).collect();
        let is_counted = |id: &&&String| self.existing.present().any(|entry| entry.id == ***id);
        let unmanaged = unmanaged.iter().filter(|id| !is_counted(id)).count();
        let existing = self.existing.present().filter(is_integration).count() + unmanaged;
        if created == 0 || existing + created <= MOST_INTEGRATIONS {
            return;
        }
        let (message, hint) = match existing {
            0 => (
                format!(
                    "The routes need {created} integrations, one for each distinct function, endpoint or action with its \
                     settings; an API can have {MOST_INTEGRATIONS}."
                ),
                "Use the same settings for routes of one function, or split the gateway.",
            ),
            existing => (
                format!(
                    "The routes need {created} new integrations, and {existing} exist; an API can have \
                     {MOST_INTEGRATIONS}, and unused integrations are deleted only after new ones are created."
                ),
                "Use the same settings for routes of one function, split the gateway, or remove routes in one apply \
                 and add the new ones in the next.",
            ),
        };
        self.problems.push(Problem::new(AttributePath::new("route_config"), message, hint));
    }
}

#[cfg(test)]
mod tests;
