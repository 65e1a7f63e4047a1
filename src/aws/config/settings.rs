//! The settings of the connection to AWS in a provider configuration, independent of Terraform's types.
//!
//! `None` and empty collections mean "not set". The environment and the profile then apply, as in the AWS CLI.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::model::{IgnoreTags, Tags};

/// The settings of one provider configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) region: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) access_key: Option<String>,
    pub(crate) secret_key: Option<Secret>,
    pub(crate) token: Option<Secret>,
    pub(crate) shared_config_files: Vec<String>,
    pub(crate) shared_credentials_files: Vec<String>,
    /// Roles to assume one after the other.
    pub(crate) roles: Vec<Role>,
    /// A role to assume with a web identity token, before `roles`.
    pub(crate) web_identity: Option<WebIdentityRole>,
    pub(crate) sts_region: Option<String>,
    pub(crate) allowed_account_ids: Vec<String>,
    pub(crate) forbidden_account_ids: Vec<String>,
    pub(crate) default_tags: Tags,
    pub(crate) ignore_tags: IgnoreTags,
    /// IDs of roots whose protected objects may be deleted.
    pub(crate) allow_protected_deletion: BTreeSet<String>,
    /// URLs to call instead of AWS's own.
    pub(crate) endpoints: BTreeMap<Service, String>,
    pub(crate) use_fips_endpoint: Option<bool>,
    pub(crate) use_dualstack_endpoint: Option<bool>,
    /// The maximum number of attempts of a call, including the first one; 0 means 1.
    pub(crate) max_attempts: Option<u32>,
    pub(crate) retry_mode: Option<String>,
    /// The capacity for pending retries, for each service. `None` is no limit.
    pub(crate) retry_capacity: Option<usize>,
    /// A PEM file.
    pub(crate) custom_ca_bundle: Option<String>,
    /// Whether TLS certificates are not verified.
    pub(crate) insecure: bool,
    pub(crate) http_proxy: Option<String>,
    pub(crate) https_proxy: Option<String>,
    pub(crate) no_proxy: Option<String>,
    pub(crate) skip_metadata_api_check: bool,
    pub(crate) ec2_metadata_service_endpoint: Option<String>,
    pub(crate) ec2_metadata_service_endpoint_mode: Option<String>,
    pub(crate) skip_credentials_validation: bool,
    pub(crate) skip_requesting_account_id: bool,
    /// Products to append to the User-Agent header.
    pub(crate) user_agent: Vec<String>,
}

/// A role to assume.
#[derive(Clone, Debug, Default)]
pub(crate) struct Role {
    pub(crate) arn: String,
    pub(crate) session_name: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) duration: Option<Duration>,
    pub(crate) policy: Option<String>,
    pub(crate) policy_arns: Vec<String>,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) transitive_tag_keys: Vec<String>,
    pub(crate) source_identity: Option<String>,
}

/// A role to assume with a web identity token.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebIdentityRole {
    /// `None` is `AWS_ROLE_ARN`.
    pub(crate) arn: Option<String>,
    pub(crate) session_name: Option<String>,
    pub(crate) duration: Option<Duration>,
    pub(crate) policy: Option<String>,
    pub(crate) policy_arns: Vec<String>,
    pub(crate) token: Option<Secret>,
    /// `None` is `AWS_WEB_IDENTITY_TOKEN_FILE`.
    pub(crate) token_file: Option<String>,
}

/// An AWS service that this provider calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    Acm,
    ApiGateway,
    Ec2,
    Kms,
    Lambda,
    Logs,
    Route53,
    Sts,
}

impl Service {
    /// The name in `AWS_ENDPOINT_URL_<SERVICE>`, in lower case.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Service::Acm => "acm",
            Service::ApiGateway => "apigatewayv2",
            Service::Ec2 => "ec2",
            Service::Kms => "kms",
            Service::Lambda => "lambda",
            Service::Logs => "logs",
            Service::Route53 => "route53",
            Service::Sts => "sts",
        }
    }
}

/// A string that is never printed.
#[derive(Clone, PartialEq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The string.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(sensitive)")
    }
}
