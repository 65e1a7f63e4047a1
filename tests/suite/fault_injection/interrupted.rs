//! Ctrl-C at any moment: what is in flight is finished, nothing new begins, and state is true.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, calm_down, mutations, slow_down};
use super::subject::{Kind, Phase, Subject};
use crate::support::interruption::{STOPPED, interrupt};
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
        let log = subject.workspace.log();
        let logged = log.metadata().map_or(0, |file| file.len());
        let running = subject.workspace.start(&Subject::command(phase));
        // What is pending stays so: only a wait that is cut short ends.
        let heard = || subject.proxy.nat_pending(Lasts::UntilSet);
        let interrupted = interrupt(&subject.workspace, running, &subject.proxy, heard);
        subject.proxy.nat_pending(Lasts::NOT_AT_ALL);

        let (run, calls) = (interrupted.run, subject.proxy.calls());
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };
        eprintln!("{} calls after it was heard, code {}", calls.len() - interrupted.begun, run.code);
        assert!(run.code == 1 || run.code == 0, "{run}");
        let log = std::fs::read(&log).expect("there is a log").split_off(usize::try_from(logged).expect("it is short"));
        let in_flight = operations_in_flight(&String::from_utf8_lossy(&log));
        assert_nothing_new(calls, interrupted.begun, in_flight);
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

/// How many operations were in flight when the provider was told to stop, by its own log. Panics if one has started
/// later.
fn operations_in_flight(log: &str) -> usize {
    let verbs = |verbs: [&'static str; 3]| move |line: &str| verbs.iter().any(|verb| line.starts_with(verb));
    let (begins, has_ended) = (verbs(["Creating", "Updating", "Deleting"]), verbs(["created", "updated", "deleted"]));
    let lines =
        log.lines().filter_map(|line| line.split_once("provider.terraform-provider-fgw: ")).map(|(_, said)| said);
    let (mut in_flight, mut stopped) = (BTreeSet::new(), false);
    for line in lines {
        let slot = line.split_once(' ').map_or("", |(_, rest)| rest);
        stopped |= line.starts_with(STOPPED);
        if let (true, Some((slot, _))) = (begins(line), slot.split_once(" started: ")) {
            assert!(!stopped, "started after the provider was told to stop: {line}");
            in_flight.insert(slot);
        } else if !stopped && (begins(line) || has_ended(line)) {
            let is_of = |it: &&str| slot.strip_prefix(*it).is_some_and(|rest| rest.starts_with([' ', ':']));
            in_flight.retain(|it| !is_of(it));
        }
    }
    assert!(stopped, "the provider was not told to stop");
    in_flight.len()
}

/// Panics if the calls from this one on make or delete more objects than operations were in flight. Changes of one API
/// take turns, so an operation may have begun without a call. The root is marked at the end, what was already tried may
/// be tried again, and the rules of an ACL are set one by one.
fn assert_nothing_new(mut calls: Vec<Record>, heard: usize, in_flight: usize) {
    let later = calls.split_off(heard);
    let of = |record: &Record| (record.call.action.clone(), record.call.params.clone());
    let begun: BTreeSet<_> = calls.iter().map(of).collect();
    let makes = |action: &str| action.starts_with("Create") || action.starts_with("Delete");
    let begins = |action: &str| makes(action) && !action.ends_with("Tags") && !action.ends_with("NetworkAclEntry");
    let new: BTreeSet<_> = later.iter().filter(|call| begins(&call.call.action)).map(of).collect();
    let new: Vec<_> = new.difference(&begun).collect();
    assert!(new.len() <= in_flight, "{in_flight} operations were in flight, and after Ctrl-C begin {new:#?}");
}

#[test]
fn an_operation_is_in_flight_from_its_start_to_its_end() {
    let line =
        |text: &str| format!("2026-01-01T00:00:00.000Z [DEBUG] provider.terraform-provider-fgw: {text}: @module=fgw\n");
    let before = ["Creating eip.1 started", "Deleting eip.10 started", "created eip.1 a-1 2 ms, 1 of 3"];
    let more = [
        "Creating route.GET / started",
        "deleted along b-1 2 ms, 2 of 3",
        STOPPED,
        "created route.GET / r 2 ms, 3 of 3",
    ];
    let log: String = before.into_iter().chain(more).map(line).collect();
    assert_eq!(operations_in_flight(&log), 2);
    let late = log + &line("Creating d started");
    assert!(std::panic::catch_unwind(|| operations_in_flight(&late)).is_err());
}

impl Display for Interrupt {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}, {}", self.kind, self.moment)
    }
}
