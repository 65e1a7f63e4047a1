//! Ctrl-C at any moment: operations in flight are finished, no new ones begin, and the state is accurate.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use serde_json::json;

use super::campaign::{Tally, campaign, sample};
use super::moments::{Moment, mutations, slow_down, speed_up};
use super::subject::{Kind, Phase, Subject};
use crate::support::deployments;
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
        // A pending NAT gateway stays pending and a VPC link in its state, so that only a canceled wait ends.
        let freeze_links = |frozen: bool| {
            if self.kind == Kind::Gateway {
                deployments::set_links(subject.proxy.account(), &json!({ "frozen": frozen }));
            }
        };
        let on_stop = || {
            subject.proxy.nat_pending(Lasts::UntilSet);
            freeze_links(true);
        };
        let interrupted = interrupt(&subject.workspace, running, &subject.proxy, on_stop);
        subject.proxy.nat_pending(Lasts::NOT_AT_ALL);

        let (run, calls) = (interrupted.run, subject.proxy.calls());
        let tally = Tally { faults: 1, ..Tally::of(&subject.proxy) };
        eprintln!("{} calls after the stop request, code {}", calls.len() - interrupted.begun, run.code);
        assert!(run.code == 1 || run.code == 0, "{run}");
        let log = std::fs::read(&log).expect("there is a log").split_off(usize::try_from(logged).expect("it is short"));
        let in_flight = operations_in_flight(&String::from_utf8_lossy(&log));
        assert_nothing_new(calls, interrupted.begun, in_flight);
        speed_up(&subject.proxy);
        subject.assert_state_is_accurate();

        freeze_links(false);
        subject.finish(phase);
        if phase != Phase::Destroy {
            subject.destroy();
        }
        subject.proxy.account().assert_nothing_of_ours_is_left();
        tally
    }
}

/// The number of operations in flight when the provider received the stop request, according to its log. Panics if one
/// has started later.
fn operations_in_flight(log: &str) -> usize {
    let verbs = |verbs: [&'static str; 3]| move |line: &str| verbs.iter().any(|verb| line.starts_with(verb));
    let (begins, has_ended) = (verbs(["creating", "updating", "deleting"]), verbs(["created", "updated", "deleted"]));
    let lines =
        log.lines().filter_map(|line| line.split_once("provider.terraform-provider-fgw: ")).map(|(_, message)| message);
    let (mut in_flight, mut stopped) = (BTreeSet::new(), false);
    for line in lines {
        let slot = line.split_once(' ').map_or("", |(_, rest)| rest);
        stopped |= line.starts_with(STOPPED);
        if let (true, Some((slot, _))) = (begins(line), slot.split_once(" started: ")) {
            assert!(!stopped, "started after the stop request: {line}");
            in_flight.insert(slot);
        } else if !stopped && (begins(line) || has_ended(line)) {
            let is_of = |it: &&str| slot.strip_prefix(*it).is_some_and(|rest| rest.starts_with([' ', ':']));
            in_flight.retain(|it| !is_of(it));
        }
    }
    assert!(stopped, "the provider received no stop request");
    in_flight.len()
}

/// Panics if the calls from number `begun` on create or delete more objects than operations were in flight. Changes of
/// one API are serialized, so an operation may be in flight before its first call. Tag calls do not count, because the
/// root is marked at the end, nor do retries, nor the rules of a network ACL, which are set one by one.
fn assert_nothing_new(mut calls: Vec<Record>, begun: usize, in_flight: usize) {
    let later = calls.split_off(begun);
    let of = |record: &Record| (record.call.action.clone(), record.call.params.clone());
    let earlier: BTreeSet<_> = calls.iter().map(of).collect();
    let changes = |action: &str| action.starts_with("Create") || action.starts_with("Delete");
    let begins = |action: &str| changes(action) && !action.ends_with("Tags") && !action.ends_with("NetworkAclEntry");
    let new: BTreeSet<_> = later.iter().filter(|call| begins(&call.call.action)).map(of).collect();
    let new: Vec<_> = new.difference(&earlier).collect();
    assert!(new.len() <= in_flight, "{in_flight} operations were in flight, but these begin after Ctrl-C: {new:#?}");
}

#[test]
fn an_operation_is_in_flight_from_its_start_to_its_end() {
    let line =
        |text: &str| format!("2026-01-01T00:00:00.000Z [DEBUG] provider.terraform-provider-fgw: {text}: @module=fgw\n");
    let before = ["creating eip.1 started", "deleting eip.10 started", "created eip.1 a-1 2 ms, 1 of 3"];
    let more = [
        "creating route.GET / started",
        "deleted along b-1 2 ms, 2 of 3",
        STOPPED,
        "created route.GET / r 2 ms, 3 of 3",
    ];
    let log: String = before.into_iter().chain(more).map(line).collect();
    assert_eq!(operations_in_flight(&log), 2);
    let late = log + &line("creating d started");
    assert!(std::panic::catch_unwind(|| operations_in_flight(&late)).is_err());
}

impl Display for Interrupt {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}, {}", self.kind, self.moment)
    }
}
