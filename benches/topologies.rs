//! The benchmark: real Terraform applies, plans, changes and destroys the same topologies with this provider and with
//! hashicorp/aws, in turn, against the emulators behind the proxy of the tests. `make bench` runs it and renders what
//! it writes below `target/bench` into BENCHMARKS.md.
//!
//! It needs Linux, whose `/proc` tells what a process takes. Variables:
//!
//! - `FGW_BINARY`: the provider to measure.
//! - `FGW_BENCH_AWS_PROVIDER`: the folder with the binary of hashicorp/aws. Without it, fgw is measured alone.
//! - `ONLY`: parts to run, with commas: `start`, `network`, `gateway`, `growth`. The others keep what they last wrote.
//! - `RUNS`: how often fgw is measured, 3 until told otherwise. hashicorp/aws has as many runs or fewer, as it takes
//!   minutes.
//! - `TRY=1`: everything once and as small as can be, into `target/bench-try`: whether the benchmark works.

#[path = "topologies/calls.rs"]
mod calls;
#[path = "topologies/cycle.rs"]
mod cycle;
#[path = "topologies/process.rs"]
mod process;
#[path = "topologies/results.rs"]
mod results;
#[path = "topologies/start.rs"]
mod start;
#[path = "../tests/support/mod.rs"]
mod support;
#[path = "topologies/topology.rs"]
mod topology;

use std::path::{Path, PathBuf};

use self::cycle::cycle;
use self::results::Results;
use self::topology::{Kind, Side, Topology};

fn main() {
    let settings = Settings::of_environment();
    if settings.sides.len() == 1 {
        eprintln!("FGW_BENCH_AWS_PROVIDER names no folder with hashicorp/aws: fgw is measured alone");
    }
    for (part, run) in PARTS {
        if settings.only.as_ref().is_none_or(|only| only.iter().any(|it| it == part)) {
            let mut results = Results::new(&settings.directory, part, &settings.sides);
            run(&settings, &mut results);
            results.finish();
        }
    }
}

type Part = fn(&Settings, &mut Results);

/// Each writes a file of its own and can be run again by itself.
const PARTS: [(&str, Part); 4] =
    [("start", start::measure), ("network", network), ("gateway", gateway), ("growth", growth)];

struct Settings {
    /// fgw, and hashicorp/aws where there is one.
    sides: Vec<Side>,
    only: Option<Vec<String>>,
    runs: usize,
    is_try: bool,
    directory: PathBuf,
}

impl Settings {
    fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let binary = variable("FGW_BINARY").expect("FGW_BINARY names the provider to measure, as make bench does");
        let mut sides = vec![Side::fgw(Path::new(&binary))];
        sides.extend(variable("FGW_BENCH_AWS_PROVIDER").map(|folder| Side::aws(Path::new(&folder))));
        let only = variable("ONLY").map(|only| only.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>());
        for part in only.iter().flatten() {
            assert!(
                PARTS.iter().any(|(known, _)| known == part),
                "ONLY names {part:?}, which is no part of the benchmark"
            );
        }
        let is_try = variable("TRY").is_some();
        let runs = variable("RUNS").map(|runs| runs.parse().expect("RUNS is a number"));
        let directory =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(if is_try { "target/bench-try" } else { "target/bench" });
        Self { sides, only, runs: runs.unwrap_or(if is_try { 1 } else { 3 }), is_try, directory }
    }

    /// Measures a topology on both sides in turn, `runs` times with fgw and `aws_runs` times, if at all, with the
    /// other.
    fn alternate(&self, results: &mut Results, topology: &Topology, runs: usize, aws_runs: usize) {
        let mut first = None;
        for round in 0..runs.max(aws_runs) {
            for side in &self.sides {
                if round < if side.is_fgw { runs } else { aws_runs } {
                    cycle(results, topology, side, round, &mut first);
                }
            }
        }
    }
}

/// The network of 49 objects at three latencies, and with NAT gateways that take their time.
fn network(settings: &Settings, results: &mut Results) {
    let runs = settings.runs;
    if settings.is_try {
        return settings.alternate(results, &Topology::of(Kind::Network).azs(1), runs, runs);
    }
    let network = Topology::of(Kind::Network).azs(3);
    settings.alternate(results, &network, runs, runs);
    settings.alternate(results, &network.latency(50), runs, runs.min(2));
    settings.alternate(results, &network.latency(50).nat_pending(5), runs, 1);
    settings.alternate(results, &network.latency(200), runs, 1);
}

/// The gateway of ten routes.
fn gateway(settings: &Settings, results: &mut Results) {
    let runs = settings.runs;
    let gateway = Topology::of(Kind::Gateway).routes(10);
    settings.alternate(results, &gateway, runs, runs.min(2));
    if !settings.is_try {
        settings.alternate(results, &gateway.latency(50), runs, 1);
    }
}

/// How cost grows with size, at no latency. hashicorp/aws is measured where one run takes some two minutes; on the
/// sizes of the other parts it is measured there.
fn growth(settings: &Settings, results: &mut Results) {
    let (network, gateway) = (Topology::of(Kind::Network), Topology::of(Kind::Gateway));
    let alone = |results: &mut Results, topology: &Topology| {
        settings.alternate(results, topology, 1, 0);
        results.not_run(topology);
    };
    if settings.is_try {
        settings.alternate(results, &network.azs(2), 1, 0);
        alone(results, &network.azs(1).copies(2));
        return alone(results, &gateway.routes(20));
    }
    for (azs, aws_runs) in [(1, 1), (3, 0), (6, 1)] {
        settings.alternate(results, &network.azs(azs), settings.runs, aws_runs);
    }
    for copies in [5, 20] {
        alone(results, &network.azs(3).copies(copies));
    }
    for (routes, aws_runs) in [(10, 0), (100, 1)] {
        settings.alternate(results, &gateway.routes(routes), 1, aws_runs);
    }
    // With the one more of the change they are as many as AWS lets an API have.
    alone(results, &gateway.routes(299));
    for copies in [5, 20] {
        alone(results, &gateway.routes(10).copies(copies));
    }
}
