//! Creation of AWS clients from the settings of a provider configuration.

pub(crate) mod chain;
pub(crate) mod connect;
mod credentials;
pub(crate) mod endpoint;
pub(crate) mod http_client;
mod identity;
pub(crate) mod loaded_credentials;
pub(crate) mod origin;
pub(crate) mod plaintext;
mod profile_roles;
mod proxies;
pub(crate) mod redact;
mod roles;
pub(crate) mod settings;
pub(crate) mod sources;
mod tls;
pub(crate) mod unreachable;

#[cfg(test)]
mod loopback;
