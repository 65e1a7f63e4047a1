//! What the executor and the resources want from AWS, so that both can be tested without it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::model::{Entry, Ids, Learned, Object, Spec, TopologyKind};
use crate::model::{Facts, Lookup, Scope, Timeouts};

#[cfg(debug_assertions)]
pub mod panic_on_demand;

/// The AWS account, or a simulation of it.
#[async_trait]
pub trait Cloud: Send + Sync + 'static {
    /// Where it works.
    fn scope(&self) -> &Scope;

    /// Looks things up for a blueprint.
    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure>;

    /// Looks at a whole topology with a fixed number of calls. `None` only where AWS says that neither the root nor
    /// anything that outlives it exists. `known` are the objects that state knows: untagged kinds are recognized by
    /// them. Objects with the root's ownership tag that state does not know are returned too.
    async fn read(&self, owner: TopologyKind, root_id: &str, known: &[Entry]) -> Result<Option<Seen>, Failure>;

    /// Makes an object. `record` is called the moment AWS answers with an id, before any wait. A second call for
    /// an object whose first answer was lost finds it by its ownership tag or natural key.
    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure>;

    /// Brings an object from one look to another, in place. `from` is `None` where its look is not known for
    /// sure; then everything is set.
    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: Option<&Spec>,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure>;

    /// Deletes an object and waits until it has gone. Absence is success.
    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure>;

    /// Looks for what others keep in a topology: AWS deletes nothing that holds it, or deletes it along with the root.
    /// `known` are our own objects, which are no obstacles, and neither is what goes with them. A fixed number of
    /// calls: one within subnets.
    async fn dependents(
        &self,
        owner: TopologyKind,
        root_id: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents;

    /// The roots that this provider has made, whatever their state, by id. One list.
    async fn roots(&self, owner: TopologyKind) -> Result<Vec<Root>, Failure>;

    /// The roots with this name that a create which never returned has left.
    async fn unfinished_roots(&self, owner: TopologyKind, name: &str) -> Result<Vec<UnfinishedRoot>, Failure>;

    /// Looks whether what AWS does by itself after the last change went well, such as the deployment of a stage.
    async fn verify_deployment(&self, owner: TopologyKind, root_id: &str) -> Result<(), Failure>;

    /// Sets the tag `fgw:state` of a root.
    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure>;
}

/// What one operation may use.
pub struct OpContext<'a> {
    /// Whose objects they are.
    pub owner: TopologyKind,
    /// The root's id; `None` while the root itself is created.
    pub root_id: Option<&'a str>,
    /// The ids of the objects that this one needs.
    pub ids: &'a Ids,
    /// What was last set on the object, where it exists: of this, what is no longer wanted is removed, even where it is
    /// not sure that all of it was set.
    pub before: Option<&'a Spec>,
    /// The ids of all objects that state knows: what has no tags and is not among them may be left by a killed run.
    pub known: BTreeSet<String>,
    /// How long things may take.
    pub timeouts: &'a Timeouts,
    /// How long its waits go on.
    pub deadlines: Deadlines,
}

/// How long waits go on.
#[derive(Clone)]
pub struct Deadlines {
    /// The moment after which they give up.
    pub deadline: tokio::time::Instant,
    /// The moment after which a deletion gives up waiting for those who still use the object. Earlier than `deadline`
    /// in an update, since Terraform changes those only afterwards.
    pub in_use_until: tokio::time::Instant,
    /// Cancelled when Terraform asks to stop: calls in flight finish, waits end.
    pub stop: CancellationToken,
}

impl Deadlines {
    /// Patience until a moment, also with those who still use what is deleted.
    pub fn until(deadline: tokio::time::Instant, stop: CancellationToken) -> Deadlines {
        Deadlines { deadline, in_use_until: deadline, stop }
    }

    /// The same, but not longer than this from now.
    #[must_use]
    pub fn at_most(&self, longest: std::time::Duration) -> Deadlines {
        let end = tokio::time::Instant::now() + longest;
        let (deadline, in_use_until) = (self.deadline.min(end), self.in_use_until.min(end));
        Deadlines { deadline, in_use_until, stop: self.stop.clone() }
    }
}

/// Tells the executor what AWS answered.
pub struct Recorder<'a> {
    /// Called with the object's id, at once.
    pub id: &'a (dyn Fn(&str) + Send + Sync),
    /// Called with what else AWS told; replaces what was told before.
    pub learned: &'a (dyn Fn(Learned) + Send + Sync),
    /// Called when others may use the object already, though something is still being set on it.
    pub usable: &'a (dyn Fn() + Send + Sync),
}

/// A topology as AWS shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Its objects. Where the root is not among them it is gone, and these have outlived it: addresses, log groups,
    /// permissions.
    pub objects: Vec<Observed>,
    /// The root's tag `fgw:state`; `None` where it has none, or one that nobody of us wrote.
    pub root_state: Option<RootState>,
}

/// One object as AWS shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its id in AWS.
    pub id: String,
    /// Its identity: the key in state where the id is known there, else from its ownership tag or its place.
    pub key: crate::model::Key,
    /// What it looks like. Tags are all of its tags, foreign ones too, less our ownership tags.
    pub spec: Spec,
    /// What else AWS tells.
    pub learned: Learned,
}

/// Where to look for what is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependentScope<'a> {
    /// In all that is below the root.
    Root,
    /// In these subnets, by their AWS ids.
    Subnets(&'a [&'a str]),
    /// In these custom domains, by their names.
    Domains(&'a [&'a str]),
}

/// What others keep in a topology, as far as AWS told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependents {
    /// What was found, in an order that depends on nothing but itself.
    pub objects: Vec<Dependent>,
    /// The looks that failed, such as for want of a permission. What they would have shown is not among the obstacles.
    pub unseen: Vec<Failure>,
}

impl Dependents {
    /// What several looks have found, one after the other, and which of them failed.
    pub fn of(looks: impl IntoIterator<Item = Result<Vec<Dependent>, Failure>>) -> Dependents {
        let mut all = Dependents::default();
        for looked in looks {
            match looked {
                Ok(mut dependents) => {
                    dependents.sort();
                    all.objects.extend(dependents);
                }
                Err(failure) => all.unseen.push(failure),
            }
        }
        all
    }

    /// The obstacles that keep one of our objects.
    pub fn holding(&self, id: &str) -> Vec<Dependent> {
        self.objects.iter().filter(|dependent| dependent.holds.iter().any(|held| held == id)).cloned().collect()
    }
}

/// What others keep in the objects of operations that failed for it, by position in the plan.
pub type DependentsByOp = BTreeMap<usize, Dependents>;

/// An object that is not ours, and that keeps AWS from deleting one of ours, or is deleted along with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependent {
    /// What it is, for messages: `network interface`.
    pub kind: &'static str,
    /// Its id in AWS.
    pub id: String,
    /// What tells people which one it is: its description, name or range; empty where AWS shows none.
    pub description: String,
    /// What else helps to find who made it, such as the type of a network interface; empty where there is nothing.
    pub further: String,
    /// The account that it belongs to, where AWS tells.
    pub owner: Option<String>,
    /// The AWS ids of our objects that it keeps, beside the root, which it always keeps.
    pub holds: Vec<String>,
}

/// A root that this provider has made.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// Its id.
    pub id: String,
    /// Its name, of its ownership tag.
    pub name: String,
    /// All of its tags but the ownership tags.
    pub tags: BTreeMap<String, String>,
    /// Its tag `fgw:state`; `None` where it has none, or one that nobody of us wrote.
    pub state: Option<RootState>,
}

/// Which roots are meant, by what a configuration says of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootFilter<'a> {
    /// Their name.
    pub name: Option<&'a str>,
    /// Tags that they have among others.
    pub tags: BTreeMap<&'a str, &'a str>,
}

impl RootFilter<'_> {
    /// Whether this root is one of them.
    pub fn matches(&self, root: &Root) -> bool {
        let has = |(key, value): (&&str, &&str)| root.tags.get(*key).is_some_and(|it| it == value);
        self.name.is_none_or(|name| root.name == name) && self.tags.iter().all(has)
    }
}

/// A root that a create which never returned has left.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedRoot {
    /// Its id, for an import.
    pub id: String,
    /// When it was made, in AWS's notation, where AWS tells.
    pub created: Option<String>,
}

/// The value of a root's tag `fgw:state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootState {
    /// A create is at work, or was killed.
    Creating,
    /// The last create succeeded.
    Ready,
    /// The last create failed and returned.
    Incomplete,
}

impl RootState {
    /// The text of the tag.
    pub fn as_str(self) -> &'static str {
        match self {
            RootState::Creating => "creating",
            RootState::Ready => "ready",
            RootState::Incomplete => "incomplete",
        }
    }
}

/// Why a call to AWS failed, by what the caller does next.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{action}: {message}")]
pub struct Failure {
    /// What the caller does next.
    pub cause: Cause,
    /// The AWS action, such as `CreateNatGateway`.
    pub action: String,
    /// AWS's error code, where AWS answered.
    pub code: Option<String>,
    /// AWS's words, or what went wrong on the way.
    pub message: String,
    /// AWS's request id.
    pub request_id: Option<String>,
    /// How long AWS asks to wait before the call is sent again.
    pub retry_after: Option<std::time::Duration>,
}

/// What the caller of a failed call does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Treats the object as absent.
    NotFound,
    /// Waits until something else lets go of it.
    InUse,
    /// Compares what is there, and takes it if it is equal.
    Exists,
    /// Slows down.
    Throttled,
    /// Tells the user which permission is missing.
    Denied,
    /// Tells the user what was waited for.
    TimedOut,
    /// Tells the user that Terraform asked to stop during a wait.
    Stopped,
    /// Tells the user that our own code panicked, and asks for a report.
    Panicked,
    /// Looks whether AWS has carried out the call all the same: no answer came, or one that says that something broke
    /// while the call was worked on.
    Lost,
    /// Tells the user.
    Other,
}

impl Failure {
    /// A failure of our own, with no AWS error behind it.
    pub fn new(cause: Cause, action: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure {
            cause,
            action: action.into(),
            code: None,
            message: message.into(),
            request_id: None,
            retry_after: None,
        }
    }
}

/// A shared cloud.
pub type SharedCloud = Arc<dyn Cloud>;

/// The account that the provider block leads to, shared by the provider, which sets it, and its resources.
#[derive(Clone, Default)]
pub struct Connection(Arc<RwLock<Connected>>);

/// What a provider block has led to.
#[derive(Clone, Default)]
pub enum Connected {
    /// Nothing yet: the provider has not been configured.
    #[default]
    Missing,
    /// Nothing, because it holds values that are known only after apply. Resources plan without AWS.
    Unknown,
    /// An account.
    Ready(SharedCloud),
}

impl Connection {
    /// What there is.
    pub fn get(&self) -> Connected {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Takes a provider block into use.
    pub fn set(&self, connected: Connected) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = connected;
    }
}
