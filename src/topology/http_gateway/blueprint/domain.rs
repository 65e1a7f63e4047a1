//! The custom domain, its certificate, its API mapping, and its DNS record.

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{Api, ApiMapping, Certificate, DnsRecord, DomainName, Entry, Key, MutualTls, Ref, Spec, covers};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::GatewayConfig;

impl Draft<'_> {
    /// Adds the domain, its mapping and its record. `None` if it is unknown whether they are required.
    pub(super) fn domain(&mut self, config: &GatewayConfig) -> Option<()> {
        let Some(name) = config.domain_name.known()? else { return Some(()) };
        let (domain_name, ip_address_type) = (Input::Known(name.clone()), config.ip_address_type_of_domain());
        let domain = keys::domain(&domain_name);
        let spec = DomainName {
            api: self.api.clone(),
            domain_name: domain_name.clone(),
            certificate_arn: self.certificate_arn(config, name),
            endpoint_type: DomainName::REGIONAL.to_string(),
            security_policy: DomainName::TLS_1_2.to_string(),
            ip_address_type: ip_address_type.clone(),
            mutual_tls: config.mutual_tls(),
            tags: self.scope.tags(&[]),
        };
        self.check_mutual_tls(&domain, name, &spec.mutual_tls);
        self.add(domain.clone(), Spec::DomainName(spec), vec![]);
        self.disable_endpoint_after(domain.clone(), config);
        let mapping = keys::api_mapping(&domain);
        let spec = ApiMapping {
            api: self.api.clone(),
            stage: Ref::Key(keys::stage(config.stage_name.known()?)),
            domain: domain.clone(),
            mapping_key: String::new(),
        };
        self.add(mapping.clone(), Spec::ApiMapping(spec), vec![]);
        self.disable_endpoint_after(mapping.clone(), config);
        if !*config.create_dns_entry.known()? {
            return Some(());
        }
        let zone_id = match &config.hosted_zone_id {
            Input::Unknown => Input::Unknown,
            // Validation has already reported a missing zone.
            Input::Known(zone_id) => Input::Known(zone_id.clone().unwrap_or_default()),
        };
        for record_type in self.record_types(&domain, ip_address_type.known()?, &zone_id) {
            let key = keys::dns_record(record_type, &zone_id, &domain_name);
            let spec = DnsRecord {
                zone_id: zone_id.clone(),
                name: domain_name.clone(),
                record_type: record_type.to_string(),
                target: Ref::Key(domain.clone()),
            };
            // The record depends on the mapping, so that requests to the name reach the API as soon as it exists.
            self.add(key.clone(), Spec::DnsRecord(spec), vec![mapping.clone()]);
            self.disable_endpoint_after(key, config);
        }
        Some(())
    }

    /// The types of the records of a domain. Other builders add one of type AAAA to a domain with IPv4 addresses too.
    /// It stays as it was found, as long as the record of type A does.
    fn record_types(&self, domain: &Key, ip_address_type: &str, zone_id: &Input<String>) -> &'static [&'static str] {
        let record = keys::dns_record(DnsRecord::AAAA, zone_id, &domain.fixed);
        let is_ipv4 = |entry: &Entry| {
            let applied = DomainName::of(&entry.applied);
            applied.is_some_and(|it| it.ip_address_type == Input::Known(Api::IPV4.to_string()))
        };
        let has =
            |key: &Key, holds: &dyn Fn(&Entry) -> bool| self.existing.current().any(|it| it.key == *key && holds(it));
        match has(domain, &is_ipv4) && has(&record, &|_| true) {
            true => DnsRecord::types(Api::DUALSTACK),
            false => DnsRecord::types(ip_address_type),
        }
    }

    /// Reports what AWS cannot change, and warns of changes of who can call the API.
    fn check_mutual_tls(&mut self, domain: &Key, name: &str, wanted: &Input<Option<MutualTls>>) {
        let path = || AttributePath::new(DomainName::MUTUAL_TLS);
        let entry = self.existing.current().find(|entry| entry.key == *domain && !entry.is_missing());
        let Some((entry, now)) = entry.and_then(|entry| Some((entry, DomainName::of(entry.spec())?))) else { return };
        let managed = now.mutual_tls.known().and_then(Option::as_ref);
        let is_on =
            managed.is_some_and(MutualTls::is_on) || entry.learned.unexpressed.contains_key(DomainName::MUTUAL_TLS);
        match wanted.known() {
            Some(Some(wanted)) if !wanted.is_on() && is_on => self.warnings.push(Problem::new(
                path(),
                format!(
                    "{name} no longer asks for a client certificate. Every client that reaches it can call the API, \
                     unless the authorization of a route rejects the request."
                ),
                "To keep mutual TLS, set truststore_uri to the URI of the trust store.",
            )),
            Some(Some(wanted)) => {
                let has_version = managed.is_some_and(|it| it.truststore_version.is_some());
                if entry.is_applied() && wanted.is_on() && has_version && wanted.truststore_version.is_none() {
                    self.problems.push(Problem::new(
                        path().attribute("truststore_version"),
                        "truststore_version cannot be removed alone: API Gateway has no call for it.",
                        "Set the version to use.",
                    ));
                }
            }
            Some(None) => {
                if let Some(managed) = managed.filter(|it| it.is_on() || entry.is_applied()) {
                    let message = format!("It is no longer managed: {name} keeps {managed}.");
                    let hint =
                        format!("To turn mutual TLS off, set {} = {}.", DomainName::MUTUAL_TLS, MutualTls::off());
                    self.warnings.push(Problem::new(path(), message, hint));
                }
            }
            None => {}
        }
    }

    /// Lets the update that disables the endpoint of the API wait for what replaces it.
    fn disable_endpoint_after(&mut self, key: Key, config: &GatewayConfig) {
        if config.disable_execute_api_endpoint != Input::Known(false) {
            let api = self.objects.iter_mut().find(|object| object.key == self.api);
            if let Some(api) = api {
                api.updated_after.push(key);
            }
        }
    }

    /// The configured certificate, or the best one that the lookup found.
    ///
    /// The current certificate has no precedence: ACM does not delete a certificate that a domain uses, so an old one
    /// can be removed only after the domain has changed to its successor. An apply does not choose again, because the
    /// planned value of `certificate_arn` is its input.
    fn certificate_arn(&mut self, config: &GatewayConfig, domain: &str) -> Input<String> {
        match &config.certificate_arn {
            Input::Unknown => return Input::Unknown,
            Input::Known(Some(arn)) => return Input::Known(arn.clone()),
            Input::Known(None) => {}
        }
        let Some(found) = &self.facts.certificates else { return Input::Unknown };
        if let Some(certificate) = choose(found, domain) {
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
                    the same run creates the certificate, set certificate_arn to the certificate_arn of its \
                    validation, or make the gateway depend on the validation.";
        self.missing.push(Problem::new(AttributePath::new(attribute), message, hint));
        Input::Unknown
    }
}

/// The domain by which certificates are looked up; `None` if no lookup is needed or the domain is unknown.
pub(in crate::topology::http_gateway) fn certificate_domain(config: &GatewayConfig) -> Option<&str> {
    if config.certificate_arn != Input::Known(None) {
        return None;
    }
    let domain = config.domain_name.known()?.as_deref()?;
    Some(config.certificate_domain.known()?.as_deref().unwrap_or(domain))
}

/// Of the certificates that cover a domain, the one of the best type that was requested or imported last. A renewal
/// changes the start of validity but not this time, so certificates that are renewed in turn do not alternate. Where
/// AWS does not return the time, the start of validity decides.
fn choose<'a>(found: &'a [Certificate], domain: &str) -> Option<&'a Certificate> {
    let usable = found.iter().filter(|it| covers(it.names.iter().map(String::as_str), domain));
    usable.max_by_key(|it| (!it.is_new, it.kind, it.created_at, it.not_before, &it.arn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CertificateType;

    const DOMAIN: &str = "api.example.com";

    fn certificate(arn: &str, name: &str, kind: CertificateType, not_before: i64, created_at: i64) -> Certificate {
        Certificate { arn: arn.into(), names: vec![name.into()], kind, not_before, created_at, is_new: false }
    }

    fn chosen(found: &[Certificate]) -> Option<&str> {
        let mut reversed = found.to_vec();
        reversed.reverse();
        let arn = choose(found, DOMAIN).map(|it| it.arn.as_str());
        assert_eq!(choose(&reversed, DOMAIN).map(|it| it.arn.as_str()), arn, "the order does not matter");
        arn
    }

    #[test]
    fn type_precedes_age_and_age_precedes_arn() {
        use CertificateType::{AmazonIssued, Imported, Other, Private};
        // Each is better than all before it.
        let ranked = [
            certificate("h", DOMAIN, Other, 90, 90),
            certificate("g", DOMAIN, Private, 80, 80),
            certificate("f", "*.example.com", Imported, 70, 70),
            certificate("e", DOMAIN, Imported, 60, 75),
            certificate("d", DOMAIN, AmazonIssued, 30, 0),
            certificate("c", "*.example.com", AmazonIssued, 20, 30),
            certificate("a", DOMAIN, AmazonIssued, 10, 40),
            certificate("b", DOMAIN, AmazonIssued, 10, 40),
        ];
        for count in 1..=ranked.len() {
            assert_eq!(chosen(&ranked[..count]), Some(ranked[count - 1].arn.as_str()));
        }
    }

    #[test]
    fn certificates_that_are_renewed_in_turn_do_not_alternate() {
        let of = |arn, not_before, created_at| {
            certificate(arn, DOMAIN, CertificateType::AmazonIssued, not_before, created_at)
        };
        let (old, new) = (of("old", 100, 1), of("new", 50, 2));
        assert_eq!(chosen(&[old, new.clone()]), Some("new"), "the old one was renewed last");
        assert_eq!(chosen(&[of("old", 100, 1), of("new", 150, 2)]), Some("new"));
        // A successor is chosen at once, because ACM does not delete a certificate that is in use.
        assert_eq!(chosen(&[new, of("successor", 40, 3)]), Some("successor"));
    }

    #[test]
    fn certificate_that_does_not_cover_the_domain_is_not_chosen() {
        let other = certificate("other", "example.com", CertificateType::AmazonIssued, 9, 9);
        let usable = certificate("usable", "*.example.com", CertificateType::Private, 1, 1);
        assert_eq!(chosen(std::slice::from_ref(&other)), None);
        assert_eq!(chosen(&[other, usable]), Some("usable"));
    }
}
