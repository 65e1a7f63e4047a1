//! The integration tests. They are one binary, because each additional binary would link the AWS SDK again.

#[path = "support/mod.rs"]
mod support;

#[path = "suite/emulators.rs"]
mod emulators;
#[path = "suite/acceptance.rs"]
mod acceptance;
#[path = "suite/fault_injection.rs"]
mod fault_injection;
#[path = "suite/docs.rs"]
mod docs;
#[path = "suite/gateway.rs"]
mod gateway;
#[path = "suite/installation.rs"]
mod installation;
#[path = "suite/guides.rs"]
mod guides;
#[path = "suite/network.rs"]
mod network;
#[path = "suite/plugin.rs"]
mod plugin;
#[path = "suite/provider_block.rs"]
mod provider_block;
#[path = "suite/testbed.rs"]
mod testbed;
