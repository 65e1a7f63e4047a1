//! Custom domains.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Api;
use crate::model::OnDelete::Restrict;
use crate::model::keys::gateway::DNS_RECORD_AAAA;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags, printable};
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
    /// Mutual TLS; `None` if it is not managed.
    #[serde(default)]
    pub mutual_tls: Input<Option<MutualTls>>,
    /// Tags.
    pub tags: Tags,
}

/// Whether a domain asks clients for a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutualTls {
    /// The object in S3 with the certificates of the issuers, such as `s3://bucket/key`. Empty if mutual TLS is off.
    pub truststore_uri: String,
    /// The version of that object; `None` if it is not managed. AWS then takes the version that is current when the
    /// URI is set.
    pub truststore_version: Option<String>,
}

impl MutualTls {
    /// No client needs a certificate.
    pub fn off() -> MutualTls {
        MutualTls { truststore_uri: String::new(), truststore_version: None }
    }

    /// Whether clients need a certificate.
    pub fn is_on(&self) -> bool {
        !self.truststore_uri.is_empty()
    }

    /// Whether the found setting, as text, is this one with a version of the trust store. With the same URI and no
    /// version, AWS takes the current one, and thus other certificates.
    fn is_without_version_of(&self, found: &str) -> bool {
        let text = self.to_string();
        self.is_on() && found != text && found.starts_with(text.trim_end_matches(" }"))
    }

    /// This setting as found in AWS, without a version that `wanted` does not manage.
    #[must_use]
    pub fn managed_by(self, wanted: &MutualTls) -> MutualTls {
        let is_managed = wanted.truststore_version.is_some() || self.truststore_uri != wanted.truststore_uri;
        MutualTls { truststore_version: self.truststore_version.filter(|_| is_managed), ..self }
    }
}

/// As in a configuration.
impl Display for MutualTls {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{{ truststore_uri = {:?}", printable(&self.truststore_uri))?;
        if let Some(version) = &self.truststore_version {
            write!(out, ", truststore_version = {:?}", printable(version))?;
        }
        out.write_str(" }")
    }
}

impl Kind for DomainName {
    fn kind(&self) -> &'static str {
        "custom domain"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a gateway has one")
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
                (
                    "mutual_tls",
                    &["mutual_tls_authentication.truststore_uri", "mutual_tls_authentication.truststore_version"],
                ),
                ("tags", &["tags"]),
            ],
        }
    }

    /// Mutual TLS, the routing mode and the certificate that verifies the ownership.
    fn left_behind(&self, learned: &Learned, new: &dyn Kind) -> Vec<LeftBehind> {
        let mut others = learned.clone();
        let found = others.unexpressed.remove(DomainName::MUTUAL_TLS);
        let new = of::<DomainName>(new).map(|new| &new.mutual_tls);
        let is_left = |found: &String| match new {
            Some(Input::Known(Some(new))) => new.is_without_version_of(found),
            new => new.is_some(),
        };
        let found = found.filter(is_left);
        let protection = found.map(|found| {
            let remedy = format!("Set {} = {found}.", DomainName::MUTUAL_TLS);
            LeftBehind::protecting(format!("{} {found}", DomainName::MUTUAL_TLS), remedy)
        });
        protection.into_iter().chain(others.left_behind()).collect()
    }

    fn weakened_by(&self, new: &dyn Kind) -> Option<LeftBehind> {
        let new = of::<DomainName>(new)?.mutual_tls.known()?.as_ref()?;
        let found = self.mutual_tls.known()?.as_ref().filter(|it| it.is_on() && *it != new)?;
        let remedy = format!("Set {} = {found}.", DomainName::MUTUAL_TLS);
        Some(LeftBehind::protecting(format!("{} {found}", DomainName::MUTUAL_TLS), remedy))
    }

    fn is_protected_by_settings(&self) -> bool {
        true
    }

    fn drop_protection(&mut self) {
        self.mutual_tls = Input::Known(None);
    }

    /// AWS rejects the deletion of an API to which a path of a domain is mapped, and there may be unmanaged mappings.
    fn when_in_use(&self) -> WhenInUse {
        // AWS would delete the mappings of other APIs with it, so the provider refuses that itself.
        WhenInUse::Error
    }

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

    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        if let Some(wanted) = of::<DomainName>(wanted) {
            self.keep_managed_of(wanted);
        }
    }
}

impl DomainName {
    /// The input for mutual TLS, and the name of the setting in `unexpressed`.
    pub const MUTUAL_TLS: &'static str = "mutual_tls_authentication";
    /// The only endpoint type that HTTP APIs support.
    pub const REGIONAL: &'static str = "REGIONAL";
    /// The only security policy that domains of HTTP APIs support. It accepts TLS 1.2 and 1.3. API Gateway does not map
    /// HTTP APIs to domains with one of its newer policies, whose names begin with `SecurityPolicy_`.
    pub const TLS_1_2: &'static str = "TLS_1_2";

    /// Removes the settings that another spec does not manage.
    pub fn keep_managed_of(&mut self, other: &DomainName) {
        let (Input::Known(found), Input::Known(wanted)) = (&mut self.mutual_tls, &other.mutual_tls) else { return };
        *found = match wanted {
            Some(wanted) => found.take().map(|found| found.managed_by(wanted)),
            None => None,
        };
    }
}
