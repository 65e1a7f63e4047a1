//! The two emulators of AWS, one process of each per test process, and the accounts that isolate tests from each other.
//! Further processes of each, started as users start them, serve the tests without a proxy.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::issuer::issuers;
use super::{http, reaper, venv};

/// On an idle machine, moto and ministack need a second, and LocalStack ten. A busy machine may need much longer.
const READY_WITHIN: Duration = Duration::from_secs(300);

/// The kind of emulator. Each is accurate for different services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For networks: supports IPv6, validation and filters, but has no data plane.
    Moto,
    /// For gateways: its HTTP APIs can be called and run Python functions.
    Ministack,
    /// For networks: its EC2 is that of another version of moto. Its community edition has no HTTP APIs.
    LocalStack,
}

/// How an emulator is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// For tests with a proxy: with the behaviors of AWS that are added to it, and without what no test needs.
    Adapted,
    /// As a user starts it.
    Plain,
}

/// The environment in which a user starts ministack, except for the port. Without `BIND_HOST`, it listens on all
/// addresses. Without the last two, it opens more ports.
pub(crate) const MINISTACK_ENVIRONMENT: [(&str, &str); 4] =
    [("BIND_HOST", "127.0.0.1"), ("MINISTACK_HOST", "localhost"), ("IOT_MTLS_ENABLED", "0"), ("SFTP_ENABLED", "0")];

/// A running emulator on a loopback port. It ends with the test process.
#[derive(Debug)]
pub(crate) struct Emulator {
    pub(crate) kind: Kind,
    pub(crate) port: u16,
    /// The process group of the emulator and of all processes that it starts.
    pub(crate) group: u32,
    log: PathBuf,
}

impl Emulator {
    pub(crate) fn moto() -> &'static Self {
        static MOTO: OnceLock<Emulator> = OnceLock::new();
        MOTO.get_or_init(|| Self::start(Kind::Moto, Start::Adapted))
    }

    pub(crate) fn ministack() -> &'static Self {
        static MINISTACK: OnceLock<Emulator> = OnceLock::new();
        MINISTACK.get_or_init(|| Self::start(Kind::Ministack, Start::Adapted))
    }

    /// moto as a user starts it. All tests that use it share its default account.
    pub(crate) fn plain_moto() -> &'static Self {
        static MOTO: OnceLock<Emulator> = OnceLock::new();
        MOTO.get_or_init(|| Self::start(Kind::Moto, Start::Plain))
    }

    /// ministack as a user starts it. All tests that use it share its default account.
    pub(crate) fn plain_ministack() -> &'static Self {
        static MINISTACK: OnceLock<Emulator> = OnceLock::new();
        MINISTACK.get_or_init(|| Self::start(Kind::Ministack, Start::Plain))
    }

    /// An account that no other test of this process uses.
    pub(crate) fn account(&'static self) -> Account {
        static NEXT: AtomicU64 = AtomicU64::new(200_000_000_001);
        Account { id: NEXT.fetch_add(1, Ordering::Relaxed).to_string(), emulator: self }
    }

    /// The account of unsigned requests. Tests share it, so only tests that must send requests without a signature use
    /// it.
    pub(crate) fn default_account(&'static self) -> Account {
        let id = match self.kind {
            Kind::Moto => "123456789012",
            Kind::Ministack | Kind::LocalStack => "000000000000",
        };
        Account { id: id.into(), emulator: self }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The last lines of the emulator's log, for the message of a failing test.
    pub(crate) fn log_tail(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_else(|error| format!("no log: {error}"));
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// LocalStack as a user starts it without Docker.
    pub(crate) fn localstack() -> &'static Self {
        static LOCALSTACK: OnceLock<Emulator> = OnceLock::new();
        LOCALSTACK.get_or_init(|| Self::start(Kind::LocalStack, Start::Plain))
    }

    fn start(kind: Kind, start: Start) -> Self {
        // Another process may take the port before the emulator binds it. Then the emulator exits at once.
        for _ in 0..3 {
            if let Some(emulator) = Self::try_start(kind, start) {
                return emulator;
            }
        }
        panic!("{kind:?} ended three times while starting");
    }

    fn try_start(kind: Kind, start: Start) -> Option<Self> {
        // A killed emulator leaves functions and certificates in its temporary directory, so it gets its own directory.
        let directory =
            tempfile::Builder::new().prefix("fgw-emulator-").tempdir().expect("a temporary directory").keep();
        reaper::directory_created(&directory);
        let log = directory.join("emulator.log");
        let port = free_port();
        let output = File::create(&log).expect("the directory is new and ours");
        let mut child = command(kind, start, port)
            .env("TMPDIR", &directory)
            .env("HOME", &directory)
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file handle can be duplicated"))
            .stderr(output)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {kind:?}: {error}"));
        let emulator = Self { kind, port, group: child.id(), log };
        reaper::group_started(emulator.group);
        if emulator.ready(&mut child) {
            return Some(emulator);
        }
        reaper::group_ended(emulator.group);
        eprintln!("{kind:?} did not start:\n{}", emulator.log_tail());
        None
    }

    fn ready(&self, child: &mut Child) -> bool {
        let path = match self.kind {
            Kind::Moto => "/moto-api/",
            Kind::Ministack => "/_ministack/ready",
            Kind::LocalStack => "/_localstack/health",
        };
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            if child.try_wait().expect("the child is ours").is_some() {
                return false;
            }
            if http::get(self.port, path).is_ok_and(|answer| answer.status == 200) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{:?} is not ready after {READY_WITHIN:?}:\n{}", self.kind, self.log_tail());
    }
}

/// An AWS account. The emulators isolate the state of accounts.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Twelve digits. Also the access key: ministack derives the account from it, and the proxy sends it to moto in a
    /// header.
    pub(crate) id: String,
    pub(crate) emulator: &'static Emulator,
}

impl Account {
    /// A text in whose ARNs this account replaces 123456789012.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        text.replace("123456789012", &self.id)
    }
}

/// A loopback port that is free at this moment.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// Python with a script in this folder.
fn script(name: &str) -> Command {
    let mut python = Command::new(venv::program("python"));
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/").to_owned() + name);
    python
}

fn command(kind: Kind, start: Start, port: u16) -> Command {
    let mut command = match (kind, start) {
        (Kind::Moto, Start::Adapted) => script("cached_moto.py"),
        (Kind::Moto, Start::Plain) => Command::new(venv::program("moto_server")),
        // With the deployments of AWS, and with enforced policies of functions.
        (Kind::Ministack, Start::Adapted) => {
            let mut ministack = script("deployments.py");
            ministack.env("SSL_CERT_FILE", &issuers().authority);
            ministack
        }
        (Kind::Ministack, Start::Plain) => Command::new(venv::program("ministack")),
        (Kind::LocalStack, _) => {
            let mut localstack = Command::new(venv::of_localstack("python"));
            localstack.args(["-m", "localstack.runtime.main"]);
            localstack
        }
    };
    match kind {
        Kind::Moto => command.args(["-H", "127.0.0.1", "-p", &port.to_string()]),
        Kind::Ministack => command.envs(MINISTACK_ENVIRONMENT).env("GATEWAY_PORT", port.to_string()),
        // Without the further variables, it opens a port for DNS, downloads a certificate and reports its use.
        Kind::LocalStack => command
            .env("GATEWAY_LISTEN", format!("127.0.0.1:{port}"))
            .envs([("GATEWAY_SERVER", "hypercorn"), ("DNS_ADDRESS", "0")])
            .envs([("SKIP_SSL_CERT_DOWNLOAD", "1"), ("DISABLE_EVENTS", "1")]),
    };
    if (kind, start) == (Kind::Moto, Start::Adapted) {
        // The machine images are not needed here and take 130 MB.
        command.env("MOTO_EC2_LOAD_DEFAULT_AMIS", "false");
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command
}
