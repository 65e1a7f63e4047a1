//! Ends emulators and Terraform runs, and removes temporary directories, when the test process ends for any reason.
//!
//! Statics are never dropped, and a killed process runs no destructors. Therefore a small shell process cleans up: it
//! reads process groups and directories from a pipe, and acts when the kernel closes the pipe.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Registers a process group that must not outlive this process.
pub(crate) fn group_started(group: u32) {
    send(&format!("group {group}"));
}

/// Unregisters a process group that has ended and was waited for: the system may reuse its number.
pub(crate) fn group_ended(group: u32) {
    send(&format!("ended {group}"));
}

/// Registers a directory to remove after this process has ended.
pub(crate) fn directory_created(directory: &Path) {
    send(&format!("directory {}", directory.display()));
}

fn send(line: &str) {
    static REAPER: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    let mut pipe = REAPER.get_or_init(|| Mutex::new(start())).lock().expect("no one panics while writing a line");
    writeln!(pipe, "{line}").and_then(|()| pipe.flush()).expect("the reaper ignores signals and reads until the end");
}

fn start() -> ChildStdin {
    Command::new("sh")
        .args(["-c", include_str!("reaper.sh")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C in the terminal signals the process group of the tests. The reaper must survive it.
        .process_group(0)
        .spawn()
        .expect("a POSIX system has sh")
        .stdin
        .take()
        .expect("stdin is piped")
}
