//! JWT authorizers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::keys::gateway;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{Key, Learned, LeftBehind, Need};
use crate::plugin::Input;

/// A JWT authorizer. Key `authorizer.<name>`, fixed by its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JwtAuthorizer {
    /// Its API.
    pub api: Key,
    /// Its name.
    pub name: String,
    /// The issuer of accepted tokens, exactly as in their claim `iss`.
    pub issuer: Input<String>,
    /// The values of which the claim `aud` or `client_id` contains one.
    pub audience: Input<BTreeSet<String>>,
    /// The part of a request that contains the token, such as `$request.header.Authorization`.
    pub identity_source: Input<String>,
}

impl Kind for JwtAuthorizer {
    fn kind(&self) -> &'static str {
        "JWT authorizer"
    }

    fn identity(&self) -> Identity {
        let inputs = match (&self.issuer, &self.audience) {
            (Input::Known(issuer), Input::Known(audience)) => {
                let all: Vec<&str> = std::iter::once(issuer).chain(audience).map(String::as_str).collect();
                Input::Known(all.join("\n"))
            }
            (Input::Unknown, _) | (_, Input::Unknown) => Input::Unknown,
        };
        Identity::Inputs { slots: gateway::AUTHORIZER, input: "jwt_authorizers", inputs }
    }

    /// It keeps its name in AWS.
    fn key_in(&self, _: &Key, slot: String) -> Key {
        let name = slot.strip_prefix(gateway::AUTHORIZER).unwrap_or(&slot);
        gateway::authorizer_in_aws(name, &self.clone().into())
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Accepts requests with a token of an issuer.",
            resource: "aws_apigatewayv2_authorizer",
            import_id: "API_ID/AUTHORIZER_ID",
            attributes: &[
                ("api", &["api_id"]),
                ("name", &["name"]),
                ("issuer", &["jwt_configuration.issuer"]),
                ("audience", &["jwt_configuration.audience"]),
                ("identity_source", &["identity_sources"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // The same as for an authorizer with a function.
        WhenInUse::Error
    }

    /// Inputs express all settings of a JWT authorizer.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::of_id(&self.api, Restrict)]
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn is_recognized_by_content(&self) -> bool {
        true
    }
}
