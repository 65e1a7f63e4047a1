//! The results, as one JSON file for each part of the benchmark, with machine and date.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::calls::Calls;
use crate::cycle::Counts;
use crate::process::Run;
use crate::topology::{Side, Topology};

/// The file of one part. It is rewritten under a temporary name after each measurement, and replaces the previous file
/// when the part is finished.
#[derive(Debug)]
pub(crate) struct Results {
    file: PathBuf,
    json: Value,
}

impl Results {
    pub(crate) fn new(directory: &Path, part: &str, sides: &[Side]) -> Self {
        fs::create_dir_all(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        eprintln!("--- {part}");
        let json = json!({
            "part": part, "origin": origin(), "sides": sides.iter().map(|side| side.name).collect::<Vec<_>>(),
            "samples": [], "start": [], "not_run": [], "differences": [],
        });
        Self { file: directory.join(format!("{part}.json")), json }
    }

    #[allow(clippy::too_many_arguments, reason = "each is one column of the result")]
    pub(crate) fn add(
        &mut self,
        topology: &Topology,
        side: &Side,
        round: usize,
        operation: &str,
        run: &Run,
        calls: &Calls,
        [state_bytes, plan_bytes]: [u64; 2],
        unknown_to_emulator: usize,
    ) {
        let sample = json!({
            "topology": topology.json(),
            "side": side.name,
            "round": round,
            "operation": operation,
            "wall_ms": ms(run.wall),
            "provider_cpu_ms": run.provider_cpu_ms,
            "terraform_cpu_ms": run.terraform_cpu_ms,
            "peak_kb": run.peak_kb,
            "state_bytes": state_bytes,
            "plan_bytes": plan_bytes,
            "calls": calls.by_action,
            "changing": calls.changing,
            "looks": calls.reads_before,
            "looks_while_changing": calls.reads_after,
            "peak_concurrency": calls.peak_concurrency,
            "emulator_ms": ms(calls.emulator),
            "chain": calls.chain,
            "chain_holds": calls.chain_holds,
            "bound_ms": ms(calls.bound),
            "walked": calls.walked,
            "unknown_to_emulator": unknown_to_emulator,
        });
        eprintln!(
            "{} {} {operation}: {:.2} s, {} ms CPU, {} MB, {} calls ({} mutating), {} concurrent",
            side.name,
            topology.json(),
            run.wall.as_secs_f64(),
            run.provider_cpu_ms,
            run.peak_kb / 1000,
            calls.by_action.values().sum::<usize>(),
            calls.changing,
            calls.peak_concurrency
        );
        self.push("samples", sample);
    }

    pub(crate) fn add_start(&mut self, start: Value) {
        eprintln!("{start}");
        self.push("start", start);
    }

    /// Records that hashicorp/aws was not measured with this topology.
    pub(crate) fn not_run(&mut self, topology: &Topology) {
        self.push("not_run", topology.json());
    }

    /// Records that a provider has created other objects than the first run. The page states this at its top.
    pub(crate) fn differs(&mut self, topology: &Topology, side: &Side, counts: &Counts, first: &Counts) {
        let kinds = counts.keys().chain(first.keys()).filter(|kind| counts.get(*kind) != first.get(*kind));
        let difference = kinds.map(|kind| {
            let count = |counts: &Counts| counts.get(kind).copied().unwrap_or_default();
            (kind.clone(), json!([count(counts), count(first)]))
        });
        let difference: Value = difference.collect::<serde_json::Map<_, _>>().into();
        eprintln!("{} has created other objects: {difference}", side.name);
        self.push("differences", json!({ "topology": topology.json(), "side": side.name, "made": difference }));
    }

    pub(crate) fn finish(self) {
        fs::rename(self.unfinished(), &self.file).expect("the folder is ours");
        eprintln!("wrote {}", self.file.display());
    }

    fn push(&mut self, list: &str, value: Value) {
        self.json[list].as_array_mut().expect("the value is a list").push(value);
        fs::write(self.unfinished(), format!("{:#}\n", self.json)).expect("the folder is ours");
    }

    fn unfinished(&self) -> PathBuf {
        self.file.with_extension("unfinished")
    }
}

fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Command, date, commit and hardware, without the name of the machine and without paths.
fn origin() -> Value {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty()).map(|it| format!(" {name}={it}"));
    let command: String =
        ["make bench".to_owned()].into_iter().chain(["ONLY", "RUNS", "TRY"].into_iter().filter_map(variable)).collect();
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.map(|value| value.trim_matches(|it: char| it.is_whitespace() || "=:\"".contains(it)).to_owned())
    };
    let memory_kb = field(&read("/proc/meminfo"), "MemTotal:").and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
    json!({
        "command": command,
        "date": time::OffsetDateTime::now_utc().date().to_string(),
        "commit": first_line("git", &["rev-parse", "--short", "HEAD"]),
        "changed": first_line("git", &["status", "--porcelain", "--untracked-files=no", "--", ".", ":!BENCHMARKS.md"]).is_some(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory_gb": memory_kb.map(|it| (it as f64 / 1024.0 / 1024.0).round()),
        "cpu": field(&read("/proc/cpuinfo"), "model name"),
        "os": field(&read("/etc/os-release"), "PRETTY_NAME"),
        "kernel": first_line("uname", &["-srm"]),
        "terraform": first_line(&std::env::var("TERRAFORM").unwrap_or_else(|_| "terraform".into()), &["version"]),
    })
}

/// The first line that a program prints; `None` if the program fails or prints nothing.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let run = Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    text.lines().next().filter(|_| run.status.success()).map(str::to_owned)
}
