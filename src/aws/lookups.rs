//! What a blueprint must know about the account and Region.

mod acm;
mod facts;
mod kms;

pub(crate) use facts::facts;
