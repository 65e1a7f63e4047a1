//! The workflows that GitHub runs, and the two-fold run of the tests: none of it can run here as it does there.

// A test that cannot go on stops, here and in what it calls.
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

/// The workflows by their names, as GitHub reads them.
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
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY:")).expect("no target is a file");
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
fn the_workflows_are_what_github_reads_and_call_what_is_there() {
    let (workflows, targets) = (workflows(), targets());
    assert_eq!(workflows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["check", "release"]);
    let mut called = BTreeSet::new();
    for (file, workflow) in &workflows {
        assert_eq!(workflow["name"], file.as_str());
        // YAML takes the key `on` for a truth.
        assert!(workflow["true"].is_object(), "{file} says when it runs");
        assert_eq!(workflow["permissions"]["contents"], "read", "{file} may do no more than it must");
        let jobs = workflow["jobs"].as_object().expect("a workflow has jobs");
        for (name, job) in jobs {
            let place = format!("{file}.{name}");
            assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_u64(), "{place}");
            assert!(
                job["needs"].as_str().is_none_or(|needed| jobs.contains_key(needed)),
                "{place} needs what is not there"
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
        let action = step["uses"].as_str().unwrap_or_else(|| panic!("{place}: {step} does nothing"));
        assert!(action.contains("@v"), "{place}: {action} may change any day");
        return;
    };
    assert!(step["uses"].is_null(), "{place}: {step} does two things");
    // An expression is replaced before the shell sees it.
    let expressions = script.split("${{").skip(1).map(|rest| rest.split_once("}}").expect("an expression ends").0);
    let plain = expressions.fold(script.to_owned(), |text, inner| text.replace(&format!("${{{{{inner}}}}}"), "x"));
    let syntax = Command::new("sh").args(["-n", "-c", &plain]).output().expect("a POSIX system has sh");
    assert!(syntax.status.success(), "{place}: {script}: {}", String::from_utf8_lossy(&syntax.stderr));
    for line in plain.lines().map(str::trim) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("make") => {
                let target = words.next().unwrap_or_default();
                assert!(targets.contains(target), "{place}: make {target} is nothing");
                called.insert(target.to_owned());
            }
            Some(program) if program.starts_with('.') => {
                assert!(top().join(program).is_file(), "{place}: {program} is not there");
                called.insert(program.to_owned());
            }
            _ => {}
        }
    }
}

#[test]
fn releases_are_made_for_the_platforms_that_deny_toml_looks_at() {
    let release = workflows().into_iter().find(|(name, _)| name == "release").expect("it is there").1;
    let matrix = release["jobs"]["package"]["strategy"]["matrix"]["include"].clone();
    let released: Vec<&str> = matrix.as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    let program = "import json, sys, tomllib\n\
                   print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))['graph']['targets']))";
    assert_eq!(python(program, &[&top().join("deny.toml")]), serde_json::json!(released));
    assert_eq!(released.len(), 4);
}

/// Runs `make test` with programs that only say how they were called; cargo lists `FGW_LISTED` as its tests.
fn make_test(programs: &[&str], variables: &[(&str, &str)]) -> (Output, String) {
    let directory = directory();
    let log = directory.join("log");
    for program in programs {
        // Written by another process: a file that this one has open for writing, another test's child could hold open.
        let script = format!(
            "printf '#!/bin/sh\\necho \"{program} $TERRAFORM: $*\" >>{}\\necho \"$FGW_LISTED\"\\n' >\"$1\" && chmod 755 \"$1\"",
            log.display()
        );
        let path = directory.join(program);
        let made = Command::new("sh").args(["-c", &script, "sh"]).arg(&path).status().unwrap();
        assert!(made.success());
    }
    let ran = Command::new("make")
        .arg("test")
        .current_dir(top())
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env_remove("TERRAFORM")
        .env_remove("ONLY")
        // A tofu of the machine must not be found where none is wanted.
        .env("TOFU", if programs.contains(&"tofu") { "tofu" } else { "no-tofu" })
        .env("PATH", format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default()))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the tests need make");
    (ran, fs::read_to_string(&log).unwrap_or_default())
}

#[test]
fn where_there_is_a_tofu_the_tests_run_with_it_too() {
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
        String::from_utf8_lossy(&ran.stderr).contains("no test of the suite has network::pending_deletion in its path")
    );
    assert_eq!(log, listed);
}
