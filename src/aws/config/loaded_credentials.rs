//! Credentials as they are loaded: secrets for the redaction, and errors that name their origin.

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};

use super::origin::Origin;
use super::redact::register_secret;

/// Credentials that are registered as secrets as soon as they are loaded.
#[derive(Debug)]
pub(crate) struct SecretsRegistered {
    pub(super) provider: SharedCredentialsProvider,
    /// Named by errors, if these credentials sign the calls.
    pub(super) origin: Option<Origin>,
}

/// A source has credentials, but did not return them, such as one whose sign-in has ended.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub(crate) struct NotObtained {
    pub(crate) source: CredentialsError,
    pub(crate) origin: Option<Origin>,
}

impl ProvideCredentials for SecretsRegistered {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let credentials = match self.provider.provide_credentials().await {
                Ok(credentials) => credentials,
                Err(error @ CredentialsError::CredentialsNotLoaded(_)) => return Err(error),
                Err(source) => {
                    let origin = self.origin.clone();
                    return Err(CredentialsError::provider_error(NotObtained { source, origin }));
                }
            };
            register_secret(credentials.secret_access_key());
            credentials.session_token().into_iter().for_each(register_secret);
            Ok(credentials)
        })
    }
}
