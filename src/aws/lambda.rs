//! Lambda: permissions by which other services invoke functions.

pub(crate) mod permission;
