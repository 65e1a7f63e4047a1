//! An API with its stage, routes, integrations and authorizers.

use super::FoundTags;
use crate::model::{Authorization, Stage};

/// An API and the objects in it, as far as a gateway can contain them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiLandscape {
    /// The ID of the API.
    pub api_id: String,
    /// Its tags.
    pub tags: FoundTags,
    /// Its protocol, `HTTP` or `WEBSOCKET`.
    pub protocol: String,
    /// Its stages.
    pub stages: Vec<FoundStage>,
    /// Its routes.
    pub routes: Vec<FoundRoute>,
    /// Its integrations.
    pub integrations: Vec<FoundIntegration>,
    /// Its authorizers.
    pub authorizers: Vec<FoundAuthorizer>,
}

impl ApiLandscape {
    /// The stage that a gateway can manage: the wanted one or, without it, the only one or, of several, `$default`.
    pub fn stage(&self, wanted: Option<&str>) -> Option<&FoundStage> {
        if let Some(stage) = self.stages.iter().find(|stage| Some(stage.name.as_str()) == wanted) {
            return Some(stage);
        }
        match &self.stages[..] {
            [only] => Some(only),
            all => all.iter().find(|stage| stage.name == Stage::DEFAULT),
        }
    }
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundStage {
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: FoundTags,
    /// Whether AWS manages it, because it is part of a quick create.
    pub is_managed_by_aws: bool,
    /// Whether AWS deploys changes to it.
    pub auto_deploy: bool,
}

/// A route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundRoute {
    /// Its ID.
    pub id: String,
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// Whether AWS manages it, because it is part of a quick create.
    pub is_managed_by_aws: bool,
    /// The ID of its integration.
    pub integration: Option<String>,
    /// Its authorization. The authorizer is an ID.
    pub authorization: Authorization,
}

impl FoundRoute {
    /// The ID of its authorizer.
    pub fn authorizer(&self) -> Option<&str> {
        self.authorization.authorizer_id()
    }
}

/// An integration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundIntegration {
    /// Its ID.
    pub id: String,
    /// Why no inputs of a gateway express it, if there is a reason.
    pub inexpressible: Option<String>,
}

/// An authorizer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundAuthorizer {
    /// Its ID.
    pub id: String,
    /// Why no inputs of a gateway express it, if there is a reason.
    pub inexpressible: Option<String>,
}
