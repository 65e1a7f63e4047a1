//! The shared model: what an AWS object is, how it is identified, and what it needs.
//!
//! Both products describe their topology in these terms (a blueprint is a list of [`Object`]s), the planner
//! compares them, and `aws` makes them. Nothing here does I/O.

mod arn;
mod caller;
mod claim;
mod destination;
pub(crate) mod durations;
mod facts;
mod inventory;
pub mod keys;
pub(crate) mod route_key;
mod scope;
mod spec;
mod tags;
pub mod timeouts;
mod topology_kind;
pub mod waves;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use arn::{Arn, check_role, is_account_id, only, parse_short};
pub use arn::{FunctionArn, KmsKey};
pub use caller::Caller;
pub use claim::Claim;
pub use destination::Destination;
pub(crate) use facts::covers;
pub use facts::{AvailabilityZone, Certificate, Facts, Found, Lookup};
pub use inventory::{Entry, Ids, Inventory, ResolvedObject};
pub use route_key::RouteKey;
pub use scope::{IgnoreTags, Scope};
pub use spec::{
    AccessLog, Api, ApiMapping, ApiRoute, Authorizer, Cors, DefaultNetworkAcl, DefaultSecurityGroup, DnsRecord,
    DomainName, Eip, Integration, InternetGateway, Ipv6Source, LambdaPermission, Learned, LogGroup, LogSubscription,
    NatGateway, NetworkAclRule, Route, RouteTable, RouteTableAssociation, RuleSource, SecurityGroupRule, Spec, Stage,
    Subnet, Tier, Vpc, VpcEndpoint, VpcIpv6Block,
};
pub use tags::MOST_TAGS;
pub(crate) use tags::{ALLOWED_CHARACTERS, TaggingService, check_count, check_tag, check_tags};
pub use timeouts::{OperationTimeouts, Timeouts};
pub use topology_kind::TopologyKind;

pub use crate::plugin::Input;

/// The identity of an object within its topology. It never depends on tags or display names.
///
/// The slot is the place that the object fills, and what users see: `subnet.public.0`. `fixed` holds those of
/// its inputs that AWS cannot change in place, as text. A change of one of them is therefore not a change of the
/// object, but one object that leaves and another that arrives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The place in the topology; unique within one blueprint.
    pub slot: String,
    /// Inputs that are fixed for the object's life; empty where there are none, unknown where one is.
    pub fixed: Input<String>,
}

/// One AWS object that should exist, or exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its identity.
    pub key: Key,
    /// What it looks like.
    pub spec: Spec,
    /// Objects that must stand before this one is created or changed, beside those that the spec names. They are
    /// no property of the object, so a change of them is no change of it.
    pub after: Vec<Key>,
    /// How it may look while what it leads to is being made, best first. It takes such a look only if it would lead
    /// nowhere otherwise.
    pub fallback_targets: Vec<Spec>,
}

/// A reference from one object to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ref {
    /// An object of the same topology.
    Key(Key),
    /// An object that is not ours, by its AWS id.
    Id(String),
}

/// That one object must exist before another, and what follows for their deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The object that is needed.
    pub key: Key,
    /// How the two leave.
    pub on_delete: OnDelete,
}

/// How the deletion of a needed object is ordered to that of the needing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// The needed object stays until the needing one has gone: AWS refuses otherwise, or users would be hurt.
    Restrict,
    /// In any order.
    NoAction,
    /// The needing object stays until the needed one has gone.
    DeleteAfter,
}

/// Tags, by key. A foreign tag on an object is never among them.
pub type Tags = Input<BTreeMap<String, Input<String>>>;

impl Key {
    /// An object whose every input can change in place.
    pub fn new(slot: impl Into<String>) -> Key {
        Key { slot: slot.into(), fixed: Input::Known(String::new()) }
    }

    /// An object with inputs that cannot change in place.
    pub fn fixed(slot: impl Into<String>, fixed: Input<String>) -> Key {
        Key { slot: slot.into(), fixed }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.slot)
    }
}

impl Object {
    /// An object that waits for nothing but what its spec names.
    pub fn new(key: Key, spec: Spec) -> Object {
        Object { key, spec, after: Vec::new(), fallback_targets: Vec::new() }
    }
}

impl Need {
    /// A need of an object of the same topology.
    pub fn new(key: &Key, on_delete: OnDelete) -> Need {
        Need { key: key.clone(), on_delete }
    }

    /// A need of what a reference names, if that is an object of the same topology.
    pub fn of(reference: &Ref, on_delete: OnDelete) -> Option<Need> {
        match reference {
            Ref::Key(key) => Some(Need::new(key, on_delete)),
            Ref::Id(_) => None,
        }
    }
}

impl Ref {
    /// A target that has gone and that AWS still names.
    pub fn blackhole(id: &str) -> Ref {
        Ref::Id(format!("{BLACKHOLE}{id}"))
    }

    /// Whether it is a target that has gone.
    pub fn is_blackhole(&self) -> bool {
        matches!(self, Ref::Id(id) if id.starts_with(BLACKHOLE))
    }
}

/// How a target that has gone is told from others; no id has a space.
const BLACKHOLE: &str = "blackhole ";

impl From<Key> for Ref {
    fn from(key: Key) -> Ref {
        Ref::Key(key)
    }
}
