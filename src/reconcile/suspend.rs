//! Routes of an API that must be deleted before others are created, because AWS rejects two names of one path variable.
//!
//! In between, a broader route would accept their requests, perhaps without an authorization. The stage therefore
//! serves what AWS has deployed before: an early update of the stage turns automatic deployment off, and its last
//! update, which follows all routes, turns it on again. AWS then deploys all of them at once. If the apply ends in
//! between, the stage stays as it is, and the next apply continues. At the quota of routes, the same precedes the
//! deletion of old ones. A stage that the plan deletes stays off, and the creation of its successor follows all routes.

use super::diff::keeping;
use super::plan::Action;
use crate::model::{Claim, Entry, Inventory, Key, Object};

/// Whether a route must be deleted before another one is created.
pub(super) fn is_suspended(actions: &[Action]) -> bool {
    let routes = || actions.iter().filter(|action| action.spec().answers_requests());
    let created = routes().filter(|action| matches!(action, Action::Create(_)));
    let created: Vec<Claim> = created.flat_map(|action| action.spec().claims()).collect();
    let mut deleted = routes().filter(|action| matches!(action, Action::Delete { cascades_from: None, .. }));
    deleted.any(|action| Claim::any_collide(&created, &action.spec().claims()))
}

/// Adds an update of each stage that has none. `split` divides it.
pub(super) fn with_update(mut actions: Vec<Action>, existing: &Inventory, wanted: &[Object]) -> Vec<Action> {
    if !is_suspended(&actions) {
        return actions;
    }
    let is_updated = |key: &Key| actions.iter().any(|it| matches!(it, Action::Update { to, .. } if to.key == *key));
    let updates = stages(existing).filter(|entry| !is_updated(&entry.key)).filter_map(|entry| {
        let Some(stage) = wanted.iter().find(|object| object.key == entry.key) else { return suspended(entry) };
        let (id, before) = (entry.id.clone(), entry.spec().clone());
        Some(Action::Update { id, to: keeping(before.clone(), stage), before, certain: true })
    });
    let updates: Vec<Action> = updates.collect();
    let deletes = actions.iter().position(|action| matches!(action, Action::Delete { .. })).unwrap_or_default();
    actions.splice(deletes..deletes, updates);
    actions
}

/// The updates of the stages before a deletion that no plan contains.
pub(super) fn suspensions(existing: &Inventory) -> Vec<Action> {
    stages(existing).filter_map(suspended).collect()
}

fn stages(existing: &Inventory) -> impl Iterator<Item = &Entry> {
    existing.present().filter(|entry| entry.spec().is_deployed_by_aws() && !entry.is_missing())
}

/// The update that turns automatic deployment off. `None` if it is off.
fn suspended(entry: &Entry) -> Option<Action> {
    let (before, certain) = (entry.spec().clone(), entry.unfinished.is_none());
    let required = Some(Box::new(entry.applied.suspended()));
    let to = Object { required, ..Object::new(entry.key.clone(), before.suspended()) };
    (!certain || to.spec != before).then(|| Action::Update { id: entry.id.clone(), before, certain, to })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::keys::gateway as keys;
    use crate::model::{ApiRoute, Entry, Spec, Stage};
    use crate::reconcile::plan;

    /// Routes with these keys, and the stage.
    fn objects(route_keys: &[&str]) -> Vec<Object> {
        let route = |route_key: &&str| {
            let spec = ApiRoute { route_key: (*route_key).into(), ..ApiRoute::test() };
            Object::new(keys::route(route_key), Spec::ApiRoute(spec))
        };
        let routes: Vec<Object> = route_keys.iter().map(route).collect();
        let after = routes.iter().map(|route| route.key.clone()).collect();
        let stage = Spec::Stage(Stage { auto_deploy: true, ..Stage::test() });
        routes.into_iter().chain([Object { after, ..Object::new(keys::stage(Stage::DEFAULT), stage) }]).collect()
    }

    /// The operations, each with the positions of those before it.
    fn planned(before: &[&str], after: &[&str]) -> Vec<String> {
        let entries = objects(before).into_iter().map(|it| Entry::new(it.key.clone(), it.key.slot, it.spec));
        let existing = Inventory { entries: entries.collect() };
        let ops = plan(&existing, &objects(after)).expect("it can be ordered").ops;
        let line = |op: &crate::reconcile::Op| match &op.action {
            Action::Create(object) => format!("create {} after {:?}", object.key, op.depends_on),
            Action::Update { to, .. } => match &to.spec {
                Spec::Stage(stage) => format!("deploy: {} after {:?}", stage.auto_deploy, op.depends_on),
                _ => format!("update {} after {:?}", to.key, op.depends_on),
            },
            Action::Delete { entry, .. } => format!("delete {} after {:?}", entry.key, op.depends_on),
        };
        ops.iter().map(line).collect()
    }

    #[test]
    fn renamed_variables_are_deployed_at_once() {
        assert_eq!(
            planned(&["GET /a/{x}", "POST /a/{x}/c", "GET /d"], &["GET /a/{y}", "GET /b", "POST /a/{y}/c"]),
            [
                "deploy: false after {2}",
                "create route.GET /a/{y} after {6, 7}",
                "create route.GET /b after {}",
                "create route.POST /a/{y}/c after {6, 7}",
                "deploy: true after {0, 1, 2, 3, 5, 6, 7}",
                "delete route.GET /d after {0}",
                "delete route.POST /a/{x}/c after {0}",
                "delete route.GET /a/{x} after {0}",
            ]
        );
    }

    #[test]
    fn other_changes_are_deployed_one_by_one() {
        assert_eq!(
            planned(&["GET /a/{x}"], &["GET /b/{x}"]),
            ["create route.GET /b/{x} after {}", "delete route.GET /a/{x} after {0}"]
        );
    }
}
