//! The values of parameters: a text, or variables with parts of requests, responses, the context and the stage.
//!
//! The places are those of the developer guide of API Gateway ("Transform API requests and responses for HTTP APIs",
//! "Create AWS service integrations for HTTP APIs"). API Gateway rejects other places. Where the guide leaves open
//! whether it does, a fault is only a warning, because no value that works may be refused.

use crate::model::RouteKey;
use crate::plugin::nearest;

/// The message that a parameter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Response,
}

/// A fault of a value. Texts contain no text of a value besides the names of variables, because it may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Whether the value certainly does not work.
    pub(super) is_certain: bool,
    pub(super) message: String,
    pub(super) hint: String,
}

fn certain(message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault { is_certain: true, message: message.into(), hint: hint.into() }
}

fn possible(message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault { is_certain: false, ..certain(message, hint) }
}

/// The roots of variables.
const ROOTS: &[&str] = &["context", "request", "response", "stageVariables"];

/// The parts of a request and of a response.
const REQUEST: &[&str] = &["body", "header", "path", "querystring"];
const RESPONSE: &[&str] = &["body", "header"];

/// The variables of a value, without `$` and braces. A value that begins with `$` is one variable; in any other text,
/// variables have braces. `None` if a brace is not closed.
pub(super) fn variables(value: &str) -> Option<Vec<&str>> {
    if let Some(bare) = value.strip_prefix('$').filter(|rest| !rest.starts_with('{')) {
        return Some(vec![bare]);
    }
    let (mut found, mut rest) = (Vec::new(), value);
    while let Some((_, after)) = rest.split_once("${") {
        let (variable, after) = after.split_once('}')?;
        found.push(variable);
        rest = after;
    }
    Some(found)
}

/// The names of the stage variables in a value.
pub(super) fn of_stage(value: &str) -> impl Iterator<Item = &str> {
    variables(value).unwrap_or_default().into_iter().filter_map(|it| it.strip_prefix("stageVariables."))
}

/// The faults of a value in a route. `None` is a route with an invalid key.
pub(super) fn faults(value: &str, direction: Direction, route: Option<&RouteKey<'_>>) -> Vec<Fault> {
    match variables(value) {
        Some(found) => found.into_iter().filter_map(|variable| fault(variable, direction, route)).collect(),
        None => vec![certain(
            "The value contains \"${\" without a closing brace.",
            "Write a variable as ${request.path.id}, which is \"$${request.path.id}\" in Terraform.",
        )],
    }
}

fn fault(variable: &str, direction: Direction, route: Option<&RouteKey<'_>>) -> Option<Fault> {
    let (root, rest) = variable.split_once('.').unwrap_or((variable, ""));
    match (root, direction) {
        ("request", _) => of_message(variable, rest, REQUEST, route).or_else(|| {
            (direction == Direction::Response).then(|| {
                possible(
                    format!("API Gateway documents no part of a request in a response, such as \"${variable}\"."),
                    "Use $response, $context or $stageVariables if API Gateway rejects it.",
                )
            })
        }),
        ("response", Direction::Request) => Some(certain(
            format!("\"${variable}\" is a part of the response, which a request cannot contain."),
            "Use $request, $context or $stageVariables.",
        )),
        ("response", Direction::Response) => of_message(variable, rest, RESPONSE, None),
        ("context", _) => of_name(variable, rest, "._", "letters, digits, . and _"),
        ("stageVariables", _) => of_name(variable, rest, "_", "letters, digits and _"),
        _ => Some(possible(
            "The value contains \"$\" where a variable begins, but no variable that API Gateway documents.",
            match nearest(root, ROOTS) {
                Some(nearest) => format!("Write ${nearest} if that is meant."),
                None => "Variables begin with $request, $response, $context or $stageVariables.".to_string(),
            },
        )),
    }
}

/// The fault of a variable of the context or the stage.
fn of_name(variable: &str, name: &str, others: &str, allowed: &str) -> Option<Fault> {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || others.contains(it);
    match name.chars().find(|it| !is_allowed(*it)) {
        _ if name.is_empty() => Some(unnamed(variable)),
        Some(character) => Some(certain(
            format!("\"${variable}\" contains {character:?}; the names of such variables have {allowed} only."),
            "To combine variables and text, put each variable in braces, such as \"$${context.stage}-a\".",
        )),
        None => None,
    }
}

fn unnamed(variable: &str) -> Fault {
    certain(format!("\"${variable}\" has no name after it."), "Add a dot and a name.")
}

/// The fault of a part of a request or a response. `rest` follows the first dot.
fn of_message(variable: &str, rest: &str, places: &[&str], route: Option<&RouteKey<'_>>) -> Option<Fault> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (place, name) = rest.split_at(end);
    if !places.contains(&place) {
        let begun = || places.iter().copied().find(|it| !place.is_empty() && it.starts_with(place));
        let hint = match nearest(place, places).or_else(begun) {
            Some(nearest) => format!("Write {nearest:?} for {place:?}."),
            None => format!("The parts are {}.", places.join(", ")),
        };
        return Some(certain(format!("\"${variable}\" is not a variable of API Gateway."), hint));
    }
    match (place, name) {
        ("path" | "body", "") => None,
        ("body", path) if path.contains("..") || path.contains("?(") => Some(certain(
            format!("\"${variable}\" has a recursive descent or a filter, which API Gateway does not support."),
            "Name each member on the way to the value, such as $request.body.order.id.",
        )),
        ("body", path) if path != "." => None,
        (_, name) => match name.strip_prefix('.') {
            None | Some("") => Some(unnamed(variable)),
            Some(name) if place == "path" => of_path(variable, name, route?),
            Some(name) if name.contains('$') => Some(possible(
                format!("\"${variable}\" is one variable, although it contains another \"$\"."),
                "To combine variables, put each of them in braces, such as \"$${request.path.a} $${request.path.b}\".",
            )),
            Some(_) => None,
        },
    }
}

/// The fault of a path variable that the route lacks. Its value would be empty.
fn of_path(variable: &str, name: &str, route: &RouteKey<'_>) -> Option<Fault> {
    let names = path_variables(route);
    let message = format!("The route has no path variable {name:?}, which \"${variable}\" names.");
    let hint = match names.as_slice() {
        _ if names.contains(&name) => return None,
        [] => "Add it to the path of the route, or remove it.".to_string(),
        _ => format!("The path has {}. To combine variables, put each of them in braces.", names.join(" and ")),
    };
    Some(certain(message, hint))
}

/// The names of the variables in the path of a route.
pub(super) fn path_variables<'a>(route: &RouteKey<'a>) -> Vec<&'a str> {
    route.variables().into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The faults of a value on the route `ANY /{tenant}/{proxy+}`: whether each is certain, its message and its hint.
    fn found(value: &str, direction: Direction) -> Vec<(bool, String)> {
        let route = RouteKey::parse("ANY /{tenant}/{proxy+}").unwrap();
        let all = faults(value, direction, Some(&route)).into_iter();
        all.map(|it| (it.is_certain, format!("{} {}", it.message, it.hint))).collect()
    }

    #[test]
    fn the_examples_of_the_guide_pass() {
        for value in [
            "$request.header.name",
            "${request.header.name}",
            "$request.querystring.name",
            "${request.querystring.name}",
            "$request.body",
            "$request.body.name",
            "${request.body.name}",
            "$request.body.message",
            "$request.path",
            "${request.path}",
            "$request.path.tenant",
            "${request.path.proxy}",
            "${request.path.tenant} ${request.path.proxy}",
            "$request.header.header1",
            "$request.header.queueUrl",
        ] {
            assert_eq!(found(value, Direction::Request), [], "{value}");
        }
        for value in ["$response.header.name", "${response.header.name}", "$response.body", "${response.body.name}"] {
            assert_eq!(found(value, Direction::Response), [], "{value}");
        }
        for value in [
            "$context.requestId",
            "${context.authorizer.claims.sub}",
            "$stageVariables.environmentId",
            "${stageVariables.variableName}",
            "''",
            "403",
            "headervalue",
            "a constant value that costs 5$, or {5}",
        ] {
            for direction in [Direction::Request, Direction::Response] {
                assert_eq!(found(value, direction), [], "{value}");
            }
        }
        assert!(!found("${request.path.tenant} ${request.path.proxy}", Direction::Response)[0].0, "the guide has it");
    }

    #[test]
    fn bodies_can_be_read_by_members_and_indices() {
        for value in ["$request.body[0].id", "$request.body.a[1]", "${request.body.a['b c']}/x", "$request.body.a-b"] {
            assert_eq!(found(value, Direction::Request), [], "{value}");
        }
    }

    #[test]
    fn variables_that_do_not_exist_are_named() {
        for (value, text) in [
            ("$request.headers.a", "Write \"header\""),
            ("a ${request.foo.a}", "The parts are body, header, path, querystring."),
            ("$request", "\"$request\" is not a variable"),
            ("$request.header", "\"$request.header\" has no name"),
            ("$request.querystring.", "has no name"),
            ("$request.header[0]", "has no name"),
            ("$request.body.", "has no name"),
            ("$request.body..id", "recursive descent"),
            ("$request.body.a[?(@.b)]", "filter"),
            ("$response.header.a", "a part of the response"),
            ("$context", "has no name"),
            ("$context.authorizer.claims.cognito:groups", "contains ':'"),
            ("$context.stage-$context.path", "put each variable in braces"),
            ("$stageVariables.a-b", "contains '-'"),
            ("${stageVariables.}", "has no name"),
            ("${request.path.id", "without a closing brace"),
            ("$request.path.id", "no path variable \"id\""),
            ("$request.path.proxy+", "The path has tenant and proxy."),
            ("$request.path.tenant/$request.path.proxy", "put each of them in braces"),
        ] {
            let found = found(value, Direction::Request);
            assert!(matches!(&found[..], [(true, message)] if message.contains(text)), "{value}: {found:?}");
        }
        for (value, text) in [
            ("$response.headers.a", "Write \"header\""),
            ("$response.path", "The parts are body, header."),
            ("$request.query.a", "Write \"querystring\""),
        ] {
            let found = found(value, Direction::Response);
            assert!(matches!(&found[..], [(true, message)] if message.contains(text)), "{value}: {found:?}");
        }
    }

    #[test]
    fn what_the_guide_leaves_open_is_a_warning() {
        for (value, direction, text) in [
            ("$stageVariable.a", Direction::Request, "Write $stageVariables"),
            ("$5", Direction::Request, "Variables begin with $request"),
            ("{\"a\": \"${b}\"}", Direction::Response, "Variables begin with $request"),
            ("$request.header.a,$request.header.b", Direction::Request, "put each of them in braces"),
            ("$request.header.a", Direction::Response, "no part of a request in a response"),
        ] {
            let found = found(value, direction);
            assert!(matches!(&found[..], [(false, message)] if message.contains(text)), "{value}: {found:?}");
        }
        assert!(!found("$secret", Direction::Request)[0].1.contains("secret"), "a value may be secret");
    }

    #[test]
    fn a_default_route_has_no_path_variables() {
        let of = |key: &str| faults("$request.path.id", Direction::Request, RouteKey::parse(key).ok().as_ref());
        assert_eq!(of("$default")[0].hint, "Add it to the path of the route, or remove it.");
        assert_eq!((of("GET /{id}"), of("the key of another problem")), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn a_value_without_a_dollar_is_static(value in "[^$]{0,40}") {
            for direction in [Direction::Request, Direction::Response] {
                prop_assert_eq!(faults(&value, direction, Some(&RouteKey::Default)), vec![]);
            }
        }
    }
}
