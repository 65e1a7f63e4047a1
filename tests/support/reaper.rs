//! Ends emulators, Terraform runs and temporary directories with the test process, whatever ends it.
//!
//! Statics are never dropped and a killed process runs no destructor, so a small shell process does it: it reads the
//! names of process groups from a pipe, and acts when the kernel closes that pipe.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// A process group was started and must not outlive this process.
pub(crate) fn group_started(group: u32) {
    tell(&format!("group {group}"));
}

/// The group was ended and waited for; its number may soon belong to another.
pub(crate) fn group_ended(group: u32) {
    tell(&format!("ended {group}"));
}

/// The directory is removed when this process has ended.
pub(crate) fn directory_made(directory: &Path) {
    tell(&format!("directory {}", directory.display()));
}

fn tell(line: &str) {
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
        // A Ctrl-C in the terminal goes to the test's group; the reaper must live to act on it.
        .process_group(0)
        .spawn()
        .expect("a POSIX system has sh")
        .stdin
        .take()
        .expect("stdin is piped")
}
