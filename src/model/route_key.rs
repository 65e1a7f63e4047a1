//! Route keys: `<METHOD> <path>` or `$default`.

use std::collections::BTreeMap;

/// The methods of API Gateway. ANY matches all methods.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY"];

/// A valid route key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteKey<'a> {
    /// All requests that match no other route.
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
    /// Literal text.
    Literal(&'a str),
    /// A variable that matches one part: its name.
    Variable(&'a str),
    /// A variable that matches all following parts: its name.
    Greedy(&'a str),
}

impl<'a> RouteKey<'a> {
    /// Parses a route key. The error is a message and a hint, each a sentence.
    pub fn parse(key: &'a str) -> Result<RouteKey<'a>, (String, String)> {
        if key == "$default" {
            return Ok(RouteKey::Default);
        }
        let form = "Write `<METHOD> <path>`, such as `GET /orders/{id}`, or `$default`.".to_string();
        if key.trim() != key && !key.trim().is_empty() {
            return Err((format!("{key:?} starts or ends with a space."), format!("Write {:?}.", key.trim())));
        }
        let Some((method, path)) = key.split_once(' ') else {
            return Err((format!("{key:?} is not a route key."), form));
        };
        if !METHODS.contains(&method) {
            return Err((
                format!("{method:?} in {key:?} is not a method that API Gateway supports."),
                match METHODS.contains(&method.to_uppercase().as_str()) {
                    true => format!("Use {}.", method.to_uppercase()),
                    false => format!("Use one of {}, in uppercase.", METHODS.join(", ")),
                },
            ));
        }
        let Some(rest) = path.strip_prefix('/') else {
            return Err((format!("The path of {key:?} does not start with \"/\"."), form));
        };
        if path.chars().any(|it| it.is_whitespace() || it.is_control() || "?#".contains(it)) {
            return Err((
                format!("The path of {key:?} contains a space, a query or a fragment."),
                "A route key matches only a path; remove the rest.".to_string(),
            ));
        }
        if let Some(shorter) = key.strip_suffix('/').filter(|_| !rest.is_empty()) {
            let hint = format!("Write {:?}.", shorter.trim_end_matches('/'));
            return Err((format!("{key:?} ends with a slash, which API Gateway rejects."), hint));
        }
        let mut parts = if rest.is_empty() { vec![Part::Literal("")] } else { Vec::new() };
        for text in rest.split('/').filter(|_| !rest.is_empty()) {
            if matches!(parts.last(), Some(Part::Greedy(_))) {
                return Err((
                    format!("{key:?} continues after a greedy variable, which matches the rest of the path."),
                    "Make the greedy variable the last part of the path.".to_string(),
                ));
            }
            let part = Part::parse(text)
                .map_err(|(problem, hint)| (format!("{text:?} in {key:?} {problem}."), hint.to_string()))?;
            if let Some(name) = part.variable().filter(|name| parts.iter().any(|it: &Part| it.variable() == Some(name)))
            {
                return Err((
                    format!("{key:?} has two variables named {name:?}, and the function would receive one of them."),
                    "Give each variable of a path its own name.".to_string(),
                ));
            }
            parts.push(part);
        }
        Ok(RouteKey::Path { method, parts })
    }

    /// Whether the route matches preflight requests (`OPTIONS`).
    pub fn takes_preflights(&self) -> bool {
        matches!(self, RouteKey::Default | RouteKey::Path { method: "ANY" | "OPTIONS", .. })
    }

    /// Whether this route receives the preflight requests that the other route matches: API Gateway prefers a route for
    /// the method to one for ANY, and uses `$default` last.
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

    /// Whether some request matches both routes.
    pub fn overlaps(&self, other: &RouteKey<'_>) -> bool {
        let (RouteKey::Path { method, parts }, RouteKey::Path { method: their_method, parts: theirs }) = (self, other)
        else {
            return true;
        };
        let is_method = method == their_method || *method == "ANY" || *their_method == "ANY";
        let mut pairs = parts.iter().zip(theirs);
        let is_greedy = |part: Option<&Part<'_>>| matches!(part, Some(Part::Greedy(_)));
        let differs = |(one, other): (&Part<'_>, &Part<'_>)| match (one, other) {
            (Part::Literal(one), Part::Literal(other)) => one != other,
            _ => false,
        };
        let is_path = match (is_greedy(parts.last()), is_greedy(theirs.last())) {
            (false, false) => parts.len() == theirs.len(),
            (true, false) => parts.len() <= theirs.len(),
            (false, true) => parts.len() >= theirs.len(),
            (true, true) => true,
        };
        is_method && is_path && !pairs.any(differs)
    }

    /// Whether this route matches every request that the other one matches.
    pub fn covers(&self, other: &RouteKey<'_>) -> bool {
        let (method, parts) = match self {
            RouteKey::Default => return true,
            RouteKey::Path { method, parts } => (method, parts),
        };
        let RouteKey::Path { method: their_method, parts: theirs } = other else { return false };
        let is_covered = |(ours, theirs): (&Part<'_>, &Part<'_>)| match (ours, theirs) {
            (Part::Literal(ours), Part::Literal(theirs)) => ours == theirs,
            (Part::Literal(_), _) | (Part::Variable(_), Part::Greedy(_)) => false,
            (Part::Variable(_) | Part::Greedy(_), _) => true,
        };
        let is_long_enough = match parts.last() {
            Some(Part::Greedy(_)) => parts.len() <= theirs.len(),
            _ => parts.len() == theirs.len(),
        };
        (*method == "ANY" || method == their_method) && is_long_enough && parts.iter().zip(theirs).all(is_covered)
    }

    /// Whether API Gateway prefers this route to the other one for a request that matches both: a path without a greedy
    /// variable to one with it, a literal part to a variable, a method to ANY, and any route to `$default`.
    pub fn precedes(&self, other: &RouteKey<'_>) -> bool {
        let rank = |key: &RouteKey<'_>| match key {
            RouteKey::Default => (true, Vec::new(), true),
            RouteKey::Path { method, parts } => {
                let kind = |part: &Part<'_>| match part {
                    Part::Literal(_) => 0,
                    Part::Variable(_) => 1,
                    Part::Greedy(_) => 2,
                };
                let is_greedy = matches!(parts.last(), Some(Part::Greedy(_)));
                let mut kinds = vec![u8::from(is_greedy)];
                kinds.extend(parts.iter().map(kind));
                (false, kinds, *method == "ANY")
            }
        };
        rank(self) < rank(other)
    }

    /// The names of the variables, each with its position: the path up to and including the variable, without names of
    /// variables. All routes through one position must use the same variable name, whatever their methods.
    pub fn variables(&self) -> Vec<(String, &'a str)> {
        let RouteKey::Path { parts, .. } = self else { return Vec::new() };
        let mut position = String::new();
        let mut variables = Vec::new();
        for part in parts {
            position += &part.shape();
            variables.extend(part.variable().map(|name| (position.clone(), name)));
        }
        variables
    }

    /// The key without the names of variables. Keys with the same shape match the same requests.
    pub fn shape(&self) -> String {
        match self {
            RouteKey::Default => "$default".to_string(),
            RouteKey::Path { method, parts } => {
                format!("{method} {}", parts.iter().map(Part::shape).collect::<String>())
            }
        }
    }
}

impl<'a> Part<'a> {
    /// Parses a part as API Gateway does, which requires that it matches `^({[\w.:-]+\+?}|[a-zA-Z0-9.:_-]+)$`. The
    /// error is the end of a message and a hint.
    fn parse(text: &'a str) -> Result<Part<'a>, (String, &'static str)> {
        let whole = "Write a variable as a whole part: `{name}` or `{name+}`.";
        let is_allowed = |it: char| it.is_ascii_alphanumeric() || "._-:".contains(it);
        let Some(variable) = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
            return match text.chars().find(|it| !is_allowed(*it)) {
                _ if text.is_empty() => Err(("is an empty part".to_string(), "Write single slashes between parts.")),
                None => Ok(Part::Literal(text)),
                Some('{' | '}') => Err(("contains braces but is not a variable".to_string(), whole)),
                Some('*') => Err((
                    "contains a wildcard that API Gateway does not support".to_string(),
                    "Write `{name}` for any part, or `{proxy+}` at the end for the rest of the path.",
                )),
                Some(other) => Err((
                    format!("contains {other:?}, which API Gateway does not accept"),
                    "Use only letters without accents, digits, and . _ - :, or a variable such as `{name}`.",
                )),
            };
        };
        let (name, greedy) = match variable.strip_suffix('+') {
            Some(name) => (name, true),
            None => (variable, false),
        };
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(("is not a variable: a name consists of letters, digits, and . _ - :".to_string(), whole));
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

/// Two routes that API Gateway does not allow in one API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Collision<'a> {
    /// The key that sorts later.
    pub(crate) key: &'a str,
    /// The key that sorts earlier.
    pub(crate) other: &'a str,
    /// The problem, as a sentence.
    pub(crate) message: String,
}

/// The routes that collide with an earlier one. Invalid keys are skipped.
///
/// API Gateway stores paths in a tree in which each position has one variable, whatever the methods. It rejects a
/// second variable with another name: "conflicting variable on the same hierarchical level".
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
        for (position, name) in route.variables() {
            match variables.get(&position) {
                Some((known, other)) if *known != name => {
                    let message = format!(
                        "{key:?} names a variable {name:?} where {other:?} names it {known:?}; API Gateway allows one \
                         variable name at each position of a path."
                    );
                    found.push(Collision { key, other, message });
                    break;
                }
                Some(_) => {}
                None => {
                    variables.insert(position, (name, key));
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
    fn valid_keys_are_parsed() {
        for key in
            ["$default", "ANY /", "GET /orders/{id}", "HEAD /a.b/{x}/c", "POST /{proxy+}", "GET /a:b_c-1/{d.e:f}"]
        {
            assert!(RouteKey::parse(key).is_ok(), "{key}");
        }
    }

    #[test]
    fn parts_that_api_gateway_rejects_have_a_way_out() {
        for (key, message, hint) in [
            ("GET /orders/", "\"GET /orders/\" ends with a slash", "Write \"GET /orders\"."),
            ("GET /orders//", "ends with a slash", "Write \"GET /orders\"."),
            ("PUT /x/{a}/", "ends with a slash", "Write \"PUT /x/{a}\"."),
            ("GET /voice/*", "\"*\" in \"GET /voice/*\"", "{proxy+}"),
            ("GET /a*/b", "wildcard", "{name}"),
            ("GET //a", "\"\" in \"GET //a\" is an empty part", "single slashes"),
            ("GET /a%20b", "'%'", "Use only"),
            ("GET /a~b", "'~'", "Use only"),
            ("GET /b\u{fc}cher", "'\u{fc}'", "without accents"),
            ("GET /a/b;c", "';'", "Use only"),
        ] {
            let (found, way_out) = RouteKey::parse(key).expect_err(key);
            assert!(found.contains(message) && way_out.contains(hint), "{key}: {found} {way_out}");
        }
    }

    #[test]
    fn a_deleted_route_leaves_its_requests_to_those_that_overlap() {
        let parse = |key| RouteKey::parse(key).unwrap();
        for (one, other, overlaps, covers, precedes) in [
            ("GET /a", "GET /a", true, true, false),
            ("GET /a", "ANY /a", true, false, true),
            ("ANY /a", "GET /a", true, true, false),
            ("GET /a", "POST /a", false, false, false),
            ("GET /a/{x}", "GET /a/b", true, true, false),
            ("GET /a/b", "GET /a/{x}", true, false, true),
            ("GET /a/{x}", "GET /{y}/b", true, false, true),
            ("GET /a/{x}", "GET /a", false, false, false),
            ("ANY /{p+}", "GET /a/b", true, true, false),
            ("ANY /a/{p+}", "GET /a", false, false, false),
            ("GET /a/b", "ANY /{p+}", true, false, true),
            ("ANY /a/{p+}", "ANY /{p+}", true, false, true),
            ("ANY /{p+}", "ANY /a/{p+}", true, true, false),
            ("ANY /{x}", "ANY /{p+}", true, false, true),
            ("$default", "GET /a", true, true, false),
            ("GET /a", "$default", true, false, true),
        ] {
            let (one_key, other_key) = (parse(one), parse(other));
            let found = (one_key.overlaps(&other_key), one_key.covers(&other_key), one_key.precedes(&other_key));
            // Without a common request, the order has no meaning.
            assert_eq!((found.0, found.1, found.0 && found.2), (overlaps, covers, precedes), "{one} and {other}");
        }
    }

    #[test]
    fn invalid_keys_are_rejected() {
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
    fn different_variable_names_at_one_position_collide() {
        let found = collisions(["GET /x/{a}", "POST /x/{b}/y"]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].key, found[0].other), ("POST /x/{b}/y", "GET /x/{a}"));
    }

    #[test]
    fn equal_names_and_different_positions_do_not_collide() {
        assert_eq!(collisions(["GET /x/{a}", "GET /x/{a}/y", "GET /y/{b}", "GET /x/{proxy+}", "GET /x/a"]), vec![]);
    }

    #[test]
    fn keys_that_differ_only_in_variable_names_collide() {
        let found = collisions(["GET /x/{a}", "GET /x/{b}"]);
        assert!(found[0].message.contains("same requests"), "{}", found[0].message);
    }

    #[test]
    fn claims_collide_only_for_different_variable_names() {
        use crate::model::{ApiRoute, Spec};
        let collide = |one: &str, other: &str| {
            let claims = |route_key: &str| {
                Spec::ApiRoute(ApiRoute { route_key: route_key.to_string(), ..ApiRoute::test() }).claims()
            };
            claims(one).iter().any(|claim| claims(other).iter().any(|it| claim.collides(it)))
        };
        assert!(collide("GET /x/{a}", "POST /x/{b}/y"));
        assert!(collide("GET /x/{a}", "GET /x/{b}"));
        assert!(!collide("GET /x/{a}", "POST /x/{a}/y"));
        assert!(!collide("GET /x/{a}", "GET /y/{b}"));
        assert!(!collide("GET /x/{a}", "GET /x/{b+}"), "a greedy variable has its own position, as in `collisions`");
    }
}
