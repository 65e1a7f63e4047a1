//! The one integration-test binary: each further one would link the AWS SDK again.

#[path = "suite/plugin.rs"]
mod plugin;
