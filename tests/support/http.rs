//! Plain HTTP to loopback ports: readiness checks, and requests to the gateways that a test has created.

use std::collections::BTreeMap;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::emulator::Account;
use super::runtime;
use super::wait::AT_MOST;

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case; the last value of a repeated header.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    /// The body as JSON. Panics with the whole answer if it is not JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// A request to 127.0.0.1, with any Host.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    port: u16,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    /// `path` begins with a slash and may contain a query.
    pub(crate) fn new(port: u16, method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { port, method, path, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request. An error describes a failure of the connection, or a timeout.
    pub(crate) fn send(self) -> Result<Answer, String> {
        runtime()
            .block_on(async { tokio::time::timeout(AT_MOST, send(self)).await.map_err(|_| "no answer".to_owned())? })
    }
}

/// A request to an HTTP API on ministack, after all its changes are deployed.
pub(crate) fn gateway(account: &Account, api_id: &str, method: &str, path: &str) -> Request {
    super::deployments::wait(account);
    gateway_now(account, api_id, method, path)
}

/// A request to an HTTP API on ministack, by the API's own host name. Changes of the API may not be deployed yet. A
/// test that sends its own Authorization header uses the default account.
pub(crate) fn gateway_now(account: &Account, api_id: &str, method: &str, path: &str) -> Request {
    let host = format!("{api_id}.execute-api.localhost:{}", account.emulator.port);
    let request = if account.id == account.emulator.default_account().id {
        Request::new(account.emulator.port, method, path)
    } else {
        in_account(account, "execute-api", method, path)
    };
    request.header("host", &host)
}

/// The same for a GET request that the credentials of the account sign.
pub(crate) fn signed_gateway_now(account: &Account, api_id: &str, path: &str) -> Request {
    let host = format!("{api_id}.execute-api.localhost:{}", account.emulator.port);
    let request = Request::new(account.emulator.port, "GET", path);
    account.signed_headers(&host, path).iter().fold(request, |it, (name, value)| it.header(name, value))
}

/// A request to ministack in an account. ministack takes the account from the credential of the Authorization header
/// and does not check the signature.
pub(super) fn in_account(account: &Account, service: &str, method: &str, path: &str) -> Request {
    let credential = format!("AWS4-HMAC-SHA256 Credential={}/20260101/us-east-1/{service}/aws4_request", account.id);
    Request::new(account.emulator.port, method, path).header("authorization", &credential)
}

pub(crate) fn get(port: u16, path: &str) -> Result<Answer, String> {
    Request::new(port, "GET", path).send()
}

async fn send(request: Request) -> Result<Answer, String> {
    let stream = TcpStream::connect(("127.0.0.1", request.port)).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let mut builder = hyper::Request::builder().method(request.method.as_str()).uri(&request.path);
    if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        builder = builder.header("host", format!("127.0.0.1:{}", request.port));
    }
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    let message = builder.body(Full::new(Bytes::from(request.body))).map_err(|error| error.to_string())?;
    let answer = sender.send_request(message).await.map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = answer.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok(Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
