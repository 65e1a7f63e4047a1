//! Lists that several roots share: roots that Terraform refreshes at the same time send one call for all of them.
//!
//! A read joins only a call that has not been sent, so what it returns is never older than the read. A failure reaches
//! exactly the reads that have joined.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, Shared, WeakShared};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::cloud::Failure;
use crate::cloud::retries::RetryLimits;

/// How long a call waits for the roots that are being read to join it. Some of them may have joined an earlier call.
const GATHER: Duration = Duration::from_millis(10);

/// How long a call waits for a root that Terraform is about to read. Terraform works on ten at once, and on two cores
/// it took up to 170 ms until it read the last of them.
const COMING: Duration = Duration::from_millis(250);

/// The maximum number of values of a filter.
const PER_CALL: usize = 200;

/// The roots of one kind that are being read, or that Terraform is about to read. A root without company does not wait.
///
/// Terraform sends the state of a root just before it reads it. After a read it plans the root, and then begins with
/// another one, if there are more than it works on at once.
#[derive(Default)]
pub(crate) struct Company {
    roots: Mutex<Roots>,
    changed: Notify,
}

#[derive(Default)]
struct Roots {
    /// The roots whose state Terraform has sent, with the times until which they are waited for.
    announced: BTreeMap<String, Instant>,
    /// The successors of roots that have been read, likewise.
    successors: VecDeque<Instant>,
    reading: usize,
    /// When the latest of these reads began.
    entered: Option<Instant>,
}

/// A root that is being read, until it is dropped.
pub(crate) struct Reading<'a>(&'a Company);

/// The calls of one list. Each reads the objects of at most 200 roots.
pub(crate) struct SharedList<T> {
    /// The latest call. It may have been sent.
    latest: Mutex<Option<Call<T>>>,
}

/// Lists of one kind that have no filter, by what else tells them apart.
pub(crate) struct SharedListsByKey<T>(Mutex<BTreeMap<String, Arc<SharedList<T>>>>);

/// A call that has not been sent, or whose answer a read waits for. It ends with the last of these reads.
struct Call<T> {
    asked: Arc<Mutex<Asked>>,
    answer: WeakShared<Answer<T>>,
}

type Answer<T> = BoxFuture<'static, Result<Arc<Answered<T>>, Failure>>;

#[derive(Default)]
struct Asked {
    values: BTreeSet<String>,
    /// The number of reads, of which several may have the same value.
    number: usize,
    is_sent: bool,
}

#[derive(Clone)]
struct Answered<T> {
    items: Vec<T>,
    is_of_one: bool,
}

impl Company {
    /// Terraform is about to read this root.
    pub(crate) fn announce(&self, root_id: &str) {
        let mut roots = lock(&self.roots);
        roots.successors.pop_front();
        roots.announced.insert(root_id.to_string(), Instant::now() + COMING);
        self.changed.notify_waiters();
    }

    /// The read of a root begins.
    pub(crate) fn enter(&self, root_id: &str) -> Reading<'_> {
        let mut roots = lock(&self.roots);
        roots.announced.remove(root_id);
        roots.reading += 1;
        roots.entered = Some(Instant::now());
        Reading(self)
    }

    /// Waits until all have joined, for a moment at most. Those who come later send a call of their own.
    async fn gather(&self, asked: &Mutex<Asked>) {
        let began = Instant::now();
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let joined = lock(asked).number;
            let Some(until) = lock(&self.roots).awaited(began, joined) else { return };
            let _ = tokio::time::timeout_at(until, changed).await;
        }
    }
}

impl Roots {
    /// Until when a call that began at a time waits for more than the reads that have joined it, unless something
    /// changes before. `None` if there are no more.
    fn awaited(&mut self, began: Instant, joined: usize) -> Option<Instant> {
        let now = Instant::now();
        self.announced.retain(|_, until| *until > now);
        self.successors.retain(|until| *until > now);
        let latest = self.entered.map_or(began, |entered| entered.max(began));
        let reading = (joined < self.reading).then_some(latest + GATHER).filter(|until| *until > now);
        reading.into_iter().chain(self.announced.values().copied()).chain(self.successors.iter().copied()).min()
    }
}

impl<T: Clone + Send + Sync + 'static> SharedList<T> {
    /// The objects of one root, whose filter has this `value`. `value_of` returns the same of an object. `list` reads
    /// the objects of several roots.
    pub(crate) async fn of<F>(
        &self,
        company: &Arc<Company>,
        value: &str,
        value_of: impl Fn(&T) -> Option<&str>,
        list: impl Fn(Vec<String>) -> F + Clone + Send + 'static,
    ) -> Result<Vec<T>, Failure>
    where
        F: Future<Output = Result<Vec<T>, Failure>> + Send + 'static,
    {
        let answered = self.ask(company, value, list.clone()).await?;
        if answered.is_of_one {
            return Ok(Arc::unwrap_or_clone(answered).items);
        }
        // Not every implementation of an AWS API returns what it filters by.
        if answered.items.iter().any(|it| value_of(it).is_none()) {
            return list(vec![value.to_string()]).await;
        }
        Ok(answered.items.iter().filter(|it| value_of(it) == Some(value)).cloned().collect())
    }

    /// What all roots get from the same call.
    pub(crate) async fn all<F>(
        &self,
        company: &Arc<Company>,
        list: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Vec<T>, Failure>
    where
        F: Future<Output = Result<Vec<T>, Failure>> + Send + 'static,
    {
        Ok(Arc::unwrap_or_clone(self.ask(company, "", |_| list()).await?).items)
    }

    /// Joins the latest call, or begins one.
    fn ask<F>(
        &self,
        company: &Arc<Company>,
        value: &str,
        list: impl FnOnce(Vec<String>) -> F + Send + 'static,
    ) -> Shared<Answer<T>>
    where
        F: Future<Output = Result<Vec<T>, Failure>> + Send + 'static,
    {
        let mut latest = lock(&self.latest);
        if let Some(answer) = latest.as_ref().and_then(|call| call.join(value)) {
            company.changed.notify_waiters();
            return answer;
        }
        let asked = Arc::new(Mutex::new(Asked { values: [value.to_string()].into(), number: 1, is_sent: false }));
        let answer = send(company.clone(), asked.clone(), list).boxed().shared();
        *latest = answer.downgrade().map(|answer| Call { asked, answer });
        answer
    }
}

impl<T: Clone> Call<T> {
    /// `None` if the call has been sent, is full, or no read waits for it any more.
    fn join(&self, value: &str) -> Option<Shared<Answer<T>>> {
        let mut asked = lock(&self.asked);
        let is_full = asked.values.len() == PER_CALL && !asked.values.contains(value);
        let answer = self.answer.upgrade().filter(|_| !asked.is_sent && !is_full)?;
        asked.values.insert(value.to_string());
        asked.number += 1;
        Some(answer)
    }
}

/// Sends a call when all have joined. The deadline of one of them does not end it, because the others wait for it, too.
async fn send<T, F: Future<Output = Result<Vec<T>, Failure>>>(
    company: Arc<Company>,
    asked: Arc<Mutex<Asked>>,
    list: impl FnOnce(Vec<String>) -> F,
) -> Result<Arc<Answered<T>>, Failure> {
    RetryLimits::without_deadline(async {
        company.gather(&asked).await;
        let values: Vec<String> = {
            let mut asked = lock(&asked);
            asked.is_sent = true;
            asked.values.iter().cloned().collect()
        };
        let is_of_one = values.len() == 1;
        Ok(Arc::new(Answered { items: list(values).await?, is_of_one }))
    })
    .await
}

fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Clone + Send + Sync + 'static> SharedListsByKey<T> {
    /// What all roots get from the same call.
    pub(crate) async fn all<F>(
        &self,
        company: &Arc<Company>,
        key: &str,
        list: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Vec<T>, Failure>
    where
        F: Future<Output = Result<Vec<T>, Failure>> + Send + 'static,
    {
        let of_key = lock(&self.0).entry(key.to_string()).or_default().clone();
        of_key.all(company, list).await
    }
}

impl<T> Default for SharedListsByKey<T> {
    fn default() -> SharedListsByKey<T> {
        SharedListsByKey(Mutex::default())
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> SharedList<T> {
        SharedList { latest: Mutex::default() }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut roots = lock(&self.0.roots);
        roots.reading -= 1;
        roots.successors.push_back(Instant::now() + COMING);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
