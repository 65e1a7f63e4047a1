//! The recovery after a killed run: a user reads the message and follows it literally.

use std::collections::BTreeSet;

use serde_json::Value;

use super::subject::{Kind, Subject};
use crate::support::proxy::log::Record;

/// A VPC or an API that the provider created.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) id: String,
    /// The value of its tag `fgw:state`.
    pub(super) state: String,
}

/// All roots in the account, including those of other workspaces.
pub(super) fn roots(subject: &Subject) -> Vec<Root> {
    let (kind, id) = match subject.kind {
        Kind::Network => ("vpcs", "VpcId"),
        Kind::Gateway => ("apis", "ApiId"),
    };
    let roots = subject.proxy.account().list_of(kind).into_iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let root = |root: Value| Root { id: text(&root[id]), state: text(&root["tags"]["fgw:state"]) };
    roots.filter(|root| root["tags"]["fgw:resource"].is_string()).map(root).collect()
}

/// Applies the same configuration again. If a root exists that state does not contain, the apply must name it and stop
/// before it creates anything; then the commands in its message are run. In the end, the plan must be empty, the state
/// accurate, and no root doubled.
pub(super) fn import_and_finish(subject: &Subject) {
    // The state may contain a deposed object too.
    let known = subject.workspace.state().0.to_string();
    let is_left = |root: &Root| !subject.neighbors.contains(&root.id) && !known.contains(&root.id);
    let left: Vec<Root> = roots(subject).into_iter().filter(is_left).collect();
    eprintln!("left: {left:?}");
    subject.proxy.clear_calls();
    let again = subject.workspace.apply(&[]);
    match left.first() {
        None => {
            again.succeeded();
        }
        Some(root) => {
            let (kind, _) = subject.address().split_once('.').expect("an address is a type and a name");
            let what = match root.state.as_str() {
                "creating" => format!("unfinished {} exists", root.id),
                _ => format!("{} exists already", root.id),
            };
            again.failed_with(&format!("Could not create {kind} {:?}: {what}", subject.name()));
            let creates = |it: &&Record| it.call.action.starts_with("Create");
            assert_eq!(
                subject.proxy.mutations().iter().filter(creates).count(),
                0,
                "the apply created objects in addition to the existing root"
            );
            follow(subject, &commands(&again.stderr));
        }
    }
    subject.release_unused_addresses();
    subject.workspace.assert_nothing_to_do();
    subject.assert_state_is_accurate();
    let own = roots(subject).into_iter().filter(|root| !subject.neighbors.contains(&root.id));
    assert_eq!(own.count(), 1, "there must be only one root");
}

/// Plans, and panics unless the plan shows the ID of each existing object that is not in state, and the key of each
/// deleted one.
pub(super) fn assert_plan_shows_leftovers(subject: &Subject) {
    let known = subject.objects();
    let existing = subject.existing();
    let plan = subject.workspace.plan_json(&[]);
    let changes = plan["resource_changes"].as_array().into_iter().flatten();
    let before = changes.map(|change| &change["change"]["before"]).find(|before| before["aws_objects"].is_object());
    let Some(before) = before else {
        assert!(existing.is_empty(), "nothing is planned for {existing:?}");
        return;
    };
    let reported = &before["unmanaged_objects"];
    let ours = subject.proxy.account().ours();
    for id in existing.iter().filter(|id| !known.values().any(|known| known == *id)) {
        // Children of an API that cannot have tags may be unmanaged. The apply adopts those that it would create. The
        // others are unmanaged.
        let is_tagged = ours.iter().any(|line| line.split(' ').nth(1) == Some(id));
        assert!(!is_tagged || reported[id].is_string(), "a killed run has left {id}, which is not in {reported:#}");
    }
    for (key, id) in known.iter().filter(|(_, id)| !existing.contains(*id)) {
        assert!(
            before["drift"][key].is_string(),
            "drift does not name {key} ({id}), which is deleted: {:#}",
            before["drift"]
        );
    }
}

/// The commands in a message, in order.
fn commands(message: &str) -> Vec<String> {
    let lines = message.lines().map(|line| line.trim_matches(|it: char| it.is_whitespace() || it == '│'));
    lines.filter(|line| line.starts_with("terraform ")).map(str::to_owned).collect()
}

/// Moves a resource that has the address to another one, imports, and applies.
fn follow(subject: &Subject, commands: &[String]) {
    let verbs: BTreeSet<&str> = commands.iter().filter_map(|command| command.split(' ').nth(1)).collect();
    assert_eq!(verbs, BTreeSet::from(["import", "apply", "state"]), "{commands:#?}");
    let run = |verb: &str, options: &[&str]| {
        let command = commands.iter().find(|command| command.split(' ').nth(1) == Some(verb)).expect("it exists");
        let command = command.replace("ADDRESS", subject.address());
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        // Options come before arguments. `state mv` needs no options.
        let (verb, arguments) = words.split_at(1);
        eprintln!("{command}");
        subject.workspace.run(&[verb, options, arguments].concat()).succeeded();
    };
    if subject.workspace.state().holds(subject.address()) {
        run("state", &[]);
    }
    run("import", &["-no-color", "-input=false"]);
    run("apply", &["-no-color", "-input=false", "-auto-approve"]);
}
