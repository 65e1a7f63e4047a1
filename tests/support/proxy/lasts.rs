//! How long AWS keeps a state of an object that ends by itself, such as `pending`.

use std::time::{Duration, Instant};

/// When such a state ends. Tests count the answers that show it, or end it themselves, so that a fast machine sees the
/// same as a slow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lasts {
    /// After this time. Only the benchmark wants that: it measures time.
    For(Duration),
    /// After this many answers that show the state of the object.
    Looks(usize),
    /// When the test says something else.
    UntilSet,
}

impl Lasts {
    /// There is no such state.
    pub(crate) const NOT_AT_ALL: Self = Self::Looks(0);
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
    looks: usize,
}

impl Begun {
    pub(super) fn now() -> Self {
        Self { at: Instant::now(), looks: 0 }
    }

    /// Whether the object is still in it.
    pub(super) fn goes_on(&self, lasts: Lasts) -> bool {
        match lasts {
            Lasts::For(duration) => self.at.elapsed() < duration,
            Lasts::Looks(count) => self.looks < count,
            Lasts::UntilSet => true,
        }
    }

    /// An answer has shown it.
    pub(super) fn shown(&mut self) {
        self.looks += 1;
    }
}
