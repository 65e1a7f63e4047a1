//! The HTTP client of all services, with one connection pool.
//!
//! The SDK's own client cannot disable the verification of certificates (`insecure`), and panics if a CA bundle cannot
//! be read. This client supports proxies, CA bundles and `insecure`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use aws_smithy_runtime_api::client::connector_metadata::ConnectorMetadata;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::uri::Scheme;
use http::{Request, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector as TcpConnector};
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tower_service::Service;

use super::chain::chain;
use super::origin::Origin;
use super::proxies::Proxies;
use super::unreachable::{CONNECT_TIMEOUT, ConnectFailed, NeverConnected, NoResponse, Peer};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Sends the requests of all services. Clones share their connections.
#[derive(Clone)]
pub(crate) struct AwsHttpClient {
    client: Client<ProxyConnector, SdkBody>,
    proxies: Arc<Proxies>,
    /// Appended to the SDK's own User-Agent header, which is not part of the signature.
    user_agent: Arc<str>,
    /// Of the credentials that sign the requests. `None` in tests.
    origin: Option<Origin>,
}

impl AwsHttpClient {
    /// A client with the certificate verification of `tls`. `user_agent` is a list of products in the notation of RFC
    /// 9110, such as `terraform-provider-fgw/0.1.0`.
    pub(crate) fn new(tls: ClientConfig, proxies: Proxies, user_agent: &str, origin: Option<Origin>) -> AwsHttpClient {
        let mut tcp = TcpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_secs(30)));
        let proxies = Arc::new(proxies);
        let connector = ProxyConnector { tcp, tls: Arc::new(tls), proxies: proxies.clone() };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            // Shorter than AWS's idle timeout, so that no request is sent on a connection that AWS is closing.
            .pool_idle_timeout(Duration::from_secs(20))
            .build(connector);
        AwsHttpClient { client, proxies, user_agent: user_agent.into(), origin }
    }
}

impl std::fmt::Debug for AwsHttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URLs of proxies may contain passwords.
        f.write_str("AwsHttpClient")
    }
}

impl HttpClient for AwsHttpClient {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        let response_timeout =
            settings.read_timeout().map(|read| read + settings.connect_timeout().unwrap_or(CONNECT_TIMEOUT));
        SharedHttpConnector::new(SendRequest { http: self.clone(), response_timeout })
    }

    fn connector_metadata(&self) -> Option<ConnectorMetadata> {
        Some(ConnectorMetadata::new("hyper", Some("1.x".into())))
    }
}

/// The client with the timeouts of one service.
#[derive(Debug)]
struct SendRequest {
    http: AwsHttpClient,
    /// The time until the headers of the response arrive, including the time to connect.
    response_timeout: Option<Duration>,
}

impl HttpConnector for SendRequest {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let mut request: Request<SdkBody> = match request.try_into_http1x() {
            Ok(request) => request,
            Err(error) => return HttpConnectorFuture::ready(Err(ConnectorError::user(error.into()))),
        };
        if let Some(proxy) = self.http.proxies.unusable_for(request.uri()) {
            return HttpConnectorFuture::ready(Err(ConnectorError::user(Box::new(proxy))));
        }
        self.http.prepare(&mut request);
        let peer = Peer::of(&request);
        let endpoint = peer.endpoint.clone();
        let origin = self.http.origin.clone();
        let answer = self.http.client.request(request);
        let timeout = self.response_timeout;
        HttpConnectorFuture::new(async move {
            let answer = match timeout {
                None => answer.await,
                Some(timeout) => match tokio::time::timeout(timeout, answer).await {
                    Ok(answer) => answer,
                    Err(_) => return Err(ConnectorError::timeout(Box::new(NoResponse::within(&peer, timeout)))),
                },
            };
            let response = answer.map_err(|error| connector_error(error, peer))?.map(SdkBody::from_body_1_x);
            let response = HttpResponse::try_from(response);
            let mut response = response.map_err(|error| ConnectorError::other(error.into(), None))?;
            response.add_extension(endpoint);
            if let Some(origin) = origin {
                response.add_extension(origin);
            }
            Ok(response)
        })
    }
}

impl AwsHttpClient {
    fn prepare(&self, request: &mut Request<SdkBody>) {
        let agent = match request.headers().get(USER_AGENT).and_then(|sdk| sdk.to_str().ok()) {
            Some(sdk) => format!("{sdk} {}", self.user_agent),
            None => self.user_agent.to_string(),
        };
        // The validation of the provider block rejects characters that are not allowed in a header.
        if let Ok(agent) = HeaderValue::from_str(&agent) {
            request.headers_mut().insert(USER_AGENT, agent);
        }
        // A request that a proxy forwards contains the proxy's password. A tunnel sends it when it is opened.
        if request.uri().scheme() == Some(&Scheme::HTTP)
            && let Some(proxy) = self.proxies.of(request.uri())
            && let Some(password) = proxy.basic_auth()
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, password.clone());
        }
    }
}

fn connector_error(error: ClientError, peer: Peer) -> ConnectorError {
    if error.is_connect() {
        tracing::debug!("no connection: {}", chain(&error));
        return ConnectorError::io(Box::new(NeverConnected::new(peer, &error))).never_connected();
    }
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<hyper::Error>());
    match cause {
        Some(cause) if cause.is_user() || cause.is_parse() => ConnectorError::other(Box::new(error), None),
        _ => {
            tracing::debug!("no response: {}", chain(&error));
            ConnectorError::io(Box::new(NoResponse::broken(&peer, &error)))
        }
    }
}

/// Opens connections: directly, through a tunnel (HTTPS by a proxy), or to a forwarding proxy (HTTP by a proxy).
#[derive(Clone)]
struct ProxyConnector {
    tcp: TcpConnector,
    tls: Arc<ClientConfig>,
    proxies: Arc<Proxies>,
}

impl Service<Uri> for ProxyConnector {
    type Response = Stream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Stream, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        let mut direct = HttpsConnector::from((self.tcp.clone(), self.tls.clone()));
        let tls = self.tls.clone();
        let proxy = self.proxies.of(&destination);
        let proxy_uri = proxy.as_ref().map(|proxy| proxy.uri().clone());
        let stream = async move {
            let Some(proxy) = proxy else {
                return Ok::<_, BoxError>(Stream::new(direct.call(destination).await?, false));
            };
            if destination.scheme() == Some(&Scheme::HTTP) {
                return Ok(Stream::new(direct.call(proxy.uri().clone()).await?, true));
            }
            let mut tunnel = Tunnel::new(proxy.uri().clone(), direct);
            if let Some(password) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(password.clone());
            }
            Ok(Stream::new(HttpsConnector::from((tunnel, tls)).call(destination).await?, false))
        };
        tokio::time::timeout(CONNECT_TIMEOUT, stream)
            .map(|stream| {
                let source = match stream {
                    Ok(Ok(stream)) => return Ok(stream),
                    Ok(Err(error)) => Some(error),
                    Err(_) => None,
                };
                Err(ConnectFailed { proxy: proxy_uri, source }.into())
            })
            .boxed()
    }
}

/// One open connection.
struct Stream {
    io: Box<dyn Io>,
    /// Whether the peer is a forwarding proxy, which requires absolute URLs.
    forwarded: bool,
}

trait Io: Read + Write + Connection + Send + Unpin {}

impl<T: Read + Write + Connection + Send + Unpin> Io for T {}

impl Stream {
    fn new(io: impl Io + 'static, forwarded: bool) -> Stream {
        Stream { io: Box::new(io), forwarded }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.io.connected().proxy(self.forwarded)
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.io).poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut *self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut *self.io).poll_shutdown(cx)
    }
}
