//! Who may send requests to a route: what its inputs require, and their checks.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{GatewayConfig, RouteConfig};
use super::jwt_authorizers::known_set;
use crate::model::AuthorizationType;
use crate::plugin::{AttributePath, Input, Problem};

/// The largest number of scopes of a route.
const MOST_SCOPES: usize = 10;

/// The longest scope, in characters.
const LONGEST_SCOPE: usize = 64;

/// The authorization that the inputs of a route require.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Required<'a> {
    pub(super) kind: AuthorizationType,
    /// The name of the authorizer. It may be in neither map.
    pub(super) authorizer: Option<&'a str>,
    pub(super) scopes: Input<BTreeSet<String>>,
}

impl GatewayConfig {
    /// The authorization that a route requires. `None` if its type or its authorizer depends on an unknown input.
    pub(super) fn authorization<'a>(&'a self, route: &'a RouteConfig) -> Option<Required<'a>> {
        use AuthorizationType::{AwsIam, Custom, Jwt, None as Public};
        let kind = route.authorization_type.known()?.as_deref().map(AuthorizationType::named);
        let own = match kind {
            Some(Public | AwsIam) => None,
            _ => route.authorizer_name.known()?.as_deref(),
        };
        let authorizer = match (&kind, own) {
            (Some(Public | AwsIam), _) => None,
            (_, Some(name)) => Some(name),
            (_, None) => self.default_authorizer_name.known()?.as_deref(),
        };
        let kind = match (kind, authorizer) {
            (Some(kind), _) => kind,
            (None, None) => Public,
            (None, Some(name)) if self.jwt_authorizers.known()?.contains_key(name) => Jwt,
            (None, Some(_)) => Custom,
        };
        let scopes = match (&route.authorization_scopes, own) {
            _ if kind != Jwt => Input::Known(BTreeSet::new()),
            (Input::Unknown, _) => Input::Unknown,
            (Input::Known(Some(scopes)), _) => known_set(&Input::Known(scopes.clone())),
            (Input::Known(None), Some(_)) => Input::Known(BTreeSet::new()),
            (Input::Known(None), None) => {
                known_set(&self.default_authorization_scopes.clone().map(Option::unwrap_or_default))
            }
        };
        Some(Required { kind, authorizer, scopes })
    }

    /// The type of the authorization by an authorizer. `None` if no map contains the name.
    fn type_by(&self, name: &str) -> Option<AuthorizationType> {
        let contains = |is_known: Option<bool>| is_known == Some(true);
        if contains(self.jwt_authorizers.known().map(|it| it.contains_key(name))) {
            return Some(AuthorizationType::Jwt);
        }
        contains(self.faas_authorizers.known().map(|it| it.contains_key(name))).then_some(AuthorizationType::Custom)
    }
}

/// All problems of the authorization of routes.
pub(super) fn problems(config: &GatewayConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    let at = |name: &str| AttributePath::new(name);
    if let Input::Known(Some(name)) = &config.default_authorizer_name {
        problems.extend(no_authorizer(config, name, at("default_authorizer_name")));
        if let (Input::Known(Some(scopes)), Some(AuthorizationType::Custom)) =
            (&config.default_authorization_scopes, config.type_by(name))
            && !scopes.is_empty()
        {
            let message = format!("Scopes need a JWT authorizer, and {name:?} is a request authorizer.");
            let hint =
                "Remove default_authorization_scopes, or set default_authorizer_name to a key of jwt_authorizers.";
            problems.push(Problem::new(at("default_authorization_scopes"), message, hint));
        }
    }
    problems.extend(invalid_scopes(&config.default_authorization_scopes, &at("default_authorization_scopes")));
    for (key, route) in config.route_config.known().into_iter().flatten() {
        let Input::Known(route) = route else { continue };
        problems.extend(of_route(config, route, &at("route_config").key(key)));
    }
    problems
}

fn of_route(config: &GatewayConfig, route: &RouteConfig, path: &AttributePath) -> Vec<Problem> {
    use AuthorizationType::{AwsIam, Custom, Jwt, None as Public};
    let mut problems = invalid_scopes(&route.authorization_scopes, &path.attribute("authorization_scopes"));
    let own = route.authorizer_name.known().and_then(Option::as_deref);
    let at_type = path.attribute("authorization_type");
    if let Some(name) = own {
        problems.extend(no_authorizer(config, name, path.attribute("authorizer_name")));
    }
    let kind = route.authorization_type.known().and_then(Option::as_deref).map(AuthorizationType::named);
    let by = config.authorization(route).and_then(|it| it.authorizer);
    let by = by.and_then(|name| Some((name, config.type_by(name)?)));
    match (&kind, own, by) {
        (Some(kind @ (Public | AwsIam)), Some(name), _) => {
            let message = format!("authorization_type is {:?}, but authorizer_name is {name:?}.", kind.name());
            problems.push(Problem::new(at_type, message, "Remove one of them."));
        }
        (Some(kind @ (Jwt | Custom)), None, None)
            if config.default_authorizer_name == Input::Known(None) && route.authorizer_name.is_known() =>
        {
            let map = if *kind == Jwt { "jwt_authorizers" } else { "faas_authorizers" };
            let message = format!("authorization_type {:?} requires authorizer_name.", kind.name());
            let hint = format!("Set authorizer_name to a key of {map}.");
            problems.push(Problem::new(at_type, message, hint).of_absence());
        }
        (Some(kind @ (Jwt | Custom)), _, Some((name, found))) if *kind != found => {
            let what = if found == Jwt { "a JWT authorizer" } else { "a request authorizer" };
            let message = format!("authorization_type is {:?}, but {name:?} is {what}.", kind.name());
            let hint = "Remove authorization_type, which follows from the authorizer, or use another authorizer.";
            problems.push(Problem::new(at_type, message, hint));
        }
        _ => {}
    }
    let has_scopes = matches!(&route.authorization_scopes, Input::Known(Some(scopes)) if !scopes.is_empty());
    match config.authorization(route) {
        Some(Required { kind: kind @ (Public | AwsIam | Custom), .. }) if has_scopes => {
            let message =
                format!("authorization_scopes need a JWT authorizer, and the type of the route is {:?}.", kind.name());
            let hint = "Remove authorization_scopes, or set authorizer_name to a key of jwt_authorizers.";
            problems.push(Problem::new(path.attribute("authorization_scopes"), message, hint));
        }
        _ => {}
    }
    problems
}

/// The problem of a name that is in neither map of authorizers.
fn no_authorizer(config: &GatewayConfig, name: &str, path: AttributePath) -> Option<Problem> {
    let (Input::Known(faas), Input::Known(jwt)) = (&config.faas_authorizers, &config.jwt_authorizers) else {
        return None;
    };
    if faas.contains_key(name) || jwt.contains_key(name) {
        return None;
    }
    let list = |keys: Vec<&String>| match keys.is_empty() {
        true => "is empty".to_string(),
        false => format!("has {}", keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(", ")),
    };
    let message = format!(
        "There is no authorizer {name:?}: faas_authorizers {}, and jwt_authorizers {}.",
        list(faas.keys().collect()),
        list(jwt.keys().collect())
    );
    let attribute = if path.0.len() == 1 { "default_authorizer_name" } else { "authorizer_name" };
    Some(Problem::new(path, message, format!("Add it to one of them, use another key, or remove {attribute}.")))
}

fn invalid_scopes(scopes: &Input<Option<BTreeSet<Input<String>>>>, path: &AttributePath) -> Vec<Problem> {
    let scopes = scopes.known().and_then(Option::as_ref);
    let count = scopes.map_or(0, BTreeSet::len);
    let mut problems = Vec::new();
    if count > MOST_SCOPES {
        let message = format!("There are {count} scopes; API Gateway allows {MOST_SCOPES} per route.");
        problems.push(Problem::new(path.clone(), message, "Remove some of them, or use a scope that covers several."));
    }
    for scope in scopes.into_iter().flatten().filter_map(Input::known) {
        let length = scope.chars().count();
        if !(1..=LONGEST_SCOPE).contains(&length) {
            let message =
                format!("The scope {scope:?} has {length} characters; API Gateway allows 1 to {LONGEST_SCOPE}.");
            problems.push(Problem::new(path.clone(), message, "Use a shorter scope."));
        }
    }
    problems
}

/// The names of authorizers that routes may use, as far as their inputs are known. `None` if an unknown input may be
/// the name of any.
pub(super) fn used_authorizers(config: &GatewayConfig) -> Option<BTreeSet<&str>> {
    let routes: &BTreeMap<_, _> = config.route_config.known()?;
    let mut used = BTreeSet::new();
    for route in routes.values() {
        used.extend(config.authorization(route.known()?)?.authorizer);
    }
    Some(used)
}
