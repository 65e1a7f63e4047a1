//! Routes of an API.

use serde::{Deserialize, Serialize};

use super::Authorization;
use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref, RouteKey, printable};

/// A route of an API. Key `route.<route key>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiRoute {
    /// Its API.
    pub api: Key,
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// The integration; `None` for a route that was found without a target.
    pub integration: Option<Ref>,
    /// The requests that it accepts. States of earlier versions contain only the authorizer.
    #[serde(alias = "authorizer")]
    pub authorization: Authorization,
}

impl Kind for ApiRoute {
    fn kind(&self) -> &'static str {
        "route"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its route key, which is its identity in AWS, is its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A method and a path, with the integration that handles its requests and the authorizer \
                          that checks them.",
            resource: "aws_apigatewayv2_route",
            import_id: "API_ID/ROUTE_ID",
            attributes: &[
                ("api", &["api_id"]),
                ("route_key", &["route_key"]),
                ("integration", &["target"]),
                ("authorization", &["authorization_type", "authorizer_id", "authorization_scopes"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// The name of the operation.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        learned.left_behind()
    }

    fn weakened_by(&self, new: &dyn Kind) -> Option<LeftBehind> {
        let new = of::<ApiRoute>(new).filter(|new| new.authorization.is_weaker_than(&self.authorization))?;
        let (old, weaker) = (self.authorization.to_string(), new.authorization.to_string());
        let remedy = format!(
            "Set this authorization in route_config[{:?}]: {} accepts requests that it rejects.",
            printable(&new.route_key),
            printable(&weaker)
        );
        Some(LeftBehind::protecting(format!("authorization {}", printable(&old)), remedy))
    }

    fn is_protected_by_settings(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict)];
        needs.extend(self.integration.iter().flat_map(|target| Need::of(target, Restrict)));
        needs.extend(self.authorization.authorizer.iter().flat_map(|target| Need::of(target, Restrict)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn claims(&self) -> Vec<Claim> {
        let variables = RouteKey::parse(&self.route_key).map(|key| key.variables()).unwrap_or_default();
        let variable = |(place, name): (String, &str)| Claim::PathVariable { place, name: name.to_string() };
        let mut claims = vec![Claim::ApiRoute { route_key: self.route_key.clone() }];
        claims.extend(variables.into_iter().map(variable));
        claims
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        self.integration.iter_mut().chain(&mut self.authorization.authorizer).collect()
    }

    fn leads_to(&self) -> Vec<&Ref> {
        self.integration.iter().chain(&self.authorization.authorizer).collect()
    }

    fn answers_requests(&self) -> bool {
        true
    }

    /// Requests that both routes match move to the other one if API Gateway has preferred this one. A third route that
    /// it prefers to the other one receives them instead.
    fn exposed_by(&self, remaining: &[&dyn Kind]) -> Option<usize> {
        let key = RouteKey::parse(&self.route_key).ok()?;
        let others: Vec<Option<(&ApiRoute, RouteKey<'_>)>> = remaining
            .iter()
            .map(|other| of::<ApiRoute>(*other).and_then(|it| Some((it, RouteKey::parse(&it.route_key).ok()?))))
            .collect();
        let is_weaker = |other: &ApiRoute| other.authorization.is_weaker_than(&self.authorization);
        let is_covered = |by: &RouteKey<'_>| {
            let mut others = others.iter().flatten();
            others.any(|(it, other)| !is_weaker(it) && other.covers(&key) && other.precedes(by))
        };
        others.iter().position(|other| {
            other.as_ref().is_some_and(|(it, other)| {
                is_weaker(it) && other.overlaps(&key) && key.precedes(other) && !is_covered(other)
            })
        })
    }

    fn is_recognized_by_content(&self) -> bool {
        true
    }
}

impl ApiRoute {
    /// Whether both routes match the same requests: at most the names of their path variables differ.
    pub fn has_requests_of(&self, other: &ApiRoute) -> bool {
        let has_variables = self.route_key.contains('{') && other.route_key.contains('{');
        let shape = |route: &ApiRoute| RouteKey::parse(&route.route_key).ok().map(|key| key.shape());
        self.route_key == other.route_key || (has_variables && shape(self) == shape(other))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{ApiRoute, Authorization, Kind, Ref};

    fn route(key: &str, authorizer: Option<&str>) -> ApiRoute {
        let authorization = authorizer.map(|id| Authorization::custom(Ref::Id(id.into()))).unwrap_or_default();
        ApiRoute { route_key: key.into(), authorization, ..ApiRoute::test() }
    }

    /// The route that accepts requests of a deleted `GET /admin` with an authorizer.
    fn exposed(remaining: &[(&str, Option<&str>)]) -> Option<String> {
        let routes: Vec<ApiRoute> = remaining.iter().map(|(key, authorizer)| route(key, *authorizer)).collect();
        let kinds: Vec<&dyn Kind> = routes.iter().map(|it| it as &dyn Kind).collect();
        route("GET /admin", Some("a")).exposed_by(&kinds).map(|position| routes[position].route_key.clone())
    }

    #[test]
    fn a_weaker_route_receives_the_requests_of_a_deleted_one() {
        let default = ("$default", None);
        assert_eq!(exposed(&[("GET /other", None), default]).as_deref(), Some("$default"));
        assert_eq!(exposed(&[("ANY /{proxy+}", None)]).as_deref(), Some("ANY /{proxy+}"));
        assert_eq!(exposed(&[("GET /other", None), ("$default", Some("b"))]), None);
        assert_eq!(exposed(&[("ANY /admin", Some("a")), default]), None, "the protected route is preferred");
        let (broad, public) = (route("ANY /{name}", Some("a")), route("GET /admin", None));
        assert_eq!(broad.exposed_by(&[&public]), None, "its requests have always matched the public route");
        assert_eq!(exposed(&[("POST /admin", Some("a")), default]).as_deref(), Some("$default"));
        assert_eq!(exposed(&[("ANY /{proxy+}", Some("b")), ("GET /{name}", None)]).as_deref(), Some("GET /{name}"));
    }

    #[test]
    fn a_public_route_exposes_nothing() {
        let open = route("$default", None);
        assert_eq!(route("GET /admin", None).exposed_by(&[&open]), None);
    }
}
