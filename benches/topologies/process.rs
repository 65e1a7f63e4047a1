//! One run of Terraform, with the CPU time and the memory of Terraform and its providers.
//!
//! CPU time is the kernel's count for Terraform itself and for the children that it has waited for, which are its
//! providers. Both are read from `/proc` after Terraform has ended and before it is waited for, in the kernel's ticks
//! of 10 ms. Memory is the kernel's high-water mark of each provider process (`VmHWM`), read every few milliseconds.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::reaper;

/// The interval between reads of the providers' memory.
const TICK: Duration = Duration::from_millis(5);
/// The time limit of a run, longer than any measured run.
const WITHIN: Duration = Duration::from_secs(900);
/// The length of a tick: `USER_HZ` is 100 on every Linux that Terraform supports.
const MS_PER_CLOCK_TICK: u64 = 10;

/// The resources that a run took.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) wall: Duration,
    /// User and system time of all provider processes.
    pub(crate) provider_cpu_ms: u64,
    pub(crate) terraform_cpu_ms: u64,
    /// The memory of the largest provider process. A run starts several, one after another.
    pub(crate) peak_kb: u64,
}

/// Runs Terraform to its end. Panics with its output unless it succeeds.
pub(crate) fn terraform(folder: &Path, arguments: &[&str]) -> Run {
    let errors = folder.join("stderr");
    let program = std::env::var("TERRAFORM").unwrap_or_else(|_| "terraform".into());
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .current_dir(folder)
        // The user's AWS and Terraform settings must not affect the measurement.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("TF_CLI_CONFIG_FILE", folder.join("terraformrc"))
        .envs([("CHECKPOINT_DISABLE", "1"), ("TF_IN_AUTOMATION", "1"), ("AWS_EC2_METADATA_DISABLED", "true")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&errors).expect("the folder is ours"))
        .process_group(0);
    let started = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {program}: {error}"));
    let id = child.id();
    reaper::group_started(id);
    let has_ended = AtomicBool::new(false);
    let mut output = Vec::new();
    let (wall, peak_kb) = thread::scope(|scope| {
        let watch = scope.spawn(|| watch(id, started, &has_ended));
        // Only Terraform has its standard output open, so this read ends with Terraform, to the millisecond.
        child.stdout.take().expect("it is piped").read_to_end(&mut output).expect("a pipe can be read");
        let wall = started.elapsed();
        has_ended.store(true, Ordering::Relaxed);
        (wall, watch.join().expect("watching does not panic"))
    });
    let times = Times::at_the_end(id);
    let status = child.wait().expect("the child is ours");
    reaper::group_ended(id);
    let printed = || String::from_utf8_lossy(&output).into_owned() + &fs::read_to_string(&errors).unwrap_or_default();
    assert!(status.success(), "terraform {}: {status}\n{}", arguments.join(" "), printed());
    Run { wall, provider_cpu_ms: times.of_children, terraform_cpu_ms: times.own, peak_kb }
}

/// Milliseconds of CPU.
struct Times {
    own: u64,
    of_children: u64,
}

impl Times {
    /// The times of a process that has closed its output and is about to become a zombie, which still has its times.
    fn at_the_end(id: u32) -> Self {
        loop {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("the benchmark needs the /proc of Linux");
            let fields = after_name(&stat);
            if fields[0] == "Z" {
                // proc(5) counts from 1, with the process id and the name before the state: utime is field 14.
                let ticks = |number: usize| fields[number - 3].parse::<u64>().expect("a count of ticks");
                let [own, of_children] = [ticks(14) + ticks(15), ticks(16) + ticks(17)];
                return Self { own: own * MS_PER_CLOCK_TICK, of_children: of_children * MS_PER_CLOCK_TICK };
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The fields after the name, which may contain spaces and parentheses.
fn after_name(stat: &str) -> Vec<&str> {
    stat.rsplit_once(')').map_or(stat, |(_, rest)| rest).split_whitespace().collect()
}

/// The high-water mark of the largest provider that Terraform has started, in kilobytes. Kills Terraform after the time
/// limit.
fn watch(terraform: u32, started: Instant, has_ended: &AtomicBool) -> u64 {
    let (mut others, mut providers, mut peak) = (HashSet::new(), Vec::new(), 0);
    while !has_ended.load(Ordering::Relaxed) {
        for id in processes() {
            if providers.contains(&id) || others.contains(&id) {
                continue;
            }
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            if after_name(&stat).get(1).is_some_and(|parent| *parent == terraform.to_string()) {
                providers.push(id);
            } else {
                others.insert(id);
            }
        }
        let marks = providers.iter().filter_map(|id| high_water_mark(*id));
        peak = marks.max().unwrap_or(0).max(peak);
        if started.elapsed() > WITHIN {
            let kill = format!("kill -s KILL -- -{terraform}");
            Command::new("sh").args(["-c", &kill]).status().expect("a POSIX system has sh");
        }
        thread::sleep(TICK);
    }
    peak
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the benchmark needs the /proc of Linux");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// `None` for a process that has ended, or that is still a fork of Terraform and not yet the provider.
fn high_water_mark(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    // The kernel truncates names to 15 characters.
    let is_provider = field("Name:")?.starts_with("terraform-prov");
    is_provider.then(|| field("VmHWM:")?.split_whitespace().next()?.parse().ok())?
}
