//! Generated configurations. Pure, and without access to AWS or to private state.

use super::{location, state};
use crate::plugin::schema::without_defaults;
use crate::plugin::{Nested, Value};
use crate::topology::Topology;

/// Returns the shortest configuration with which a plan of this state is empty, whether an import, a refresh or an
/// apply has written the state. It has the Region only if that differs from the Region of the provider block,
/// `default_region`. If the latter is not known, the Region is left out: the resource stays in it, with a warning.
pub(super) fn configuration_of<P: Topology>(state: &Value, default_region: Option<&str>) -> Value {
    let mut attributes = without_defaults(&P::Config::attributes(), &state::configured::<P>(state));
    P::omit_derived(&mut attributes, state);
    let region = state.get(location::REGION);
    if default_region.is_some_and(|default| region.as_str().is_some_and(|region| region != default)) {
        attributes.set(location::REGION, region.clone());
    }
    attributes
}
