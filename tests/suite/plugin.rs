//! The plugin protocol over a real socket. The tests are the client in place of Terraform, and the provider is a fake.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

#[path = "plugin/data_sources.rs"]
mod data_sources;
#[path = "plugin/fake_provider.rs"]
mod fake_provider;
#[path = "plugin/functions.rs"]
mod functions;
#[path = "plugin/identities.rs"]
mod identities;
#[path = "plugin/lint.rs"]
mod lint;
#[path = "plugin/lists.rs"]
mod lists;
#[path = "plugin/stops.rs"]
mod stops;
#[path = "plugin/life.rs"]
mod life;
#[cfg(unix)]
#[path = "plugin/program.rs"]
mod program;
#[path = "plugin/tcp.rs"]
mod tcp;
#[path = "plugin/generate.rs"]
mod generate;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fgw::plugin::proto::process::Empty;
use fgw::plugin::proto::tfplugin6::diagnostic::Severity;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use fgw::plugin::{Environment, Offer, Parent, Provider, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tonic::Code;
use tonic::transport::Channel;

use crate::support::plugin_client::{COOKIE, Certificate, Handshake};
use crate::support::{wait, wire};
use fake_provider::Acme;

// The client.

/// A running server.
pub(super) struct Process {
    pub(super) handshake: Handshake,
    terminate: Arc<Notify>,
    parent: Arc<FakeParent>,
    pub(super) served: JoinHandle<Result<(), String>>,
}

/// The process that started a server.
#[derive(Default)]
struct FakeParent {
    has_ended: AtomicBool,
    /// How often the server has checked whether it has ended.
    checks: AtomicUsize,
}

pub(super) fn environment(client: Option<&Certificate>) -> Environment {
    Environment {
        cookie: Some(COOKIE.to_string()),
        versions: Some("5,6".to_string()),
        client_certificate: client.map(|client| client.pem()),
        connect_timeout: Duration::from_secs(30),
        ..Environment::of_process()
    }
}

pub(super) async fn start(client: Option<&Certificate>) -> Process {
    start_provider(Acme::default(), client).await
}

pub(super) async fn start_provider(provider: impl Provider, client: Option<&Certificate>) -> Process {
    let process = start_in(provider, environment(client)).await;
    assert_eq!(process.handshake.certificate.is_empty(), client.is_none());
    process
}

async fn start_in(provider: impl Provider, environment: Environment) -> Process {
    let (announce, announced) = oneshot::channel();
    let (terminate, parent) = (Arc::new(Notify::new()), Arc::new(FakeParent::default()));
    let announce = |offer: &Offer| announce.send(offer.line()).map_err(std::io::Error::other);
    let checked = parent.clone();
    let has_ended = move || {
        checked.checks.fetch_add(1, Ordering::Relaxed);
        checked.has_ended.load(Ordering::Relaxed)
    };
    let parent_of_server = Parent { interval: Duration::from_millis(20), has_ended: Arc::new(has_ended) };
    let environment = Environment { parent: parent_of_server, ..environment };
    let served = tokio::spawn(fgw::plugin::serve::run(provider, environment, terminate.clone(), announce));
    let line = announced.await.unwrap();
    let handshake = Handshake::parse(&line).unwrap_or_else(|| panic!("not a handshake: {line}"));
    Process { handshake, terminate, parent, served }
}

impl Process {
    pub(super) async fn connect(&self, client: Option<&Certificate>) -> Result<Channel, tonic::transport::Error> {
        self.handshake.connect(client).await
    }

    pub(super) async fn terraform(&self, client: &Certificate) -> ProviderClient<Channel> {
        let channel = self.connect(Some(client)).await.unwrap();
        ProviderClient::new(channel).max_decoding_message_size(usize::MAX).max_encoding_message_size(usize::MAX)
    }

    /// Terraform has ended without a shutdown.
    fn lose_parent(&self) {
        self.parent.has_ended.store(true, Ordering::Relaxed);
    }

    async fn ended(self) -> Result<(), String> {
        wait::output("the server ends", self.served).await.unwrap()
    }
}

/// A server and a connection to it.
pub(super) async fn connected() -> (Process, ProviderClient<Channel>) {
    connected_to(Acme::default()).await
}

async fn connected_to(acme: Acme) -> (Process, ProviderClient<Channel>) {
    let client = Certificate::new();
    let process = start_provider(acme, Some(&client)).await;
    let terraform = process.terraform(&client).await;
    (process, terraform)
}

pub(super) fn dynamic(value: &Value) -> Option<pb::DynamicValue> {
    Some(wire::encode(value))
}

fn value(dynamic: Option<pb::DynamicValue>) -> Value {
    wire::decode(&dynamic.unwrap())
}

/// A door as Terraform sends it: all attributes present.
pub(super) fn door(given: &[(&str, Value)]) -> Value {
    let mut door = Value::map(["id", "name", "width", "code", "tags", "hinges"].map(|name| (name, Value::Null)));
    door.set("key", Value::List(Vec::new()));
    for (name, value) in given {
        door.set(name, value.clone());
    }
    door
}

pub(super) fn named(name: &str) -> Value {
    door(&[("name", Value::from(name))])
}

fn apply(planned: &Value) -> pb::apply_resource_change::Request {
    pb::apply_resource_change::Request {
        type_name: "acme_door".to_string(),
        prior_state: dynamic(&Value::Null),
        planned_state: dynamic(planned),
        config: dynamic(planned),
        planned_private: b"planned".to_vec(),
    }
}

fn summaries(diagnostics: &[pb::Diagnostic]) -> Vec<(Severity, &str)> {
    diagnostics.iter().map(|it| (it.severity(), it.summary.as_str())).collect()
}

/// A path as text, such as `.tags[a]`.
fn path(diagnostic: &pb::Diagnostic) -> String {
    use pb::attribute_path::step::Selector;
    let steps = diagnostic.attribute.iter().flat_map(|path| &path.steps);
    let steps = steps.map(|step| match step.selector.as_ref().unwrap() {
        Selector::AttributeName(name) => format!(".{name}"),
        Selector::ElementKeyString(key) => format!("[{key}]"),
        Selector::ElementKeyInt(index) => format!("[{index}]"),
    });
    steps.collect()
}

pub(super) async fn validate(terraform: &mut ProviderClient<Channel>, config: &Value) -> Vec<pb::Diagnostic> {
    let request = pb::validate_resource_config::Request { type_name: "acme_door".to_string(), config: dynamic(config) };
    terraform.validate_resource_config(request).await.unwrap().into_inner().diagnostics
}

async fn upgrade(
    terraform: &mut ProviderClient<Channel>,
    version: i64,
    json: &str,
) -> pb::upgrade_resource_state::Response {
    let raw_state = Some(pb::RawState { json: json.as_bytes().to_vec(), flatmap: Default::default() });
    let request = pb::upgrade_resource_state::Request { type_name: "acme_door".to_string(), version, raw_state };
    terraform.upgrade_resource_state(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_and_the_capabilities_are_offered() {
    let (_process, mut terraform) = connected().await;
    let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
    assert_eq!(metadata.resources[0].type_name, "acme_door");
    let schema = terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap().into_inner();
    let capabilities = schema.server_capabilities.unwrap();
    assert!(capabilities.plan_destroy && capabilities.get_provider_schema_optional);
    let door = &schema.resource_schemas["acme_door"];
    let block = door.block.as_ref().unwrap();
    assert_eq!((door.version, &block.block_types[0].type_name[..]), (2, "key"));
    for attribute in &block.attributes {
        assert_ne!(attribute.r#type.is_empty(), attribute.nested_type.is_none(), "{}", attribute.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_provider_validate_a_configuration_together() {
    let (_process, mut terraform) = connected().await;
    let config = door(&[
        ("name", Value::from("")),
        ("width", Value::from(1)),
        ("code", Value::Unknown),
        ("tags", Value::map([("a", Value::Null), ("b", Value::Unknown)])),
    ]);
    let found = validate(&mut terraform, &config).await;
    let found: BTreeMap<_, _> = found.iter().map(|it| (path(it), it.severity())).collect();
    let expected = [(".code", Severity::Warning), (".name", Severity::Error), (".width", Severity::Error)];
    assert_eq!(found, expected.map(|(path, severity)| (path.to_string(), severity)).into());
    let unknown = door(&["name", "width", "tags", "hinges"].map(|name| (name, Value::Unknown)));
    assert_eq!(validate(&mut terraform, &unknown).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_receives_its_configuration() {
    let (_process, mut terraform) = connected().await;
    let request = |style: &str| {
        let config = dynamic(&Value::map([("style", Value::from(style))]));
        let request = pb::configure_provider::Request { terraform_version: "1.11.4".to_string(), config };
        let mut terraform = terraform.clone();
        async move { terraform.configure_provider(request).await.unwrap().into_inner().diagnostics }
    };
    assert_eq!(request("plain").await, []);
    let rejected = &request("baroque").await[0];
    assert_eq!((path(rejected), &rejected.detail[..]), (".style".to_string(), "Terraform 1.11.4 is too modern."));
    let config = dynamic(&Value::map([("style", Value::Null)]));
    let response = terraform.validate_provider_config(pb::validate_provider_config::Request { config }).await;
    assert_eq!(response.unwrap().into_inner().diagnostics, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_is_planned_applied_read_and_destroyed() {
    let (_process, mut terraform) = connected().await;
    let config = door(&[
        ("name", Value::from("front")),
        ("hinges", Value::map([("top", Value::map([("screws", Value::from(6))]))])),
    ]);
    let plan = pb::plan_resource_change::Request {
        type_name: "acme_door".to_string(),
        prior_state: dynamic(&Value::Null),
        proposed_new_state: dynamic(&config),
        config: dynamic(&config),
        prior_private: b"prior ".to_vec(),
        ..Default::default()
    };
    let planned = terraform.plan_resource_change(plan.clone()).await.unwrap().into_inner();
    assert_eq!(planned.diagnostics, []);
    assert_eq!(planned.planned_private, b"prior planned");
    assert_eq!(planned.requires_replace.len(), 1);
    let planned_state = value(planned.planned_state);
    assert_eq!(planned_state.get("id"), &Value::Unknown);
    let client_capabilities = Some(pb::ClientCapabilities { store_planned_private: true });
    let again =
        pb::plan_resource_change::Request { client_capabilities, planned_private: b"shown ".to_vec(), ..plan.clone() };
    let again = terraform.plan_resource_change(again).await.unwrap().into_inner();
    assert_eq!(again.planned_private, b"prior shown planned");

    let applied = terraform.apply_resource_change(apply(&planned_state)).await.unwrap().into_inner();
    assert_eq!((applied.diagnostics, &applied.private[..]), (vec![], &b"planned"[..]));
    let state = value(applied.new_state);
    let mut expected = config.clone();
    expected.set("id", Value::from("door-1"));
    assert_eq!(state, expected);

    let mut read = pb::read_resource::Request {
        type_name: "acme_door".to_string(),
        current_state: dynamic(&state),
        private: b"kept".to_vec(),
    };
    let found = terraform.read_resource(read.clone()).await.unwrap().into_inner();
    assert_eq!((value(found.new_state), &found.private[..]), (state.clone(), &b"kept"[..]));
    read.current_state = dynamic(&door(&[("id", Value::from("door-deleted"))]));
    let found = terraform.read_resource(read).await.unwrap().into_inner();
    assert_eq!(value(found.new_state), Value::Null);

    let destroy = pb::plan_resource_change::Request {
        prior_state: dynamic(&state),
        proposed_new_state: dynamic(&Value::Null),
        config: dynamic(&Value::Null),
        ..plan
    };
    let planned = terraform.plan_resource_change(destroy).await.unwrap().into_inner();
    assert_eq!((value(planned.planned_state), planned.diagnostics), (Value::Null, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn mismatched_values_are_errors_with_their_path() {
    let (_process, mut terraform) = connected().await;
    let rejected = validate(&mut terraform, &door(&[("tags", Value::map([("a", Value::from(1))]))])).await;
    assert_eq!((rejected.len(), path(&rejected[0])), (1, ".tags[a]".to_string()));
    let config = named("misfit");
    let request = pb::plan_resource_change::Request {
        type_name: "acme_door".to_string(),
        prior_state: dynamic(&Value::Null),
        proposed_new_state: dynamic(&config),
        config: dynamic(&config),
        prior_private: Vec::new(),
        ..Default::default()
    };
    let planned = terraform.plan_resource_change(request).await.unwrap().into_inner();
    assert_eq!(path(&planned.diagnostics[0]), ".width");
    let unknown_type = pb::read_resource::Request { type_name: "acme_window".to_string(), ..Default::default() };
    let answer = terraform.read_resource(unknown_type).await.unwrap().into_inner();
    assert_eq!(summaries(&answer.diagnostics), [(Severity::Error, "Unknown resource type")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn panicking_apply_returns_its_partial_state() {
    let (_process, mut terraform) = connected().await;
    let half = terraform.apply_resource_change(apply(&named("panic half way"))).await.unwrap().into_inner();
    assert_eq!(summaries(&half.diagnostics), [(Severity::Error, "The provider failed unexpectedly")]);
    assert!(half.diagnostics[0].detail.contains("the frame broke") && half.diagnostics[0].detail.contains("bug"));
    assert_eq!(half.private, b"half");
    let expected = door(&[("name", Value::from("panic half way")), ("id", Value::from("door-half"))]);
    assert_eq!(value(half.new_state), expected);

    // Without a new state, Terraform keeps the prior state and its private data.
    let nothing = terraform.apply_resource_change(apply(&named("panic"))).await.unwrap().into_inner();
    assert_eq!((nothing.new_state, nothing.diagnostics.len()), (None, 1));
    let found = validate(&mut terraform, &named("panic in validate")).await;
    assert!(found[0].detail.contains("no such wall"));
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
}

/// The server decodes and checks values outside the handlers of the provider.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_the_server_is_an_error_without_secrets() {
    let (_process, mut terraform) = connected().await;
    let mut broken = named("front");
    broken.set("code", Value::from("half a code"));
    let found = validate(&mut terraform, &broken).await;
    assert_eq!(summaries(&found), [(Severity::Error, "The provider failed unexpectedly")]);
    assert!(found[0].detail.contains("the lock broke at (hidden)"), "{found:?}");
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_a_running_apply_but_not_the_server() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    let mut planned = named("slow");
    planned.set("id", Value::Unknown);
    let mut other = terraform.clone();
    let running = tokio::spawn(async move { other.apply_resource_change(apply(&planned)).await });
    acme.diary.until("slow work begins").await;
    assert!(!running.is_finished());
    terraform.stop_provider(pb::stop_provider::Request {}).await.unwrap();
    let stopped = running.await.unwrap().unwrap().into_inner();
    assert_eq!(summaries(&stopped.diagnostics), [(Severity::Error, "Stopped")]);
    // A state must not contain unknown values.
    assert_eq!(value(stopped.new_state), named("slow"));
    // With `--debug`, another Terraform may follow. It begins with the schema.
    terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap();
    let later = terraform.apply_resource_change(apply(&named("front"))).await.unwrap().into_inner();
    assert_eq!(later.diagnostics, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn import_returns_a_complete_state_or_an_error() {
    let (_process, terraform) = connected().await;
    let import = |id: &str| {
        let (type_name, id) = ("acme_door".to_string(), id.to_string());
        let request = pb::import_resource_state::Request { type_name, id, identity: None };
        let mut terraform = terraform.clone();
        async move { terraform.import_resource_state(request).await.unwrap().into_inner() }
    };
    let imported = import("door-7").await.imported_resources.remove(0);
    assert_eq!((&imported.type_name[..], &imported.private[..]), ("acme_door", &b"imported"[..]));
    let expected = door(&[("id", Value::from("door-7")), ("name", Value::from("found"))]);
    assert_eq!(value(imported.state), expected);
    let nothing = import("nothing").await;
    assert_eq!(nothing.imported_resources, []);
    assert_eq!(nothing.diagnostics[0].summary, "Could not import acme_door \"nothing\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_receives_each_upgraded_state() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    for (version, json) in [(2, r#"{"id": "door-1"}"#), (2, r#"{"name": "noted", "width": "wide"}"#)] {
        upgrade(&mut terraform, version, json).await;
    }
    assert!(!acme.diary.has("a stored state is noted"));
    upgrade(&mut terraform, 1, r#"{"door_id": "door-1", "name": "noted"}"#).await;
    assert!(acme.diary.has("a stored state is noted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_state_is_kept_upgraded_or_rejected_by_version() {
    let (_process, mut terraform) = connected().await;
    let same = upgrade(&mut terraform, 2, r#"{"id": "door-1", "name": "front", "width": 900, "lost": true}"#).await;
    let expected = [("id", Value::from("door-1")), ("name", Value::from("front")), ("width", Value::from(900))];
    assert_eq!(value(same.upgraded_state), door(&expected));
    // An attribute that the state does not have gets its default.
    for (version, json) in
        [(1, r#"{"door_id": "door-1", "name": "front"}"#), (2, r#"{"id": "door-1", "name": "front"}"#)]
    {
        let older = upgrade(&mut terraform, version, json).await;
        assert_eq!(value(older.upgraded_state), door(&expected));
    }
    for (version, json, reason) in [
        (0, "{}", "had no hinges"),
        (3, "{}", "supports versions up to 2"),
        (2, r#"{"width": "wide"}"#, "width"),
        (2, "{", "not JSON"),
        (1, "{", "not valid JSON"),
    ] {
        let rejected = upgrade(&mut terraform, version, json).await;
        assert_eq!(rejected.upgraded_state, None);
        assert!(rejected.diagnostics[0].detail.contains(reason), "{}", rejected.diagnostics[0].detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_without_the_pinned_certificate_are_rejected() {
    let client = Certificate::new();
    let process = start(Some(&client)).await;
    let mut terraform = process.terraform(&client).await;
    let impostor = client.with_key_of(Certificate::new());
    for certificate in [None, Some(Certificate::new()), Some(impostor)] {
        // In TLS 1.3, the client receives the rejection only with the first response.
        let answer = match process.connect(certificate.as_ref()).await {
            Err(_) => continue,
            Ok(channel) => ProviderClient::new(channel).stop_provider(pb::stop_provider::Request {}).await,
        };
        assert!(answer.is_err());
    }
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_on_the_socket_does_no_harm() {
    let (process, mut terraform) = connected().await;
    let plain = start(None).await;
    for socket in [&process.handshake, &plain.handshake] {
        for garbage in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0x16, 3, 1, 0xff, 0xff], &[0; 10_000]] {
            let mut stream = socket.open().await.unwrap();
            // The server may close the connection at any point, which is correct.
            let _ = stream.write_all(garbage).await;
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    let mut without_tls = ProviderClient::new(plain.connect(None).await.unwrap());
    assert_eq!(validate(&mut without_tls, &named("front")).await, []);
    let broken = Some(pb::DynamicValue { msgpack: vec![0xdf, 0xff, 0xff, 0xff, 0xff, 0xc1], json: Vec::new() });
    let request = pb::validate_resource_config::Request { type_name: "acme_door".to_string(), config: broken };
    let rejected = terraform.validate_resource_config(request).await.unwrap().into_inner().diagnostics;
    assert_eq!(summaries(&rejected), [(Severity::Error, "Could not decode the configuration")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_several_megabytes_are_transferred() {
    let (_process, mut terraform) = connected().await;
    let planned = door(&[("name", Value::from("x".repeat(6 * 1024 * 1024)))]);
    let applied = terraform.apply_resource_change(apply(&planned)).await.unwrap().into_inner();
    assert_eq!(value(applied.new_state).get("name"), planned.get("name"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_not_offered_are_unimplemented() {
    let client = Certificate::new();
    let process = start(Some(&client)).await;
    let channel = process.connect(Some(&client)).await.unwrap();
    let mut client = tonic::client::Grpc::new(channel);
    for path in ["/tfplugin6.Provider/PlanAction", "/plugin.GRPCBroker/StartStream"] {
        client.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<Empty, Empty>::default();
        let answer = client.unary(tonic::Request::new(Empty {}), path.parse().unwrap(), codec).await;
        assert_eq!(answer.unwrap_err().code(), Code::Unimplemented, "{path}");
    }
}

#[tokio::test]
async fn other_protocol_versions_are_rejected_first() {
    let environment = Environment { versions: Some("5".to_string()), ..environment(None) };
    let announce = |offer: &Offer| panic!("nothing should be announced: {offer:?}");
    let rejected = fgw::plugin::serve::run(Acme::default(), environment, Arc::default(), announce).await;
    assert!(rejected.unwrap_err().contains("version 6"));
}
