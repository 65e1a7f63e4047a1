//! What ARCHITECTURE.md says about the code, checked against the source tree.
//!
//! Each rule is a plain search for words, so that a failure points to a line. A rule that needs an exception names it
//! here, with its reason.

use std::collections::BTreeSet;
use std::path::Path;

/// This file, which spells out what the others must not contain.
const THIS: &str = "tests/suite/invariants.rs";

/// One text file of the project.
pub(crate) struct File {
    /// From the top of the project, with `/`.
    pub(crate) path: String,
    text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether it lies in a folder, or is the file that declares the folder's modules.
    pub(crate) fn is_of(&self, module: &str) -> bool {
        let rest = self.path.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest == ".rs" || rest.starts_with('/'))
    }

    /// Its lines with their numbers.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Its lines of code with their numbers: no comments, and nothing from the module of tests at its end.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut previous = "";
        let in_product = self.lines().take_while(move |(_, line)| {
            let begins_tests = previous.trim() == "#[cfg(test)]" && line.contains("mod ") && line.ends_with('{');
            previous = line;
            !begins_tests
        });
        in_product.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Every text file of the project, less what `.gitignore` names.
fn tree() -> Vec<File> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ignored = std::fs::read_to_string(top.join(".gitignore")).expect("the project has a .gitignore");
    let mut skipped: BTreeSet<&str> = ignored.lines().map(|line| line.trim_matches('/')).collect();
    skipped.extend([".git", ".terraform", "__pycache__"]);
    let mut files = Vec::new();
    walk(top, "", &skipped, &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.iter().any(|file| file.path == "src/lib.rs"), "the source tree is not at {}", top.display());
    files
}

fn walk(folder: &Path, prefix: &str, skipped: &BTreeSet<&str>, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project can be read") {
        let entry = entry.expect("a folder of the project can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        if skipped.contains(name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{path}/"), skipped, files);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}

/// The Rust files below `src` that are part of the program, not of its tests.
pub(crate) fn product() -> Vec<File> {
    let files = tree();
    let tests = test_files(&files);
    let is_test =
        |path: &str| tests.iter().any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")));
    files.into_iter().filter(|file| file.is_of("src") && file.is_rust() && !is_test(&file.path)).collect()
}

/// The modules that are declared for tests only, as paths without `.rs`.
fn test_files(files: &[File]) -> Vec<String> {
    let mut modules = Vec::new();
    for file in files.iter().filter(|file| file.is_of("src") && file.is_rust()) {
        let folder = ["/mod.rs", "/lib.rs", "/main.rs", ".rs"].iter().find_map(|end| file.path.strip_suffix(end));
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]") {
            let name = pair[1].strip_suffix(';').and_then(|declaration| declaration.split("mod ").nth(1));
            modules.extend(folder.zip(name).map(|(folder, name)| format!("{folder}/{name}")));
        }
    }
    modules
}

/// Whether a word stands in a line by itself: `async`, but not `asynchronous`.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

/// Fails with the rule and every place that breaks it.
fn assert_kept(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}\n\n  {}\n", broken.join("\n  "));
}

/// The places where `breaks` says what is wrong with a line of code.
fn broken<'a>(files: impl IntoIterator<Item = &'a File>, breaks: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut places = Vec::new();
    for file in files {
        let wrong = file.code().filter_map(|(number, line)| Some((number, breaks(line)?)));
        places.extend(wrong.map(|(number, what)| format!("{}:{number}: {what}", file.path)));
    }
    places
}

/// The first of some words that a line contains.
fn first_of(line: &str, words: &[&str]) -> Option<String> {
    words.iter().find(|word| line.contains(**word)).map(|word| (*word).to_string())
}

#[test]
fn tests_and_comments_are_told_from_code() {
    let text =
        "use a;\n// no async\n#[cfg(test)]\nmod outside;\nfn f() {}\n#[cfg(test)]\nmod tests {\n    async {}\n}\n";
    let file = File { path: "src/a.rs".into(), text: text.into() };
    let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
    assert_eq!(code, ["use a;", "#[cfg(test)]", "mod outside;", "fn f() {}", "#[cfg(test)]"]);
    assert_eq!(test_files(&[file]), ["src/a/outside"]);
    assert!(has_word("pub async fn", "async") && !has_word("asynchronous my_async", "async"));
    let paths: Vec<String> = product().into_iter().map(|file| file.path).collect();
    assert!(paths.contains(&"src/composite.rs".into()) && !paths.contains(&"src/composite/simulation.rs".into()));
}

#[test]
fn pure_code_does_no_io() {
    let modules = [
        "src/objects",
        "src/product",
        "src/four_tier_vpc",
        "src/http_gateway",
        "src/reconcile/plan",
        "src/composite/observe",
        "src/composite/state",
        "src/composite/private",
    ];
    let files = product();
    for module in modules {
        assert!(files.iter().any(|file| file.is_of(module)), "{module} is gone; this test must learn its new name");
    }
    let pure = files.iter().filter(|file| modules.iter().any(|module| file.is_of(module)));
    let words = ["async", "await", "tokio", "futures", "Instant", "SystemTime", "Mutex", "thread"];
    let places = broken(pure, |line| {
        let word = words.iter().find(|word| has_word(line, word)).map(|word| (*word).to_string());
        // An address is a number; only the rest of std::net talks to anybody.
        let line = line.replace("std::net::Ip", "");
        word.or_else(|| first_of(&line, &["aws_sdk", "aws_smithy", "std::fs", "std::net", "std::env", "std::process"]))
    });
    assert_kept("Pure files have no async code, no AWS SDK, no I/O, no clock and no locks.", &places);
}

#[test]
fn only_the_aws_folder_names_the_aws_sdk() {
    let files = product();
    let crates = ["aws_sdk", "aws_smithy", "aws_config", "aws_types", "aws_runtime", "aws_credential_types"];
    let others = files.iter().filter(|file| !file.is_of("src/aws"));
    assert_kept("Only src/aws names the AWS SDK.", &broken(others, |line| first_of(line, &crates)));
}

#[test]
fn only_the_plugin_folder_speaks_terraforms_protocol() {
    let files = product();
    let others = || files.iter().filter(|file| !file.is_of("src/plugin"));
    let crates = ["tonic", "prost", "rmpv", "rcgen", "tokio_rustls", "tfplugin6"];
    let places = broken(others(), |line| first_of(line, &crates));
    assert_kept("Only src/plugin knows gRPC, msgpack and the handshake.", &places);
    // The connections to AWS are encrypted too.
    let without_tls = others().filter(|file| !["src/aws/http_client.rs", "src/aws/trust.rs"].contains(&&*file.path));
    let places = broken(without_tls, |line| first_of(line, &["rustls"]));
    assert_kept(
        "TLS is known to src/plugin, for Terraform, and to src/aws/http_client.rs and trust.rs, for AWS.",
        &places,
    );
}

#[test]
fn the_plugin_folder_knows_no_cloud_and_no_product() {
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| file.is_of("src/plugin")) {
        for (number, line) in file.lines() {
            // The crate's name in examples, and the name of the cryptography library.
            let line = line.to_lowercase().replace("fgw::", "").replace("aws_lc", "").replace("aws-lc", "");
            let named = first_of(&line, &["aws", "fgw", "amazon", "ec2", "vpc", "lambda", "gateway", "subnet"]);
            places.extend(named.map(|word| format!("{}:{number}: {word}", file.path)));
            let other = line
                .find("crate::")
                .map(|at| &line[at..])
                .filter(|path| !path.starts_with("crate::plugin") && !path.starts_with("crate::attributes"));
            places.extend(other.map(|path| format!("{}:{number}: {path}", file.path)));
        }
    }
    assert_kept("src/plugin could be a crate of its own: it knows no AWS, no fgw and no other module.", &places);
}

#[test]
fn no_call_is_dropped_because_another_one_failed() {
    let files = tree();
    let code = files.iter().filter(|file| file.is_rust() && file.path != THIS);
    let places = broken(code, |line| first_of(line, &["try_join", "abort_on_drop", "JoinSet"]));
    assert_kept("A dropped call may have created something: wait for all, then look at the results.", &places);
}

#[test]
fn every_kind_of_object_has_its_operations_in_one_order() {
    let files = product();
    let aws: Vec<&File> = files.iter().filter(|file| file.is_of("src/aws")).collect();
    let mut places = Vec::new();
    let mut kinds = String::new();
    for file in aws {
        let position = |name: &str| {
            let declared = format!(" fn {name}(");
            file.lines().find(|(_, line)| line.starts_with("pub") && line.contains(&declared)).map(|(number, _)| number)
        };
        let Some(create) = position("create") else { continue };
        kinds.push_str(&file.text);
        let in_order = [Some(create), position("update"), position("delete")];
        if in_order.contains(&None) || !in_order.is_sorted() {
            places.push(format!("{}:{create}: update and delete do not follow create", file.path));
        }
        if let Some(read) = position("read").filter(|read| *read > create) {
            places.push(format!("{}:{read}: read stands behind create", file.path));
        }
    }
    for kind in variants_of_spec(&files) {
        if !kinds.contains(&format!("spec: &{kind})")) && !kinds.contains(&format!("spec: &{kind},")) {
            places.push(format!("src/objects/spec.rs: no file below src/aws creates {kind}"));
        }
    }
    assert_kept("Each kind has a file with read, create, update, delete in that order.", &places);
}

fn variants_of_spec(files: &[File]) -> Vec<String> {
    let spec = files.iter().find(|file| file.path == "src/objects/spec.rs").expect("the kinds are in this file");
    let lines = spec.text.lines().skip_while(|line| *line != "pub enum Spec {").skip(1).take_while(|line| *line != "}");
    let kinds: Vec<String> = lines.filter_map(|line| line.trim().split('(').next()).map(str::to_string).collect();
    assert!(kinds.len() > 10, "the variants of Spec are not found: {kinds:?}");
    kinds
}

#[test]
fn unit_tests_do_not_wait_on_real_time() {
    // Their servers are on this machine, and a paused clock would end the timeouts of calls that are under way.
    let with_sockets = ["src/aws/clients/tests.rs"];
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| file.is_of("src") && file.is_rust()) {
        let breaks = |line: &str| {
            let runs = line.contains("tokio::test") || line.contains("Builder::new_current_thread");
            if runs && !line.contains("start_paused") && !with_sockets.contains(&&*file.path) {
                return Some("a test with a running clock".to_string());
            }
            if line.contains("std::time") && has_word(line, "Instant") {
                return Some("std's clock, which tests cannot pause".to_string());
            }
            first_of(line, &["thread::sleep", "cfg!(test)"])
        };
        places.extend(
            file.lines().filter_map(|(number, line)| Some(format!("{}:{number}: {}", file.path, breaks(line)?))),
        );
    }
    assert_kept("Unit tests pause tokio's clock, and the program has no other limits under test.", &places);
}

#[test]
fn nothing_is_left_for_later() {
    let files = tree();
    let places: Vec<String> = files
        .iter()
        .filter(|file| file.path != THIS)
        .filter(|file| [".rs", ".py", ".sh", ".tf", ".proto"].iter().any(|end| file.path.ends_with(end)))
        .flat_map(|file| {
            let words = ["todo!", "unimplemented!", "#[ignore", "#[should_panic", "FIXME", "XXX", "TODO", "dbg!"];
            let found = file.lines().filter_map(move |(number, line)| Some((number, first_of(line, &words)?)));
            found.map(|(number, word)| format!("{}:{number}: {word}", file.path)).collect::<Vec<_>>()
        })
        .collect();
    assert_kept("Nothing is a stub, a note to ourselves or a test that does not run.", &places);
}

#[test]
fn no_error_is_taken_for_impossible_without_a_reason() {
    let places = broken(&product(), |line| first_of(line, &[".unwrap()", ".expect(\"\")", "unreachable!", "panic!("]));
    assert_kept("Outside tests, expect says why it cannot fail; nothing else panics.", &places);
}

#[test]
fn no_file_names_the_machine_it_was_written_on_or_a_registry() {
    let paths = ["work", "root", "home", "Users"].map(|top| format!("/{top}/"));
    let hosts = [("crates", "io"), ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("golang", "org")];
    let words: Vec<String> = paths.into_iter().chain(hosts.map(|(name, top)| format!("{name}.{top}"))).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut places = Vec::new();
    // Cargo writes the name of its index into the lock file.
    for file in tree().iter().filter(|file| file.path != "Cargo.lock") {
        let found = file.lines().filter_map(|(number, line)| Some((number, first_of(line, &words)?)));
        places.extend(found.map(|(number, word)| format!("{}:{number}: {word}", file.path)));
    }
    assert_kept("No file holds a path of one machine or the host of a package registry.", &places);
}

#[test]
fn files_have_one_job_and_a_size_to_match() {
    let files = tree();
    let tests = test_files(&files);
    let mut places = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let is_test = !file.is_of("src") || tests.iter().any(|test| file.is_of(test));
        let (most, lines) = (if is_test { 699 } else { 500 }, file.text.lines().count());
        if lines > most {
            places.push(format!("{}:{lines}: more than {most} lines", file.path));
        }
        let name = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if ["util", "utils", "helper", "helpers", "common", "misc", "manager"].contains(&name) {
            places.push(format!("{}:1: {name} is no job", file.path));
        }
    }
    assert_kept("A file of the program has at most 500 lines, a file of tests fewer than 700.", &places);
}

#[test]
fn the_wire_definitions_are_our_own_text() {
    let files = tree();
    let proto: Vec<&File> = files.iter().filter(|file| file.is_of("proto")).collect();
    assert!(!proto.is_empty(), "the wire definitions are not found");
    let mut places = Vec::new();
    for file in proto {
        let words = ["copyright", "hashicorp", "spdx", "licence", "license", "mpl-"];
        let found = file.lines().filter_map(|(number, line)| Some((number, first_of(&line.to_lowercase(), &words)?)));
        places.extend(found.map(|(number, word)| format!("{}:{number}: {word}", file.path)));
    }
    assert_kept(
        "proto/ holds our own definitions; names and numbers are the interface, the text is not copied.",
        &places,
    );
}

#[test]
fn the_architecture_names_files_and_tests_that_exist() {
    let files = tree();
    let text = files.iter().find(|file| file.path == "ARCHITECTURE.md").expect("the project explains itself");
    let mut places = Vec::new();
    let mut invariants = 0;
    for (number, line) in text.lines() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        for name in &quoted {
            let is_path =
                ["src/", "tests/", "proto/", "docs/", "examples/", "scripts/"].iter().any(|top| name.starts_with(top));
            let folder = format!("{}/", name.trim_end_matches('/'));
            let exists = files.iter().any(|file| file.path == *name || file.path.starts_with(&folder));
            if is_path && !name.contains(['*', '{', '<']) && !exists {
                places.push(format!("ARCHITECTURE.md:{number}: {name} does not exist"));
            }
        }
        if line.starts_with("- **Invariant.**") {
            invariants += 1;
            let test = quoted.last().copied().unwrap_or_default();
            let declared = format!("fn {test}(");
            if test.is_empty() || !files.iter().any(|file| file.is_rust() && file.text.contains(&declared)) {
                places.push(format!("ARCHITECTURE.md:{number}: no test has the name {test:?}"));
            }
        }
    }
    assert!(invariants > 10, "the invariants of ARCHITECTURE.md are not found");
    assert_kept(
        "ARCHITECTURE.md is true: its files exist, and each invariant ends with the name of its test.",
        &places,
    );
}
