//! Reads a whole gateway. The number of list calls does not depend on the number of routes, apart from further pages.
//! Each function takes one more call.

mod consented;
mod discovered;
mod dns;
mod domain;
mod listed;
mod logs;
mod policies;
mod unmanaged;

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_apigatewayv2::types;

pub(crate) use discovered::discover;
pub(crate) use policies::lost_parts;
use policies::{Policies, function_to_allow, places_of, policies, read_permission};

use self::listed::Listed;
use super::landscape::authorizer_spec;
use super::{api, integration, route, stage, vpc_link};
use crate::aws::Session;
use crate::aws::apigateway::read::logs::{Logs, reference_to_group};
use crate::aws::calls::ownership;
use crate::aws::calls::ownership::Owner;
use crate::aws::lambda::permission;
use crate::aws::lambda::permission::{CallerId, FunctionPolicy, statement_id};
use crate::cloud::{Failure, Known, Namesake, Observed, Root, RootState, Seen};
use crate::model::keys::gateway as keys;
use crate::model::{Api, Caller, Classification, Entry, Key, LambdaPermission, Learned, Object, Ref, Spec, Stage};
use crate::model::{FunctionArn, Input, Scope, TopologyKind};

/// Reads a gateway. `None` only if AWS reports that neither the API nor any known object that outlives it exists.
///
/// Objects are recognized by their IDs in `known`. If nothing is known (in an import, or without private state), every
/// object of the API that this provider could have created is returned.
pub(crate) async fn read(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    known: Known<'_>,
) -> Result<Option<Seen>, Failure> {
    let Known { entries: known, consented, .. } = known;
    let resource = ownership::resource(owner, root_id);
    let (listed, logs, found_policies, domains, records) = tokio::join!(
        Listed::of(session, root_id, known),
        Logs::known(session, known, &resource),
        policies(session, places_of(known)),
        domain::known(session, known, &resource),
        dns::listed(session, known),
    );
    let (logs, policies, domains) = (logs?, found_policies?, domains?);
    let Some(listed) = listed? else {
        // AWS deletes routes, integrations, authorizers and stages with the API. The log group with its filter, the
        // permissions, the VPC links, the domain and its record may remain after a failed destroy.
        let mut objects = outliving(&session.scope, root_id, known, &logs, &policies, &domains);
        objects.extend(vpc_link::outliving(session, known).await?);
        objects.extend(dns::known(&records?, known, &objects));
        return Ok((!objects.is_empty()).then_some(Seen { objects, ..Seen::default() }));
    };
    let root_state = listed.root_state(session, root_id).await?;
    let owner = Owner { resource: &resource, or_none: false };
    let view = View { logs, policies, domains, ..View::of(session, root_id, listed, owner) };
    let seen = match known.is_empty() {
        true => view.first_read(session, None).await?,
        false => view.read_again(session, known, consented, &records?).await?,
    };
    Ok(Some(Seen { root_state, ..seen }))
}

/// Finds, among objects that a plan creates, those that exist with the tags of the gateway and that no read finds.
pub(crate) async fn leftovers(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let resource = ownership::resource(owner, root_id);
    let mut found = logs::leftovers(session, &resource, objects).await?;
    found.extend(vpc_link::leftovers(session, &resource, objects).await?);
    Ok(found)
}

/// The authorizers that are not in state, by the IDs of their statements that are not in state either.
fn required_authorizers(objects: &[Observed], known: &[Entry]) -> BTreeMap<String, BTreeSet<String>> {
    let is_unknown = |it: &&Observed| !known.iter().any(|entry| entry.id == it.id);
    let pair = |statement: &Observed| {
        let Spec::LambdaPermission(LambdaPermission { caller: Caller::Authorizer(key), .. }) = &statement.spec else {
            return None;
        };
        let authorizer = objects.iter().filter(is_unknown).find(|it| it.key == *key)?;
        Some((statement.id.clone(), [authorizer.id.clone()].into()))
    };
    objects.iter().filter(is_unknown).filter_map(pair).collect()
}

/// Lists the APIs that this provider created.
pub(crate) async fn roots(session: &Session, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
    api::roots(session, owner).await
}

/// Lists the APIs that this provider created with this name.
pub(crate) async fn namesakes(
    session: &Session,
    owner: TopologyKind,
    name: &str,
    is_compared: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Result<Vec<Namesake>, Failure> {
    api::namesakes(session, owner, name, is_compared).await
}

/// Sets the tag `fgw:state` of an API.
pub(crate) async fn mark_root(
    session: &Session,
    _owner: TopologyKind,
    root_id: &str,
    state: RootState,
) -> Result<(), Failure> {
    api::mark_root(session, root_id, state).await
}

/// Why an object with the name and the tags of one in state is not managed.
const CREATED_AGAIN: &str = "it was deleted and created again outside Terraform";

/// The objects of a gateway that AWS returned, both its own and unmanaged ones.
struct View<'a> {
    scope: &'a Scope,
    root_id: &'a str,
    api: types::Api,
    routes: Vec<types::Route>,
    integrations: Vec<types::Integration>,
    authorizers: Vec<types::Authorizer>,
    stages: Vec<types::Stage>,
    links: Vec<types::VpcLink>,
    logs: Logs,
    policies: Policies,
    domains: Vec<domain::FoundDomain>,
    /// The owner of the stages and the log group.
    owner: Owner<'a>,
}

/// An authorizer that this provider could have created.
struct OwnAuthorizer {
    authorizer: Observed,
    /// Whether API Gateway needs a statement of this provider to call the function.
    needs_statement: bool,
    /// The statement with the ID that this provider uses, if it exists.
    statement: Option<Observed>,
}

impl<'a> View<'a> {
    /// Without logs, policies and domains.
    fn of(session: &'a Session, root_id: &'a str, listed: Listed, owner: Owner<'a>) -> View<'a> {
        let Listed { api, routes, integrations, authorizers, stages, links } = listed;
        let (logs, policies, domains) = Default::default();
        let scope = &session.scope;
        View { scope, root_id, api, routes, integrations, authorizers, stages, links, logs, policies, domains, owner }
    }

    /// What a read returns for a gateway that is in state.
    async fn read_again(
        self,
        session: &Session,
        known: &[Entry],
        consented: Option<&BTreeMap<String, String>>,
        records: &dns::Listed,
    ) -> Result<Seen, Failure> {
        let mut objects = self.known(known);
        objects.extend(dns::known(records, known, &objects));
        objects.extend(dns::of_unknown_domains(session, known, &objects).await?);
        let mut unmanaged = domain::unmanaged(&self.domains, known, self.root_id);
        unmanaged.extend_from_slice(self.logs.unmanaged());
        unmanaged.extend(objects.iter().flat_map(|object| stage::settings::unmanaged(object, self.root_id)));
        let requires = required_authorizers(&objects, known);
        let mut seen = Seen { objects, unmanaged, requires, ..Seen::default() };
        if let Some(consented) = consented {
            self.add_consented(session, consented, &mut seen).await?;
        }
        seen.unmanaged.sort();
        Ok(seen)
    }

    /// What a read returns for a gateway that is not in state: in an import, or without private state. With a
    /// classification, something else built it.
    async fn first_read(mut self, session: &Session, classification: Option<&Classification>) -> Result<Seen, Failure> {
        let root_id = self.root_id;
        let stage = self.own_stages(classification).next().cloned();
        self.logs = Logs::of_stage(session, root_id, stage.as_ref(), self.owner).await?;
        if classification.is_none() {
            self.links = vpc_link::list_if_supported(session).await?;
        }
        self.policies = self.policies_of_functions(session).await?;
        let (domains, unmanaged) = match classification {
            Some(_) => domain::adoptable(session, (root_id, &self.own_names(classification)), self.owner).await?,
            None => domain::imported(session, root_id, self.owner.resource).await?,
        };
        self.domains = domains;
        let mut objects = self.everything(classification);
        let stacks = classification.map(|it| self.stacks(it)).unwrap_or_default();
        objects.extend(dns::imported(session, &objects).await?);
        Ok(Seen { objects, unmanaged, stacks, ..Seen::default() })
    }

    /// The current observations of the objects in state, and the objects that an interrupted run may have created.
    fn known(&self, known: &[Entry]) -> Vec<Observed> {
        let (api_key, mut seen) = self.api(known);
        let stages = stage_names(known);
        let mut ours = BTreeMap::new();
        for entry in known {
            let is_referred_to = matches!(
                entry.applied,
                Spec::Integration(_) | Spec::Authorizer(_) | Spec::JwtAuthorizer(_) | Spec::VpcLink(_)
            );
            if is_referred_to {
                ours.insert(entry.id.clone(), entry.key.clone());
            }
        }
        for entry in known {
            let (id, key) = (entry.id.as_str(), entry.key.clone());
            let observed = match &entry.applied {
                Spec::LogGroup(_) | Spec::LogSubscription(_) => self.logs.read(entry, &api_key),
                Spec::LambdaPermission(applied) => {
                    let found = read_permission(self.scope, &self.policies, self.root_id, entry);
                    match self.is_of_deleted_authorizer(applied, known, id) {
                        false => found,
                        // The statement has no effect any more. Under this key it is deleted, and a statement for the
                        // new authorizer is created.
                        true => {
                            found.map(|it| Observed { key: Key::fixed(key.slot, Input::Known(id.to_string())), ..it })
                        }
                    }
                }
                applied @ (Spec::Authorizer(_) | Spec::JwtAuthorizer(_)) => {
                    self.authorizers.iter().find(|it| it.authorizer_id.as_deref() == Some(id)).and_then(|shown| {
                        let spec = authorizer_spec(shown, api_key.clone(), Some(applied))?;
                        // One whose type was changed outside Terraform is another authorizer.
                        if spec.kind() != applied.kind() {
                            return None;
                        }
                        Some(Observed { id: id.to_string(), key, spec, learned: Learned::new() })
                    })
                }
                Spec::Integration(applied) => self
                    .integrations
                    .iter()
                    .find(|it| it.integration_id.as_deref() == Some(id))
                    .and_then(|shown| integration::read(shown, api_key.clone(), key, Some(applied)))
                    .map(|mut read| {
                        read.spec.refer_by_key(&ours);
                        read
                    }),
                Spec::VpcLink(_) => {
                    vpc_link::find(&self.links, id).and_then(|shown| vpc_link::read(shown, api_key.clone(), key))
                }
                Spec::ApiRoute(_) => self
                    .routes
                    .iter()
                    .find(|it| it.route_id.as_deref() == Some(id))
                    .and_then(|shown| route::read(shown, api_key.clone(), key, &ours)),
                Spec::Stage(applied) => self.stages.iter().find(|it| it.stage_name() == Some(id)).map(|shown| {
                    self.read_stage(shown, (api_key.clone(), key), Some(applied), |arn| reference_to_group(known, arn))
                }),
                Spec::DomainName(_) | Spec::ApiMapping(_) => {
                    domain::read(&self.domains, entry, (self.root_id, &stages), &api_key)
                }
                _ => None,
            };
            seen.extend(observed);
        }
        let unknown = self.own_stages(None).filter(|shown| !stages.iter().any(|name| shown.stage_name() == Some(name)));
        seen.extend(unknown.map(|shown| self.own_stage(shown, &api_key, |arn| reference_to_group(known, arn))));
        seen.extend(self.own_links(&api_key).filter(|link| !known.iter().any(|entry| entry.id == link.id)));
        seen.extend(domain::unknown(&self.domains, known, (self.root_id, &stages), &api_key));
        seen.extend(self.unknown_statements(known, &api_key));
        seen
    }

    /// The statements with IDs of this provider that are missing in state, in the policies of functions that are in
    /// state, and their authorizers: an interrupted run created them. Routes and integrations have no mark that
    /// distinguishes them from unmanaged ones.
    fn unknown_statements(&self, known: &[Entry], api_key: &Key) -> Vec<Observed> {
        let is_unknown = |it: &Observed| !known.iter().any(|entry| entry.id == it.id);
        let is_in_state = |route: &types::Route| known.iter().any(|entry| Some(&entry.id) == route.route_id.as_ref());
        let of_authorizers = self.authorizers.iter().filter_map(|shown| {
            let OwnAuthorizer { authorizer, statement, .. } = self.authorizer(shown, api_key)?;
            let statement = statement.filter(is_unknown)?;
            // A create of the authorizer compares it and the routes that use it with what is required.
            let is_used = |route: &types::Route| route.authorizer_id == shown.authorizer_id && !is_in_state(route);
            if self.routes.iter().any(is_used) {
                return None;
            }
            Some([Some(authorizer).filter(is_unknown), Some(statement)])
        });
        let of_routes = self.policies.keys().filter_map(|place| {
            let function = place.function()?;
            self.statement(&function, keys::permission(&function), api_key, None).filter(is_unknown)
        });
        of_authorizers.flatten().flatten().chain(of_routes).collect()
    }

    /// All objects that this provider could have created: the routes that a configuration can express, the integrations
    /// (named after the first route that uses them) and authorizers that they use, unused authorizers that do not lack
    /// a statement, the statements with IDs of this provider, and the stage and the log group with its filter if they
    /// have the tags of their owner.
    fn everything(&self, classification: Option<&Classification>) -> Vec<Observed> {
        let (api_key, mut seen) = self.api(&[]);
        seen.extend(self.access_logs(&api_key));
        let group_key = self.logs.group_key();
        let mut ours = BTreeMap::new();
        let mut routes = self.expressible_routes();
        if let Some(Classification { slots, .. }) = classification {
            routes.retain(|shown| shown.route_id.as_ref().is_some_and(|id| slots.contains_key(id)));
        }
        let used: BTreeSet<&str> =
            routes.iter().flat_map(|it| [route::integration_id(it), route::authorizer_id(it)]).flatten().collect();
        let is_used = |id: &Option<String>| id.as_deref().is_some_and(|id| used.contains(id));
        for shown in &self.authorizers {
            let Some(OwnAuthorizer { authorizer, needs_statement, statement }) = self.authorizer(shown, &api_key)
            else {
                continue;
            };
            if !is_used(&shown.authorizer_id) && needs_statement && statement.is_none() {
                // An unused authorizer without its statement is unmanaged, or incomplete and adopted by a later create.
                continue;
            }
            ours.insert(authorizer.id.clone(), authorizer.key.clone());
            seen.push(authorizer);
            seen.extend(statement);
        }
        for link in self.own_links(&api_key) {
            ours.insert(link.id.clone(), link.key.clone());
            seen.push(link);
        }
        for shown in self.integrations.iter().filter(|it| is_used(&it.integration_id)) {
            let uses = |route: &&&types::Route| route::integration_id(route) == shown.integration_id.as_deref();
            let users = routes.iter().filter(uses).filter_map(|route| route.route_key.as_deref());
            let Some(first) = users.min() else { continue };
            let key = keys::integration(first);
            let Some(read) = integration::read(shown, api_key.clone(), key.clone(), None) else { continue };
            let Spec::Integration(mut spec) = read.spec else { continue };
            let function = spec.function_to_allow().and_then(|arn| FunctionArn::parse(arn).ok());
            if let Some(function) = function.filter(|function| self.is_own(function)) {
                let permission = keys::permission(&function);
                if !seen.iter().any(|it| it.key == permission) {
                    seen.extend(self.statement(&function, permission.clone(), &api_key, None));
                }
                spec.permission = Some(permission);
            }
            let mut spec = Spec::Integration(spec);
            spec.refer_by_key(&ours);
            ours.insert(read.id.clone(), key.clone());
            seen.push(Observed { key, spec, ..read });
        }
        for shown in routes {
            let Some(route_key) = &shown.route_key else { continue };
            seen.extend(route::read(shown, api_key.clone(), keys::route(route_key), &ours));
        }
        let group = |arn: &str| group_key.clone().map_or_else(|| Ref::Id(arn.to_string()), Ref::Key);
        seen.extend(self.own_stages(classification).map(|shown| self.own_stage(shown, &api_key, group)));
        seen.extend(domain::everything(&self.domains, (self.root_id, &self.own_names(classification)), &api_key));
        seen
    }

    /// The stages with the tags of their owner. In an adoption, these are those that the classification chooses.
    fn own_stages(&self, classification: Option<&Classification>) -> impl Iterator<Item = &types::Stage> {
        self.stages.iter().filter(move |shown| {
            let is_in = |it: &Classification| shown.stage_name().is_some_and(|name| it.slots.contains_key(name));
            classification.is_none_or(is_in)
                && self.owner.accepts(shown.tags.as_ref(), None)
                && shown.api_gateway_managed != Some(true)
        })
    }

    fn own_names(&self, classification: Option<&Classification>) -> Vec<&str> {
        self.own_stages(classification).filter_map(types::Stage::stage_name).collect()
    }

    /// A stage that is not in state.
    fn own_stage(&self, shown: &types::Stage, api_key: &Key, log_group: impl Fn(&str) -> Ref) -> Observed {
        let key = keys::stage(shown.stage_name().unwrap_or_default());
        self.read_stage(shown, (api_key.clone(), key), None, log_group)
    }

    fn read_stage(
        &self,
        shown: &types::Stage,
        keys: (Key, Key),
        applied: Option<&Stage>,
        log_group: impl Fn(&str) -> Ref,
    ) -> Observed {
        let route_keys = self.routes.iter().filter_map(|route| route.route_key.as_deref()).collect();
        stage::read(shown, keys, applied, &route_keys, log_group)
    }

    /// The VPC links with the tags of the gateway.
    fn own_links(&self, api_key: &Key) -> impl Iterator<Item = Observed> {
        self.links.iter().filter_map(|shown| vpc_link::own(shown, self.owner.resource, api_key))
    }

    fn api(&self, known: &[Entry]) -> (Key, Vec<Observed>) {
        let applied = known.iter().find_map(|entry| Api::of(&entry.applied).map(|applied| (&entry.key, applied)));
        let key = applied.map_or_else(keys::api, |(key, _)| key.clone());
        let mut observed = api::read(&self.api, self.root_id, key.clone(), applied.map(|(_, applied)| applied));
        let entry = known.iter().find(|entry| entry.key == key);
        self.unmanaged(known).learn(&mut observed.learned, entry.map(|entry| &entry.learned));
        (key, vec![observed])
    }

    /// Reads an authorizer with its statement. `None` if no configuration can express it.
    fn authorizer(&self, shown: &types::Authorizer, api_key: &Key) -> Option<OwnAuthorizer> {
        let spec = authorizer_spec(shown, api_key.clone(), None)?;
        let key = keys::authorizer_in_aws(shown.name()?, &spec);
        let function = function_to_allow(&spec).filter(|function| self.is_own(function));
        let needs_statement = function.is_some();
        let id = shown.authorizer_id.clone()?;
        let authorizer = Observed { id, key: key.clone(), spec, learned: Learned::new() };
        let statement = function.and_then(|function| {
            let permission = keys::authorizer_permission(&key, &function);
            self.statement(&function, permission, api_key, Some((&authorizer.id, &key)))
        });
        Some(OwnAuthorizer { authorizer, needs_statement, statement })
    }

    fn statement(
        &self,
        function: &FunctionArn,
        key: Key,
        api_key: &Key,
        authorizer: Option<(&str, &Key)>,
    ) -> Option<Observed> {
        let place = FunctionPolicy::of_function(function);
        let (id, caller) = match authorizer {
            Some((id, key)) => (CallerId::Authorizer(id), Caller::Authorizer(key.clone())),
            None => (CallerId::Routes, Caller::Routes),
        };
        let id = statement_id(self.root_id, &place, id);
        let spec = place.permission(api_key.clone(), caller);
        permission::read(self.scope, self.policies.get(&place)?, self.root_id, &id, key, &spec)
    }

    /// Whether a statement names a deleted authorizer.
    fn is_of_deleted_authorizer(&self, permission: &LambdaPermission, known: &[Entry], statement_id: &str) -> bool {
        let Caller::Authorizer(key) = &permission.caller else { return false };
        let authorizer = known.iter().find(|entry| entry.key == *key).map(|entry| entry.id.as_str());
        let exists = |id: &str| self.authorizers.iter().any(|it| it.authorizer_id.as_deref() == Some(id));
        !authorizer.is_some_and(|id| exists(id) && permission::authorizer_in(self.root_id, statement_id) == Some(id))
    }

    /// Whether a function is in the account of the gateway. Policies of functions in other accounts are not read.
    fn is_own(&self, function: &FunctionArn) -> bool {
        self.scope.account.as_ref().is_none_or(|account| *account == function.account)
    }
}

/// The names of the stages in state.
fn stage_names(known: &[Entry]) -> Vec<&str> {
    known.iter().filter(|entry| matches!(entry.applied, Spec::Stage(_))).map(|entry| entry.id.as_str()).collect()
}

/// The known objects that still exist after the deletion of the API.
fn outliving(
    scope: &Scope,
    root_id: &str,
    known: &[Entry],
    logs: &Logs,
    policies: &Policies,
    domains: &[domain::FoundDomain],
) -> Vec<Observed> {
    let stages = stage_names(known);
    let is_api = |entry: &&Entry| matches!(entry.applied, Spec::Api(_));
    let api_key = known.iter().find(is_api).map_or_else(keys::api, |entry| entry.key.clone());
    let read = |entry| {
        logs.read(entry, &api_key)
            .or_else(|| read_permission(scope, policies, root_id, entry))
            .or_else(|| domain::read(domains, entry, (root_id, &stages), &api_key))
    };
    known.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests;
