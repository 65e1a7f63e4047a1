//! The stage: its name, its variables, and the change to another name.

use super::config::GatewayConfig;
use super::integrations::IntegrationConfig;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Stage};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// The quota of stage variables (developer guide of API Gateway).
const MOST_VARIABLES: usize = 100;

/// The parameter that sets the path of the request to an integration.
const OVERWRITE_PATH: &str = "overwrite:path";

/// The URL of a stage.
pub(super) fn url(endpoint: Option<&str>, stage: &str) -> Option<String> {
    endpoint.map(|endpoint| match stage {
        Stage::DEFAULT => endpoint.to_string(),
        name => format!("{endpoint}/{name}"),
    })
}

/// The problems of stage variables (API reference of CreateStage).
pub(super) fn problems(config: &GatewayConfig) -> Vec<Problem> {
    let path = AttributePath::new("stage_variables");
    let Some(variables) = config.stage_variables.known() else { return Vec::new() };
    let mut problems = Vec::new();
    if variables.len() > MOST_VARIABLES {
        let message = format!("There are {} variables; at most {MOST_VARIABLES} are allowed.", variables.len());
        problems.push(Problem::new(path.clone(), message, "Remove some of them."));
    }
    for (name, value) in variables {
        if let Err(message) = check_name(name) {
            problems.push(Problem::new(path.key(name), message, "Use 1 to 64 letters, digits and _."));
        }
        if let Err(message) = value.known().map_or(Ok(()), |value| check_value(value)) {
            let hint = "Use 1 to 512 letters, digits, and the characters - . _ ~ : / ? # & = , only.";
            problems.push(Problem::new(path.key(name), message, hint));
        }
    }
    problems
}

fn check_name(name: &str) -> Result<(), String> {
    match name.chars().find(|it| !(it.is_ascii_alphanumeric() || *it == '_')) {
        Some(character) => Err(format!("The name {name:?} contains {character:?}.")),
        None => in_range("The name", name, 64),
    }
}

/// An empty value would delete the variable. Messages do not contain values, because they may be secret.
fn check_value(value: &str) -> Result<(), String> {
    match value.chars().find(|it| !(it.is_ascii_alphanumeric() || "-._~:/?#&=,".contains(*it))) {
        Some(character) => Err(format!("The value contains {character:?}.")),
        None => in_range("The value", value, 512),
    }
}

fn in_range(what: &str, text: &str, most: usize) -> Result<(), String> {
    match text.chars().count() {
        length if (1..=most).contains(&length) => Ok(()),
        length => Err(format!("{what} has {length} characters; 1 to {most} are allowed.")),
    }
}

/// The warnings about private integrations, which receive the name of the stage as the first part of the path
/// (developer guide of API Gateway).
pub(super) fn prefixed_paths(config: &GatewayConfig) -> Vec<Problem> {
    let Some(name) = config.stage_name.known().filter(|name| *name != Stage::DEFAULT) else { return Vec::new() };
    let routes = config.route_config.known().into_iter().flatten();
    let routes = routes.filter_map(|(key, route)| Some((key, &route.known()?.integration)));
    let is_prefixed = |integration: &IntegrationConfig| {
        let is_private =
            [&integration.vpc_link, &integration.vpc_link_id].map(|it| it.known().is_some_and(Option::is_some));
        let parameters = integration.request_parameters.known();
        is_private.contains(&true) && parameters.is_some_and(|all| !all.contains_key(OVERWRITE_PATH))
    };
    let warning = |(key, _): (&String, _)| {
        Problem::new(
            AttributePath::new("route_config").key(key),
            format!("The private integration receives /{name} before the path of each request."),
            format!("To remove it, set request_parameters = {{ {OVERWRITE_PATH:?} = \"$request.path\" }}."),
        )
    };
    routes.filter(|(_, integration)| is_prefixed(integration)).map(warning).collect()
}

/// The warning that the URL of the API changes.
pub(super) fn renamed(context: &Context<'_, GatewayConfig>) -> Option<Problem> {
    let wanted = context.config.stage_name.known()?;
    let is_old = |entry: &&Entry| Stage::of(&entry.applied).is_some_and(|stage| stage.name != *wanted);
    let is_new = |entry: &Entry| entry.key == keys::stage(wanted) && !entry.is_missing();
    let old = context.existing.current().find(is_old).filter(|old| !old.is_missing())?;
    if context.existing.present().any(is_new) {
        return None;
    }
    let endpoint = context.existing.at(keys::API).and_then(|api| api.learned.get("api_endpoint"));
    let url_of = |name: &str| url(Some(endpoint.map_or("<api_endpoint>", String::as_str)), name).unwrap_or_default();
    let mut message = format!(
        "The URL of the API changes from {} to {}. Requests to the old one are rejected after the apply.",
        url_of(&old.id),
        url_of(wanted)
    );
    if matches!(context.config.domain_name, Input::Known(Some(_))) {
        message += " The custom domain moves to the new stage without an interruption.";
    }
    let hint = "Tell the clients of the API's own endpoint, and change IAM policies that name the stage.";
    Some(Problem::new(AttributePath::new("stage_name"), message, hint))
}

#[cfg(test)]
mod tests;
