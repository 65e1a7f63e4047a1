//! Objects with the tags of a gateway that are not in state: of interrupted runs, or with copied tags.

use std::collections::BTreeMap;

use super::*;
use crate::model::{Entry, Key, Origin, Ref};

/// A gateway with every kind of object except a subscription.
fn full() -> Value {
    let pairs = [
        ("access_log_logservice_group_name", Value::from("front-logs")),
        ("domain_name", "a.example.com".into()),
        ("create_dns_entry", true.into()),
        ("hosted_zone_id", "Z0123456789A".into()),
    ];
    gateway(&[("GET /a", route("a", Some("keeper")))], &[("keeper", authorizer("guard"))], &pairs)
}

fn small() -> Value {
    gateway(&[("GET /b", route("b", None))], &[], &[])
}

/// Applies a configuration, of which Terraform then loses the new state: the run was killed at its end.
async fn apply_and_forget(terraform: &mut Terraform<HttpGateway>, config: &Value) {
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(config).await;
    (terraform.state, terraform.private) = (state, private);
    terraform.account.take_calls();
}

fn unmanaged(terraform: &Terraform<HttpGateway>) -> BTreeMap<String, Value> {
    terraform.state.get("unmanaged_objects").as_map().unwrap().clone().into_iter().collect()
}

/// The changing calls so far, without those of these slots.
fn calls_except(terraform: &Terraform<HttpGateway>, slots: &[&str]) -> Vec<String> {
    let mut calls = terraform.account.take_calls();
    calls.retain(|call| !slots.iter().any(|slot| call.ends_with(&format!(" {slot}"))));
    calls
}

/// The account contains a gateway of which state has the API alone, because the create was killed early.
async fn with_the_api_alone() -> Terraform<HttpGateway> {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&full()).await;
    let mut private = super::super::private_state::Private::decode(&terraform.private).unwrap();
    private.inventory.entries.retain(|entry| entry.key.slot == "api");
    let id = private.inventory.entries[0].id.clone();
    terraform.private = private.encode();
    terraform.state.set("aws_objects", Value::map([("api", Value::from(id.as_str()))]));
    terraform.account.take_calls();
    terraform
}

#[tokio::test(start_paused = true)]
async fn a_log_group_of_a_killed_update_is_taken_over() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let mut logging = small();
    terraform.assert_applies(&logging).await;
    logging.set("access_log_logservice_group_name", "front-logs".into());
    for is_refreshed in [true, false] {
        apply_and_forget(&mut terraform, &logging).await;
        if is_refreshed {
            terraform.refresh().await;
        }
        let plan = terraform.plan(&logging).await;
        let warning = plan.diagnostics.0.iter().find(|it| it.summary.contains("takes over objects"));
        assert!(warning.unwrap().detail.contains("log_group: front-logs"), "{:?}", plan.diagnostics);
        assert_eq!(*plan.planned.get("aws_objects").get("log_group"), Value::from("front-logs"));
        terraform.assert_applies(&logging).await;
        let calls = terraform.account.take_calls();
        assert!(!calls.iter().any(|call| call.starts_with("create") || call.starts_with("delete")), "{calls:?}");
        terraform.assert_applies(&small()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_create_adopts_no_object_of_someone_else() {
    for slot in ["log_group", "domain"] {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        terraform.assert_applies(&full()).await;
        let (objects, private) = (terraform.state.get("aws_objects").clone(), terraform.private.clone());
        terraform.assert_applies(&small()).await;
        // Without the tags of this gateway.
        terraform.account.create_outside(&inventory(&private), slot, objects.get(slot));
        terraform.account.take_calls();
        let plan = terraform.plan(&full()).await;
        let failed = match plan.diagnostics.has_errors() {
            // The plan looks log groups up.
            true => plan.diagnostics,
            false => terraform.apply_plan(&full(), plan).await,
        };
        let is_said = |detail: &str| detail.contains("already exists") || detail.contains("exists already");
        assert!(failed.0.iter().any(|it| is_said(&it.detail)), "{slot}: {failed:?}");
        assert!(terraform.state.get("aws_objects").get(slot).is_null(), "{slot}");
        let calls = terraform.account.take_calls();
        assert!(!calls.contains(&format!("update {slot}")), "{calls:?}");
        terraform.assert_applies(&small()).await;
        assert!(!terraform.destroy().await.has_errors());
        assert_eq!(terraform.account.slots(), [slot], "it stays");
    }
}

/// With and without private state, by the rules of an import, everything in the API would count.
#[tokio::test(start_paused = true)]
async fn an_api_alone_in_state_takes_over_only_what_is_required() {
    for has_private_state in [true, false] {
        let mut terraform = with_the_api_alone().await;
        if !has_private_state {
            terraform.private = Vec::new();
        }
        terraform.refresh().await;
        assert_eq!(terraform.state.get("aws_objects").as_map().unwrap().len(), 1);
        let found: Vec<String> = unmanaged(&terraform).into_keys().collect();
        assert_eq!(found.len(), 3, "the domain and the stage, which have tags, and the mapping: {found:?}");

        let objects = terraform.account.slots();
        // Equal routes, integrations and authorizers are adopted when they would be created.
        terraform.assert_applies(&full()).await;
        assert_eq!(terraform.account.slots(), objects);
        let calls = terraform.account.take_calls();
        assert!(!calls.iter().any(|call| call.starts_with("delete") || call.starts_with("update")), "{calls:?}");
        assert!(!terraform.destroy().await.has_errors());
        assert_eq!(terraform.account.slots(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn an_api_alone_in_state_changes_nothing_that_differs() {
    let mut terraform = with_the_api_alone().await;
    terraform.account.change_outside("authorizer.keeper", |spec| {
        let Spec::Authorizer(authorizer) = spec else { unreachable!() };
        authorizer.result_ttl_in_seconds = Input::Known(300);
    });
    terraform.refresh().await;
    let failed = terraform.apply(&full()).await;
    let detail = "authorizer.keeper already exists";
    assert!(failed.0.iter().any(|it| it.detail.contains(detail)), "{failed:?}");
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete") || call.starts_with("update")), "{calls:?}");
}

/// A destroy deletes what is in state, and what AWS deletes with the API.
#[tokio::test(start_paused = true)]
async fn a_destroy_of_an_api_alone_deletes_no_tagged_domain() {
    for has_private_state in [true, false] {
        let mut terraform = with_the_api_alone().await;
        if !has_private_state {
            terraform.private = Vec::new();
        }
        terraform.refresh().await;
        // AWS rejects the deletion of an API to which a mapping points.
        assert!(terraform.destroy().await.has_errors());
        let calls = calls_except(&terraform, &["api"]);
        assert_eq!(calls, Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_forged_state_of_the_root_changes_nothing() {
    for state in [RootState::Creating, RootState::Incomplete] {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        terraform.assert_applies(&full()).await;
        terraform.account.take_calls();
        *terraform.account.root_state.lock().unwrap() = Some(state);
        terraform.refresh().await;
        terraform.assert_applies(&full()).await;
        assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    }
}

/// The candidate for a route with these references.
fn candidate(api: &Key, integration: Ref, authorizer: Ref) -> super::super::private_state::Candidate {
    let route = crate::model::ApiRoute {
        api: api.clone(),
        integration: Some(integration),
        authorization: crate::model::Authorization::custom(authorizer),
        ..crate::model::ApiRoute::test()
    };
    let entry = Entry::new(Key::new("route.GET /a"), "route-left", Spec::ApiRoute(route));
    super::super::private_state::Candidate::of(Entry { origin: Origin::Found, ..entry })
}

#[tokio::test(start_paused = true)]
async fn a_route_is_taken_over_only_if_its_references_are_managed() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&full()).await;
    let mut private = super::super::private_state::Private::decode(&terraform.private).unwrap();
    let entries = &mut private.inventory.entries;
    let removed = entries.iter().position(|entry| entry.key.slot == "route.GET /a").unwrap();
    let Spec::ApiRoute(route) = entries.remove(removed).applied else { unreachable!() };
    let (ours, guard) = (route.integration.unwrap(), route.authorization.authorizer.unwrap());
    let theirs = || Ref::Id("theirs".into());
    for (integration, authorizer, is_taken) in [
        (ours.clone(), guard.clone(), true),
        (theirs(), guard.clone(), false),
        (ours.clone(), theirs(), false),
        (theirs(), theirs(), false),
    ] {
        let mut with_route = private.clone();
        with_route.candidates = vec![candidate(&route.api, integration.clone(), authorizer.clone())];
        terraform.private = with_route.encode();
        let plan = terraform.plan(&full()).await;
        let planned = plan.planned.get("aws_objects").get("route.GET /a");
        assert_eq!(*planned == Value::from("route-left"), is_taken, "{integration:?}, {authorizer:?}: {planned}");
    }
}
