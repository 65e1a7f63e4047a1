//! The keys of objects, by kind of topology, in one place each: the blueprint says with them what should be, and what
//! is read from AWS gets the same ones.

pub mod gateway;
pub mod network;
