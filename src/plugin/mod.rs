//! The Terraform plugin protocol, version 6, for providers written in Rust.
//!
//! This folder knows no cloud and no product: another provider could be written on it. A provider
//! implements [`Provider`] and [`Resource`], declares its attributes once with [`attributes!`], and calls
//! `serve`. Everything between that and Terraform (handshake, TLS, gRPC, encoding, logs, Ctrl-C, panics)
//! is here.
//!
//! [`attributes!`]: crate::attributes

pub mod decode;
pub mod diagnostics;
pub mod path;
pub mod resource;
pub mod schema;
pub mod value;

pub use decode::{FromValue, Input, Nested};
pub use diagnostics::{Diagnostic, Diagnostics, Problem, Severity};
pub use path::{AttributePath, Step};
pub use resource::{
    ApplyRequest, ApplyResponse, ImportResponse, PlanRequest, PlanResponse, Provider, ReadRequest, ReadResponse,
    Resource, SoFar,
};
pub use schema::{Attribute, AttributeType, Check, Mode, Nesting, Schema, Type};
pub use value::{Number, Value};
