//! The context of one operation, for the code of its kind of object.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::wait::{Backoff, SECONDS, retry_while};
use crate::aws::Session;
use crate::cloud::{Cause, Deadlines, Failure, OpContext, Recorder};
use crate::model::Input;
use crate::model::{Key, Learned, Ref, ResolvedObject, Tags};

/// How long AWS may report an object of the user as missing, which another resource of the same run may have created
/// just before.
pub(crate) const NEW_INPUT: Duration = Duration::from_secs(60);

/// One create, update or delete of one object.
pub(crate) struct Operation<'a> {
    /// The clients.
    pub(crate) session: &'a Session,
    /// The topology kind, IDs and timeouts.
    pub(crate) work: &'a OpContext<'a>,
    /// The key of the object.
    pub(crate) key: &'a Key,
    /// The keys of the API routes that use the object.
    pub(crate) routes: &'a [String],
    /// Records IDs; `None` during a delete.
    pub(crate) record: Option<&'a Recorder<'a>>,
}

impl Operation<'_> {
    /// The ID of a dependency.
    pub(crate) fn id(&self, key: &Key) -> Result<&str, Failure> {
        self.resolved(key).map(|object| object.id.as_str())
    }

    /// The ID of a dependency, with the other values that AWS returned for it.
    pub(crate) fn resolved(&self, key: &Key) -> Result<&ResolvedObject, Failure> {
        self.work.ids.get(key).ok_or_else(|| self.bug(format!("the dependency {key} does not exist")))
    }

    /// The ID of the root. Only the root itself is created without one.
    pub(crate) fn root_id(&self) -> Result<&str, Failure> {
        self.work.root_id.ok_or_else(|| self.bug("the ID of the root is unknown".to_string()))
    }

    /// The ID that a reference refers to.
    pub(crate) fn resolve<'b>(&'b self, reference: &'b Ref) -> Result<&'b str, Failure> {
        match reference {
            Ref::Key(key) => self.id(key),
            Ref::Id(id) => Ok(id),
        }
    }

    /// The value of an input. During an apply every input is known.
    pub(crate) fn known<'b, T>(&self, input: &'b Input<T>) -> Result<&'b T, Failure> {
        input.known().ok_or_else(|| self.bug("an input is still unknown during the apply".to_string()))
    }

    /// The object's own tags, without the ownership tags.
    pub(crate) fn own_tags(&self, tags: &Tags) -> Result<BTreeMap<String, String>, Failure> {
        self.known(tags)?.iter().map(|(key, value)| Ok((key.clone(), self.known(value)?.clone()))).collect()
    }

    /// Records the object's ID. To be called as soon as AWS has returned the ID.
    pub(crate) fn record_id(&self, id: &str) {
        self.session.process.created.add(id);
        if let Some(record) = self.record {
            (record.id)(id);
        }
    }

    /// Records other values that AWS returned.
    pub(crate) fn record_learned(&self, learned: Learned) {
        if let Some(record) = self.record {
            (record.learned)(learned);
        }
    }

    /// Lets dependents of the object start, while settings that they do not require are still being applied.
    pub(crate) fn is_usable(&self) {
        if let Some(record) = self.record {
            (record.usable)();
        }
    }

    /// The time until which `NotFound` may mean that a new object of this process is not visible yet: the object
    /// itself, by its ID, or a dependency. `None` if none of these is new, and for a delete, for which `NotFound` is
    /// success.
    pub(crate) fn unknown_until(&self, id: &str) -> Option<Instant> {
        self.record?;
        let dependencies = self.work.ids.iter().map(|(_, object)| object.id.as_str());
        let used = [id].into_iter().chain(self.work.root_id).chain(dependencies);
        used.filter_map(|id| self.session.process.created.invisible_until(id)).max()
    }

    /// Retries a call until the new objects among those that it uses are visible: those that this process created, and
    /// those that the configuration names since the plan. If AWS names the missing object, only that one counts.
    pub(crate) async fn retry_until_visible<T, F>(&self, used: &[&str], call: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let now = Instant::now();
        let visible_at = |id: &str| {
            let is_new_input = self.work.new_inputs.contains(id);
            self.session.process.created.invisible_until(id).or_else(|| is_new_input.then(|| now + NEW_INPUT))
        };
        let last = used.iter().filter_map(|id| visible_at(id)).max();
        let rest = last.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let may_be_new = |failure: &Failure| match &failure.missing {
            Some(id) => visible_at(id).is_some_and(|until| Instant::now() < until),
            None => true,
        };
        let is_invisible = |failure: &Failure| failure.cause == Cause::NotFound && may_be_new(failure);
        retry_while(&self.deadlines(rest), &mut Backoff::new(SECONDS), is_invisible, call).await
    }

    /// Whether an earlier operation on the object has not been completed, so that AWS may still carry it out.
    pub(crate) fn is_resumed(&self) -> bool {
        self.work.unfinished.is_some()
    }

    /// The deadlines of a wait that should take no longer than `at_most`.
    pub(crate) fn deadlines(&self, at_most: Duration) -> Deadlines {
        self.work.deadlines.at_most(at_most)
    }

    /// The spec of the object as the type of its kind.
    pub(crate) fn of_its_kind<'b, T>(&self, spec: Option<&'b T>) -> Result<&'b T, Failure> {
        spec.ok_or_else(|| self.bug("the object is of another kind".to_string()))
    }

    fn bug(&self, what: String) -> Failure {
        Failure::new(Cause::Other, format!("{}", self.key), format!("{what}; this is a bug in the provider"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::Notes;
    use crate::aws::ec2::recorded::Recorded;

    /// The failure of a call that uses these objects, while AWS reports this one as missing, and the time that it took.
    async fn missing(notes: Notes, created: &[&str], used: &[&str], missing: Option<&str>) -> (Failure, u64) {
        let (session, key) = (Recorded::default().session(), Key::new("nat_gateway.0"));
        for id in created {
            session.process.created.add(*id);
        }
        let failure = Failure { missing: missing.map(str::to_string), ..Failure::new(Cause::NotFound, "Create", "no") };
        let start = Instant::now();
        let body = async |operation: &Operation<'_>| {
            operation.retry_until_visible(used, || async { Err::<(), _>(failure.clone()) }).await
        };
        let failure = notes.run_for(&session, &key, &[], Duration::from_secs(3600), body).await.unwrap_err();
        (failure, start.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_new_object_is_waited_for() {
        let used = ["subnet-1", "eipalloc-9"];
        let waited = async |id| missing(Notes::default(), &["subnet-1"], &used, id).await.1;
        assert_eq!(waited(Some("subnet-1")).await, 300);
        assert_eq!(waited(None).await, 300, "any of the objects may be missing");
        assert_eq!(waited(Some("eipalloc-9")).await, 0, "this process has not created the address");
    }

    #[tokio::test(start_paused = true)]
    async fn an_input_that_was_unknown_in_the_plan_is_waited_for_briefly() {
        let notes = Notes { new_inputs: ["eipalloc-9".to_string()].into(), ..Notes::default() };
        let (failure, waited) = missing(notes, &["subnet-1"], &["subnet-1", "eipalloc-9"], Some("eipalloc-9")).await;
        assert_eq!(failure.missing.as_deref(), Some("eipalloc-9"));
        assert!((60..64).contains(&waited), "{waited} s");
    }
}
