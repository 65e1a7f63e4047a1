//! Clients other than the Terraform that started the provider, and invalid requests: they are rejected, break nothing,
//! and do not delay Terraform.

use std::fmt::{Display, Formatter};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use fgw::model::{Entry, Inventory, Key, Spec, Vpc};
use fgw::plugin::Input;
use fgw::plugin::proto::tfplugin6::diagnostic::Severity;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use fgw::provider::Fgw;
use rmpv::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tonic::Status;
use tonic::transport::Channel;

use super::campaign::{Tally, campaign, is_whole, sample};
use super::mutations::{Chance, encoded, invalid_json, invalid_values, mutated, mutated_bytes};
use super::targets::Target;
use crate::plugin::{Process, connected, named, start, start_provider, validate};
use crate::support::plugin_client::Certificate;
use crate::support::{runtime, venv, wait};

type Terraform = ProviderClient<Channel>;

/// The field of a call that contains the invalid value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    ProviderConfig,
    Configure,
    Config,
    ReadState,
    PlanPrior,
    PlanProposed,
    PlanConfig,
    ApplyPrior,
    ApplyPlanned,
    ApplyConfig,
    GenerateState,
    StoredState,
    OlderState,
    ImportId,
    DataConfig,
    DataRead,
    ListConfig,
    List,
    Identity,
    StoredIdentity,
    MovedState,
    TextArgument,
    AnyArgument,
}

const TARGETS: [Target; 3] = [Target::Door, Target::Network, Target::Gateway];
/// The fields that hold a value in msgpack or JSON.
const VALUES: [Field; 18] = [
    Field::ProviderConfig,
    Field::Configure,
    Field::Config,
    Field::ReadState,
    Field::PlanPrior,
    Field::PlanProposed,
    Field::PlanConfig,
    Field::ApplyPrior,
    Field::ApplyPlanned,
    Field::ApplyConfig,
    Field::GenerateState,
    Field::DataConfig,
    Field::DataRead,
    Field::ListConfig,
    Field::List,
    Field::Identity,
    Field::TextArgument,
    Field::AnyArgument,
];

/// The fields that hold JSON as Terraform has stored it.
const STORED: [Field; 4] = [Field::StoredState, Field::OlderState, Field::StoredIdentity, Field::MovedState];

impl Target {
    fn type_name(self) -> &'static str {
        match self {
            Target::Door => "acme_door",
            Target::Network => "fgw_four_tier_vpc",
            Target::Gateway => "fgw_http_gateway",
        }
    }

    /// A valid value for a field.
    fn valid(self, field: Field) -> Value {
        match field {
            Field::ProviderConfig | Field::Configure => self.provider(),
            Field::DataConfig | Field::DataRead => self.data(),
            Field::ListConfig | Field::List => self.list(),
            Field::Identity => self.identity(),
            _ => self.object(),
        }
    }

    /// Its function, and valid arguments: the first is a string, the last a value of any type.
    fn function(self) -> Option<(&'static str, Vec<pb::DynamicValue>)> {
        let any = || with_type(&self.object(), &encoded(&self.object()));
        match self {
            Target::Door => Some(("measure", vec![msgpack(encoded(&"door".into())), any()])),
            Target::Network => {
                let arguments = vec![msgpack(encoded(&"10.0.0.0/16".into())), msgpack(encoded(&3.into())), any()];
                Some(("subnet_layout", arguments))
            }
            Target::Gateway => None,
        }
    }

    fn has(self, field: Field) -> bool {
        !matches!(field, Field::TextArgument | Field::AnyArgument) || self.function().is_some()
    }

    /// A server of this target. The real provider is configured with an unknown Region, so that it plans without AWS
    /// and makes no calls.
    async fn start(self) -> (Process, Terraform) {
        let client = Certificate::new();
        let process = match self {
            Target::Door => start(Some(&client)).await,
            _ => start_provider(Fgw::default(), Some(&client)).await,
        };
        let mut terraform = process.terraform(&client).await;
        if self != Target::Door {
            let unknown = Value::Map(vec![("region".into(), Value::Ext(0, vec![0]))]);
            let diagnostics = self.send(&mut terraform, Field::Configure, msgpack(encoded(&unknown)), &[]).await;
            assert_eq!(diagnostics.expect("it answers"), []);
        }
        (process, terraform)
    }

    /// Makes a call that is valid except for one field and the private data. Panics if the provider hangs or panics.
    async fn send(
        self,
        terraform: &mut Terraform,
        field: Field,
        value: pb::DynamicValue,
        private: &[u8],
    ) -> Result<Vec<pb::Diagnostic>, Status> {
        let what = format!("{self:?} {field:?} is answered");
        let answer = wait::output(&what, self.call(terraform, field, value, private)).await;
        for it in answer.iter().flatten() {
            assert_ne!(it.summary, "The provider failed unexpectedly", "{self:?} {field:?}: {}", it.detail);
        }
        answer
    }

    async fn call(
        self,
        terraform: &mut Terraform,
        field: Field,
        value: pb::DynamicValue,
        private: &[u8],
    ) -> Result<Vec<pb::Diagnostic>, Status> {
        let type_name = self.type_name().to_string();
        let good = || Some(msgpack(encoded(&self.object())));
        let null = || Some(msgpack(vec![0xc0]));
        let stored = value.json.clone();
        let at = |here: Field| if field == here { Some(value.clone()) } else { good() };
        Ok(match field {
            Field::ProviderConfig => {
                let request = pb::validate_provider_config::Request { config: Some(value) };
                terraform.validate_provider_config(request).await?.into_inner().diagnostics
            }
            Field::Configure => {
                let request =
                    pb::configure_provider::Request { terraform_version: "1.11.4".to_string(), config: Some(value) };
                terraform.configure_provider(request).await?.into_inner().diagnostics
            }
            Field::Config => {
                let request = pb::validate_resource_config::Request { type_name, config: Some(value) };
                terraform.validate_resource_config(request).await?.into_inner().diagnostics
            }
            Field::ReadState => {
                let private = private.to_vec();
                let request = pb::read_resource::Request { type_name, current_state: Some(value), private };
                terraform.read_resource(request).await?.into_inner().diagnostics
            }
            Field::PlanPrior | Field::PlanProposed | Field::PlanConfig => {
                let request = pb::plan_resource_change::Request {
                    type_name,
                    prior_state: if field == Field::PlanPrior { Some(value.clone()) } else { null() },
                    proposed_new_state: at(Field::PlanProposed),
                    config: at(Field::PlanConfig),
                    prior_private: private.to_vec(),
                    ..Default::default()
                };
                terraform.plan_resource_change(request).await?.into_inner().diagnostics
            }
            Field::ApplyPrior | Field::ApplyPlanned | Field::ApplyConfig => {
                let request = pb::apply_resource_change::Request {
                    type_name,
                    prior_state: if field == Field::ApplyPrior { Some(value.clone()) } else { null() },
                    planned_state: at(Field::ApplyPlanned),
                    config: at(Field::ApplyConfig),
                    planned_private: private.to_vec(),
                };
                terraform.apply_resource_change(request).await?.into_inner().diagnostics
            }
            Field::GenerateState => {
                let request = pb::generate_resource_config::Request { type_name, state: Some(value) };
                terraform.generate_resource_config(request).await?.into_inner().diagnostics
            }
            Field::StoredState | Field::OlderState => {
                let current = if self == Target::Door { 2 } else { 0 };
                let version = if field == Field::OlderState { current - 1 } else { current };
                let raw_state = Some(pb::RawState { json: stored, flatmap: Default::default() });
                let request = pb::upgrade_resource_state::Request { type_name, version, raw_state };
                terraform.upgrade_resource_state(request).await?.into_inner().diagnostics
            }
            Field::ImportId => {
                let id = String::from_utf8_lossy(&stored).into_owned();
                let request = pb::import_resource_state::Request { type_name, id, identity: None };
                terraform.import_resource_state(request).await?.into_inner().diagnostics
            }
            Field::DataConfig => {
                let request = pb::validate_data_resource_config::Request { type_name, config: Some(value) };
                terraform.validate_data_resource_config(request).await?.into_inner().diagnostics
            }
            Field::DataRead => {
                let request = pb::read_data_source::Request { type_name, config: Some(value) };
                terraform.read_data_source(request).await?.into_inner().diagnostics
            }
            Field::ListConfig => {
                let request = pb::validate_list_resource_config::Request { type_name, config: Some(value) };
                terraform.validate_list_resource_config(request).await?.into_inner().diagnostics
            }
            Field::List => {
                let request =
                    pb::list_resource::Request { type_name, config: Some(value), limit: 2, ..Default::default() };
                let mut events = terraform.list_resource(request).await?.into_inner();
                let mut diagnostics = Vec::new();
                while let Some(event) = events.message().await? {
                    diagnostics.extend(event.diagnostic);
                }
                diagnostics
            }
            Field::Identity => {
                let identity = Some(pb::ResourceIdentityData { identity_data: Some(value) });
                let request = pb::import_resource_state::Request { type_name, id: String::new(), identity };
                terraform.import_resource_state(request).await?.into_inner().diagnostics
            }
            Field::StoredIdentity => {
                let raw_identity = Some(pb::RawState { json: stored, flatmap: Default::default() });
                let request = pb::upgrade_resource_identity::Request { type_name, version: 0, raw_identity };
                terraform.upgrade_resource_identity(request).await?.into_inner().diagnostics
            }
            Field::MovedState => {
                let request = pb::move_resource_state::Request {
                    source_provider_address: if self == Target::Door { "a.b/fork/acme" } else { "a.b/fork/fgw" }.into(),
                    source_type_name: type_name.clone(),
                    source_schema_version: if self == Target::Door { 2 } else { 0 },
                    source_state: Some(pb::RawState { json: stored, flatmap: Default::default() }),
                    target_type_name: type_name,
                    source_private: private.to_vec(),
                };
                terraform.move_resource_state(request).await?.into_inner().diagnostics
            }
            Field::TextArgument | Field::AnyArgument => {
                let (name, mut arguments) = self.function().expect("it has one");
                let at = if field == Field::TextArgument { 0 } else { arguments.len() - 1 };
                arguments[at] = value;
                let request = pb::call_function::Request { name: name.to_string(), arguments };
                let error = terraform.call_function(request).await?.into_inner().error;
                error.map(diagnostic).into_iter().collect()
            }
        })
    }

    /// Panics unless the provider answers a valid call without errors.
    async fn assert_serves(self, process: &Process, terraform: &mut Terraform) {
        let good = msgpack(encoded(&self.object()));
        let diagnostics = self.send(terraform, Field::Config, good, &[]).await.expect("it answers");
        let errors: Vec<_> = diagnostics.iter().filter(|it| it.severity() == Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert!(!process.served.is_finished(), "the server has ended");
    }
}

/// Encodes the bytes of a value with the type of `value`, as in a field that accepts any type.
fn with_type(value: &Value, bytes: &[u8]) -> pb::DynamicValue {
    let kind = Value::Binary(type_of(value).to_string().into_bytes());
    msgpack([&[0x92], &encoded(&kind)[..], bytes].concat())
}

/// The type in Terraform's JSON form. The values here contain no maps.
fn type_of(value: &Value) -> serde_json::Value {
    use serde_json::json;
    match value {
        Value::Boolean(_) => json!("bool"),
        Value::Integer(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(items) => json!(["tuple", items.iter().map(type_of).collect::<Vec<_>>()]),
        Value::Map(entries) => {
            let entry = |(name, item): &(Value, Value)| (name.as_str().expect("a name").to_string(), type_of(item));
            json!(["object", entries.iter().map(entry).collect::<serde_json::Map<_, _>>()])
        }
        other => panic!("{other} has another type"),
    }
}

/// An error of a function, as a diagnostic like those of the other calls.
fn diagnostic(error: pb::FunctionError) -> pb::Diagnostic {
    let panicked = error.text.contains("failed unexpectedly");
    let summary = if panicked { "The provider failed unexpectedly" } else { "A function failed" }.to_string();
    let severity = Severity::Error.into();
    pb::Diagnostic { severity, summary, detail: error.text, attribute: None }
}

fn msgpack(msgpack: Vec<u8>) -> pb::DynamicValue {
    pb::DynamicValue { msgpack, json: Vec::new() }
}

fn json(json: Vec<u8>) -> pb::DynamicValue {
    pb::DynamicValue { msgpack: Vec::new(), json }
}

/// The private state of a network that consists only of its VPC.
fn private() -> Vec<u8> {
    let vpc = Spec::Vpc(Vpc {
        name: Input::Known("main".into()),
        cidr_block: Input::Known(Some("10.0.0.0/16".into())),
        ipv4_ipam_pool_id: Input::Known(None),
        ipv4_netmask_length: Input::Known(None),
        instance_tenancy: Input::Known("default".into()),
        enable_dns_support: Input::Known(true),
        enable_dns_hostnames: Input::Known(true),
        enable_network_address_usage_metrics: Input::Known(false),
        tags: Input::Known(Default::default()),
    });
    let key = Key::fixed("vpc", Input::Known("10.0.0.0/16 default".into()));
    let inventory = Inventory { entries: vec![Entry::new(key, "vpc-1", vpc)] };
    serde_json::json!({ "format": 1, "inventory": inventory }).to_string().into_bytes()
}

/// Invalid values, one after another, in one field.
struct InvalidValues(Target, Field);

impl Display for InvalidValues {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?} of {}", self.1, self.0.type_name())
    }
}

impl InvalidValues {
    async fn run(&self) -> usize {
        let InvalidValues(target, field) = *self;
        let (process, mut terraform) = target.start().await;
        let object = target.valid(field);
        let binary = invalid_values(&object).into_iter().map(|(what, bytes)| match field {
            Field::AnyArgument => (what, with_type(&object, &bytes)),
            _ => (what, msgpack(bytes)),
        });
        let text = invalid_json().into_iter().map(|(what, bytes)| (format!("JSON, {what}"), json(bytes)));
        let all: Vec<_> = match field {
            field if STORED.contains(&field) => text.collect(),
            _ => binary.chain(text).collect(),
        };
        let count = all.len();
        for (what, value) in all {
            // The unpaired surrogate is in an attribute that these do not have, and is ignored.
            let is_left_out = what.contains("surrogate")
                && matches!(field, Field::ProviderConfig | Field::Configure | Field::Identity | Field::StoredIdentity);
            // The function of the door accepts any string.
            let is_valid = what == "a string" && (target, field) == (Target::Door, Field::TextArgument);
            let rejected = match target.send(&mut terraform, field, value, b"{\"format\": \"x\"}").await {
                Err(_) => true,
                Ok(diagnostics) => diagnostics.iter().any(|it| it.severity() == Severity::Error),
            };
            assert!(rejected != is_valid || is_left_out, "{self}: {what}: rejected: {rejected}");
        }
        target.assert_serves(&process, &mut terraform).await;
        count
    }
}

#[test]
fn invalid_values_are_rejected_in_every_field_of_every_call() {
    let fields = || VALUES.into_iter().chain(STORED);
    let cases = TARGETS.into_iter().flat_map(|target| fields().map(move |field| InvalidValues(target, field)));
    let cases = cases.filter(|InvalidValues(target, field)| target.has(*field)).collect();
    campaign("Malformed values in every field of every call", cases, |case: &InvalidValues| Tally {
        calls: 0,
        faults: runtime().block_on(case.run()),
    });
}

/// A batch of values with random errors.
struct Batch(u64);

/// 200 batches contain 100,000 values.
const BATCH_SIZE: usize = 500;

impl Display for Batch {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{BATCH_SIZE} values, seed {}", self.0)
    }
}

impl Batch {
    async fn run(&self) {
        let mut chance = Chance::new(self.0);
        let target = TARGETS[usize::try_from(self.0).expect("a small number") % TARGETS.len()];
        let (process, mut terraform) = target.start().await;
        // A provider block that is valid by chance would cause calls to AWS.
        let mut fields = VALUES.to_vec();
        fields.retain(|field| *field != Field::Configure || target == Target::Door);
        fields.retain(|field| target.has(*field));
        fields.extend(STORED);
        fields.push(Field::ImportId);
        let private = private();
        for number in 0..BATCH_SIZE {
            let field = *chance.one_of(&fields);
            let object = match field {
                Field::ReadState | Field::PlanPrior | Field::ApplyPrior => target.existing(),
                field => target.valid(field),
            };
            let text =
                serde_json::json!({ "name": "front", "vpc_name": "main", "num_availability_zones": 2 }).to_string();
            let is_json = STORED.contains(&field) || field == Field::ImportId;
            let value = match is_json || chance.below(8) == 0 {
                true => json(mutated_bytes(text.as_bytes(), &mut chance)),
                // In half of the cases, the type is invalid too.
                false if field == Field::AnyArgument && chance.below(2) == 0 => {
                    msgpack(mutated_bytes(&with_type(&object, &encoded(&object)).msgpack, &mut chance))
                }
                false if field == Field::AnyArgument => with_type(&object, &mutated(&object, &mut chance)),
                false => msgpack(mutated(&object, &mut chance)),
            };
            let private = mutated_bytes(&private, &mut chance);
            let sent = value.clone();
            // Any answer is fine, because the value may be valid by chance.
            let answer = tokio::spawn({
                let mut terraform = terraform.clone();
                async move { target.send(&mut terraform, field, value, &private).await.is_ok() }
            });
            assert!(answer.await.is_ok(), "value {number} of {self}: {target:?} {field:?} {sent:02x?}");
        }
        target.assert_serves(&process, &mut terraform).await;
    }
}

#[test]
fn no_value_makes_the_provider_panic_or_hang() {
    let batches = (0..200).map(Batch).collect();
    campaign("Random values to the decoders and calls", sample(batches, 6), |batch: &Batch| {
        runtime().block_on(batch.run());
        Tally { calls: 0, faults: BATCH_SIZE }
    });
}

/// A client other than the Terraform that started the provider.
#[derive(Clone, Copy, Debug)]
enum UnknownClient {
    WithoutCertificate,
    WithAnotherCertificate,
    WithTheCertificateAndAnotherKey,
    Garbage,
    Silent,
    HalfAHandshake,
}

impl Display for UnknownClient {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{self:?}")
    }
}

impl UnknownClient {
    const ALL: [UnknownClient; 6] = [
        UnknownClient::WithoutCertificate,
        UnknownClient::WithAnotherCertificate,
        UnknownClient::WithTheCertificateAndAnotherKey,
        UnknownClient::Garbage,
        UnknownClient::Silent,
        UnknownClient::HalfAHandshake,
    ];

    async fn connect_to(self, process: &Process, client: &Certificate, terraform: &mut Terraform) {
        let certificate = match self {
            UnknownClient::WithoutCertificate => None,
            UnknownClient::WithAnotherCertificate => Some(Certificate::new()),
            UnknownClient::WithTheCertificateAndAnotherKey => Some(client.with_key_of(Certificate::new())),
            UnknownClient::Garbage | UnknownClient::Silent | UnknownClient::HalfAHandshake => {
                let mut chance = Chance::new(7);
                let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
                let mut open = Vec::new();
                for _ in 0..100 {
                    let mut stream = UnixStream::connect(&process.handshake.socket).await.expect("it listens");
                    let sent = match self {
                        UnknownClient::Garbage => mutated_bytes(&hello.repeat(20), &mut chance),
                        UnknownClient::HalfAHandshake => hello.to_vec(),
                        _ => Vec::new(),
                    };
                    // The server may close the connection in the middle, as it should.
                    let _ = stream.write_all(&sent).await;
                    open.push(stream);
                }
                // While all of these connections are open, the server answers Terraform.
                assert_eq!(validate(terraform, &named("front")).await, []);
                for mut stream in open {
                    let _ = stream.shutdown().await;
                    // It does not matter how the server closes the connection.
                    let _ = wait::output("the server closes the connection", stream.read_to_end(&mut Vec::new())).await;
                }
                return;
            }
        };
        // In TLS 1.3, the client sees the rejection only with the first answer.
        let answer = wait::output("an unknown client is rejected", async {
            let channel = process.connect(certificate.as_ref()).await.ok()?;
            ProviderClient::new(channel).get_metadata(pb::get_metadata::Request {}).await.ok()
        });
        assert!(answer.await.is_none(), "an unknown client was answered");
    }
}

#[test]
fn unknown_clients_are_rejected_and_do_not_block_terraform() {
    campaign("Unknown clients at the socket", UnknownClient::ALL.to_vec(), |unknown: &UnknownClient| {
        runtime().block_on(async {
            let client = Certificate::new();
            let process = start(Some(&client)).await;
            let mut terraform = process.terraform(&client).await;
            unknown.connect_to(&process, &client, &mut terraform).await;
            assert_eq!(validate(&mut terraform, &named("front")).await, []);
            assert!(!process.served.is_finished(), "the server has ended");
        });
        Tally { calls: 0, faults: 1 }
    });
}

#[test]
fn another_user_cannot_reach_the_socket() {
    let (process, mut terraform) = runtime().block_on(connected());
    let socket = Path::new(&process.handshake.socket);
    let directory = socket.parent().expect("a socket is in a directory").metadata().expect("the directory exists");
    assert_eq!(directory.permissions().mode() & 0o777, 0o700, "other users can enter the directory of the socket");
    let connect = |program: &Path, user: Option<u32>| {
        let script = match program.ends_with("perl") {
            true => ["-MSocket", "-e", "socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0])) or die"],
            false => ["-I", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"],
        };
        let mut command = Command::new(program);
        command.args(script).arg(socket).current_dir("/");
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        command.output()
    };
    // Another user may not be allowed to run the Python of the tests, for example if it is in a home directory.
    let python = std::fs::canonicalize(venv::program("python")).expect("there is Python");
    let programs = [python, "/usr/bin/python3".into(), "/usr/bin/perl".into()];
    const OTHER_USER: u32 = 65534;
    let mut tried = Vec::new();
    for program in programs.iter().filter(|program| program.exists()) {
        let own = connect(program, None).expect("it starts");
        assert!(own.status.success(), "the current user cannot connect: {}", String::from_utf8_lossy(&own.stderr));
        match connect(program, Some(OTHER_USER)) {
            Ok(denied) => {
                let stderr = String::from_utf8_lossy(&denied.stderr).into_owned();
                let last = stderr.lines().last().unwrap_or_default();
                assert!(!denied.status.success(), "another user can connect");
                let is_denial = ["PermissionError", "Died at"].iter().any(|word| last.contains(word));
                assert!(is_denial, "{} as user {OTHER_USER}: {stderr}", program.display());
                tried.push(format!("user {OTHER_USER} was denied: {last}"));
            }
            Err(error) => eprintln!("Unknown clients: user {OTHER_USER} cannot run {}: {error}", program.display()),
        }
    }
    if tried.is_empty() {
        tried.push("no other user was tried, because only root can do that; the directory is drwx------".to_string());
    }
    eprintln!("Unknown clients: {}", tried.join("; "));
    assert_eq!(runtime().block_on(validate(&mut terraform, &named("front"))), []);
}

#[test]
fn oversized_messages_are_rejected_and_the_next_is_answered() {
    // Only a run of all cases needs to exceed the limit of 256 MiB.
    let size = if is_whole() { 300 * 1024 * 1024 } else { 8 * 1024 * 1024 };
    let (process, mut terraform) = runtime().block_on(connected());
    campaign("Oversized messages", vec![size / 1024 / 1024], |_| {
        runtime().block_on(async {
            let value = msgpack(vec![0x91; size]);
            let request =
                pb::validate_resource_config::Request { type_name: "acme_door".to_string(), config: Some(value) };
            let mut terraform = terraform.clone();
            let answer = wait::output("the message is answered", terraform.validate_resource_config(request));
            match answer.await {
                Err(status) => assert_eq!((status.code(), is_whole()), (tonic::Code::OutOfRange, true), "{status}"),
                Ok(answer) => assert!(!is_whole() && answer.into_inner().diagnostics[0].severity() == Severity::Error),
            }
        });
        Tally { calls: 0, faults: 1 }
    });
    let served = runtime().block_on(validate(&mut terraform, &named("front")));
    assert_eq!(served, []);
    assert!(!process.served.is_finished(), "the server has ended");
}
