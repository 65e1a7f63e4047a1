//! The objects in an API as AWS returns them, for their classification.

use std::collections::HashMap;

use aws_sdk_apigatewayv2::types::{Api, Authorizer, AuthorizerType, Integration, IntegrationType, Route, Stage};

use super::{authorizer, integration, jwt_authorizer, route};
use crate::model::keys::gateway as keys;
use crate::model::{
    ApiLandscape, FoundAuthorizer, FoundIntegration, FoundRoute, FoundStage, FoundTags, FunctionArn, Key, Spec,
};

/// The landscape.
pub(super) fn of(
    (api_id, api, stages): (&str, &Api, &[Stage]),
    routes: &[Route],
    integrations: &[Integration],
    authorizers: &[Authorizer],
) -> ApiLandscape {
    ApiLandscape {
        api_id: api_id.to_string(),
        tags: all(api.tags.as_ref()),
        protocol: api.protocol_type.as_ref().map_or("HTTP", |protocol| protocol.as_str()).to_string(),
        stages: stages.iter().map(found_stage).collect(),
        routes: routes.iter().filter_map(found_route).collect(),
        integrations: integrations.iter().filter_map(found_integration).collect(),
        authorizers: authorizers.iter().filter_map(found_authorizer).collect(),
    }
}

fn found_stage(shown: &Stage) -> FoundStage {
    FoundStage {
        name: shown.stage_name.clone().unwrap_or_default(),
        tags: all(shown.tags.as_ref()),
        is_managed_by_aws: shown.api_gateway_managed == Some(true),
        auto_deploy: shown.auto_deploy == Some(true),
    }
}

fn found_route(shown: &Route) -> Option<FoundRoute> {
    Some(FoundRoute {
        id: shown.route_id.clone()?,
        route_key: shown.route_key.clone().unwrap_or_default(),
        is_managed_by_aws: shown.api_gateway_managed == Some(true),
        integration: route::integration_id(shown).map(str::to_string),
        authorization: route::authorization(shown),
    })
}

fn found_integration(shown: &Integration) -> Option<FoundIntegration> {
    Some(FoundIntegration { id: shown.integration_id.clone()?, inexpressible: integration_spec(shown).err() })
}

/// The spec of an integration, or why no inputs express it.
pub(super) fn integration_spec(shown: &Integration) -> Result<crate::model::Integration, String> {
    if shown.api_gateway_managed == Some(true) {
        return Err("AWS manages it, because it is part of a quick create".to_string());
    }
    let read = integration::read(shown, keys::api(), Key::new(""), None);
    match read.as_ref().and_then(|read| crate::model::Integration::of(&read.spec)) {
        Some(spec) => spec.inexpressible().map_or_else(|| Ok(spec.clone()), Err),
        None => Err(unread(shown)),
    }
}

/// Why no spec expresses an integration.
fn unread(shown: &Integration) -> String {
    match &shown.integration_type {
        None => "it has no type".to_string(),
        Some(IntegrationType::AwsProxy | IntegrationType::HttpProxy) if shown.integration_uri.is_none() => {
            "it has no URI".to_string()
        }
        Some(IntegrationType::HttpProxy) => {
            let action = shown.integration_subtype().unwrap_or_default();
            format!("no input expresses the action {action} of an HTTP endpoint")
        }
        Some(kind) => format!("no input expresses its type {}", kind.as_str()),
    }
}

fn found_authorizer(shown: &Authorizer) -> Option<FoundAuthorizer> {
    let inexpressible = authorizer_spec(shown, keys::api(), None).is_none().then(|| unread_authorizer(shown));
    Some(FoundAuthorizer { id: shown.authorizer_id.clone()?, inexpressible })
}

/// Why no spec expresses an authorizer.
fn unread_authorizer(shown: &Authorizer) -> String {
    let has_issuer = shown.jwt_configuration().is_some_and(|it| it.issuer().is_some());
    match &shown.authorizer_type {
        Some(AuthorizerType::Jwt) if !has_issuer => "it has no issuer".to_string(),
        Some(AuthorizerType::Jwt) => "it has no identity source".to_string(),
        Some(AuthorizerType::Request) => "it has no URI".to_string(),
        Some(kind) => format!("no input expresses its type {}", kind.as_str()),
        None => "it has no type".to_string(),
    }
}

/// The spec of an authorizer of either type. `None` if no spec expresses it.
pub(super) fn authorizer_spec(shown: &Authorizer, api: Key, applied: Option<&Spec>) -> Option<Spec> {
    let request = authorizer::read(shown, api.clone(), applied.and_then(crate::model::Authorizer::of));
    request.map(Spec::Authorizer).or_else(|| jwt_authorizer::read(shown, api).map(Spec::JwtAuthorizer))
}

/// The function that an integration in AWS calls by a Lambda permission.
pub(super) fn function_to_allow_of(shown: &Integration) -> Option<FunctionArn> {
    let read = integration::read(shown, keys::api(), Key::new(""), None)?;
    FunctionArn::parse(crate::model::Integration::of(&read.spec)?.function_to_allow()?).ok()
}

fn all(tags: Option<&HashMap<String, String>>) -> FoundTags {
    tags.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
}
