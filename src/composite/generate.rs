//! Generated configurations. Pure, and without access to AWS or to private state.

use super::state;
use crate::plugin::schema::without_defaults;
use crate::plugin::{Nested, Value};
use crate::topology::Topology;

/// Returns the shortest configuration with which a plan of this state is empty, whether an import, a refresh or an
/// apply has written the state.
pub(super) fn configuration_of<P: Topology>(state: &Value) -> Value {
    let mut attributes = without_defaults(&P::Config::attributes(), &state::configured::<P>(state));
    P::omit_derived(&mut attributes, state);
    attributes
}
