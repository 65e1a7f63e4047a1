//! The program itself: its arguments, its signals and its parent process.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use tonic::transport::Channel;

use crate::support::plugin_client::{COOKIE, Certificate, Handshake};
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use crate::support::{reaper, runtime, wait};

const PROGRAM: &str = env!("CARGO_BIN_EXE_terraform-provider-fgw");

/// Sends a signal to a child, but not to its process group.
fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn program_explains_itself_without_terraform() {
    let program = || Command::new(PROGRAM);
    let manual = program().env_remove("TF_PLUGIN_MAGIC_COOKIE").output().unwrap();
    assert_eq!((manual.status.code(), &manual.stdout[..]), (Some(1), &b""[..]));
    assert!(String::from_utf8(manual.stderr).unwrap().contains("terraform init"));
    let version = program().arg("--version").output().unwrap();
    assert!(version.status.success());
    assert_eq!(
        String::from_utf8(version.stdout).unwrap().trim().split(' ').next_back(),
        Some(env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn sigterm_ends_the_program_and_ctrl_c_does_not() {
    let mut child = Command::new(PROGRAM)
        .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
        .env("PLUGIN_PROTOCOL_VERSIONS", "6,5")
        .env_remove("PLUGIN_CLIENT_CERT")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let handshake = Handshake::parse(&line).unwrap();
    assert!(line.starts_with("1|6|unix|/") && line.ends_with("|grpc|\n"), "{line}");
    signal(&child, "-INT");
    signal(&child, "-HUP");
    let _terraform = runtime().block_on(async {
        let mut terraform = ProviderClient::new(handshake.connect(None).await.unwrap());
        let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
        assert_eq!(metadata.diagnostics, [], "the provider still responds");
        terraform
    });
    signal(&child, "-TERM");
    wait::until("the program ends", || child.try_wait().unwrap().is_some());
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(!Path::new(&handshake.socket).exists());
}

/// A program that a test has started, possibly below a shell.
struct Started {
    child: Child,
    stdout: BufReader<ChildStdout>,
    handshake: Handshake,
    terraform: ProviderClient<Channel>,
}

impl Started {
    fn new(command: &mut Command) -> Self {
        let client = Certificate::new();
        let mut child = command
            .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
            .env("PLUGIN_PROTOCOL_VERSIONS", "6")
            .env("PLUGIN_CLIENT_CERT", client.pem())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        reaper::group_started(child.id());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let handshake = Handshake::parse(&line).unwrap();
        let terraform = ProviderClient::new(runtime().block_on(handshake.connect(Some(&client))).unwrap());
        Self { child, stdout, handshake, terraform }
    }

    fn below_a_shell() -> Self {
        Self::new(Command::new("sh").args(["-c", "\"$0\" & wait", PROGRAM]))
    }

    /// Waits for the end of the program.
    fn ended(mut self) {
        drop(self.terraform);
        // The program holds the other end of the pipe until it ends.
        let end = std::thread::spawn(move || self.stdout.read_to_string(&mut String::new()).unwrap());
        wait::until("the program ends", || end.is_finished());
        assert_eq!(end.join().unwrap(), 0);
        assert!(!Path::new(&self.handshake.socket).exists());
        self.child.wait().unwrap();
        reaper::group_ended(self.child.id());
    }
}

/// As long as a client is connected, the program does not end, although its parent has.
#[test]
fn the_program_ends_when_its_parent_was_killed() {
    let mut started = Started::below_a_shell();
    started.child.kill().unwrap();
    started.child.wait().unwrap();
    let metadata = runtime().block_on(started.terraform.get_metadata(pb::get_metadata::Request {}));
    assert_eq!(metadata.unwrap().into_inner().diagnostics, [], "a client is connected");
    started.ended();
}

/// All retries of a call take longer than the test waits.
#[test]
fn the_program_ends_during_a_call_that_aws_never_answers() {
    for parent_is_killed in [true, false] {
        let aws = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", aws.local_addr().unwrap());
        let json = serde_json::json!({
            "region": "us-east-1", "access_key": "a", "secret_key": "b", "endpoints": [{ "sts": url }]
        });
        let config = Some(pb::DynamicValue { msgpack: Vec::new(), json: json.to_string().into_bytes() });
        let request = pb::configure_provider::Request { terraform_version: "1.11.4".to_string(), config };
        let mut started = match parent_is_killed {
            true => Started::below_a_shell(),
            false => Started::new(&mut Command::new(PROGRAM)),
        };
        let mut terraform = started.terraform.clone();
        let call = runtime().spawn(async move { terraform.configure_provider(request).await });
        let connected = std::thread::spawn(move || aws.accept().map(|(stream, _)| (stream, aws)));
        wait::until("the program calls AWS", || connected.is_finished());
        if parent_is_killed {
            started.child.kill().unwrap();
            call.abort();
        } else {
            signal(&started.child, "-TERM");
        }
        started.ended();
        drop(connected.join().unwrap());
    }
}

/// One process serves several commands, and is the only provider: there is no directory with another one.
#[test]
fn terraform_commands_share_a_debugged_provider() {
    let proxy = Proxy::moto();
    let mut workspace = Workspace::with_provider(&proxy, "");
    workspace.write("terraformrc", "");
    let log = workspace.path().join("debugged.log");
    let mut provider = Command::new(PROGRAM)
        .arg("--debug")
        .env_clear()
        .env("HOME", workspace.path())
        .envs([("AWS_EC2_METADATA_DISABLED", "true"), ("TF_LOG", "INFO")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&log).unwrap())
        .process_group(0)
        .spawn()
        .unwrap();
    reaper::group_started(provider.id());
    let mut line = String::new();
    BufReader::new(provider.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let value = line.strip_prefix("TF_REATTACH_PROVIDERS='").and_then(|line| line.strip_suffix("'\n"));
    workspace.env("TF_REATTACH_PROVIDERS", value.unwrap_or_else(|| panic!("{line}")));
    workspace.config(
        "resource \"fgw_four_tier_vpc\" \"main\" {\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  \
         num_availability_zones = 1\n  num_nat_gateways = 0\n}\n",
    );
    workspace.validate().succeeded();
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.lines().any(|line| line.contains(": created vpc ") && line.contains(" tf_rpc=ApplyResourceChange")),
        "{text}"
    );
    assert_eq!(provider.try_wait().unwrap(), None, "the provider outlives Terraform");
    signal(&provider, "-INT");
    wait::until("the provider ends", || provider.try_wait().unwrap().is_some());
    assert!(provider.wait().unwrap().success());
    reaper::group_ended(provider.id());
}
