//! Which objects of an API the inputs of a gateway can express, and why not the others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_apigatewayv2::types::{Authorizer, Integration, ProtocolType, Route};

use super::{View, domain, function_of};
use crate::aws::apigateway::{authorizer, integration, route, stage};
use crate::aws::calls::ownership;
use crate::cloud::{Observed, Unmanaged};
use crate::model::keys::gateway as keys;
use crate::model::{Key, RouteKey, STACK, TopologyKind};

impl View<'_> {
    /// Why the API cannot be adopted, if there is a reason. An API without a stage that this resource could manage
    /// cannot, because an adoption creates no stage.
    pub(super) fn reason_against_api(&self) -> Option<String> {
        if let Some(protocol) = self.api.protocol_type.as_ref().filter(|protocol| **protocol != ProtocolType::Http) {
            return Some(format!("its protocol is {}", protocol.as_str()));
        }
        // An adoption whose state was not saved has tagged the API as a gateway.
        let is_of_gateway = |owner: &&String| owner.starts_with(&format!("{}/", TopologyKind::HttpGateway.name()));
        let owner = self.api.tags.as_ref().and_then(|tags| tags.get(ownership::RESOURCE));
        if let Some(owner) = owner.filter(|owner| !is_of_gateway(owner)) {
            return Some(format!("its tag fgw:resource is {owner:?}"));
        }
        let Some(stage) = &self.stage else { return Some("it has no stage $default".to_string()) };
        let reason = if stage.api_gateway_managed == Some(true) {
            "AWS manages its stage $default, because it is part of a quick create"
        } else if stage.auto_deploy != Some(true) {
            "its stage $default does not deploy changes automatically"
        } else if !self.owner.accepts(stage.tags.as_ref(), None) {
            "its stage $default has the tag fgw:resource of another resource"
        } else {
            return None;
        };
        Some(reason.to_string())
    }

    /// The routes that call a function and have a REQUEST authorizer or none. Other routes are unmanaged or were
    /// changed outside Terraform. No configuration can express them, so they are neither reported nor modified.
    pub(super) fn expressible_routes(&self) -> Vec<&Route> {
        let functions: BTreeSet<&str> = self
            .integrations
            .iter()
            .filter(|shown| integration::read(shown, keys::api(), Key::new(""), None).is_some())
            .filter(|shown| function_of(shown).is_some())
            .filter_map(|shown| shown.integration_id.as_deref())
            .collect();
        let authorizers: BTreeSet<&str> = self
            .authorizers
            .iter()
            .filter(|shown| authorizer::read(shown, keys::api(), None).is_some())
            .filter_map(|shown| shown.authorizer_id.as_deref())
            .collect();
        let is_expressible = |route: &&Route| {
            // AWS manages the routes of a quick create.
            route.api_gateway_managed != Some(true)
                && route::integration_id(route).is_some_and(|id| functions.contains(id))
                && route::protection(route).is_none_or(|id| authorizers.contains(id))
                && !(self.owner.or_none && self.reason_against_route(route).is_some())
        };
        self.routes.iter().filter(is_expressible).collect()
    }

    /// The names of the CloudFormation stacks that objects belong to, by their IDs: those of the API, its stage, its
    /// domain and its log group. AWS returns their tags with them. All other objects of an API have no tags.
    pub(super) fn stacks(&self) -> BTreeMap<String, String> {
        let of_stage = self.stage.as_ref().and_then(|stage| stage.tags.as_ref());
        let all = [(self.root_id, self.api.tags.as_ref()), (stage::DEFAULT, of_stage)];
        let all = all.into_iter().filter_map(|(id, tags)| Some((id, tags?)));
        let all = all.chain(domain::tags(&self.domains)).chain(self.logs.tags());
        all.filter_map(|(id, tags)| Some((id.to_string(), tags.get(STACK)?.clone()))).collect()
    }

    /// Why a route cannot be adopted, if there is a reason.
    fn reason_against_route(&self, shown: &Route) -> Option<String> {
        if shown.api_gateway_managed == Some(true) {
            return Some("AWS manages it, because it is part of a quick create".to_string());
        }
        if let Err((problem, _)) = RouteKey::parse(shown.route_key.as_deref().unwrap_or_default()) {
            return Some(format!("this resource does not accept its key: {}", problem.trim_end_matches('.')));
        }
        let Some(id) = route::integration_id(shown) else { return Some("it has no integration".to_string()) };
        let integration = self.integrations.iter().find(|it| it.integration_id.as_deref() == Some(id));
        let reason = match integration {
            Some(integration) => reason_against_integration(integration),
            None => Some("it does not exist".to_string()),
        };
        if let Some(reason) = reason {
            return Some(format!("its integration {id} cannot be adopted: {reason}"));
        }
        let protection = route::protection(shown)?;
        let is_it = |it: &&Authorizer| it.authorizer_id.as_deref() == Some(protection);
        match self.authorizers.iter().find(is_it) {
            Some(shown) if authorizer::read(shown, keys::api(), None).is_some() => None,
            Some(_) => Some(format!("its authorizer {protection} is not a request authorizer")),
            None => Some(format!("it uses the authorization type {protection}")),
        }
    }

    /// The objects in the API that are not among `seen`, each with the reason, sorted by ID.
    pub(super) fn left_out(&self, seen: &[Observed], other_stages: Vec<String>) -> Vec<Unmanaged> {
        let is_seen = |id: &str| seen.iter().any(|it| it.id == id);
        let routes = self.routes.iter().filter_map(|shown| {
            let reason = self.reason_against_route(shown)?;
            let name = shown.route_key.clone().unwrap_or_default();
            Some((shown.route_id.clone()?, format!("it is the route {name:?}, and {reason}")))
        });
        let integrations = self.integrations.iter().filter_map(|shown| {
            let reason = reason_against_integration(shown)
                .unwrap_or_else(|| "no route that can be adopted uses this integration".to_string());
            Some((shown.integration_id.clone()?, reason))
        });
        let authorizers = self.authorizers.iter().filter_map(|shown| {
            let is_request = authorizer::read(shown, keys::api(), None).is_some();
            let reason = match is_request {
                true => "no route that can be adopted uses this authorizer",
                false => "it is not a request authorizer",
            };
            Some((shown.authorizer_id.clone()?, reason.to_string()))
        });
        let others = other_stages.into_iter().map(|name| (name, "a gateway has only the stage $default".to_string()));
        let all = routes.chain(integrations).chain(authorizers).chain(others);
        let left = all.filter(|(id, _)| !is_seen(id));
        let mut left: Vec<Unmanaged> =
            left.map(|(id, reason)| Unmanaged { id, slot: None, is_tagged: false, reason }).collect();
        left.sort();
        left
    }
}

/// Why an integration cannot be adopted, if there is a reason.
pub(super) fn reason_against_integration(shown: &Integration) -> Option<String> {
    let is_empty = |map: Option<&HashMap<String, String>>| map.is_none_or(|it| it.is_empty());
    let reason = if integration::read(shown, keys::api(), Key::new(""), None).is_none() || function_of(shown).is_none()
    {
        "it does not call a Lambda function"
    } else if shown.api_gateway_managed == Some(true) {
        "AWS manages it, because it is part of a quick create"
    } else if shown.credentials_arn.as_deref().is_some_and(|role| !role.is_empty()) {
        "it calls the function with a role"
    } else if !is_empty(shown.request_parameters.as_ref())
        || shown.response_parameters.as_ref().is_some_and(|all| !all.is_empty())
    {
        "it maps parameters"
    } else {
        return None;
    };
    Some(reason.to_string())
}

#[cfg(test)]
mod tests;
