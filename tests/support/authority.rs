//! A certificate authority for servers on loopback.

use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate authority that only tests trust.
pub(crate) struct Authority {
    pub(crate) certificate: rcgen::Certificate,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = rcgen::KeyPair::generate().expect("keys can be generated");
        let mut parameters = rcgen::CertificateParams::default();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "An authority of tests");
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).expect("a CA can sign its own certificate");
        Self { certificate, issuer: rcgen::Issuer::new(parameters, key) }
    }

    /// A client with a certificate of this authority.
    pub(crate) fn identity(&self, name: &str) -> Identity {
        let (certificate, key) = self.signed(name);
        Identity { certificate, key: key.serialize_der() }
    }

    /// The TLS configuration of a server for this host.
    pub(crate) fn server_for(&self, host: &str) -> ServerConfig {
        self.server_asking(host, None)
    }

    /// The same. `trusted`, if any, are the authorities in PEM format of which each client needs a certificate.
    pub(crate) fn server_asking(&self, host: &str, trusted: Option<&str>) -> ServerConfig {
        let (certificate, key) = self.signed(host);
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("aws-lc-rs supports TLS 1.2 and 1.3");
        let builder = match trusted {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                    roots.add(certificate.expect("PEM")).expect("an authority");
                }
                if roots.is_empty() {
                    // No client has a certificate of an authority whose key is lost.
                    roots.add(Authority::new().certificate.der().clone()).expect("an authority");
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider()).build();
                builder.with_client_cert_verifier(verifier.expect("there are authorities"))
            }
        };
        builder.with_single_cert(vec![certificate], key).expect("the key is the certificate's")
    }

    /// The TLS configuration of a client that trusts this authority.
    pub(crate) fn client(&self, identity: Option<&Identity>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.der().clone()).expect("an authority");
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("aws-lc-rs supports TLS 1.2 and 1.3")
            .with_root_certificates(roots);
        match identity {
            None => builder.with_no_client_auth(),
            Some(Identity { certificate, key }) => {
                let key = PrivateKeyDer::Pkcs8(key.clone().into());
                builder.with_client_auth_cert(vec![certificate.clone()], key).expect("the key is the certificate's")
            }
        }
    }

    fn signed(&self, name: &str) -> (CertificateDer<'static>, rcgen::KeyPair) {
        let key = rcgen::KeyPair::generate().expect("keys can be generated");
        let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("the name is valid");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("the CA can sign");
        (certificate.der().clone(), key)
    }
}

/// The certificate of a client, and its key.
#[derive(Clone)]
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}
