//! The proxies of the provider block and of the environment.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::settings::Settings;

/// The proxy of each destination.
#[derive(Debug)]
pub(crate) struct Proxies {
    matcher: Matcher,
    /// The scheme and the variable of each proxy that the client cannot use. `matcher` has [`PLACEHOLDER`] instead.
    unusable: Vec<(&'static str, UnusableProxy)>,
}

/// A variable of the environment with a proxy that the client cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
// The URL of a proxy may contain a password, so the message does not contain the value.
#[error(
    "The value of {0} is not a URL with http:// or https:// and a host, such as \"http://proxy:3128\". The provider \
     supports no other proxies, and does not call AWS without the proxy. Correct or unset the variable"
)]
pub(crate) struct UnusableProxy(&'static str);

/// The host of an unusable proxy, which is never called.
const PLACEHOLDER: &str = "http://unusable.invalid";

impl Proxies {
    /// Reads the settings and the environment. Both spellings of the variables are common. The validation of the
    /// provider block has checked its proxies.
    pub(super) fn new(settings: &Settings, environment: impl Fn(&[&str]) -> Option<String>) -> Proxies {
        let mut unusable = Vec::new();
        let mut usable = |scheme, of_block: &Option<String>, names: [&'static str; 2]| {
            let of_environment = || names.iter().find_map(|name| Some((*name, environment(&[*name])?)));
            match of_block.clone() {
                Some(url) => Some(url),
                None => of_environment().map(|(name, url)| match is_proxy(&url) {
                    true => url,
                    false => {
                        unusable.push((scheme, UnusableProxy(name)));
                        PLACEHOLDER.to_string()
                    }
                }),
            }
        };
        let https = usable("https", &settings.https_proxy, ["HTTPS_PROXY", "https_proxy"]);
        let http = usable("http", &settings.http_proxy, ["HTTP_PROXY", "http_proxy"]);
        let https = https.or_else(|| settings.http_proxy.clone());
        let no = settings.no_proxy.clone().or_else(|| environment(&["NO_PROXY", "no_proxy"]));
        let matcher = Matcher::builder().http(http.unwrap_or_default()).https(https.unwrap_or_default());
        Proxies { matcher: matcher.no(no.unwrap_or_default()).build(), unusable }
    }

    /// The proxy for a destination. The local machine, and the addresses at which AWS provides credentials to instances
    /// and containers, are always called directly.
    pub(super) fn of(&self, destination: &Uri) -> Option<Intercept> {
        let host = destination.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_local = match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_loopback() || host.starts_with("fd00:ec2:"),
            Err(_) => host == "localhost",
        };
        if is_local { None } else { self.matcher.intercept(destination) }
    }

    /// The variable with the proxy for a destination, if the client cannot use it.
    pub(super) fn unusable_for(&self, destination: &Uri) -> Option<UnusableProxy> {
        let (_, proxy) = self.unusable.iter().find(|(scheme, _)| destination.scheme_str() == Some(scheme))?;
        self.of(destination).map(|_| *proxy)
    }
}

/// Whether a variable contains a proxy that the client supports. Without a scheme, it is a host of an HTTP proxy.
fn is_proxy(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), None | Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &Settings, variables: &[(&str, &str)]) -> Proxies {
        let value = |name: &&str| variables.iter().find(|(it, _)| it == name).map(|(_, value)| value.to_string());
        Proxies::new(settings, |names| names.iter().find_map(value))
    }

    #[test]
    fn the_block_overrides_the_environment() {
        let variables = [("HTTPS_PROXY", "http://environment:1"), ("NO_PROXY", "internal.test")];
        let host = |proxies: &Proxies, url: &'static str| {
            proxies.of(&Uri::from_static(url)).map(|it| it.uri().host().unwrap().to_string())
        };
        let from_environment = of(&Settings::default(), &variables);
        assert_eq!(host(&from_environment, "https://ec2.test").as_deref(), Some("environment"));
        assert_eq!(host(&from_environment, "http://ec2.test"), None);
        assert_eq!(host(&from_environment, "https://a.internal.test"), None);
        let block = Some("http://block:1".to_string());
        let from_block = of(&Settings { https_proxy: block.clone(), ..Settings::default() }, &variables);
        assert_eq!(host(&from_block, "https://ec2.test").as_deref(), Some("block"));
        let http_for_both = of(&Settings { http_proxy: block, ..Settings::default() }, &[]);
        assert_eq!(host(&http_for_both, "https://ec2.test").as_deref(), Some("block"));
    }

    #[test]
    fn an_unusable_proxy_matters_only_to_its_destinations() {
        let unusable = |variables: &[(&str, &str)], url: &'static str| {
            of(&Settings::default(), variables).unusable_for(&Uri::from_static(url))
        };
        let of_http = [("http_proxy", "socks5://proxy.test"), ("NO_PROXY", "internal.test")];
        assert_eq!(unusable(&of_http, "http://ec2.test"), Some(UnusableProxy("http_proxy")));
        for url in ["https://ec2.test", "http://ec2.internal.test", "http://127.0.0.1:5000", "http://169.254.169.254"] {
            assert_eq!(unusable(&of_http, url), None, "{url}");
        }
        let of_https = [("HTTPS_PROXY", "ftp://proxy.test"), ("HTTP_PROXY", "proxy:3128")];
        assert_eq!(unusable(&of_https, "https://ec2.test"), Some(UnusableProxy("HTTPS_PROXY")));
        assert_eq!(unusable(&of_https, "http://ec2.test"), None);
        let block = Settings { https_proxy: Some("http://block:1".into()), ..Settings::default() };
        assert_eq!(of(&block, &of_https).unusable_for(&Uri::from_static("https://ec2.test")), None);
    }
}
