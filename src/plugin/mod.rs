//! The Terraform plugin protocol, version 6, for providers written in Rust.
//!
//! This module does not depend on a cloud or on any topology, so that other providers can use it. A provider implements
//! [`Provider`], [`Resource`], [`DataSource`] and [`Function`], declares its attributes once with [`attributes!`], and
//! calls [`serve`](fn@serve). This module implements everything between the provider and Terraform: handshake, TLS,
//! gRPC, encoding, logs, cancellation and panics.
//!
//! [`attributes!`]: crate::attributes

pub mod rules;
mod checks;
mod connection;
mod contradictions;
mod convert;
pub mod data_source;
pub mod decode;
pub mod diagnostics;
pub mod function;
pub mod generate;
pub mod handshake;
mod hcl;
pub mod identity;
mod json;
mod lifecycle;
pub mod lint;
pub mod list_resource;
mod logs;
mod msgpack;
mod nearest;
mod number;
mod panics;
pub mod path;
pub mod platform;
mod printable;
#[doc(hidden)]
pub mod proto;
pub mod resource;
pub mod schema;
pub mod serve;
mod server;
mod tls;
pub mod transport;
mod types;
pub mod value;

pub use data_source::{DataRequest, DataResponse, DataSource};
pub use decode::{Encode, FromValue, Input, Nested};
pub use diagnostics::{DROPS_NAMES, Diagnostic, Diagnostics, Problem, Severity};
pub use function::{Function, FunctionError, Parameter, Signature};
pub use handshake::{Environment, Offer};
pub use identity::{IdentityAttribute, ImportTarget};
pub use list_resource::{ListRequest, ListResource, Listed};
pub use nearest::nearest;
pub use path::{AttributePath, Step};
pub use platform::Parent;
pub use printable::printable;
pub use resource::{
    ApplyRequest, ApplyResponse, ImportResponse, MoveSource, PartialState, PlanRequest, PlanResponse, Provider,
    ReadRequest, ReadResponse, Resource,
};
pub use rules::{Check, Condition};
pub use schema::{Attribute, AttributeType, Mode, Nesting, PlanEffect, Schema, Type};
pub use serve::{Program, debug, serve};
pub use transport::Transport;
pub use value::{Number, Value};
