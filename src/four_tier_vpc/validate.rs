//! What may be written: every rule of the specification and of AWS that can be checked without AWS.

use crate::plugin::Problem;

use super::config::Config;

/// Every problem at once.
pub(super) fn validate(_config: &Config) -> Vec<Problem> {
    Vec::new()
}
