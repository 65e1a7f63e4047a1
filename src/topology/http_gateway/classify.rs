//! Which objects of an API that something else built can be adopted.
//!
//! A route can be adopted if the inputs of the resource can express it. An integration or an authorizer is adopted with
//! a route that uses it.

use std::collections::BTreeSet;

use crate::model::keys::gateway as keys;
use crate::model::{
    ApiLandscape, AuthorizationType, Classification, FoundRoute, RESOURCE, RouteKey, Stage, TopologyKind,
};

/// Why an object that another one names cannot be adopted.
const MISSING: &str = "it does not exist";

/// Decides. `wanted` is the stage that the import ID or the state names.
pub(super) fn classify(api: &ApiLandscape, wanted: Option<&str>) -> Classification {
    let mut result = Classification::default();
    if let Some(reason) = objection_to_api(api, wanted) {
        result.unmanaged.insert(api.api_id.clone(), reason);
        return result;
    }
    result.slots.insert(api.api_id.clone(), keys::API.to_string());
    let managed = api.stage(wanted).map(|stage| stage.name.as_str());
    for stage in &api.stages {
        match managed == Some(&stage.name) {
            true => drop(result.slots.insert(stage.name.clone(), keys::STAGE.to_string())),
            false => drop(result.unmanaged.insert(stage.name.clone(), further_stage(stage.auto_deploy))),
        }
    }
    let mut used = BTreeSet::new();
    for route in &api.routes {
        if let Some(reason) = objection_to_route(route, api) {
            let reason = format!("it is the route {:?}, and {reason}", route.route_key);
            result.unmanaged.insert(route.id.clone(), reason);
        } else {
            used.extend(route.integration.as_deref().into_iter().chain(route.authorizer()));
            result.slots.insert(route.id.clone(), keys::route(&route.route_key).slot);
        }
    }
    for integration in api.integrations.iter().filter(|it| !used.contains(it.id.as_str())) {
        let reason = integration.inexpressible.as_deref();
        let reason = reason.unwrap_or("no route that can be adopted uses this integration");
        result.unmanaged.insert(integration.id.clone(), reason.to_string());
    }
    // A read also returns an unused authorizer, if the provider created it.
    for authorizer in api.authorizers.iter().filter(|it| !used.contains(it.id.as_str())) {
        let reason = authorizer.inexpressible.as_deref();
        let reason = reason.unwrap_or("no route that can be adopted uses this authorizer");
        result.unmanaged.insert(authorizer.id.clone(), reason.to_string());
    }
    result
}

/// Why the API cannot be adopted, if there is a reason. An API without a stage that this resource could manage cannot,
/// because an adoption creates no stage.
fn objection_to_api(api: &ApiLandscape, wanted: Option<&str>) -> Option<String> {
    if api.protocol != "HTTP" {
        return Some(format!("its protocol is {}", api.protocol));
    }
    let kind = TopologyKind::HttpGateway.name();
    // An adoption whose state was not saved has tagged the API as a gateway.
    let is_of_gateway = |owner: &&String| owner.starts_with(&format!("{kind}/"));
    if let Some(owner) = api.tags.get(RESOURCE).filter(|owner| !is_of_gateway(owner)) {
        return Some(format!("its tag fgw:resource is {owner:?}"));
    }
    let Some(stage) = api.stage(wanted) else {
        let ids: Vec<String> = api.stages.iter().map(|stage| format!("{}/{}", api.api_id, stage.name)).collect();
        return Some(match ids.is_empty() {
            true => "it has no stage".to_string(),
            false => format!(
                "it has {} stages, none of which is {}; the import IDs {} choose one of them",
                ids.len(),
                Stage::DEFAULT,
                ids.join(" and ")
            ),
        });
    };
    let (name, is_of_api) = (&stage.name, |owner: &String| *owner == format!("{kind}/{}", api.api_id));
    if stage.is_managed_by_aws {
        Some(format!("AWS manages its stage {name}, because it is part of a quick create"))
    } else if !stage.auto_deploy {
        Some(format!("its stage {name} does not deploy changes automatically"))
    } else if !stage.tags.get(RESOURCE).is_none_or(is_of_api) {
        Some(format!("its stage {name} has the tag fgw:resource of another resource"))
    } else {
        None
    }
}

/// Why a stage besides the managed one stays unmanaged.
fn further_stage(is_deployed: bool) -> String {
    let reason = "it is a further stage, and a gateway has one";
    match is_deployed {
        true => format!("{reason}; AWS deploys changes of the gateway to it too"),
        false => reason.to_string(),
    }
}

/// Why a route cannot be adopted, if there is a reason.
fn objection_to_route(route: &FoundRoute, api: &ApiLandscape) -> Option<String> {
    if route.is_managed_by_aws {
        return Some("AWS manages it, because it is part of a quick create".to_string());
    }
    if let Err((problem, _)) = RouteKey::parse(&route.route_key) {
        return Some(format!("this resource does not accept its key: {}", problem.trim_end_matches('.')));
    }
    let Some(id) = &route.integration else { return Some("it has no integration".to_string()) };
    let objection = match api.integrations.iter().find(|it| it.id == *id) {
        Some(integration) => integration.inexpressible.as_deref(),
        None => Some(MISSING),
    };
    if let Some(objection) = objection {
        return Some(format!("its integration {id} cannot be adopted: {objection}"));
    }
    match (&route.authorization.kind, route.authorizer()) {
        (AuthorizationType::None | AuthorizationType::AwsIam, _) => None,
        (AuthorizationType::Custom | AuthorizationType::Jwt, Some(id)) => {
            let objection = match api.authorizers.iter().find(|it| it.id == id) {
                Some(authorizer) => authorizer.inexpressible.as_deref(),
                None => Some(MISSING),
            };
            objection.map(|objection| format!("its authorizer {id} cannot be adopted: {objection}"))
        }
        (kind, _) => Some(format!("it uses the authorization type {} without an authorizer", kind.name())),
    }
}

#[cfg(test)]
mod tests;
