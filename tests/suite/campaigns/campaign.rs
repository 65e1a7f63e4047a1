//! A campaign: one kind of damage, done in many cases, each counted.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::support::proxy::Proxy;

/// What a case has cost and met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Calls to AWS.
    pub(super) calls: usize,
    /// Answers that a fault has replaced, delayed or withheld, and signals sent.
    pub(super) faults: usize,
}

impl Tally {
    /// What a proxy has counted since its log was last cleared.
    pub(super) fn of(proxy: &Proxy) -> Self {
        let calls = proxy.calls();
        Self { calls: calls.len(), faults: calls.iter().filter(|record| record.injected).count() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.faults += other.faults;
    }
}

/// Whether the campaigns run whole.
pub(super) fn is_whole() -> bool {
    std::env::var("FGW_TORTURE").is_ok_and(|how| how == "whole")
}

/// All of them in a whole run, else this many, spread evenly from the first to the last.
pub(super) fn sample<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let last = all.len().saturating_sub(1);
    let wanted: Vec<usize> = match is_whole() || count >= all.len() {
        true => (0..all.len()).collect(),
        false => (0..count).map(|step| step * last / count.saturating_sub(1).max(1)).collect(),
    };
    all.into_iter().enumerate().filter(|(index, _)| wanted.contains(index)).map(|(_, case)| case).collect()
}

/// Runs every case, also after one that fails, and writes down what a whole run counted. Panics at the end with the
/// cases that did not survive.
///
/// With `FGW_CASE=TEXT` only the cases that say this in their words run: to see again one that did not survive.
///
/// `name` is the campaign's line in `docs/reliability.md`: words for a reader, unique among the campaigns.
pub(super) fn campaign<C: Display>(name: &str, mut cases: Vec<C>, run: impl Fn(&C) -> Tally) {
    let only = std::env::var("FGW_CASE").ok();
    cases.retain(|case| only.as_ref().is_none_or(|text| case.to_string().contains(text)));
    assert!(!cases.is_empty(), "{name}: a campaign without a case shows nothing");
    let begun = Instant::now();
    let (mut total, mut lost) = (Tally::default(), Vec::new());
    for case in &cases {
        eprintln!("{name}: {case}");
        match catch_unwind(AssertUnwindSafe(|| run(case))) {
            Ok(tally) => total.add(tally),
            Err(_) => lost.push(case.to_string()),
        }
    }
    if is_whole() && only.is_none() {
        let Tally { calls, faults } = total;
        let (runs, survived, seconds) = (cases.len(), cases.len() - lost.len(), begun.elapsed().as_secs());
        let line = json!({
            "name": name, "runs": runs, "calls": calls, "faults": faults, "survived": survived, "lost": lost.len(),
            "seconds": seconds,
        });
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("torture");
        let file = directory.join(name.replace(|it: char| !it.is_ascii_alphanumeric(), "-") + ".json");
        std::fs::create_dir_all(&directory).expect("the target directory can be written");
        std::fs::write(file, line.to_string()).expect("the target directory can be written");
    }
    assert!(lost.is_empty(), "{name}: {} of {} cases did not survive:\n{}", lost.len(), cases.len(), lost.join("\n"));
}
