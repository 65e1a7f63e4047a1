//! Ctrl-C at any moment: what is in flight is finished, nothing new begins, and state is true.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, calm_down, mutations, slow_down};
use super::subject::{Kind, Phase, Subject};
use crate::support::interruption::interrupt;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;

#[test]
fn ctrl_c_at_any_moment_of_a_network_loses_nothing() {
    campaign("Ctrl-C, network", sample(interrupts(Kind::Network), 3), Interrupt::run);
}

#[test]
fn ctrl_c_at_any_moment_of_a_gateway_loses_nothing() {
    campaign("Ctrl-C, gateway", sample(interrupts(Kind::Gateway), 2), Interrupt::run);
}

struct Interrupt {
    kind: Kind,
    moment: Moment,
}

fn interrupts(kind: Kind) -> Vec<Interrupt> {
    Moment::all().into_iter().map(|moment| Interrupt { kind, moment }).collect()
}

impl Interrupt {
    fn run(&self) -> Tally {
        let (subject, phase) = (Subject::new(self.kind), self.moment.phase);
        let mutations = mutations(self.kind, phase);
        subject.prepare(phase);
        slow_down(&subject.proxy);
        self.moment.stops(&subject, mutations);
        let running = subject.workspace.start(&Subject::command(phase));
        // What is pending stays so: only a wait that is cut short ends.
        let heard = || subject.proxy.nat_pending(Lasts::UntilSet);
        let interrupted = interrupt(&subject.workspace, running, &subject.proxy, heard);
        subject.proxy.nat_pending(Lasts::NOT_AT_ALL);

        let (run, calls) = (interrupted.run, subject.proxy.calls());
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };
        eprintln!("{} calls after it was heard, code {}", calls.len() - interrupted.begun, run.code);
        assert!(run.code == 1 || run.code == 0, "{run}");
        assert_nothing_new(calls, interrupted.begun);
        calm_down(&subject.proxy);
        subject.assert_state_is_true();

        subject.finish(phase);
        if phase != Phase::Destroy {
            subject.destroy();
        }
        subject.proxy.account().assert_nothing_of_ours_is_left();
        tally
    }
}

/// Panics if the calls from this one on begin to make or delete an object. The root is marked at the end, what was
/// already tried may be tried again, and an operation that has begun is finished. The rules of an ACL are set one by
/// one, and what has been begun is finished.
fn assert_nothing_new(mut calls: Vec<Record>, heard: usize) {
    let later = calls.split_off(heard);
    let of = |record: &Record| (record.call.action.clone(), record.call.params.clone());
    let begun: BTreeSet<_> = calls.iter().map(of).collect();
    let makes = |action: &str| action.starts_with("Create") || action.starts_with("Delete");
    let begins = |action: &str| makes(action) && !action.ends_with("Tags") && !action.ends_with("NetworkAclEntry");
    let new = later.iter().filter(|call| begins(&call.call.action) && !finishes(call, &calls)).map(of);
    let new: Vec<_> = new.filter(|call| !begun.contains(call)).collect();
    assert!(new.is_empty(), "begun after Ctrl-C: {new:#?}");
}

/// Whether a call is the second one of an operation whose first one had begun.
fn finishes(later: &Record, begun: &[Record]) -> bool {
    let is_second_of = |(first, second, object): &(&str, &str, &str)| {
        let is_first =
            |record: &Record| record.call.action == *first && record.call.param(object) == later.call.param(object);
        later.call.action == *second && begun.iter().any(is_first)
    };
    OPERATIONS.iter().any(is_second_of)
}

/// Operations with more than one call: an earlier one, the one that makes or deletes, and the parameter that has the
/// same value in both.
const OPERATIONS: &[(&str, &str, &str)] = &[("DetachInternetGateway", "DeleteInternetGateway", "InternetGatewayId")];

impl Display for Interrupt {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}, {}", self.kind, self.moment)
    }
}
