//! A local server that replaces AWS, or a proxy, in tests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) target: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: String,
}

impl Seen {
    /// The value of a header. Empty if the request does not have it.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether the body has this form field of the Query protocol, such as `Action=AssumeRole`, in encoded form.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.body.split('&').any(|it| it == field)
    }
}

/// Returns a status and a body. `None` closes the connection without a response.
type Script = dyn Fn(usize, &Seen) -> Option<(u16, String)> + Send + Sync;

/// The server. It stops with the runtime of the test.
pub(crate) struct Loopback {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Loopback {
    /// Serves plain HTTP. The script gets the number of the request, counted from 0, and the request.
    pub(crate) async fn http(
        script: impl Fn(usize, &Seen) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Loopback {
        Loopback::start(None, script).await
    }

    /// Serves HTTPS with a certificate for `localhost`, and returns the certificate in PEM.
    pub(crate) async fn https(
        script: impl Fn(usize, &Seen) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> (Loopback, String) {
        let names = ["localhost".to_string(), "sts.test".to_string()];
        let identity = rcgen::generate_simple_self_signed(names).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = rustls_pki_types::PrivateKeyDer::try_from(identity.signing_key.serialize_der()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.cert.der().clone()], key)
            .unwrap();
        (Loopback::start(Some(tokio_rustls::TlsAcceptor::from(Arc::new(config))), script).await, identity.cert.pem())
    }

    /// The URL of the server.
    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}", self.address.port())
    }

    /// The requests received so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    async fn start(
        tls: Option<tokio_rustls::TlsAcceptor>,
        script: impl Fn(usize, &Seen) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Loopback {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Script> = Arc::new(script);
        let record = seen.clone();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (script, record, tls) = (script.clone(), record.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, script, record).await,
                        // A client that does not trust the certificate disconnects during the handshake.
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, script, record).await;
                            }
                        }
                    }
                });
            }
        });
        Loopback { address, seen }
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    script: Arc<Script>,
    record: Arc<Mutex<Vec<Seen>>>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (script, record) = (script.clone(), record.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
            let body = String::from_utf8_lossy(&body).into_owned();
            let seen = Seen { target: head.uri.to_string(), headers: head.headers, body };
            let number = {
                let mut all = record.lock().unwrap();
                all.push(seen.clone());
                all.len() - 1
            };
            match script(number, &seen) {
                Some((status, body)) => {
                    // The metadata service returns the lifetime of its tokens in this header. Other clients ignore it.
                    let answer = Response::builder().status(status).header("x-aws-ec2-metadata-token-ttl-seconds", 60);
                    Ok(answer.body(Full::new(Bytes::from(body))).unwrap())
                }
                None => Err(std::io::Error::other("the script closes the connection")),
            }
        }
    });
    // A connection that ends early is part of the tests.
    let _ended = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// The heads of the requests that have opened a tunnel.
pub(crate) type Heads = Arc<Mutex<Vec<String>>>;

/// A proxy that opens every tunnel to `target`, regardless of the requested host. Returns its address and the heads of
/// the requests.
pub(crate) async fn tunnel_to(target: SocketAddr) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let record = heads.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let record = record.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                record.lock().unwrap().push(String::from_utf8(head).unwrap());
                let mut server = TcpStream::connect(target).await.unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, heads)
}
