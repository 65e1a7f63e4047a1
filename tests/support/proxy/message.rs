//! HTTP messages with their whole bodies: requests and their answers.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::call::{Call, Protocol};

/// A request with its whole body.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Message {
    pub(super) async fn read(request: hyper::Request<Incoming>) -> Result<Self, hyper::Error> {
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or_else(|| "/".into(), ToString::to_string);
        let body = body.collect().await?.to_bytes();
        Ok(Self { method: head.method.to_string(), target, headers: head.headers, body })
    }

    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A header as text, or an empty string.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON; `null` if it is not JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// An answer with its whole body.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    /// An AWS error in the protocol of the call.
    pub(super) fn error(call: &Call, status: u16, code: &str, message: &str) -> Self {
        let id = "00000000-0000-4000-8000-00000000fa17";
        let (code_text, message_text) = (super::xml::escape(code), super::xml::escape(message));
        let mut reply = match call.protocol {
            Protocol::Ec2 => Self::xml(
                status,
                &format!(
                    "<Response><Errors><Error><Code>{code_text}</Code><Message>{message_text}</Message></Error></Errors>\
                     <RequestID>{id}</RequestID></Response>"
                ),
            ),
            Protocol::Query | Protocol::RestXml => Self::xml(
                status,
                &format!(
                    "<ErrorResponse><Error><Type>Sender</Type><Code>{code_text}</Code><Message>{message_text}</Message>\
                     </Error><RequestId>{id}</RequestId></ErrorResponse>"
                ),
            ),
            Protocol::Json | Protocol::RestJson => {
                let mut reply = Self::json(status, &json!({"__type": code, "message": message}));
                let code = HeaderValue::from_str(code).expect("an AWS error code is printable");
                reply.headers.insert("x-amzn-errortype", code);
                reply
            }
        };
        // Every service sends the request ID in this header too, where SDKs read it.
        reply.headers.insert("x-amzn-requestid", HeaderValue::from_static(id));
        reply
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(super) fn xml(status: u16, body: &str) -> Self {
        Self::new(status, "text/xml;charset=UTF-8", body.to_owned())
    }

    /// The page of Werkzeug, moto's web server, for an internal error.
    pub(super) fn page() -> Self {
        let text = "<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n\
                    <h1>Internal Server Error</h1>\n";
        Self::new(500, "text/html; charset=utf-8", text.to_owned())
    }

    /// 204, API Gateway's answer to a delete.
    pub(super) fn no_content() -> Self {
        Self { status: 204, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The same answer with another body of the same type.
    pub(super) fn with_body(mut self, body: String) -> Self {
        self.body = Bytes::from(body);
        self
    }

    /// The AWS error code, if this is an error that has one.
    pub(super) fn error_code(&self) -> Option<String> {
        if self.is_success() {
            return None;
        }
        let text = self.text();
        let between = |open: &str, close: &str| Some(text.split_once(open)?.1.split_once(close)?.0.to_owned());
        let in_header = || Some(self.headers.get("x-amzn-errortype")?.to_str().ok()?.to_owned());
        let in_body = || Some(serde_json::from_str::<Value>(&text).ok()?.get("__type")?.as_str()?.to_owned());
        let code = between("<Code>", "</Code>").or_else(in_header).or_else(in_body)?;
        // Some services write `prefix#Code` or `Code:url`.
        let code = code.rsplit('#').next().unwrap_or_default();
        Some(code.split(':').next().unwrap_or_default().to_owned())
    }

    pub(super) async fn read(response: hyper::Response<Incoming>) -> Result<Self, hyper::Error> {
        let (head, body) = response.into_parts();
        Ok(Self {
            status: head.status.as_u16(),
            headers: end_to_end(&head.headers),
            body: body.collect().await?.to_bytes(),
        })
    }

    pub(super) fn into_response(self) -> hyper::Response<Full<Bytes>> {
        let mut response = hyper::Response::new(Full::new(self.body));
        *response.status_mut() = hyper::StatusCode::from_u16(self.status).expect("a status has three digits");
        *response.headers_mut() = self.headers;
        response
    }

    fn new(status: u16, content_type: &'static str, body: String) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(content_type));
        Self { status, headers, body: Bytes::from(body) }
    }
}

/// The headers without those of a single connection, and those of a body that may be rewritten.
pub(super) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for name in ["connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding", "expect"]
    {
        kept.remove(HeaderName::from_static(name));
    }
    kept
}
