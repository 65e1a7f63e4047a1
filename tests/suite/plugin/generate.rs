//! Generated configurations: over the protocol, and as text.

use fgw::plugin::generate::generate;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use fgw::plugin::{AttributePath, Value};
use serde_json::{Value as Json, json};
use tonic::transport::Channel;

use super::fake_provider::Acme;
use super::{connected, door, dynamic, named, summaries, validate, value};

async fn generated(
    terraform: &mut ProviderClient<Channel>,
    type_name: &str,
    state: &Value,
) -> pb::generate_resource_config::Response {
    let request = pb::generate_resource_config::Request { type_name: type_name.to_string(), state: dynamic(state) };
    terraform.generate_resource_config(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_capability_is_in_schema_and_metadata() {
    let (_process, mut terraform) = connected().await;
    let schema = terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap().into_inner();
    let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
    assert!(schema.server_capabilities.unwrap().generate_resource_config);
    assert!(metadata.server_capabilities.unwrap().generate_resource_config);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_configuration_has_no_computed_value() {
    let (_process, mut terraform) = connected().await;
    let tags = ("tags", Value::map([("a", Value::from("b"))]));
    let state = door(&[("id", "door-1".into()), ("name", "front".into()), ("width", 900.into()), tags.clone()]);
    let response = generated(&mut terraform, "acme_door", &state).await;
    assert_eq!(response.diagnostics, []);
    // The door omits its width because it is the default.
    assert_eq!(value(response.config), door(&[("name", "front".into()), tags]));
}

/// Terraform 1.14.0 sends no state.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_state_everything_is_null() {
    let (_process, mut terraform) = connected().await;
    for state in [dynamic(&Value::Null), None] {
        let request = pb::generate_resource_config::Request { type_name: "acme_door".to_string(), state };
        let response = terraform.generate_resource_config(request).await.unwrap().into_inner();
        assert_eq!(response.diagnostics, []);
        assert_eq!(value(response.config), door(&[]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_a_generation_are_diagnostics() {
    use pb::diagnostic::Severity::Error;
    let (process, mut terraform) = connected().await;
    let unknown = generated(&mut terraform, "acme_window", &named("front")).await;
    assert_eq!(summaries(&unknown.diagnostics), [(Error, "Unknown resource type")]);
    let misfit = generated(&mut terraform, "acme_door", &door(&[("tags", "none".into())])).await;
    assert_eq!(summaries(&misfit.diagnostics), [(Error, "Could not decode the state")]);
    let panicked = generated(&mut terraform, "acme_door", &named("panic")).await;
    assert_eq!(summaries(&panicked.diagnostics), [(Error, "The provider failed unexpectedly")]);
    assert!(misfit.config.is_none() && panicked.config.is_none());
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    assert!(!process.served.is_finished(), "the server has ended");
}

// The command, on the output of `terraform show -json`.

fn instance(address: &str, name: &str, values: &Json) -> Json {
    json!({
        "address": address, "mode": "managed", "type": "acme_door", "name": name, "schema_version": 2,
        "provider_name": "example.com/acme/acme", "values": values, "sensitive_values": {},
    })
}

fn shown(root_module: &Json) -> Json {
    json!({ "format_version": "1.0", "terraform_version": "1.11.4", "values": { "root_module": root_module } })
}

fn text(shown: &Json) -> Result<String, String> {
    generate(&Acme::default(), shown.to_string().as_bytes())
}

#[test]
fn every_module_is_in_the_generated_text() {
    let front = json!({ "id": "door-1", "name": "front", "width": 900, "tags": { "a b": "${c}" }, "key": [] });
    let back = json!({ "id": "door-2", "name": "back", "width": 800, "hinges": { "top": { "screws": 4 } } });
    let mut data = instance("data.acme_door.seen", "seen", &front);
    data["mode"] = "data".into();
    let mut deposed = instance("acme_door.front", "front", &back);
    deposed["deposed_key"] = "0a1b2c3d".into();
    let mut other = instance("other_thing.it", "it", &json!({ "size": [1] }));
    other["type"] = "other_thing".into();
    let root = json!({
        "resources": [instance("acme_door.front", "front", &front), data, deposed, other],
        "child_modules": [{
            "address": "module.house",
            "child_modules": [{
                "address": "module.house.module.yard[\"a\"]",
                "resources": [instance("module.house.module.yard[\"a\"].acme_door.back[0]", "back", &back)],
            }],
        }],
    });
    let expected = r#"resource "acme_door" "front" {
  name = "front"

  tags = {
    "a b" = "$${c}"
  }
}

# module.house.module.yard["a"].acme_door.back[0]
resource "acme_door" "back" {
  name  = "back"
  width = 800

  hinges = {
    top = {
      screws = 4
    }
  }
}
"#;
    assert_eq!(text(&shown(&root)), Ok(expected.to_string()));
    // A plan contains the state that it starts from.
    let plan = json!({ "format_version": "1.2", "planned_values": {}, "prior_state": shown(&root) });
    assert_eq!(text(&plan), Ok(expected.to_string()));
}

#[test]
fn an_address_cannot_add_a_line_to_the_generated_text() {
    let forged = instance("acme_door.front\nresource \"x\" \"y\" {}", "fr\"ont", &json!({ "name": "\u{202e}" }));
    let generated = text(&shown(&json!({ "resources": [forged] }))).unwrap();
    let expected = "# acme_door.front\\nresource \"x\" \"y\" {}\nresource \"acme_door\" \"fr\\\"ont\" {\n  name = \
                    \"\\u202e\"\n}\n";
    assert_eq!(generated, expected);
}

#[test]
fn unusable_input_is_an_error_with_the_command_to_run() {
    let error = |input: &[u8]| generate(&Acme::default(), input).unwrap_err();
    for input in [&b""[..], b"Error: no state", br#"{"version":4,"lineage":"a","resources":[]}"#, b"[]"] {
        assert!(error(input).contains("Pass the output of terraform show -json"), "{}", error(input));
    }
    let empty = text(&json!({ "format_version": "1.0" })).unwrap_err();
    assert_eq!(empty, "The input contains no resource of type acme_door.");
    assert!(text(&json!({ "format_version": "2.0" })).unwrap_err().contains("format version 2.0"));
    let mut newer = instance("acme_door.front", "front", &json!({}));
    newer["schema_version"] = 3.into();
    let newer = text(&shown(&json!({ "resources": [newer] }))).unwrap_err();
    assert!(newer.contains("acme_door.front has schema version 3") && newer.contains("up to 2"), "{newer}");
    let misfit = instance("acme_door.front", "front", &json!({ "tags": "none" }));
    let misfit = text(&shown(&json!({ "resources": [misfit] }))).unwrap_err();
    assert!(misfit.contains("acme_door.front") && misfit.contains(&AttributePath::new("tags").to_string()), "{misfit}");
}
