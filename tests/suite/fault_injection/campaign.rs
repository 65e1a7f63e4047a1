//! A campaign: one kind of damage, done in many cases, each counted.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

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
    std::env::var("FGW_FAULTS").is_ok_and(|how| how == "whole")
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
/// With `FGW_CASE=TEXT` only the cases that say this in their words run: to see again one that did not survive. After a
/// whole run, what comes of them stands for what came of them before.
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
    if is_whole() {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("faults");
        let file = directory.join(name.replace(|it: char| !it.is_ascii_alphanumeric(), "-") + ".json");
        let line = match only {
            None => Some(json!({
                "name": name, "runs": cases.len(), "calls": total.calls, "faults": total.faults, "lost": lost,
                "seconds": begun.elapsed().as_secs(), "commit": commit(),
            })),
            Some(_) => std::fs::read(&file).ok().map(|earlier| {
                let earlier = serde_json::from_slice(&earlier).expect("a campaign has written it");
                seen_again(earlier, &cases.iter().map(ToString::to_string).collect::<Vec<_>>(), &lost)
            }),
        };
        if let Some(line) = line {
            std::fs::create_dir_all(&directory).expect("the target directory can be written");
            std::fs::write(file, line.to_string()).expect("the target directory can be written");
        }
    }
    assert!(lost.is_empty(), "{name}: {} of {} cases did not survive:\n{}", lost.len(), cases.len(), lost.join("\n"));
}

/// What was checked out, for the page: the campaigns take hours together, and each may run by itself.
fn commit() -> String {
    let git = std::process::Command::new("git").args(["describe", "--always", "--dirty= with changes"]).output();
    let said =
        git.ok().filter(|it| it.status.success()).map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    said.unwrap_or_else(|| "of an exported tree".to_owned())
}

/// What a whole run counted, where some of its cases have run again.
fn seen_again(mut line: Value, cases: &[String], lost: &[String]) -> Value {
    let before = line["lost"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let others = before.filter(|case| !cases.iter().any(|again| again == case)).map(str::to_owned);
    line["lost"] = others.chain(lost.iter().cloned()).collect::<Vec<_>>().into();
    line
}

#[test]
fn a_case_that_runs_again_counts_by_what_comes_of_it_then() {
    let cases = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let line = json!({ "name": "n", "runs": 4, "lost": ["a", "b"] });
    let line = seen_again(line, &cases(&["a", "c"]), &cases(&["c"]));
    assert_eq!(line, json!({ "name": "n", "runs": 4, "lost": ["b", "c"] }));
    assert_eq!(seen_again(line, &cases(&["b", "c"]), &[])["lost"], json!([]));
}
