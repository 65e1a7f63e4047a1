//! Issuers of JSON Web Tokens on loopback, over TLS. One server serves all tests of a process: each first part of a
//! path is an issuer, and all of them have one key.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::authority::Authority;
use super::{reaper, runtime};

/// The path of a discovery document below its issuer.
const DISCOVERY: &str = "/.well-known/openid-configuration";

/// An issuer with this name has no discovery document.
pub(crate) const UNREACHABLE: &str = "unreachable";

/// 2100-01-01.
const LATER: u64 = 4_102_444_800;

/// The issuers.
pub(crate) struct Issuers {
    port: u16,
    key: rcgen::KeyPair,
    /// The file with the certificate of the authority that signed the server's certificate.
    pub(crate) authority: PathBuf,
}

/// The issuers of this process.
pub(crate) fn issuers() -> &'static Issuers {
    static ISSUERS: OnceLock<Issuers> = OnceLock::new();
    ISSUERS.get_or_init(Issuers::start)
}

impl Issuers {
    fn start() -> Self {
        let directory = tempfile::Builder::new().prefix("fgw-issuer-").tempdir().expect("a temporary directory").keep();
        reaper::directory_created(&directory);
        let (authority, path) = (Authority::new(), directory.join("authority.pem"));
        std::fs::write(&path, authority.certificate.pem()).expect("the directory is ours");
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let acceptor = TlsAcceptor::from(Arc::new(authority.server_for("localhost")));
        runtime().spawn(serve(listener, acceptor));
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key can be generated");
        Self { port, key, authority: path }
    }

    /// The URL of the issuer with this name.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("https://localhost:{}/{name}", self.port)
    }

    /// A token of an issuer for the audience `shop`, which never expires, with further or other claims.
    pub(crate) fn token(&self, issuer: &str, claims: &Value) -> String {
        let mut all = json!({ "iss": self.url(issuer), "aud": "shop", "exp": LATER, "iat": 1, "sub": "ada" });
        for (name, value) in claims.as_object().expect("claims are a map") {
            all[name] = value.clone();
        }
        let encode = |part: &Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let text = format!("{}.{}", encode(&json!({ "alg": "RS256", "kid": "one", "typ": "JWT" })), encode(&all));
        let key = PrivateKeyDer::Pkcs8(self.key.serialize_der().into());
        let key = aws_lc_rs::sign::any_supported_type(&key).expect("RSA is supported");
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]).expect("RSA has this scheme");
        let signature = signer.sign(text.as_bytes()).expect("a key signs");
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    /// The document at a URL of this server.
    pub(crate) fn document(&self, url: &str) -> Option<Value> {
        let path = url.strip_prefix(&self.url(""))?;
        let (name, document) = path.split_once('/')?;
        match format!("/{}", document.trim_start_matches('/')).as_str() {
            _ if name == UNREACHABLE => None,
            DISCOVERY => Some(json!({ "issuer": self.url(name), "jwks_uri": self.url(&format!("{name}/keys")) })),
            "/keys" => Some(json!({ "keys": [self.public_key()] })),
            _ => None,
        }
    }

    fn public_key(&self) -> Value {
        // A sequence of the modulus of 2048 bits, which begins after 9 bytes, and the exponent 65537.
        let modulus = &self.key.public_key_raw()[9..265];
        json!({ "kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "e": "AQAB",
            "n": BASE64_URL_SAFE_NO_PAD.encode(modulus) })
    }
}

/// The URL at which API Gateway looks for the discovery document of an issuer.
pub(crate) fn discovery_url(issuer: &str) -> String {
    format!("{}{DISCOVERY}", issuer.trim_end_matches('/'))
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor) {
    loop {
        let (stream, _) = listener.accept().await.expect("a bound socket accepts");
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that does not trust the authority disconnects here, and reports the error itself.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            // So does a client that closes the connection.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let issuers = issuers();
    let found = issuers.document(&issuers.url(request.uri().path().trim_start_matches('/')));
    let mut response = Response::new(Full::from(found.as_ref().map(Value::to_string).unwrap_or_default()));
    if found.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    Ok(response)
}
