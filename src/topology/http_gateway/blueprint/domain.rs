//! The custom domain, its certificate, what it leads to, and its DNS record.

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{ApiMapping, DnsRecord, DomainName, Ref, Spec};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::certificate;
use crate::topology::http_gateway::config::GatewayConfig;

impl Draft<'_> {
    /// The domain and what belongs to it. `None` while it is not known whether there are any.
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
            // That it is missing has been reported by validation.
            Input::Known(zone_id) => Input::Known(zone_id.clone().unwrap_or_default()),
        };
        let key = keys::dns_record(&zone_id, &domain_name);
        let target = Ref::Key(domain);
        let spec = DnsRecord { zone_id, name: domain_name, target, evaluate_target_health: false };
        // Who follows the record finds the API behind it.
        self.add(key, Spec::DnsRecord(spec), vec![mapping]);
        Some(())
    }

    /// The certificate stays while it can be used. Else it is the one that is valid from the latest moment on.
    fn certificate_arn(&mut self, config: &GatewayConfig, domain: &str) -> Input<String> {
        let Some(found) = &self.facts.certificates else { return Input::Unknown };
        let chosen = self.existing.present().find_map(|entry| match &entry.applied {
            Spec::DomainName(applied) if applied.domain_name.known().is_some_and(|it| it == domain) => {
                applied.certificate_arn.known()
            }
            _ => None,
        });
        if let Some(certificate) = certificate::choose(found, domain, chosen) {
            return Input::Known(certificate.arn.clone());
        }
        let region = &self.scope.region;
        let (attribute, wanted) = match &config.certificate_domain {
            Input::Known(Some(wanted)) => ("certificate_domain", wanted.as_str()),
            _ => ("domain_name", domain),
        };
        let message = match found.first() {
            Some(other) => format!(
                "The certificate {} is for {}, which {domain:?} is not part of.",
                other.arn,
                other.names.join(", ")
            ),
            None => format!("ACM has no certificate for {wanted:?} in {region} that is issued and not expired."),
        };
        let hint = "Request or import one there, or name another one by certificate_domain. If this same run makes it, \
                    let the gateway depend on its validation.";
        self.missing.push(Problem::new(AttributePath::new(attribute), message, hint));
        Input::Unknown
    }
}
