//! The fixed cost of a provider: its size, its start, and a `terraform validate`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Settings;
use crate::process::terraform;
use crate::results::Results;
use crate::support::proxy::Proxy;
use crate::support::{reaper, venv};
use crate::topology::{Kind, Side, Topology, Workspace};

/// The variable by which a provider recognizes Terraform.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

pub(crate) fn measure(settings: &Settings, results: &mut Results) {
    let repeated = 5 * settings.runs;
    let proxy = Proxy::moto();
    let network = Topology::of(Kind::Network).azs(3);
    let places: Vec<(&Side, Workspace)> =
        settings.sides.iter().map(|side| (side, Workspace::new(&network, side, &proxy))).collect();
    let bare = Workspace::without_provider();
    let mut all = vec![(Vec::new(), Vec::new()); places.len()];
    let mut alone = Vec::new();
    // The first round loads the binaries into the page cache and does not count.
    for round in 0..=repeated {
        for ((side, workspace), (handshakes, validations)) in places.iter().zip(&mut all) {
            let handshake = handshake(side);
            let validation = terraform(workspace.path(), &["validate", "-no-color"]).wall;
            if round > 0 {
                handshakes.push(ms(handshake));
                validations.push(ms(validation));
            }
        }
        let validation = terraform(bare.path(), &["validate", "-no-color"]).wall;
        if round > 0 {
            alone.push(ms(validation));
        }
    }
    for (side, (handshakes, validations)) in settings.sides.iter().zip(all) {
        let bytes = side.binary.metadata().expect("the binary exists").len();
        // To zip the 700 MB of hashicorp/aws takes a minute, and the size in the registry is known.
        let zipped = side.is_fgw.then(|| zipped(side));
        results.add_start(json!({
            "side": side.name, "bytes": bytes, "zipped_bytes": zipped, "handshake_ms": handshakes, "validate_ms": validations,
            "validate_alone_ms": alone,
        }));
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The time from the start of the process to its handshake line.
fn handshake(side: &Side) -> Duration {
    let folder = tempfile::Builder::new().prefix("fgw-bench-").tempdir().expect("a temporary directory");
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("localhost is a valid name");
    let mut command = Command::new(&side.binary);
    command
        .env_clear()
        .envs([COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", "5,6"), ("PLUGIN_MIN_PORT", "10000"), ("PLUGIN_MAX_PORT", "25000")])
        .env("PLUGIN_CLIENT_CERT", certificate.cert.pem())
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let started = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", side.name));
    reaper::group_started(child.id());
    let mut line = String::new();
    let read = BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line);
    let took = started.elapsed();
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    reaper::group_ended(child.id());
    assert!(read.is_ok() && line.split('|').count() >= 5, "{} prints no handshake: {line:?}", side.name);
    took
}

/// The size of the archive that a registry would serve.
fn zipped(side: &Side) -> u64 {
    let script = "import io, sys, zipfile\narchive = io.BytesIO()\n\
                  zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED, compresslevel=9).write(sys.argv[1], 'provider')\n\
                  print(archive.tell())";
    let run = Command::new(venv::program("python")).args(["-c", script]).arg(&side.binary).output();
    let run = run.expect("the environment has python");
    let size = String::from_utf8_lossy(&run.stdout).trim().parse();
    size.unwrap_or_else(|_| panic!("cannot zip: {}", String::from_utf8_lossy(&run.stderr)))
}
