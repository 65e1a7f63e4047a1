//! The interface between AWS and the rest of the provider, so that the rest can be tested without AWS.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, RwLock};

use async_trait::async_trait;
use ipnet::IpNet;

use crate::model::{Entry, Ids, Key, Learned, Object, Spec, TopologyKind, Unfinished};
use crate::model::{Facts, GuardDutyObjects, Lookup, Scope, TagSettings, Timeouts};

mod cases;
mod deadlines;
mod discovery;
mod failure;
mod obstacles;
#[cfg(debug_assertions)]
pub mod panic_on_demand;
pub mod retries;

pub use cases::Case;
pub use deadlines::Deadlines;
pub use discovery::{Discovery, Members, adoptable};
pub use failure::{Advice, Cause, Failure};
pub use obstacles::{Begun, Obstacle};

/// The AWS account, or a simulation of it.
#[async_trait]
pub trait Cloud: Send + Sync + 'static {
    /// Returns the partition, region and account, and the tag settings of the provider.
    fn scope(&self) -> &Scope;

    /// Terraform is about to read this root. Roots that are read at the same time share calls.
    fn announce(&self, owner: TopologyKind, root_id: &str);

    /// Looks up the facts that a blueprint requires.
    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure>;

    /// Reads a whole topology with a fixed number of calls. Returns `None` only if AWS reports that neither the root
    /// nor any object that outlives it exists. Objects that `known` does not contain are returned too if they have the
    /// root's ownership tag and nothing is known against their ownership.
    async fn read(&self, owner: TopologyKind, root_id: &str, known: Known<'_>) -> Result<Option<Seen>, Failure>;

    /// Reads a root of which nothing is known, for an import, or for an adoption. Returns `None` if it does not exist.
    /// `consented` are further objects that `adopt` names: their slots by id.
    async fn discover<'a>(
        &'a self,
        owner: TopologyKind,
        root_id: &'a str,
        consented: Option<&'a BTreeMap<String, String>>,
    ) -> Result<Option<Box<dyn Discovery + 'a>>, Failure>;

    /// Finds, among the objects that a plan creates below a root, those that exist with the root's ownership tags and
    /// that no read finds, because it looks for them only if state contains one: an interrupted run created them. Sends
    /// one or two calls for each such object, and none for objects of other kinds.
    async fn leftovers(
        &self,
        owner: TopologyKind,
        root_id: &str,
        objects: &[&Object],
    ) -> Result<Vec<Observed>, Failure>;

    /// Finds the objects because of which AWS would reject what a plan begins: those below the root if it exists, and
    /// others. `existing` are the managed ones. Sends one call for each kind whose objects may have what only one can
    /// have, and none if nothing begins.
    async fn obstacles(
        &self,
        owner: TopologyKind,
        root_id: Option<&str>,
        begun: &[Begun<'_>],
        existing: &[Entry],
    ) -> Result<Vec<Obstacle>, Failure>;

    /// Finds the parts of unmanaged objects that AWS has deleted with these. Sends one call for each unmanaged object.
    async fn lost_parts(&self, owner: TopologyKind, root_id: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure>;

    /// Creates an object. Calls `record` as soon as AWS returns the id, before any wait. If the answer of an earlier
    /// create was lost, a second one finds the object by its natural key or by the tag of the request.
    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure>;

    /// Updates an object in place. `from` is its spec as it was last read or applied. Sends what differs from that, and
    /// of the rest only what a call requires. If an earlier operation has not been completed, waits for its effects
    /// too.
    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: &Spec,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure>;

    /// Sets the ownership tags of a foreign object, and those tags of `to` that it does not have.
    /// Sends at most one call, and none for a kind without tags. `from` is the current spec.
    async fn adopt(&self, work: &OpContext<'_>, id: &str, from: &Spec, to: &Object) -> Result<(), Failure>;

    /// Sets the tag `fgw:object` of an object whose entry got another key in the configuration. Sends one call. The
    /// kind has tags.
    async fn rename(&self, work: &OpContext<'_>, id: &str, to: &Object) -> Result<(), Failure>;

    /// Deletes an object and waits until the deletion has finished. A missing object is a success.
    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure>;

    /// Removes the ownership tags of an object that stays and is no longer managed. If the role may not remove tags,
    /// they stay. A missing object is a success.
    async fn disown(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure>;

    /// Lists the unmanaged objects in a topology that block a deletion, or that AWS deletes with the root. `known` are
    /// the managed objects. They are not dependents, and neither are the objects that AWS deletes with them. Uses a
    /// limited number of calls, except for a complete search; for subnets one, or two if an endpoint has an interface
    /// in one of them.
    async fn dependents(
        &self,
        owner: TopologyKind,
        root_id: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents;

    /// Lists the roots that this provider has created, in any state, sorted by id.
    async fn roots(&self, owner: TopologyKind) -> Result<Vec<Root>, Failure>;

    /// Lists the roots with this name that this provider has created, in any state, sorted by id. Uses one list call,
    /// and for APIs another one for each completely created root that `is_compared` selects by its id.
    async fn namesakes(
        &self,
        owner: TopologyKind,
        name: &str,
        is_compared: &(dyn for<'b> Fn(&'b str) -> bool + Send + Sync),
    ) -> Result<Vec<Namesake>, Failure>;

    /// Waits until AWS has completed what it starts by itself after a change: the deployments of the objects with these
    /// ids. Returns at once if this process has changed nothing that AWS deploys.
    async fn verify_deployment(
        &self,
        owner: TopologyKind,
        root_id: &str,
        deployed: &BTreeSet<String>,
        deadlines: &Deadlines,
    ) -> Result<(), Failure>;

    /// Sets the tag `fgw:state` of a root.
    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure>;
}

/// The context of one operation.
#[derive(Clone)]
pub struct OpContext<'a> {
    /// The kind of the topology.
    pub owner: TopologyKind,
    /// The id of the root; `None` while the root itself is created.
    pub root_id: Option<&'a str>,
    /// The ids of the object's dependencies.
    pub ids: &'a Ids,
    /// Of an update: the earlier operation on the object that has not been completed, if any.
    pub unfinished: Option<Unfinished>,
    /// The ids of all objects in state. An untagged object that is not among them may be from a killed run.
    pub known: BTreeSet<String>,
    /// The ids of the objects in state that AWS deploys after a change.
    pub deployed: BTreeSet<String>,
    /// The IDs and other texts in the configuration that became known only after the plan. Other resources of the same
    /// run may have created these objects, so AWS may not return them yet.
    pub new_inputs: &'a BTreeSet<String>,
    /// Whether this run creates the root. Unmanaged objects cannot refer to it yet.
    pub in_create: bool,
    /// The configured timeouts.
    pub timeouts: &'a Timeouts,
    /// The deadlines of its waits.
    pub deadlines: Deadlines,
    /// What a deletion does with the objects of GuardDuty that block it.
    pub guardduty: GuardDutyObjects,
}

/// Callbacks that report the progress of an operation to the executor.
pub struct Recorder<'a> {
    /// Called with the object's id, as soon as AWS returns it.
    pub id: &'a (dyn Fn(&str) + Send + Sync),
    /// Called with the attributes that AWS computed. They replace those of earlier calls.
    pub learned: &'a (dyn Fn(Learned) + Send + Sync),
    /// Called when the object is usable for other objects, although not all attributes are set yet.
    pub usable: &'a (dyn Fn() + Send + Sync),
}

/// What is known of a topology before it is read.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// The objects in state.
    pub entries: &'a [Entry],
    /// The slots of the objects by id, if only the user-visible state is known. Tags then identify no object.
    pub slots: Option<&'a BTreeMap<String, String>>,
    /// Additional objects that `adopt` names: their slots by id. Objects of a network are returned whatever uses them.
    pub consented: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Known<'a> {
    /// The objects in state.
    pub fn entries(entries: &'a [Entry]) -> Known<'a> {
        Known { entries, ..Known::default() }
    }
}

/// An object with the ownership tags of a root that is not managed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Unmanaged {
    /// Its id in AWS.
    pub id: String,
    /// The slot in its tag `fgw:object`, if it is the slot of an object of this kind, or the one that an input can give
    /// it. `None` if nothing can make it a managed object, such as a domain that another API uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Whether it has ownership tags, which users can remove.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tagged: bool,
    /// Why it is not managed: a clause such as "no NAT gateway of this network uses it".
    pub reason: String,
}

/// A topology as read from AWS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The objects. If the root is not among them, these objects have outlived it: addresses, log groups, permissions.
    pub objects: Vec<Observed>,
    /// The root's tag `fgw:state`; `None` if it has no such tag, or one with another value.
    pub root_state: Option<RootState>,
    /// The ids of the objects whose creation AWS has not completed yet, such as pending NAT gateways.
    pub incomplete: BTreeSet<String>,
    /// The objects with the root's tags that are not managed, and consented objects that cannot be, sorted by id.
    pub unmanaged: Vec<Unmanaged>,
    /// For an object that only its tags identify, by its id: the other such objects that it is in, or that use it.
    pub requires: BTreeMap<String, BTreeSet<String>>,
    /// The names of the CloudFormation stacks that objects belong to, by the ids of these objects. A read returns them
    /// only for foreign objects.
    pub stacks: BTreeMap<String, String>,
    /// The ids of the consented objects that do not have the ownership tags of the root: they are foreign.
    pub untagged: BTreeSet<String>,
}

/// One object as read from AWS.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its id in AWS.
    pub id: String,
    /// The key in state if state contains the id, otherwise from the ownership tag or the position in the topology.
    pub key: crate::model::Key,
    /// The spec. Contains all tags, including unmanaged ones, except the ownership tags.
    pub spec: Spec,
    /// The attributes that AWS computed.
    pub learned: Learned,
}

/// The part of a topology in which dependents are listed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DependentScope<'a> {
    /// The whole topology.
    Root,
    /// These subnets, by their AWS ids.
    Subnets(&'a [&'a str]),
    /// The network interfaces.
    NetworkInterfaces,
    /// The network interfaces in the default security group.
    DefaultSecurityGroup,
    /// The network interfaces in these subnets, by the ids of the subnets, that have addresses in these ranges.
    Addresses(&'a [&'a str], &'a [IpNet]),
    /// These custom domains, by their names.
    Domains(&'a [&'a str]),
    /// Everything that uses these objects, wherever it is.
    Objects(&'a [&'a Entry], Extent),
    /// The subscription filters of these log groups of a gateway, by their names.
    LogGroups(&'a [&'a str]),
}

/// How far the users of objects are searched for where AWS does not list them by what they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// With a limited number of calls. What they did not return is among the failures.
    Limited,
    /// With as many calls as it takes.
    Complete,
}

/// The unmanaged objects in a topology, as far as they could be listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependents {
    /// The objects, in an order that depends only on them.
    pub objects: Vec<Dependent>,
    /// The lists that failed, for example without permission. Their objects are not in `objects`.
    pub unseen: Vec<Failure>,
}

impl Dependents {
    /// Combines the results of several lists in their order. The objects of each list are sorted.
    pub fn of(lists: impl IntoIterator<Item = Result<Vec<Dependent>, Failure>>) -> Dependents {
        let mut all = Dependents::default();
        for list in lists {
            match list {
                Ok(mut dependents) => {
                    dependents.sort();
                    all.objects.extend(dependents);
                }
                Err(failure) => all.unseen.push(failure),
            }
        }
        all
    }

    /// Adds the results of another list.
    pub fn extend(&mut self, other: Dependents) {
        self.objects.extend(other.objects);
        self.unseen.extend(other.unseen);
    }

    /// Returns the dependents of one managed object.
    pub fn holding(&self, id: &str) -> Vec<Dependent> {
        self.objects.iter().filter(|dependent| dependent.holds.iter().any(|held| held == id)).cloned().collect()
    }
}

/// The dependents of the objects whose operations failed because they were in use, by position in the plan.
pub type DependentsByOp = BTreeMap<usize, Dependents>;

/// An unmanaged object that prevents AWS from deleting a managed one, or that is deleted with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependent {
    /// The kind, for messages: `network interface`.
    pub kind: &'static str,
    /// Its id in AWS.
    pub id: String,
    /// The description, name or range by which users recognize it; empty if AWS returns none.
    pub description: String,
    /// Further information about its origin, such as the type of a network interface; may be empty.
    pub further: String,
    /// The account that owns it, if AWS returns it.
    pub owner: Option<String>,
    /// The AWS ids of the managed objects whose deletion it prevents, in addition to the root.
    pub holds: Vec<String>,
    /// If it is an object of GuardDuty or belongs to one: the ids of the endpoint of GuardDuty and of the security
    /// group of the endpoint. Otherwise empty.
    pub guardduty: Vec<String>,
}

impl Dependent {
    /// The kind of an API mapping.
    pub const MAPPING: &'static str = "API mapping";

    /// Whether it is an API mapping.
    pub fn is_mapping(&self) -> bool {
        self.kind == Dependent::MAPPING
    }

    /// Whether it is a network interface of a Lambda function.
    pub fn is_of_lambda(&self) -> bool {
        self.kind == "network interface" && self.further.split(", ").any(|it| it == "type lambda")
    }
}

/// A root that this provider has created.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// Its id.
    pub id: String,
    /// The name in its ownership tag.
    pub name: String,
    /// All of its tags except the ownership tags.
    pub tags: BTreeMap<String, String>,
    /// Its tag `fgw:state`; `None` if it has no such tag, or one with another value.
    pub state: Option<RootState>,
}

/// A filter for roots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootFilter<'a> {
    /// The name, if it is part of the filter.
    pub name: Option<&'a str>,
    /// Tags that the root must have, possibly among others.
    pub tags: BTreeMap<&'a str, &'a str>,
}

impl RootFilter<'_> {
    /// Whether a root matches.
    pub fn matches(&self, root: &Root) -> bool {
        let has = |(key, value): (&&str, &&str)| root.tags.get(*key).is_some_and(|it| it == value);
        self.name.is_none_or(|name| root.name == name) && self.tags.iter().all(has)
    }
}

/// A root with a given name.
#[derive(Clone, Debug, PartialEq)]
pub struct Namesake {
    /// Its id, for an import.
    pub id: String,
    /// The time of its creation in AWS's notation, if AWS returns it.
    pub created: Option<String>,
    /// Its tag `fgw:state`; `None` if it has no such tag, or one with another value.
    pub state: Option<RootState>,
    /// What a configuration is compared with, besides the name: the CIDR block of a VPC, or the route keys of an API.
    /// Of an API, they are read only if the root is compared.
    pub features: BTreeSet<String>,
}

/// The value of a root's tag `fgw:state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootState {
    /// A create is running or was killed.
    Creating,
    /// The last create succeeded.
    Ready,
    /// The last create failed.
    Incomplete,
}

impl RootState {
    /// The value of the tag.
    pub fn as_str(self) -> &'static str {
        match self {
            RootState::Creating => "creating",
            RootState::Ready => "ready",
            RootState::Incomplete => "incomplete",
        }
    }
}

/// A shared cloud.
pub type SharedCloud = Arc<dyn Cloud>;

/// The account of the configured provider. It is shared by the provider, which sets it, and the resources.
#[derive(Clone, Default)]
pub struct Connection(Arc<RwLock<Connected>>);

/// The result of configuring the provider.
#[derive(Clone, Default)]
pub enum Connected {
    /// The provider has not been configured.
    #[default]
    Missing,
    /// The provider block contains values that are known only after apply. Resources plan without AWS.
    Unknown(TagSettings),
    /// The provider is connected to an account.
    Ready(Regions),
}

/// The account of a provider, in each Region.
#[derive(Clone)]
pub struct Regions {
    default: SharedCloud,
    open: Arc<dyn Fn(&str) -> SharedCloud + Send + Sync>,
    opened: Arc<Mutex<BTreeMap<String, SharedCloud>>>,
}

impl Regions {
    /// Creates the account from the Region of the provider block. `open` connects to another Region, at most once for
    /// each.
    pub fn new(default: SharedCloud, open: impl Fn(&str) -> SharedCloud + Send + Sync + 'static) -> Regions {
        Regions { default, open: Arc::new(open), opened: Arc::default() }
    }

    /// Returns the account in the Region of the provider block.
    pub fn default(&self) -> &SharedCloud {
        &self.default
    }

    /// Returns the account in a Region; `None` is the Region of the provider block.
    pub fn region(&self, name: Option<&str>) -> SharedCloud {
        let Some(name) = name.filter(|name| *name != self.default.scope().region) else { return self.default.clone() };
        let mut opened = self.opened.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        opened.entry(name.to_string()).or_insert_with(|| (self.open)(name)).clone()
    }
}

impl Connection {
    /// Returns the current connection.
    pub fn get(&self) -> Connected {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Replaces the current connection.
    pub fn set(&self, connected: Connected) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = connected;
    }
}
