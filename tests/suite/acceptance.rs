//! `make acceptance` and `make sweep`, in full against the emulators: networks on moto, everything else on ministack,
//! each through its proxy.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::emulator::{Account, Emulator};
use crate::support::proxy::Proxy;
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;
use crate::support::terraform::SECRET_KEY;
use crate::support::wait::until;
use crate::support::{kept, reaper, venv};

const TOKEN: &str = "tests/SESSIONTOKEN+IQoJb3JpZ2luX2VjEHUaCXVzLWVhc3QtMSJI";

/// One account on both emulators, and a directory for the report.
struct TestEnv {
    network: Proxy,
    gateway: Proxy,
    directory: TempDir,
}

/// A finished run.
struct Finished {
    code: Option<i32>,
    /// Standard output and standard error.
    text: String,
}

impl TestEnv {
    fn new() -> Self {
        let gateway = Proxy::ministack();
        let account = Account { id: gateway.account().id.clone(), emulator: Emulator::moto() };
        let network = Proxy::in_account(account);
        network.has_links_of(gateway.account().clone());
        Self { network, gateway, directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// With a hosted zone and a certificate for the parts that need a domain.
    fn with_domain() -> Self {
        let env = Self::new();
        let account = env.gateway.account();
        account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
        let zone = json!({ "Name": "example.com", "CallerReference": account.id });
        account.boto("route53", "create_hosted_zone", zone);
        env
    }

    /// Changes of state take some reads.
    fn change_states_slowly(&self) {
        self.network.nat_pending(Lasts::Answers(2));
        self.network.nat_deleting(Lasts::Answers(2));
        self.network.ipv6_associating(Lasts::Answers(2));
    }

    fn run(&self, command: &str, variables: &[(&str, &str)]) -> Finished {
        self.start(command, variables, Stdio::null()).end()
    }

    fn start(&self, command: &str, variables: &[(&str, &str)], stdin: Stdio) -> Running {
        self.start_python(&["scripts/acceptance", command], variables, stdin)
    }

    fn start_python(&self, arguments: &[&str], variables: &[(&str, &str)], stdin: Stdio) -> Running {
        let output = self.directory.path().join("output.txt");
        let file = std::fs::File::create(&output).expect("the directory is ours");
        let child = Command::new(venv::program("python"))
            .arg("-B")
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path())
            .env("AWS_ACCESS_KEY_ID", &self.gateway.account().id)
            .envs([("AWS_SECRET_ACCESS_KEY", SECRET_KEY), ("AWS_SESSION_TOKEN", TOKEN), ("AWS_REGION", "us-east-1")])
            .envs([("AWS_ENDPOINT_URL", self.gateway.endpoint()), ("AWS_ENDPOINT_URL_EC2", self.network.endpoint())])
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("FGW_BINARY", env!("CARGO_BIN_EXE_terraform-provider-fgw"))
            .env("TERRAFORM", std::env::var("TERRAFORM").unwrap_or_else(|_| "terraform".into()))
            .env("REPORT", self.report())
            .envs([("YES", "1"), ("FGW_ACCEPTANCE_POLL", "0.05"), ("FGW_ACCEPTANCE_WATCH", "3")])
            .envs(variables.iter().copied())
            .stdin(stdin)
            .stdout(file.try_clone().expect("a file handle can be duplicated"))
            .stderr(file)
            .process_group(0)
            .spawn()
            .expect("the environment has Python");
        reaper::group_started(child.id());
        Running { child, output }
    }

    fn report(&self) -> PathBuf {
        self.directory.path().join("acceptance/report.md")
    }

    /// The report as data.
    fn facts(&self) -> Value {
        let text = read(&self.report().with_extension("json"));
        serde_json::from_str(&text).expect("the report is JSON")
    }

    /// Asserts that a run passed, reported so, and left neither objects nor secrets.
    fn assert_passed(&self, finished: &Finished) -> Value {
        let facts = self.facts();
        assert_eq!(finished.code, Some(0), "{}", finished.text);
        assert_eq!(facts["result"], "passed");
        assert_eq!(facts["target"], "emulator");
        let report = read(&self.report());
        assert!(report.contains("This run used an emulator."), "{report}");
        assert!(!report.contains("object at 0x"), "{report}");
        self.assert_calls_are_allowed();
        self.assert_nothing_left();
        self.assert_no_secrets(&finished.text);
        facts
    }

    /// The policy of the scripts allows each of their calls. The actions of API Gateway are HTTP methods, all of which
    /// it allows.
    fn assert_calls_are_allowed(&self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/acceptance/policy.json");
        let policy: Value = serde_json::from_str(&read(&path)).expect("the policy is JSON");
        let actions = policy["Statement"].as_array().into_iter().flatten().flat_map(|it| it["Action"].as_array());
        let allowed: BTreeSet<&str> = actions.flatten().filter_map(Value::as_str).collect();
        let is_allowed = |action: &str| {
            let is_described = action.starts_with("ec2:Describe") && allowed.contains("ec2:Describe*");
            is_described || action.starts_with("apigateway:") || allowed.contains(action)
        };
        let calls = [self.network.calls(), self.gateway.calls()].concat();
        let by_scripts = calls.iter().filter(|it| it.call.user_agent.contains("Boto3"));
        let made: BTreeSet<String> = by_scripts.map(|it| format!("{}:{}", it.call.service, it.call.action)).collect();
        assert!(made.len() > 10, "{made:?}");
        let denied: Vec<&String> = made.iter().filter(|action| !is_allowed(action)).collect();
        assert!(denied.is_empty(), "{denied:?}");
    }

    fn assert_nothing_left(&self) {
        assert_eq!(self.tagged(), Vec::<String>::new());
        self.network.account().assert_nothing_of_ours_is_left();
        self.gateway.account().assert_nothing_of_ours_is_left();
    }

    /// The objects with the tag of the scripts, by boto3 without the scripts.
    fn tagged(&self) -> Vec<String> {
        let mut found = Vec::new();
        for account in [self.network.account(), self.gateway.account()] {
            let all = account.list();
            for (kind, objects) in all.as_object().expect("a listing is a map") {
                let tagged = |it: &&Value| it["tags"]["fgw-acceptance"].is_string();
                let count = objects.as_array().into_iter().flatten().filter(tagged).count();
                found.extend((count > 0).then(|| format!("{count} {kind}")));
            }
        }
        let functions = self.gateway.account().list_of("functions").len();
        found.extend((functions > 0).then(|| format!("{functions} functions")));
        let roles = self.gateway.account().boto("iam", "list_roles", json!({ "PathPrefix": "/fgw-acceptance/" }));
        found.extend(roles["Roles"].as_array().into_iter().flatten().map(|it| it["RoleName"].to_string()));
        found
    }

    /// No output, report or transcript contains credentials or the whole account ID.
    fn assert_no_secrets(&self, output: &str) {
        let mut texts = vec![("output".to_owned(), output.to_owned())];
        collect(self.report().parent().expect("it is in a directory"), &mut texts);
        assert!(texts.len() > 3, "{:?}", texts.iter().map(|(name, _)| name).collect::<Vec<_>>());
        let id = &self.gateway.account().id;
        for (name, text) in texts {
            assert!(!text.contains(SECRET_KEY) && !text.contains(TOKEN), "{name} contains credentials");
            let is_state = name.contains("terraform.tfstate") || name.contains(".tf");
            assert!(is_state || !text.contains(id.as_str()), "{name} contains the account ID:\n{text}");
        }
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        if let Some(directory) = kept::directory() {
            kept::copy(self.directory.path(), &directory);
        }
    }
}

/// A run in the background.
struct Running {
    child: Child,
    output: PathBuf,
}

impl Running {
    /// Ctrl-C to the script alone, as a terminal sends it to no other process group.
    fn interrupt(&self) {
        let kill = Command::new("sh").args(["-c", &format!("kill -s INT {}", self.child.id())]).status();
        assert!(kill.expect("a POSIX system has sh").success());
    }

    fn end(mut self) -> Finished {
        let status = self.child.wait().expect("the child is ours");
        reaper::group_ended(self.child.id());
        Finished { code: status.code(), text: read(&self.output) }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All text files in a directory, by path.
fn collect(directory: &Path, texts: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(directory).expect("a directory can be read") {
        let path = entry.expect("a directory can be read").path();
        if path.is_dir() {
            collect(&path, texts);
        } else if !path.is_symlink()
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            texts.push((path.display().to_string(), text));
        }
    }
}

/// Runs a line of Python with the modules of the scripts.
fn python(code: &str, arguments: &[&str]) {
    let run = Command::new(venv::program("python"))
        .args(["-B", "-c", code])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts"))
        .output()
        .expect("the environment has Python");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn results(facts: &Value) -> Vec<String> {
    let scenarios = facts["scenarios"].as_array().expect("a list").iter();
    scenarios.map(|it| format!("{} {}", it["name"].as_str().unwrap_or_default(), it["result"])).collect()
}

#[test]
fn network_scenarios_pass() {
    let env = TestEnv::new();
    env.change_states_slowly();
    let finished = env.run("run", &[("ONLY", "network")]);
    let facts = env.assert_passed(&finished);
    assert_eq!(results(&facts).len(), 10, "{facts:#}");
    assert!(results(&facts).iter().all(|it| it.ends_with("\"passed\"")), "{facts:#}");
}

#[test]
fn gateway_scenarios_pass() {
    let env = TestEnv::with_domain();
    let role = format!("arn:aws:iam::{}:role/fgw", env.gateway.account().id);
    let variables = [("ONLY", "gateway"), ("DOMAIN", "example.com"), ("ROLE_ARN", &role)];
    let finished = env.run("run", &variables);
    let facts = env.assert_passed(&finished);
    assert!(env.gateway.count("AssumeRole") > 0, "the provider assumes the role");
    assert!(facts["role"].as_str().is_some_and(|role| role.ends_with(":role/fgw")), "{}", facts["role"]);
    assert_eq!(results(&facts).len(), 11, "{facts:#}");
    assert!(results(&facts).iter().all(|it| it.ends_with("\"passed\"")), "{facts:#}");
    let under_load =
        facts["questions"].as_array().into_iter().flatten().find(|it| it["id"] == "route-moved-under-load");
    assert_eq!(under_load.expect("it is observed")["verdict"], "as assumed", "{facts:#}");
}

#[test]
fn each_question_has_an_observation() {
    let env = TestEnv::with_domain();
    env.change_states_slowly();
    env.network.hide_new_objects(Lasts::Answers(1));
    env.gateway.hide_new_objects(Lasts::Answers(1));
    let finished = env.run("run", &[("ONLY", "questions"), ("DOMAIN", "example.com")]);
    let facts = env.assert_passed(&finished);
    let questions = facts["questions"].as_array().expect("a list");
    assert!(questions.len() > 30, "{}", questions.len());
    for question in questions {
        assert!(question["observation"].as_str().is_some_and(|text| !text.is_empty()), "{question:#}");
        let verdict = question["verdict"].as_str().expect("a verdict");
        assert!(["as assumed", "differs", "recorded"].contains(&verdict), "{question:#}");
    }
}

#[test]
fn without_a_confirmation_nothing_is_created() {
    let env = TestEnv::new();
    let mut running = env.start("run", &[("YES", "0")], Stdio::piped());
    let mut stdin = running.child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut stdin, b"210987654321\n").expect("the script reads");
    drop(stdin);
    let finished = running.end();
    assert_eq!(finished.code, Some(1), "{}", finished.text);
    assert!(finished.text.contains("Nothing was created."), "{}", finished.text);
    assert!(finished.text.contains("Expected cost: about "), "{}", finished.text);
    let changes = [env.network.mutations(), env.gateway.mutations()].concat();
    assert!(changes.is_empty(), "{changes:?}");
    assert!(!env.report().exists());
}

#[test]
fn a_provider_without_access_creates_nothing() {
    let env = TestEnv::new();
    // boto3 and the provider read different variables of profiles, for example.
    env.gateway.fault(Fault::on("AssumeRole").answer(403, "AccessDenied", "not you, with an explicit deny"));
    let finished = env.run("run", &[("ROLE_ARN", "arn:aws:iam::210987654321:role/fgw")]);
    assert_eq!(finished.code, Some(1), "{}", finished.text);
    assert!(finished.text.contains("AccessDenied"), "{}", finished.text);
    let changes = [env.network.mutations(), env.gateway.mutations()].concat();
    assert!(changes.iter().all(|it| it.call.action == "AssumeRole"), "{changes:?}");
    assert_eq!(env.facts()["result"], "failed");
    assert_eq!(env.facts()["complete"], false);
}

#[test]
fn only_1_is_a_confirmation_in_advance() {
    let env = TestEnv::new();
    for command in ["run", "sweep"] {
        let finished = env.run(command, &[("YES", "no")]);
        assert_eq!(finished.code, Some(1), "{}", finished.text);
        assert!(finished.text.contains("YES is 'no'"), "{}", finished.text);
    }
    assert!([env.network.mutations(), env.gateway.mutations()].concat().is_empty());
}

#[test]
fn a_failed_scenario_fails_the_run_and_leaves_nothing() {
    let env = TestEnv::new();
    env.network.fault(Fault::on("CreateNatGateway").answer(400, "NotAvailableInZone", "not here"));
    // AWS quotes values of a request in some messages.
    let quoted = format!("{SECRET_KEY} of {}", env.network.account().id);
    env.network.fault(Fault::on("ModifyVpcTenancy").answer(400, "Quoted", &quoted));
    let finished = env.run("run", &[("ONLY", "network-resource,network-private-nat,tenancy-default")]);
    assert_eq!(finished.code, Some(1), "{}", finished.text);
    let facts = env.facts();
    assert_eq!(facts["result"], "failed");
    assert_eq!(results(&facts), ["network-private-nat \"failed\"", "network-resource \"failed\""]);
    assert!(facts["scenarios"][0]["failure"].to_string().contains("NotAvailableInZone"), "{facts:#}");
    let last_digits = &env.network.account().id[8..];
    assert_eq!(facts["questions"][0]["observation"], format!("Quoted: [redacted] of ********{last_digits}"));
    assert!(read(&env.report()).contains("- Result: failed"));
    env.assert_nothing_left();
    env.assert_no_secrets(&finished.text);
}

#[test]
fn an_interrupted_run_names_the_sweep() {
    let env = TestEnv::new();
    env.network.pause_when(1, |record| record.call.action == "CreateSubnet");
    let running = env.start("run", &[("ONLY", "network-resource,network-private-nat")], Stdio::null());
    until("the first network is created", || env.network.is_paused());
    running.interrupt();
    env.network.resume();
    let finished = running.end();
    assert_eq!(finished.code, Some(130), "{}", finished.text);
    assert!(finished.text.contains("To delete them: make sweep"), "{}", finished.text);
    assert_eq!(env.facts()["result"], "interrupted");
    assert_eq!(results(&env.facts()), ["network-private-nat \"failed\""], "no scenario starts after the interruption");
    env.assert_no_secrets(&finished.text);
    let finished = env.run("sweep", &[]);
    assert_eq!(finished.code, Some(0), "{}", finished.text);
    env.assert_nothing_left();
}

#[test]
fn a_sweep_deletes_every_kind_of_object() {
    let env = TestEnv::with_domain();
    let is_deletion = |call: &Call| call.action.starts_with("Delete") || call.param("Action") == "DELETE";
    env.gateway.fault(Fault::on("*").when(is_deletion).answer(403, "AccessDeniedException", "not yours"));
    let finished = env.run("run", &[("ONLY", "gateway-domain,gateway-logs"), ("DOMAIN", "example.com")]);
    assert_eq!(finished.code, Some(1), "{}", finished.text);
    let left = env.facts()["left"].to_string();
    for kind in ["DNS record A", "custom domain", "HTTP API", "log group", "function", "role", "key"] {
        assert!(left.contains(kind), "{kind} is missing: {left}");
    }
    env.gateway.clear_faults();
    let tag = json!([{ "TagKey": "fgw-acceptance", "TagValue": "fgw-acceptance" }]);
    let key = env.gateway.account().boto("kms", "create_key", json!({ "Tags": tag }))["KeyMetadata"]["KeyId"].clone();
    let subnet = env.network.account().boto("ec2", "describe_subnets", json!({}))["Subnets"][0]["SubnetId"].clone();
    let link = json!({ "Name": "left", "SubnetIds": [subnet], "Tags": { "fgw-acceptance": "fgw-acceptance" } });
    env.gateway.account().boto("apigatewayv2", "create_vpc_link", link);
    let finished = env.run("sweep", &[("DOMAIN", "")]);
    let key = env.gateway.account().boto("kms", "describe_key", json!({ "KeyId": key }));
    assert_eq!(key["KeyMetadata"]["KeyState"], "PendingDeletion", "a key without an alias: {}", finished.text);
    assert_eq!(finished.code, Some(0), "{}", finished.text);
    assert_eq!(env.tagged(), Vec::<String>::new());
    let zones = env.gateway.account().list_of("hosted_zones");
    let names = zones[0]["records"].as_array().into_iter().flatten().map(|it| it["Type"].clone());
    assert!(names.into_iter().all(|kind| kind != "A"), "{zones:?}");
    let finished = env.run("sweep", &[]);
    assert!(finished.code == Some(0) && finished.text.contains("  none"), "{}", finished.text);
    env.assert_calls_are_allowed();
}

#[test]
fn a_sweep_deletes_what_a_killed_run_left() {
    let env = TestEnv::new();
    let mut running = env.start("run", &[("ONLY", "network-resource")], Stdio::null());
    env.network.wait_for("CreateSubnet", 3);
    running.child.kill().expect("the child is ours");
    running.end();
    env.network.finish_calls();
    env.gateway.finish_calls();
    let similar = json!({ "CidrBlock": "10.0.0.0/16" });
    let similar = env.network.account().boto("ec2", "create_vpc", similar)["Vpc"]["VpcId"].clone();
    let other = json!({ "TagSpecifications": [{ "ResourceType": "internet-gateway",
        "Tags": [{ "Key": "fgw-acceptance", "Value": "another" }] }] });
    env.network.account().boto("ec2", "create_internet_gateway", other);
    assert!(!env.tagged().is_empty());

    let finished = env.run("sweep", &[("YES", "0")]);
    assert_eq!(finished.code, Some(1), "{}", finished.text);
    assert!(finished.text.contains("Nothing was deleted."), "{}", finished.text);
    let finished = env.run("sweep", &[]);
    assert_eq!(finished.code, Some(0), "{}", finished.text);
    assert_eq!(env.tagged(), ["1 internet_gateways"], "{}", finished.text);
    let vpcs = env.network.account().list_of("vpcs");
    assert_eq!(vpcs.iter().map(|it| &it["VpcId"]).collect::<Vec<_>>(), [&similar]);
    env.assert_calls_are_allowed();
}

#[test]
fn each_question_names_a_file_and_has_its_own_id() {
    let code = "from acceptance.report import NOT_ASKED; from acceptance.gateway_questions import UNDER_LOAD; \
                from acceptance.run import QUESTIONS; from processes import ROOT; \
                rows = [UNDER_LOAD, *(row for it in QUESTIONS for row in it.rows)]; \
                ids = [*(row.id for row in rows), *(it[0] for it in NOT_ASKED)]; \
                assert len(ids) == len(set(ids)), ids; \
                missing = [row for row in rows if not (ROOT / row.source.split(',')[0]).is_file()]; \
                assert not missing, missing";
    python(code, &[]);
}

#[test]
fn a_report_of_aws_replaces_a_section_of_the_page() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let page = directory.path().join("reliability.md");
    let before = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md"));
    std::fs::write(&page, &before).expect("the directory is ours");
    let code = "import pathlib, sys; from acceptance import report; \
                report.publish(pathlib.Path(sys.argv[1]), sys.argv[2])";
    for text in ["# Acceptance run\n\nthe earlier run\n\n## Scenarios\n", "# Acceptance run\n\nsecond\n"] {
        python(code, &[page.to_str().expect("a path"), text]);
    }
    let after = read(&page);
    assert!(after.contains("\n## Acceptance run\n\nsecond\n") && !after.contains("the earlier run"), "{after}");
    let (begin, end) = ("<!-- The section below", "ends here. -->\n\nFor the consequences");
    let outside = |text: &str| {
        let (head, rest) = text.split_once(begin).expect("the page has the mark");
        format!("{head}{}", rest.split_once(end).expect("the page has the mark").1)
    };
    assert_eq!(outside(&before), outside(&after));
}

#[test]
fn an_incomplete_run_on_aws_does_not_change_the_page() {
    let env = TestEnv::new();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let before = read(&page);
    // The emulators count as AWS.
    let code = "import runpy, sys; sys.path.insert(0, 'scripts'); import acceptance.account; \
                acceptance.account.is_of_aws = lambda _: True; runpy.run_module('acceptance', run_name='__main__')";
    let finished = env.start_python(&["-c", code, "run"], &[("ONLY", "vpc-in-use")], Stdio::null()).end();
    assert_eq!(finished.code, Some(0), "{}", finished.text);
    assert!(finished.text.contains("docs/reliability.md is unchanged"), "{}", finished.text);
    let report = read(&env.report());
    assert!(report.contains("Target: AWS") && !report.contains("emulator"), "{report}");
    assert!(report.contains("- Result: passed, not all parts ran"), "{report}");
    assert_eq!(read(&page), before);
    env.assert_nothing_left();
}

#[test]
fn answers_of_a_gateway_on_aws_are_read_by_status() {
    let emulator = Emulator::ministack();
    let code = "import sys, types; from acceptance import http_client; \
                run = types.SimpleNamespace(account=types.SimpleNamespace(is_emulator=False)); \
                found = [http_client.call(run, url)[0] for url in sys.argv[1:]]; \
                assert found == [200, 404, 0], found";
    let ready = format!("{}/_ministack/ready", emulator.endpoint());
    let missing = format!("{}/_aws/execute-api/00000000/x", emulator.endpoint());
    python(code, &[&ready, &missing, "http://127.0.0.1:1/"]);
}

#[test]
fn errors_of_aws_are_shown_without_the_name_of_the_caller() {
    let code = "from acceptance.account import Account; account = Account.__new__(Account); account.id = None; \
                account.secrets = set(); account.names = {'AROA1:ada@example.com', 'ada@example.com'}; \
                account.remember_secrets = lambda: 1 / 0; \
                text = 'User: arn:aws:sts::1:assumed-role/Admins/ada@example.com is not authorized; user ada@example.com'; \
                expected = 'User: arn:aws:sts::1:assumed-role/[redacted] is not authorized; user [redacted]'; \
                assert account.redact(text) == expected, account.redact(text)";
    python(code, &[]);
}

#[test]
fn only_the_endpoints_of_aws_count_as_aws() {
    let code = "import sys; from acceptance.account import is_of_aws; \
                assert [is_of_aws(it) for it in sys.argv[1:]] == [True] * 6 + [False] * 4, sys.argv";
    let aws = [
        "https://ec2.eu-central-1.amazonaws.com",
        "https://iam.amazonaws.com",
        "https://lambda.cn-north-1.amazonaws.com.cn",
        "https://ec2.eu-west-1.api.aws",
        "https://sts-fips.us-east-1.amazonaws.com",
        "https://vpce-1-2.sts.us-east-1.vpce.amazonaws.com",
    ];
    let others =
        ["http://127.0.0.1:4566", "http://localhost.localstack.cloud:4566", "https://notamazonaws.com", "http://aws"];
    python(code, &[&aws[..], &others[..]].concat());
}
