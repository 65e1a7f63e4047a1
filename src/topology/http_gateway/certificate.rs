//! Which certificate a custom domain gets.

use super::config::GatewayConfig;
use crate::model::{Certificate, covers};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
        Certificate { arn: arn.into(), names: names.iter().map(|name| name.to_string()).collect(), not_before }
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
