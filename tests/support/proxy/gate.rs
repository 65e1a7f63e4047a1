//! A gate that pauses AWS: while it is closed, no call is executed or answered.

use std::fmt::{self, Debug, Formatter};
use std::sync::Mutex;

use tokio::sync::watch;

use super::lock;
use super::log::Log;

/// Every call passes the gate twice: before it is executed, and before it is answered.
#[derive(Default)]
pub(super) struct Gate {
    closed: watch::Sender<bool>,
    moment: Mutex<Option<Box<Moment>>>,
}

type Moment = dyn Fn(&Log) -> bool + Send;

impl Gate {
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Closes the gate as soon as the condition holds for the log.
    pub(super) fn close_when(&self, moment: impl Fn(&Log) -> bool + Send + 'static) {
        *lock(&self.moment) = Some(Box::new(moment));
    }

    pub(super) fn open(&self) {
        let mut moment = lock(&self.moment);
        *moment = None;
        self.closed.send_replace(false);
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Checks the condition after an addition to the log. The lock is held until the gate is closed: otherwise the gate
    /// could be opened in between, and then stay closed forever.
    pub(super) fn logged(&self, log: &Log) {
        let moment = lock(&self.moment);
        if moment.as_ref().is_some_and(|moment| moment(log)) {
            self.close();
        }
    }

    /// Waits while the gate is closed.
    pub(super) async fn pass(&self) {
        let mut closed = self.closed.subscribe();
        closed.wait_for(|closed| !closed).await.expect("the gate is dropped after the calls");
    }
}

impl Debug for Gate {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_closed() { "closed" } else { "open" })
    }
}
