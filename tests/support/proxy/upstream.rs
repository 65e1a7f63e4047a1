//! The connection to the emulator: it forwards the caller's requests, and sends further ones on the caller's behalf.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::call::{Call, encode};
use super::message::{Message, Reply, end_to_end};
use super::xml::Element;
use crate::support::emulator::{Account, Kind};

#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) account: Account,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Upstream {
    pub(super) fn new(account: Account) -> Self {
        Self { account, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Forwards the request unchanged, in the account of the test.
    pub(super) async fn forward(&self, call: &Call, message: &Message) -> Result<Reply, String> {
        let mut headers = end_to_end(&message.headers);
        // Credentials from moto's STS (ASIA...) act in the account of their role, all others in the account of the
        // test.
        if self.account.emulator.kind == Kind::Moto && !call.access_key.starts_with("ASIA") {
            let id = HeaderValue::from_str(&self.account.id).expect("an account id is twelve digits");
            headers.insert("x-moto-account-id", id);
        }
        if self.account.emulator.kind == Kind::Moto {
            // moto derives the service from AWS's host names before it reads the signature, and supports few of them.
            headers.remove("host");
        }
        let url = format!("{}{}", self.account.emulator.endpoint(), message.target);
        let mut request = hyper::Request::builder().method(message.method.as_str()).uri(url);
        *request.headers_mut().ok_or("the request line cannot be forwarded")? = headers;
        let request = request.body(Full::new(message.body.clone())).map_err(|error| error.to_string())?;
        let failed = |error: &dyn std::fmt::Display| format!("the emulator does not answer {}: {error}", call.action);
        let response = self.client.request(request).await.map_err(|error| failed(&error))?;
        Reply::read(response).await.map_err(|error| failed(&error))
    }

    /// Makes an EC2 call as the same caller. Returns an AWS error as `Ok(Err(code))`.
    pub(super) async fn ec2(
        &self,
        origin: &Message,
        action: &str,
        params: &[(&str, &str)],
    ) -> Result<Result<Element, String>, String> {
        let mut body = format!("Action={action}&Version=2016-11-15");
        for (name, value) in params {
            body += &format!("&{name}={}", encode(value));
        }
        let message = Message { method: "POST".into(), target: "/".into(), body: body.into(), ..origin.clone() };
        let reply = self.forward(&Call::parse(&message), &message).await?;
        if reply.is_success() {
            return Element::parse(&reply.text()).map(Ok);
        }
        match reply.error_code() {
            Some(code) => Ok(Err(code)),
            None => Err(format!("the emulator returns {} for {action} {params:?}", reply.status)),
        }
    }

    /// The same for a describe call with filters, which cannot fail: an AWS error is an `Err`.
    pub(super) async fn describe(
        &self,
        origin: &Message,
        action: &str,
        params: &[(&str, &str)],
    ) -> Result<Element, String> {
        self.ec2(origin, action, params).await?.map_err(|code| format!("{action} {params:?}: {code}"))
    }

    /// Makes a REST call as the same caller. Returns status and body (`null` if empty).
    pub(super) async fn rest(
        &self,
        origin: &Message,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), String> {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let mut message = Message { method: method.into(), target: path.into(), body: body.into(), ..origin.clone() };
        message.headers.insert("content-type", HeaderValue::from_static("application/json"));
        let reply = self.forward(&Call::parse(&message), &message).await?;
        Ok((reply.status, serde_json::from_slice(&reply.body).unwrap_or_default()))
    }
}
