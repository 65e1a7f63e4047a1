//! Identities of objects, imports by identity, and moves of states between providers.

use fgw::plugin::Value;
use tonic::transport::Channel;

use super::{ProviderClient, Severity, apply, connected, dynamic, named, path, pb, summaries, value};
use crate::support::wire;

fn data(identity: &[(&str, Value)]) -> Option<pb::ResourceIdentityData> {
    let identity = Value::map(identity.iter().cloned());
    Some(pb::ResourceIdentityData { identity_data: Some(wire::encode(&identity)) })
}

fn id_in(identity: Option<pb::ResourceIdentityData>) -> Value {
    let identity = wire::decode(&identity.expect("there is an identity").identity_data.expect("it has data"));
    assert_eq!(identity.get("house"), &Value::Null);
    identity.get("id").clone()
}

async fn import(
    terraform: &mut ProviderClient<Channel>,
    id: &str,
    identity: Option<pb::ResourceIdentityData>,
) -> pb::import_resource_state::Response {
    let request = pb::import_resource_state::Request { type_name: "acme_door".into(), id: id.into(), identity };
    terraform.import_resource_state(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_identity_schema_is_offered() {
    let (_process, mut terraform) = connected().await;
    let request = pb::get_resource_identity_schemas::Request {};
    let offered = terraform.get_resource_identity_schemas(request).await.unwrap().into_inner();
    assert_eq!(offered.diagnostics, []);
    let schema = &offered.identity_schemas["acme_door"];
    let attributes: Vec<_> = schema
        .identity_attributes
        .iter()
        .map(|it| (it.name.as_str(), &it.r#type[..], it.required_for_import, it.optional_for_import))
        .collect();
    assert_eq!(attributes, [("id", &b"\"string\""[..], true, false), ("house", &b"\"string\""[..], false, true)]);
    assert_eq!(schema.version, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_comes_with_its_identity() {
    let (_process, mut terraform) = connected().await;
    let applied = terraform.apply_resource_change(apply(&named("front"))).await.unwrap().into_inner();
    assert_eq!(id_in(applied.new_identity), "door-1".into());
    let state = value(applied.new_state);
    let request = |state: &Value| pb::read_resource::Request {
        type_name: "acme_door".into(),
        current_state: dynamic(state),
        private: Vec::new(),
    };
    let read = terraform.read_resource(request(&state)).await.unwrap().into_inner();
    assert_eq!(id_in(read.new_identity), "door-1".into());
    let mut deleted = state.clone();
    deleted.set("id", "door-deleted".into());
    assert_eq!(terraform.read_resource(request(&deleted)).await.unwrap().into_inner().new_identity, None);
    let destroyed = pb::apply_resource_change::Request {
        type_name: "acme_door".into(),
        prior_state: dynamic(&state),
        planned_state: dynamic(&Value::Null),
        ..Default::default()
    };
    let destroyed = terraform.apply_resource_change(destroyed).await.unwrap().into_inner();
    assert_eq!(destroyed.new_identity, None, "{:?}", destroyed.diagnostics);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_keeps_the_identity_unless_it_replaces_the_object() {
    let (_process, mut terraform) = connected().await;
    let mut prior = named("front");
    prior.set("id", "door-1".into());
    let prior_identity = data(&[("id", "door-1".into()), ("house", Value::Null)]);
    for (name, is_kept) in [("front", true), ("back", false)] {
        let mut proposed = prior.clone();
        proposed.set("name", name.into());
        let request = pb::plan_resource_change::Request {
            type_name: "acme_door".into(),
            prior_state: dynamic(&prior),
            proposed_new_state: dynamic(&proposed),
            config: dynamic(&proposed),
            prior_identity: prior_identity.clone(),
            ..Default::default()
        };
        let planned = terraform.plan_resource_change(request).await.unwrap().into_inner();
        assert_eq!(planned.planned_identity, prior_identity.clone().filter(|_| is_kept), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_by_identity_returns_the_identity() {
    let (_process, mut terraform) = connected().await;
    let identity = data(&[("id", "door-7".into()), ("house", Value::Null)]);
    let mut imported = import(&mut terraform, "", identity.clone()).await;
    assert_eq!(imported.diagnostics, []);
    assert_eq!(imported.imported_resources.remove(0).identity, identity);
    let mut by_id = import(&mut terraform, "door-7", None).await;
    assert_eq!(by_id.imported_resources.remove(0).identity, identity);
    let missing = import(&mut terraform, "", data(&[("id", "nothing".into()), ("house", Value::Null)])).await;
    assert_eq!(summaries(&missing.diagnostics), [(Severity::Error, "Could not import acme_door { id = \"nothing\" }")]);
    let invalid = import(&mut terraform, "", data(&[("id", true.into()), ("house", Value::Null)])).await;
    assert_eq!(summaries(&invalid.diagnostics), [(Severity::Error, "Could not decode the identity")]);
    assert_eq!(path(&invalid.diagnostics[0]), ".id");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_identity_is_kept_or_rejected_by_version() {
    let (_process, terraform) = connected().await;
    let upgrade = |version: i64, json: &str| {
        let request = pb::upgrade_resource_identity::Request {
            type_name: "acme_door".into(),
            version,
            raw_identity: Some(pb::RawState { json: json.into(), flatmap: Default::default() }),
        };
        let mut terraform = terraform.clone();
        async move { terraform.upgrade_resource_identity(request).await.unwrap().into_inner() }
    };
    let kept = upgrade(0, r#"{"id": "door-1"}"#).await;
    assert_eq!(kept.diagnostics, []);
    assert_eq!(id_in(kept.upgraded_identity), "door-1".into());
    for (version, json) in [(1, r#"{"id": "door-1"}"#), (0, "[]")] {
        let rejected = upgrade(version, json).await;
        let summary = "Could not read the stored identity of acme_door";
        assert_eq!(summaries(&rejected.diagnostics), [(Severity::Error, summary)], "{version} {json}");
        assert_eq!(rejected.upgraded_identity, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_moves_from_another_address_of_the_provider() {
    let (_process, terraform) = connected().await;
    let moved = |provider: &str, version: i64, json: &str| {
        let request = pb::move_resource_state::Request {
            source_provider_address: provider.into(),
            source_type_name: "acme_door".into(),
            source_schema_version: version,
            source_state: Some(pb::RawState { json: json.into(), flatmap: Default::default() }),
            target_type_name: "acme_door".into(),
            source_private: b"private".to_vec(),
        };
        let mut terraform = terraform.clone();
        async move { terraform.move_resource_state(request).await.unwrap().into_inner() }
    };
    let current = moved("example.com/fork/acme", 2, r#"{"id": "door-1", "name": "front"}"#).await;
    assert_eq!(current.diagnostics, []);
    assert_eq!(value(current.target_state).get("name"), &"front".into());
    assert_eq!(current.target_private, b"private");
    assert_eq!(id_in(current.target_identity), "door-1".into());
    let older = moved("example.com/fork/acme", 1, r#"{"door_id": "door-2", "name": "back"}"#).await;
    assert_eq!(value(older.target_state).get("id"), &"door-2".into());
    let foreign = moved("example.com/other/windows", 2, r#"{"id": "window-1"}"#).await;
    let summary = "Could not move a state to acme_door: unsupported source";
    assert_eq!(summaries(&foreign.diagnostics), [(Severity::Error, summary)]);
    assert!(foreign.diagnostics[0].detail.contains("example.com/other/windows"));
    assert_eq!(foreign.target_state, None);
}
