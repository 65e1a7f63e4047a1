//! Endpoints whose traffic others can read and change.

use std::net::IpAddr;

use aws_config::SdkConfig;
use aws_types::service_config::ServiceConfigKey;
use http::Uri;

use super::settings::{Service, Settings};

/// The services with the IDs by which the SDK names them in `AWS_ENDPOINT_URL_<SERVICE>` and in the `services` section
/// of a profile.
const SERVICES: [(Service, &str); 8] = [
    (Service::Acm, "ACM"),
    (Service::ApiGateway, "ApiGatewayV2"),
    (Service::Ec2, "EC2"),
    (Service::Kms, "KMS"),
    (Service::Lambda, "Lambda"),
    (Service::Logs, "CloudWatch Logs"),
    (Service::Route53, "Route 53"),
    (Service::Sts, "STS"),
];

/// The same for the services of IAM Identity Center, which are called only for a profile that signs in.
const SIGN_IN: [(&str, &str); 2] = [("sso", "SSO"), ("sso_oidc", "SSO OIDC")];

/// A name that LocalStack uses. It resolves to 127.0.0.1, as do the names below it.
const LOCALSTACK: &str = "localhost.localstack.cloud";

/// The host of a URL with `http`, unless it is this machine or in a private network. Names are not looked up: a name
/// without a dot, such as that of a container, and names that end with `.localhost`, `.local` or `.internal` are
/// private.
pub(crate) fn exposed_host(url: &str) -> Option<String> {
    let uri = url.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"))?;
    let host = uri.host()?.trim_matches(['[', ']']);
    let is_private = match host.parse() {
        Ok(address) => is_private_address(address),
        Err(_) => is_private_name(host.trim_end_matches('.')),
    };
    (!is_private).then(|| host.to_string())
}

/// Whether the provider block sets the endpoints of all services, each on this machine.
pub(crate) fn are_all_on_this_machine(settings: &Settings) -> bool {
    SERVICES.iter().all(|(service, _)| settings.endpoints.get(service).is_some_and(|url| is_on_this_machine(url)))
}

/// Whether the host of a URL is this machine.
fn is_on_this_machine(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).map(|host| host.trim_matches(['[', ']']));
    host.is_some_and(|host| match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback() || address.is_unspecified(),
        Err(_) => is_name_of_this_machine(host.trim_end_matches('.')),
    })
}

/// Whether a name resolves to a loopback address: RFC 6761 reserves `localhost` and the names below it.
fn is_name_of_this_machine(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_within = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    ["localhost", LOCALSTACK].into_iter().any(is_within)
}

fn is_private_name(name: &str) -> bool {
    let is_private = |last: &str| ["local", "internal"].iter().any(|it| last.eq_ignore_ascii_case(it));
    is_name_of_this_machine(name) || name.rsplit_once('.').is_none_or(|(_, last)| is_private(last))
}

fn is_private_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => it.is_loopback() || it.is_private() || it.is_link_local() || it.is_unspecified(),
        IpAddr::V6(it) => it.is_loopback() || it.is_unique_local() || it.is_unicast_link_local() || it.is_unspecified(),
    }
}

/// What such endpoints mean, and what to do. `endpoints` are pairs of a name and a host.
pub(crate) fn explained(endpoints: &[(String, String)]) -> String {
    let listed: Vec<String> = endpoints.iter().map(|(name, host)| format!("{name} (host {host})")).collect();
    format!(
        "These endpoints use http, and their hosts are not in a private network: {}. Others on the way can read and \
         change the calls. The responses of STS and IAM Identity Center contain secret keys. Use https.",
        listed.join(", ")
    )
}

/// The exposed endpoints that the environment or the profile sets: service and host.
pub(super) fn exposed_by_environment(settings: &Settings, sdk: &SdkConfig, signs_in: bool) -> Vec<(String, String)> {
    let called = SERVICES.into_iter().filter(|(service, _)| !settings.endpoints.contains_key(service));
    let called = called.map(|(service, id)| (service.id(), id)).chain(SIGN_IN.into_iter().filter(|_| signs_in));
    let exposed = called.filter_map(|(name, id)| {
        let key = ServiceConfigKey::builder().service_id(id).env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
        let own = key.ok().and_then(|key| sdk.service_config()?.load_config(key));
        let url = own.or_else(|| sdk.endpoint_url().map(str::to_string))?;
        Some((name.to_string(), exposed_host(&url)?))
    });
    exposed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_to_a_public_host_is_exposed() {
        let exposed = [
            ("http://sts.example.com", "sts.example.com"),
            ("HTTP://ada:open-sesame@8.8.8.8:80/path", "8.8.8.8"),
            ("http://[2001:db8::1]:4566", "2001:db8::1"),
            ("http://internal.example.com.", "internal.example.com."),
            ("http://172.32.0.1", "172.32.0.1"),
            ("http://notlocalhost.localstack.cloud", "notlocalhost.localstack.cloud"),
            ("http://localstack.cloud", "localstack.cloud"),
        ];
        for (url, host) in exposed {
            assert_eq!(exposed_host(url).as_deref(), Some(host), "{url}");
        }
        for url in [
            "https://sts.example.com",
            "http://127.0.0.2:5000",
            "http://localhost:4566",
            "http://aws.localhost.",
            "http://10.0.0.1",
            "http://172.31.0.1",
            "http://192.168.1.1",
            "http://169.254.169.254",
            "http://0.0.0.0:5000",
            "http://[::1]:4566",
            "http://[fd00:ec2::254]",
            "http://[fe80::1]",
            "http://[::ffff:127.0.0.1]",
            "http://emulator:4566",
            "http://host.docker.internal:4566",
            "http://nas.LOCAL",
            "http://localhost.localstack.cloud:4566",
            "http://ec2.LOCALHOST.localstack.cloud.:4566",
            "not a url",
        ] {
            assert_eq!(exposed_host(url), None, "{url}");
        }
    }

    #[test]
    fn the_services_are_on_this_machine_only_if_all_are() {
        let settings = |url: &str| Settings {
            endpoints: SERVICES.iter().map(|(service, _)| (*service, url.to_string())).collect(),
            ..Settings::default()
        };
        for url in
            ["https://localhost:4566", "https://127.0.0.2", "https://[::1]", "https://localhost.localstack.cloud"]
        {
            assert!(are_all_on_this_machine(&settings(url)), "{url}");
            let mut others = settings(url);
            others.endpoints.insert(Service::Sts, "https://sts.example.com".into());
            assert!(!are_all_on_this_machine(&others), "{url}");
            others.endpoints.remove(&Service::Sts);
            assert!(!are_all_on_this_machine(&others), "{url}");
        }
        for url in ["https://10.0.0.1", "https://emulator", "https://mylocalhost"] {
            assert!(!are_all_on_this_machine(&settings(url)), "{url}");
        }
    }
}
