//! The moments at which faults occur: spread over the mutating calls that a run without faults makes, while calls are
//! in flight.

use std::fmt::{Display, Formatter};
use std::sync::OnceLock;
use std::time::Duration;

use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::log::Record;
use crate::support::terraform::Running;
use crate::support::wait::until;

/// The number of moments of a campaign for each resource.
const MOMENTS: usize = 20;

/// A moment of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) phase: Phase,
    pub(super) share: Share,
}

/// A moment, as a share of the mutating calls that have begun or are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// From 0, the first mutating call, to `steps - 1`.
    pub(super) step: usize,
    pub(super) steps: usize,
    /// Whether AWS has executed the last of these calls and not yet answered it. Otherwise, that call has just begun.
    done: bool,
}

impl Moment {
    /// Twenty moments, spread over the three phases.
    pub(super) fn all() -> Vec<Self> {
        let moments = |(index, phase)| {
            let steps = MOMENTS / 3 + usize::from(index < MOMENTS % 3);
            Share::all(steps).into_iter().map(move |share| Self { phase, share })
        };
        Phase::ALL.into_iter().enumerate().flat_map(moments).collect()
    }

    /// Pauses AWS at this moment. The log of calls must be that of the phase, and empty.
    pub(super) fn stops(self, subject: &Subject, mutations: usize) {
        self.share.stops(&subject.proxy, mutations);
    }
}

impl Share {
    /// This many moments, evenly spread, alternately at the beginning of a call and before its answer.
    pub(super) fn all(steps: usize) -> Vec<Self> {
        (0..steps).map(|step| Self { step, steps, done: step % 2 == 1 }).collect()
    }

    /// Pauses AWS at this moment. A run without faults makes `all` mutating calls.
    pub(super) fn stops(self, proxy: &Proxy, all: usize) {
        // The first call is one of the moments. The last one is not, because the number of retries of a deletion
        // varies.
        let calls = 1 + self.step * (all - 1) / self.steps;
        eprintln!("{} of {all} mutating calls {}", calls, if self.done { "done" } else { "begun" });
        let counts = move |record: &Record| record.call.is_mutation() && (!self.done || record.worked.is_some());
        proxy.pause_when(calls, counts);
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
        write!(out, "{}/{} of the mutating calls {what}", self.step, self.steps)
    }
}

/// The latency of a call in each direction, so that several calls are in flight at most moments. No result depends on
/// it.
const LATENCY: Duration = Duration::from_millis(20);

/// Delays each call on its way to AWS, and the answer of each mutating call.
pub(super) fn slow_down(proxy: &Proxy) {
    proxy.latency(LATENCY);
    proxy.fault(Fault::on("*").when(|call| call.is_mutation()).after_work().delay(LATENCY));
}

/// Waits until all calls have ended, and removes the delays.
pub(super) fn speed_up(proxy: &Proxy) {
    proxy.finish_calls();
    proxy.latency(Duration::ZERO);
    proxy.clear_faults();
}

/// The processes that are killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Provider,
    Terraform,
    Both,
}

impl Victim {
    pub(super) const ALL: [Victim; 3] = [Victim::Provider, Victim::Terraform, Victim::Both];

    /// Kills the processes once AWS is paused. Waits until all processes and their calls have ended.
    pub(super) fn kill(self, mut running: Running, proxy: &Proxy) {
        running.reach(|| proxy.is_paused());
        match self {
            Victim::Provider => running.kill_providers(),
            Victim::Terraform => running.kill_terraform(),
            Victim::Both => running.kill(),
        }
        proxy.resume();
        let run = running.end();
        assert_eq!(run.code, if self == Victim::Provider { 1 } else { -9 }, "{run}");
        // An orphaned provider finishes the operations in flight, cannot store their results, and waits some time for a
        // new connection.
        until("no provider outlives its Terraform", || running.providers().is_empty());
        speed_up(proxy);
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

/// The number of mutating calls in a phase, counted once by a run without faults.
pub(super) fn mutations(kind: Kind, phase: Phase) -> usize {
    static COUNTS: [OnceLock<usize>; 6] = [const { OnceLock::new() }; 6];
    *COUNTS[kind as usize * Phase::ALL.len() + phase as usize].get_or_init(|| {
        let subject = Subject::new(kind);
        subject.prepare(phase);
        subject.run(phase).succeeded();
        subject.proxy.mutations().len()
    })
}
