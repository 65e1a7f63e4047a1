//! The benchmark: real Terraform applies, plans, changes and destroys the same topologies with this provider and with
//! hashicorp/aws in turn, against the emulators and the proxy of the tests. `make bench` runs it and renders its
//! results in `target/bench` into BENCHMARKS.md.
//!
//! It requires Linux, because `/proc` shows the CPU time and the memory of a process. Variables:
//!
//! - `FGW_BINARY`: the provider to measure.
//! - `FGW_BENCH_AWS_PROVIDER`: the folder with the binary of hashicorp/aws. Without it, only fgw is measured.
//! - `ONLY`: the parts to run, separated by commas: `start`, `network`, `gateway`, `growth`. The results of other parts
//!   are kept.
//! - `RUNS`: the number of runs with fgw, 3 by default. hashicorp/aws has at most as many runs, because each takes
//!   minutes.
//! - `TRY=1`: a smoke run of everything once at the smallest size, into `target/bench-try`.

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
        eprintln!("FGW_BENCH_AWS_PROVIDER is not set: only fgw is measured");
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

/// Each part writes its own file and can be run separately.
const PARTS: [(&str, Part); 4] =
    [("start", start::measure), ("network", network), ("gateway", gateway), ("growth", growth)];

struct Settings {
    /// fgw, and hashicorp/aws if there is one.
    sides: Vec<Side>,
    only: Option<Vec<String>>,
    runs: usize,
    is_try: bool,
    directory: PathBuf,
}

impl Settings {
    fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let binary = variable("FGW_BINARY").expect("make bench sets FGW_BINARY to the provider to measure");
        let mut sides = vec![Side::fgw(Path::new(&binary))];
        sides.extend(variable("FGW_BENCH_AWS_PROVIDER").map(|folder| Side::aws(Path::new(&folder))));
        let only = variable("ONLY").map(|only| only.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>());
        for part in only.iter().flatten() {
            assert!(
                PARTS.iter().any(|(known, _)| known == part),
                "ONLY contains {part:?}, which is not a part of the benchmark"
            );
        }
        let is_try = variable("TRY").is_some();
        let runs = variable("RUNS").map(|runs| runs.parse().expect("RUNS is a number"));
        let directory =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(if is_try { "target/bench-try" } else { "target/bench" });
        Self { sides, only, runs: runs.unwrap_or(if is_try { 1 } else { 3 }), is_try, directory }
    }

    /// Measures a topology with both providers in turn: `runs` times with fgw and `aws_runs` times with hashicorp/aws.
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

/// The network of 49 objects at three latencies, and with NAT gateways that stay pending.
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

/// The gateway with ten routes.
fn gateway(settings: &Settings, results: &mut Results) {
    let runs = settings.runs;
    let gateway = Topology::of(Kind::Gateway).routes(10);
    settings.alternate(results, &gateway, runs, runs.min(2));
    if !settings.is_try {
        settings.alternate(results, &gateway.latency(50), runs, 1);
    }
}

/// The growth of the cost with size, without latency except for one row of each kind. hashicorp/aws is measured only
/// with topologies that take about two minutes per run; the other parts measure it with theirs.
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
    alone(results, &network.azs(6).full());
    for copies in [5, 20, 50] {
        alone(results, &network.azs(3).copies(copies));
    }
    alone(results, &network.azs(3).copies(20).latency(50));
    for (routes, aws_runs) in [(10, 0), (100, 1)] {
        settings.alternate(results, &gateway.routes(routes), 1, aws_runs);
    }
    // With the route that the change adds, the API has the maximum number of routes that AWS allows.
    alone(results, &gateway.routes(299));
    alone(results, &gateway.routes(299).full());
    for copies in [5, 20, 50] {
        alone(results, &gateway.routes(10).copies(copies));
    }
    alone(results, &gateway.routes(10).copies(20).latency(50));
}
