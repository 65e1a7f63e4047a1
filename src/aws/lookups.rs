//! Facts about the account and Region that a blueprint requires.

mod acm;
mod endpoint_services;
mod facts;
mod kms;
mod outside;

pub(crate) use facts::facts;
