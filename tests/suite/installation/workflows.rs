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
        assert_eq!(workflow["permissions"]["contents"], "read", "{file} has more permissions than it needs");
        let jobs = workflow["jobs"].as_object().expect("a workflow has jobs");
        for (name, job) in jobs {
            let place = format!("{file}.{name}");
            assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_u64(), "{place}");
            assert!(
                job["needs"].as_str().is_none_or(|needed| jobs.contains_key(needed)),
                "{place} needs a job that does not exist"
            );
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

fn check_step(place: &str, step: &Value, targets: &BTreeSet<String>, called: &mut BTreeSet<String>) {
    let Some(script) = step["run"].as_str() else {
        let action = step["uses"].as_str().unwrap_or_else(|| panic!("{place}: {step} has neither run nor uses"));
        assert!(action.contains("@v"), "{place}: {action} has no pinned version");
        return;
    };
    assert!(step["uses"].is_null(), "{place}: {step} has both run and uses");
    // GitHub replaces expressions before it starts the shell.
    let expressions = script.split("${{").skip(1).map(|rest| rest.split_once("}}").expect("an expression ends").0);
    let plain = expressions.fold(script.to_owned(), |text, inner| text.replace(&format!("${{{{{inner}}}}}"), "x"));
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

#[test]
fn release_platforms_match_deny_toml() {
    let release = workflows().into_iter().find(|(name, _)| name == "release").expect("the workflow exists").1;
    let matrix = release["jobs"]["package"]["strategy"]["matrix"]["include"].clone();
    let released: Vec<&str> = matrix.as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    let program = "import json, sys, tomllib\n\
                   print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))['graph']['targets']))";
    assert_eq!(python(program, &[&top().join("deny.toml")]), serde_json::json!(released));
    assert_eq!(released.len(), 4);
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
