//! The custom domain and its DNS record.

use super::*;
use crate::model::only;

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
        if let (Input::Known(None), Input::Known(Some(domain))) = (&config.domain_name, &config.certificate_domain) {
            self.add(
                AttributePath::new("certificate_domain"),
                format!("It is {domain:?}, but there is no domain_name for which a certificate would be looked up."),
                "Set domain_name, or remove certificate_domain.",
            );
        }
        if config.create_dns_entry == Input::Known(true) {
            let needed = [("domain_name", &config.domain_name), ("hosted_zone_id", &config.hosted_zone_id)];
            let missing: Vec<&str> =
                needed.into_iter().filter(|(_, input)| **input == Input::Known(None)).map(|(name, _)| name).collect();
            if !missing.is_empty() {
                let missing = missing.join(" and ");
                let message = format!("create_dns_entry is true, but the record would have no {missing}.");
                self.add(AttributePath::new("create_dns_entry"), message, format!("Set {missing}, or this to false."));
            }
        }
        if let Input::Known(Some(id)) = &config.hosted_zone_id
            && !is_zone_id(id)
        {
            let hint = match id.strip_prefix("/hostedzone/").filter(|rest| is_zone_id(rest)) {
                Some(rest) => format!("Write {rest:?}, without what stands before it."),
                None => "Give an id such as Z0123456789ABCDEFGHIJ: zone_id of the zone, not its name.".to_string(),
            };
            self.add(AttributePath::new("hosted_zone_id"), format!("{id:?} is not the id of a hosted zone."), hint);
        }
    }
}

/// Whether this is a `Z` with capitals and digits behind it.
fn is_zone_id(text: &str) -> bool {
    let rest = text.strip_prefix('Z').unwrap_or_default();
    (1..=31).contains(&rest.len()) && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

/// Says what is wrong with a domain, and the way out, each a sentence. `*` may stand for the first label.
fn check_domain(domain: &str) -> Result<(), (String, String)> {
    let wrong = |what: &str, hint: &str| Err((format!("{domain:?} {what}."), hint.to_string()));
    let host = domain.split_once("://").map_or(domain, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    if host != domain {
        return wrong("is a URL or has a path", &format!("Write the domain alone: {host:?}."));
    }
    if let Some(relative) = domain.strip_suffix('.') {
        return wrong("ends with a dot", &format!("Write {relative:?}."));
    }
    if domain.chars().any(|it| it.is_ascii_uppercase()) {
        let hint = format!("Write {:?}, as AWS shows it.", domain.to_ascii_lowercase());
        return wrong("has capital letters", &hint);
    }
    let name = domain.strip_prefix("*.").unwrap_or(domain);
    if name.contains('*') {
        return wrong("has a wildcard that is not the whole first label", "Use a wildcard as in *.example.com only.");
    }
    if !only(name, "-.") {
        let hint =
            "Use lower case letters, digits, hyphens and dots; other letters in their form that begins with xn--.";
        return wrong("has characters that no domain has", hint);
    }
    if domain.len() > 253 {
        return wrong(&format!("has {} characters; a domain has at most 253", domain.len()), "Choose a shorter one.");
    }
    let labels: Vec<&str> = name.split('.').collect();
    if let Some(label) = labels.iter().find(|label| !(1..=63).contains(&label.len())) {
        let what = format!("has a label of {} characters, {label:?}; a label has 1 to 63", label.len());
        return wrong(&what, "Write labels of 1 to 63 characters with one dot between them.");
    }
    if let Some(label) = labels.iter().find(|label| label.starts_with('-') || label.ends_with('-')) {
        return wrong(&format!("has the label {label:?}"), "Let labels begin and end with a letter or digit.");
    }
    let [_, .., last] = labels.as_slice() else {
        return wrong("has one label only", "Give the whole name, such as api.example.com.");
    };
    if last.bytes().all(|it| it.is_ascii_digit()) {
        return wrong("is an address", "Give a domain, such as api.example.com.");
    }
    Ok(())
}
