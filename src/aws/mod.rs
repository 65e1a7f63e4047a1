//! The only code that knows the AWS SDK: one file per kind of object, each with the same functions in the same
//! order (`read`, `create`, `update`, `delete`).

mod session;

pub(crate) mod ec2;
pub(crate) mod apigatewayv2;
pub(crate) mod lambda_permission;
pub(crate) mod log_group;
pub(crate) mod log_subscription;
pub(crate) mod dns_record;

mod operation;
mod ownership;
mod tag_changes;
mod changes;
mod locks;
mod waits;
mod poller;
mod errors;
mod retries;
mod pace;
mod process_state;

mod clients;
mod credentials;
mod profile_roles;
mod concealed;
mod identity;
mod http_client;
mod trust;
mod facts;
mod acm;
mod kms;

#[cfg(test)]
mod loopback;
#[cfg(test)]
mod recorded;

pub(crate) use clients::connect;
pub(crate) use errors::AwsError;
pub(crate) use facts::facts;
pub(crate) use operation::Operation;
pub use session::Session;
