//! HTTP endpoints on loopback, which a gateway passes requests to.

use std::convert::Infallible;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::runtime;

/// Starts an endpoint that answers with its name and the request, and returns its port. A request whose path ends with
/// `/hang` gets no answer, and one with `/fail` the status 500.
pub(crate) fn start(name: &'static str) -> u16 {
    let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    runtime().spawn(serve(listener, name));
    port
}

async fn serve(listener: TcpListener, name: &'static str) {
    loop {
        let (stream, _) = listener.accept().await.expect("a bound socket accepts");
        tokio::spawn(async move {
            // A client may close the connection.
            let service = service_fn(move |request| answer(name, request));
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(name: &'static str, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    if parts.uri.path().ends_with("/hang") {
        std::future::pending::<()>().await;
    }
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Map<String, Value> =
        parts.headers.iter().map(|(name, value)| (name.to_string(), text(value).into())).collect();
    let shown = json!({
        "by": name, "method": parts.method.as_str(), "path": parts.uri.to_string(), "headers": headers,
        "body": String::from_utf8_lossy(&body),
    });
    let mut response = Response::new(Full::from(shown.to_string()));
    if parts.uri.path().ends_with("/fail") {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
    let headers = response.headers_mut();
    headers.insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    headers.insert("x-served-by", hyper::header::HeaderValue::from_static(name));
    Ok(response)
}
