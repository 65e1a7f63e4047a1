//! Routes of an API.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind, of};
use crate::model::{Claim, Key, Need, Ref, RouteKey};

/// A route of an API. Key `route.<route key>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiRoute {
    /// Its API.
    pub api: Key,
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// The integration; `None` for a route that was found without a target.
    pub integration: Option<Ref>,
    /// The authorizer, if any.
    pub authorizer: Option<Ref>,
}

impl Kind for ApiRoute {
    fn kind(&self) -> &'static str {
        "route"
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
                ("authorizer", &["authorization_type", "authorizer_id"]),
            ],
        }
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict)];
        needs.extend(self.integration.iter().flat_map(|target| Need::of(target, Restrict)));
        needs.extend(self.authorizer.iter().flat_map(|target| Need::of(target, Restrict)));
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
        self.integration.iter_mut().chain(&mut self.authorizer).collect()
    }

    fn leads_to(&self) -> Vec<&Ref> {
        self.integration.iter().chain(&self.authorizer).collect()
    }

    fn answers_requests(&self) -> bool {
        true
    }

    fn is_recognized_by_content(&self) -> bool {
        true
    }

    /// Both match the same requests, and only names of path variables differ.
    fn can_be_renamed_to(&self, wanted: &dyn Kind) -> bool {
        let Some(wanted) = of::<ApiRoute>(wanted) else { return false };
        match (RouteKey::parse(&self.route_key), RouteKey::parse(&wanted.route_key)) {
            (Ok(key), Ok(wanted_key)) => self.route_key != wanted.route_key && key.shape() == wanted_key.shape(),
            _ => false,
        }
    }
}
