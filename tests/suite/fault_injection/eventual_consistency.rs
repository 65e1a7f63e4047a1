//! Eventual consistency: for a while, AWS answers as if a new object did not exist.

use std::fmt::{self, Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::lasts::Lasts;

/// The number of answers from which AWS omits each new object.
const HIDDEN: usize = 6;

struct Case(Kind, Phase);

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {:?}", self.1, self.0)
    }
}

#[test]
fn hidden_new_objects_are_awaited_and_created_once() {
    let kinds = [Kind::Network, Kind::Gateway];
    let cases = kinds.into_iter().flat_map(|kind| [Phase::Create, Phase::Change].map(|phase| Case(kind, phase)));
    campaign("Each new object unknown to AWS at first", sample(cases.collect(), 2), |Case(kind, phase)| {
        let subject = Subject::new(*kind);
        subject.prepare(*phase);
        subject.proxy.hide_new_objects(Lasts::Answers(HIDDEN));
        subject.run(*phase).succeeded();
        let tally = Tally::of(&subject.proxy);
        subject.proxy.hide_new_objects(Lasts::NOT_AT_ALL);
        // An object that was created twice would be orphaned.
        subject.assert_state_is_accurate();
        subject.workspace.assert_nothing_to_do();
        subject.destroy();
        assert!(tally.faults >= 5 * HIDDEN, "too few calls referred to a hidden object: {tally:?}");
        tally
    });
}
