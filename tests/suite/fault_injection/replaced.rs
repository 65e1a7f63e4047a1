//! kill -9 during the replacement of a network: of a tainted one, and of one with a `create_before_destroy` dependent,
//! which makes Terraform create the new network first. Then the account contains both networks, and the state may or
//! may not contain the old one.

use std::fmt::{Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Share, Victim, mutations, slow_down};
use super::recovery;
use super::subject::{Kind, Phase, Subject};

#[test]
fn a_killed_replacement_of_a_network_can_be_completed() {
    campaign("kill -9, replaced network", sample(kills(), 2), |kill| kill.run(&Subject::new(Kind::Network)));
}

/// A remote backend contains only the old network then, even if the new one is complete. OpenTofu keeps local state the
/// same way.
#[test]
fn a_killed_replacement_with_remote_state_can_be_completed() {
    campaign("kill -9, replaced network, remote state", sample(kills(), 3), |kill| {
        kill.run(&Subject::with_remote_state(Kind::Network))
    });
}

fn kills() -> Vec<Kill> {
    let shares = Share::all(10).into_iter().enumerate();
    let kills = shares.flat_map(|(index, share)| {
        let victims = [Victim::ALL[index % 3], Victim::ALL[(index + 1) % 3]];
        [Why::Taint, Why::Dependent].into_iter().zip(victims).map(move |(why, victim)| Kill { why, share, victim })
    });
    kills.collect()
}

/// The reason for the replacement of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Taint,
    Dependent,
}

struct Kill {
    why: Why,
    share: Share,
    victim: Victim,
}

impl Kill {
    fn run(&self, subject: &Subject) -> Tally {
        let all = mutations(Kind::Network, Phase::Create) + mutations(Kind::Network, Phase::Destroy);
        subject.prepare(Phase::Create);
        if self.why == Why::Dependent {
            subject.workspace.write("dependent.tf", DEPENDENT);
        }
        subject.workspace.apply(&[]).succeeded();
        match self.why {
            Why::Taint => drop(subject.workspace.run(&["taint", "-no-color", subject.address()]).succeeded().clone()),
            Why::Dependent => subject.move_to_another_range(),
        }
        let before = subject.workspace.state().0;
        subject.proxy.clear_calls();
        slow_down(&subject.proxy);
        self.share.stops(&subject.proxy, all);
        let running = subject.workspace.start(&Subject::command(Phase::Create));
        self.victim.kill(running, &subject.proxy);
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };
        if subject.workspace.stores_remotely() && self.victim != Victim::Provider {
            assert_eq!(subject.workspace.state().0, before, "the backend has a state of the killed run");
        }
        recovery::import_and_finish(subject);
        subject.destroy();
        tally
    }
}

impl Display for Kill {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let why = match self.why {
            Why::Taint => "a tainted network is replaced",
            Why::Dependent => "a dependent forces create_before_destroy on the network",
        };
        write!(out, "{why}, {}, {}", self.share, self.victim)
    }
}

const DEPENDENT: &str = r#"
resource "terraform_data" "dependent" {
  triggers_replace = fgw_four_tier_vpc.this.id

  lifecycle {
    create_before_destroy = true
  }
}
"#;
