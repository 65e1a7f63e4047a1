//! The only module that uses the AWS SDK. Of this crate it imports only `model` and `cloud`.
//!
//! - [`config`]: creation of clients from the settings: credentials, Region, TLS, proxies.
//! - [`calls`]: code for all calls: errors, retries, waits, rate limits, locks.
//! - [`ec2`], [`apigateway`], [`lambda`], [`logs`], [`route53`]: one file per kind of object, each with the same
//!   functions in the same order (`read`, `create`, `update`, `delete`).
//! - [`lookups`]: the facts about the account and Region that a blueprint requires.
//! - [`clients`]: the clients of one provider configuration, and [`session`]: the `Cloud` that the executor calls.

mod clients;
pub(crate) mod config;
mod session;
mod shared_reads;

mod apigateway;
mod calls;
mod ec2;
mod lambda;
mod logs;
mod lookups;
mod route53;

#[cfg(test)]
mod failed_updates;
#[cfg(test)]
mod foreign_answers;
#[cfg(test)]
mod recorded;

pub use clients::Session;
pub(crate) use config::connect::connect;
