//! Failures before a request reaches AWS, in plain words: what cannot be reached, why, and what to do.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use http::Uri;

use super::chain::{chain, find};
use super::endpoint::Endpoint;

/// The timeout for name lookup, TCP, proxy and TLS together.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// No connection was established, so AWS cannot have received the request, and a retry is safe.
///
/// The error has no source: its text is the whole message, without the layers of the HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(crate) struct NeverConnected {
    peer: Peer,
    /// The proxy of the connection, if there is one.
    proxy: Option<Uri>,
    problem: Problem,
}

/// The service of a request.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Such as `EC2`; empty for a request without a signature.
    service: String,
    pub(super) endpoint: Endpoint,
}

#[derive(Debug)]
enum Problem {
    Refused,
    UnknownName,
    /// With the reason.
    Certificate(String),
    Timeout,
    Other(String),
}

/// A connection was established, but no response arrived, so AWS may have received the request. Without a source, like
/// [`NeverConnected`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoResponse(String);

impl NoResponse {
    /// The connection broke.
    pub(super) fn broken(peer: &Peer, error: &(dyn Error + 'static)) -> NoResponse {
        let mut innermost = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        NoResponse(format!("the connection to {} broke: {innermost}", peer.text()))
    }

    /// The service did not respond in this time.
    pub(super) fn within(peer: &Peer, timeout: Duration) -> NoResponse {
        NoResponse(format!("{} did not respond within {} s", peer.text(), timeout.as_secs()))
    }
}

/// The failure of one attempt to connect, as the HTTP client wraps it.
#[derive(Debug, thiserror::Error)]
#[error("connecting failed")]
pub(super) struct ConnectFailed {
    /// The proxy of the connection, if there is one.
    pub(super) proxy: Option<Uri>,
    /// `None` after the timeout.
    pub(super) source: Option<Box<dyn Error + Send + Sync>>,
}

impl NeverConnected {
    pub(super) fn new(peer: Peer, error: &(dyn Error + 'static)) -> NeverConnected {
        let failed = find::<ConnectFailed>(error);
        let problem = match failed {
            Some(ConnectFailed { source: Some(source), .. }) => Problem::of(&**source),
            Some(ConnectFailed { source: None, .. }) => Problem::Timeout,
            None => Problem::of(error),
        };
        NeverConnected { peer, proxy: failed.and_then(|failed| failed.proxy.clone()), problem }
    }

    /// The maximum number of attempts of a call. Nothing changes within seconds at an address that refuses connections
    /// or does not exist, so a plan reports it at once. An apply waits longer, because there a failure costs more, and
    /// the network of the machine may just be changing. `None` is the number for all other failures.
    pub(crate) fn attempts(&self, is_apply: bool) -> Option<u32> {
        match self.problem {
            Problem::Certificate(_) => Some(1),
            Problem::Refused | Problem::UnknownName => Some(if is_apply { 5 } else { 3 }),
            Problem::Timeout | Problem::Other(_) => None,
        }
    }

    fn text(&self) -> String {
        let service = self.peer.text();
        // The peer of the connection is the proxy, as long as this has not opened a tunnel.
        let (nearest, through) = match &self.proxy {
            Some(proxy) => (format!("the proxy {proxy} of {service}"), format!("{service}, through proxy {proxy}")),
            None => (service.clone(), service),
        };
        match &self.problem {
            Problem::Refused => format!("{nearest} refuses the connection"),
            Problem::UnknownName => format!("the host name of {nearest} cannot be resolved"),
            Problem::Certificate(why) => format!("the TLS certificate of {through} is rejected: {why}"),
            Problem::Timeout => format!("no connection to {through} within {} s", CONNECT_TIMEOUT.as_secs()),
            Problem::Other(why) => format!("no connection to {through}: {why}"),
        }
    }

    /// What to do.
    pub(crate) fn advice(&self) -> &'static str {
        match (&self.problem, self.peer.endpoint.is_aws()) {
            (Problem::Refused | Problem::UnknownName, _) if self.proxy.is_some() => {
                "Correct the proxy in the provider block or the environment, then run Terraform again."
            }
            (Problem::Refused, false) => {
                "No program listens at this address, or a firewall rejects the connection. Start the service, or correct \
                 its endpoint, then run Terraform again."
            }
            (Problem::UnknownName, true) => {
                "Check the region, and whether this machine is connected and resolves other names, then run Terraform \
                 again."
            }
            (Problem::UnknownName, false) => {
                "Check the endpoint, and whether this machine is connected and resolves other names, then run Terraform \
                 again."
            }
            (Problem::Certificate(_), _) => {
                "If a proxy or an endpoint of your own has this certificate, set custom_ca_bundle to a file with the \
                 certificate of its authority. Otherwise correct the endpoint. Then run Terraform again."
            }
            (Problem::Refused | Problem::Timeout | Problem::Other(_), _) => {
                "Check the network connection, the firewall and the proxy of this machine, then run Terraform again."
            }
        }
    }
}

impl Problem {
    fn of(error: &(dyn Error + 'static)) -> Problem {
        let mut next = Some(error);
        while let Some(error) = next {
            let io = error.downcast_ref::<std::io::Error>();
            if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
                return Problem::Certificate(error.to_string());
            }
            if io.is_some_and(|io| io.kind() == ErrorKind::ConnectionRefused) {
                return Problem::Refused;
            }
            // The type of this error is private.
            if error.to_string() == "dns error" {
                return Problem::UnknownName;
            }
            // The source of an I/O error is not the error that it wraps, but the source of that.
            let wrapped = io.and_then(std::io::Error::get_ref).map(|it| it as &(dyn Error + 'static));
            next = wrapped.or_else(|| error.source());
        }
        Problem::Other(chain(error))
    }
}

impl Peer {
    /// Of a signed request, whose header names the service.
    pub(super) fn of(request: &http::Request<impl Sized>) -> Peer {
        let header = request.headers().get(http::header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let scope = header.and_then(|it| it.split_once("Credential=")?.1.split(',').next());
        let service = scope.and_then(|scope| scope.rsplit('/').nth(1)).unwrap_or_default();
        let service = match service {
            "acm" | "ec2" | "kms" | "sts" => service.to_uppercase(),
            "apigateway" => "API Gateway".to_string(),
            "lambda" => "Lambda".to_string(),
            "logs" => "CloudWatch Logs".to_string(),
            "route53" => "Route 53".to_string(),
            other => other.to_string(),
        };
        Peer { service, endpoint: Endpoint::of(request.uri()) }
    }

    fn text(&self) -> String {
        let Peer { service, endpoint: Endpoint(url) } = self;
        if service.is_empty() { url.clone() } else { format!("{service} at {url}") }
    }
}

#[cfg(test)]
impl NeverConnected {
    /// A connection to an emulator that fails with an I/O error.
    pub(crate) fn by_io(url: &str, error: std::io::Error) -> NeverConnected {
        let peer = Peer { service: "EC2".to_string(), endpoint: Endpoint(url.to_string()) };
        NeverConnected::new(peer, &ConnectFailed { proxy: None, source: Some(error.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("dns error")]
    struct Lookup;

    fn failed(
        url: &str,
        proxy: Option<&'static str>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> NeverConnected {
        let peer = Peer { service: "EC2".to_string(), endpoint: Endpoint(url.to_string()) };
        let proxy = proxy.map(Uri::from_static);
        NeverConnected::new(peer, &ConnectFailed { proxy, source: Some(source.into()) })
    }

    #[test]
    fn failures_are_one_line_with_service_and_url() {
        let refused = || std::io::Error::from(ErrorKind::ConnectionRefused);
        let local = "http://127.0.0.1:4567";
        let aws = "https://ec2.eu-cental-1.amazonaws.com";
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let certificate = std::io::Error::other(unknown);
        let table = [
            (
                failed(local, None, refused()),
                "EC2 at http://127.0.0.1:4567 refuses the connection",
                "Start the service",
            ),
            (
                failed(aws, Some("http://proxy:3128"), refused()),
                "the proxy http://proxy:3128/ of EC2 at https://ec2.eu-cental-1.amazonaws.com refuses the connection",
                "Correct the proxy",
            ),
            (
                failed(aws, None, Lookup),
                "the host name of EC2 at https://ec2.eu-cental-1.amazonaws.com cannot be resolved",
                "Check the region",
            ),
            (
                failed(local, None, certificate),
                "the TLS certificate of EC2 at http://127.0.0.1:4567 is rejected: invalid peer certificate: UnknownIssuer",
                "set custom_ca_bundle",
            ),
        ];
        for (error, text, advice) in table {
            assert_eq!(error.to_string(), text);
            assert!(error.advice().contains(advice), "{text}: {}", error.advice());
        }
    }

    #[test]
    fn the_signature_names_the_service() {
        let request = |header: &str| {
            let request = http::Request::builder().uri("http://u:p@127.0.0.1:1/path").header("authorization", header);
            Peer::of(&request.body(()).unwrap())
        };
        let scope = "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/apigateway/aws4_request, SignedHeaders=host";
        assert_eq!(request(scope).service, "API Gateway");
        assert_eq!(request("Bearer x").service, "");
        assert_eq!(request(scope).endpoint, Endpoint("http://127.0.0.1:1".to_string()));
    }
}
