//! Scripted faults: the calls that they affect, when they occur, and what the caller sees.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::call::Call;

/// What the caller sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// An AWS error in the protocol of the call.
    Answer { status: u16, code: String, message: String },
    /// An HTTP 500 with a web page instead of an AWS error, as emulators return it for a call that they lack.
    Page,
    /// The connection ends without an answer.
    Reset,
    /// No answer, and the connection stays open: the timeout of the caller must end it.
    Hang,
    /// The answer is delayed.
    Delay(Duration),
}

/// A fault, built from left to right: `Fault::on("CreateSubnet").nth(3).after_work().reset()`.
#[derive(Clone)]
pub(crate) struct Fault {
    action: String,
    service: Option<String>,
    strikes: Strikes,
    when: Option<Arc<Predicate>>,
    pub(super) after_work: bool,
    pub(super) effect: Effect,
    seen: Arc<AtomicUsize>,
}

type Predicate = dyn Fn(&Call) -> bool + Send + Sync;

#[derive(Clone, Copy, Debug)]
enum Strikes {
    Always,
    Nth(usize),
    First(usize),
}

impl Fault {
    /// Affects every call of this action, before the emulator receives it. The default effect is a 500. `*` is any
    /// action.
    pub(crate) fn on(action: &str) -> Self {
        Self {
            action: action.into(),
            service: None,
            strikes: Strikes::Always,
            when: None,
            after_work: false,
            effect: Effect::Answer { status: 500, code: "InternalError".into(), message: "scripted".into() },
            seen: Arc::default(),
        }
    }

    /// Only calls of this service: `CreateRoute` and `TagResource` exist in several services.
    pub(crate) fn service(mut self, service: &str) -> Self {
        self.service = Some(service.into());
        self
    }

    /// Only the nth matching call, counted from 1.
    pub(crate) fn nth(mut self, number: usize) -> Self {
        self.strikes = Strikes::Nth(number);
        self
    }

    /// Only the first `count` matching calls.
    pub(crate) fn first(mut self, count: usize) -> Self {
        self.strikes = Strikes::First(count);
        self
    }

    /// Only calls for which this holds; others are not counted. The closure may have state, such as a token bucket or a
    /// clock.
    pub(crate) fn when(mut self, holds: impl Fn(&Call) -> bool + Send + Sync + 'static) -> Self {
        self.when = Some(Arc::new(holds));
        self
    }

    /// The emulator executes the call first: the caller loses only the answer.
    pub(crate) fn after_work(mut self) -> Self {
        self.after_work = true;
        self
    }

    pub(crate) fn answer(mut self, status: u16, code: &str, message: &str) -> Self {
        self.effect = Effect::Answer { status, code: code.into(), message: message.into() };
        self
    }

    pub(crate) fn page(mut self) -> Self {
        self.effect = Effect::Page;
        self
    }

    pub(crate) fn reset(mut self) -> Self {
        self.effect = Effect::Reset;
        self
    }

    pub(crate) fn hang(mut self) -> Self {
        self.effect = Effect::Hang;
        self
    }

    pub(crate) fn delay(mut self, by: Duration) -> Self {
        self.effect = Effect::Delay(by);
        self
    }

    /// Counts the call if it matches, and returns whether the fault affects it.
    pub(super) fn strikes(&self, call: &Call) -> bool {
        let named = self.action == "*" || self.action == call.action;
        let served = self.service.as_ref().is_none_or(|service| *service == call.service);
        if !named || !served || self.when.as_ref().is_some_and(|holds| !holds(call)) {
            return false;
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        match self.strikes {
            Strikes::Always => true,
            Strikes::Nth(nth) => number == nth,
            Strikes::First(count) => number <= count,
        }
    }
}

impl Debug for Fault {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {:?} {:?}", self.action, self.strikes, self.effect)
    }
}
