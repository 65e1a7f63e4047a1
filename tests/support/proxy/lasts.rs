//! How long an object stays in a transient state, such as `pending`.

use std::time::{Duration, Instant};

/// When a transient state ends. Tests count the answers that show it, or end it themselves, so that the result does not
/// depend on the speed of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lasts {
    /// After this time. Only the benchmark uses this, because it measures time.
    For(Duration),
    /// After this many answers that show the state of the object.
    Answers(usize),
    /// When the test sets another value.
    UntilSet,
}

impl Lasts {
    /// The state does not occur.
    pub(crate) const NOT_AT_ALL: Self = Self::Answers(0);
}

impl Default for Lasts {
    fn default() -> Self {
        Self::NOT_AT_ALL
    }
}

/// A state that an object has entered.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    at: Instant,
    answers: usize,
}

impl Begun {
    pub(super) fn now() -> Self {
        Self { at: Instant::now(), answers: 0 }
    }

    /// Whether the object is still in the state.
    pub(super) fn goes_on(&self, lasts: Lasts) -> bool {
        match lasts {
            Lasts::For(duration) => self.at.elapsed() < duration,
            Lasts::Answers(count) => self.answers < count,
            Lasts::UntilSet => true,
        }
    }

    /// Counts an answer that shows the state.
    pub(super) fn shown(&mut self) {
        self.answers += 1;
    }
}
