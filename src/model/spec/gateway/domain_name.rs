//! Custom domains.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Api;
use crate::model::OnDelete::Restrict;
use crate::model::keys::gateway::DNS_RECORD_AAAA;
use crate::model::spec::kind::{Counterpart, Kind, of, tagged};
use crate::model::{Claim, Key, Need, Tags};
use crate::plugin::Input;

/// A custom domain, regional and with TLS 1.2. Key `domain`, fixed by its name, which is its ID.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainName {
    /// The API, which a domain does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// The name, in lowercase.
    pub domain_name: Input<String>,
    /// ARN of its certificate in ACM.
    pub certificate_arn: Input<String>,
    /// [`DomainName::REGIONAL`], unless it was changed outside Terraform.
    pub endpoint_type: String,
    /// [`DomainName::TLS_1_2`], unless it was changed outside Terraform.
    pub security_policy: String,
    /// [`Api::IPV4`] or [`Api::DUALSTACK`].
    #[serde(default = "Api::ipv4")]
    pub ip_address_type: Input<String>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for DomainName {
    fn kind(&self) -> &'static str {
        "custom domain"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A custom domain for the API, with its certificate.",
            resource: "aws_apigatewayv2_domain_name",
            import_id: "DOMAIN",
            attributes: &[
                ("api", &[]),
                ("domain_name", &["domain_name"]),
                ("certificate_arn", &["domain_name_configuration.certificate_arn"]),
                ("endpoint_type", &["domain_name_configuration.endpoint_type"]),
                ("security_policy", &["domain_name_configuration.security_policy"]),
                ("ip_address_type", &["domain_name_configuration.ip_address_type"]),
                ("tags", &["tags"]),
            ],
        }
    }

    /// AWS rejects the deletion of an API to which a path of a domain is mapped, and there may be unmanaged mappings.
    fn needs(&self) -> Vec<Need> {
        vec![Need::of_id(&self.api, Restrict)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Domain { name: self.domain_name.clone() }]
    }

    tagged!();

    /// Clients that use a record of type AAAA would find no endpoint.
    fn keep_references(&mut self, before: &dyn Kind, keys: &BTreeSet<Key>) {
        let has_record = keys.iter().any(|key| key.slot == DNS_RECORD_AAAA);
        if let (true, Some(before)) = (has_record, of::<DomainName>(before)) {
            self.ip_address_type.clone_from(&before.ip_address_type);
        }
    }

    fn holds_api_mappings(&self) -> bool {
        true
    }
}

impl DomainName {
    /// The only endpoint type that HTTP APIs support.
    pub const REGIONAL: &'static str = "REGIONAL";
    /// The only security policy that domains of HTTP APIs support. It accepts TLS 1.2 and 1.3. API Gateway does not map
    /// HTTP APIs to domains with one of its newer policies, whose names begin with `SecurityPolicy_`.
    pub const TLS_1_2: &'static str = "TLS_1_2";
}
