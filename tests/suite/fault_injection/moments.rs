//! The moments at which runs are struck: spread over the calls that change something, as a run without damage makes
//! them, while calls are in flight.

use std::fmt::{Display, Formatter};
use std::sync::OnceLock;
use std::time::Duration;

use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::log::Record;
use crate::support::terraform::Running;
use crate::support::wait::until;

/// How many moments a campaign has for each resource.
const MOMENTS: usize = 20;

/// A moment of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) phase: Phase,
    pub(super) share: Share,
}

/// A moment by how much of the work has been begun, or done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Of `steps`, from 0: at the first call that changes something.
    pub(super) step: usize,
    pub(super) steps: usize,
    /// Whether AWS has done the work of so many calls, and the answer to the last one is not back yet; else the last
    /// one has just begun.
    done: bool,
}

impl Moment {
    /// Twenty, spread over the three phases.
    pub(super) fn all() -> Vec<Self> {
        let moments = |(index, phase)| {
            let steps = MOMENTS / 3 + usize::from(index < MOMENTS % 3);
            Share::all(steps).into_iter().map(move |share| Self { phase, share })
        };
        Phase::ALL.into_iter().enumerate().flat_map(moments).collect()
    }

    /// Has AWS stand still when it comes. The log of calls must be that of the phase, and is empty.
    pub(super) fn stops(self, subject: &Subject, mutations: usize) {
        self.share.stops(&subject.proxy, mutations);
    }
}

impl Share {
    /// This many, evenly spread, in turn at the beginning of a call and before its answer.
    pub(super) fn all(steps: usize) -> Vec<Self> {
        (0..steps).map(|step| Self { step, steps, done: step % 2 == 1 }).collect()
    }

    /// Has AWS stand still when it comes, where a run without damage makes `all` calls that change something.
    pub(super) fn stops(self, proxy: &Proxy, all: usize) {
        // The first call is among the moments. The last one is not: how often a deletion is tried again varies.
        let calls = 1 + self.step * (all - 1) / self.steps;
        eprintln!("{} of {all} changing calls {}", calls, if self.done { "done" } else { "begun" });
        let counts = move |record: &Record| record.call.is_mutation() && (!self.done || record.worked.is_some());
        proxy.stand_still_when(calls, counts);
    }
}

impl Display for Moment {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}, {}", self.phase, self.share)
    }
}

impl Display for Share {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let what = if self.done { "done and unanswered" } else { "begun" };
        write!(out, "{}/{} of the changing calls {what}", self.step, self.steps)
    }
}

/// How long a call is on its way, there and back: with that, several are in flight at most moments. Nothing depends on
/// it.
const LATENCY: Duration = Duration::from_millis(20);

/// Each call takes its time on its way to AWS, and each changing one as long on its way back.
pub(super) fn slow_down(proxy: &Proxy) {
    proxy.latency(LATENCY);
    proxy.fault(Fault::on("*").when(|call| call.is_mutation()).after_work().delay(LATENCY));
}

/// Waits until AWS has done what it was asked for before, and answers at once from then on.
pub(super) fn calm_down(proxy: &Proxy) {
    proxy.finish_calls();
    proxy.latency(Duration::ZERO);
    proxy.clear_faults();
}

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Provider,
    Terraform,
    Both,
}

impl Victim {
    pub(super) const ALL: [Victim; 3] = [Victim::Provider, Victim::Terraform, Victim::Both];

    /// Kills when AWS stands still, and waits until all is over: both processes, and the calls that they have made.
    pub(super) fn die(self, mut running: Running, proxy: &Proxy) {
        running.reach(|| proxy.stands_still());
        match self {
            Victim::Provider => running.kill_providers(),
            Victim::Terraform => running.kill_terraform(),
            Victim::Both => running.kill(),
        }
        proxy.go_on();
        let run = running.end();
        assert_eq!(run.code, if self == Victim::Provider { 1 } else { -9 }, "{run}");
        // It finishes what is in flight, stores it nowhere, and waits for a time whether anybody comes back.
        until("no provider outlives its Terraform", || running.providers().is_empty());
        calm_down(proxy);
    }
}

impl Display for Victim {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Victim::Provider => "the provider is killed",
            Victim::Terraform => "Terraform is killed",
            Victim::Both => "both are killed",
        })
    }
}

/// How many changing calls a phase makes, by a run without damage, which is made once.
pub(super) fn mutations(kind: Kind, phase: Phase) -> usize {
    static COUNTS: [OnceLock<usize>; 6] = [const { OnceLock::new() }; 6];
    *COUNTS[kind as usize * Phase::ALL.len() + phase as usize].get_or_init(|| {
        let subject = Subject::new(kind);
        subject.prepare(phase);
        subject.run(phase).succeeded();
        subject.proxy.mutations().len()
    })
}
