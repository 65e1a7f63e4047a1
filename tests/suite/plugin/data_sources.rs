//! Data sources over the protocol: schemas, results and errors.

use fgw::plugin::Value;
use fgw::plugin::proto::tfplugin6::diagnostic::Severity;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use tonic::transport::Channel;

use super::{connected, dynamic, path, summaries, value};

/// A data block with all attributes present.
fn door(name: impl Into<Value>, given: &[(&str, Value)]) -> Value {
    let mut door = Value::map(["id", "width", "tags"].map(|name| (name, Value::Null)));
    door.set("name", name.into());
    for (name, value) in given {
        door.set(name, value.clone());
    }
    door
}

async fn read(terraform: &mut ProviderClient<Channel>, config: &Value) -> pb::read_data_source::Response {
    let request = pb::read_data_source::Request { type_name: "acme_door".to_string(), config: dynamic(config) };
    terraform.read_data_source(request).await.unwrap().into_inner()
}

async fn validate(terraform: &mut ProviderClient<Channel>, config: &Value) -> Vec<pb::Diagnostic> {
    let type_name = "acme_door".to_string();
    let request = pb::validate_data_resource_config::Request { type_name, config: dynamic(config) };
    terraform.validate_data_resource_config(request).await.unwrap().into_inner().diagnostics
}

#[tokio::test(flavor = "multi_thread")]
async fn data_source_and_resource_may_share_a_type_name() {
    let (_process, mut terraform) = connected().await;
    let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
    assert_eq!(metadata.data_sources[0].type_name, metadata.resources[0].type_name);
    let schema = terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap().into_inner();
    let block = schema.data_source_schemas["acme_door"].block.as_ref().unwrap();
    assert_eq!((block.attributes.len(), &block.description[..]), (4, "An existing door."));
    assert_ne!(schema.resource_schemas["acme_door"], schema.data_source_schemas["acme_door"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_provider_validate_a_data_block_together() {
    let (_process, mut terraform) = connected().await;
    let tags = Value::map([("a", Value::Null)]);
    let found = validate(&mut terraform, &door("", &[("width", 1_i64.into()), ("tags", tags)])).await;
    let mut paths: Vec<String> = found.iter().map(path).collect();
    paths.sort();
    assert_eq!(paths, [".name", ".width"], "a null tag is absent");
    let unknown = door(Value::Unknown, &[("width", Value::Unknown), ("tags", Value::Unknown)]);
    assert_eq!(validate(&mut terraform, &unknown).await, []);
    let panicked = validate(&mut terraform, &door("panic in validate", &[])).await;
    assert_eq!(summaries(&panicked), [(Severity::Error, "The provider failed unexpectedly")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn read_returns_the_configuration_and_the_result() {
    let (_process, mut terraform) = connected().await;
    let config = door("front", &[("tags", Value::map([("a", Value::from("b"))]))]);
    let found = read(&mut terraform, &config).await;
    let mut expected = config;
    expected.set("id", "door-1".into());
    assert_eq!((value(found.state), found.diagnostics), (expected, vec![]));
    let found = read(&mut terraform, &door("ajar", &[])).await;
    assert_eq!(summaries(&found.diagnostics), [(Severity::Warning, "The door is ajar")]);
    assert_eq!(value(found.state).get("name"), &"ajar".into());
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_read_returns_no_state_and_the_next_one_succeeds() {
    let (process, mut terraform) = connected().await;
    for (name, summary) in [("panic", "The provider failed unexpectedly"), ("nothing", "Could not read acme_door")] {
        let found = read(&mut terraform, &door(name, &[])).await;
        assert_eq!(summaries(&found.diagnostics), [(Severity::Error, summary)]);
        assert_eq!(found.state, None);
    }
    let found = read(&mut terraform, &door("misfit", &[])).await;
    assert_eq!(path(&found.diagnostics[0]), ".width");
    // Terraform reads a data source only when all values are known; another client gets an error.
    let found = read(&mut terraform, &door(Value::Unknown, &[])).await;
    assert!(found.state.is_none() && found.diagnostics[0].detail.contains("contains unknown values"), "{found:?}");
    let request = pb::read_data_source::Request { type_name: "acme_wall".to_string(), config: None };
    let unknown = terraform.read_data_source(request).await.unwrap().into_inner();
    assert_eq!(summaries(&unknown.diagnostics), [(Severity::Error, "Unknown data source")]);
    assert_eq!(value(read(&mut terraform, &door("front", &[])).await.state).get("id"), &"door-1".into());
    assert!(!process.served.is_finished(), "the server has ended");
}
