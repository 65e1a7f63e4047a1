//! The keys of routes: `<METHOD> <path>` or `$default`.

use std::collections::BTreeMap;

/// The methods that API Gateway knows, the wildcard last.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY"];

/// A route key that is written correctly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteKey<'a> {
    /// All requests that no other route takes.
    Default,
    /// Requests of a method and path.
    Path {
        /// One of the eight methods.
        method: &'a str,
        /// The parts of the path between its slashes.
        parts: Vec<Part<'a>>,
    },
}

/// One part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text that must stand there.
    Literal(&'a str),
    /// A variable for one part, by its name.
    Variable(&'a str),
    /// A variable for all parts that follow, by its name.
    Greedy(&'a str),
}

impl<'a> RouteKey<'a> {
    /// Reads a route key. The error says what is wrong with it, and the way out, each a sentence.
    pub fn parse(key: &'a str) -> Result<RouteKey<'a>, (String, String)> {
        if key == "$default" {
            return Ok(RouteKey::Default);
        }
        let form = "Write `<METHOD> <path>`, such as `GET /orders/{id}`, or `$default`.".to_string();
        if key.trim() != key && !key.trim().is_empty() {
            return Err((format!("{key:?} begins or ends with a space."), format!("Write {:?}.", key.trim())));
        }
        let Some((method, path)) = key.split_once(' ') else {
            return Err((format!("{key:?} is not a route key."), form));
        };
        if !METHODS.contains(&method) {
            return Err((
                format!("{method:?} in {key:?} is not a method that API Gateway knows."),
                format!("Use one of {}, in capitals.", METHODS.join(", ")),
            ));
        }
        let Some(rest) = path.strip_prefix('/') else {
            return Err((format!("The path of {key:?} does not start with \"/\"."), form));
        };
        if path.chars().any(|it| it.is_whitespace() || it.is_control() || "?#".contains(it)) {
            return Err((
                format!("The path of {key:?} contains a space, a query or a fragment."),
                "Route keys match paths alone; leave the rest out.".to_string(),
            ));
        }
        let mut parts = Vec::new();
        for text in rest.split('/') {
            if matches!(parts.last(), Some(Part::Greedy(_))) {
                return Err((
                    format!("{key:?} goes on after a greedy variable, which takes all the rest of the path."),
                    "Make the greedy variable the last part of the path.".to_string(),
                ));
            }
            let part = Part::parse(text).map_err(|problem| {
                (
                    format!("{text:?} in {key:?} {problem}."),
                    "Write a variable as a whole part: `{name}` or `{name+}`.".to_string(),
                )
            })?;
            if let Some(name) = part.variable().filter(|name| parts.iter().any(|it: &Part| it.variable() == Some(name)))
            {
                return Err((
                    format!("{key:?} has two variables of the name {name:?}, and the function would get one of them."),
                    "Give each variable of a path its own name.".to_string(),
                ));
            }
            parts.push(part);
        }
        Ok(RouteKey::Path { method, parts })
    }

    /// Whether preflight requests (`OPTIONS`) are among those that the route takes.
    pub fn takes_preflights(&self) -> bool {
        matches!(self, RouteKey::Default | RouteKey::Path { method: "ANY" | "OPTIONS", .. })
    }

    /// Whether preflight requests that the other route takes come here instead: API Gateway prefers a route that names
    /// the method, and `$default` last.
    pub fn takes_preflights_of(&self, other: &RouteKey<'_>) -> bool {
        match (self, other) {
            (RouteKey::Path { method: "OPTIONS", parts }, RouteKey::Path { method: "ANY", parts: others }) => {
                parts == others
            }
            (RouteKey::Path { parts, .. }, RouteKey::Default) => {
                self.takes_preflights() && matches!(parts[..], [Part::Greedy(_)])
            }
            _ => false,
        }
    }

    /// The variables, each with its place: the path up to it and with it, without the names of variables. Routes that
    /// go through one place must give its variable one name, whatever their methods are.
    pub fn variables(&self) -> Vec<(String, &'a str)> {
        let RouteKey::Path { parts, .. } = self else { return Vec::new() };
        let mut place = String::new();
        let mut variables = Vec::new();
        for part in parts {
            place += &part.shape();
            variables.extend(part.variable().map(|name| (place.clone(), name)));
        }
        variables
    }

    /// The same for all keys that match the same requests: variables without their names.
    fn shape(&self) -> String {
        match self {
            RouteKey::Default => "$default".to_string(),
            RouteKey::Path { method, parts } => {
                format!("{method} {}", parts.iter().map(Part::shape).collect::<String>())
            }
        }
    }
}

impl<'a> Part<'a> {
    fn parse(text: &'a str) -> Result<Part<'a>, &'static str> {
        let Some(variable) = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
            return match text.contains(['{', '}']) {
                true => Err("has braces within"),
                false => Ok(Part::Literal(text)),
            };
        };
        let (name, greedy) = match variable.strip_suffix('+') {
            Some(name) => (name, true),
            None => (variable, false),
        };
        if name.is_empty() || !name.chars().all(|it| it.is_ascii_alphanumeric() || "._-:".contains(it)) {
            return Err("is not a variable: a name is letters, digits, and . _ - :");
        }
        Ok(if greedy { Part::Greedy(name) } else { Part::Variable(name) })
    }

    /// The name of a variable, greedy or not.
    fn variable(&self) -> Option<&'a str> {
        match self {
            Part::Literal(_) => None,
            Part::Variable(name) | Part::Greedy(name) => Some(name),
        }
    }

    fn shape(&self) -> String {
        match self {
            Part::Literal(text) => format!("/{text}"),
            Part::Variable(_) => "/{}".to_string(),
            Part::Greedy(_) => "/{+}".to_string(),
        }
    }
}

/// Two routes that API Gateway does not take beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Collision<'a> {
    /// The key at fault, the later of the two in the order of keys.
    pub(crate) key: &'a str,
    /// The other one.
    pub(crate) other: &'a str,
    /// What is wrong, in a sentence.
    pub(crate) message: String,
}

/// The routes that collide with an earlier one. Keys that are written wrongly are passed over.
///
/// API Gateway keeps paths in a tree in which a place has one variable only, whatever the methods are: it answers
/// a second one of another name with "conflicting variable on the same hierarchical level".
pub(crate) fn collisions<'a>(keys: impl IntoIterator<Item = &'a str>) -> Vec<Collision<'a>> {
    let mut found = Vec::new();
    let mut shapes: BTreeMap<String, &str> = BTreeMap::new();
    let mut variables: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for key in keys {
        let Ok(route) = RouteKey::parse(key) else { continue };
        if let Some(other) = shapes.insert(route.shape(), key) {
            let message = format!("{key:?} and {other:?} match the same requests.");
            found.push(Collision { key, other, message });
            continue;
        }
        for (place, name) in route.variables() {
            match variables.get(&place) {
                Some((known, other)) if *known != name => {
                    let message = format!(
                        "{key:?} calls a variable {name:?} that {other:?} calls {known:?}; API Gateway allows one \
                         variable name at each place of the path."
                    );
                    found.push(Collision { key, other, message });
                    break;
                }
                Some(_) => {}
                None => {
                    variables.insert(place, (name, key));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correct_keys_are_read() {
        for key in ["$default", "ANY /", "GET /orders/{id}", "HEAD /a.b/{x}/c", "POST /{proxy+}", "PUT /a/", "GET /a:b"]
        {
            assert!(RouteKey::parse(key).is_ok(), "{key}");
        }
    }

    #[test]
    fn wrong_keys_are_refused() {
        for key in [
            "",
            " ",
            "/orders",
            "get /x",
            "TRACE /x",
            "GET x",
            "GET  /x",
            "GET /a b",
            "GET /x?y",
            "GET /{proxy+}/x",
            "GET /{}",
            "GET /{+}",
            "GET /a{b}",
            "GET /{a",
            "$DEFAULT",
            "GET /x/{proxy+}/",
            "GET /x ",
            " GET /x",
            "GET /x/{a}/{a}",
            "GET /x/{a}/{a+}",
        ] {
            assert!(RouteKey::parse(key).is_err(), "{key}");
        }
    }

    #[test]
    fn variables_of_two_names_at_one_place_collide_whatever_the_methods() {
        let found = collisions(["GET /x/{a}", "POST /x/{b}/y"]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].key, found[0].other), ("POST /x/{b}/y", "GET /x/{a}"));
    }

    #[test]
    fn variables_of_one_name_or_at_different_places_do_not_collide() {
        assert_eq!(collisions(["GET /x/{a}", "GET /x/{a}/y", "GET /y/{b}", "GET /x/{proxy+}", "GET /x/a"]), vec![]);
    }

    #[test]
    fn keys_that_differ_in_variable_names_only_match_the_same_requests() {
        let found = collisions(["GET /x/{a}", "GET /x/{b}"]);
        assert!(found[0].message.contains("same requests"), "{}", found[0].message);
    }

    #[test]
    fn routes_of_one_place_claim_its_variable_name_together_and_another_name_not_at_all() {
        use crate::model::{ApiRoute, Key, Spec};
        let collide = |one: &str, other: &str| {
            let claims = |route_key: &str| {
                let api = Key::new("api");
                let route_key = route_key.to_string();
                Spec::ApiRoute(ApiRoute { api, route_key, integration: None, authorizer: None }).claims()
            };
            claims(one).iter().any(|claim| claims(other).iter().any(|it| claim.collides(it)))
        };
        assert!(collide("GET /x/{a}", "POST /x/{b}/y"));
        assert!(collide("GET /x/{a}", "GET /x/{b}"));
        assert!(!collide("GET /x/{a}", "POST /x/{a}/y"));
        assert!(!collide("GET /x/{a}", "GET /y/{b}"));
        assert!(!collide("GET /x/{a}", "GET /x/{b+}"), "a greedy variable has a place of its own, as in `collisions`");
    }
}
