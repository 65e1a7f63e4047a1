//! kill -9 during a create, with a backend that writes the state only at the end of a run. A remote backend writes it
//! every 20 seconds, so a killed run may have created everything, and no state contains it. Nothing is built twice.

use std::fmt::{Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Share, Victim, mutations, slow_down};
use super::recovery;
use super::subject::{Kind, Phase, Subject};

#[test]
fn no_killed_create_is_doubled_if_its_state_is_lost() {
    let shares = Share::all(10).into_iter().map(Some).chain([None]).enumerate();
    let moments = shares.flat_map(|(index, share)| {
        let kinds = [Kind::Network, Kind::Gateway].into_iter();
        kinds.map(move |kind| Kill { kind, share, victim: Victim::ALL[index % 3] })
    });
    let mut kills: Vec<Kill> = moments.collect();
    // A sample contains the last moment of both kinds.
    kills.reverse();
    campaign("kill -9, state not yet saved", sample(kills, 3), Kill::run);
}

struct Kill {
    kind: Kind,
    /// `None` for a run that has finished, and is killed before it saves its state.
    share: Option<Share>,
    victim: Victim,
}

impl Kill {
    fn run(&self) -> Tally {
        let (subject, phase) = (Subject::new(self.kind), Phase::Create);
        let mutations = mutations(self.kind, phase);
        subject.prepare(phase);
        let tally = match self.share {
            Some(share) => {
                slow_down(&subject.proxy);
                share.stops(&subject.proxy, mutations);
                let running = subject.workspace.start(&Subject::command(phase));
                self.victim.kill(running, &subject.proxy);
                Tally::of(&subject.proxy)
            }
            None => {
                subject.run(phase).succeeded();
                Tally::of(&subject.proxy)
            }
        };
        subject.lose_state();
        recovery::import_and_finish(&subject);
        subject.destroy();
        Tally { faults: 1, ..tally }
    }
}

impl Display for Kill {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match self.share {
            Some(share) => write!(out, "{:?}, {share}, {}", self.kind, self.victim),
            None => write!(out, "{:?}, all calls done, {}", self.kind, Victim::Both),
        }
    }
}
