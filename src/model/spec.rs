//! The kinds of AWS objects, one struct each, in the order of creation.
//!
//! A spec contains all inputs of an object in AWS's terms and refers to other objects by key. To add a kind, add its
//! struct and variant here, and follow the compiler errors.

mod defaults;
mod gateway;
mod moves;
mod network;
mod phrases;
mod references;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::keys::network::UNMANAGED_ROUTES;
use super::{Claim, Key, Need, Ref, Tags};
use crate::plugin::Input;

pub use gateway::{
    AccessLog, Api, ApiMapping, ApiRoute, Authorizer, Cors, DnsRecord, DomainName, Integration, LambdaPermission,
    LogGroup, LogSubscription, Stage,
};
pub use network::{
    DefaultNetworkAcl, DefaultSecurityGroup, Eip, InternetGateway, Ipv6Source, NatGateway, NetworkAclRule, Route,
    RouteTable, RouteTableAssociation, RuleSource, SecurityGroupRule, Subnet, TakenSubnet, Tier, Vpc, VpcEndpoint,
    VpcIpv6Block,
};
pub use units::{MergeContext, Merged};

/// Values that AWS returned for an object in addition to its ID, by name, such as `public_ip` and `owner_id`.
pub type Learned = BTreeMap<String, String>;

/// The inputs of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is named after the struct that it holds")]
pub enum Spec {
    Vpc(Vpc),
    VpcIpv6Block(VpcIpv6Block),
    InternetGateway(InternetGateway),
    Subnet(Subnet),
    RouteTable(RouteTable),
    RouteTableAssociation(RouteTableAssociation),
    Eip(Eip),
    NatGateway(NatGateway),
    Route(Route),
    VpcEndpoint(VpcEndpoint),
    DefaultNetworkAcl(DefaultNetworkAcl),
    DefaultSecurityGroup(DefaultSecurityGroup),
    Api(Api),
    Authorizer(Authorizer),
    LambdaPermission(LambdaPermission),
    Integration(Integration),
    ApiRoute(ApiRoute),
    LogGroup(LogGroup),
    LogSubscription(LogSubscription),
    Stage(Stage),
    DomainName(DomainName),
    ApiMapping(ApiMapping),
    DnsRecord(DnsRecord),
}

/// The tags of a spec, borrowed as the spec is.
macro_rules! tags_of {
    ($spec:expr) => {
        match $spec {
            Spec::Vpc(Vpc { tags, .. })
            | Spec::InternetGateway(InternetGateway { tags, .. })
            | Spec::Subnet(Subnet { tags, .. })
            | Spec::RouteTable(RouteTable { tags, .. })
            | Spec::Eip(Eip { tags, .. })
            | Spec::NatGateway(NatGateway { tags, .. })
            | Spec::VpcEndpoint(VpcEndpoint { tags, .. })
            | Spec::DefaultNetworkAcl(DefaultNetworkAcl { tags, .. })
            | Spec::DefaultSecurityGroup(DefaultSecurityGroup { tags, .. })
            | Spec::Api(Api { tags, .. })
            | Spec::LogGroup(LogGroup { tags, .. })
            | Spec::Stage(Stage { tags, .. })
            | Spec::DomainName(DomainName { tags, .. }) => Some(tags),
            Spec::VpcIpv6Block(_)
            | Spec::RouteTableAssociation(_)
            | Spec::Route(_)
            | Spec::Authorizer(_)
            | Spec::LambdaPermission(_)
            | Spec::Integration(_)
            | Spec::ApiRoute(_)
            | Spec::LogSubscription(_)
            | Spec::ApiMapping(_)
            | Spec::DnsRecord(_) => None,
        }
    };
}

impl Spec {
    /// The kind as shown in messages, such as `NAT gateway`.
    pub fn kind(&self) -> &'static str {
        match self {
            Spec::Vpc(_) => "VPC",
            Spec::VpcIpv6Block(_) => "IPv6 CIDR block",
            Spec::InternetGateway(_) => "internet gateway",
            Spec::Subnet(_) => "subnet",
            Spec::RouteTable(_) => "route table",
            Spec::RouteTableAssociation(_) => "route table association",
            Spec::Eip(_) => "Elastic IP address",
            Spec::NatGateway(_) => "NAT gateway",
            Spec::Route(_) | Spec::ApiRoute(_) => "route",
            Spec::VpcEndpoint(_) => "VPC endpoint",
            Spec::DefaultNetworkAcl(_) => "default network ACL",
            Spec::DefaultSecurityGroup(_) => "default security group",
            Spec::Api(_) => "HTTP API",
            Spec::Authorizer(_) => "authorizer",
            Spec::LambdaPermission(_) => "Lambda permission",
            Spec::Integration(_) => "integration",
            Spec::LogGroup(_) => "log group",
            Spec::LogSubscription(_) => "subscription filter",
            Spec::Stage(_) => "stage",
            Spec::DomainName(_) => "custom domain",
            Spec::ApiMapping(_) => "API mapping",
            Spec::DnsRecord(_) => "DNS record",
        }
    }

    /// Whether AWS creates and deletes it together with its VPC. Creating it adopts the existing object; deleting it
    /// only stops managing it.
    pub fn is_adopted(&self) -> bool {
        matches!(self, Spec::DefaultNetworkAcl(_) | Spec::DefaultSecurityGroup(_))
    }

    /// Whether an adoption creates it if it does not exist: it takes nothing away from what uses the object already.
    pub fn is_added_by_adoption(&self) -> bool {
        matches!(self, Spec::LambdaPermission(_))
    }

    /// Whether it is the root of a topology: it is created first, and its ID is the ID of the resource.
    pub fn is_root(&self) -> bool {
        matches!(self, Spec::Vpc(_) | Spec::Api(_))
    }

    /// Whether deleting it loses something that a new object of the same kind does not have.
    pub fn is_irrecoverable(&self) -> bool {
        matches!(self, Spec::Eip(_) | Spec::LogGroup(_))
    }

    /// What deleting it loses irrecoverably, for messages: a clause such as "its log events are lost".
    pub fn lost_when_deleted(&self, learned: &Learned) -> Option<String> {
        match self {
            Spec::Eip(_) => learned.get("public_ip").map(|address| format!("the public address {address} is lost")),
            Spec::LogGroup(_) => Some("its log events are lost".to_string()),
            Spec::RouteTable(_) => {
                let routes = learned.get(UNMANAGED_ROUTES).filter(|routes| !routes.is_empty());
                routes.map(|routes| format!("its unmanaged routes are lost: {routes}"))
            }
            _ => None,
        }
    }

    /// Whether it can contain unmanaged network interfaces. AWS rejects its deletion while it does, and the removal of
    /// an address range while interfaces have addresses from it.
    pub fn holds_network_interfaces(&self) -> bool {
        matches!(self, Spec::Subnet(_))
    }

    /// Whether public addresses are mapped through it. AWS rejects its detachment while unmanaged objects have one.
    pub fn maps_public_addresses(&self) -> bool {
        matches!(self, Spec::InternetGateway(_))
    }

    /// Whether it can have unmanaged mappings of its paths to other APIs.
    pub fn holds_api_mappings(&self) -> bool {
        matches!(self, Spec::DomainName(_))
    }

    /// Whether it serves requests: while it does not exist, they match another route or fail.
    pub fn answers_requests(&self) -> bool {
        matches!(self, Spec::ApiRoute(_))
    }

    /// Whether it serves other objects as AWS has last deployed them: the stage of an API.
    pub fn is_deployed_by_aws(&self) -> bool {
        matches!(self, Spec::Stage(_))
    }

    /// Whether it is part of an unmanaged object, with which AWS deletes it: a statement in the policy of a function.
    pub fn is_part_of_unmanaged_object(&self) -> bool {
        matches!(self, Spec::LambdaPermission(_))
    }

    /// Whether AWS can change it into another object of its kind in place, although their keys differ: a route into one
    /// that matches the same requests, with other names of path variables.
    pub fn can_be_renamed_to(&self, wanted: &Spec) -> bool {
        match (self, wanted) {
            (Spec::ApiRoute(route), Spec::ApiRoute(wanted)) => route.can_be_renamed_to(wanted),
            _ => false,
        }
    }

    /// The dependencies of this object, with the order of their deletions.
    pub fn needs(&self) -> Vec<Need> {
        match self {
            Spec::Vpc(_) | Spec::Api(_) => vec![],
            Spec::VpcIpv6Block(it) => it.needs(),
            Spec::InternetGateway(it) => it.needs(),
            Spec::Subnet(it) => it.needs(),
            Spec::RouteTable(it) => it.needs(),
            Spec::RouteTableAssociation(it) => it.needs(),
            Spec::Eip(it) => it.needs(),
            Spec::NatGateway(it) => it.needs(),
            Spec::Route(it) => it.needs(),
            Spec::VpcEndpoint(it) => it.needs(),
            Spec::DefaultNetworkAcl(it) => it.needs(),
            Spec::DefaultSecurityGroup(it) => it.needs(),
            Spec::Authorizer(it) => it.needs(),
            Spec::LambdaPermission(it) => it.needs(),
            Spec::Integration(it) => it.needs(),
            Spec::ApiRoute(it) => it.needs(),
            Spec::LogGroup(it) => it.needs(),
            Spec::LogSubscription(it) => it.needs(),
            Spec::Stage(it) => it.needs(),
            Spec::DomainName(it) => it.needs(),
            Spec::ApiMapping(it) => it.needs(),
            Spec::DnsRecord(it) => it.needs(),
        }
    }

    /// The object whose deletion in AWS also deletes this one, so that no separate call is needed.
    pub fn parent(&self) -> Option<&Key> {
        match self {
            Spec::RouteTableAssociation(it) => Some(&it.subnet),
            Spec::Route(it) => Some(&it.route_table),
            Spec::VpcIpv6Block(it) => it.parent(),
            Spec::DefaultNetworkAcl(it) => Some(&it.vpc),
            Spec::DefaultSecurityGroup(it) => Some(&it.vpc),
            Spec::Authorizer(it) => Some(&it.api),
            Spec::Integration(it) => Some(&it.api),
            Spec::ApiRoute(it) => Some(&it.api),
            Spec::Stage(it) => Some(&it.api),
            Spec::LogSubscription(it) => Some(&it.log_group),
            Spec::Vpc(_)
            | Spec::InternetGateway(_)
            | Spec::Subnet(_)
            | Spec::RouteTable(_)
            | Spec::Eip(_)
            | Spec::NatGateway(_)
            | Spec::VpcEndpoint(_)
            | Spec::Api(_)
            | Spec::LambdaPermission(_)
            | Spec::LogGroup(_)
            | Spec::DomainName(_)
            | Spec::ApiMapping(_)
            | Spec::DnsRecord(_) => None,
        }
    }

    /// The target that it routes to. AWS keeps the object when the target is deleted.
    pub fn target(&self) -> Option<&Ref> {
        match self {
            Spec::Route(it) => Some(&it.target),
            _ => None,
        }
    }

    /// Whether the configuration gives it an existing object by this ID. That object belongs to the user.
    pub fn is_given(&self, id: &str) -> bool {
        match self {
            Spec::NatGateway(it) => matches!(&it.allocation, Some(Input::Known(Ref::Id(given))) if given == id),
            _ => false,
        }
    }

    /// The claims of this object, which no other object can have while it exists.
    pub fn claims(&self) -> Vec<Claim> {
        match self {
            Spec::InternetGateway(_) => vec![Claim::InternetGateway],
            Spec::Subnet(it) => it.claims(),
            Spec::RouteTableAssociation(it) => vec![Claim::TableOf { subnet: it.subnet.clone() }],
            Spec::NatGateway(it) => it.claims(),
            Spec::Route(it) => {
                let (route_table, destination) = (it.route_table.clone(), it.destination.clone());
                vec![Claim::Route { route_table, destination }]
            }
            Spec::VpcEndpoint(it) => vec![Claim::Endpoint { service_name: it.service_name.clone() }],
            Spec::LambdaPermission(it) => it.claims(),
            Spec::ApiRoute(it) => it.claims(),
            Spec::LogGroup(it) => vec![Claim::LogGroup { name: it.name.clone() }],
            Spec::LogSubscription(it) => vec![Claim::SubscriptionOf { log_group: it.log_group.clone() }],
            Spec::Stage(_) => vec![Claim::DefaultStage],
            Spec::DomainName(it) => vec![Claim::Domain { name: it.domain_name.clone() }],
            Spec::ApiMapping(it) => vec![Claim::MappingOf { domain: it.domain.clone() }],
            Spec::DnsRecord(it) => vec![Claim::Record { zone_id: it.zone_id.clone(), name: it.name.clone() }],
            Spec::Vpc(_)
            | Spec::VpcIpv6Block(_)
            | Spec::RouteTable(_)
            | Spec::Eip(_)
            | Spec::DefaultNetworkAcl(_)
            | Spec::DefaultSecurityGroup(_)
            | Spec::Api(_)
            | Spec::Authorizer(_)
            | Spec::Integration(_) => vec![],
        }
    }

    /// The tags of the object; `None` if its kind has no tags.
    pub fn tags(&self) -> Option<&Tags> {
        tags_of!(self)
    }

    /// The same as [`Spec::tags`], mutably.
    pub fn tags_mut(&mut self) -> Option<&mut Tags> {
        tags_of!(self)
    }

    /// Adds the tags and propagating gateways of another spec that are missing in this one. They are managed one by
    /// one, and those of both specs are managed from now on.
    pub fn merge_owned(&mut self, other: &Spec) {
        if let (Some(Input::Known(tags)), Some(Input::Known(others))) = (self.tags_mut(), other.tags()) {
            for (key, value) in others {
                tags.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        if let (Spec::RouteTable(table), Spec::RouteTable(other)) = (self, other) {
            table.merge_owned(other);
        }
    }

    /// This spec with the parts of `before` that depend on the attachment of unmanaged objects or, if there is no
    /// `before`, without such parts; `None` if this spec has the same parts.
    pub fn with_attached_parts_of(&self, before: Option<&Spec>) -> Option<Spec> {
        let Spec::RouteTable(wanted) = self else { return None };
        let propagating_gateways = match before {
            Some(Spec::RouteTable(before)) => before.propagating_gateways.clone(),
            _ => Input::Known(Vec::new()),
        };
        if propagating_gateways == wanted.propagating_gateways {
            return None;
        }
        Some(Spec::RouteTable(RouteTable { propagating_gateways, ..wanted.clone() }))
    }

    /// Whether a part of it depends on the attachment of unmanaged objects.
    pub fn depends_on_attachment(&self) -> bool {
        matches!(self, Spec::RouteTable(table) if table.propagating_gateways != Input::Known(Vec::new()))
    }

    /// This spec and the references in `before` to objects with these keys, which the object can keep until those
    /// objects are deleted; `None` if it has them all.
    pub fn keeping_references(&self, before: &Spec, keys: &BTreeSet<Key>) -> Option<Spec> {
        match (self, before) {
            (Spec::VpcEndpoint(wanted), Spec::VpcEndpoint(before)) => {
                wanted.keeping_route_tables(before, keys).map(Spec::VpcEndpoint)
            }
            _ => None,
        }
    }

    /// The same spec with another target; `None` if it has no target.
    pub fn with_target(&self, target: Ref) -> Option<Spec> {
        match self {
            Spec::Route(route) => Some(Spec::Route(Route { target, ..route.clone() })),
            _ => None,
        }
    }

    /// Whether a route to one of the two objects can use the other one instead: both are public NAT gateways, or both
    /// are private ones.
    pub fn can_replace_target(&self, other: &Spec) -> bool {
        match (self, other) {
            (Spec::NatGateway(nat), Spec::NatGateway(other)) => nat.allocation.is_some() == other.allocation.is_some(),
            _ => false,
        }
    }

    /// The spec to record when the create of this object begins. It leaves out what the create does last and an update
    /// does only for new values: until the create has succeeded, the associations with an ACL have not been made.
    #[must_use]
    pub fn of_begun_create(&self) -> Spec {
        let mut spec = self.clone();
        if let Spec::DefaultNetworkAcl(acl) = &mut spec {
            acl.taken.clear();
        }
        spec
    }

    /// Replaces parts that may be unmanaged or that AWS does not return by those of `wanted`, so that they do not count
    /// as drift.
    pub(super) fn mask_unowned(&mut self, wanted: &Spec) {
        match (self, wanted) {
            (Spec::Vpc(found), Spec::Vpc(wanted)) => found.mask_unowned(wanted),
            (Spec::VpcIpv6Block(found), Spec::VpcIpv6Block(wanted)) => found.mask_unowned(wanted),
            (Spec::RouteTable(found), Spec::RouteTable(wanted)) => found.mask_unowned(wanted),
            (Spec::DefaultSecurityGroup(found), Spec::DefaultSecurityGroup(wanted)) => found.mask_unowned(wanted),
            (Spec::Api(found), Spec::Api(wanted)) => found.mask_unowned(wanted),
            (Spec::Authorizer(found), Spec::Authorizer(wanted)) => found.mask_unowned(wanted),
            (Spec::LogSubscription(found), Spec::LogSubscription(wanted)) => found.mask_unowned(wanted),
            _ => {}
        }
    }

    /// Replaces what AWS reports about past changes by the values of `wanted`. An adoption does not repeat these
    /// changes; a later plan does.
    pub(super) fn mask_status(&mut self, wanted: &Spec) {
        if let (Spec::Stage(found), Spec::Stage(wanted)) = (self, wanted) {
            found.deployment_failure.clone_from(&wanted.deployment_failure);
        }
    }

    /// Replaces texts by those of the applied spec that mean the same, so that another form of a text is no drift.
    pub(super) fn take_forms(&mut self, applied: &Spec) {
        if let (Spec::Stage(found), Spec::Stage(applied)) = (self, applied) {
            found.take_forms(applied);
        }
    }

    /// This spec after the creation of another object of the topology, which AWS may let change this one.
    #[must_use]
    pub fn after_creation_of(self, created: &Spec) -> Spec {
        match (self, created) {
            (Spec::DefaultNetworkAcl(acl), Spec::VpcIpv6Block(_)) => Spec::DefaultNetworkAcl(acl.with_ipv6_range()),
            (Spec::DefaultSecurityGroup(group), Spec::VpcIpv6Block(_)) => {
                Spec::DefaultSecurityGroup(group.with_ipv6_range())
            }
            (spec, _) => spec,
        }
    }

    /// Whether AWS assigns another ID to the object when it is updated.
    pub fn gets_new_id_when_updated(&self) -> bool {
        matches!(self, Spec::RouteTableAssociation(_))
    }

    /// Whether every input is known.
    pub fn is_known(&self) -> bool {
        !contains_unknown(&self.fields())
    }

    /// The differences of another spec of the same kind from this one, for messages: one phrase per field, with both
    /// values or, for a list, with the elements that only the other spec (`+`) or only this one has (`-`). For tags,
    /// the phrases contain only keys, because the values may be confidential.
    pub fn differences(&self, other: &Spec) -> Vec<String> {
        let (mine, others) = (self.fields(), other.fields());
        let mut differences = Vec::new();
        for (field, value) in &mine {
            let other = others.get(field).unwrap_or(&serde_json::Value::Null);
            if value == other {
                continue;
            }
            differences.extend(phrases::differences(field, value, other));
        }
        differences
    }

    fn fields(&self) -> serde_json::Map<String, serde_json::Value> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        }
    }
}

fn contains_unknown(fields: &serde_json::Map<String, serde_json::Value>) -> bool {
    fn unknown(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(unknown),
            serde_json::Value::Object(fields) => {
                fields.contains_key(crate::plugin::decode::UNKNOWN) || fields.values().any(unknown)
            }
            _ => false,
        }
    }
    fields.values().any(unknown)
}
