//! The objects of an API that AWS lists by its ID alone.

use std::collections::BTreeSet;

use aws_sdk_apigatewayv2::types::{Api, Authorizer, Integration, Route, Stage, VpcLink};

use super::View;
use crate::aws::Session;
use crate::aws::apigateway::landscape::{authorizer_spec, integration_spec};
use crate::aws::apigateway::{api, authorizer, integration, landscape, route, stage, vpc_link};
use crate::aws::calls::ownership;
use crate::cloud::{Failure, RootState};
use crate::model::keys::gateway as keys;
use crate::model::{ApiLandscape, AuthorizationType, Entry, Spec};

/// An API, its routes, integrations, authorizers and stages, and the VPC links of the account if state contains one.
pub(super) struct Listed {
    pub(super) api: Api,
    pub(super) routes: Vec<Route>,
    pub(super) integrations: Vec<Integration>,
    pub(super) authorizers: Vec<Authorizer>,
    pub(super) stages: Vec<Stage>,
    pub(super) links: Vec<VpcLink>,
}

impl Listed {
    /// Lists them. `None` if the API does not exist.
    pub(super) async fn of(session: &Session, root_id: &str, known: &[Entry]) -> Result<Option<Listed>, Failure> {
        let (api, routes, integrations, authorizers, stages, links) = tokio::join!(
            api::get(session, root_id),
            route::list(session, root_id),
            integration::list(session, root_id),
            authorizer::list_if_supported(session, root_id),
            stage::list(session, root_id),
            vpc_link::known(session, known),
        );
        let Some(api) = api? else { return Ok(None) };
        let routes = routes?;
        let authorizers = match authorizers? {
            Ok(authorizers) => authorizers,
            Err(failure) if uses_authorizers(known, &routes) => return Err(failure),
            Err(failure) => {
                tracing::warn!(
                    "nothing in {root_id} uses an authorizer, so this failure to list them has no effect: {failure}"
                );
                Vec::new()
            }
        };
        let (integrations, stages, links) = (integrations?, stages?, links?);
        Ok(Some(Listed { api, routes, integrations, authorizers, stages, links }))
    }

    /// The value of the tag `fgw:state`.
    pub(super) async fn root_state(&self, session: &Session, root_id: &str) -> Result<Option<RootState>, Failure> {
        let tag = self.api.tags.as_ref().and_then(|tags| tags.get(ownership::STATE));
        match tag.and_then(|state| ownership::state_in(state)) {
            state @ (Some(RootState::Ready) | None) => Ok(state),
            // The answer may be older than the tag, and would cause a warning about an incomplete creation, so the tag
            // is read again.
            Some(_) => api::state(session, root_id).await,
        }
    }

    pub(super) fn landscape(&self, root_id: &str) -> ApiLandscape {
        let root = (root_id, &self.api, &self.stages[..]);
        landscape::of(root, &self.routes, &self.integrations, &self.authorizers)
    }
}

/// Whether state contains an authorizer, or a route uses one.
fn uses_authorizers(known: &[Entry], routes: &[Route]) -> bool {
    known.iter().any(|entry| matches!(entry.applied, Spec::Authorizer(_) | Spec::JwtAuthorizer(_)))
        || routes.iter().any(|route| route.authorizer_id.is_some())
}

impl View<'_> {
    /// The routes with an integration and an authorization that this provider can set. Other routes are unmanaged or
    /// were changed outside Terraform. No spec can express them, so they are neither reported nor modified.
    pub(super) fn expressible_routes(&self) -> Vec<&Route> {
        let integrations: BTreeSet<&str> = self
            .integrations
            .iter()
            .filter(|shown| integration_spec(shown).is_ok())
            .filter_map(|shown| shown.integration_id.as_deref())
            .collect();
        let authorizers: BTreeSet<&str> = self
            .authorizers
            .iter()
            .filter(|shown| authorizer_spec(shown, keys::api(), None).is_some())
            .filter_map(|shown| shown.authorizer_id.as_deref())
            .collect();
        let is_expressible = |route: &&Route| {
            // AWS manages the routes of a quick create.
            route.api_gateway_managed != Some(true)
                && route::integration_id(route).is_some_and(|id| integrations.contains(id))
                && match route::authorization(route).kind {
                    AuthorizationType::None | AuthorizationType::AwsIam => true,
                    AuthorizationType::Custom | AuthorizationType::Jwt => {
                        route::authorizer_id(route).is_some_and(|id| authorizers.contains(id))
                    }
                    AuthorizationType::Other(_) => false,
                }
        };
        self.routes.iter().filter(is_expressible).collect()
    }
}
