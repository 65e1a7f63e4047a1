//! The test bed: real Terraform runs the built provider against local emulators of AWS.
//!
//! ```text
//! terraform -> provider -> proxy (one per test: log, faults, repairs) -> emulator (one per kind and test process)
//!                                                          boto3 (independent check) --^
//! ```
//!
//! A test creates a `Proxy::moto()` (networks) or a `Proxy::ministack()` (gateways), each with its own account, passes
//! it to a `Workspace`, runs `apply`, and checks the account with `proxy.account().list()` and the calls with
//! `proxy.calls()`. Tests run in parallel in one process and share only the two emulators.

// The test bed serves the tests of both resources, each of which uses some parts. `suite/testbed.rs` tests the test
// bed.
#![allow(dead_code)]

#[cfg(unix)]
pub(crate) mod adoption;
#[cfg(unix)]
pub(crate) mod authority;
#[cfg(unix)]
pub(crate) mod backend;
#[cfg(unix)]
pub(crate) mod deployments;
#[cfg(unix)]
pub(crate) mod emulator;
#[cfg(unix)]
mod host;
#[cfg(unix)]
pub(crate) mod foreign;
#[cfg(unix)]
pub(crate) mod http;
#[cfg(unix)]
pub(crate) mod interruption;
#[cfg(unix)]
pub(crate) mod issuer;
#[cfg(unix)]
pub(crate) mod kept;
#[cfg(unix)]
pub(crate) mod listing;
pub(crate) mod log_events;
#[cfg(unix)]
pub(crate) mod permissions;
pub(crate) mod plugin_client;
#[cfg(unix)]
pub(crate) mod proxy;
#[cfg(unix)]
pub(crate) mod reaper;
#[cfg(unix)]
pub(crate) mod scripted;
#[cfg(unix)]
pub(crate) mod target;
#[cfg(unix)]
pub(crate) mod terraform;
#[cfg(unix)]
pub(crate) mod tunnel;
#[cfg(unix)]
pub(crate) mod venv;
pub(crate) mod wait;
pub(crate) mod wire;

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// The runtime of all proxies and HTTP calls. Tests themselves are plain threads.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime needs threads and epoll")
    })
}
