//! The custom domain, its certificate, its API mapping, and its DNS record.

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{ApiMapping, Certificate, DnsRecord, DomainName, Ref, Spec, covers};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::GatewayConfig;

impl Draft<'_> {
    /// Adds the domain, its mapping and its record. `None` if it is unknown whether they are required.
    pub(super) fn domain(&mut self, config: &GatewayConfig) -> Option<()> {
        let Some(name) = config.domain_name.known()? else { return Some(()) };
        let domain_name = Input::Known(name.clone());
        let domain = keys::domain(&domain_name);
        let spec = DomainName {
            api: self.api.clone(),
            domain_name: domain_name.clone(),
            certificate_arn: self.certificate_arn(config, name),
            endpoint_type: DomainName::REGIONAL.to_string(),
            security_policy: DomainName::TLS_1_2.to_string(),
            tags: self.scope.tags(&[]),
        };
        self.add(domain.clone(), Spec::DomainName(spec), vec![]);
        let mapping = keys::api_mapping(&domain);
        let spec = ApiMapping {
            api: self.api.clone(),
            stage: Ref::Key(keys::stage()),
            domain: domain.clone(),
            mapping_key: String::new(),
        };
        self.add(mapping.clone(), Spec::ApiMapping(spec), vec![]);
        if !*config.create_dns_entry.known()? {
            return Some(());
        }
        let zone_id = match &config.hosted_zone_id {
            Input::Unknown => Input::Unknown,
            // Validation has already reported a missing zone.
            Input::Known(zone_id) => Input::Known(zone_id.clone().unwrap_or_default()),
        };
        let key = keys::dns_record(&zone_id, &domain_name);
        let target = Ref::Key(domain);
        let spec = DnsRecord { zone_id, name: domain_name, target, evaluate_target_health: false };
        // The record depends on the mapping, so that requests to the name reach the API as soon as the record exists.
        self.add(key, Spec::DnsRecord(spec), vec![mapping]);
        Some(())
    }

    /// The current certificate as long as it is usable, otherwise the one with the latest start of validity.
    fn certificate_arn(&mut self, config: &GatewayConfig, domain: &str) -> Input<String> {
        let Some(found) = &self.facts.certificates else { return Input::Unknown };
        let chosen = self.existing.present().find_map(|entry| match &entry.applied {
            Spec::DomainName(applied) if applied.domain_name.known().is_some_and(|it| it == domain) => {
                applied.certificate_arn.known()
            }
            _ => None,
        });
        if let Some(certificate) = choose(found, domain, chosen) {
            return Input::Known(certificate.arn.clone());
        }
        let region = &self.scope.region;
        let (attribute, wanted) = match &config.certificate_domain {
            Input::Known(Some(wanted)) => ("certificate_domain", wanted.as_str()),
            _ => ("domain_name", domain),
        };
        let message = match found.first() {
            Some(other) => format!(
                "The certificate {} is for {}, which does not cover {domain:?}.",
                other.arn,
                other.names.join(", ")
            ),
            None => format!("ACM has no certificate for {wanted:?} in {region} that is issued and not expired."),
        };
        let hint = "Request or import a certificate in that Region, or set certificate_domain to another domain. If \
                    the same run creates the certificate, make the gateway depend on its validation.";
        self.missing.push(Problem::new(AttributePath::new(attribute), message, hint));
        Input::Unknown
    }
}

/// The domain by which certificates are looked up; `None` if no certificate is needed or the domain is unknown.
pub(in crate::topology::http_gateway) fn certificate_domain(config: &GatewayConfig) -> Option<&str> {
    let domain = config.domain_name.known()?.as_deref()?;
    Some(config.certificate_domain.known()?.as_deref().unwrap_or(domain))
}

/// Of the certificates that cover a domain, the one that was chosen before, otherwise the one with the latest start of
/// validity.
fn choose<'a>(found: &'a [Certificate], domain: &str, chosen: Option<&String>) -> Option<&'a Certificate> {
    let usable = || found.iter().filter(|it| covers(it.names.iter().map(String::as_str), domain));
    let before = chosen.and_then(|arn| usable().find(|it| it.arn == *arn));
    before.or_else(|| usable().max_by_key(|it| (it.not_before, &it.arn)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
        Certificate { arn: arn.into(), names: names.iter().map(|name| name.to_string()).collect(), not_before }
    }

    #[test]
    fn latest_certificate_is_chosen_and_then_kept() {
        let (old, new) = (certificate("old", &["*.example.com"], 1), certificate("new", &["api.example.com"], 2));
        let other = certificate("other", &["example.com"], 3);
        let all = [old, new, other];
        let domain = "api.example.com";
        assert_eq!(choose(&all, domain, None).map(|it| it.arn.as_str()), Some("new"));
        assert_eq!(choose(&all, domain, Some(&"old".into())).map(|it| it.arn.as_str()), Some("old"));
        assert_eq!(choose(&all[1..], domain, Some(&"old".into())).map(|it| it.arn.as_str()), Some("new"));
        assert_eq!(choose(&all[2..], domain, None), None);
    }
}
