//! The TLS endpoint of custom domains: it asks each client for the certificate that AWS would ask for at this moment,
//! and passes its requests to the emulator.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::server::Acceptor;
use rustls_pki_types::ServerName;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector};

use super::{Shared, lock};
use crate::support::authority::{Authority, Identity};
use crate::support::emulator::Account;
use crate::support::runtime;

/// The endpoint of all custom domains of a proxy.
#[derive(Clone)]
pub(crate) struct Clients {
    port: u16,
    /// Signs the certificates of the domains.
    servers: Arc<Authority>,
    /// The requests that were served, by client.
    served: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Clients {
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let servers = Arc::new(Authority::new());
        let stop = shared.stop.clone();
        let authority = Arc::clone(&servers);
        runtime().spawn(async move {
            loop {
                let stream = tokio::select! {
                    () = stop.cancelled() => return,
                    accepted = listener.accept() => accepted.expect("a bound socket accepts").0,
                };
                tokio::spawn(serve(stream, Arc::clone(&shared), Arc::clone(&authority)));
            }
        });
        Self { port, servers, served: Arc::default() }
    }

    /// Sends `GET /a` to a domain. The status, or the reason why there is no connection.
    pub(crate) fn get(&self, domain: &str, identity: Option<&Identity>) -> Result<u16, String> {
        let status = runtime().block_on(self.send(domain, identity))?;
        *lock(&self.served).entry(if identity.is_some() { "known" } else { "unknown" }).or_default() += 1;
        Ok(status)
    }

    /// The number of answers to clients without a certificate.
    pub(crate) fn served_to_unknown(&self) -> usize {
        lock(&self.served).get("unknown").copied().unwrap_or_default()
    }

    async fn send(&self, domain: &str, identity: Option<&Identity>) -> Result<u16, String> {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.map_err(|error| failed(&error))?;
        let name = ServerName::try_from(domain.to_owned()).expect("a domain is a name");
        let connector = TlsConnector::from(Arc::new(self.servers.client(identity)));
        let stream = connector.connect(name, stream).await.map_err(|error| failed(&error))?;
        let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        let ended = tokio::spawn(connection);
        let request = Request::get("/a").header("host", domain).body(Full::new(Bytes::new()));
        let answer = sender.send_request(request.expect("a valid request")).await;
        // With TLS 1.3, the server rejects a client only after the client's handshake.
        let answer = answer.map_err(|error| failed(&error))?;
        let status = answer.status().as_u16();
        answer.into_body().collect().await.map_err(|error| failed(&error))?;
        ended.abort();
        Ok(status)
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, servers: Arc<Authority>) {
    // A client that hangs up is none of the server's business.
    let Ok(start) = LazyConfigAcceptor::new(Acceptor::default(), stream).await else { return };
    let Some(domain) = start.client_hello().server_name().map(str::to_owned) else { return };
    let account = &shared.upstream.account;
    let Ok(setting) = setting(account, &domain).await else { return };
    let trusted = shared.ministack.domains.trusted(&domain, &setting);
    let config = servers.server_asking(&domain, trusted.as_ref().map(|store| store.pem.as_str()));
    let Ok(stream) = start.into_stream(Arc::new(config)).await else { return };
    let service = service_fn(|request| pass(account, request));
    let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// Mutual TLS of a domain in the emulator.
async fn setting(account: &Account, domain: &str) -> Result<Value, String> {
    let target = format!("/v2/domainnames/{domain}");
    let (status, body) = send(account, "apigateway", &target, None).await?;
    let shown: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    match status {
        StatusCode::OK => Ok(shown["mutualTlsAuthentication"].clone()),
        status => Err(format!("the emulator returns {status} for {domain}")),
    }
}

async fn pass(account: &Account, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let host = request.headers().get("host").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let target = request.uri().path().to_owned();
    let (status, body) = match send(account, "execute-api", &target, Some(&host)).await {
        Ok(answer) => answer,
        Err(error) => (StatusCode::BAD_GATEWAY, error.into()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    Ok(response)
}

/// A GET request to the emulator, in the account.
async fn send(
    account: &Account,
    service: &str,
    target: &str,
    host: Option<&str>,
) -> Result<(StatusCode, Bytes), String> {
    let port = account.emulator.port;
    let stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let credential = format!("AWS4-HMAC-SHA256 Credential={}/20260101/us-east-1/{service}/aws4_request", account.id);
    let own = format!("127.0.0.1:{port}");
    let request = Request::get(target).header("host", host.unwrap_or(&own)).header("authorization", credential);
    let request = request.body(Full::new(Bytes::new())).map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok((status, body))
}
