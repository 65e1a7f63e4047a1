//! For tests only: an account that panics at the places in the environment variable `FGW_PANIC`. Only builds with debug
//! assertions contain it. With a cargo feature instead, the tests would have to compile the library twice.
//!
//! `FGW_PANIC` contains places separated by `;`, each a moment, a verb and a slot: `before create nat_gateway.0`. A
//! slot may end in `*`, which matches any text. Verbs are `create`, `update` and `delete` and, for a root, `read`,
//! `settle` (the check of a deployment) and `mark`. Moments are `before` and `after` the call and, during a create,
//! `answered` and `recorded`: before and after the executor records the id.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{
    Begun, Cloud, Deadlines, DependentScope, Dependents, Discovery, Failure, Known, Namesake, Observed, Obstacle,
    OpContext, Recorder, Root, RootState, Seen,
};
use crate::model::TopologyKind;
use crate::model::{Entry, Key, Object, Spec};
use crate::model::{Facts, Lookup, Scope};

/// An account that panics on demand.
pub struct PanicOnDemand<C> {
    account: C,
    places: Vec<String>,
}

impl<C: Cloud> PanicOnDemand<C> {
    /// Wraps an account with the panics in the environment variable.
    pub fn of_environment(account: C) -> PanicOnDemand<C> {
        let places = std::env::var("FGW_PANIC").unwrap_or_default();
        let places = places.split(';').map(|place| place.trim().to_string()).collect();
        PanicOnDemand { account, places }
    }

    fn at(&self, moment: &str, verb: &str, slot: &str) {
        let place = format!("{moment} {verb} {slot}");
        let matches = |given: &String| match given.strip_suffix('*') {
            Some(prefix) => place.starts_with(prefix),
            None => *given == place,
        };
        assert!(!self.places.iter().any(matches), "panic on demand: {place}");
    }
}

#[async_trait]
impl<C: Cloud> Cloud for PanicOnDemand<C> {
    fn scope(&self) -> &Scope {
        self.account.scope()
    }

    fn announce(&self, owner: TopologyKind, root_id: &str) {
        self.account.announce(owner, root_id);
    }

    async fn facts(&self, lookups: &[Lookup]) -> Result<Facts, Failure> {
        self.account.facts(lookups).await
    }

    async fn read(&self, owner: TopologyKind, root_id: &str, known: Known<'_>) -> Result<Option<Seen>, Failure> {
        self.at("before", "read", owner.root());
        self.account.read(owner, root_id, known).await
    }

    async fn discover<'a>(
        &'a self,
        owner: TopologyKind,
        root_id: &'a str,
        consented: Option<&'a BTreeMap<String, String>>,
    ) -> Result<Option<Box<dyn Discovery + 'a>>, Failure> {
        self.at("before", "read", owner.root());
        self.account.discover(owner, root_id, consented).await
    }

    async fn lost_parts(&self, owner: TopologyKind, root_id: &str, parts: &[Entry]) -> Result<BTreeSet<Key>, Failure> {
        self.account.lost_parts(owner, root_id, parts).await
    }

    async fn leftovers(
        &self,
        owner: TopologyKind,
        root_id: &str,
        objects: &[&Object],
    ) -> Result<Vec<Observed>, Failure> {
        self.account.leftovers(owner, root_id, objects).await
    }

    async fn obstacles(
        &self,
        owner: TopologyKind,
        root_id: Option<&str>,
        begun: &[Begun<'_>],
        existing: &[Entry],
    ) -> Result<Vec<Obstacle>, Failure> {
        self.account.obstacles(owner, root_id, begun, existing).await
    }

    async fn create(&self, work: &OpContext<'_>, object: &Object, record: &Recorder<'_>) -> Result<(), Failure> {
        let slot = &object.key.slot;
        self.at("before", "create", slot);
        let id = |id: &str| {
            self.at("answered", "create", slot);
            (record.id)(id);
            self.at("recorded", "create", slot);
        };
        let created = self.account.create(work, object, &Recorder { id: &id, ..*record }).await;
        self.at("after", "create", slot);
        created
    }

    async fn update(
        &self,
        work: &OpContext<'_>,
        id: &str,
        from: &Spec,
        to: &Object,
        record: &Recorder<'_>,
    ) -> Result<(), Failure> {
        self.at("before", "update", &to.key.slot);
        let updated = self.account.update(work, id, from, to, record).await;
        self.at("after", "update", &to.key.slot);
        updated
    }

    async fn adopt(&self, work: &OpContext<'_>, id: &str, from: &Spec, to: &Object) -> Result<(), Failure> {
        self.at("before", "adopt", &to.key.slot);
        let adopted = self.account.adopt(work, id, from, to).await;
        self.at("after", "adopt", &to.key.slot);
        adopted
    }

    async fn rename(&self, work: &OpContext<'_>, id: &str, to: &Object) -> Result<(), Failure> {
        self.at("before", "rename", &to.key.slot);
        let renamed = self.account.rename(work, id, to).await;
        self.at("after", "rename", &to.key.slot);
        renamed
    }

    async fn delete(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.at("before", "delete", &entry.key.slot);
        let deleted = self.account.delete(work, entry).await;
        self.at("after", "delete", &entry.key.slot);
        deleted
    }

    async fn disown(&self, work: &OpContext<'_>, entry: &Entry) -> Result<(), Failure> {
        self.account.disown(work, entry).await
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

    async fn namesakes(
        &self,
        owner: TopologyKind,
        name: &str,
        is_compared: &(dyn for<'b> Fn(&'b str) -> bool + Send + Sync),
    ) -> Result<Vec<Namesake>, Failure> {
        self.account.namesakes(owner, name, is_compared).await
    }

    async fn verify_deployment(
        &self,
        owner: TopologyKind,
        root_id: &str,
        deployed: &BTreeSet<String>,
        deadlines: &Deadlines,
    ) -> Result<(), Failure> {
        self.at("before", "settle", owner.root());
        self.account.verify_deployment(owner, root_id, deployed, deadlines).await
    }

    async fn mark_root(&self, owner: TopologyKind, root_id: &str, state: RootState) -> Result<(), Failure> {
        self.at("before", "mark", owner.root());
        self.account.mark_root(owner, root_id, state).await
    }
}
