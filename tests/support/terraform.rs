//! Terraform in its own directory, with the built provider and the endpoints of a proxy; or the stand-in for Terraform
//! ([`super::host`]) instead.

mod imports;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::backend::StateServer;
use super::host::{Host, Outcome};
use super::permissions::configurations::Configurations;
use super::proxy::Proxy;
use super::{kept, reaper};

/// The services whose endpoint is the proxy, with their names in hashicorp/aws.
const SERVICES: &[&str] = &["ec2", "sts", "apigatewayv2", "cloudwatchlogs", "lambda", "kms", "acm", "route53"];

/// The source address of the provider in the configurations of tests.
const SOURCE: &str = "fgw/fgw";

/// The secret key in the provider block of a proxy. No emulator checks it.
pub(crate) const SECRET_KEY: &str = "tests/SECRETKEY+wJalrXUtnFEMIK7MDENGbPxR";

/// Whether a file of a workspace may contain a resource or a part of one.
fn is_configuration(file: &str) -> bool {
    file != "provider.tf" && (file.ends_with(".tf") || file.ends_with(".tf.json"))
}

/// A directory with a configuration and its state.
#[derive(Debug)]
pub(crate) struct Workspace {
    directory: TempDir,
    provider: String,
    variables: BTreeMap<String, String>,
    within: Duration,
    /// The stand-in for Terraform, if this workspace does not run Terraform.
    host: Option<Host>,
    /// The backend of the state, if it is not a local file.
    backend: Option<StateServer>,
    /// Of the proxy, if there is one.
    configurations: Configurations,
}

impl Workspace {
    /// With the provider configured for Region us-east-1, static keys and the endpoints of this proxy.
    pub(crate) fn new(proxy: &Proxy) -> Self {
        Self::with_provider(proxy, "")
    }

    /// The same, with further lines in the provider block.
    pub(crate) fn with_provider(proxy: &Proxy, lines: &str) -> Self {
        let mut workspace = Self::with_blocks(&Self::block(proxy, lines));
        workspace.configurations = proxy.configurations();
        workspace
    }

    /// The same without Terraform: the test process itself drives the provider, at a fraction of the cost. See
    /// [`super::host`] for the limits.
    pub(crate) fn without_terraform(proxy: &Proxy, lines: &str) -> Self {
        let mut workspace = Self::with_provider(proxy, lines);
        workspace.host = Some(Host::new(workspace.path()));
        workspace
    }

    /// The same, with a stand-in that passes the private data of a plan to the plan that it repeats at apply. Terraform
    /// does so from version 1.16 on.
    pub(crate) fn storing_planned_private(proxy: &Proxy) -> Self {
        let mut workspace = Self::with_provider(proxy, "");
        workspace.host = Some(Host::storing_planned_private(workspace.path()));
        workspace
    }

    /// A provider block for this proxy, with further lines in it such as `alias = "other"`.
    pub(crate) fn block(proxy: &Proxy, lines: &str) -> String {
        let endpoint = proxy.endpoint();
        let endpoints: Vec<String> = SERVICES.iter().map(|service| format!("    {service} = \"{endpoint}\"")).collect();
        format!(
            "provider \"fgw\" {{\n  region = \"us-east-1\"\n  access_key = \"{}\"\n  secret_key = \"{SECRET_KEY}\"\n  endpoints \
             {{\n{}\n  }}\n{lines}\n}}\n",
            proxy.account().id,
            endpoints.join("\n"),
        )
    }

    /// With these provider blocks, and the provider as a required one.
    pub(crate) fn with_blocks(blocks: &str) -> Self {
        Self::in_new_directory(format!(
            "terraform {{\n  required_providers {{\n    fgw = {{\n      source = \"{SOURCE}\"\n    }}\n  }}\n}}\n\n{blocks}"
        ))
    }

    /// Without a provider, for features of Terraform itself.
    pub(crate) fn bare() -> Self {
        Self::in_new_directory(String::new())
    }

    /// With a provider block for this proxy. [`Workspace::init`] installs the provider as the CLI configuration
    /// specifies. The test's configuration declares the required provider itself.
    pub(crate) fn installing(proxy: &Proxy, cli_config: &str) -> Self {
        let mut workspace = Self::in_new_directory(Self::block(proxy, ""));
        workspace.configurations = proxy.configurations();
        // Every init unpacks a binary with debug information, and computes two checksums of it.
        workspace.within = Duration::from_secs(300);
        workspace.write("terraformrc", cli_config);
        workspace
    }

    /// Installs the provider. This is needed only with [`Workspace::installing`]: all other workspaces use the built
    /// provider directly.
    pub(crate) fn init(&self) -> Run {
        self.run(&["init", "-no-color", "-input=false"])
    }

    /// Stores the state in a backend that Terraform writes only at the end of a run. See [`super::backend`].
    pub(crate) fn store_remotely(&mut self) {
        let backend = StateServer::new();
        self.write("backend.tf", &backend.configuration());
        // The interval of writes during a run, in seconds: longer than any run.
        self.env("TF_STATE_PERSIST_INTERVAL", "86400");
        // Only the initialization of the backend is needed. That of the provider, which comes after it, fails: the
        // other commands use the built provider without an installation.
        self.write("offline", "provider_installation {\n  filesystem_mirror {\n    path = \"none\"\n  }\n}\n");
        self.env("TF_CLI_CONFIG_FILE", &self.path().join("offline").display().to_string());
        let init = self.init();
        self.variables.remove("TF_CLI_CONFIG_FILE");
        assert!(self.path().join(".terraform/terraform.tfstate").exists(), "the backend is not initialized: {init}");
        self.backend = Some(backend);
    }

    pub(crate) fn stores_remotely(&self) -> bool {
        self.backend.is_some()
    }

    /// Writes the configuration, except for the provider block. Replaces the previous one.
    pub(crate) fn config(&self, body: &str) {
        self.write("main.tf", body);
    }

    pub(crate) fn write(&self, file: &str, content: &str) {
        fs::write(self.path().join(file), content).expect("the directory is ours");
        if is_configuration(file) {
            self.configurations.add(content);
        }
    }

    /// Sets an environment variable of every run from now on.
    pub(crate) fn env(&mut self, name: &str, value: &str) {
        assert!(self.host.is_none(), "a test with environment variables needs Terraform");
        self.variables.insert(name.into(), value.into());
    }

    /// Sets the time limit of a run. The default is two minutes.
    pub(crate) fn within(&mut self, within: Duration) {
        self.within = within;
    }

    /// The path of the provider's log, which includes Terraform's log if a test enables it.
    pub(crate) fn log(&self) -> PathBuf {
        self.path().join(self.variables.get("TF_LOG_PATH").map_or("provider.log", String::as_str))
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn validate(&self) -> Run {
        if let Some(host) = &self.host {
            return Run::of("validate", host.validate());
        }
        self.run(&["validate", "-no-color"])
    }

    /// Plans into a file, which [`Workspace::plan_json`] and [`Workspace::apply_plan`] read. Exit code 0: no changes,
    /// 1: error, 2: changes. Options are, for example, `-refresh=false`, `-refresh-only` and `-destroy`.
    pub(crate) fn plan(&self, options: &[&str]) -> Run {
        if let Some(host) = &self.host {
            return Run::of("plan", host.plan(options));
        }
        let own = ["plan", "-no-color", "-input=false", "-detailed-exitcode", "-out=plan.bin"];
        self.run(&[&own[..], options].concat())
    }

    /// Plans, and returns the plan as JSON. Panics if the plan fails.
    pub(crate) fn plan_json(&self, options: &[&str]) -> Value {
        let plan = self.plan(options);
        assert!(plan.code != 1, "the plan fails:\n{plan}");
        self.shown_plan()
    }

    /// The plan of the last [`Workspace::plan`], as JSON.
    pub(crate) fn shown_plan(&self) -> Value {
        if let Some(host) = &self.host {
            return host.shown_plan();
        }
        let shown = self.run(&["show", "-json", "plan.bin"]);
        serde_json::from_str(&shown.succeeded().stdout).expect("terraform show -json prints JSON")
    }

    /// Plans, and panics with the plan if it is not empty. A test calls this after every apply.
    pub(crate) fn assert_nothing_to_do(&self) {
        let plan = self.plan(&[]);
        assert_eq!(plan.code, 0, "a second plan is not empty:\n{plan}");
    }

    pub(crate) fn apply(&self, options: &[&str]) -> Run {
        if let Some(host) = &self.host {
            return Run::of("apply", host.apply(options));
        }
        let own = ["apply", "-no-color", "-input=false", "-auto-approve"];
        self.run(&[&own[..], options].concat())
    }

    /// Applies the plan of the last [`Workspace::plan`].
    pub(crate) fn apply_plan(&self) -> Run {
        if let Some(host) = &self.host {
            return Run::of("apply", host.apply_plan());
        }
        self.run(&["apply", "-no-color", "-input=false", "plan.bin"])
    }

    pub(crate) fn destroy(&self) -> Run {
        if let Some(host) = &self.host {
            return Run::of("destroy", host.apply(&["-destroy"]));
        }
        self.run(&["destroy", "-no-color", "-input=false", "-auto-approve"])
    }

    /// `terraform state rm`: removes a resource from the state, and changes nothing else.
    pub(crate) fn forget(&self, address: &str) {
        match &self.host {
            Some(host) => host.forget(address),
            None => {
                self.run(&["state", "rm", address]).succeeded();
            }
        }
    }

    /// `terraform untaint`: keeps the objects of a failed create, so that the next apply completes them.
    pub(crate) fn untaint(&self, address: &str) {
        match &self.host {
            Some(host) => host.untaint(address),
            None => {
                self.run(&["untaint", address]).succeeded();
            }
        }
    }

    /// Removes the private state of a resource, as Terraform does if the provider is killed during an update.
    pub(crate) fn lose_private_state(&self, address: &str) {
        self.configurations.add_import();
        if let Some(host) = &self.host {
            return host.lose_private_state(address);
        }
        let path = self.path().join("terraform.tfstate");
        let state = fs::read_to_string(&path).expect("there is a state");
        let mut state: Value = serde_json::from_str(&state).expect("the state is JSON");
        let resources = state["resources"].as_array_mut().expect("a list").iter_mut();
        let is_it = |it: &&mut Value| {
            address
                == format!("{}.{}", it["type"].as_str().unwrap_or_default(), it["name"].as_str().unwrap_or_default())
        };
        let resource = resources.into_iter().find(is_it).unwrap_or_else(|| panic!("no {address} is in the state"));
        resource["instances"][0].as_object_mut().expect("an instance").remove("private").expect("it has private data");
        fs::write(&path, state.to_string()).expect("the state can be written");
    }

    pub(crate) fn show(&self) -> Run {
        self.run(&["show", "-no-color"])
    }

    /// The state file; an empty state if there is none yet. A killed Terraform may leave an empty file.
    pub(crate) fn state(&self) -> State {
        if let Some(host) = &self.host {
            return State(host.state());
        }
        let text = match &self.backend {
            Some(backend) => backend.state().unwrap_or_default(),
            None => fs::read_to_string(self.path().join("terraform.tfstate")).unwrap_or_default(),
        };
        let text = if text.is_empty() { "{}" } else { &text };
        State(serde_json::from_str(text).expect("terraform writes its state as JSON"))
    }

    /// Whether the program that the tests run is OpenTofu, for the few tests of what it does differently.
    pub(crate) fn is_opentofu(&self) -> bool {
        self.version().starts_with("OpenTofu")
    }

    /// Whether an apply receives the private data of the plan. Terraform passes it from version 1.16 on.
    pub(crate) fn passes_planned_private(&self) -> bool {
        let version = self.version();
        let minor = version.strip_prefix("Terraform v1.").and_then(|rest| rest.split('.').next());
        minor.is_some_and(|minor| minor.parse::<u32>().expect("a number") >= 16)
    }

    /// The program and its version, such as `Terraform v1.11.4`.
    fn version(&self) -> String {
        self.run(&["version"]).succeeded().stdout.lines().next().expect("a line").to_owned()
    }

    /// Runs a command to its end. Panics at the time limit.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.start(arguments).wait()
    }

    /// Runs an apply that is interrupted with Ctrl-C when `moment` holds, such as `|| proxy.succeeded("CreateSubnet")
    /// >= 5`.
    pub(crate) fn apply_interrupted(&self, moment: impl Fn() -> bool) -> Run {
        let running = self.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
        running.interrupt_when(moment).wait()
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        assert!(self.host.is_none(), "a test that runs terraform {} needs Terraform", arguments.join(" "));
        self.note_configurations();
        let output = |name: &str| {
            let file = tempfile::Builder::new().prefix(name).tempfile_in(self.path()).expect("the directory is ours");
            file.keep().expect("the file is ours")
        };
        let ((stdout, stdout_path), (stderr, stderr_path)) = (output("stdout-"), output("stderr-"));
        let program = std::env::var("TERRAFORM").unwrap_or_else(|_| "terraform".into());
        let child = self.command(&program, arguments, stdout, stderr).spawn().unwrap_or_else(|error| {
            panic!(
                "cannot run {program}: {error}. The tests need Terraform 1.8 or later: install it from \
                 https://developer.hashicorp.com/terraform/install, or name a binary with TERRAFORM=/path/to/terraform"
            )
        });
        reaper::group_started(child.id());
        Running {
            child,
            deadline: Instant::now() + self.within,
            command: arguments.join(" "),
            stdout_path,
            stderr_path,
        }
    }

    /// Adds the configurations that Terraform has generated, or that a test has changed.
    fn note_configurations(&self) {
        for entry in fs::read_dir(self.path()).expect("the directory is ours").flatten() {
            if entry.file_name().to_str().is_some_and(is_configuration) {
                self.configurations.add(&fs::read_to_string(entry.path()).expect("configurations are text"));
            }
        }
    }

    fn command(&self, program: &str, arguments: &[&str], stdout: File, stderr: File) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path())
            // Nothing of the developer's AWS or Terraform setup may affect a test.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("TF_CLI_CONFIG_FILE", self.path().join("terraformrc"))
            .envs([("CHECKPOINT_DISABLE", "1"), ("TF_IN_AUTOMATION", "1"), ("AWS_EC2_METADATA_DISABLED", "true")])
            .envs(self.logging())
            .envs(&self.variables)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            // A separate process group: Ctrl-C in a terminal reaches Terraform and the provider together, and so do our
            // signals.
            .process_group(0);
        command
    }

    /// The provider writes its log into a file, unless the test configures logging itself.
    fn logging(&self) -> Vec<(&'static str, String)> {
        if self.variables.keys().any(|name| name.starts_with("TF_LOG")) {
            return Vec::new();
        }
        vec![("TF_LOG_PROVIDER", "DEBUG".into()), ("TF_LOG_PATH", self.log().display().to_string())]
    }

    fn in_new_directory(provider: String) -> Self {
        let directory = tempfile::Builder::new().prefix("fgw-terraform-").tempdir().expect("a temporary directory");
        reaper::directory_created(directory.path());
        let variables = BTreeMap::new();
        let workspace = Self {
            directory,
            provider,
            variables,
            within: Duration::from_secs(120),
            host: None,
            backend: None,
            configurations: Configurations::default(),
        };
        let built =
            Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")).parent().expect("a binary is in a directory");
        workspace.write(
            "terraformrc",
            &format!(
                "provider_installation {{\n  dev_overrides {{\n    \"{SOURCE}\" = \"{}\"\n  }}\n  direct {{}}\n}}\n",
                built.display()
            ),
        );
        workspace.write("provider.tf", &workspace.provider);
        workspace
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Some(directory) = kept::directory() {
            kept::copy(self.path(), &directory);
        }
    }
}

/// A running command. Dropping it kills it and all processes that it started.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    deadline: Instant,
    command: String,
    stdout_path: PathBuf,
    stderr_path: PathBuf,
}

impl Running {
    /// Waits for the end. Panics with the output at the time limit.
    pub(crate) fn wait(mut self) -> Run {
        self.end()
    }

    /// The same, but leaves processes that outlive Terraform running until this is dropped.
    pub(crate) fn end(&mut self) -> Run {
        loop {
            if let Some(run) = self.ended() {
                return run;
            }
            if Instant::now() > self.deadline {
                self.kill();
                panic!("terraform {} exceeded its time limit; output so far:\n{}", self.command, self.output(None));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends Ctrl-C when `moment` holds. Panics if the command ends before, or at the time limit.
    pub(crate) fn interrupt_when(mut self, moment: impl Fn() -> bool) -> Self {
        self.reach(moment);
        self.interrupt();
        self
    }

    /// Waits until `moment` holds. Panics if the command ends before, or at the time limit.
    pub(crate) fn reach(&mut self, moment: impl Fn() -> bool) {
        while !moment() {
            if let Some(run) = self.ended() {
                panic!("terraform ended before the expected moment:\n{run}");
            }
            assert!(
                Instant::now() < self.deadline,
                "the expected moment did not occur within the time limit:\n{}",
                self.output(None)
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ctrl-C: SIGINT to Terraform and the provider.
    pub(crate) fn interrupt(&self) {
        signal("INT", &self.group());
    }

    /// SIGKILL to Terraform and the provider, as if the machine failed.
    pub(crate) fn kill(&mut self) {
        signal("KILL", &self.group());
        self.child.wait().expect("the child is ours");
    }

    /// SIGKILL to Terraform only.
    pub(crate) fn kill_terraform(&self) {
        signal("KILL", &self.child.id().to_string());
    }

    /// SIGKILL to the providers only. Terraform starts several, one after another.
    pub(crate) fn kill_providers(&self) {
        let providers = self.providers();
        assert!(!providers.is_empty(), "terraform {} has no provider running", self.command);
        for provider in &providers {
            signal("KILL", provider);
        }
    }

    /// The process IDs of the running providers, including those that have outlived Terraform.
    pub(crate) fn providers(&self) -> Vec<String> {
        let listed = Command::new("ps").args(["-A", "-o", "pid=", "-o", "pgid=", "-o", "args="]).output();
        let listed = String::from_utf8_lossy(&listed.expect("a POSIX system has ps").stdout).into_owned();
        let group = self.child.id().to_string();
        let provider = |line: &str| {
            let mut words = line.split_whitespace();
            let (id, its_group, program) = (words.next()?, words.next()?, words.next()?);
            // ps lists a process that has ended and was not waited for without its path.
            (its_group == group && program.ends_with("terraform-provider-fgw")).then(|| id.to_owned())
        };
        listed.lines().filter_map(provider).collect()
    }

    fn group(&self) -> String {
        format!("-{}", self.child.id())
    }

    fn ended(&mut self) -> Option<Run> {
        let status = self.child.try_wait().expect("the child is ours")?;
        // A signal is stored as its negative number. Exit codes are never negative.
        let code = status.code().unwrap_or_else(|| -status.signal().expect("a process ends by exit or by signal"));
        Some(self.output(Some(code)))
    }

    /// The output, with the exit code if the command has ended.
    pub(crate) fn output(&self, code: Option<i32>) -> Run {
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let (stdout, stderr) = (read(&self.stdout_path), read(&self.stderr_path));
        Run { command: self.command.clone(), code: code.unwrap_or(i32::MIN), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The provider may outlive Terraform.
        signal("KILL", &self.group());
        self.child.wait().expect("the child is ours");
        reaper::group_ended(self.child.id());
    }
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    command: String,
    /// The exit code, or the negative number of the signal that killed the process.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    fn of(command: &str, outcome: Outcome) -> Self {
        Self { command: command.into(), code: outcome.code, stdout: outcome.stdout, stderr: outcome.stderr }
    }

    /// Panics with the output unless the command succeeded.
    pub(crate) fn succeeded(&self) -> &Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// Panics unless the command failed and its error contains this text. Ignores Terraform's line breaks and frames.
    pub(crate) fn failed_with(&self, text: &str) -> &Self {
        assert_eq!(self.code, 1, "{self}");
        assert!(words(&self.stderr).contains(&words(text)), "no {text:?} in\n{self}");
        self
    }

    /// Whether the output contains this text. Ignores Terraform's line breaks and frames.
    pub(crate) fn says(&self, text: &str) -> bool {
        words(&self.stdout).contains(&words(text)) || words(&self.stderr).contains(&words(text))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { command, code, stdout, stderr } = self;
        write!(out, "terraform {command}: code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// A state file.
#[derive(Clone, Debug)]
pub(crate) struct State(pub(crate) Value);

impl State {
    /// An output's value, `null` if there is none.
    pub(crate) fn output(&self, name: &str) -> &Value {
        &self.0["outputs"][name]["value"]
    }

    /// The attributes of a resource without `count` or `for_each`, by an address such as `fgw_http_gateway.this`.
    pub(crate) fn resource(&self, address: &str) -> Option<&Value> {
        Some(&self.instance(address)?["attributes"])
    }

    /// One attribute. Panics if the state has no such resource.
    pub(crate) fn attribute(&self, address: &str, name: &str) -> &Value {
        let resource = self.resource(address).unwrap_or_else(|| panic!("no {address} in the state: {}", self.0));
        &resource[name]
    }

    /// The attributes of the instances of all managed resources whose types begin with this text, with those of deposed
    /// ones.
    pub(crate) fn resources_of<'a>(&'a self, types: &'a str) -> impl Iterator<Item = &'a Value> {
        let resources = self.0["resources"].as_array().into_iter().flatten();
        let is_of_types = move |found: &Value| found["type"].as_str().is_some_and(|it| it.starts_with(types));
        let found = resources.filter(move |found| found["mode"] == "managed" && is_of_types(found));
        found.flat_map(|found| found["instances"].as_array().into_iter().flatten()).map(|it| &it["attributes"])
    }

    /// Whether the state has an object at an address, including a deposed one.
    pub(crate) fn holds(&self, address: &str) -> bool {
        self.all(address).next().is_some()
    }

    pub(crate) fn is_tainted(&self, address: &str) -> bool {
        self.instance(address).is_some_and(|instance| instance["status"] == "tainted")
    }

    fn instance(&self, address: &str) -> Option<&Value> {
        self.all(address).find(|instance| instance["deposed"].is_null())
    }

    fn all(&self, address: &str) -> impl Iterator<Item = &Value> {
        let (kind, name) = address.split_once('.').expect("an address is a type and a name");
        let resources = self.0["resources"].as_array().into_iter().flatten();
        let found = resources.filter(move |found| found["type"] == kind && found["name"] == name);
        found.flat_map(|found| found["instances"].as_array().into_iter().flatten())
    }
}

/// The words of a text, without Terraform's frames around diagnostics and its line breaks in them.
fn words(text: &str) -> String {
    text.replace(['│', '╷', '╵'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Sends a signal to a process, or to the process group of a negative number.
fn signal(name: &str, to: &str) {
    // It is fine if the process has already ended. The shell's kill exists on every POSIX system.
    let _already_ended = Command::new("sh")
        .args(["-c", &format!("kill -s {name} -- {to}")])
        .stderr(Stdio::null())
        .status()
        .expect("a POSIX system has sh");
}
