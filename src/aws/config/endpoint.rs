//! The endpoints of responses.

use http::Uri;

/// The domains of the endpoints of all partitions, from the endpoint data of botocore 1.43.
const AWS_DOMAINS: [&str; 10] = [
    ".amazonaws.com",
    ".api.aws",
    ".amazonaws.com.cn",
    ".api.amazonwebservices.com.cn",
    ".amazonaws.eu",
    ".api.amazonwebservices.eu",
    ".c2s.ic.gov",
    ".sc2s.sgov.gov",
    ".cloud.adc-e.uk",
    ".csp.hci.ic.gov",
];

/// The endpoint of a response, such as `https://ec2.eu-central-1.amazonaws.com`: an extension of the response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Endpoint(pub(crate) String);

impl Endpoint {
    /// Without user name, password, path and query.
    pub(super) fn of(uri: &Uri) -> Endpoint {
        let (scheme, host) = (uri.scheme_str().unwrap_or("https"), uri.host().unwrap_or_default());
        let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        Endpoint(format!("{scheme}://{host}{port}"))
    }

    /// Whether the host is one of AWS.
    pub(crate) fn is_aws(&self) -> bool {
        let host = self.0.split_once("://").map_or(self.0.as_str(), |(_, rest)| rest);
        let host = host.split(':').next().unwrap_or(host);
        AWS_DOMAINS.iter().any(|domain| host.ends_with(domain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_neither_credentials_nor_a_path() {
        for (uri, expected) in [
            ("http://user:secret@127.0.0.1:5000/v2/apis?token=secret", "http://127.0.0.1:5000"),
            ("https://ec2.eu-central-1.amazonaws.com/", "https://ec2.eu-central-1.amazonaws.com"),
        ] {
            assert_eq!(Endpoint::of(&uri.parse().unwrap()), Endpoint(expected.into()));
        }
    }
}
