//! Ctrl-C at any moment: what is in flight is finished, nothing new begins, and state is true.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::time::{Duration, Instant};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, calm_down, slow_down};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::log::Record;

/// How long a call is on its way, there and back.
const LATENCY: Duration = Duration::from_millis(200);
/// How long Terraform may take to end, beside the time of the calls that are in flight at the signal. Five seconds are
/// promised; a machine that runs other tests at the same time has a multiple.
const PROMISED: Duration = Duration::from_secs(15);
/// How long it takes until the provider knows, and the second call of an operation that has begun meanwhile begins:
/// Terraform writes the state before it passes on the signal.
const HEARD: Duration = Duration::from_millis(1800);

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
        let moment = self.moment.of(&subject);
        subject.prepare(phase);
        slow_down(&subject.proxy, LATENCY);
        let mut running = subject.workspace.start(&Subject::command(phase));
        running.reach(moment);
        let signalled = Instant::now();
        running.interrupt();
        let run = running.end();
        let ended = Instant::now();

        let calls = subject.proxy.calls();
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };
        let in_flight = calls.iter().filter(|call| call.started <= signalled).filter_map(|call| call.ended).max();
        let took = ended - in_flight.unwrap_or(signalled).max(signalled);
        eprintln!("ended {took:?} after the calls in flight, with code {}", run.code);
        assert!(took <= PROMISED, "Terraform takes {took:?} beside the calls in flight:\n{run}");
        assert!(run.code == 1 || run.code == 0, "{run}");
        assert_nothing_new(&calls, signalled + HEARD);
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

/// Panics if an object is begun to be made or deleted after this. The root is marked at the end, and what was already
/// tried may be tried again. The rules of an ACL are set one by one, and what has been begun is finished.
fn assert_nothing_new(calls: &[Record], after: Instant) {
    let of = |record: &Record| (record.call.action.clone(), record.call.params.clone());
    let begun: BTreeSet<_> = calls.iter().filter(|call| call.started <= after).map(of).collect();
    let makes = |action: &str| action.starts_with("Create") || action.starts_with("Delete");
    let begins = |action: &str| makes(action) && !action.ends_with("Tags") && !action.ends_with("NetworkAclEntry");
    let late = calls.iter().filter(|call| call.started > after && begins(&call.call.action));
    let new: Vec<_> = late.map(of).filter(|call| !begun.contains(call)).collect();
    assert!(new.is_empty(), "begun after Ctrl-C: {new:#?}");
}

impl Display for Interrupt {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}, {}", self.kind, self.moment)
    }
}
