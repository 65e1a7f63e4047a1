//! What the code of one kind of object has at hand during one operation.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::wait::{Backoff, SECONDS, retry_while};
use crate::aws::Session;
use crate::cloud::{Cause, Deadlines, Failure, OpContext, Recorder};
use crate::model::Input;
use crate::model::{Key, Learned, Ref, ResolvedObject, Tags};

/// One create, update or delete of one object.
pub(crate) struct Operation<'a> {
    /// The clients.
    pub(crate) session: &'a Session,
    /// TopologyKind, ids, timeouts.
    pub(crate) work: &'a OpContext<'a>,
    /// The object's identity.
    pub(crate) key: &'a Key,
    /// Where ids are recorded; `None` during a delete.
    pub(crate) record: Option<&'a Recorder<'a>>,
}

impl Operation<'_> {
    /// The id of an object that this one needs.
    pub(crate) fn id(&self, key: &Key) -> Result<&str, Failure> {
        self.made(key).map(|made| made.id.as_str())
    }

    /// The id of an object that this one needs, and what else AWS told about it.
    pub(crate) fn made(&self, key: &Key) -> Result<&ResolvedObject, Failure> {
        self.work.ids.get(key).ok_or_else(|| self.bug(format!("{key} is needed and does not exist")))
    }

    /// The id of the topology's root. Only the root itself is made without one.
    pub(crate) fn root_id(&self) -> Result<&str, Failure> {
        self.work.root_id.ok_or_else(|| self.bug("the id of the root is not known".to_string()))
    }

    /// The id that a reference stands for.
    pub(crate) fn resolve<'b>(&'b self, reference: &'b Ref) -> Result<&'b str, Failure> {
        match reference {
            Ref::Key(key) => self.id(key),
            Ref::Id(id) => Ok(id),
        }
    }

    /// An input's value. At apply every input is known.
    pub(crate) fn known<'b, T>(&self, input: &'b Input<T>) -> Result<&'b T, Failure> {
        input.known().ok_or_else(|| self.bug("an input is still unknown at apply".to_string()))
    }

    /// The object's own tags, without ownership tags.
    pub(crate) fn own_tags(&self, tags: &Tags) -> Result<BTreeMap<String, String>, Failure> {
        self.known(tags)?.iter().map(|(key, value)| Ok((key.clone(), self.known(value)?.clone()))).collect()
    }

    /// Records the object's id, the moment that AWS answers with it.
    pub(crate) fn record_id(&self, id: &str) {
        self.session.process.created.add(id);
        if let Some(record) = self.record {
            (record.id)(id);
        }
    }

    /// Records what else AWS told.
    pub(crate) fn record_learned(&self, learned: Learned) {
        if let Some(record) = self.record {
            (record.learned)(learned);
        }
    }

    /// Lets those that need the object start, while something that they do not need is still being set on it.
    pub(crate) fn is_usable(&self) {
        if let Some(record) = self.record {
            (record.usable)();
        }
    }

    /// Until when an absence only means that AWS does not know yet what this process has made: the object itself, by
    /// its id, or one that it needs. `None` where none of these is new, and for deletions, to which an absence is
    /// success.
    pub(crate) fn unknown_until(&self, id: &str) -> Option<Instant> {
        self.record?;
        let needed = self.work.ids.iter().map(|(_, made)| made.id.as_str());
        let used = [id].into_iter().chain(self.work.root_id).chain(needed);
        used.filter_map(|id| self.session.process.created.invisible_until(id)).max()
    }

    /// Sends a call that uses objects, until AWS sees those of them that this process has only just created.
    pub(crate) async fn retry_until_visible<T, F>(&self, used: &[&str], call: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let until = used.iter().filter_map(|id| self.session.process.created.invisible_until(id)).max();
        let rest = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        let is_absent = |failure: &Failure| failure.cause == Cause::NotFound;
        retry_while(&self.deadlines(rest), &mut Backoff::new(SECONDS), is_absent, call).await
    }

    /// For a wait that should take no longer than this.
    pub(crate) fn deadlines(&self, at_most: Duration) -> Deadlines {
        self.work.deadlines.at_most(at_most)
    }

    fn bug(&self, what: String) -> Failure {
        Failure::new(Cause::Other, format!("{}", self.key), format!("{what}; this is a bug in the provider"))
    }
}
