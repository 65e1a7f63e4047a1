//! The keys of objects, in one module per kind of topology. Blueprints and inventories read from AWS use the same
//! functions, so that equal objects have equal keys.

pub mod gateway;
pub mod network;
