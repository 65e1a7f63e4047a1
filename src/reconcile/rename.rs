//! Renames in place: an object that is deleted and one that is created become one update where AWS can change the
//! identifying input. The object then never ceases to exist.

use super::plan::Action;
use crate::model::{Claim, Entry};

/// Replaces a deletion and a creation by an update, for each pair that AWS can rename. Of several objects that hold
/// the same claim, only the first is renamed: AWS rejects its new name until the others have been deleted.
pub(super) fn rename(actions: Vec<Action>) -> Vec<Action> {
    let pairs = pairs(&actions);
    let is_renamed = |position: usize| pairs.iter().any(|(_, deleted)| *deleted == position);
    let renamed = |created: usize| pairs.iter().find(|(it, _)| *it == created).map(|(_, deleted)| &actions[*deleted]);
    let kept = actions.iter().enumerate().filter(|(position, _)| !is_renamed(*position));
    kept.map(|(position, action)| match (action, renamed(position)) {
        (Action::Create(object), Some(Action::Delete { entry, .. })) => Action::Update {
            id: entry.id.clone(),
            before: entry.spec().clone(),
            certain: entry.unfinished.is_none(),
            to: object.clone(),
        },
        _ => action.clone(),
    })
    .collect()
}

/// The positions of the creations and deletions that are renames.
fn pairs(actions: &[Action]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (created, action) in actions.iter().enumerate() {
        let Action::Create(object) = action else { continue };
        let found = actions.iter().enumerate().find_map(|(deleted, other)| {
            renamable(other).filter(|entry| entry.spec().can_be_renamed_to(object.spec.as_kind()))?;
            let is_free = pairs.iter().all(|&(other_created, other_deleted)| {
                other_deleted != deleted
                    && !conflicts(&actions[created], &actions[other_deleted])
                    && !conflicts(&actions[other_created], other)
            });
            is_free.then_some(deleted)
        });
        pairs.extend(found.map(|deleted| (created, deleted)));
    }
    pairs
}

/// The object that a deletion could rename instead.
fn renamable(action: &Action) -> Option<&Entry> {
    match action {
        Action::Delete { entry, cascades_from: None, .. } if !entry.pending_deletion => Some(entry),
        _ => None,
    }
}

/// Whether AWS rejects the creation until the deletion is done.
fn conflicts(creation: &Action, deletion: &Action) -> bool {
    Claim::any_collide(&creation.spec().claims(), &deletion.spec().claims())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::keys::gateway as keys;
    use crate::model::{ApiRoute, Inventory, Object, Spec};
    use crate::reconcile::plan;

    fn route(route_key: &str) -> Object {
        let spec = ApiRoute { route_key: route_key.into(), ..ApiRoute::test() };
        Object::new(keys::route(route_key), Spec::ApiRoute(spec))
    }

    fn existing(route_keys: &[&str]) -> Inventory {
        let entry = |route_key: &&str| {
            let object = route(route_key);
            Entry::new(object.key, format!("id of {route_key}"), object.spec)
        };
        Inventory { entries: route_keys.iter().map(entry).collect() }
    }

    /// The operations, each with the positions of those before it.
    fn planned(before: &[&str], after: &[&str]) -> Vec<String> {
        let wanted: Vec<Object> = after.iter().map(|route_key| route(route_key)).collect();
        let ops = plan(&existing(before), &wanted).expect("it can be ordered").ops;
        let line = |op: &crate::reconcile::Op| match &op.action {
            Action::Create(object) => format!("create {} after {:?}", object.key, op.depends_on),
            Action::Update { id, to, .. } => format!("{id} becomes {} after {:?}", to.key, op.depends_on),
            Action::Delete { entry, .. } => format!("delete {} after {:?}", entry.key, op.depends_on),
        };
        ops.iter().map(line).collect()
    }

    #[test]
    fn a_lone_path_variable_is_renamed_in_place() {
        assert_eq!(
            planned(&["GET /a/{x}", "GET /b"], &["GET /a/{y}", "GET /b"]),
            ["id of GET /a/{x} becomes route.GET /a/{y} after {}"]
        );
        let both = planned(&["GET /a/{x}", "GET /b/{x}"], &["GET /a/{y}", "GET /b/{y}"]);
        assert_eq!(both.len(), 2, "different places do not depend on each other: {both:?}");
    }

    #[test]
    fn of_several_routes_of_one_place_one_is_renamed() {
        assert_eq!(
            planned(&["GET /a/{x}", "POST /a/{x}/c"], &["GET /a/{y}", "POST /a/{y}/c"]),
            [
                "id of GET /a/{x} becomes route.GET /a/{y} after {2}",
                "create route.POST /a/{y}/c after {0, 2}",
                "delete route.POST /a/{x}/c after {}",
            ]
        );
    }

    #[test]
    fn routes_that_match_other_requests_are_not_renamed() {
        assert_eq!(
            planned(&["GET /a/{x}"], &["GET /b/{x}"]),
            ["create route.GET /b/{x} after {}", "delete route.GET /a/{x} after {0}"]
        );
    }
}
