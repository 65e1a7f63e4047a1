//! Eventual consistency: AWS answers for a while as if what it has just made did not exist.

use std::fmt::{self, Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::lasts::Lasts;

/// How often AWS answers of each object that it has made as if that did not exist.
const UNKNOWN: usize = 6;

struct Case(Kind, Phase);

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {:?}", self.1, self.0)
    }
}

#[test]
fn what_aws_does_not_know_yet_is_waited_for_and_made_once() {
    let kinds = [Kind::Network, Kind::Gateway];
    let cases = kinds.into_iter().flat_map(|kind| [Phase::Create, Phase::Change].map(|phase| Case(kind, phase)));
    campaign("Each new object unknown to AWS at first", sample(cases.collect(), 2), |Case(kind, phase)| {
        let subject = Subject::new(*kind);
        subject.prepare(*phase);
        subject.proxy.hide_newborns(Lasts::Looks(UNKNOWN));
        subject.run(*phase).succeeded();
        let tally = Tally::of(&subject.proxy);
        subject.proxy.hide_newborns(Lasts::NOT_AT_ALL);
        // What was made twice would be orphaned.
        subject.assert_state_is_true();
        subject.workspace.assert_nothing_to_do();
        subject.destroy();
        assert!(tally.faults >= 5 * UNKNOWN, "AWS was asked for hardly anything that it did not know: {tally:?}");
        tally
    });
}
