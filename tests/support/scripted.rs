//! A small HTTP server on loopback with answers that a test scripts: an instance metadata service, the credentials
//! endpoint of a container, or a sign-in portal. It records the requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::runtime;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in lower case.
    headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    /// The value of a header, or an empty string.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Status and body for a request.
type Script = dyn Fn(&Asked) -> (u16, String) + Send + Sync;

/// The server. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Scripted {
    port: u16,
    requests: Arc<Mutex<Vec<Asked>>>,
    stop: CancellationToken,
}

impl Scripted {
    /// Answers every request with the result of `script`, as JSON, which all of these services use.
    pub(crate) fn answering(script: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let (requests, stop) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
        runtime().spawn(serve(listener, Arc::new(script), Arc::clone(&requests), stop.clone()));
        Self { port, requests, stop }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.requests.lock().expect("no one panics while holding it").clone()
    }

    /// The requests so far as `METHOD target`, for short comparisons.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|it| format!("{} {}", it.method, it.target)).collect()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn serve(listener: TcpListener, script: Arc<Script>, requests: Arc<Mutex<Vec<Asked>>>, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted.expect("a listening socket accepts").0,
        };
        let (script, requests, stop) = (Arc::clone(&script), Arc::clone(&requests), stop.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&script), Arc::clone(&requests), request));
            tokio::select! {
                () = stop.cancelled() => {}
                // The client may close the connection at any time.
                _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service) => {}
            }
        });
    }
}

async fn answer(
    script: Arc<Script>,
    record: Arc<Mutex<Vec<Asked>>>,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let received = Asked {
        method: head.method.to_string(),
        target: head.uri.path_and_query().map_or_else(|| "/".into(), ToString::to_string),
        headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: String::from_utf8_lossy(&body.collect().await?.to_bytes()).into_owned(),
    };
    record.lock().expect("no one panics while holding it").push(received.clone());
    let (status, body) = script(&received);
    let answer = hyper::Response::builder()
        .status(status)
        .header("content-type", "application/json")
        // The metadata service returns the lifetime of a token in this header. Other clients ignore it.
        .header("x-aws-ec2-metadata-token-ttl-seconds", 21_600);
    Ok(answer.body(Full::new(Bytes::from(body))).expect("status and headers are valid"))
}
