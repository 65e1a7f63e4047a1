//! What is looked up in AWS for a blueprint, and what was found.

use serde::{Deserialize, Serialize};

/// Something to look up in AWS before a blueprint can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The AZs of the Region.
    AvailabilityZones,
    /// The names of the gateway endpoint services.
    GatewayEndpointServices,
    /// The certificates of the Region for this domain.
    Certificates(String),
    /// The key with this id, alias or alias ARN.
    KmsKey(String),
}

/// What was looked up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The AZs of the Region that the account may use, real ones only, in any state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zones: Option<Vec<AvailabilityZone>>,
    /// Full names of the gateway endpoint services, such as `com.amazonaws.eu-central-1.s3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_endpoint_services: Option<Vec<String>>,
    /// The certificates of the Region for the domain that was asked for: issued and not expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Vec<Certificate>>,
    /// The key that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<Found<String>>,
}

/// What a look for one thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found<T> {
    /// It is there.
    There(T),
    /// It is not there, or not yet.
    Missing,
}

/// A certificate of ACM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Its ARN, by which a renewal does not change it.
    pub arn: String,
    /// The names that it is for, some of them with a wildcard as their first label, in lower case.
    pub names: Vec<String>,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
}

/// One AZ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AvailabilityZone {
    /// Such as `us-east-1a`. Names differ between accounts.
    pub name: String,
    /// Such as `use1-az4`. Ids are the same for all accounts.
    pub id: String,
    /// `available`, `information`, `impaired` or `unavailable`.
    pub state: String,
}

impl Facts {
    /// The look-ups that nobody has made, because at plan their input was unknown, or that found nothing. What they
    /// look for may be made by the same run, between plan and apply.
    pub fn unanswered(&self, lookups: Vec<Lookup>) -> Vec<Lookup> {
        let is_unanswered = |lookup: &Lookup| match lookup {
            Lookup::AvailabilityZones => self.availability_zones.is_none(),
            Lookup::GatewayEndpointServices => self.gateway_endpoint_services.is_none(),
            Lookup::Certificates(_) => self.certificates.as_ref().is_none_or(Vec::is_empty),
            Lookup::KmsKey(_) => !matches!(self.kms_key, Some(Found::There(_))),
        };
        lookups.into_iter().filter(is_unanswered).collect()
    }

    /// The look-ups whose answer may have too little in it, although it is not empty: what a blueprint misses in a list
    /// may be made by the same run too. `asked` has been asked just now.
    pub fn incomplete(lookups: Vec<Lookup>, asked: &[Lookup]) -> Vec<Lookup> {
        let is_list = |lookup: &Lookup| matches!(lookup, Lookup::Certificates(_));
        lookups.into_iter().filter(|lookup| is_list(lookup) && !asked.contains(lookup)).collect()
    }

    /// The same, with the answers of a later look.
    #[must_use]
    pub fn with(self, later: Facts) -> Facts {
        Facts {
            availability_zones: later.availability_zones.or(self.availability_zones),
            gateway_endpoint_services: later.gateway_endpoint_services.or(self.gateway_endpoint_services),
            certificates: later.certificates.or(self.certificates),
            kms_key: later.kms_key.or(self.kms_key),
        }
    }
}

/// Whether one of a certificate's names is a domain, or has a wildcard in place of its first label.
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
    fn a_wildcard_stands_for_one_label_and_not_for_none() {
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
