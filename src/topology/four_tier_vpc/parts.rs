//! The optional parts of a network, one file each: their inputs, rules, objects, way back and outputs.
//!
//! A part adds objects to a draft that has the subnets and route tables already. No part depends on another one.

mod default_network_acl;
mod default_security_group;
mod egress_only_gateway;
mod endpoints;
mod flow_logs;
mod interface_endpoints;
mod rule_maps;
mod secondary_ranges;

use super::blueprint::{Built, Draft};
use super::classify::Classifier;
use super::config::Config;
use super::outputs::Output;
use super::problems::Problems;
use super::warnings::unused::{Unused, while_off};
use crate::model::keys::{name_in, network as keys};
use crate::model::{Inventory, Lookup, Reference, Scope, Spec};
use crate::plugin::{AttributePath, Input, Problem, Value};
use crate::topology::Context;
use crate::topology::alternatives::{Change, Switch};
use crate::topology::mirrored::{Found, Mirrored};

pub(super) use default_network_acl::DefaultNetworkAcl;
pub use default_network_acl::NaclRule;
pub(super) use default_security_group::DefaultSecurityGroup;
pub use default_security_group::SecurityGroupRule;
pub(super) use egress_only_gateway::{EgressOnlyGateway, egress_only_gateway};
pub(super) use endpoints::Endpoints;
pub(super) use flow_logs::{FlowLog, FlowLogs, log_groups};
pub(super) use interface_endpoints::{InterfaceEndpoint, InterfaceEndpoints};
pub(super) use secondary_ranges::SecondaryRanges;

/// An optional part of a network. Most methods have a default that does nothing.
pub(super) trait Part: Sync {
    /// Whether the configuration has the part.
    fn is_wanted(&self, config: &Config) -> Input<bool>;

    /// The problems of its inputs that can be found without AWS.
    fn problems(&self, _config: &Config) -> Vec<Problem> {
        Vec::new()
    }

    /// Warnings about its inputs and their change, also if the network does not have the part.
    fn warnings(&self, _context: &Context<'_, Config>) -> Vec<Problem> {
        Vec::new()
    }

    /// Its inputs without effect that have another value than in `default`, which has the default of each input.
    fn unused(&self, _config: &Config, _default: &Config) -> Vec<Unused> {
        Vec::new()
    }

    /// The objects outside the network that its inputs name.
    fn references(&self, _config: &Config, _scope: &Scope) -> Vec<Reference> {
        Vec::new()
    }

    /// The lookups that only a plan with a change of its inputs needs. `prior` is the configuration of the last apply.
    fn lookups(&self, _config: &Config, _prior: Option<&Config>, _existing: &Inventory) -> Vec<Lookup> {
        Vec::new()
    }

    /// Adds its objects that subnets need, and problems, to a draft without subnets. Called for each part.
    fn draft_before_subnets(&self, _draft: &mut Draft<'_>) {}

    /// Adds its other objects, problems and warnings to a network that has the part.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>);

    /// Its inputs that decide which objects exist.
    fn switches(&self) -> &'static [Switch<Config>] {
        &[]
    }

    /// Values in place of its other unknown inputs, which together change every output that depends on them.
    fn alternatives(&self, _config: &Config) -> Vec<Change<Config>> {
        Vec::new()
    }

    /// Places its objects in a foreign network.
    fn classify(&self, _classifier: &mut Classifier<'_>) {}

    /// The switch without which an import does not manage the object that has this spec.
    fn kept_by(&self, _spec: &Spec) -> Option<&'static str> {
        None
    }

    /// Its inputs that are properties of objects.
    fn mirrored(&self) -> &'static [Mirrored] {
        &[]
    }

    /// Sets its other inputs for an import. `attributes` contain `custom_tags` and `name_tags` already.
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

/// The input that requires the object of a part in a slot.
pub(super) fn input_of(slot: &str) -> AttributePath {
    let of_entries = [
        (keys::INTERFACE_ENDPOINT, "interface_endpoints"),
        (keys::ENDPOINT_GROUP, "interface_endpoints"),
        (keys::FLOW_LOG, "flow_logs"),
    ];
    let entry = of_entries.iter().find_map(|(slots, input)| Some((input, name_in(slot, slots)?)));
    match (entry, slot) {
        (Some((input, name)), _) => AttributePath::new(input).key(name),
        (None, slot) if slot.starts_with("nat_gateway.") => AttributePath::new("custom_nat_eips"),
        (None, keys::ENDPOINTS_GROUP) => AttributePath::new("interface_endpoints"),
        (None, keys::EGRESS_ONLY_INTERNET_GATEWAY) => AttributePath::new("create_egress_only_igw"),
        (None, _) => AttributePath::new("create_vpc_endpoints"),
    }
}
