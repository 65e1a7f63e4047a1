//! The policies of the functions that a gateway calls.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;

use super::super::landscape::{authorizer_spec, function_to_allow_of};
use super::View;
use crate::aws::Session;
use crate::aws::lambda::permission;
use crate::aws::lambda::permission::{FunctionPolicy, Statement};
use crate::cloud::{Failure, Observed};
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, Entry, FunctionArn, Key, Scope, Spec};

/// The statements by policy.
pub(super) type Policies = BTreeMap<FunctionPolicy, Vec<Statement>>;

impl View<'_> {
    /// The policies of the own functions that integrations, authorizers and subscriptions call.
    pub(super) async fn policies_of_functions(&self, session: &Session) -> Result<Policies, Failure> {
        let api_key = keys::api();
        let of_integrations = self.integrations.iter().filter_map(function_to_allow_of);
        let of_authorizers = self
            .authorizers
            .iter()
            .filter_map(|shown| function_to_allow(&authorizer_spec(shown, api_key.clone(), None)?));
        let functions = of_integrations.chain(of_authorizers).chain(self.logs.functions());
        let own = functions.filter(|function| self.is_own(function));
        policies(session, own.map(|function| FunctionPolicy::of_function(&function)).collect()).await
    }
}

/// Finds the permissions in state that are missing in the policies of their functions. One call for each function.
pub(crate) async fn lost_parts(session: &Session, root_id: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure> {
    let policies = policies(session, places_of(parts)).await?;
    let is_lost = |entry: &&Entry| read_permission(&session.scope, &policies, root_id, entry).is_none();
    Ok(parts.iter().filter(is_lost).map(|entry| entry.key.clone()).collect())
}

pub(super) fn read_permission(scope: &Scope, policies: &Policies, root_id: &str, entry: &Entry) -> Option<Observed> {
    let Spec::LambdaPermission(applied) = &entry.applied else { return None };
    let statements = policies.get(&FunctionPolicy::known(applied)?)?;
    permission::read(scope, statements, root_id, &entry.id, entry.key.clone(), applied)
}

pub(super) fn places_of(known: &[Entry]) -> BTreeSet<FunctionPolicy> {
    let place = |entry: &Entry| match &entry.applied {
        Spec::LambdaPermission(applied) => FunctionPolicy::known(applied),
        _ => None,
    };
    known.iter().filter_map(place).collect()
}

pub(super) async fn policies(session: &Session, places: BTreeSet<FunctionPolicy>) -> Result<Policies, Failure> {
    let read = async |place: FunctionPolicy| {
        let policy = permission::policy(session, &place).await?;
        Ok((place, policy))
    };
    join_all(places.into_iter().map(read)).await.into_iter().collect()
}

/// The function of an authorizer that API Gateway needs a permission to call. `None` if it assumes a role instead, and
/// for a JWT authorizer.
pub(super) fn function_to_allow(spec: &Spec) -> Option<FunctionArn> {
    let spec = Authorizer::of(spec)?;
    if spec.credentials_arn.known()?.is_some() {
        return None;
    }
    FunctionArn::parse_invoke_uri(spec.authorizer_uri.known()?)
}
