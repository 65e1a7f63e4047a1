//! Creation of AWS clients from the settings of a provider configuration.

pub(crate) mod connect;
mod credentials;
pub(crate) mod http_client;
mod identity;
pub(crate) mod plaintext;
mod profile_roles;
mod proxies;
pub(crate) mod redact;
pub(crate) mod settings;
pub(crate) mod sources;
mod tls;

#[cfg(test)]
mod loopback;
