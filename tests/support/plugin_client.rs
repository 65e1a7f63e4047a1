//! The client side of the plugin protocol: how Terraform identifies itself to a provider and connects to it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};

/// The value of `TF_PLUGIN_MAGIC_COOKIE` that Terraform sets for a provider.
pub(crate) const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The line that a provider prints when it is ready.
#[derive(Clone)]
pub(crate) struct Handshake {
    /// The kind of the address: `unix` or `tcp`.
    pub(crate) network: String,
    /// The path of the socket, or the IP address and the port.
    pub(crate) socket: String,
    /// The certificate of the server, in DER; empty without TLS.
    pub(crate) certificate: Vec<u8>,
}

impl Handshake {
    /// `None` for any other line.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let ["1", "6", network, socket, "grpc", certificate] = line.trim_end().split('|').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let certificate = STANDARD_NO_PAD.decode(certificate).ok()?;
        Some(Self { network: network.to_owned(), socket: socket.to_owned(), certificate })
    }

    /// Connects as Terraform does. If the server has a certificate, uses TLS and trusts only this certificate.
    pub(crate) async fn connect(&self, client: Option<&Certificate>) -> Result<Channel, tonic::transport::Error> {
        let connector = (!self.certificate.is_empty()).then(|| connector(&self.certificate, client));
        let handshake = self.clone();
        let open = move |_: Uri| {
            let (handshake, connector) = (handshake.clone(), connector.clone());
            async move {
                let stream = handshake.open().await?;
                Ok::<_, std::io::Error>(match connector {
                    None => Box::new(TokioIo::new(stream)) as Box<dyn Io>,
                    Some(connector) => {
                        let name = ServerName::try_from("localhost").expect("a host name");
                        Box::new(TokioIo::new(connector.connect(name, stream).await?))
                    }
                })
            }
        };
        Endpoint::from_static("http://localhost").connect_with_connector(tower::service_fn(open)).await
    }

    /// Connects to the socket, without TLS.
    pub(crate) async fn open(&self) -> std::io::Result<Box<dyn Stream>> {
        match self.network.as_str() {
            "tcp" => Ok(Box::new(TcpStream::connect(&self.socket).await?)),
            #[cfg(unix)]
            "unix" => Ok(Box::new(UnixStream::connect(&self.socket).await?)),
            other => panic!("the handshake has an address of the kind {other}"),
        }
    }
}

/// A connected socket.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A key and a certificate as Terraform generates them: P-521, a self-signed CA.
pub(crate) struct Certificate {
    key: rcgen::KeyPair,
    certificate: rcgen::Certificate,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).expect("a key can be generated");
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a host name");
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).expect("the key can sign");
        Self { key, certificate }
    }

    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// This certificate with another key, as an attacker could present it: the certificate is not secret, the key is.
    pub(crate) fn with_key_of(&self, other: Self) -> Self {
        Self { certificate: self.certificate.clone(), key: other.key }
    }
}

fn connector(server: &[u8], client: Option<&Certificate>) -> TlsConnector {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(server.to_vec())).expect("the handshake has a certificate");
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("TLS 1.2 and 1.3 are supported")
        .with_root_certificates(roots);
    let mut config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let key = PrivateKeyDer::Pkcs8(client.key.serialize_der().into());
            let key = aws_lc_rs::sign::any_supported_type(&key).expect("P-521 is supported");
            let certified = rustls::sign::CertifiedKey::new(vec![client.certificate.der().clone()], key);
            config.with_client_cert_resolver(Arc::new(Always(Arc::new(certified))))
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// Always presents this certificate, even if the key does not match it, and whichever CAs the server accepts.
#[derive(Debug)]
struct Always(Arc<rustls::sign::CertifiedKey>);

impl rustls::client::ResolvesClientCert for Always {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<rustls::sign::CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

trait Io: hyper::rt::Read + hyper::rt::Write + Send + Unpin {}
impl<T: hyper::rt::Read + hyper::rt::Write + Send + Unpin> Io for T {}
