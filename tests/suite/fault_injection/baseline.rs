//! The subjects without faults, as the baseline of the campaigns.

use super::subject::{Kind, Phase, Subject};

#[test]
fn state_is_accurate_in_every_phase_without_faults() {
    for kind in [Kind::Network, Kind::Gateway] {
        let subject = Subject::new(kind);
        for phase in Phase::ALL {
            subject.prepare(phase);
            subject.run(phase).succeeded();
            subject.assert_state_is_accurate();
            if phase == Phase::Change {
                subject.workspace.assert_nothing_to_do();
                subject.destroy();
            }
        }
        subject.proxy.account().assert_nothing_of_ours_is_left();
    }
}
