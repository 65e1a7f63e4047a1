//! What can be said about a configuration without AWS. What is unknown is no problem.

use super::config::{GatewayConfig, RouteConfig};
use super::function_arn::FunctionArn;
use super::{access_log, authorizer, cors, tags};
use crate::objects::route_key::{RouteKey, collisions};
use crate::plugin::{AttributePath, Input, Problem};

/// AWS's default quota of routes, which our users are held to: an API beyond it fails half made.
const MOST_ROUTES: usize = 300;

/// AWS's fixed quota of authorizers.
const MOST_AUTHORIZERS: usize = 10;

/// All problems at once. Rules for one value alone stand with their attribute, as a check.
pub(super) fn validate(config: &GatewayConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_api(config, &mut problems);
    check_routes(config, &mut problems);
    check_authorizers(config, &mut problems);
    if let Input::Known(Some(configuration)) = &config.cors_configuration {
        cors::check(configuration, &AttributePath::new("cors_configuration"), &mut problems);
    }
    access_log::check(config, &mut problems);
    let log_tags = config.access_log_logservice_group_tags.known().and_then(Option::as_ref);
    for (name, tags) in [
        ("api_tags", config.api_tags.known()),
        ("stage_tags", config.stage_tags.known()),
        ("access_log_logservice_group_tags", log_tags),
    ] {
        tags::check(tags, &AttributePath::new(name), &mut problems);
    }
    check_not_supported(config, &mut problems);
    problems
}

fn check_api(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    if let Input::Known(name) = &config.name {
        check_length(name, 1, 128, AttributePath::new("name"), problems);
    }
    if let Input::Known(Some(description)) = &config.description {
        check_length(description, 0, 1024, AttributePath::new("description"), problems);
    }
    if let Input::Known(Some(version)) = &config.api_version {
        check_length(version, 0, 64, AttributePath::new("api_version"), problems);
    }
}

fn check_length(text: &str, shortest: usize, longest: usize, path: AttributePath, problems: &mut Vec<Problem>) {
    let length = text.chars().count();
    if !(shortest..=longest).contains(&length) {
        let message = format!("It has {length} characters; AWS takes {shortest} to {longest}.");
        problems.push(Problem::new(path, message, if length > longest { "Shorten it." } else { "Give it a value." }));
    }
}

fn check_routes(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    let Input::Known(routes) = &config.route_config else { return };
    let path = AttributePath::new("route_config");
    if routes.is_empty() {
        let message = "There are no routes, and AWS does not deploy an API without one.";
        problems.push(Problem::new(path.clone(), message, "Add at least one route."));
    }
    if routes.len() > MOST_ROUTES {
        let message = format!("There are {} routes; an API has at most {MOST_ROUTES}.", routes.len());
        problems.push(Problem::new(path.clone(), message, "Join routes by variables, or split the gateway."));
    }
    for (key, route) in routes {
        let path = path.key(key);
        if let Err((message, hint)) = RouteKey::parse(key) {
            problems.push(Problem::new(path.clone(), message, hint));
        }
        if let Input::Known(route) = route {
            check_route(config, route, &path, problems);
        }
    }
    for collision in collisions(routes.keys().map(String::as_str)) {
        let hint =
            format!("Call the variable the same in both, or remove {:?} or {:?}.", collision.key, collision.other);
        problems.push(Problem::new(path.key(collision.key), collision.message, hint));
    }
}

fn check_route(config: &GatewayConfig, route: &RouteConfig, path: &AttributePath, problems: &mut Vec<Problem>) {
    if let Input::Known(arn) = &route.faas_function_arn
        && let Err(message) = FunctionArn::parse(arn)
    {
        let hint = "Give an ARN such as arn:aws:lambda:eu-central-1:123456789012:function:name or \
                    ...:function:name:alias.";
        problems.push(Problem::new(path.attribute("faas_function_arn"), message, hint));
    }
    if let Input::Known(Some(description)) = &route.description {
        check_length(description, 0, 1024, path.attribute("description"), problems);
    }
    if let (Input::Known(Some(name)), Input::Known(authorizers)) = (&route.authorizer_name, &config.faas_authorizers)
        && !authorizers.contains_key(name)
    {
        let names: Vec<String> = authorizers.keys().map(|it| format!("{it:?}")).collect();
        let known =
            if names.is_empty() { "there are none".to_string() } else { format!("there are {}", names.join(", ")) };
        problems.push(Problem::new(
            path.attribute("authorizer_name"),
            format!("{name:?} is not a key of faas_authorizers; {known}."),
            "Add it there, use another one, or leave authorizer_name out.",
        ));
    }
}

fn check_authorizers(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    let Input::Known(authorizers) = &config.faas_authorizers else { return };
    let path = AttributePath::new("faas_authorizers");
    if authorizers.len() > MOST_AUTHORIZERS {
        let message = format!("There are {} authorizers; an API has at most {MOST_AUTHORIZERS}.", authorizers.len());
        problems.push(Problem::new(path.clone(), message, "Share authorizers between routes."));
    }
    for (name, entry) in authorizers {
        if let Input::Known(entry) = entry {
            authorizer::check(name, entry, &path.key(name), problems);
        }
    }
}

/// Inputs of the specification that a later version carries out. They are refused, never ignored.
fn check_not_supported(config: &GatewayConfig, problems: &mut Vec<Problem>) {
    let is_set = |input: &Input<Option<String>>| matches!(input, Input::Known(Some(_)));
    let set = [
        ("access_log_logservice_group_kms_key_id", is_set(&config.access_log_logservice_group_kms_key_id)),
        (
            "access_log_logservice_group_subscription_destination_arn",
            is_set(&config.access_log_logservice_group_subscription_destination_arn),
        ),
        (
            "access_log_logservice_group_subscription_distribution",
            is_set(&config.access_log_logservice_group_subscription_distribution),
        ),
        (
            "access_log_logservice_group_subscription_filter_pattern",
            config.access_log_logservice_group_subscription_filter_pattern.known().is_some_and(|it| !it.is_empty()),
        ),
        (
            "access_log_logservice_group_subscription_role_arn",
            is_set(&config.access_log_logservice_group_subscription_role_arn),
        ),
        ("certificate_domain", is_set(&config.certificate_domain)),
        ("domain_name", is_set(&config.domain_name)),
        ("hosted_zone_id", is_set(&config.hosted_zone_id)),
        ("create_dns_entry", config.create_dns_entry == Input::Known(true)),
    ];
    for (name, _) in set.into_iter().filter(|(_, set)| *set) {
        let message = format!("{name} is not supported yet in this version.");
        problems.push(Problem::new(AttributePath::new(name), message, "Leave it out."));
    }
}
