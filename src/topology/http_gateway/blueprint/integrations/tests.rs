use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::{ApiRoute, Drift, Inventory, Target};

/// Routes by key, with the content that they require.
type Routes<'a> = BTreeMap<&'a str, Integration>;

fn content(function: &str) -> Integration {
    Integration { target: Target::function(function), ..Integration::test() }
}

fn routes<'a>(pairs: &[(&'a str, &str)]) -> Routes<'a> {
    pairs.iter().map(|(key, function)| (*key, content(function))).collect()
}

/// The assignment if no authorization changes.
fn assigned<'a>(wanted: &'a Routes<'a>, inventory: &'a Inventory) -> Vec<Assigned<'a>> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    assign(wanted, &NONE, inventory, &IgnoredDrift::default())
}

fn route(key: &str, integration: &Key) -> Spec {
    Spec::ApiRoute(ApiRoute {
        route_key: key.to_string(),
        integration: Some(Ref::Key(integration.clone())),
        ..ApiRoute::test()
    })
}

/// The inventory after an apply. IDs are kept.
fn applied(wanted: &Routes<'_>, inventory: &Inventory) -> Inventory {
    let mut entries = Vec::new();
    for Assigned { key, content, routes } in assigned(wanted, inventory) {
        let id = inventory.at(&key.slot).map_or_else(|| format!("new {key}"), |entry| entry.id.clone());
        entries.push(Entry::new(key.clone(), id, Spec::Integration(content)));
        entries.extend(routes.iter().map(|it| Entry::new(keys::route(it), *it, route(it, &key))));
    }
    Inventory { entries }
}

/// The assignment as text: `integration.GET /a: users for GET /a, GET /b`.
fn shown(assigned: &[Assigned<'_>]) -> Vec<String> {
    let mut lines: Vec<String> = assigned
        .iter()
        .map(|it| {
            let routes: BTreeSet<&str> = it.routes.iter().copied().collect();
            let routes = Vec::from_iter(routes).join(", ");
            format!("{}: {} for {routes}", it.key, it.content.function_arn().unwrap())
        })
        .collect();
    lines.sort();
    lines
}

/// The assignment of `then` after an apply of `first`.
fn after(first: &[(&str, &str)], then: &[(&str, &str)]) -> Vec<String> {
    let inventory = applied(&routes(first), &Inventory::default());
    shown(&assigned(&routes(then), &inventory))
}

fn entry<'a>(inventory: &'a mut Inventory, slot: &str) -> &'a mut Entry {
    inventory.entries.iter_mut().find(|entry| entry.key.slot == slot).expect("it is in the inventory")
}

#[test]
fn new_routes_with_equal_content_share_one_named_after_the_first() {
    let wanted = [("GET /b", "x"), ("GET /a", "x"), ("GET /c", "y")];
    let expected = ["integration.GET /a: x for GET /a, GET /b", "integration.GET /c: y for GET /c"];
    assert_eq!(after(&[], &wanted), expected);
}

#[test]
fn an_integration_whose_routes_all_change_alike_is_updated() {
    let first = [("GET /a", "v1"), ("GET /b", "v1")];
    let expected = ["integration.GET /a: v2 for GET /a, GET /b"];
    assert_eq!(after(&first, &[("GET /a", "v2"), ("GET /b", "v2")]), expected);
}

#[test]
fn an_integration_keeps_its_content_while_some_routes_leave_it() {
    let first = [("GET /a", "x"), ("GET /b", "x"), ("GET /c", "x")];
    let expected = ["integration.GET /a#2: y for GET /a", "integration.GET /a: x for GET /b, GET /c"];
    assert_eq!(after(&first, &[("GET /a", "y"), ("GET /b", "x"), ("GET /c", "x")]), expected);
}

#[test]
fn an_integration_with_a_deleted_route_is_not_updated() {
    let first = [("GET /a", "x"), ("GET /b", "x")];
    assert_eq!(after(&first, &[("GET /b", "y")]), ["integration.GET /b: y for GET /b"]);
    assert_eq!(after(&first, &[("GET /b", "x")]), ["integration.GET /a: x for GET /b"]);
}

#[test]
fn an_integration_that_all_routes_leave_serves_new_routes() {
    let first = [("GET /a", "x"), ("GET /b", "x")];
    let expected =
        ["integration.GET /a#2: y for GET /a", "integration.GET /a: x for GET /c", "integration.GET /b: z for GET /b"];
    assert_eq!(after(&first, &[("GET /a", "y"), ("GET /b", "z"), ("GET /c", "x")]), expected);
}

#[test]
fn swapped_contents_are_two_updates() {
    let expected = ["integration.GET /a: y for GET /a", "integration.GET /b: x for GET /b"];
    assert_eq!(after(&[("GET /a", "x"), ("GET /b", "y")], &[("GET /a", "y"), ("GET /b", "x")]), expected);
}

#[test]
fn a_new_route_shares_an_updated_integration() {
    let then = [("GET /a", "y"), ("GET /b", "y")];
    assert_eq!(after(&[("GET /a", "x")], &then), ["integration.GET /a: y for GET /a, GET /b"]);
}

#[test]
fn a_function_and_an_authorization_change_in_one_call() {
    let inventory = applied(&routes(&[("GET /a", "x"), ("GET /b", "x"), ("GET /c", "y")]), &Inventory::default());
    let assigned = |then: &[(&'static str, &str)]| {
        let (then, reauthorized) = (routes(then), BTreeSet::from(["GET /a"]));
        shown(&assign(&then, &reauthorized, &inventory, &IgnoredDrift::default()))
    };
    let expected = ["integration.GET /a#2: z for GET /a, GET /b", "integration.GET /c: y for GET /c"];
    assert_eq!(assigned(&[("GET /a", "z"), ("GET /b", "z"), ("GET /c", "y")]), expected);
    let expected = ["integration.GET /a: x for GET /a, GET /b", "integration.GET /c: z for GET /c"];
    assert_eq!(assigned(&[("GET /a", "x"), ("GET /b", "x"), ("GET /c", "z")]), expected);
}

#[test]
fn a_renamed_path_variable_keeps_the_integration() {
    let first = [("GET /x/{a}", "x"), ("GET /y", "x")];
    let then = [("GET /x/{b}", "y"), ("GET /y", "y")];
    assert_eq!(after(&first, &then), ["integration.GET /x/{a}: y for GET /x/{b}, GET /y"]);
    // Another path is another route.
    let then = [("GET /x/{a}/b", "y"), ("GET /y", "y")];
    assert_eq!(after(&first, &then), ["integration.GET /x/{a}/b: y for GET /x/{a}/b, GET /y"]);
}

#[test]
fn a_missing_integration_is_created_again_under_its_key() {
    let wanted = routes(&[("GET /a", "x"), ("GET /b", "x"), ("GET /c", "y")]);
    let mut inventory = applied(&wanted, &Inventory::default());
    entry(&mut inventory, "integration.GET /a").drift = Drift::Missing;
    let expected = ["integration.GET /a: x for GET /a, GET /b", "integration.GET /c: y for GET /c"];
    assert_eq!(shown(&assigned(&wanted, &inventory)), expected);
    // Its name is not used for the route of another integration.
    let wanted = routes(&[("GET /a", "y"), ("GET /b", "z"), ("GET /c", "y")]);
    let expected = ["integration.GET /a: z for GET /b", "integration.GET /c: y for GET /a, GET /c"];
    assert_eq!(shown(&assigned(&wanted, &inventory)), expected);
}

#[test]
fn names_of_pending_deletions_are_not_used_again() {
    let mut inventory = applied(&routes(&[("GET /a", "x")]), &Inventory::default());
    entry(&mut inventory, "integration.GET /a").pending_deletion = true;
    inventory.entries.retain(|entry| matches!(entry.applied, Spec::Integration(_)));
    let expected = ["integration.GET /a#2: y for GET /a"];
    assert_eq!(shown(&assigned(&routes(&[("GET /a", "y")]), &inventory)), expected);
    let expected = ["integration.GET /a: x for GET /a"];
    assert_eq!(shown(&assigned(&routes(&[("GET /a", "x")]), &inventory)), expected, "an equal one is required again");
}

#[test]
fn drift_of_a_route_counts_as_its_use() {
    let first = routes(&[("GET /a", "x"), ("GET /b", "y")]);
    let mut inventory = applied(&first, &Inventory::default());
    let other = keys::integration("GET /b");
    let moved = entry(&mut inventory, "route.GET /a");
    (moved.drift, moved.ignored) = (Drift::Changed(Box::new(route("GET /a", &other))), true);
    // In AWS, both routes use the integration, so it is not updated for one of them.
    let wanted = routes(&[("GET /a", "x"), ("GET /b", "z")]);
    let expected = ["integration.GET /a: x for GET /a", "integration.GET /b#2: z for GET /b"];
    assert_eq!(shown(&assigned(&wanted, &inventory)), expected);
    // Only the drift is corrected.
    let expected = ["integration.GET /a: x for GET /a", "integration.GET /b: y for GET /b"];
    assert_eq!(shown(&assigned(&first, &inventory)), expected);
    let moved = entry(&mut inventory, "route.GET /b");
    let Spec::ApiRoute(mut theirs) = moved.applied.clone() else { unreachable!() };
    theirs.integration = Some(Ref::Id("theirs".into()));
    moved.drift = Drift::Changed(Box::new(Spec::ApiRoute(theirs)));
    assert_eq!(shown(&assigned(&first, &inventory)), expected);
}

/// Adds an unmanaged route to an inventory.
fn with_unmanaged(mut inventory: Inventory, route_key: &str, integration: &str) -> Inventory {
    let id = inventory.at(integration).expect("it is in the inventory").id.clone();
    let mut api = Entry::new(keys::api(), "api1", Spec::Api(crate::model::Api::test()));
    let route = crate::model::UnmanagedRoute {
        route_key: route_key.into(),
        id: "r9".into(),
        integration: Some(id),
        function: None,
        content: None,
        authorization: crate::model::Authorization::default(),
    };
    UnmanagedInApi { routes: vec![route], authorizers: vec![] }.learn(&mut api.learned, None);
    inventory.entries.insert(0, api);
    inventory
}

#[test]
fn an_integration_of_an_unmanaged_route_does_not_change() {
    let first = routes(&[("GET /a", "x"), ("GET /b", "y")]);
    let mut inventory = with_unmanaged(applied(&first, &Inventory::default()), "GET /theirs", "integration.GET /a");
    let expected = ["integration.GET /a#2: z for GET /a", "integration.GET /b: y for GET /b"];
    assert_eq!(shown(&assigned(&routes(&[("GET /a", "z"), ("GET /b", "y")]), &inventory)), expected);
    let expected = ["integration.GET /a: x for GET /a", "integration.GET /b: y for GET /b"];
    assert_eq!(shown(&assigned(&first, &inventory)), expected, "both still use it");
    // A person has changed it for both.
    entry(&mut inventory, "integration.GET /a").drift = Drift::Changed(Box::new(Spec::Integration(content("theirs"))));
    let expected = ["integration.GET /a#2: x for GET /a", "integration.GET /b: y for GET /b"];
    assert_eq!(shown(&assigned(&first, &inventory)), expected);
    let expected = ["integration.GET /a: theirs for GET /a", "integration.GET /b: y for GET /b"];
    let as_found = routes(&[("GET /a", "theirs"), ("GET /b", "y")]);
    assert_eq!(shown(&assigned(&as_found, &inventory)), expected);
}

#[test]
fn an_unmanaged_route_that_becomes_wanted_follows_its_integration() {
    let first = routes(&[("GET /a", "x")]);
    let inventory = with_unmanaged(applied(&first, &Inventory::default()), "GET /left", "integration.GET /a");
    let expected = ["integration.GET /a: y for GET /a, GET /left"];
    assert_eq!(shown(&assigned(&routes(&[("GET /a", "y"), ("GET /left", "y")]), &inventory)), expected);
}

#[test]
fn equal_integrations_in_state_stay_separate() {
    let expected = ["integration.GET /a: z for GET /a", "integration.GET /b: z for GET /b"];
    let merged = [("GET /a", "z"), ("GET /b", "z")];
    assert_eq!(after(&[("GET /a", "x"), ("GET /b", "y")], &merged), expected);
    let inventory = applied(&routes(&[("GET /a", "x"), ("GET /b", "y")]), &Inventory::default());
    let inventory = applied(&routes(&merged), &inventory);
    assert_eq!(shown(&assigned(&routes(&merged), &inventory)), expected);
    let more = routes(&[("GET /a", "z"), ("GET /b", "z"), ("GET /c", "z")]);
    let expected = ["integration.GET /a: z for GET /a, GET /c", "integration.GET /b: z for GET /b"];
    assert_eq!(shown(&assigned(&more, &inventory)), expected);
}

const KEYS: [&str; 7] = ["$default", "GET /a", "GET /b", "GET /c", "GET /x/{a}", "GET /x/{b}", "POST /x/{b}/y"];

/// Routes that API Gateway accepts together.
fn some_routes() -> impl Strategy<Value = Routes<'static>> {
    let function = prop::sample::select(vec!["v1", "v2", "v3"]).prop_map(content);
    prop::collection::btree_map(prop::sample::select(KEYS.to_vec()), function, 1..6).prop_map(|mut routes| {
        if routes.contains_key("GET /x/{a}") {
            routes.retain(|key, _| !key.contains("{b}"));
        }
        routes
    })
}

/// The content of an integration in an inventory.
fn content_of(inventory: &Inventory, key: &Key) -> Option<Integration> {
    match &inventory.at(&key.slot)?.applied {
        Spec::Integration(it) => Some(it.content()),
        _ => None,
    }
}

/// The number of integrations that have the same content as another one.
fn duplicates<'a>(contents: impl Iterator<Item = &'a Integration>) -> usize {
    let contents: Vec<&Integration> = contents.collect();
    let is_first = |(position, content): &(usize, &&Integration)| !contents[..*position].contains(*content);
    contents.len() - contents.iter().enumerate().filter(is_first).count()
}

fn is_same_route(one: &str, other: &str) -> bool {
    let shape = |key| RouteKey::parse(key).map(|key| key.shape()).ok();
    shape(one) == shape(other)
}

fn check_step(wanted: &Routes<'_>, before: &Inventory) -> Result<(), TestCaseError> {
    let assigned = self::assigned(wanted, before);
    prop_assert_eq!(&assigned, &self::assigned(wanted, before));
    let keys: BTreeSet<&Key> = assigned.iter().map(|it| &it.key).collect();
    prop_assert_eq!(keys.len(), assigned.len());
    for (route, content) in wanted {
        let of_route: Vec<&Assigned<'_>> = assigned.iter().filter(|it| it.routes.contains(route)).collect();
        prop_assert_eq!(of_route.iter().map(|it| &it.content).collect::<Vec<_>>(), [content]);
    }
    let (mut merges, mut known) = (0, Vec::new());
    for it in &assigned {
        let old = content_of(before, &it.key);
        known.extend(old.clone());
        if old.as_ref() == Some(&it.content) {
            continue;
        }
        let others = || assigned.iter().filter(|other| other.key != it.key && other.content == it.content);
        if old.is_none() {
            prop_assert_eq!(others().count(), 0, "{} is created although an equal one exists", it.key);
            continue;
        }
        merges += usize::from(others().count() > 0);
        for entry in &before.entries {
            let Spec::ApiRoute(route) = &entry.applied else { continue };
            if route.integration == Some(Ref::Key(it.key.clone())) {
                let stays = it.routes.iter().any(|wanted| is_same_route(wanted, &route.route_key));
                prop_assert!(stays, "{} changes while {} uses it", it.key, route.route_key);
            }
        }
    }
    let now = duplicates(assigned.iter().map(|it| &it.content));
    prop_assert!(now <= duplicates(known.iter()) + merges, "{now} equal integrations after {merges} merges");
    Ok(())
}

proptest! {
    /// So the function of one route, which may be unknown, leaves the other routes decided.
    #[test]
    fn a_route_that_does_not_change_keeps_its_integration(first in some_routes(), then in some_routes()) {
        let inventory = applied(&first, &Inventory::default());
        let key = |assigned: &[Assigned<'_>], route: &str| {
            assigned.iter().find(|it| it.routes.contains(&route)).map(|it| it.key.clone())
        };
        let (before, after) = (assigned(&first, &inventory), assigned(&then, &inventory));
        for route in first.keys().filter(|route| first.get(*route) == then.get(*route)) {
            prop_assert_eq!(key(&before, route), key(&after, route), "{}", route);
        }
    }

    #[test]
    fn no_route_uses_an_integration_that_changes_for_others(steps in prop::collection::vec(some_routes(), 1..6)) {
        let mut inventory = Inventory::default();
        for wanted in &steps {
            check_step(wanted, &inventory)?;
            inventory = applied(wanted, &inventory);
            let again = applied(wanted, &inventory);
            let sorted = |inventory: &Inventory| {
                let mut entries = inventory.entries.clone();
                entries.sort_by(|one, other| one.key.cmp(&other.key));
                entries
            };
            prop_assert_eq!(sorted(&again), sorted(&inventory), "the second plan is empty");
        }
    }
}
