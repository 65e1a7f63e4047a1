//! Runs the code blocks of the getting started guide, against an emulator that is started as the guide describes.

use std::process::Command;

use super::Guide;
use crate::installation::build;
use crate::support::emulator::{Emulator, MINISTACK_ENVIRONMENT};
use crate::support::terraform::Workspace;
use crate::support::{http, venv};

/// The address of the emulator in the guide.
const PORT: &str = "127.0.0.1:4566";

/// The code blocks in a language, such as those that begin with "```terraform".
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("\n```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split_once("\n```").expect("a block ends").0).collect()
}

/// The only code block in a language.
fn block(text: &str, language: &str) -> String {
    let blocks = blocks(text, language);
    assert_eq!(blocks.len(), 1, "the guide has one block of {language}");
    blocks[0].to_owned()
}

/// The lines as `make install` prints them.
fn indented(block: &str) -> String {
    block.lines().map(|line| format!("  {line}\n")).collect()
}

#[test]
fn getting_started_guide_works_from_apply_to_destroy() {
    let guide = Guide::open("getting-started-without-an-aws-account.md").text;
    let emulator = Emulator::plain_ministack();
    let here = |text: String| {
        assert!(text.contains(PORT), "a block contains the address of the emulator");
        text.replace(PORT, &format!("127.0.0.1:{}", emulator.port))
    };
    let (mirror, printed) = build::install();
    let settings = block(&guide, "text").replace("/path/to/terraform-provider-fgw", &mirror.display().to_string());
    assert!(printed.contains(&indented(&settings)), "make install prints another block than the guide: {printed}");
    let workspace = Workspace::bare();
    workspace.write("terraformrc", &settings);

    workspace.write("function.py", &here(block(&guide, "python")));
    let python = Command::new(venv::program("python")).arg("function.py").current_dir(workspace.path()).output();
    let python = python.expect("the environment has Python");
    let arn = String::from_utf8_lossy(&python.stdout).trim().to_owned();
    assert!(guide.contains(&format!("It prints `{arn}`.")), "{arn} {}", String::from_utf8_lossy(&python.stderr));

    workspace.write("main.tf", &here(block(&guide, "terraform")));
    workspace.init().succeeded();
    let plan = workspace.plan(&[]);
    assert!(plan.says("Plan: 2 to add, 0 to change, 0 to destroy."), "{plan}");
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();

    let url = workspace.state().output("url").as_str().expect("a URL").to_owned();
    let host = url.strip_prefix("http://").expect("the emulator uses plain HTTP");
    assert!(host.ends_with(&format!(".localhost:{}", emulator.port)), "{url}");
    let answer = http::Request::new(emulator.port, "GET", "/hello").header("host", host).send().expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(guide.contains(&format!("answers `{}`.", answer.body)), "{answer:?}");

    workspace.destroy().succeeded();
    let account = emulator.default_account();
    let left: Vec<String> = account.ours().into_iter().filter(|line| line.contains("getting-started")).collect();
    assert!(left.is_empty(), "{left:?}");
    account.boto("lambda", "delete_function", serde_json::json!({ "FunctionName": "hello" }));
}

#[test]
fn getting_started_guide_uses_the_emulator_of_the_tests() {
    let guide = Guide::open("getting-started-without-an-aws-account.md").text;
    let requirements = include_str!("../../requirements.txt");
    let installs = guide.lines().filter(|line| line.contains("pip install"));
    let packages: Vec<&str> = installs
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_matches('"'))
        .filter(|it| it.contains("=="))
        .collect();
    assert_eq!(packages.len(), 3, "{packages:?}");
    for package in packages {
        assert!(requirements.lines().any(|line| line == package), "the tests use another version than {package}");
    }
    // The tests run against emulators that support/emulator.rs starts, so the commands are compared here.
    let mut words: Vec<String> = MINISTACK_ENVIRONMENT.map(|(name, value)| format!("{name}={value}")).into();
    words.insert(2, "GATEWAY_PORT=4566".into());
    words.push("emulator/bin/ministack".into());
    let commands = blocks(&guide, "shell");
    for start in [words.join(" ").as_str(), "emulator/bin/moto_server -H 127.0.0.1 -p 5000"] {
        assert!(commands.contains(&start), "the guide does not start an emulator with {start:?}");
    }
}
