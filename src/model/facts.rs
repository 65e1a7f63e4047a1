//! Lookups in AWS that a blueprint needs, and their results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outside::{Finding, Outside};

/// A lookup in AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The availability zones of the Region.
    AvailabilityZones,
    /// The names of the gateway endpoint services.
    GatewayEndpointServices,
    /// The interface endpoint service with this full name, or with this label of AWS, such as `ecr.api`.
    EndpointService(String),
    /// The ACM certificates in the Region for this domain.
    Certificates(String),
    /// The KMS key with this ID, alias or alias ARN.
    KmsKey(String),
    /// An object outside the topology that an input names. Only a plan makes it, when the input is new.
    Outside(Outside),
}

/// The results of the lookups; `None` for a lookup that was not made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The availability zones of the Region that the account may use, in any state, without Local Zones and Wavelength
    /// Zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zones: Option<Vec<AvailabilityZone>>,
    /// Full names of the gateway endpoint services, such as `com.amazonaws.eu-central-1.s3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_endpoint_services: Option<Vec<String>>,
    /// The interface endpoint services that were looked up, by the text of the lookup.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoint_services: BTreeMap<String, Found<EndpointOffer>>,
    /// The full names of all services of the Region, if one of those that were looked up is missing.
    #[serde(skip)]
    pub all_services: Vec<String>,
    /// The certificates in the Region for the requested domain that are issued and not expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Vec<Certificate>>,
    /// The ARN of the requested KMS key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<Found<String>>,
    /// The objects outside the topology that were looked up. Those that the credentials may not read are left out.
    #[serde(skip)]
    pub outside: BTreeMap<Outside, Finding>,
}

/// The result of a lookup of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found<T> {
    /// The object exists.
    There(T),
    /// The object does not exist, or not yet.
    Missing,
}

/// What AWS returns of an interface endpoint service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointOffer {
    /// Its full name, such as `com.amazonaws.eu-central-1.ecr.api`.
    pub name: String,
    /// The names of the AZs in which it is offered.
    pub availability_zones: Vec<String>,
    /// The types of addresses that it supports; empty if AWS returns none.
    pub address_types: Vec<String>,
    /// Whether it has private DNS names.
    pub has_private_dns: bool,
    /// Whether it accepts a policy.
    pub accepts_policy: bool,
    /// Whether it also has gateway endpoints.
    pub has_gateway: bool,
}

/// An ACM certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Its ARN, which stays the same when the certificate is renewed.
    pub arn: String,
    /// The names that it covers, in lowercase. The first label of a name may be `*`.
    pub names: Vec<String>,
    /// Its type.
    #[serde(default)]
    pub kind: CertificateType,
    /// The start of its validity, in seconds since 1970.
    pub not_before: i64,
    /// The time of its request or of its first import, in seconds since 1970; 0 if AWS did not return it.
    #[serde(default)]
    pub created_at: i64,
    /// Whether it was created after the start of the provider process, and so perhaps by the same run. Terraform plans
    /// again in an apply, and rejects another choice than that of the first plan.
    #[serde(default)]
    pub is_new: bool,
}

/// The type of an ACM certificate. Types whose certificates more clients trust are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificateType {
    /// A type that this version does not know.
    #[default]
    Other,
    /// Issued by a private CA, which only its own clients trust.
    Private,
    /// Imported. It may be self-signed, and ACM does not renew it.
    Imported,
    /// Issued by Amazon, trusted by all common clients, and renewed by ACM.
    AmazonIssued,
}

/// An availability zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AvailabilityZone {
    /// The name, such as `us-east-1a`. Names differ between accounts.
    pub name: String,
    /// The ID, such as `use1-az4`. IDs are the same for all accounts.
    pub id: String,
    /// `available`, `information`, `impaired` or `unavailable`.
    pub state: String,
}

impl Facts {
    /// The lookups that were not made, because their input was unknown at plan, or that found nothing. The same run may
    /// create the missing object between plan and apply.
    pub fn unanswered(&self, lookups: Vec<Lookup>) -> Vec<Lookup> {
        let is_unanswered = |lookup: &Lookup| match lookup {
            Lookup::AvailabilityZones => self.availability_zones.is_none(),
            Lookup::GatewayEndpointServices => self.gateway_endpoint_services.is_none(),
            Lookup::EndpointService(service) => !matches!(self.endpoint_services.get(service), Some(Found::There(_))),
            Lookup::Certificates(_) => self.certificates.as_ref().is_none_or(Vec::is_empty),
            Lookup::KmsKey(_) => !matches!(self.kms_key, Some(Found::There(_))),
            Lookup::Outside(outside) => !self.outside.contains_key(outside),
        };
        lookups.into_iter().filter(is_unanswered).collect()
    }

    /// The lookups whose result may be incomplete although it is not empty: the same run may create further objects of
    /// a list. `made` are the lookups that were made just before, whose results are complete.
    pub fn incomplete(lookups: Vec<Lookup>, made: &[Lookup]) -> Vec<Lookup> {
        let is_list = |lookup: &Lookup| matches!(lookup, Lookup::Certificates(_));
        lookups.into_iter().filter(|lookup| is_list(lookup) && !made.contains(lookup)).collect()
    }

    /// The facts that answer these lookups, without objects outside the topology.
    #[must_use]
    pub fn of(self, lookups: &[Lookup]) -> Facts {
        let has = |is_kind: fn(&Lookup) -> bool| lookups.iter().any(is_kind);
        Facts {
            availability_zones: self.availability_zones.filter(|_| has(|it| matches!(it, Lookup::AvailabilityZones))),
            gateway_endpoint_services: self
                .gateway_endpoint_services
                .filter(|_| has(|it| matches!(it, Lookup::GatewayEndpointServices))),
            endpoint_services: self
                .endpoint_services
                .into_iter()
                .filter(|(service, _)| lookups.contains(&Lookup::EndpointService(service.clone())))
                .collect(),
            all_services: Vec::new(),
            certificates: self.certificates.filter(|_| has(|it| matches!(it, Lookup::Certificates(_)))),
            kms_key: self.kms_key.filter(|_| has(|it| matches!(it, Lookup::KmsKey(_)))),
            outside: BTreeMap::new(),
        }
    }

    /// These facts, overridden by the results of later lookups.
    #[must_use]
    pub fn with(self, later: Facts) -> Facts {
        Facts {
            availability_zones: later.availability_zones.or(self.availability_zones),
            gateway_endpoint_services: later.gateway_endpoint_services.or(self.gateway_endpoint_services),
            endpoint_services: self.endpoint_services.into_iter().chain(later.endpoint_services).collect(),
            all_services: if later.all_services.is_empty() { self.all_services } else { later.all_services },
            certificates: later.certificates.or(self.certificates),
            kms_key: later.kms_key.or(self.kms_key),
            outside: self.outside.into_iter().chain(later.outside).collect(),
        }
    }
}

/// Whether one of the names of a certificate covers a domain: it equals the domain, or has `*` in place of its first
/// label.
pub(crate) fn covers<'a>(mut names: impl Iterator<Item = &'a str>, domain: &str) -> bool {
    let parent = domain.split_once('.').map(|(_, parent)| parent);
    names.any(|name| {
        let name = name.trim_end_matches('.');
        name.eq_ignore_ascii_case(domain)
            || name
                .strip_prefix("*.")
                .is_some_and(|zone| parent.is_some_and(|parent| zone.eq_ignore_ascii_case(parent)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_matches_exactly_one_label() {
        for (name, domain, is_covered) in [
            ("api.example.com", "api.example.com", true),
            ("API.Example.com", "api.example.com", true),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "*.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "a.api.example.com", false),
            ("example.com", "api.example.com", false),
            ("*.com", "example.org", false),
        ] {
            assert_eq!(covers([name].into_iter(), domain), is_covered, "{name} for {domain}");
        }
    }
}
