//! The subjects without any damage: what the campaigns stand on.

use super::subject::{Kind, Phase, Subject};

#[test]
fn the_subjects_are_made_changed_and_destroyed_and_state_is_true_at_every_step() {
    for kind in [Kind::Network, Kind::Gateway] {
        let subject = Subject::new(kind);
        for phase in Phase::ALL {
            subject.prepare(phase);
            subject.run(phase).succeeded();
            subject.assert_state_is_true();
            if phase == Phase::Change {
                subject.workspace.assert_nothing_to_do();
                subject.destroy();
            }
        }
        subject.proxy.account().assert_nothing_of_ours_is_left();
    }
}
