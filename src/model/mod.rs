//! The shared model: AWS objects, their identities and their dependencies.
//!
//! Both topologies are described in these terms: a blueprint is a list of [`Object`]s, the planner compares it with an
//! inventory, and `aws` creates the objects. Nothing here does I/O.

mod arn;
mod caller;
mod claim;
mod destination;
pub(crate) mod durations;
mod facts;
mod guardduty;
mod ids;
mod inventory;
pub mod keys;
mod landscape;
mod learned;
mod left_behind;
mod log_format;
mod occupied_addresses;
mod outside;
mod policy;
pub(crate) mod route_key;
mod scope;
mod spec;
mod tags;
pub mod timeouts;
mod topology_kind;
mod undeployed;
mod unmanaged_in_api;
mod unmanaged_in_network;
mod unmanaged_subnet;
mod unmanaged_users;
pub mod waves;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use arn::{Arn, Needs, check_role, is_account_id, only, parse_short, role};
pub use arn::{FunctionArn, KmsKey};
pub use caller::Caller;
pub use claim::Claim;
pub use destination::Destination;
pub(crate) use facts::covers;
pub use facts::{AvailabilityZone, Certificate, CertificateType, EndpointOffer, Facts, Found, Lookup};
pub use guardduty::GuardDutyObjects;
pub use ids::{Ids, ResolvedObject};
pub use inventory::{Drift, Entry, Inventory, Origin, Unfinished};
pub use landscape::*;
pub use learned::{DnsEntry, EndpointAddresses, Learned};
pub use left_behind::LeftBehind;
pub use log_format::{is_same_format, without_newline};
pub use occupied_addresses::OccupiedAddresses;
pub use outside::{Existing, Finding, Outside, OwningRoot, Reference};
pub(crate) use policy::{FULL_ACCESS, lost_policy, policy_document};
pub use policy::{is_same_policy, policy_in_vpc, shown_policy};
pub use route_key::RouteKey;
pub use scope::{IgnoreTags, Location, Scope, TagSettings, partition_of, unusable_region};
pub use spec::*;
pub use tags::MOST_TAGS;
pub(crate) use tags::{ALLOWED_CHARACTERS, TaggingService, check_count, check_tag, check_tags};
pub use timeouts::{OperationTimeouts, Timeouts};
pub use topology_kind::TopologyKind;
pub use unmanaged_in_api::{UnmanagedAuthorizer, UnmanagedInApi, UnmanagedRoute};
pub use unmanaged_in_network::NetworkUsers;
pub use unmanaged_subnet::UnmanagedSubnet;
pub use unmanaged_users::{affected_by_deletion, affected_by_update, unmanaged_users, used_by_unmanaged};

pub use crate::plugin::{Input, printable};

/// The remark of an argument whose calls neither AWS nor an emulator has ever carried out, so that its tests use only
/// simulated responses. To be removed when an acceptance run on AWS has used the argument.
pub const NOT_YET_RUN: &str = "Not yet run on AWS, and no emulator supports it.";

/// The identity of an object within its topology. It never depends on tags or display names.
///
/// The slot is the position of the object in the topology, and the key that users see: `subnet.public.0`. `fixed`
/// contains the inputs that AWS cannot change in place, as text. A change of one of them therefore yields another key:
/// one object is deleted and another one created.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The position in the topology; unique within one blueprint.
    pub slot: String,
    /// The immutable inputs; empty if there are none, unknown if one is unknown.
    pub fixed: Input<String>,
    /// Whether AWS could not create the object. It has another key then, so that a plan replaces it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_failed: bool,
}

/// One AWS object that a configuration requires, or that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its identity.
    pub key: Key,
    /// Its inputs.
    pub spec: Spec,
    /// Objects that must exist before this one is created or updated, in addition to those that the spec refers to.
    /// They are not a property of the object, so changing them does not update it.
    pub after: Vec<Key>,
    /// Objects that must be up to date before this one is updated, but not before it is created, unless they need it.
    pub updated_after: Vec<Key>,
    /// Specs with other targets that it may have while its target is being created, best first. One is used only if the
    /// object would otherwise have no working target.
    pub fallback_targets: Vec<Spec>,
    /// The properties whose values follow from other inputs, so that no change of them is a change by the user.
    pub follows: &'static [&'static str],
    /// In an update that keeps ignored drift: the spec that the configuration requires. `spec` contains the drift.
    pub required: Option<Box<Spec>>,
    /// For an integration or an authorizer: the keys of the API routes that use it, such as `GET /orders`. A route of
    /// an interrupted run is recognized by them, and any other route that is not in state is unmanaged.
    pub routes: Vec<String>,
}

/// A reference from one object to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ref {
    /// An object of the same topology.
    Key(Key),
    /// An unmanaged object, by its AWS ID.
    Id(String),
}

/// A dependency: an object that must exist before another one, and the order of their deletions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The dependency.
    pub key: Key,
    /// The order of the deletions.
    pub on_delete: OnDelete,
    /// Whether an update of the dependent or its creation also waits for an update of the dependency. Otherwise it
    /// waits only for the creation.
    pub up_to_date: bool,
}

/// The order of the deletions of a dependency and of its dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// The dependency is deleted after the dependent: AWS rejects the opposite order, or traffic would be interrupted.
    Restrict,
    /// The two are deleted in any order.
    NoAction,
    /// The dependent is deleted after the dependency.
    DeleteAfter,
}

/// Tags by key. Unmanaged tags of an object are not included.
pub type Tags = Input<BTreeMap<String, Input<String>>>;

impl Key {
    /// The key of an object whose inputs can all change in place.
    pub fn new(slot: impl Into<String>) -> Key {
        Key::fixed(slot, Input::Known(String::new()))
    }

    /// The key of an object with inputs that cannot change in place.
    pub fn fixed(slot: impl Into<String>, fixed: Input<String>) -> Key {
        Key { slot: slot.into(), fixed, has_failed: false }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A slot may be the text of a tag, which any user of the account may have written.
        f.write_str(&printable(&self.slot))
    }
}

impl Object {
    /// An object that depends only on the objects that its spec refers to.
    pub fn new(key: Key, spec: Spec) -> Object {
        let (after, updated_after, fallback_targets, follows, required, routes) = Default::default();
        Object { key, spec, after, updated_after, fallback_targets, follows, required, routes }
    }
}

impl Object {
    /// The spec that the configuration requires, without ignored drift.
    pub fn required(&self) -> &Spec {
        self.required.as_deref().unwrap_or(&self.spec)
    }
}

impl Need {
    /// A dependency on an object of the same topology.
    pub fn new(key: &Key, on_delete: OnDelete) -> Need {
        Need { key: key.clone(), on_delete, up_to_date: true }
    }

    /// A dependency on the ID of an object, which no update changes.
    pub fn of_id(key: &Key, on_delete: OnDelete) -> Need {
        Need { up_to_date: false, ..Need::new(key, on_delete) }
    }

    /// A dependency on the object of a reference; `None` if it is not in the same topology.
    pub fn of(reference: &Ref, on_delete: OnDelete) -> Option<Need> {
        match reference {
            Ref::Key(key) => Some(Need::new(key, on_delete)),
            Ref::Id(_) => None,
        }
    }
}

impl Ref {
    /// A deleted target to which AWS still refers.
    pub fn blackhole(id: &str) -> Ref {
        Ref::Id(format!("{BLACKHOLE}{id}"))
    }

    /// Whether it is a deleted target.
    pub fn is_blackhole(&self) -> bool {
        self.blackhole_id().is_some()
    }

    /// The ID of a deleted target.
    pub fn blackhole_id(&self) -> Option<&str> {
        match self {
            Ref::Id(id) => id.strip_prefix(BLACKHOLE),
            Ref::Key(_) => None,
        }
    }

    /// The object as messages name it.
    pub fn named(&self) -> String {
        match self {
            Ref::Key(key) => key.to_string(),
            Ref::Id(id) => printable(id).into_owned(),
        }
    }
}

/// The prefix that marks a deleted target. No AWS ID contains a space.
const BLACKHOLE: &str = "blackhole ";

impl From<Key> for Ref {
    fn from(key: Key) -> Ref {
        Ref::Key(key)
    }
}
