//! For tests only: an account whose code panics where the environment variable `FGW_PANIC` says. Only builds with
//! debug assertions have it; a feature of cargo would make the tests compile the library twice.
//!
//! It holds places divided by `;`, each a moment, a verb and a slot: `before create nat_gateway.0`. A slot may end in
//! `*`, which stands for any text. Verbs are those of [`Cloud`]: create, update, delete, and read, settle and mark of a
//! root. Moments are `before` and `after` the work, and while something is made `answered` and `recorded`: before and
//! after the executor has taken the id.

use async_trait::async_trait;

use super::{Cloud, DependentScope, Dependents, Failure, OpContext, Recorder, Root, RootState, Seen, UnfinishedRoot};
use crate::model::TopologyKind;
use crate::model::{Entry, Object, Spec};
use crate::model::{Facts, Lookup, Scope};

/// An account that panics on demand.
pub struct PanicOnDemand<C> {
    account: C,
    places: Vec<String>,
}

impl<C: Cloud> PanicOnDemand<C> {
    /// This account, with the panics that the environment asks for.
    pub fn of_environment(account: C) -> PanicOnDemand<C> {
        let places = std::env::var("FGW_PANIC").unwrap_or_default();
        let places = places.split(';').map(|place| place.trim().to_string()).collect();
        PanicOnDemand { account, places }
    }

    fn at(&self, moment: &str, verb: &str, slot: &str) {
        let place = format!("{moment} {verb} {slot}");
        let is_meant = |given: &String| match given.strip_suffix('*') {
            Some(beginning) => place.starts_with(beginning),
            None => *given == place,
        };
        assert!(!self.places.iter().any(is_meant), "told to panic {place}");
    }
}

#[async_trait]
impl<C: Cloud> Cloud for PanicOnDemand<C> {
    fn scope(&self) -> &Scope {
        self.account.scope()
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        self.account.facts(lookups).await
    }

    async fn read(&self, owner: TopologyKind, root_id: &str, known: &[Entry]) -> Result<Option<Seen>, Failure> {
        self.at("before", "read", owner.root());
        self.account.read(owner, root_id, known).await
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        let slot = &object.key.slot;
        self.at("before", "create", slot);
        let id = |id: &str| {
            self.at("answered", "create", slot);
            (record.id)(id);
            self.at("recorded", "create", slot);
        };
        let made = self.account.create(work, object, &Recorder { id: &id, ..*record }).await;
        self.at("after", "create", slot);
        made
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: Option<&Spec>,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        self.at("before", "update", &to.key.slot);
        let changed = self.account.update(work, id, from, to, record).await;
        self.at("after", "update", &to.key.slot);
        changed
    }

    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.at("before", "delete", &entry.key.slot);
        let deleted = self.account.delete(work, entry).await;
        self.at("after", "delete", &entry.key.slot);
        deleted
    }

    async fn dependents(
        &self,
        owner: TopologyKind,
        root_id: &str,
        within: DependentScope<'_>,
        known: &[Entry],
    ) -> Dependents {
        self.account.dependents(owner, root_id, within, known).await
    }

    async fn roots(&self, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
        self.account.roots(owner).await
    }

    async fn unfinished_roots(&self, owner: TopologyKind, name: &str) -> Result<Vec<UnfinishedRoot>, Failure> {
        self.account.unfinished_roots(owner, name).await
    }

    async fn verify_deployment(&self, owner: TopologyKind, root_id: &str) -> Result<(), Failure> {
        self.at("before", "settle", owner.root());
        self.account.verify_deployment(owner, root_id).await
    }

    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure> {
        self.at("before", "mark", owner.root());
        self.account.mark_root(owner, root_id, state).await
    }
}
