//! The topology `fgw_four_tier_vpc`: from its configuration to the objects of a network. Nothing here does I/O.
//!
//! Reading order: `config` declares the inputs, and `validate` checks them. `vpc`, `zones`, `tier_zones`, `addresses`,
//! `ipv6`, `nat` and `private_nat` make the choices that do not change once they are made. `blueprint` assembles the
//! objects, and `outputs` computes the read-only attributes. `alternatives` shows which of these depend on unknown
//! inputs. `import` and `reflect` go the other way, from objects to the configuration that a user would have written;
//! the inputs that are properties of objects are in the table `mirrored`. `classify` decides which objects of a network
//! that something else built can be adopted. `parts` has one file for each optional part, with all of this.

mod addresses;
mod alternatives;
mod blueprint;
mod classify;
mod config;
#[cfg(test)]
mod fixtures;
mod found;
mod generate;
mod import;
mod ipv6;
mod mirrored;
mod name_tags;
mod nat;
mod nat_slots;
mod outputs;
mod parts;
mod private_nat;
mod problems;
#[cfg(test)]
mod properties;
mod ranges;
mod references;
mod reflect;
mod route_table_layout;
#[cfg(test)]
pub(crate) mod settings;
mod sizes;
mod subnet_layout;
mod tags;
mod tier_zones;
mod unmanaged_subnets;
mod validate;
mod vpc;
mod warnings;
mod zones;

use std::collections::{BTreeMap, BTreeSet};

pub use config::Config;
pub use parts::{NaclRule, SecurityGroupRule};
pub use subnet_layout::SubnetLayout;

use crate::model::keys::network as keys;
use crate::model::{
    Classification, Entry, Facts, GuardDutyObjects, Ids, Inventory, Key, Landscape, LogGroup, Lookup, Object,
    Reference, Scope, Tags, Timeouts, TopologyKind, is_same_policy, timeouts,
};
use crate::plugin::{Attribute, AttributePath, Input, Problem, Value};
use crate::topology::{Blueprint, Context, IgnoredDrift, Topology};
use parts::{
    DefaultNetworkAcl, DefaultSecurityGroup, EgressOnlyGateway, Endpoints, FlowLogs, InterfaceEndpoints, Part,
    SecondaryRanges,
};
use unmanaged_subnets::UnmanagedSubnets;

/// The optional parts of a network, in the order in which their objects are created.
const PARTS: &[&dyn Part] = &[
    &SecondaryRanges,
    &EgressOnlyGateway,
    &Endpoints,
    &FlowLogs,
    &InterfaceEndpoints,
    &DefaultNetworkAcl,
    &DefaultSecurityGroup,
];

/// A list whose elements may be unknown.
type Strings = Input<Vec<Input<String>>>;

/// A VPC with up to four tiers of subnets, and the gateways, routes, endpoints and rules that belong to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FourTierVpc;

impl Topology for FourTierVpc {
    type Config = Config;

    const TYPE_NAME: &'static str = "fgw_four_tier_vpc";
    const KIND: TopologyKind = TopologyKind::FourTierVpc;
    const NAME: &'static str = "vpc_name";
    const ROOT_ARNS: &'static [&'static str] = &["vpc_arn"];
    const ROOT_OUTPUTS: &'static [&'static str] = &[
        "vpc_id",
        "vpc_arn",
        "vpc_cidr_block",
        "default_route_table_id",
        "default_network_acl_id",
        "default_security_group_id",
    ];

    fn description() -> &'static str {
        "A VPC with up to four tiers of subnets in each availability zone (public, private app, private persistence \
         and transit), internet and NAT gateways, route tables, gateway endpoints, and the default network ACL and \
         security group, managed as one resource.\n\nA subnet keeps its availability zone (AZ) and its CIDR block: \
         existing subnets do not move when AWS adds an AZ to the Region or removes one. The AZs of a new network get \
         indices from 0, in the order of their names, and keep them. The guide \"Addresses\" describes how subnets get \
         their CIDR blocks."
    }

    fn outputs_schema() -> Vec<Attribute> {
        outputs::schema()
    }

    fn further_outputs() -> Vec<Attribute> {
        vec![outputs::ipv6_range_schema()]
    }

    fn name(config: &Config) -> &Input<String> {
        &config.vpc_name
    }

    fn features(config: &Config) -> Input<Option<BTreeSet<String>>> {
        config.cidr_block.clone().map(|range| range.map(|range| BTreeSet::from([canonical(&range)])))
    }

    const FEATURES: &'static str = "CIDR block";

    fn allows_duplicate_name(config: &Config) -> &Input<bool> {
        &config.allow_duplicate_name
    }

    /// Given addresses are used, unless `use_custom_nat_eips` is `false`.
    fn with_derived(config: &Value) -> Value {
        let mut derived = config.clone();
        if config.as_map().is_some() && config.get("use_custom_nat_eips").is_null() {
            match config.get("custom_nat_eips") {
                Value::Unknown => derived.set("use_custom_nat_eips", Value::Unknown),
                Value::List(given) if !given.is_empty() => derived.set("use_custom_nat_eips", true.into()),
                _ => {}
            }
        }
        derived
    }

    fn in_tags_all(config: &Config, tags: Tags) -> Tags {
        tags::without_computed(config, tags)
    }

    fn root_tags(config: &Config, scope: &Scope) -> Tags {
        tags::of_root(config, scope)
    }

    fn classify(landscape: &Landscape, _part: Option<&str>) -> Classification {
        match landscape {
            Landscape::Network(landscape) => classify::classify(landscape),
            Landscape::Api(_) => Classification::default(),
        }
    }

    fn adopted_only_by_name(existing: &Inventory) -> BTreeMap<String, String> {
        nat::given_addresses(existing)
    }

    const ADOPTED_ONLY_BY_NAME: &'static str = "The network manages the addresses of all its NAT gateways or of none. To \
                                                adopt them, set use_custom_nat_eips to false, and name all of them \
                                                in adopt.";

    fn adopt(config: &Config) -> Tags {
        config.adopt.clone().map(Option::unwrap_or_default)
    }

    fn is_same_text(input: &str, one: &str, other: &str) -> bool {
        let is_policy = ["objectstore_endpoint_policy", "keyvalue_endpoint_policy"].contains(&input);
        one == other || is_policy && is_same_policy(one, other)
    }

    fn validate(config: &Config) -> Vec<Problem> {
        validate::validate(config)
    }

    fn replaced_by(prior: &Config, config: &Config, existing: &Inventory) -> Vec<AttributePath> {
        match existing.at(keys::VPC) {
            Some(entry) => vpc::replaced_by(entry, config),
            None => vpc::replaced_since(prior, config),
        }
    }

    fn reject_replacement(config: &Config, existing: &Inventory) -> Option<Problem> {
        nat::released_by_replacement(config, existing)
    }

    fn lookups(config: &Config) -> Vec<Lookup> {
        let mut lookups = vec![Lookup::AvailabilityZones];
        if config.create_vpc_endpoints != Input::Known(false) {
            lookups.push(Lookup::GatewayEndpointServices);
        }
        lookups
    }

    fn lookups_of_change(config: &Config, prior: Option<&Config>, existing: &Inventory) -> Vec<Lookup> {
        PARTS.iter().flat_map(|part| part.lookups(config, prior, existing)).collect()
    }

    fn log_groups(config: &Config, _: &Facts) -> Vec<LogGroup> {
        parts::possible_log_groups(config)
    }

    fn references(config: &Config, scope: &Scope) -> Vec<Reference> {
        references::references(config, scope)
    }

    fn blueprint(context: &Context<'_, Config>) -> Result<Blueprint, Vec<Problem>> {
        blueprint::blueprint(context)
    }

    fn input_of(key: &Key) -> AttributePath {
        parts::input_of(&key.slot)
    }

    fn findable(context: &Context<'_, Config>) -> Vec<Object> {
        blueprint::findable(context)
    }

    fn alternatives(context: &Context<'_, Config>) -> Vec<Config> {
        alternatives::alternatives(context)
    }

    fn outputs(
        config: &Config,
        objects: Option<&[Object]>,
        ids: &Ids,
        scope: Option<&Scope>,
    ) -> BTreeMap<String, Value> {
        outputs::outputs(config, objects, ids, scope)
    }

    /// An import forgets the default ACL and the default group unless the configuration manages their rules.
    fn may_own(attributes: &Value, found: &Entry, _: &Inventory) -> bool {
        let Some(switch) = PARTS.iter().find_map(|part| part.kept_by(found.spec())) else { return true };
        let mut known = attributes.get("aws_objects").as_map().into_iter().flatten();
        *attributes.get(switch) != Value::Bool(false) || known.any(|(_, id)| id.as_str() == Some(found.id.as_str()))
    }

    fn avoid(existing: &mut Inventory, unmanaged: &[&Entry]) {
        UnmanagedSubnets::add(existing, unmanaged);
    }

    fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
        import::imported(inventory, scope)
    }

    fn omit_derived(attributes: &mut Value, state: &Value) {
        generate::omit_derived(attributes, state);
    }

    fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory) {
        import::take_as_applied(attributes, configuration, inventory);
    }

    /// Only the IPv6 range of the VPC. All other objects carry tags or are part of an object that does.
    fn remembered(context: &Context<'_, Config>) -> Vec<Object> {
        ipv6::remembered(context.config).into_iter().collect()
    }

    fn unstored(context: &Context<'_, Config>) -> Vec<Object> {
        let vpc = vpc::object(context);
        let groups = parts::log_groups(context.config, &vpc.key);
        groups.into_iter().chain(Self::remembered(context)).chain([vpc]).collect()
    }

    fn write_drift(state: &mut Value, inventory: &Inventory) {
        reflect::write_drift(state, inventory);
    }

    fn ignored_drift(config: &Config) -> IgnoredDrift {
        IgnoredDrift::of(&config.ignore_drift)
    }

    fn guardduty_in_update(config: &Config) -> GuardDutyObjects {
        match config.delete_guardduty_resources == Input::Known(true) {
            true => GuardDutyObjects::LeaveSubnets,
            false => GuardDutyObjects::Keep,
        }
    }

    fn guardduty_in_destroy(config: &Config) -> GuardDutyObjects {
        match config.delete_guardduty_resources == Input::Known(true) {
            true => GuardDutyObjects::Delete,
            false => GuardDutyObjects::Keep,
        }
    }

    fn timeouts(config: &Config) -> Timeouts {
        let seconds = |text: &Input<String>| text.known().and_then(|text| timeouts::seconds(text));
        Timeouts {
            route_table_create: seconds(&config.route_table_creation_timeout),
            route_table_update: seconds(&config.route_table_update_timeout),
            route_table_delete: seconds(&config.route_table_deletion_timeout),
            ..Timeouts::of(&config.timeouts)
        }
    }
}

/// A CIDR block in the form that AWS returns, without host bits. Text that is not a CIDR block is returned as it is.
fn canonical(cidr: &str) -> String {
    cidr.parse::<ipnet::IpNet>().map_or_else(|_| cidr.to_string(), |net| net.trunc().to_string())
}

/// JSON without insignificant whitespace, with sorted keys. Text that is not JSON is returned as it is; the validation
/// reports it.
fn canonical_json(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text).map_or_else(|_| text.to_string(), |json| json.to_string())
}

#[cfg(test)]
mod tests;
