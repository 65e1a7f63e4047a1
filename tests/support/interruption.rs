//! Ctrl-C in the middle of a run. The proxy pauses AWS from the chosen moment until the provider has received the stop
//! request. An operation that begins later therefore ignores the request, however fast or slow Terraform forwards the
//! signal.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::proxy::Proxy;
use super::terraform::{Run, Running, Workspace};
use super::wait::until;

/// The provider's log line for a stop request from Terraform.
pub(crate) const STOPPED: &str = "Terraform requested a stop";

/// A run that was interrupted with Ctrl-C.
pub(crate) struct Interrupted {
    pub(crate) run: Run,
    /// The number of logged calls that had begun when the provider received the stop request.
    pub(crate) begun: usize,
}

/// Sends Ctrl-C to a run once AWS is paused. Calls `on_stop` after the provider has received the stop request, then
/// resumes AWS.
pub(crate) fn interrupt(
    workspace: &Workspace,
    mut running: Running,
    proxy: &Proxy,
    on_stop: impl FnOnce(),
) -> Interrupted {
    running.reach(|| proxy.is_paused());
    let mut log = Tail::at_the_end_of(&workspace.log());
    running.interrupt();
    until("the provider receives the stop request", || log.shows(STOPPED.as_bytes()));
    let begun = proxy.count_like(|_| true);
    on_stop();
    proxy.resume();
    Interrupted { run: running.end(), begun }
}

/// The part of a file that is written from now on.
struct Tail {
    file: File,
    read: Vec<u8>,
}

impl Tail {
    fn at_the_end_of(path: &Path) -> Self {
        let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        file.seek(SeekFrom::End(0)).expect("a log is a file");
        Self { file, read: Vec::new() }
    }

    fn shows(&mut self, text: &[u8]) -> bool {
        // The text may span two reads.
        let kept = self.read.len().saturating_sub(text.len());
        self.read.drain(..kept);
        self.file.read_to_end(&mut self.read).expect("a log can be read");
        self.read.windows(text.len()).any(|window| window == text)
    }
}
