//! Mutual TLS: only the client whose certificate Terraform passed at the start can connect to the provider.
//!
//! A provider holds the user's credentials. The directory of the socket excludes other users, and the certificate
//! excludes other processes of the same user.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme};
use tokio_rustls::TlsAcceptor;

/// The server's side of mutual TLS.
pub(super) struct TlsIdentity {
    /// Accepts the pinned client.
    pub acceptor: TlsAcceptor,
    /// The certificate of the server, in DER, for the client to pin.
    pub certificate: Vec<u8>,
}

/// Generates a key and a certificate for this process, and pins the client's certificate, which is in PEM.
pub(super) fn identity(client_pem: &str) -> Result<TlsIdentity, String> {
    let client = CertificateDer::from_pem_slice(client_pem.as_bytes())
        .map_err(|error| format!("PLUGIN_CLIENT_CERT does not contain a PEM certificate: {error}"))?;
    let (certificate, key) = self_signed().map_err(|error| format!("Could not generate a certificate: {error}"))?;
    // Set explicitly, because rustls panics if two crypto libraries are linked and none is selected.
    let crypto = Arc::new(aws_lc_rs::default_provider());
    let verifier = PinnedClient { client, algorithms: crypto.signature_verification_algorithms };
    let config = server_config(crypto, verifier, certificate.clone(), key);
    let mut config = config.map_err(|error| format!("Could not configure TLS: {error}"))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsIdentity { acceptor: TlsAcceptor::from(Arc::new(config)), certificate: certificate.to_vec() })
}

fn self_signed() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    // The client connects to a path, and verifies the certificate for the name "localhost".
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_string()])?;
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
    parameters.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = parameters.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    Ok((certificate.der().clone(), key))
}

fn server_config(
    crypto: Arc<CryptoProvider>,
    verifier: PinnedClient,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    ServerConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![certificate], key)
}

/// Accepts one certificate, compared byte for byte. The verifier of rustls rejects Terraform's certificate, which is a
/// CA certificate used as its own leaf.
#[derive(Debug)]
struct PinnedClient {
    client: CertificateDer<'static>,
    /// Terraform's key is on curve P-521, which aws-lc-rs supports and ring does not.
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for PinnedClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if *certificate == self.client {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_client_certificate_never_disables_tls() {
        for garbage in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA"] {
            assert!(identity(garbage).is_err_and(|error| error.contains("PLUGIN_CLIENT_CERT")), "{garbage}");
        }
    }

    #[test]
    fn every_process_has_a_certificate_of_its_own() {
        let (certificate, _) = self_signed().unwrap();
        let (other, _) = self_signed().unwrap();
        assert_ne!(certificate, other);
    }
}
