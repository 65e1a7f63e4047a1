//! Lambda: functions, and permissions by which other services invoke them.

pub(crate) mod function;
pub(crate) mod permission;
