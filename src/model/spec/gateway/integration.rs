//! Integrations of an API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{FunctionArn, Key, Learned, LeftBehind, Need, Ref, check_role};
use crate::plugin::Input;

/// An integration. Key `integration.<name>`, where the name is the key of its first route when it was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Its API.
    pub api: Key,
    /// What it passes requests to.
    #[serde(flatten)]
    pub target: Target,
    /// `1.0` or `2.0`.
    pub payload_format_version: Input<String>,
    /// Time in milliseconds after which API Gateway stops waiting, 50 to 30000.
    pub timeout_in_millis: Input<i64>,
    /// Description; an empty string in AWS is `None`.
    pub description: Input<Option<String>>,
    /// Changes of requests, or the parameters of the action of a service.
    #[serde(default)]
    pub request_parameters: Input<Parameters>,
    /// Changes of responses by status code. No code is without changes.
    #[serde(default)]
    pub response_parameters: Input<BTreeMap<String, Parameters>>,
    /// The permission that must exist as long as the integration is used; `None` without one, for example for a
    /// function in another account.
    pub permission: Option<Key>,
}

/// Parameters by name. No value is empty.
pub type Parameters = BTreeMap<String, String>;

/// What an integration passes requests to. AWS changes no integration to another variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Target {
    /// A Lambda function.
    Function {
        /// Its ARN as configured.
        function_arn: Input<String>,
        /// ARN of the role that calls it; `None` if a permission allows the calls.
        #[serde(default)]
        credentials_arn: Input<Option<String>>,
    },
    /// An HTTP endpoint.
    Http {
        /// Its URL or, behind a VPC link, the ARN of a listener or a Cloud Map service.
        integration_uri: Input<String>,
        /// The method of its requests; `ANY` for that of the client.
        integration_method: Input<String>,
        /// The VPC link of a private endpoint.
        vpc_link: Option<Ref>,
        /// The name in the certificate of a private endpoint with HTTPS.
        server_name_to_verify: Input<Option<String>>,
    },
    /// An action of an AWS service.
    Service {
        /// The action, such as `SQS-SendMessage`.
        integration_subtype: Input<String>,
        /// ARN of the role that calls it.
        credentials_arn: Input<Option<String>>,
    },
}

impl Target {
    /// The method that is the client's own.
    pub const ANY: &'static str = "ANY";

    /// A function, called by permission.
    pub fn function(function_arn: impl Into<String>) -> Target {
        Target::Function { function_arn: Input::Known(function_arn.into()), credentials_arn: Input::Known(None) }
    }

    /// Whether one call can change an integration with this target to the other one. AWS documents no call that removes
    /// a role, a VPC link or the TLS configuration, and changes of services have been rejected for years.
    fn can_become(&self, to: &Target) -> bool {
        match (self, to) {
            (Target::Function { credentials_arn: from, .. }, Target::Function { credentials_arn: to, .. }) => {
                *from == Input::Known(None) || *to != Input::Known(None)
            }
            (
                Target::Http { vpc_link: from_link, server_name_to_verify: from, .. },
                Target::Http { vpc_link: to_link, server_name_to_verify: to, .. },
            ) => {
                let has_tls = |name: &Input<Option<String>>| *name != Input::Known(None);
                has_tls(from) == has_tls(to) && (from_link.is_none() || to_link.is_some())
            }
            _ => self == to,
        }
    }
}

impl Integration {
    /// The function that it calls, if that is known.
    pub fn function_arn(&self) -> Option<&String> {
        match &self.target {
            Target::Function { function_arn, .. } => function_arn.known(),
            Target::Http { .. } | Target::Service { .. } => None,
        }
    }

    /// The function that API Gateway needs a permission to call. `None` if it assumes a role instead.
    pub fn function_to_allow(&self) -> Option<&String> {
        match &self.target {
            Target::Function { credentials_arn: Input::Known(None), .. } => self.function_arn(),
            _ => None,
        }
    }

    /// Why no inputs of a gateway express it, if there is a reason.
    pub fn inexpressible(&self) -> Option<String> {
        let of_role = |role: &Input<Option<String>>| match role {
            Input::Known(Some(role)) if role.ends_with(":user/*") => {
                Some(format!("no input expresses the credentials of the caller, which are its {role}"))
            }
            Input::Known(Some(role)) if check_role(role).is_err() => {
                Some(format!("no input expresses its credentials {role}, which are not a role"))
            }
            _ => None,
        };
        match &self.target {
            Target::Function { function_arn, credentials_arn } => {
                let invalid = function_arn.known().filter(|arn| FunctionArn::parse(arn).is_err());
                let of_function =
                    invalid.map(|uri| format!("no input expresses its URI {uri}, which is not a function"));
                of_function.or_else(|| of_role(credentials_arn))
            }
            Target::Http { .. } => None,
            Target::Service { credentials_arn: Input::Known(None), integration_subtype } => {
                let action = integration_subtype.known().map_or("", String::as_str);
                Some(format!("no input expresses the action {action} without a role"))
            }
            Target::Service { credentials_arn, .. } => of_role(credentials_arn),
        }
    }

    /// Whether one call can change it to the other one. An action of a service never changes. That a parameter of a
    /// response can be removed while others of the same status code stay is not documented.
    pub fn can_become(&self, to: &Integration) -> bool {
        let keeps_names = |from: &Parameters, to: &Parameters| from.keys().all(|name| to.contains_key(name));
        let keeps_parameters = match (&self.response_parameters, &to.response_parameters) {
            (Input::Known(from), Input::Known(to)) => {
                from.iter().all(|(code, from)| to.get(code).is_none_or(|to| keeps_names(from, to)))
            }
            _ => true,
        };
        match self.target {
            Target::Service { .. } => self == to,
            Target::Function { .. } | Target::Http { .. } => self.target.can_become(&to.target) && keeps_parameters,
        }
    }

    /// The same without its permission, which is no part of it in AWS.
    #[must_use]
    pub fn content(&self) -> Integration {
        Integration { permission: None, ..self.clone() }
    }
}

/// The rows of all targets, with those of one.
macro_rules! rows {
    ($(($field:literal, $attributes:expr)),* $(,)?) => {
        &[
            ("api", &["api_id"]),
            $(($field, $attributes),)*
            ("payload_format_version", &["payload_format_version"]),
            ("timeout_in_millis", &["timeout_milliseconds"]),
            ("description", &["description"]),
            ("request_parameters", &["request_parameters"]),
            ("response_parameters", &["response_parameters"]),
            ("permission", &[]),
        ]
    };
}

impl Kind for Integration {
    fn kind(&self) -> &'static str {
        "integration"
    }

    fn identity(&self) -> Identity {
        Identity::Key("it keeps the key of the first route that used it")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The settings for calling a function, an HTTP endpoint or an AWS service. New routes with the \
                          same settings share it.",
            resource: "aws_apigatewayv2_integration",
            import_id: "API_ID/INTEGRATION_ID",
            attributes: match self.target {
                Target::Function { .. } => rows! {
                    ("function_arn", &["integration_uri"]),
                    ("credentials_arn", &["credentials_arn"]),
                },
                Target::Http { .. } => rows! {
                    ("integration_uri", &["integration_uri"]),
                    ("integration_method", &["integration_method"]),
                    ("vpc_link", &["connection_type", "connection_id"]),
                    ("server_name_to_verify", &["tls_config.server_name_to_verify"]),
                },
                Target::Service { .. } => rows! {
                    ("integration_subtype", &["integration_subtype"]),
                    ("credentials_arn", &["credentials_arn"]),
                },
            },
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // The same as for an authorizer.
        WhenInUse::Error
    }

    /// Inputs express all settings of an integration of an HTTP API.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict)];
        needs.extend(self.permission.iter().map(|permission| Need::new(permission, Restrict)));
        if let Target::Http { vpc_link: Some(link), .. } = &self.target {
            needs.extend(Need::of(link, Restrict));
        }
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        match &mut self.target {
            Target::Http { vpc_link, .. } => vpc_link.iter_mut().collect(),
            Target::Function { .. } | Target::Service { .. } => Vec::new(),
        }
    }

    /// A VPC link by the ID in the configuration.
    fn is_given(&self, id: &str) -> bool {
        matches!(&self.target, Target::Http { vpc_link: Some(Ref::Id(given)), .. } if given == id)
    }

    fn is_recognized_by_content(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Spec;

    const FUNCTION: &str = "arn:aws:lambda:us-east-1:123456789012:function:orders";

    fn to(target: Target) -> Integration {
        Integration { target, ..Integration::test() }
    }

    fn http(link: Option<&str>, name: Option<&str>) -> Integration {
        to(Target::Http {
            integration_uri: Input::Known("https://a.example.com".into()),
            integration_method: Input::Known(Target::ANY.into()),
            vpc_link: link.map(|id| Ref::Id(id.into())),
            server_name_to_verify: Input::Known(name.map(str::to_string)),
        })
    }

    fn function(role: Option<&str>) -> Integration {
        to(Target::Function {
            function_arn: Input::Known(FUNCTION.into()),
            credentials_arn: Input::Known(role.map(str::to_string)),
        })
    }

    fn service() -> Integration {
        to(Target::Service {
            integration_subtype: Input::Known("SQS-SendMessage".into()),
            credentials_arn: Input::Known(Some("role".into())),
        })
    }

    fn answering(codes: &[(&str, &[&str])]) -> Integration {
        let parameters = |names: &[&str]| names.iter().map(|name| (name.to_string(), "x".to_string())).collect();
        let all = codes.iter().map(|(code, names)| (code.to_string(), parameters(names)));
        Integration { response_parameters: Input::Known(all.collect()), ..function(None) }
    }

    #[test]
    fn states_of_earlier_versions_are_read() {
        let stored = json!({
            "kind": "integration", "api": Key::new("api"), "function_arn": FUNCTION, "payload_format_version": "2.0",
            "timeout_in_millis": 30000, "description": null, "permission": null,
        });
        assert_eq!(serde_json::from_value::<Spec>(stored).unwrap(), Spec::Integration(function(None)));
        let unknown = to(Target::Function { function_arn: Input::Unknown, credentials_arn: Input::Unknown });
        for spec in [function(Some("role")), http(None, None), http(Some("link"), Some("a")), service(), unknown] {
            let stored = serde_json::to_value(&spec).unwrap();
            assert_eq!(serde_json::from_value::<Integration>(stored).unwrap(), spec);
        }
    }

    #[test]
    fn an_integration_changes_in_place_only_as_aws_documents() {
        let other = Integration { timeout_in_millis: Input::Known(50), ..service() };
        let both: &[(&str, &[&str])] = &[("500", &["a", "b"])];
        for (from, to, expected) in [
            (function(None), function(Some("role")), true),
            (function(Some("role")), function(None), false),
            (function(None), http(None, None), false),
            (http(None, None), http(Some("link"), None), true),
            (http(Some("link"), None), http(Some("other"), None), true),
            (http(Some("link"), None), http(None, None), false),
            (http(Some("link"), None), http(Some("link"), Some("a")), false),
            (http(Some("link"), Some("a")), http(Some("link"), Some("b")), true),
            (http(Some("link"), Some("a")), http(Some("link"), None), false),
            (service(), service(), true),
            (service(), other, false),
            (answering(&[("500", &["a"])]), answering(both), true),
            (answering(both), answering(&[("500", &["a"])]), false),
            (answering(both), answering(&[]), true),
        ] {
            assert_eq!(from.can_become(&to), expected, "{from:?} {to:?}");
        }
    }
}
