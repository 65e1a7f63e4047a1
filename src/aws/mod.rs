//! The only code that knows the AWS SDK. It imports `model` and `cloud` and nothing else of this crate.
//!
//! - [`config`]: from settings to clients: credentials, Region, TLS, proxies.
//! - [`calls`]: what every call shares: errors, retries, waits, rate limits, locks.
//! - [`ec2`], [`apigateway`], [`lambda`], [`logs`], [`route53`]: one file per kind of object, each with the same
//!   functions in the same order (`read`, `create`, `update`, `delete`).
//! - [`lookups`]: what a blueprint must know about the account and Region.
//! - [`clients`]: the clients of one provider configuration, and [`session`]: the account as the executor sees it.

mod clients;
pub(crate) mod config;
mod session;

mod apigateway;
mod calls;
mod ec2;
mod lambda;
mod logs;
mod lookups;
mod route53;

#[cfg(test)]
mod recorded;

pub use clients::Session;
pub(crate) use config::connect::connect;
