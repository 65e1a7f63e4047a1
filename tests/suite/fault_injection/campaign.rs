//! A campaign: one kind of fault, injected in many cases and counted.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::proxy::Proxy;

/// The counts of a case.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Calls to AWS.
    pub(super) calls: usize,
    /// Answers that a fault has replaced, delayed or withheld, and signals sent.
    pub(super) faults: usize,
}

impl Tally {
    /// The counts of a proxy since its log was last cleared.
    pub(super) fn of(proxy: &Proxy) -> Self {
        let calls = proxy.calls();
        Self { calls: calls.len(), faults: calls.iter().filter(|record| record.injected).count() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.faults += other.faults;
    }
}

/// Whether the campaigns run all their cases.
pub(super) fn is_whole() -> bool {
    std::env::var("FGW_FAULTS").is_ok_and(|how| how == "whole")
}

/// All cases in a whole run; otherwise `count` cases, spread evenly from the first to the last.
pub(super) fn sample<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let last = all.len().saturating_sub(1);
    let wanted: Vec<usize> = match is_whole() || count >= all.len() {
        true => (0..all.len()).collect(),
        false => (0..count).map(|step| step * last / count.saturating_sub(1).max(1)).collect(),
    };
    all.into_iter().enumerate().filter(|(index, _)| wanted.contains(index)).map(|(_, case)| case).collect()
}

/// Runs every case, even after a failed one, and writes the counts of a whole run. Panics at the end with the cases
/// that did not survive.
///
/// With `FGW_CASE=TEXT`, only the cases whose description contains the text run, for example to repeat one that did not
/// survive. After a whole run, their new results replace the old ones.
///
/// `name` is the row of the campaign in `docs/reliability.md`. It must be readable and unique among the campaigns.
pub(super) fn campaign<C: Display>(name: &str, mut cases: Vec<C>, run: impl Fn(&C) -> Tally) {
    let only = std::env::var("FGW_CASE").ok();
    cases.retain(|case| only.as_ref().is_none_or(|text| case.to_string().contains(text)));
    assert!(!cases.is_empty(), "{name}: no case matches FGW_CASE");
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
                with_repeated(earlier, &cases.iter().map(ToString::to_string).collect::<Vec<_>>(), &lost)
            }),
        };
        if let Some(line) = line {
            std::fs::create_dir_all(&directory).expect("the target directory can be written");
            std::fs::write(file, line.to_string()).expect("the target directory can be written");
        }
    }
    assert!(lost.is_empty(), "{name}: {} of {} cases did not survive:\n{}", lost.len(), cases.len(), lost.join("\n"));
}

/// The commit, for the page: together the campaigns take hours, and each may run separately.
fn commit() -> String {
    let git = std::process::Command::new("git").args(["describe", "--always", "--dirty= with changes"]).output();
    let described =
        git.ok().filter(|it| it.status.success()).map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    described.unwrap_or_else(|| "unknown (exported tree)".to_owned())
}

/// The counts of a whole run, updated with the results of repeated cases.
fn with_repeated(mut line: Value, cases: &[String], lost: &[String]) -> Value {
    let before = line["lost"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let others = before.filter(|case| !cases.iter().any(|again| again == case)).map(str::to_owned);
    line["lost"] = others.chain(lost.iter().cloned()).collect::<Vec<_>>().into();
    line
}

#[test]
fn a_repeated_case_counts_by_its_last_result() {
    let cases = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let line = json!({ "name": "n", "runs": 4, "lost": ["a", "b"] });
    let line = with_repeated(line, &cases(&["a", "c"]), &cases(&["c"]));
    assert_eq!(line, json!({ "name": "n", "runs": 4, "lost": ["b", "c"] }));
    assert_eq!(with_repeated(line, &cases(&["b", "c"]), &[])["lost"], json!([]));
}
