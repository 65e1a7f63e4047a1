//! REQUEST authorizers.

use serde::{Deserialize, Serialize};

use super::in_order;
use crate::model::OnDelete::Restrict;
use crate::model::keys::gateway;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Key, Learned, LeftBehind, Need, Spec};
use crate::plugin::Input;

/// A REQUEST authorizer. Key `authorizer.<name>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Authorizer {
    /// Its API.
    pub api: Key,
    /// Its name, the key in `faas_authorizers`.
    pub name: String,
    /// Invoke URI of the function.
    pub authorizer_uri: Input<String>,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// The identity sources, such as `$request.header.Authorization`.
    pub identity_sources: Input<Vec<String>>,
    /// Time in seconds for which a result is cached; 0 turns caching off.
    pub result_ttl_in_seconds: Input<i64>,
    /// Whether the function returns a boolean instead of an IAM policy. Requires payload format version 2.0.
    pub enable_simple_responses: Input<bool>,
    /// ARN of a role that API Gateway assumes to call the function, instead of a permission.
    pub credentials_arn: Input<Option<String>>,
}

impl Kind for Authorizer {
    fn kind(&self) -> &'static str {
        "authorizer"
    }

    fn identity(&self) -> Identity {
        Identity::Inputs { slots: gateway::AUTHORIZER, input: "faas_authorizers", inputs: self.authorizer_uri.clone() }
    }

    /// It keeps its name in AWS.
    fn key_in(&self, _: &Key, slot: String) -> Key {
        let name = slot.strip_prefix(gateway::AUTHORIZER).unwrap_or(&slot);
        gateway::authorizer_in_aws(name, &self.clone().into())
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Calls a function that decides which requests are allowed.",
            resource: "aws_apigatewayv2_authorizer",
            import_id: "API_ID/AUTHORIZER_ID",
            attributes: &[
                ("api", &["api_id"]),
                ("name", &["name"]),
                ("authorizer_uri", &["authorizer_uri"]),
                ("payload_format_version", &["authorizer_payload_format_version"]),
                ("identity_sources", &["identity_sources"]),
                ("result_ttl_in_seconds", &["authorizer_result_ttl_in_seconds"]),
                ("enable_simple_responses", &["enable_simple_responses"]),
                ("credentials_arn", &["authorizer_credentials_arn"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // A read returns the unmanaged routes that use it, and then it stays in AWS. Only a route that was created
        // since is an error, and the next plan leaves the object.
        WhenInUse::Error
    }

    /// Inputs express all settings of a request authorizer.
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

    /// AWS may return identity sources in another order.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<Authorizer>(wanted) else { return };
        if let (Input::Known(found), Input::Known(sources)) = (&self.identity_sources, &wanted.identity_sources)
            && in_order(found, str::to_string) == in_order(sources, str::to_string)
        {
            self.identity_sources = wanted.identity_sources.clone();
        }
    }
}

/// The name in AWS of an authorizer of any type; `None` for another object.
pub fn authorizer_name(spec: &Spec) -> Option<&str> {
    match spec {
        Spec::Authorizer(it) => Some(&it.name),
        Spec::JwtAuthorizer(it) => Some(&it.name),
        _ => None,
    }
}

/// The same, mutably.
pub fn authorizer_name_mut(spec: &mut Spec) -> Option<&mut String> {
    match spec {
        Spec::Authorizer(it) => Some(&mut it.name),
        Spec::JwtAuthorizer(it) => Some(&mut it.name),
        _ => None,
    }
}
