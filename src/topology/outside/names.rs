//! The texts about names that another resource has or wants.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::{Outside, Reference};
use crate::plugin::{AttributePath, Problem, Severity};

/// What is known of the resource that has a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Holder {
    /// It is the resource itself, or the one that the plan replaces.
    Same,
    /// Another resource of this process.
    Other {
        /// Its type, name and ID.
        described: String,
        /// Whether its plan releases the name; `None` if it is unknown.
        releases: Option<bool>,
    },
    /// This process does not know it.
    Unknown,
}

/// Why the names of two resources of one configuration contradict each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Conflict {
    /// Another resource wants the name, too.
    Wanted {
        /// Its type, name and ID.
        by: String,
    },
    /// Another resource has the name and keeps it.
    Kept {
        /// Its type, name and ID.
        by: String,
    },
    /// Another resource releases the name, and waits for one of this resource.
    Exchange {
        /// Its type, name and ID.
        with: String,
        /// The name for which it waits.
        own: Outside,
    },
}

/// The problems of the names that other resources of the configuration have or want, one for each input.
pub fn conflicts(references: &[Reference], found: impl IntoIterator<Item = (Outside, Conflict)>) -> Vec<Problem> {
    let reference = |name: &Outside| references.iter().find(|it| it.to.as_name() == *name);
    let mut paths = BTreeSet::new();
    let found = found.into_iter().filter_map(|(name, conflict)| Some((reference(&name)?, conflict)));
    let found = found.filter(|(reference, _)| paths.insert(reference.path.to_string()));
    found.map(|(reference, conflict)| of_conflict(reference, &conflict)).collect()
}

fn of_conflict(Reference { to, path }: &Reference, conflict: &Conflict) -> Problem {
    let (message, hint) = match conflict {
        Conflict::Wanted { by } => (
            format!("Both this resource and {by} require the {to} of their own."),
            match to {
                Outside::LogGroup { .. } => {
                    "Give one of them another name. Both may have one group if each keeps it and sets allow_duplicate_name: \
                     then apply one of them first."
                        .to_string()
                }
                _ => format!("Give one of them another {}.", noun(to)),
            },
        ),
        Conflict::Kept { by } => (
            format!("The {to} belongs to {by}, whose configuration keeps it."),
            format!("Use another {}, or remove it there.", noun(to)),
        ),
        Conflict::Exchange { with, own } => (
            format!("This resource and {with} exchange the {to} and the {own}. Each would wait for the other one."),
            format!(
                "Give one of them a third {0} and apply. Then set the {0} that you want, and apply again.",
                noun(to)
            ),
        ),
    };
    Problem::new(path.clone(), message, hint)
}

/// What an input gives for the object.
fn noun(to: &Outside) -> &'static str {
    match to {
        Outside::Address(_) => "address",
        _ => "name",
    }
}

/// The notice that a name belongs to another resource, of which a run may or does release it.
pub(super) fn moves(
    to: &Outside,
    described: &str,
    releases: Option<bool>,
    path: &AttributePath,
) -> (Severity, Problem) {
    let message = format!("The {to} belongs to {described}.");
    let wait = "The apply waits up to 2 minutes for its deletion there before it changes anything";
    let hint = match releases {
        Some(true) => {
            format!("The plan of that resource deletes it. {wait}. Until it exists again, it serves no requests.")
        }
        Some(false) | None => format!(
            "If the same run deletes it there, it moves: {}. Otherwise use another name: the apply fails before its \
             first change.",
            wait.replacen("The", "the", 1)
        ),
    };
    (Severity::Warning, Problem::new(path.clone(), message, hint))
}

/// The problem of a name that a living root has when an apply begins.
pub fn held(Reference { to, path }: &Reference, owner: &str) -> Problem {
    let message = format!("The {to} belongs to {owner}.");
    Problem::new(path.clone(), message, "Otherwise use another name.")
}

/// The problem of a name that the old root has in a replacement that creates the new one first.
pub fn held_by_the_old_root(Reference { to, path }: &Reference, owner: &str) -> Problem {
    let message = format!(
        "The {to} belongs to {owner}, which has the name of this resource. If this run replaces it with \
         create_before_destroy, the new resource would need it before it is deleted."
    );
    let hint = "Replace the resource without create_before_destroy. If these are two resources, remove it from that one \
                and apply, then apply again.";
    Problem::new(path.clone(), message, hint)
}

/// The same problem after a wait for the owner. Nothing was changed.
pub fn after_wait(problem: Problem, waited: Duration) -> Problem {
    let waited = match waited.as_secs() {
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    };
    let message = format!("{} It was not released within {waited}, and nothing was changed.", problem.message);
    let hint = format!(
        "If the same run releases it there, apply again. If both resources exchange names, give one of them a third \
         name, apply, and then set the names that you want. {}",
        problem.hint
    );
    Problem::new(problem.path, message, hint)
}
