//! A certificate authority for servers on loopback.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;

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

    /// The TLS configuration of a server for this host.
    pub(crate) fn server_for(&self, host: &str) -> ServerConfig {
        let key = rcgen::KeyPair::generate().expect("keys can be generated");
        let parameters = rcgen::CertificateParams::new(vec![host.to_owned()]).expect("the host name is valid");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("the CA can sign");
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("aws-lc-rs supports TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("the key is the certificate's")
    }
}
