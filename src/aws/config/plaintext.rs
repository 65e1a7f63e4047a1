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

fn is_private_name(name: &str) -> bool {
    name.rsplit_once('.')
        .is_none_or(|(_, last)| ["localhost", "local", "internal"].iter().any(|it| last.eq_ignore_ascii_case(it)))
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
            "not a url",
        ] {
            assert_eq!(exposed_host(url), None, "{url}");
        }
    }
}
