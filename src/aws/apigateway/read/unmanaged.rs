//! The unmanaged routes and authorizers of an API.

use aws_sdk_apigatewayv2::types;

use super::View;
use crate::aws::apigateway::landscape::{authorizer_spec, function_to_allow_of, integration_spec};
use crate::aws::apigateway::route;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, UnmanagedAuthorizer, UnmanagedInApi, UnmanagedRoute};

impl View<'_> {
    /// The routes and authorizers that are not in state: in an import, all.
    pub(super) fn unmanaged(&self, known: &[Entry]) -> UnmanagedInApi {
        let is_known = |id: Option<&str>| known.iter().any(|entry| Some(entry.id.as_str()) == id);
        let routes = self.routes.iter().filter(|shown| !is_known(shown.route_id.as_deref()));
        let authorizers = self.authorizers.iter().filter(|shown| !is_known(shown.authorizer_id.as_deref()));
        UnmanagedInApi {
            routes: routes.filter_map(|shown| self.unmanaged_route(shown)).collect(),
            authorizers: authorizers.filter_map(unmanaged_authorizer).collect(),
        }
    }

    fn unmanaged_route(&self, shown: &types::Route) -> Option<UnmanagedRoute> {
        let id = route::integration_id(shown);
        let integration = self.integrations.iter().find(|it| it.integration_id.as_deref() == id);
        let function = integration.and_then(function_to_allow_of);
        Some(UnmanagedRoute {
            route_key: shown.route_key.clone()?,
            id: shown.route_id.clone()?,
            integration: id.map(str::to_string),
            function: function.map(|function| function.to_string()),
            content: integration.and_then(|it| integration_spec(it).ok()),
            authorization: route::authorization(shown),
        })
    }
}

fn unmanaged_authorizer(shown: &types::Authorizer) -> Option<UnmanagedAuthorizer> {
    let (name, id) = (shown.name.clone()?, shown.authorizer_id.clone()?);
    Some(UnmanagedAuthorizer { name, id, content: authorizer_spec(shown, keys::api(), None) })
}
