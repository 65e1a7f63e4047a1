//! Lambda proxy integrations.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind};
use crate::model::{Key, Need};
use crate::plugin::Input;

/// A Lambda proxy integration. Key `integration.<name>`, where the name is the key of its first route when it was
/// created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Its API.
    pub api: Key,
    /// The function's ARN as configured.
    pub function_arn: Input<String>,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// Time in milliseconds after which API Gateway stops waiting, 50 to 30000.
    pub timeout_in_millis: Input<i64>,
    /// Description; an empty string in AWS is `None`.
    pub description: Input<Option<String>>,
    /// The permission that must exist as long as the integration is used; `None` for a function in another account.
    pub permission: Option<Key>,
}

impl Kind for Integration {
    fn kind(&self) -> &'static str {
        "integration"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The settings for calling a function. New routes with the same settings share it.",
            resource: "aws_apigatewayv2_integration",
            import_id: "API_ID/INTEGRATION_ID",
            attributes: &[
                ("api", &["api_id"]),
                ("function_arn", &["integration_uri"]),
                ("payload_format_version", &["payload_format_version"]),
                ("timeout_in_millis", &["timeout_milliseconds"]),
                ("description", &["description"]),
                ("permission", &[]),
            ],
        }
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict)];
        needs.extend(self.permission.iter().map(|permission| Need::new(permission, Restrict)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn is_recognized_by_content(&self) -> bool {
        true
    }
}
