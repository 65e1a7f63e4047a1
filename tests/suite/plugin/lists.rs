//! List resources over the protocol: results, limits, states and errors.

use fgw::plugin::Value;
use tonic::transport::Channel;

use super::{ProviderClient, Severity, connected, connected_to, dynamic, path, pb, summaries, value};
use crate::plugin::fake_provider::Acme;

fn config(name: &str) -> Option<pb::DynamicValue> {
    dynamic(&Value::map([("name", Value::from(name))]))
}

/// All events, until the provider ends the list.
async fn list(
    terraform: &mut ProviderClient<Channel>,
    name: &str,
    include_resource_object: bool,
    limit: i64,
) -> Vec<pb::list_resource::Event> {
    let (type_name, config) = ("acme_door".to_owned(), config(name));
    let request = pb::list_resource::Request { type_name, config, include_resource_object, limit };
    let mut events = terraform.list_resource(request).await.unwrap().into_inner();
    let mut all = Vec::new();
    while let Some(event) = events.message().await.unwrap() {
        all.push(event);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_resource_is_offered() {
    let (_process, mut terraform) = connected().await;
    let schemas = terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap().into_inner();
    let block = schemas.list_resource_schemas["acme_door"].block.clone().unwrap();
    assert_eq!(block.attributes.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["name"]);
    let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
    assert_eq!(metadata.list_resources.iter().map(|it| it.type_name.as_str()).collect::<Vec<_>>(), ["acme_door"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_ends_at_the_limit() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    let events = list(&mut terraform, "any", false, 3).await;
    let names: Vec<&str> = events.iter().map(|event| event.display_name.as_str()).collect();
    assert_eq!(names, ["Door 1", "Door 2", "Door 3"]);
    assert!(events.iter().all(|event| event.resource_object.is_none() && event.identity.is_some()));
    acme.diary.until("the list ends").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_have_states_if_terraform_asks_for_them() {
    let (_process, mut terraform) = connected().await;
    let event = list(&mut terraform, "any", true, 1).await.remove(0);
    let state = value(event.resource_object);
    assert_eq!((state.get("id"), state.get("tags")), (&"door-1".into(), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_read_does_not_count() {
    let (_process, mut terraform) = connected().await;
    let events = list(&mut terraform, "locked", false, 2).await;
    assert_eq!(summaries(&events[0].diagnostic), [(Severity::Warning, "A door is locked")]);
    let has_identity: Vec<bool> = events.iter().map(|event| event.identity.is_some()).collect();
    assert_eq!(has_identity, [false, true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_and_panics_are_the_last_event() {
    let (process, mut terraform) = connected().await;
    for (name, summary) in [("error", "No door found"), ("panic", "The provider failed unexpectedly")] {
        let events = list(&mut terraform, name, false, 5).await;
        assert_eq!(events.len(), 1, "{name}");
        assert_eq!(summaries(&events[0].diagnostic), [(Severity::Error, summary)]);
    }
    assert!(!process.served.is_finished(), "the server has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_terraform_abandons_ends() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    let (type_name, config) = ("acme_door".to_owned(), config("any"));
    let request = pb::list_resource::Request { type_name, config, include_resource_object: false, limit: 1_000_000 };
    let mut events = terraform.list_resource(request).await.unwrap().into_inner();
    assert!(events.message().await.unwrap().is_some());
    drop(events);
    acme.diary.until("the list ends").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_a_list() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    let listing = tokio::spawn({
        let mut terraform = terraform.clone();
        async move { list(&mut terraform, "endless", false, 5).await }
    });
    acme.diary.until("endless work begins").await;
    terraform.stop_provider(pb::stop_provider::Request {}).await.unwrap();
    let events = listing.await.unwrap();
    assert_eq!(summaries(&events[0].diagnostic), [(Severity::Error, "Stopped listing acme_door")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_of_a_list_is_validated() {
    let (_process, mut terraform) = connected().await;
    let request = pb::validate_list_resource_config::Request { type_name: "acme_door".into(), config: config("") };
    let found = terraform.validate_list_resource_config(request).await.unwrap().into_inner().diagnostics;
    assert_eq!(summaries(&found), [(Severity::Error, "A door needs a name")]);
    assert_eq!(path(&found[0]), ".name");
}
