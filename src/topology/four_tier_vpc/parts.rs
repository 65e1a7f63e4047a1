//! The optional parts of a network, one file each: their inputs, rules, objects, way back and outputs.
//!
//! A part adds objects to a draft that has the subnets, gateways and routes already. No part depends on another one.

mod endpoints;
mod flow_logs;

use super::blueprint::{Built, Draft};
use super::classify::Classifier;
use super::config::Config;
use super::outputs::Output;
use crate::model::{Inventory, Reference, Scope};
use crate::plugin::{Input, Problem, Value};
use crate::topology::alternatives::Change;
use crate::topology::mirrored::{Found, Mirrored};

pub(super) use endpoints::Endpoints;
pub(super) use flow_logs::{FlowLog, FlowLogs};

/// An optional part of a network. Most methods have a default that does nothing.
pub(super) trait Part: Sync {
    /// Whether the configuration has the part.
    fn is_wanted(&self, config: &Config) -> Input<bool>;

    /// The problems of its inputs that can be found without AWS.
    fn problems(&self, _config: &Config) -> Vec<Problem> {
        Vec::new()
    }

    /// The objects outside the network that its inputs name.
    fn references(&self, _config: &Config, _scope: &Scope) -> Vec<Reference> {
        Vec::new()
    }

    /// Adds its objects, problems and warnings to a network that has the part.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>);

    /// Values in place of its unknown inputs, which together change every output that depends on them.
    fn alternatives(&self, config: &Config) -> Vec<Change<Config>>;

    /// Places its objects in a network that something else built.
    fn classify(&self, _classifier: &mut Classifier<'_>) {}

    /// Its inputs that are properties of objects.
    fn mirrored(&self) -> &'static [Mirrored] {
        &[]
    }

    /// Sets its other inputs for an import.
    fn import(&self, found: Found<'_>, scope: &Scope, attributes: &mut Value);

    /// Writes changes that were made outside Terraform into its other inputs.
    fn reflect(&self, _inventory: &Inventory, _state: &mut Value) {}

    /// Its outputs.
    fn outputs(&self) -> &'static [Output] {
        &[]
    }

    /// The end of the computed Name tag of the object in a slot; `None` if the part has no object with a Name tag
    /// there.
    fn name(&self, slot: &str) -> Option<String>;
}
