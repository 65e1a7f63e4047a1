//! The custom domain and its DNS record.

use super::*;
use crate::model::{Arn, only};
use crate::topology::http_gateway::MutualTlsConfig;

impl Problems {
    pub(super) fn domains(&mut self, config: &GatewayConfig) {
        for (name, domain) in [("domain_name", &config.domain_name), ("certificate_domain", &config.certificate_domain)]
        {
            if let Input::Known(Some(domain)) = domain
                && let Err((message, hint)) = check_domain(domain)
            {
                self.add(AttributePath::new(name), message, hint);
            }
        }
        self.certificate(config);
        if let Input::Known(Some(MutualTlsConfig { truststore_uri: Input::Known(uri), truststore_version })) =
            &config.mutual_tls_authentication
            && uri.is_empty()
            && matches!(truststore_version, Input::Known(Some(_)))
        {
            let path = AttributePath::new("mutual_tls_authentication").attribute("truststore_version");
            let message = "truststore_uri is empty, which turns mutual TLS off, so it has no version.";
            self.add(path, message, "Set truststore_uri to s3://<bucket>/<key>, or remove truststore_version.");
        }
        if config.create_dns_entry == Input::Known(true) {
            let needed = [("domain_name", &config.domain_name), ("hosted_zone_id", &config.hosted_zone_id)];
            let missing: Vec<&str> =
                needed.into_iter().filter(|(_, input)| **input == Input::Known(None)).map(|(name, _)| name).collect();
            if !missing.is_empty() {
                let missing = missing.join(" and ");
                let message = format!("create_dns_entry is true, which requires {missing}.");
                let hint = format!("Set {missing}, or set create_dns_entry to false.");
                self.add(AttributePath::new("create_dns_entry"), message, hint);
            }
        }
        if let Input::Known(Some(id)) = &config.hosted_zone_id
            && !is_zone_id(id)
        {
            let hint = match id.strip_prefix("/hostedzone/").filter(|rest| is_zone_id(rest)) {
                Some(rest) => format!("Write {rest:?}, without the prefix /hostedzone/."),
                None => "Use the zone_id of the zone, such as Z0123456789ABCDEFGHIJ, not its name.".to_string(),
            };
            self.add(AttributePath::new("hosted_zone_id"), format!("{id:?} is not the ID of a hosted zone."), hint);
        }
    }

    fn certificate(&mut self, config: &GatewayConfig) {
        let Input::Known(Some(arn)) = &config.certificate_arn else { return };
        let path = || AttributePath::new("certificate_arn");
        if let Err(message) = check_certificate(arn) {
            let hint = "Use an ARN such as arn:aws:acm:eu-central-1:123456789012:certificate/\
                        0a1b2c3d-12ab-34cd-56ef-1234567890ab.";
            self.add(path(), message, hint);
        }
        // The domain itself is the default of certificate_domain. An import sets both, and Terraform can generate a
        // configuration from it.
        if let Input::Known(Some(domain)) = &config.certificate_domain
            && config.domain_name.known().and_then(Option::as_ref).is_some_and(|name| name != domain)
        {
            let message = format!(
                "Both certificate_arn ({arn:?}) and certificate_domain ({domain:?}) are set, but a certificate is \
                 either given or looked up."
            );
            let hint = "Remove certificate_domain to use this certificate, or remove certificate_arn to use the best \
                        certificate for the domain.";
            self.add(path(), message, hint);
        }
    }
}

/// Checks the ARN of a certificate in any partition. The error is a sentence.
fn check_certificate(text: &str) -> Result<(), String> {
    let id = match Arn::split(text) {
        Ok(Arn { service: "acm", resource, .. }) => resource.strip_prefix("certificate/"),
        _ => None,
    };
    let Some(id) = id else { return Err(format!("{text:?} is not the ARN of an ACM certificate.")) };
    Arn::parse(text)?;
    if id.is_empty() || !only(id, "-") {
        return Err(format!("{text:?} has the invalid certificate ID {id:?}."));
    }
    Ok(())
}

/// Whether the text is a `Z` followed by 1 to 31 uppercase letters and digits.
fn is_zone_id(text: &str) -> bool {
    let rest = text.strip_prefix('Z').unwrap_or_default();
    (1..=31).contains(&rest.len()) && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

/// Checks a domain, whose first label may be `*`. The error is a message and a hint, each a sentence.
fn check_domain(domain: &str) -> Result<(), (String, String)> {
    let wrong = |what: &str, hint: &str| Err((format!("{domain:?} {what}."), hint.to_string()));
    let host = domain.split_once("://").map_or(domain, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    if host != domain {
        return wrong("is a URL or has a path", &format!("Write only the domain: {host:?}."));
    }
    if let Some(relative) = domain.strip_suffix('.') {
        return wrong("ends with a dot", &format!("Write {relative:?}."));
    }
    if domain.chars().any(|it| it.is_ascii_uppercase()) {
        let hint = format!("Write {:?}, as AWS returns it.", domain.to_ascii_lowercase());
        return wrong("contains uppercase letters", &hint);
    }
    let name = domain.strip_prefix("*.").unwrap_or(domain);
    if name.contains('*') {
        return wrong("has a wildcard that is not the whole first label", "Use a wildcard only as in *.example.com.");
    }
    if !only(name, "-.") {
        let hint = "Use lowercase letters, digits, hyphens and dots, and Punycode (xn--) for other letters.";
        return wrong("contains characters that a domain cannot have", hint);
    }
    if domain.len() > 253 {
        return wrong(&format!("has {} characters; a domain has at most 253", domain.len()), "Use a shorter domain.");
    }
    let labels: Vec<&str> = name.split('.').collect();
    if let Some(label) = labels.iter().find(|label| !(1..=63).contains(&label.len())) {
        let what = format!("has a label of {} characters, {label:?}; a label has 1 to 63", label.len());
        return wrong(&what, "Use labels of 1 to 63 characters, separated by single dots.");
    }
    if let Some(label) = labels.iter().find(|label| label.starts_with('-') || label.ends_with('-')) {
        let what = format!("has the label {label:?}, which starts or ends with a hyphen");
        return wrong(&what, "Start and end each label with a letter or digit.");
    }
    let [_, .., last] = labels.as_slice() else {
        return wrong("has only one label", "Use the full name, such as api.example.com.");
    };
    if last.bytes().all(|it| it.is_ascii_digit()) {
        return wrong("is an IP address", "Use a domain, such as api.example.com.");
    }
    Ok(())
}
