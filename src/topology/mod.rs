//! What a product is: a pure description of one resource type in terms of [`model`](crate::model).

pub mod four_tier_vpc;
pub mod http_gateway;
mod ignored;
#[cfg(test)]
pub(crate) mod rules;

use std::collections::BTreeMap;

pub use ignored::IgnoredDrift;

use crate::model::{Entry, Facts, Ids, Inventory, Lookup, Object, Scope, Timeouts, TopologyKind};
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Value};

/// One resource type. Everything here is pure: no I/O, no async, no clock.
pub trait Topology: Send + Sync + 'static {
    /// The configuration as written.
    type Config: Nested + Clone + Send + Sync;

    /// The type in a configuration, such as `fgw_four_tier_vpc`.
    const TYPE_NAME: &'static str;

    /// The kind of topology.
    const KIND: TopologyKind;

    /// The input that is the name, such as `vpc_name`.
    const NAME: &'static str;

    /// What the resource is, in Markdown.
    fn description() -> &'static str;

    /// The computed attributes beside those that every product has.
    fn outputs_schema() -> Vec<Attribute>;

    /// Outputs that users may also set, and that so stand among the inputs of the resource. A data source has them too.
    fn further_outputs() -> Vec<Attribute> {
        Vec::new()
    }

    /// The name that the user gave, which is part of the root's ownership tag.
    fn name(config: &Self::Config) -> &Input<String>;

    /// The user's own tags of the root, later maps over earlier ones, which with `default_tags` make `tags_all`.
    fn own_tags(config: &Self::Config) -> Vec<&crate::model::Tags>;

    /// Checks what can be checked without AWS, all at once. Unknown inputs are no problem.
    fn validate(config: &Self::Config) -> Vec<Problem>;

    /// The attributes whose change needs a new root. `prior` is the configuration applied last, `existing` what exists,
    /// which is empty while the provider does not know where it works.
    fn replaced_by(prior: &Self::Config, config: &Self::Config, existing: &Inventory) -> Vec<AttributePath>;

    /// What must be looked up in AWS for a blueprint.
    fn lookups(config: &Self::Config) -> Vec<Lookup>;

    /// The objects that should exist.
    fn blueprint(context: &Context<'_, Self::Config>) -> Result<Blueprint, Vec<Problem>>;

    /// The outputs that `outputs_schema` declares. `objects` is `None` while the blueprint is undecided; then
    /// every output is unknown that depends on it.
    fn outputs(
        config: &Self::Config,
        objects: Option<&[Object]>,
        ids: &Ids,
        scope: Option<&Scope>,
    ) -> BTreeMap<String, Value>;

    /// The configured attributes that reproduce what exists, for an import: what AWS shows, and for what it does not
    /// show the default or a value that leads to the same objects. `None` where nothing shows that this provider made
    /// it.
    fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value>;

    /// Makes `attributes`, as [`imported`](Topology::imported) gave them, what a later configuration is compared with:
    /// what AWS does not show is taken from that configuration. Both have their defaults filled in.
    fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory);

    /// Whether what was found in AWS without a record of who made it can be this resource's, by the attributes of a
    /// state or a configuration, and what else was found. Asked of what AWS shows no owner of.
    fn may_own(attributes: &Value, found: &Entry, beside: &Inventory) -> bool {
        let _ = (attributes, found, beside);
        true
    }

    /// The objects that a state names and that may be found by their id alone, as its configuration wants them. Asked
    /// when nothing but that state is known, with nothing looked up.
    fn remembered(context: &Context<'_, Self::Config>) -> Vec<Object> {
        match Self::blueprint(context) {
            Ok(Blueprint::Decided { objects, .. }) => objects,
            _ => Vec::new(),
        }
    }

    /// Writes what differs in AWS from what was applied into the attributes of `state` that express it, so that
    /// Terraform shows it there.
    fn write_drift(state: &mut Value, inventory: &Inventory);

    /// The objects whose drift is neither reported nor mended.
    fn ignored_drift(config: &Self::Config) -> IgnoredDrift;

    /// The timeouts that the user set.
    fn timeouts(config: &Self::Config) -> Timeouts;
}

/// What a blueprint is made from.
pub struct Context<'a, C> {
    /// The configuration, with defaults.
    pub config: &'a C,
    /// The configuration applied last, or what an import amounts to; `None` before the first apply.
    pub prior: Option<&'a C>,
    /// What exists. Choices that are frozen once made (AZs, CIDRs, places) are read from it.
    pub existing: &'a Inventory,
    /// Where the provider works.
    pub scope: &'a Scope,
    /// What was looked up.
    pub facts: &'a Facts,
}

/// What should exist.
#[derive(Clone, Debug, PartialEq)]
pub enum Blueprint {
    /// An unknown input decides which objects there are.
    Undecided,
    /// Which objects there are is known, though some of their inputs may not be.
    Decided {
        /// The objects, in the order of creation.
        objects: Vec<Object>,
        /// What the user should know before applying, about attributes of the configuration.
        warnings: Vec<Problem>,
        /// What does not exist yet and must before an apply, for Terraform may make it in the same run.
        missing: Vec<Problem>,
    },
}
