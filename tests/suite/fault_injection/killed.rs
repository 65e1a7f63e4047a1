//! kill -9 at any moment, of Terraform, of the provider, of both: the next run finds what was left, by its tags.

use std::fmt::{Display, Formatter};

use serde_json::Value;

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, Victim, mutations, slow_down};
use super::recovery;
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::log::Record;
use crate::support::terraform::Workspace;

#[test]
fn a_network_whose_run_is_killed_at_any_moment_is_found_and_finished() {
    campaign("kill -9, network", sample(kills(Kind::Network), 4), |kill| kill.run(&mut Subject::new(kill.kind)));
}

#[test]
fn a_gateway_whose_run_is_killed_at_any_moment_is_found_and_finished() {
    campaign("kill -9, gateway", sample(kills(Kind::Gateway), 3), |kill| kill.run(&mut Subject::new(kill.kind)));
}

/// Two networks may have the same name: that of another workspace is neither taken for a leftover nor touched. Gateways
/// need other domains and log groups then, and are found by the same code.
#[test]
fn a_killed_network_is_not_mistaken_for_the_finished_one_of_the_same_name_in_another_workspace() {
    let rotating = Moment::all().into_iter().enumerate();
    let kills = rotating.map(|(index, moment)| Kill { kind: Kind::Network, moment, victim: Victim::ALL[index % 3] });
    campaign("kill -9, with a network of the same name", sample(kills.collect(), 1), |kill| {
        let mut subject = Subject::new(kill.kind);
        let neighbour = Workspace::new(&subject.proxy);
        neighbour.config(
            "resource \"fgw_four_tier_vpc\" \"this\" {\n  vpc_name = \"main\"\n  cidr_block = \"10.9.0.0/16\"\n  num_nat_gateways = 1\n}\n",
        );
        neighbour.apply(&[]).succeeded();
        subject.neighbours = super::state_check::existing(subject.proxy.account());
        let before = listed(&subject);
        let tally = kill.run(&mut subject);
        assert_eq!(listed(&subject), before, "the network of the other workspace was touched");
        neighbour.assert_nothing_to_do();
        tally
    });
}

/// Between the last call of a create, which marks the root as ready, and the moment at which Terraform has stored the
/// state, a kill leaves a whole network that no later create is stopped by: ready ones of the same name are legal. It
/// is complete, says so, and an import takes it over.
#[test]
fn a_create_that_is_killed_before_its_last_answer_has_left_a_whole_network_to_import() {
    let subject = Subject::new(Kind::Network);
    subject.prepare(Phase::Create);
    slow_down(&subject.proxy);
    let marks = |it: &Record| it.worked.is_some() && it.call.params.values().any(|value| value == "ready");
    subject.proxy.stand_still_when(1, marks);
    let running = subject.workspace.start(&Subject::command(Phase::Create));
    Victim::Both.die(running, &subject.proxy);
    let vpc = recovery::roots(&subject).remove(0);
    assert_eq!(vpc.state, "ready");
    subject.workspace.import(subject.address(), &vpc.id).succeeded();
    subject.workspace.assert_nothing_to_do();
    subject.assert_state_is_true();
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
        self.victim.die(running, &subject.proxy);
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };

        // Neither does a Terraform save what it was not told, nor does it leave a lock that anybody must break: the one
        // of local state ends with its process.
        assert_eq!(subject.objects(), before, "state is that of before the run");
        match phase {
            Phase::Create => recovery::take_over_and_finish(subject),
            Phase::Change => {
                recovery::assert_plan_shows_what_was_left(subject);
                subject.finish(phase);
            }
            // Who wanted it gone destroys again; who has changed his mind applies.
            Phase::Destroy if self.moment.share.step % 2 == 1 => subject.finish(phase),
            Phase::Destroy => {
                recovery::assert_plan_shows_what_was_left(subject);
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

/// All that the account holds of the neighbours' networks, tags included.
fn listed(subject: &Subject) -> Vec<Value> {
    let vpc = recovery::roots(subject).into_iter().find(|root| subject.neighbours.contains(&root.id));
    let vpc = vpc.expect("the neighbour has a network").id;
    let all = subject.proxy.account().list();
    let objects =
        all.as_object().expect("a listing is a map").values().flat_map(|list| list.as_array().expect("of lists"));
    let theirs = |object: &&Value| object.to_string().contains(&vpc);
    let mut theirs: Vec<Value> = objects.filter(theirs).cloned().collect();
    theirs.sort_by_key(Value::to_string);
    theirs
}
