//! After a failed update, the next one starts from what was read, and never from what the failed one was to set.
//!
//! The rows are [`Spec::changes`], which the compiler requires for each kind.

use crate::cloud::Observed;
use crate::composite::observe::observe;
use crate::composite::private_state::Private;
use crate::model::{Entry, IgnoreTags, Inventory, Key, Object, Spec};
use crate::reconcile::{Action, plan};
use crate::topology::IgnoredDrift;

fn key() -> Key {
    Key::new("object")
}

/// The inventory after an update from one spec to another has failed, and after a read that has found this spec.
fn after_failure(from: &Spec, attempted: &Spec, found: &Spec) -> Inventory {
    let mut entry = Entry::new(key(), "id", from.clone());
    entry.begin_update(attempted);
    assert!(entry.is_unread, "its spec is unknown until a read");
    let seen = Observed { id: "id".into(), key: key(), spec: found.clone(), learned: Default::default() };
    let known = Private::of(Inventory { entries: vec![entry] });
    let read = observe(Some(known), vec![seen], &IgnoreTags::default(), &IgnoredDrift::default());
    assert!(!read.inventory.entries[0].is_unread);
    read.inventory
}

/// The specs before and after each update of a plan for this spec.
fn updates(inventory: &Inventory, wanted: &Spec) -> Vec<(Spec, Spec)> {
    let ops = plan(inventory, &[Object::new(key(), wanted.clone())]).expect("it can be ordered").ops;
    let updates = ops.into_iter().map(|op| match op.action {
        Action::Update { before, to, .. } => (before, to.spec),
        other => panic!("{other:?}"),
    });
    updates.collect()
}

#[test]
fn the_next_update_starts_from_what_is_read() {
    for from in &Spec::of_each_kind() {
        for attempted in &from.changes() {
            // AWS may have made the whole change or nothing, and the user may want it again or take it back.
            for found in [from, attempted] {
                let inventory = after_failure(from, attempted, found);
                for wanted in [attempted, from] {
                    let updates = updates(&inventory, wanted);
                    let context = format!("{}: {attempted:?}", from.kind());
                    assert_eq!(updates[0].0, *found, "{context}");
                    assert_eq!(updates.last().unwrap().1, *wanted, "{context}");
                    let sends_something = updates.iter().any(|(before, to)| before != to);
                    assert_eq!(sends_something, found != wanted, "{context}");
                }
            }
        }
    }
}

#[test]
fn what_someone_has_set_meanwhile_is_the_start_too() {
    for from in &Spec::of_each_kind() {
        let specs = from.changes();
        for (attempted, theirs) in specs.iter().flat_map(|one| specs.iter().map(move |other| (one, other))) {
            // Tags that no apply has set are unmanaged.
            if theirs.tags() != from.tags() && attempted.tags() == from.tags() {
                continue;
            }
            let inventory = after_failure(from, attempted, theirs);
            let updates = updates(&inventory, attempted);
            assert_eq!(updates[0].0, *theirs, "{}", from.kind());
        }
    }
}
