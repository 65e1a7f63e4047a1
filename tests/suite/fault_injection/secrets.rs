//! No secret is leaked, whatever fails and however much is logged. The subjects of all campaigns log everything and are
//! checked in the same way.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::campaign::{Tally, campaign, sample};
use crate::support::emulator::{Account, Emulator};
use crate::support::interruption::interrupt;
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::{Run, SECRET_KEY, Workspace};

const TOKEN: &str = "IQoJb3JpZ2luX2VjEJr//////////wEaCSESSION+TOKEN/of/the/test==";
const WEB_IDENTITY: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ3ZWItaWRlbnRpdHkifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
const PROXY_PASSWORD: &str = "proxy-password-of-ada";
/// What a `credential_process` writes to stderr when it fails.
const VAULT_TOKEN: &str = "hvs.CAESIJ0123456789abcdefVaultTokenOnStderr";

/// Terraform's log file in a workspace.
const LOG: &str = "trace.log";

/// The emulator generates the credentials of a role. These names identify its answer.
const OF_ROLES: [&str; 2] = ["SecretAccessKey", "SessionToken"];

/// Where the first credentials come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Block,
    Environment,
    SharedFile,
    Process,
    Role,
    WebIdentity,
    WebIdentityFile,
}

/// The failure during the apply.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    /// AWS quotes the rejected request in its error, as the real AWS does.
    Echo,
    /// AWS rejects the credentials themselves, and quotes the request.
    Refused,
    /// Ctrl-C.
    Interrupt,
    /// The provider panics.
    Panic,
    /// The command of `credential_process` fails, and writes a secret to stderr.
    Command,
}

struct Case(Source, Failure);

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "credentials from {:?}, {:?}", self.0, self.1)
    }
}

/// AWS's error for a rejected signature, with all the forms in which it quotes the request.
fn echo() -> String {
    format!(
        "The request signature we calculated does not match the signature you provided. The Canonical String for this \
         request should have been 'POST / host:ec2 x-amz-security-token:{TOKEN} host;x-amz-date', the header was \
         'AWS4-HMAC-SHA256 Credential=AKIDSECRETIVE/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, \
         Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7', in a query \
         X-Amz-Security-Token={}&X-Amz-Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        percent_encoded(TOKEN),
    )
}

impl Case {
    fn workspace(&self, proxy: &Proxy) -> Workspace {
        let role: Account = Emulator::moto().account();
        let url = proxy.endpoint();
        let role_arn = format!("role_arn = \"arn:aws:iam::{}:role/deploy\"", role.id);
        let keys =
            format!("  access_key = \"AKIDSECRETIVE\"\n  secret_key = \"{SECRET_KEY}\"\n  token = \"{TOKEN}\"\n");
        let source = match self.0 {
            Source::Block => keys,
            Source::Environment => String::new(),
            Source::SharedFile => "  shared_credentials_files = [\"credentials\"]\n".to_string(),
            Source::Process => "  shared_config_files = [\"config\"]\n".to_string(),
            Source::Role => format!("{keys}  assume_role {{\n    {role_arn}\n    external_id = \"ticket\"\n  }}\n"),
            Source::WebIdentity => format!(
                "  assume_role_with_web_identity {{\n    {role_arn}\n    web_identity_token = \"{WEB_IDENTITY}\"\n  }}\n"
            ),
            Source::WebIdentityFile => format!(
                "  assume_role_with_web_identity {{\n    {role_arn}\n    web_identity_token_file = \"token\"\n  }}\n"
            ),
        };
        // An HTTPS proxy whose address is never used, because all calls go to loopback without TLS.
        let mut workspace = Workspace::with_blocks(&format!(
            "provider \"fgw\" {{\n  region = \"us-east-1\"\n  max_retries = 2\n  https_proxy = \
             \"http://ada:{PROXY_PASSWORD}@localhost:1\"\n{source}  endpoints {{\n    ec2 = \"{url}\"\n    sts = \"{url}\"\n  }}\n}}\n"
        ));
        let of_file = format!(
            "[default]\naws_access_key_id = AKIDSECRETIVE\naws_secret_access_key = {SECRET_KEY}\naws_session_token = {TOKEN}\n"
        );
        match self.0 {
            Source::Environment => {
                workspace.env("AWS_ACCESS_KEY_ID", "AKIDSECRETIVE");
                workspace.env("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
                workspace.env("AWS_SESSION_TOKEN", TOKEN);
            }
            Source::SharedFile => workspace.write("credentials", &of_file),
            Source::Process => {
                let answer = format!(
                    "{{\"Version\": 1, \"AccessKeyId\": \"AKIDSECRETIVE\", \"SecretAccessKey\": \"{SECRET_KEY}\", \
                     \"SessionToken\": \"{TOKEN}\"}}"
                );
                workspace.write("answer", &answer);
                let script = format!("if [ -e locked ]; then echo token={VAULT_TOKEN} >&2; exit 3; fi\ncat answer\n");
                workspace.write("process.sh", &script);
                workspace.write("config", "[default]\ncredential_process = sh process.sh\n");
            }
            Source::WebIdentityFile => workspace.write("token", WEB_IDENTITY),
            Source::Block | Source::Role | Source::WebIdentity => {}
        }
        workspace.config(
            "resource \"fgw_four_tier_vpc\" \"this\" {\n  vpc_name = \"this\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_nat_gateways = 0\n  num_availability_zones = 2\n  create_private_persistence_subnets = false\n}\n",
        );
        log_everything(&mut workspace);
        workspace.within(Duration::from_secs(240));
        workspace
    }

    /// AWS's error for these credentials. It quotes an invalid web identity token.
    fn echo(&self) -> String {
        match self.0 {
            Source::WebIdentity | Source::WebIdentityFile => {
                format!("Value '{WEB_IDENTITY}' at 'webIdentityToken' failed to satisfy a constraint. {}", echo())
            }
            _ => echo(),
        }
    }

    fn run(&self) -> Tally {
        let proxy = Proxy::moto();
        let mut workspace = self.workspace(&proxy);
        let mut runs: Vec<Run> = Vec::new();
        match self.1 {
            Failure::Echo => {
                proxy.fault(Fault::on("CreateSubnet").nth(2).answer(403, "SignatureDoesNotMatch", &self.echo()));
                runs.push(workspace.apply(&[]));
            }
            Failure::Refused => {
                for action in ["GetCallerIdentity", "AssumeRole", "AssumeRoleWithWebIdentity"] {
                    proxy.fault(Fault::on(action).answer(403, "IncompleteSignature", &self.echo()));
                }
                runs.push(workspace.apply(&[]));
            }
            Failure::Interrupt => {
                proxy.pause_when(1, |it| it.call.action == "CreateSubnet" && it.worked.is_some());
                let running = workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
                runs.push(interrupt(&workspace, running, &proxy, || {}).run);
            }
            Failure::Panic => {
                workspace.env("FGW_PANIC", "recorded create subnet.public.1");
                runs.push(workspace.apply(&[]));
                workspace.env("FGW_PANIC", "");
            }
            Failure::Command => {
                workspace.write("locked", "");
                runs.push(workspace.apply(&[]));
                std::fs::remove_file(workspace.path().join("locked")).expect("the directory is ours");
                runs[0].failed_with("Run the command of credential_process by hand");
            }
        }
        assert_eq!(runs[0].code, 1, "{}", runs[0]);
        if matches!(self.1, Failure::Echo | Failure::Refused) {
            assert!(runs[0].says("(hidden)"), "AWS's error must be reported with its secrets redacted: {}", runs[0]);
        }
        let faults = Tally::of(&proxy).faults.max(1);
        proxy.clear_faults();
        if workspace.state().is_tainted("fgw_four_tier_vpc.this") {
            workspace.run(&["untaint", "-no-color", "fgw_four_tier_vpc.this"]).succeeded();
        }
        let planned = workspace.plan(&[]);
        assert_ne!(planned.code, 1, "{planned}");
        // The plan as JSON contains the configuration with its secrets. That is Terraform's behavior.
        let shown = workspace.run(&["show", "-json", "plan.bin"]);
        let shown: serde_json::Value = serde_json::from_str(&shown.succeeded().stdout).expect("it is JSON");
        let changes = ["planned_values", "resource_changes", "resource_drift", "prior_state"].map(|part| &shown[part]);
        let changes = serde_json::json!(changes).to_string();
        runs.extend([planned, workspace.apply(&[]), workspace.show()]);
        // Private state is in the state as Base64.
        let state = workspace.state().0;
        let private = state["resources"][0]["instances"][0]["private"].as_str().unwrap_or_default().to_string();
        let private =
            String::from_utf8(STANDARD.decode(private).expect("Terraform writes Base64")).expect("it is JSON");
        assert!(private.contains("inventory"), "there is no private state: {state}");
        runs.push(workspace.run(&["destroy", "-no-color", "-input=false", "-auto-approve"]));
        for run in runs[1..].iter().filter(|run| run.code != 2) {
            run.succeeded();
        }

        let log = std::fs::read_to_string(workspace.path().join(LOG)).expect("there is a log");
        assert!(log.contains("fgw.reconcile") && log.contains("created subnet"), "the log has no line of the provider");
        assert_no_secret_in("private state", &private);
        assert_no_secret_in("the plan", &changes);
        for run in &runs {
            assert_no_secret_in("output", &run.to_string());
        }
        assert_no_secret_is_leaked(workspace.path());
        proxy.account().assert_nothing_of_ours_is_left();
        Tally { faults, ..Tally::of(&proxy) }
    }
}

/// Panics if a file that Terraform or the provider wrote in a workspace contains a secret of any campaign.
pub(super) fn assert_no_secret_is_leaked(directory: &Path) {
    for file in written(directory) {
        let text = std::fs::read(&file).expect("the directory is ours");
        assert_no_secret_in(&file.display().to_string(), &String::from_utf8_lossy(&text));
    }
}

/// Makes Terraform and the provider log everything.
pub(super) fn log_everything(workspace: &mut Workspace) {
    workspace.env("TF_LOG", "TRACE");
    workspace.env("TF_LOG_PATH", LOG);
}

fn assert_no_secret_in(place: &str, text: &str) {
    for form in forms() {
        if text.contains(form.as_str()) {
            let line = text.lines().find(|line| line.contains(form.as_str()));
            panic!("{form} is in {place}: {line:?}");
        }
    }
    // The name of the header is a secret only together with its value. Terraform's own lines contain neither.
    let is_header = |at: &str| {
        at.get(.."authorization: aws4".len()).is_some_and(|it| it.eq_ignore_ascii_case("authorization: aws4"))
    };
    let header = text.lines().find(|line| line.match_indices(['a', 'A']).any(|(at, _)| is_header(&line[at..])));
    assert!(header.is_none(), "a header is in {place}: {header:?}");
}

/// The strings that no text may contain: the secrets in plain and in encoded form, and texts that accompany them.
fn forms() -> &'static [String] {
    static FORMS: OnceLock<Vec<String>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let secrets = [SECRET_KEY, TOKEN, WEB_IDENTITY, PROXY_PASSWORD, VAULT_TOKEN];
        let mut forms: Vec<String> = secrets.iter().map(|secret| (*secret).to_string()).collect();
        forms.extend(secrets.iter().map(|secret| percent_encoded(secret)));
        // The Base64 form depends on the position of the secret in a text. Its middle has one of three forms.
        for secret in secrets {
            for shift in 0..3 {
                let encoded = STANDARD.encode(format!("{}{secret}", &"   "[..shift]));
                forms.push(encoded[4..encoded.len() - 4].to_string());
            }
        }
        forms.extend(["Credential=AKID", "SignedHeaders=", "5d672d79c15b1316"].map(str::to_string));
        forms.extend(OF_ROLES.map(str::to_string));
        forms
    })
}

/// The files in a workspace that Terraform and the provider wrote.
fn written(directory: &Path) -> Vec<PathBuf> {
    let ours = ["provider.tf", "credentials", "config", "answer", "process.sh", "token", "main.tf", "terraformrc"];
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the directory is ours") {
        let path = entry.expect("the directory is ours").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The output of runs is checked elsewhere, without the configuration in a plan as JSON.
        if name.starts_with("stdout-") || name.starts_with("stderr-") {
            continue;
        }
        if path.is_dir() {
            files.extend(written(&path));
        } else if !ours.iter().any(|name| path.ends_with(name)) {
            files.push(path);
        }
    }
    files
}

fn percent_encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[test]
fn no_secret_is_leaked_whatever_fails() {
    use Source::{Block, Environment, Process, Role, SharedFile, WebIdentity, WebIdentityFile};
    let mut cases = Vec::new();
    // In this order, a sample of five contains every failure and sources of four kinds.
    for (failure, sources) in [
        (Failure::Echo, [Block, Environment, SharedFile, Process, Role, WebIdentity, WebIdentityFile]),
        (Failure::Interrupt, [Process, WebIdentityFile, Role, SharedFile, Block, Environment, WebIdentity]),
        (Failure::Panic, [Environment, Role, Block, WebIdentity, SharedFile, WebIdentityFile, Process]),
        (Failure::Refused, [SharedFile, Block, Role, Environment, Process, WebIdentityFile, WebIdentity]),
    ] {
        cases.extend(sources.map(|source| Case(source, failure)));
    }
    cases.push(Case(Process, Failure::Command));
    campaign("Secrets with TF_LOG=TRACE", sample(cases, 5), Case::run);
}
