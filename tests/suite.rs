//! The integration tests. They are one binary, because each additional binary would link the AWS SDK again.
//!
//! On Windows, only the tests of the plugin protocol run: the emulators and their proxies need a Unix system.

#[path = "support/mod.rs"]
mod support;

#[cfg(unix)]
#[path = "suite/emulators.rs"]
mod emulators;
#[cfg(unix)]
#[path = "suite/acceptance.rs"]
mod acceptance;
#[cfg(unix)]
#[path = "suite/both.rs"]
mod both;
#[cfg(unix)]
#[path = "suite/fault_injection.rs"]
mod fault_injection;
#[cfg(unix)]
#[path = "suite/docs.rs"]
mod docs;
#[cfg(unix)]
#[path = "suite/gateway.rs"]
mod gateway;
#[cfg(unix)]
#[path = "suite/installation.rs"]
mod installation;
#[cfg(unix)]
#[path = "suite/guides.rs"]
mod guides;
#[cfg(unix)]
#[path = "suite/network.rs"]
mod network;
#[path = "suite/plugin.rs"]
mod plugin;
#[cfg(unix)]
#[path = "suite/provider_block.rs"]
mod provider_block;
#[cfg(unix)]
#[path = "suite/state_check.rs"]
mod state_check;
#[cfg(unix)]
#[path = "suite/testbed.rs"]
mod testbed;
