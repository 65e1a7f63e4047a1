//! The log of calls: their parameters, times, concurrency and results.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::call::Call;
use super::message::Reply;

/// A call, with its result if it has ended.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) call: Call,
    pub(crate) started: Instant,
    pub(crate) ended: Option<Instant>,
    /// When the emulator finished its work. The answer may be sent later.
    pub(crate) worked: Option<Instant>,
    /// HTTP status; 0 while in flight, and for a call without an answer.
    pub(crate) status: u16,
    /// The AWS error code.
    pub(crate) error: Option<String>,
    /// Whether the answer was scripted by a test.
    pub(crate) injected: bool,
    /// The number of calls in flight when this one began, including itself.
    pub(crate) concurrency: usize,
}

impl Record {
    /// Whether both were in flight at the same time.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let before = |a: &Self, b: &Self| a.ended.is_some_and(|end| end <= b.started);
        !before(self, other) && !before(other, self)
    }
}

impl std::fmt::Display for Record {
    /// One line: `ec2 CreateVpc 200 in 12 ms: CidrBlock=10.0.0.0/16`, an error with its code.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Call { service, action, params, .. } = &self.call;
        write!(out, "{service} {action} {}", self.status)?;
        if let Some(error) = &self.error {
            write!(out, " {error}{}", if self.injected { " (injected)" } else { "" })?;
        }
        match self.ended {
            Some(ended) => write!(out, " in {} ms:", ended.duration_since(self.started).as_millis())?,
            None => out.write_str(" without an answer:")?,
        }
        params.iter().try_for_each(|(name, value)| write!(out, " {name}={value}"))
    }
}

#[derive(Debug, Default)]
pub(super) struct Log {
    records: Mutex<Vec<Arc<Mutex<Record>>>>,
}

impl Log {
    pub(super) fn begin(&self, call: &Call) -> Entry {
        let mut records = self.records();
        let in_flight = records.iter().filter(|record| lock(record).ended.is_none()).count();
        let record = Arc::new(Mutex::new(Record {
            call: call.clone(),
            started: Instant::now(),
            ended: None,
            worked: None,
            status: 0,
            error: None,
            injected: false,
            concurrency: in_flight + 1,
        }));
        records.push(Arc::clone(&record));
        Entry(record)
    }

    pub(super) fn snapshot(&self) -> Vec<Record> {
        self.records().iter().map(|record| lock(record).clone()).collect()
    }

    pub(super) fn count(&self, like: impl Fn(&Record) -> bool) -> usize {
        self.records().iter().filter(|record| like(&lock(record))).count()
    }

    pub(super) fn clear(&self) {
        self.records().clear();
    }

    pub(super) fn keep(&self, count: usize) {
        self.records().truncate(count);
    }

    pub(super) fn by_action(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for record in self.snapshot() {
            *counts.entry(record.call.action).or_insert(0) += 1;
        }
        counts
    }

    fn records(&self) -> MutexGuard<'_, Vec<Arc<Mutex<Record>>>> {
        self.records.lock().expect("no one panics while holding the log")
    }
}

/// The largest number of these calls that were in flight at the same time.
pub(super) fn peak(records: &[Record]) -> usize {
    // The peak is reached at the start of some record.
    let flying = |at: Instant| {
        let flew = |record: &&Record| record.started <= at && record.ended.is_none_or(|end| end > at);
        records.iter().filter(flew).count()
    };
    records.iter().map(|record| flying(record.started)).max().unwrap_or(0)
}

/// A call in flight. If this is dropped before an end is recorded, the call ended without an answer.
#[derive(Debug)]
pub(super) struct Entry(Arc<Mutex<Record>>);

impl Entry {
    pub(super) fn worked(&self) {
        lock(&self.0).worked = Some(Instant::now());
    }

    pub(super) fn end(&self, reply: &Reply, injected: bool) {
        let mut record = lock(&self.0);
        record.ended = Some(Instant::now());
        record.status = reply.status;
        record.error = reply.error_code();
        record.injected = injected;
    }

    pub(super) fn end_without_answer(&self) {
        let mut record = lock(&self.0);
        record.ended = Some(Instant::now());
        record.injected = true;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.0).ended.get_or_insert_with(Instant::now);
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().expect("no one panics while holding a record")
}
