//! Static checks of the GitHub workflows, and of `make test` with Terraform and OpenTofu.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::release::{directory, python};

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names and the parsed contents of the workflows.
fn workflows() -> Vec<(String, Value)> {
    let mut files: Vec<_> = fs::read_dir(top().join(".github/workflows"))
        .expect("there are workflows")
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let program = "import json, sys, yaml\nprint(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    files
        .iter()
        .map(|file| (file.file_stem().unwrap().to_string_lossy().into_owned(), python(program, &[file])))
        .collect()
}

/// The targets that the Makefile declares.
fn targets() -> BTreeSet<String> {
    let makefile = fs::read_to_string(top().join("Makefile")).unwrap();
    let phony =
        makefile.lines().find_map(|line| line.strip_prefix(".PHONY:")).expect("the Makefile lists its phony targets");
    let targets: BTreeSet<String> = phony.split_whitespace().map(str::to_owned).collect();
    for target in &targets {
        let head = format!("{target}:");
        assert!(
            makefile.lines().any(|line| line.starts_with(&head) && line.contains(" ## ")),
            "no {target} in the Makefile"
        );
    }
    targets
}

/// The names after `prefix` in the expressions of a text: `${{ matrix.target }}`.
fn named<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    text.split(prefix).skip(1).map(|rest| rest.split(|it| !is_part(it)).next().unwrap_or_default()).collect()
}

#[test]
fn workflows_are_valid_and_call_existing_targets() {
    let (workflows, targets) = (workflows(), targets());
    assert_eq!(workflows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["check", "release"]);
    let mut called = BTreeSet::new();
    for (file, workflow) in &workflows {
        assert_eq!(workflow["name"], file.as_str());
        // YAML parses the key `on` as the boolean true.
        assert!(workflow["true"].is_object(), "{file} has no triggers");
        let jobs = workflow["jobs"].as_object().expect("a workflow has jobs");
        for (name, job) in jobs {
            let place = format!("{file}.{name}");
            let all_exist = needs(job).iter().all(|needed| jobs.contains_key(*needed));
            assert!(all_exist, "{place} needs a job that does not exist");
            if let Some(other) = job["uses"].as_str() {
                assert!(other.starts_with("./") && top().join(other).is_file(), "{place} uses {other}");
                continue;
            }
            assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_u64(), "{place}");
            let matrix = &job["strategy"]["matrix"];
            let text = job.to_string();
            for key in named(&text, "matrix.") {
                let listed = matrix["include"].as_array().is_some_and(|all| all.iter().all(|one| one[key].is_string()));
                assert!(listed || matrix[key].is_array(), "{place} has no {key} in its matrix");
            }
            for step in job["steps"].as_array().expect("a job has steps") {
                check_step(&place, step, &targets, &mut called);
            }
        }
    }
    assert_eq!(called.into_iter().collect::<Vec<_>>(), [".ci/run", "deny", "package", "package-sums"]);
}

/// The jobs that a job needs.
fn needs(job: &Value) -> Vec<&str> {
    job["needs"].as_array().into_iter().flatten().map(|needed| needed.as_str().expect("a job has a name")).collect()
}

fn check_step(place: &str, step: &Value, targets: &BTreeSet<String>, called: &mut BTreeSet<String>) {
    let Some(script) = step["run"].as_str() else {
        assert!(step["uses"].is_string(), "{place}: {step} has neither run nor uses");
        return;
    };
    assert!(step["uses"].is_null(), "{place}: {step} has both run and uses");
    // GitHub replaces expressions before it starts the shell.
    let expressions = script.split("${{").skip(1).map(|rest| rest.split_once("}}").expect("an expression ends").0);
    let mut plain = script.to_owned();
    for inner in expressions {
        let is_ours = inner.trim().starts_with("matrix.");
        assert!(is_ours, "{place}: a script reads {inner} from the environment, because GitHub does not quote it");
        plain = plain.replace(&format!("${{{{{inner}}}}}"), "x");
    }
    let syntax = Command::new("sh").args(["-n", "-c", &plain]).output().expect("a POSIX system has sh");
    assert!(syntax.status.success(), "{place}: {script}: {}", String::from_utf8_lossy(&syntax.stderr));
    for line in plain.lines().map(str::trim) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("make") => {
                let target = words.next().unwrap_or_default();
                assert!(targets.contains(target), "{place}: there is no target {target}");
                called.insert(target.to_owned());
            }
            Some(program) if program.starts_with('.') => {
                assert!(top().join(program).is_file(), "{place}: {program} does not exist");
                called.insert(program.to_owned());
            }
            _ => {}
        }
    }
}

/// The permissions that a job has in addition to that to read the contents of the repository.
const PERMISSIONS: [(&str, &[&str]); 2] =
    [("release.attest", &["attestations: write", "id-token: write"]), ("release.release", &["contents: write"])];

#[test]
fn workflows_pin_all_code_and_have_minimal_permissions() {
    for (file, workflow) in workflows() {
        let text = fs::read_to_string(top().join(format!(".github/workflows/{file}.yml"))).unwrap();
        // Such a workflow runs with the secrets of the repository on code of a pull request.
        assert!(!text.contains("pull_request_target") && !text.contains("workflow_run"), "{file}");
        for line in text.lines().filter(|line| line.contains("uses: ") && !line.contains("uses: ./")) {
            let (_, action) = line.split_once("uses: ").unwrap();
            let (pinned, version) = action.split_once(" # v").unwrap_or_else(|| panic!("{file}: {action}: no version"));
            let commit = pinned.split_once('@').unwrap_or_default().1;
            let is_commit = commit.len() == 40 && commit.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
            assert!(is_commit, "{file}: {action} is not pinned to a commit: others can move a tag");
            assert_eq!(version.split('.').count(), 3, "{file}: {action}: the comment is the whole version");
        }
        assert_eq!(workflow["permissions"], serde_json::json!({ "contents": "read" }), "{file}");
        for (name, job) in workflow["jobs"].as_object().unwrap() {
            let place = format!("{file}.{name}");
            let read = serde_json::json!("read");
            let own = job["permissions"].as_object().into_iter().flatten();
            let mut own: Vec<String> = own
                .filter(|(what, how)| *what != "contents" || **how != read)
                .map(|(what, how)| format!("{what}: {}", how.as_str().unwrap()))
                .collect();
            own.sort();
            let expected = PERMISSIONS.iter().find(|(job, _)| *job == place).map_or(&[][..], |(_, all)| *all);
            assert_eq!(own, expected, "{place}");
            for step in job["steps"].as_array().into_iter().flatten() {
                let action = step["uses"].as_str().unwrap_or_default();
                if action.starts_with("actions/checkout@") {
                    assert_eq!(step["with"]["persist-credentials"], false, "{place}: later steps could read the token");
                }
                // The version of a tool is as much part of the build as that of an action.
                let tool = step["with"]["tool"].as_str().unwrap_or("a@1");
                assert!(tool.contains('@'), "{place}: {tool} has no version");
                let is_tofu = action.starts_with("opentofu/setup-opentofu@");
                assert!(!is_tofu || step["with"]["tofu_version"].is_string(), "{place}: OpenTofu has no version");
            }
            let has_secret = job.to_string().contains("secrets.");
            assert_eq!(has_secret, job["environment"] == "release", "{place}: only the environment has secrets");
        }
    }
}

#[test]
fn a_release_is_checked_compared_and_attested() {
    let release = workflows().into_iter().find(|(name, _)| name == "release").expect("the workflow exists").1;
    let jobs = &release["jobs"];
    assert_eq!(release["true"], serde_json::json!({ "push": { "tags": ["v*"] } }));
    for (job, needed) in [
        ("check", vec!["origin"]),
        ("package", vec!["check"]),
        ("sbom", vec!["check"]),
        ("attest", vec!["package", "sbom"]),
        ("release", vec!["attest"]),
    ] {
        assert_eq!(needs(&jobs[job]), needed, "{job}");
        assert!(jobs[job]["if"].is_null(), "{job} does not run if a needed job failed");
    }
    assert_eq!(jobs["check"]["uses"], "./.github/workflows/check.yml");
    let check = workflows().into_iter().find(|(name, _)| name == "check").expect("the workflow exists").1;
    assert!(check["true"].as_object().unwrap().contains_key("workflow_call"));
    let scripts = |job: &str| {
        let steps = jobs[job]["steps"].as_array().unwrap();
        steps.iter().filter_map(|step| step["run"].as_str()).collect::<Vec<_>>().join("\n")
    };
    assert!(scripts("origin").contains("git merge-base --is-ancestor \"$GITHUB_SHA\" origin/main"));
    assert_eq!(jobs["package"]["strategy"]["matrix"]["build"], serde_json::json!(["first", "second"]));
    let build = scripts("package");
    assert!(build.find("cargo fetch --locked") < build.find("make package"), "{build}");
    let steps = jobs["package"]["steps"].as_array().unwrap();
    let (mut builds, mut tests) = (0, None);
    for (number, step) in steps.iter().enumerate() {
        let script = step["run"].as_str().unwrap_or_default();
        if script.contains("make package") || script.contains("scripts/package.py") {
            assert_eq!(step["env"]["CARGO_NET_OFFLINE"], "true");
            builds += 1;
        }
        if script.contains("cargo test --locked --lib") {
            tests = Some((number, step["if"].as_str().unwrap()));
        }
    }
    let upload = steps.iter().position(|step| step["with"]["if-no-files-found"] == "error").unwrap();
    assert_eq!((builds, tests), (2, Some((4, "endsWith(matrix.target, '-msvc')"))));
    assert!(upload > 4, "a package is uploaded only after the tests on Windows");
    assert!(scripts("attest").contains("cmp "));
    // A job that may fail has uploaded no file if it did.
    for (job, windows) in
        [("package", "matrix.target == 'x86_64-pc-windows-msvc'"), ("attest", "matrix.platform == 'windows_amd64'")]
    {
        assert_eq!(jobs[job]["continue-on-error"], format!("${{{{ {windows} }}}}"), "{job}");
    }
    for job in ["origin", "check", "sbom", "release"] {
        assert!(jobs[job]["continue-on-error"].is_null(), "{job}");
    }
    let attested: Vec<bool> = jobs["attest"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["uses"].as_str().is_some_and(|action| action.starts_with("actions/attest@")))
        .map(|step| step["with"]["sbom-path"].is_string())
        .collect();
    assert_eq!(attested, [false, true], "the provenance and the SBOM are attested");
    let publish = scripts("release");
    assert!(publish.find("--draft \"$kind\"") < publish.find("--draft=false"), "{publish}");
    assert!(publish.contains("gh release edit"), "{publish}");
}

/// The script of a step of the release workflow.
fn release_script(job: &str, name: &str) -> String {
    let release = workflows().into_iter().find(|(name, _)| name == "release").expect("the workflow exists").1;
    let steps = release["jobs"][job]["steps"].as_array().unwrap().clone();
    let step = steps.iter().find(|step| step["name"] == name).expect("the step exists");
    step["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_build_records_the_versions_of_its_tools() {
    let directory = directory();
    let script = release_script("package", "versions of the tools");
    let ran = Command::new("bash").args(["-e", "-c", &script]).current_dir(&directory).output().unwrap();
    let tools = fs::read_to_string(directory.join("target/package/tools.txt")).unwrap();
    assert_eq!((ran.status.success(), String::from_utf8_lossy(&ran.stdout).as_ref()), (true, tools.as_str()));
    for tool in ["image: ", "\nrustc 1.", "\nhost: ", "\ncargo 1.", "\nPython 3."] {
        assert!(tools.contains(tool), "no {tool:?} in {tools}");
    }
}

/// Runs the comparison of the workflow on two builds.
#[test]
fn builds_with_different_bytes_end_a_release() {
    let script = release_script("attest", "compare the two builds");
    for (second, is_equal) in [("bytes", true), ("other", false)] {
        let directory = directory();
        let name = "terraform-provider-fgw_1.2.3_linux_amd64.zip";
        let tools = "rustc 1.0\n";
        for (folder, file, content) in [
            ("t-first", name, "bytes"),
            ("t-second", name, second),
            ("t-first", "tools.txt", tools),
            ("t-second", "tools.txt", if is_equal { tools } else { "rustc 1.1\n" }),
            ("sbom", "t.cdx.json", "{}"),
        ] {
            fs::create_dir_all(directory.join(folder)).unwrap();
            fs::write(directory.join(folder).join(file), content).unwrap();
        }
        let variables = [("TAG", "v1.2.3"), ("TARGET", "t"), ("PLATFORM", "linux_amd64")];
        // GitHub starts the shell with -e.
        let ran = Command::new("bash").args(["-e", "-c", &script]).current_dir(&directory).envs(variables).output();
        let ran = ran.unwrap();
        assert_eq!(ran.status.success(), is_equal, "{second}");
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(printed.starts_with(tools) && printed.contains("> rustc 1.1") != is_equal, "{printed}");
        assert_eq!(directory.join("release").join(name).is_file(), is_equal);
    }
}

/// pip downloads only files with these hashes, except the tools that build a package without a wheel.
#[test]
fn hashes_cover_exactly_the_pinned_python_packages() {
    let pinned = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_alphanumeric()));
        // Names are equal if they differ only in case and in these separators.
        let normal = |line: &str| {
            let line = line.split([' ', '\\']).next().unwrap_or_default().to_lowercase();
            let (name, version) = line.split_once("==").expect("a package is pinned");
            let name = name.split('[').next().unwrap_or_default().replace(['_', '.'], "-");
            format!("{name}=={version}")
        };
        lines.map(normal).collect()
    };
    for (name, least) in [("requirements", 60), ("localstack", 60), ("policies", 1)] {
        let read = |path: &str| fs::read_to_string(top().join(path).join(format!("{name}.txt"))).unwrap();
        let hashes = read("tests/hashes");
        assert_eq!(pinned(&hashes), pinned(&read("tests")), "run make hashes after a change of tests/{name}.txt");
        let entries = hashes.split("==").skip(1);
        assert!(
            entries.clone().count() > least && entries.clone().all(|entry| entry.contains("--hash=sha256:")),
            "{name}"
        );
    }
    let script = fs::read_to_string(top().join("scripts/venv.sh")).unwrap();
    assert!(script.contains("\"--require-hashes\""));
}

#[test]
fn release_platforms_match_deny_toml() {
    let release = workflows().into_iter().find(|(name, _)| name == "release").expect("the workflow exists").1;
    let matrix = &release["jobs"]["package"]["strategy"]["matrix"];
    let targets = |jobs: &Value| -> Vec<String> {
        jobs.as_array().unwrap().iter().filter_map(|it| Some(it["target"].as_str()?.to_owned())).collect()
    };
    let released = targets(&matrix["include"]);
    assert_eq!(matrix["target"], serde_json::json!(released));
    assert_eq!(targets(&release["jobs"]["attest"]["strategy"]["matrix"]["include"]), released);
    let sbom = release["jobs"]["sbom"].to_string();
    assert!(sbom.contains(&format!("for target in {};", released.join(" "))), "{sbom}");
    let program = "import json, sys, tomllib\n\
                   print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))['graph']['targets']))";
    assert_eq!(python(program, &[&top().join("deny.toml")]), serde_json::json!(released));
    assert_eq!(released.len(), 5);
}

/// Runs `make test` with programs that only log their arguments; cargo prints `FGW_LISTED` as its list of tests.
fn make_test(programs: &[&str], variables: &[(&str, &str)]) -> (Output, String) {
    let directory = directory();
    let log = directory.join("log");
    for program in programs {
        // Another process writes the file, because a child of another test could inherit a file that is open for
        // writing here.
        let script = format!(
            "printf '#!/bin/sh\\necho \"{program} $TERRAFORM: $*\" >>{}\\necho \"$FGW_LISTED\"\\n' >\"$1\" && chmod 755 \"$1\"",
            log.display()
        );
        let path = directory.join(program);
        let status = Command::new("sh").args(["-c", &script, "sh"]).arg(&path).status().unwrap();
        assert!(status.success());
    }
    let ran = Command::new("make")
        .arg("test")
        .current_dir(top())
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env_remove("TERRAFORM")
        .env_remove("ONLY")
        // A test without tofu must not find an installed one.
        .env("TOFU", if programs.contains(&"tofu") { "tofu" } else { "no-tofu" })
        .env("PATH", format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default()))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the tests need make");
    (ran, fs::read_to_string(&log).unwrap_or_default())
}

#[test]
fn tests_also_run_with_an_installed_tofu() {
    let run = |programs: &[&str], variables: &[(&str, &str)]| {
        let (ran, log) = make_test(programs, variables);
        assert!(ran.status.success(), "{ran:?}");
        log
    };
    let whole = "test --locked";
    let format = "fmt -check -diff -recursive examples benches";
    let terraform_alone = run(&["cargo", "terraform"], &[]);
    assert_eq!(terraform_alone, format!("terraform terraform: {format}\ncargo terraform: {whole}\n"));
    let both = run(&["cargo", "terraform", "tofu"], &[]);
    assert_eq!(both, format!("{terraform_alone}cargo tofu: {whole} --test suite\n"));
    let tofu_alone = run(&["cargo", "tofu"], &[("TERRAFORM", "tofu")]);
    assert_eq!(tofu_alone, format!("tofu tofu: {format}\ncargo tofu: {whole}\n"));
}

#[test]
fn make_test_only_runs_the_named_tests_of_the_suite() {
    let programs = &["cargo", "terraform", "tofu"];
    let listed = "cargo terraform: test --locked --quiet --test suite -- --list network::pending_deletion\n";
    let only = ("ONLY", "network::pending_deletion");
    let (ran, log) = make_test(programs, &[only, ("FGW_LISTED", "network::pending_deletion::a_test: test")]);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(log, format!("{listed}cargo terraform: test --locked --test suite -- network::pending_deletion\n"));
    let (ran, log) = make_test(programs, &[only, ("FGW_LISTED", "0 tests, 0 benchmarks")]);
    assert!(!ran.status.success(), "{ran:?}");
    assert!(
        String::from_utf8_lossy(&ran.stderr).contains("no test in the suite matches ONLY=network::pending_deletion")
    );
    assert_eq!(log, listed);
}
