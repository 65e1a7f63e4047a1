//! The test bed: real Terraform runs the built provider against local emulators of AWS.
//!
//! ```text
//! terraform -> provider -> proxy (one per test: log, faults, repairs) -> emulator (one per kind and test process)
//!                                                          boto3 (independent look) ---^
//! ```
//!
//! A test takes `Proxy::moto()` (networks) or `Proxy::ministack()` (gateways), which comes with an account of its own,
//! gives it to a `Workspace`, runs `apply`, and looks at the account with `proxy.account().list()` and at the calls
//! with `proxy.calls()`. Tests run side by side in one process: nothing here is shared but the two emulators.

// The bed is written for the tests of both resources; each part is used by some of them and tested in
// `suite/testbed.rs`.
#![allow(dead_code)]

pub(crate) mod emulator;
mod host;
pub(crate) mod http;
pub(crate) mod interruption;
mod kept;
pub(crate) mod listing;
pub(crate) mod permissions;
pub(crate) mod plugin_client;
pub(crate) mod proxy;
pub(crate) mod reaper;
pub(crate) mod scripted;
pub(crate) mod terraform;
pub(crate) mod tunnel;
pub(crate) mod venv;
pub(crate) mod wait;
pub(crate) mod wire;

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// The one runtime of all proxies and HTTP calls; tests themselves are plain threads.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime needs threads and epoll")
    })
}
