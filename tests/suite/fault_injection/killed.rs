//! kill -9 at any moment, of Terraform, of the provider, or of both. The next run finds the remaining objects by their
//! tags.

use std::fmt::{Display, Formatter};

use serde_json::Value;

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, Victim, mutations, slow_down};
use super::recovery;
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::log::Record;
use crate::support::terraform::Workspace;

#[test]
fn a_killed_run_of_a_network_can_be_completed() {
    campaign("kill -9, network", sample(kills(Kind::Network), 4), |kill| kill.run(&mut Subject::new(kill.kind)));
}

#[test]
fn a_killed_run_of_a_gateway_can_be_completed() {
    campaign("kill -9, gateway", sample(kills(Kind::Gateway), 3), |kill| kill.run(&mut Subject::new(kill.kind)));
}

/// A remote backend contains the state from before the killed run.
#[test]
fn a_killed_run_with_remote_state_can_be_completed() {
    let kills = [Kind::Network, Kind::Gateway].into_iter().flat_map(|kind| {
        let rotating = Moment::all().into_iter().enumerate();
        rotating.map(move |(index, moment)| Kill { kind, moment, victim: Victim::ALL[index % 3] })
    });
    campaign("kill -9, remote state", sample(kills.collect(), 3), |kill| {
        kill.run(&mut Subject::with_remote_state(kill.kind))
    });
}

/// Two networks may have the same name, if their ranges differ: the network of another workspace is not taken for a
/// leftover and not modified. Two gateways would need different domains and log groups, and the same code finds them.
#[test]
fn a_network_of_the_same_name_in_another_workspace_is_kept() {
    let rotating = Moment::all().into_iter().enumerate();
    let kills = rotating.map(|(index, moment)| Kill { kind: Kind::Network, moment, victim: Victim::ALL[index % 3] });
    campaign("kill -9, with a network of the same name", sample(kills.collect(), 1), |kill| {
        let mut subject = Subject::new(kill.kind);
        let neighbor = Workspace::new(&subject.proxy);
        neighbor.config(
            "resource \"fgw_four_tier_vpc\" \"this\" {\n  vpc_name = \"main\"\n  cidr_block = \"10.9.0.0/16\"\n  num_nat_gateways = 1\n}\n",
        );
        neighbor.apply(&[]).succeeded();
        subject.neighbors = crate::state_check::existing(subject.proxy.account());
        let before = listed(&subject);
        let tally = kill.run(&mut subject);
        assert_eq!(listed(&subject), before, "the network of the other workspace was modified");
        neighbor.assert_nothing_to_do();
        tally
    });
}

/// A network of another workspace that has the name and the range of a killed one looks like a leftover. The create
/// stops because of both, and changes neither.
#[test]
fn an_equal_network_in_another_workspace_stops_a_create() {
    let mut subject = Subject::new(Kind::Network);
    let neighbor = Workspace::new(&subject.proxy);
    neighbor.config(NEIGHBOR);
    neighbor.apply(&[]).succeeded();
    subject.neighbors = crate::state_check::existing(subject.proxy.account());
    let before = listed(&subject);
    subject.prepare(Phase::Create);
    let vpc = recovery::roots(&subject).remove(0);
    subject.workspace.apply(&[]).failed_with(&format!("{} exists already", vpc.id));
    assert_eq!(subject.proxy.mutations().len(), 0);
    assert_eq!(listed(&subject), before, "the network of the other workspace was modified");
    neighbor.config(&NEIGHBOR.replace("10.0.0.0/16", "10.9.0.0/16"));
    neighbor.apply(&[]).succeeded();
    subject.neighbors = crate::state_check::existing(subject.proxy.account());
    subject.run(Phase::Create).succeeded();
    subject.destroy();
}

const NEIGHBOR: &str = r#"
resource "fgw_four_tier_vpc" "this" {
  vpc_name         = "main"
  cidr_block       = "10.0.0.0/16"
  num_nat_gateways = 1
}
"#;

/// If a create is killed between its last call, which marks the root as ready, and the write of the state, a complete
/// network remains. The next create stops because of it, and names it. It can be imported.
#[test]
fn a_network_killed_before_the_last_answer_is_found() {
    let subject = Subject::new(Kind::Network);
    subject.prepare(Phase::Create);
    slow_down(&subject.proxy);
    let marks = |it: &Record| it.worked.is_some() && it.call.params.values().any(|value| value == "ready");
    subject.proxy.pause_when(1, marks);
    let running = subject.workspace.start(&Subject::command(Phase::Create));
    Victim::Both.kill(running, &subject.proxy);
    assert_eq!(recovery::roots(&subject).remove(0).state, "ready");
    recovery::import_and_finish(&subject);
    subject.destroy();
}

struct Kill {
    kind: Kind,
    moment: Moment,
    victim: Victim,
}

fn kills(kind: Kind) -> Vec<Kill> {
    let kill = |moment| Victim::ALL.map(|victim| Kill { kind, moment, victim });
    Moment::all().into_iter().flat_map(kill).collect()
}

impl Kill {
    fn run(&self, subject: &mut Subject) -> Tally {
        let phase = self.moment.phase;
        let mutations = mutations(self.kind, phase);
        subject.prepare(phase);
        let before = subject.objects();
        slow_down(&subject.proxy);
        self.moment.stops(subject, mutations);
        let running = subject.workspace.start(&Subject::command(phase));
        self.victim.kill(running, &subject.proxy);
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };

        // A killed Terraform does not save results that it has not received. It leaves no lock that a user must remove,
        // because the lock of local state ends with its process.
        assert_eq!(subject.objects(), before, "the run has changed the state");
        match phase {
            Phase::Create => recovery::import_and_finish(subject),
            Phase::Change => {
                recovery::assert_plan_shows_leftovers(subject);
                subject.finish(phase);
            }
            // Some cases repeat the destroy, the others apply instead.
            Phase::Destroy if self.moment.share.step % 2 == 1 => subject.finish(phase),
            Phase::Destroy => {
                recovery::assert_plan_shows_leftovers(subject);
                subject.finish(Phase::Create);
            }
        }
        subject.destroy();
        tally
    }
}

impl Display for Kill {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}, {}, {}", self.kind, self.moment, self.victim)
    }
}

/// All objects of the neighbor's network in the account, including their tags.
fn listed(subject: &Subject) -> Vec<Value> {
    let vpc = recovery::roots(subject).into_iter().find(|root| subject.neighbors.contains(&root.id));
    let vpc = vpc.expect("the neighbor has a network").id;
    let all = subject.proxy.account().list();
    let objects =
        all.as_object().expect("a listing is a map").values().flat_map(|list| list.as_array().expect("a list"));
    let of_neighbor = |object: &&Value| object.to_string().contains(&vpc);
    let mut theirs: Vec<Value> = objects.filter(of_neighbor).cloned().collect();
    theirs.sort_by_key(Value::to_string);
    theirs
}
