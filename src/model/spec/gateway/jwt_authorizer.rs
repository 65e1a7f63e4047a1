//! JWT authorizers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind};
use crate::model::{Key, Need};
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
