//! Which certificate a custom domain gets.

use super::config::GatewayConfig;
use crate::topology::Certificate;

/// The domain by which certificates are looked for; `None` where none is needed, or that is not known yet.
pub(super) fn looked_for(config: &GatewayConfig) -> Option<&str> {
    let domain = config.domain_name.known()?.as_deref()?;
    Some(config.certificate_domain.known()?.as_deref().unwrap_or(domain))
}

/// Of the certificates that cover a domain, the one that was chosen before, else the one that is valid from the latest
/// moment on.
pub(super) fn choose<'a>(found: &'a [Certificate], domain: &str, chosen: Option<&String>) -> Option<&'a Certificate> {
    let usable = || found.iter().filter(|it| covers(it.names.iter().map(String::as_str), domain));
    let before = chosen.and_then(|arn| usable().find(|it| it.arn == *arn));
    before.or_else(|| usable().max_by_key(|it| (it.not_before, &it.arn)))
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

    fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
        Certificate { arn: arn.into(), names: names.iter().map(|name| name.to_string()).collect(), not_before }
    }

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

    #[test]
    fn the_latest_certificate_is_chosen_and_then_kept() {
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
