//! What the resources know of AWS, before and after the provider is configured.

use std::sync::{Arc, RwLock};

use crate::cloud::SharedCloud;

/// The connection that all resources of a provider share.
#[derive(Clone, Default)]
pub struct Connection(Arc<RwLock<Connected>>);

/// How far the connection is.
#[derive(Clone, Default)]
pub enum Connected {
    /// The provider is configured.
    Ready(SharedCloud),
    /// The provider block holds values that are known only at apply: plan without AWS.
    Unknown,
    /// Terraform has not configured the provider, or configuring it failed.
    #[default]
    Missing,
}

impl Connection {
    /// How far it is now.
    pub fn get(&self) -> Connected {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Takes a connection into use. Operations at work keep the one that they have.
    pub fn set(&self, connected: Connected) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = connected;
    }
}
