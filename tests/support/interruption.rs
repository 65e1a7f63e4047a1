//! Ctrl-C in the middle of a run. AWS stands still from the chosen moment until the provider knows that it has to stop:
//! what begins after that has begun in spite of it, however fast or slow Terraform passes on the signal.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::proxy::Proxy;
use super::terraform::{Run, Running, Workspace};
use super::wait::until;

/// What the provider logs when Terraform asks it to stop.
pub(crate) const STOPPED: &str = "Terraform requested a stop";

/// A run that got Ctrl-C.
pub(crate) struct Interrupted {
    pub(crate) run: Run,
    /// How many calls of the log had begun when the provider knew.
    pub(crate) begun: usize,
}

/// Sends Ctrl-C to a run when AWS stands still, and lets AWS go on when the provider knows, after `heard`.
pub(crate) fn interrupt(
    workspace: &Workspace,
    mut running: Running,
    proxy: &Proxy,
    heard: impl FnOnce(),
) -> Interrupted {
    running.reach(|| proxy.stands_still());
    let mut log = Tail::at_the_end_of(&workspace.log());
    running.interrupt();
    until("the provider is asked to stop", || log.shows(STOPPED.as_bytes()));
    let begun = proxy.count_like(|_| true);
    heard();
    proxy.go_on();
    Interrupted { run: running.end(), begun }
}

/// What is written to a file from now on.
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
        // The text may come in two pieces.
        let kept = self.read.len().saturating_sub(text.len());
        self.read.drain(..kept);
        self.file.read_to_end(&mut self.read).expect("a log can be read");
        self.read.windows(text.len()).any(|window| window == text)
    }
}
