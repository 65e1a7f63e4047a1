//! Custom domains.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind, tagged};
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
                ("tags", &["tags"]),
            ],
        }
    }

    /// AWS rejects the deletion of an API to which a path of a domain is mapped, and there may be unmanaged mappings.
    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, Restrict)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Domain { name: self.domain_name.clone() }]
    }

    tagged!();

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
