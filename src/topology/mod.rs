//! The trait [`Topology`]: a pure description of one resource type in terms of [`model`](crate::model).

mod alternatives;
mod entries;
pub mod four_tier_vpc;
pub mod http_gateway;
mod ignored;
mod mirrored;
pub mod outside;
mod patterns;
mod places;
mod protected;
#[cfg(test)]
pub(crate) mod rules;
#[cfg(test)]
pub(crate) mod settings;

use std::collections::{BTreeMap, BTreeSet};

pub use ignored::IgnoredDrift;
pub use protected::{PROTECTED_OBJECTS, ProtectedObjects};

use crate::model::{
    Classification, Entry, Facts, GuardDutyObjects, Ids, Inventory, Key, Landscape, LogGroup, Lookup, Object,
    Reference, Scope, Spec, Timeouts, TopologyKind,
};
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Value};

pub use crate::model::NOT_YET_RUN;

/// One resource type. Everything here is pure: no I/O, no async, no clock.
pub trait Topology: Send + Sync + 'static {
    /// The decoded configuration.
    type Config: Nested + Clone + Send + Sync;

    /// The type in a configuration, such as `fgw_four_tier_vpc`.
    const TYPE_NAME: &'static str;

    /// The kind of topology.
    const KIND: TopologyKind;

    /// The attribute that holds the name of the topology, such as `vpc_name`.
    const NAME: &'static str;

    /// The outputs with ARNs of the root. Together they contain its partition, Region and account.
    const ROOT_ARNS: &'static [&'static str];

    /// The outputs that stay the same as long as the root exists.
    const ROOT_OUTPUTS: &'static [&'static str];

    /// What the resource is, in Markdown.
    fn description() -> &'static str;

    /// The computed attributes, except those that every topology has.
    fn outputs_schema() -> Vec<Attribute>;

    /// Outputs that users may also set, and that are therefore inputs of the resource. A data source has them too.
    fn further_outputs() -> Vec<Attribute> {
        Vec::new()
    }

    /// The configured name, which is part of the root's ownership tag.
    fn name(config: &Self::Config) -> &Input<String>;

    /// What a root is compared with, besides the name, to find out whether it is the one that this configuration would
    /// create: the range of a network, or the route keys of a gateway. `None` if the name alone counts, because a pool
    /// chooses the range.
    fn features(config: &Self::Config) -> Input<Option<BTreeSet<String>>>;

    /// What [`features`](Topology::features) returns, for messages, such as `CIDR block`.
    const FEATURES: &'static str;

    /// Whether a create may add another root with the same name and the same features.
    fn allows_duplicate_name(config: &Self::Config) -> &Input<bool>;

    /// The configuration with the values of absent inputs that follow from others.
    fn with_derived(config: &Value) -> Value {
        config.clone()
    }

    /// The required tags of the root, with `default_tags` and without the ignored ones: the planned `tags_all`.
    fn root_tags(config: &Self::Config, scope: &Scope) -> crate::model::Tags;

    /// The tags of the root in AWS that `tags_all` contains: those that do not follow from another input.
    fn in_tags_all(config: &Self::Config, tags: crate::model::Tags) -> crate::model::Tags;

    /// The input with the name of one of several objects of a root, of which a topology manages one. An import ID may
    /// contain it, after a slash.
    const PART: Option<&'static str> = None;

    /// Decides which objects of a foreign root can be adopted. `part` is the chosen object, if one was chosen.
    fn classify(landscape: &Landscape, part: Option<&str>) -> Classification;

    /// The objects to adopt: their IDs by slot.
    fn adopt(config: &Self::Config) -> Input<BTreeMap<String, Input<String>>>;

    /// Whether an object of this kind that the configuration does not list stays unmanaged in an adoption.
    fn may_stay_unmanaged(_spec: &Spec) -> bool {
        false
    }

    /// Existing objects that an adoption takes over only if the user names them, and that no import proposes: their IDs
    /// by slot.
    fn adopted_only_by_name(existing: &Inventory) -> BTreeMap<String, String> {
        let _ = existing;
        BTreeMap::new()
    }

    /// How a configuration requires such objects, for messages: a sentence.
    const ADOPTED_ONLY_BY_NAME: &'static str = "";

    /// Whether two values of an input mean the same although their texts differ, such as equal JSON in another form. A
    /// plan then keeps the prior value.
    fn is_same_text(_input: &str, one: &str, other: &str) -> bool {
        one == other
    }

    /// Returns every problem that can be found without AWS. An unknown input is not a problem.
    fn validate(config: &Self::Config) -> Vec<Problem>;

    /// The attributes whose change replaces the root. `prior` is the configuration of the last apply. `existing` is
    /// empty while the provider's scope is unknown.
    fn replaced_by(prior: &Self::Config, config: &Self::Config, existing: &Inventory) -> Vec<AttributePath>;

    /// The reason to reject a replacement of the root, if there is one. `existing` is what it deletes.
    fn reject_replacement(_config: &Self::Config, _existing: &Inventory) -> Option<Problem> {
        None
    }

    /// Whether the inputs express all that protects what new objects serve, such as mutual TLS. An unknown input may
    /// not.
    fn expresses_protection(_config: &Self::Config) -> bool {
        true
    }

    /// The log groups that the configuration requires or may require, without their tags. A new root may find them.
    fn log_groups(config: &Self::Config, facts: &Facts) -> Vec<LogGroup>;

    /// The lookups in AWS that the blueprint needs in every plan.
    fn lookups(config: &Self::Config) -> Vec<Lookup>;

    /// The lookups that it needs for what is not decided yet, or changes. `prior` is the configuration of the last
    /// apply.
    fn lookups_of_change(config: &Self::Config, prior: Option<&Self::Config>, existing: &Inventory) -> Vec<Lookup> {
        let _ = (config, prior, existing);
        Vec::new()
    }

    /// The objects outside the topology that the known inputs name, and the names that must be free. A plan looks them
    /// up when they are new.
    fn references(config: &Self::Config, scope: &Scope) -> Vec<Reference>;

    /// The objects that the configuration requires. The errors are those that depend on the account and Region.
    fn blueprint(context: &Context<'_, Self::Config>) -> Result<Blueprint, Vec<Problem>>;

    /// The required objects that exist after an interrupted run although no read looks for them, and with which the
    /// rest of the blueprint may seem to collide. They are known even if the blueprint is refused.
    fn findable(context: &Context<'_, Self::Config>) -> Vec<Object> {
        let _ = context;
        Vec::new()
    }

    /// The input that requires an object, for a problem with it.
    fn input_of(key: &Key) -> AttributePath {
        let _ = key;
        AttributePath::new("adopt")
    }

    /// Configurations with known values for the unknown inputs that decide which objects exist. An output depends on
    /// these inputs only if it is not the same for all of these configurations. Empty if there are too many.
    fn alternatives(context: &Context<'_, Self::Config>) -> Vec<Self::Config>;

    /// Whether values of unknown inputs that no alternative has may make an existing object superfluous.
    fn may_release(context: &Context<'_, Self::Config>) -> bool {
        let _ = context;
        false
    }

    /// The outputs that `outputs_schema` declares. `objects` is `None` while the blueprint is undecided; the outputs
    /// that depend on it are then unknown.
    fn outputs(
        config: &Self::Config,
        objects: Option<&[Object]>,
        ids: &Ids,
        scope: Option<&Scope>,
    ) -> BTreeMap<String, Value>;

    /// The attributes of a configuration that reproduces the existing objects, for an import. Attributes that AWS does
    /// not return have their default, or a value that produces the same objects. `None` if nothing indicates that this
    /// provider created the objects.
    fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value>;

    /// Sets inputs to null whose values follow from the other attributes of a state, so that a generated configuration
    /// does not contain them. A plan without them must be empty. Those that equal a default are already null.
    fn omit_derived(attributes: &mut Value, state: &Value);

    /// Turns `attributes`, a result of [`imported`](Topology::imported), into the state that `configuration` is
    /// compared with: attributes that AWS does not return are copied from `configuration`. Both have their defaults
    /// filled in.
    fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory);

    /// Whether an object in AWS may belong to this resource, according to the attributes of a state or a configuration
    /// and the other objects in AWS. Called only for objects for which AWS returns no ownership tag.
    fn may_own(attributes: &Value, found: &Entry, others: &Inventory) -> bool {
        let _ = (attributes, found, others);
        true
    }

    /// Keeps the objects of a blueprint clear of unmanaged objects that have the ownership tags of the topology.
    fn avoid(existing: &mut Inventory, unmanaged: &[&Entry]) {
        let _ = (existing, unmanaged);
    }

    /// The names of the unknown inputs that name the unmanaged objects of which the topology has parts
    /// (`Kind::is_part_of_unmanaged_object`).
    fn unknown_owners(config: &Self::Config) -> BTreeSet<String> {
        let _ = config;
        BTreeSet::new()
    }

    /// The existing parts of the unmanaged objects that these inputs name.
    fn parts_of(owners: &BTreeSet<String>, config: &Self::Config, existing: &Inventory) -> BTreeSet<Key> {
        let _ = (owners, config, existing);
        BTreeSet::new()
    }

    /// Removes objects from the unmanaged ones that a read has found, if the inventory contains them. An apply may
    /// delete them, and they must not count as unmanaged then.
    fn forget_managed(existing: &mut Inventory) {
        let _ = existing;
    }

    /// Gives objects that were found in AWS the keys that they have in a state, if their keys do not follow from AWS
    /// alone. Called when only that state is known.
    fn restore_keys(attributes: &Value, inventory: &mut Inventory) {
        let _ = (attributes, inventory);
    }

    /// The objects of a state that may be found by their ID alone, as its configuration requires them. Called when only
    /// that state is known, without any lookup.
    fn remembered(context: &Context<'_, Self::Config>) -> Vec<Object> {
        match Self::blueprint(context) {
            Ok(Blueprint::Decided { objects, .. }) => objects,
            _ => Vec::new(),
        }
    }

    /// The objects that a configuration requires and of which AWS does not store everything. Called like
    /// `remembered`.
    fn unstored(context: &Context<'_, Self::Config>) -> Vec<Object> {
        Self::remembered(context)
    }

    /// Writes drift into the attributes of `state` that express it, so that Terraform shows the change there.
    fn write_drift(state: &mut Value, inventory: &Inventory);

    /// The objects whose drift is neither reported nor corrected.
    fn ignored_drift(config: &Self::Config) -> IgnoredDrift;

    /// What an update to this configuration does with the objects of GuardDuty that block a deletion.
    fn guardduty_in_update(_config: &Self::Config) -> GuardDutyObjects {
        GuardDutyObjects::Keep
    }

    /// What a destroy does with them.
    fn guardduty_in_destroy(_config: &Self::Config) -> GuardDutyObjects {
        GuardDutyObjects::Keep
    }

    /// The configured timeouts.
    fn timeouts(config: &Self::Config) -> Timeouts;
}

/// The input of a blueprint.
pub struct Context<'a, C> {
    /// The configuration, with defaults.
    pub config: &'a C,
    /// The configuration of the last apply, or the attributes of an import; `None` before the first apply.
    pub prior: Option<&'a C>,
    /// The existing objects. Choices that never change once made (AZs, CIDR blocks, positions) are read from them.
    pub existing: &'a Inventory,
    /// The partition, Region and account of the provider, and its tags.
    pub scope: &'a Scope,
    /// The results of the lookups.
    pub facts: &'a Facts,
}

/// The objects that a configuration requires.
#[derive(Clone, Debug, PartialEq)]
pub enum Blueprint {
    /// The set of objects depends on an unknown input.
    Undecided,
    /// The set of objects is known, although some of their inputs may be unknown.
    Decided {
        /// The objects, in the order of creation.
        objects: Vec<Object>,
        /// Warnings about attributes of the configuration, shown before an apply.
        warnings: Vec<Problem>,
        /// Objects outside the topology that must exist at apply but do not exist yet. Terraform may create them in the
        /// same run.
        missing: Vec<Problem>,
    },
}

/// The configured text or, if the existing object has one that means the same, that one, so that another form of a text
/// alone changes no object. `of` returns the text of a spec.
fn in_existing_form<'a>(
    configured: String,
    existing: Option<&'a Entry>,
    of: fn(&'a Spec) -> Option<&'a String>,
    is_same: fn(&str, &str) -> bool,
) -> String {
    let specs = existing.into_iter().flat_map(|entry| [Some(&entry.applied), entry.observed()]).flatten();
    let same = specs.filter_map(of).find(|text| is_same(text, &configured));
    same.cloned().unwrap_or(configured)
}
