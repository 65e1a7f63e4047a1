//! What unknown inputs can change: configurations whose blueprints together differ in every output that depends on
//! these inputs.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{FaasAuthorizer, GatewayConfig, RouteConfig};
use super::integrations::IntegrationConfig;
use crate::model::keys::gateway as keys;
use crate::model::{Api, RouteSettings, Scope, Stage};
use crate::plugin::{AttributePath, Encode, Input, Nested};
use crate::topology::Context;
use crate::topology::alternatives::{Change, combined, each};

/// The known values that unknown inputs of routes get.
#[derive(Clone)]
enum Values {
    /// Those of the last apply.
    Before,
    /// New ones, for each route another one, so that the routes of one integration need several.
    Distinct,
    /// New ones that all routes share, so that an integration changes as a whole.
    Equal,
    /// Those of another route.
    Of(Box<RouteConfig>),
}

/// The configurations with known values for the inputs that decide which objects exist. Empty if there are too many of
/// them.
pub(super) fn alternatives(context: &Context<'_, GatewayConfig>) -> Vec<GatewayConfig> {
    let config = context.config;
    let before =
        |name: fn(&GatewayConfig) -> &Input<Option<String>>| context.prior.and_then(|prior| name(prior).known());
    let function = format!("{}:subscription", function_prefix(context.scope));
    let mut choices = vec![of_routes(context), of_authorizers(context)];
    if !config.jwt_authorizers.is_known() {
        let prior = context.prior.and_then(|prior| prior.jwt_authorizers.known()).cloned().unwrap_or_default();
        choices.push(each(|config| &mut config.jwt_authorizers, with_further(&prior)));
        if !config.faas_authorizers.is_known() {
            choices.push(moved_authorizers(context));
        }
    }
    if !config.vpc_links.is_known() {
        let prior = context.prior.and_then(|prior| prior.vpc_links.known()).cloned().unwrap_or_default();
        choices.push(each(|config| &mut config.vpc_links, with_further(&prior)));
    }
    if !config.default_authorizer_name.is_known() {
        choices.push(default_authorizers());
    }
    if !config.domain_name.is_known() {
        let names = [None, Some("unknown.example.com".to_string())];
        let names = before(|config| &config.domain_name).cloned().into_iter().chain(names).map(Input::Known);
        choices.push(each(|config| &mut config.domain_name, names));
    }
    if !config.stage_name.is_known() {
        let before = context.prior.and_then(|prior| prior.stage_name.known()).cloned();
        let names = before.into_iter().chain([Stage::DEFAULT, "unknown"].map(str::to_string)).map(Input::Known);
        choices.push(each(|config| &mut config.stage_name, names));
    }
    if !config.ip_address_type.is_known() {
        let types = [Api::IPV4, Api::DUALSTACK].map(|it| Input::Known(it.to_string()));
        choices.push(each(|config| &mut config.ip_address_type, types));
    }
    if !config.domain_ip_address_type.is_known() {
        let types = [Api::IPV4, Api::DUALSTACK].map(|it| Input::Known(Some(it.to_string())));
        choices.push(each(|config| &mut config.domain_ip_address_type, types));
    }
    if !config.create_dns_entry.is_known() {
        choices.push(each(|config| &mut config.create_dns_entry, [false, true].map(Input::Known)));
    }
    if !config.access_log_logservice_group_name.is_known() {
        let before = before(|config| &config.access_log_logservice_group_name).cloned();
        let names = before.into_iter().chain([None, Some("unknown".to_string())]).map(Input::Known);
        choices.push(each(|config| &mut config.access_log_logservice_group_name, names));
    }
    if !config.access_log_destination_arn.is_known() {
        let Scope { partition, region, account, .. } = context.scope;
        let account = account.as_deref().unwrap_or("123456789012");
        let arn = format!("arn:{partition}:logs:{region}:{account}:log-group:unknown");
        let before = before(|config| &config.access_log_destination_arn).cloned();
        let arns = before.into_iter().chain([None, Some(arn)]).map(Input::Known);
        choices.push(each(|config| &mut config.access_log_destination_arn, arns));
    }
    if !config.access_log_logservice_group_subscription_destination_arn.is_known() {
        let arns = [None, Some(function)].map(Input::Known);
        choices.push(each(|config| &mut config.access_log_logservice_group_subscription_destination_arn, arns));
    }
    combined(config, &choices)
}

/// Whether an existing route may get the content of another one, and leave its integration.
pub(super) fn may_release(context: &Context<'_, GatewayConfig>) -> bool {
    let Input::Known(routes) = &context.config.route_config else { return true };
    let exists = |key: &str| context.existing.at(&keys::route(key).slot).is_some();
    let has_known_content = |route: &RouteConfig| route.integration.encode().is_wholly_known();
    routes.iter().any(|(key, route)| exists(key) && !route.known().is_some_and(has_known_content))
}

/// The beginning of the ARNs of functions that do not exist.
fn function_prefix(scope: &Scope) -> String {
    let Scope { partition, region, account, .. } = scope;
    let account = account.as_deref().unwrap_or("123456789012");
    format!("arn:{partition}:lambda:{region}:{account}:function:unknown")
}

/// The name of an entry in maps of which not even the keys are known. No route key has this form.
const FURTHER: &str = "GET /unknown/{unknown}/unknown";

/// The entries of the last apply, and one more.
fn with_further<T: Clone>(before: &BTreeMap<String, Input<T>>) -> [Input<BTreeMap<String, Input<T>>>; 2] {
    let mut more = before.clone();
    more.insert(FURTHER.to_string(), Input::Unknown);
    [before.clone(), more].map(Input::Known)
}

fn of_routes(context: &Context<'_, GatewayConfig>) -> Vec<Change<GatewayConfig>> {
    let prior = context.prior.and_then(|prior| prior.route_config.known()).cloned().unwrap_or_default();
    let Input::Known(routes) = &context.config.route_config else {
        let changes = with_further(&prior).map(|routes| -> Change<GatewayConfig> {
            let prefix = function_prefix(context.scope);
            Box::new(move |config| {
                config.route_config = routes.clone();
                fill_routes(config, &BTreeMap::new(), &Values::Equal, &prefix);
            })
        });
        return changes.into();
    };
    if routes.values().all(|route| route.known().is_some_and(is_known)) {
        return vec![Box::new(|_| {})];
    }
    // A route that changes keeps its integration if all other routes of this integration change alike.
    let changed: Vec<&RouteConfig> = routes
        .iter()
        .filter(|(key, route)| prior.get(*key) != Some(route))
        .filter_map(|(_, route)| route.known().filter(|route| is_known(route)))
        .collect();
    let contents: BTreeSet<_> = changed.iter().map(|it| format!("{it:?}")).collect();
    let others = contents.iter().filter_map(|text| changed.iter().find(|it| format!("{it:?}") == *text));
    let others = others.map(|route| Values::Of(Box::new((*route).clone())));
    let prefix = function_prefix(context.scope);
    let change = |values: Values| -> Change<GatewayConfig> {
        let (prior, prefix) = (prior.clone(), prefix.clone());
        Box::new(move |config| fill_routes(config, &prior, &values, &prefix))
    };
    [Values::Before, Values::Distinct, Values::Equal].into_iter().chain(others).map(change).collect()
}

fn fill_routes(
    config: &mut GatewayConfig,
    prior: &BTreeMap<String, Input<RouteConfig>>,
    values: &Values,
    prefix: &str,
) {
    let Input::Known(routes) = &mut config.route_config else { return };
    for (number, (key, route)) in routes.iter_mut().enumerate() {
        let before = prior.get(key).and_then(Input::known);
        *route = Input::Known(filled(route, before, values, (number, prefix)));
    }
}

fn is_known(route: &RouteConfig) -> bool {
    // No object and no output depends on scopes and settings.
    let RouteConfig { integration, authorizer_name, authorization_type, authorization_scopes: _, settings: _ } = route;
    integration.encode().is_wholly_known() && authorizer_name.is_known() && authorization_type.is_known()
}

/// The route with known values. An unknown authorization is public or not.
fn filled(
    route: &Input<RouteConfig>,
    before: Option<&RouteConfig>,
    values: &Values,
    (number, prefix): (usize, &str),
) -> RouteConfig {
    let number = match values {
        Values::Equal => "all".to_string(),
        Values::Before | Values::Distinct | Values::Of(_) => number.to_string(),
    };
    let new = RouteConfig {
        integration: new_integration(before, values, &number, prefix),
        authorizer_name: Input::Known(None),
        authorization_type: Input::Known(Some(match values {
            Values::Equal => "NONE".to_string(),
            Values::Before | Values::Distinct | Values::Of(_) => "AWS_IAM".to_string(),
        })),
        authorization_scopes: Input::Unknown,
        settings: RouteSettings::default(),
    };
    let source = match values {
        Values::Before => before.filter(|before| is_known(before)).unwrap_or(&new),
        Values::Distinct | Values::Equal => &new,
        Values::Of(other) => other,
    };
    let Input::Known(route) = route else {
        let RouteConfig { authorizer_name, authorization_type, authorization_scopes, .. } = new.clone();
        return RouteConfig { authorizer_name, authorization_type, authorization_scopes, ..source.clone() };
    };
    let mut route = route.clone();
    if !route.authorizer_name.is_known() || !route.authorization_type.is_known() {
        route.authorizer_name = new.authorizer_name.clone();
        route.authorization_type = new.authorization_type.clone();
    }
    route.integration = filled_integration(&route.integration, [&source.integration, &new.integration]);
    route
}

/// An integration with a function that does not exist.
fn new_integration(before: Option<&RouteConfig>, values: &Values, number: &str, prefix: &str) -> IntegrationConfig {
    let known = |text: &str| Input::Known(Some(text.to_string()));
    let is_equal = matches!(values, Values::Equal);
    IntegrationConfig {
        faas_function_arn: Input::Known(Some(match values {
            Values::Before => format!("{prefix}-before-{number}"),
            _ => format!("{prefix}-{number}"),
        })),
        integration_uri: known(&format!("https://unknown-{number}.example.com")),
        integration_method: known("PUT"),
        vpc_link: Input::Known(None),
        vpc_link_id: if is_equal { Input::Known(None) } else { known("unknown") },
        tls_config: Input::Known(None),
        integration_subtype: known("unknown"),
        credentials_arn: if is_equal { Input::Known(None) } else { known("unknown") },
        request_parameters: Input::Known([(format!("unknown {number}"), known_text("unknown"))].into()),
        response_parameters: Input::Known(BTreeMap::new()),
        description: known(&format!("unknown {number}")),
        payload_format_version: Input::Known(match before.map(|before| &before.integration.payload_format_version) {
            Some(Input::Known(version)) if version == "2.0" => "1.0".to_string(),
            _ => "2.0".to_string(),
        }),
        timeout_milliseconds: Input::Known(number.parse().map_or(-1, |number: i64| -2 - number)),
    }
}

fn known_text(text: &str) -> Input<String> {
    Input::Known(text.to_string())
}

/// The inputs with values of other ones where they are unknown, and with exactly one of those that say what the
/// integration is.
fn filled_integration(given: &IntegrationConfig, sources: [&IntegrationConfig; 2]) -> IntegrationConfig {
    let (mut inputs, sources) = (given.encode(), sources.map(Encode::encode));
    let mut has_target = TARGETS.iter().any(|name| inputs.get(name).as_str().is_some());
    for name in TARGETS {
        if !inputs.get(name).is_unknown() {
            continue;
        }
        let mut values = sources.iter().map(|source| source.get(name)).filter(|value| !value.is_null());
        let value = values.next().filter(|_| !has_target).cloned().unwrap_or_default();
        has_target |= !value.is_null();
        inputs.set(name, value);
    }
    for (name, value) in sources[0].as_map().into_iter().flatten() {
        if !inputs.get(name).is_wholly_known() {
            inputs.set(name, value.clone());
        }
    }
    let decoded = IntegrationConfig::decode(&inputs, &AttributePath::root(), &mut Vec::new());
    decoded.unwrap_or_else(|| given.clone())
}

/// The inputs of which exactly one is set.
const TARGETS: [&str; 3] = ["faas_function_arn", "integration_uri", "integration_subtype"];

fn fill<T: Clone>(input: &mut Input<T>, value: &Input<T>) {
    if !input.is_known() {
        input.clone_from(value);
    }
}

/// The authorizers as before, with another function, and with a role, which makes a permission unnecessary.
fn of_authorizers(context: &Context<'_, GatewayConfig>) -> Vec<Change<GatewayConfig>> {
    let prior = context.prior.and_then(|prior| prior.faas_authorizers.known()).cloned().unwrap_or_default();
    let prefix = function_prefix(context.scope);
    let Input::Known(authorizers) = &context.config.faas_authorizers else {
        let changes = with_further(&prior).map(|authorizers| -> Change<GatewayConfig> {
            let other = authorizer(&prefix, "further", None);
            Box::new(move |config| {
                config.faas_authorizers = authorizers.clone();
                fill_authorizers(config, &BTreeMap::new(), &other);
            })
        });
        return changes.into();
    };
    if authorizers.values().all(|it| it.known().is_some_and(has_known_function)) {
        return vec![Box::new(|_| {})];
    }
    let before: Change<GatewayConfig> = {
        let other = authorizer(&prefix, "before", None);
        Box::new(move |config| fill_authorizers(config, &prior, &other))
    };
    let role = "arn:aws:iam::123456789012:role/unknown".to_string();
    let others = [None, Some(role)].map(|role| -> Change<GatewayConfig> {
        let other = authorizer(&prefix, "other", role);
        Box::new(move |config| fill_authorizers(config, &BTreeMap::new(), &other))
    });
    std::iter::once(before).chain(others).collect()
}

/// An authorizer of a route may be of either type.
fn moved_authorizers(context: &Context<'_, GatewayConfig>) -> Vec<Change<GatewayConfig>> {
    let other = authorizer(&function_prefix(context.scope), "moved", None);
    let to_jwt = |config: &mut GatewayConfig| {
        let moved = std::mem::take(&mut config.faas_authorizers).known().cloned().unwrap_or_default();
        let Input::Known(jwt) = &mut config.jwt_authorizers else { return };
        jwt.extend(moved.into_keys().map(|name| (name, Input::Unknown)));
    };
    let to_faas = move |config: &mut GatewayConfig| {
        let moved = std::mem::take(&mut config.jwt_authorizers).known().cloned().unwrap_or_default();
        let Input::Known(faas) = &mut config.faas_authorizers else { return };
        faas.extend(moved.into_keys().map(|name| (name, Input::Known(other.clone()))));
    };
    vec![Box::new(|_| {}), Box::new(to_jwt), Box::new(to_faas)]
}

/// No default authorizer, or the first one of a map. The changes of both maps precede these.
fn default_authorizers() -> Vec<Change<GatewayConfig>> {
    fn first<T>(map: &Input<BTreeMap<String, T>>) -> Input<Option<String>> {
        Input::Known(map.known().and_then(|entries| entries.keys().next().cloned()))
    }
    vec![
        Box::new(|config| config.default_authorizer_name = Input::Known(None)),
        Box::new(|config| config.default_authorizer_name = first(&config.faas_authorizers)),
        Box::new(|config| config.default_authorizer_name = first(&config.jwt_authorizers)),
    ]
}

fn has_known_function(it: &FaasAuthorizer) -> bool {
    it.authorizer_name.is_known() && it.authorizer_uri.is_known() && it.authorizer_credentials_arn.is_known()
}

fn authorizer(prefix: &str, name: &str, role: Option<String>) -> FaasAuthorizer {
    FaasAuthorizer {
        authorizer_name: Input::Known(format!("{prefix}-authorizer-{name}")),
        authorizer_uri: Input::Known(None),
        authorizer_credentials_arn: Input::Known(role),
        authorizer_payload_format_version: Input::Unknown,
        identity_sources: Input::Unknown,
        result_ttl_in_seconds: Input::Unknown,
        enable_simple_responses: Input::Unknown,
    }
}

/// Sets the unknown inputs that decide about permissions: to the values of the last apply, else to those of `other`.
fn fill_authorizers(
    config: &mut GatewayConfig,
    prior: &BTreeMap<String, Input<FaasAuthorizer>>,
    other: &FaasAuthorizer,
) {
    let Input::Known(authorizers) = &mut config.faas_authorizers else { return };
    for (key, authorizer) in authorizers {
        let source = prior.get(key).and_then(Input::known).filter(|it| has_known_function(it)).unwrap_or(other);
        match authorizer {
            Input::Unknown => *authorizer = Input::Known(source.clone()),
            Input::Known(authorizer) => {
                fill(&mut authorizer.authorizer_name, &source.authorizer_name);
                fill(&mut authorizer.authorizer_uri, &source.authorizer_uri);
                fill(&mut authorizer.authorizer_credentials_arn, &source.authorizer_credentials_arn);
            }
        }
    }
}
