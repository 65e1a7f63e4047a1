//! Deletions that AWS answers with `NotFound` for another object than the deleted one: nothing counts as deleted that
//! still exists. Each deletion receives the code of every kind.

mod gateways;
mod networks;

use crate::cloud::Failure;

/// The deletions that lost their object, or were not repeated.
#[derive(Default)]
struct Verdicts {
    cases: usize,
    lost: Vec<String>,
}

impl Verdicts {
    /// Judges a deletion whose calls all receive the foreign answer, while the object exists.
    fn always(&mut self, name: &str, answer: &str, result: &Result<(), Failure>) {
        self.cases += 1;
        if result.is_ok() {
            self.lost.push(format!("{name} after {answer}: the object counts as deleted"));
        }
    }

    /// Judges a deletion of which only the first call receives the foreign answer.
    fn once(&mut self, name: &str, answer: &str, result: &Result<(), Failure>, calls: usize) {
        if result.is_ok() && calls < 2 {
            self.lost.push(format!("{name} after {answer}: the call was not repeated"));
        }
    }

    fn assert_nothing_is_lost(self, at_least: usize) {
        let lost = self.lost.iter().filter(|it| it.ends_with("counts as deleted")).count();
        assert!(self.lost.is_empty(), "{lost} of {} cases lost the object:\n{}", self.cases, self.lost.join("\n"));
        assert!(self.cases >= at_least, "only {} cases", self.cases);
    }
}
