//! A provider registry on the loopback interface, over HTTPS with its own certificate authority.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::release::{Key, Release, VERSION, directory, name, platform};
use crate::support::runtime;

type Files = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// A registry that serves one release of `fgw/fgw` for this platform. It stops when it is dropped.
pub(super) struct Registry {
    port: u16,
    files: Files,
    /// The file with the certificate of the authority that signed the registry's certificate.
    pub(super) authority: PathBuf,
    requests: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
}

impl Registry {
    pub(super) fn serving(release: &Release, key: &Key) -> Self {
        let (acceptor, authority) = certificates();
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let registry =
            Self { port, files: Files::default(), authority, requests: Arc::default(), stop: CancellationToken::new() };
        registry.publish(release, key);
        let (files, requests) = (Arc::clone(&registry.files), Arc::clone(&registry.requests));
        runtime().spawn(registry.stop.clone().run_until_cancelled_owned(serve(listener, acceptor, files, requests)));
        registry
    }

    /// The address of the provider in a configuration.
    pub(super) fn source(&self) -> String {
        format!("localhost:{}/fgw/fgw", self.port)
    }

    /// Replaces the file of the release with this ending after name and version.
    pub(super) fn replace(&self, end: &str, content: impl Into<Bytes>) {
        self.put(&file(end), content);
    }

    /// Publishes the checksum of another zip.
    pub(super) fn publish_sum_of(&self, zip: &[u8]) {
        let mut answer: Value = serde_json::from_slice(&self.get(&download())).expect("the response is JSON");
        answer["shasum"] = json!(sum(zip));
        self.put(&download(), answer.to_string());
    }

    /// The paths of all requests.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no thread panics with the lock").clone()
    }

    fn publish(&self, release: &Release, key: &Key) {
        let (zip, (system, machine)) = (Release::zip_end(), platform());
        let manifest: Value = serde_json::from_slice(&release.file("_manifest.json")).expect("a manifest is JSON");
        let protocols = &manifest["metadata"]["protocol_versions"];
        let answers = [
            ("/.well-known/terraform.json".to_owned(), json!({"providers.v1": "/v1/providers/"})),
            (
                "/v1/providers/fgw/fgw/versions".to_owned(),
                json!({"versions": [{"version": VERSION, "protocols": protocols,
                                     "platforms": [{"os": system, "arch": machine}]}]}),
            ),
            (
                download(),
                json!({
                    "protocols": protocols, "os": system, "arch": machine, "filename": name(&zip),
                    "download_url": file(&zip), "shasum": sum(&release.file(&zip)),
                    "shasums_url": file("_SHA256SUMS"), "shasums_signature_url": file("_SHA256SUMS.sig"),
                    "signing_keys": {"gpg_public_keys": [{"key_id": key.id, "ascii_armor": key.public()}]},
                }),
            ),
        ];
        for (path, answer) in answers {
            self.put(&path, answer.to_string());
        }
        for end in [zip.as_str(), "_SHA256SUMS", "_SHA256SUMS.sig"] {
            self.replace(end, release.file(end));
        }
    }

    fn put(&self, path: &str, content: impl Into<Bytes>) {
        self.files.lock().expect("no thread panics with the lock").insert(path.to_owned(), content.into());
    }

    fn get(&self, path: &str) -> Bytes {
        self.files.lock().expect("no thread panics with the lock")[path].clone()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// SHA-256 as the registries write it.
pub(super) fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The path of the information about the download.
fn download() -> String {
    let (system, machine) = platform();
    format!("/v1/providers/fgw/fgw/{VERSION}/download/{system}/{machine}")
}

/// The path of a file of the release.
fn file(end: &str) -> String {
    format!("/files/{}", name(end))
}

/// Creates an authority and a certificate for localhost that it signs. Also returns the file of the authority's
/// certificate.
fn certificates() -> (TlsAcceptor, PathBuf) {
    let authority_key = rcgen::KeyPair::generate().expect("a key can be generated");
    let mut authority = rcgen::CertificateParams::new(Vec::new()).expect("an empty list of names is valid");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    authority.distinguished_name.push(rcgen::DnType::CommonName, "authority of a test");
    let path = directory().join("authority.pem");
    let own = authority.self_signed(&authority_key).expect("a key signs").pem();
    std::fs::write(&path, own).expect("the directory is ours");

    let key = rcgen::KeyPair::generate().expect("a key can be generated");
    let mut named = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("localhost is a valid name");
    named.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let certificate =
        named.signed_by(&key, &rcgen::Issuer::new(authority, authority_key)).expect("the authority signs");
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .expect("key and certificate belong together");
    (TlsAcceptor::from(Arc::new(config)), path)
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, files: Files, requests: Arc<Mutex<Vec<String>>>) {
    loop {
        let (stream, _) = listener.accept().await.expect("a bound socket accepts");
        tokio::spawn(answer(stream, acceptor.clone(), Arc::clone(&files), Arc::clone(&requests)));
    }
}

async fn answer(stream: TcpStream, acceptor: TlsAcceptor, files: Files, requests: Arc<Mutex<Vec<String>>>) {
    // A client that does not trust the authority disconnects here, and reports the error itself.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let reply = |request: Request<Incoming>| {
        let path = request.uri().path().to_owned();
        let found = files.lock().expect("no thread panics with the lock").get(&path).cloned();
        let response = Response::builder().header(
            "content-type",
            match path.starts_with("/files/") {
                true => "application/octet-stream",
                false => "application/json",
            },
        );
        requests.lock().expect("no thread panics with the lock").push(path);
        let response = match found {
            Some(content) => response.body(Full::new(content)),
            None => response.status(StatusCode::NOT_FOUND).body(Full::default()),
        };
        std::future::ready(Ok::<_, Infallible>(response.expect("the parts are valid")))
    };
    // Terraform reports a broken connection itself.
    let _broken = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(reply)).await;
}
