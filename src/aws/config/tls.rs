//! Verification of TLS certificates.

use std::path::Path;
use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// The certificates that are accepted.
#[derive(Debug)]
pub(crate) enum Verification<'a> {
    /// Those of the system's certificate authorities.
    System,
    /// Only those of the certificate authorities in a PEM file, as in other AWS tools.
    Bundle(&'a Path),
    /// Every certificate.
    None,
}

/// The TLS configuration. The error names the file and the problem.
pub(crate) fn tls(verification: &Verification<'_>) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("aws-lc-rs supports TLS 1.2 and 1.3");
    let config = match verification {
        Verification::System => builder
            .with_native_roots()
            .map_err(|error| {
                format!(
                    "The CA certificates of the system cannot be read: {error}. Install them, for example with the \
                     package ca-certificates, or set custom_ca_bundle or AWS_CA_BUNDLE."
                )
            })?
            .with_no_client_auth(),
        Verification::Bundle(path) => {
            let roots = bundle(path).map_err(|error| {
                format!("{error} Correct custom_ca_bundle, AWS_CA_BUNDLE or the profile's ca_bundle.")
            })?;
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Verification::None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NoCertificateVerification(provider)))
            .with_no_client_auth(),
    };
    Ok(config)
}

fn bundle(path: &Path) -> Result<RootCertStore, String> {
    let file = path.display();
    let pem = std::fs::read(path).map_err(|error| format!("{file} cannot be read: {error}."))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| format!("{file} is not a PEM file: {error}."))?;
        roots.add(certificate).map_err(|error| format!("{file} contains an invalid certificate: {error}."))?;
    }
    if roots.is_empty() {
        return Err(format!("{file} contains no certificate."));
    }
    Ok(roots)
}

/// Accepts every certificate, but still verifies that the server has the key of its certificate.
#[derive(Debug)]
struct NoCertificateVerification(Arc<CryptoProvider>);

impl ServerCertVerifier for NoCertificateVerification {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
