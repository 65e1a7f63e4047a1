//! The provider binary as a child process, driven through the plugin protocol as by Terraform: handshake, mutual TLS,
//! gRPC.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use fgw::plugin::Value;
use fgw::plugin::proto::process::Empty;
use fgw::plugin::proto::process::grpc_controller_client::GrpcControllerClient;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use tonic::transport::Channel;

use super::super::plugin_client::{COOKIE, Certificate, Handshake};
use super::super::{reaper, runtime, wire};

/// A running provider. Dropping it shuts it down as Terraform does, or kills it if that fails.
pub(super) struct Process {
    child: Child,
    channel: Channel,
    pub(super) client: ProviderClient<Channel>,
}

/// A diagnostic of the provider.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) is_error: bool,
    pub(super) summary: String,
    pub(super) detail: String,
}

/// A value with its private data.
pub(super) type Stored = (Value, Vec<u8>);

/// The answer to a call: `None` if the provider returned only errors.
pub(super) type Answer<T> = (Option<T>, Vec<Message>);

/// A plan of the provider.
pub(super) struct Planned {
    pub(super) state: Value,
    pub(super) private: Vec<u8>,
    /// The first attribute of each path whose change requires a replacement.
    pub(super) requires_replace: Vec<String>,
}

impl Process {
    /// Starts the binary with only the environment that Terraform itself sets. Its log goes to `provider.log` in the
    /// directory, which is also its home directory.
    pub(super) fn start(binary: &Path, directory: &Path) -> Self {
        let log = File::options().create(true).append(true).open(directory.join("provider.log"));
        let mut child = Command::new(binary)
            .env_clear()
            .env("HOME", directory)
            .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
            .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
            .env("PLUGIN_CLIENT_CERT", identity().pem())
            .envs([("AWS_EC2_METADATA_DISABLED", "true"), ("TF_LOG_PROVIDER", "DEBUG")])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.expect("the directory is ours"))
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", binary.display()));
        reaper::group_started(child.id());
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        stdout.read_line(&mut line).expect("stdout can be read");
        let Some(handshake) = Handshake::parse(&line) else {
            let ended = child.wait();
            panic!("the provider printed {line:?} instead of a handshake, {ended:?}: {}", log_of(directory));
        };
        let channel = runtime().block_on(handshake.connect(Some(identity()))).unwrap_or_else(|error| {
            let _killed = child.kill();
            panic!("cannot connect to the provider: {error}: {}", log_of(directory))
        });
        let client = ProviderClient::new(channel.clone())
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX);
        Self { child, channel, client }
    }

    pub(super) async fn validate_provider(&self, config: &Value) -> Vec<Message> {
        let request = pb::validate_provider_config::Request { config: Some(wire::encode(config)) };
        messages(unwrap(self.client.clone().validate_provider_config(request).await).diagnostics)
    }

    pub(super) async fn configure(&self, config: &Value) -> Vec<Message> {
        let config = Some(wire::encode(config));
        let request = pb::configure_provider::Request { terraform_version: "1.11.4".into(), config };
        messages(unwrap(self.client.clone().configure_provider(request).await).diagnostics)
    }

    pub(super) async fn validate(&self, type_name: &str, config: &Value) -> Vec<Message> {
        let config = Some(wire::encode(config));
        let request = pb::validate_resource_config::Request { type_name: type_name.into(), config };
        messages(unwrap(self.client.clone().validate_resource_config(request).await).diagnostics)
    }

    /// Upgrades a stored state, in JSON, to the current version of the schema.
    pub(super) async fn upgrade(&self, type_name: &str, version: i64, json: String) -> Answer<Value> {
        let raw_state = Some(pb::RawState { json: json.into_bytes(), flatmap: Default::default() });
        let request = pb::upgrade_resource_state::Request { type_name: type_name.into(), version, raw_state };
        let answer = unwrap(self.client.clone().upgrade_resource_state(request).await);
        (answer.upgraded_state.as_ref().map(wire::decode), messages(answer.diagnostics))
    }

    pub(super) async fn read(&self, type_name: &str, (state, private): &Stored) -> Answer<Stored> {
        let current_state = Some(wire::encode(state));
        let request =
            pb::read_resource::Request { type_name: type_name.into(), current_state, private: private.clone() };
        let answer = unwrap(self.client.clone().read_resource(request).await);
        let state = answer.new_state.as_ref().map(wire::decode);
        if let Some(state) = &state {
            check_identity(state, answer.new_identity.as_ref());
        }
        (state.map(|state| (state, answer.private)), messages(answer.diagnostics))
    }

    /// Plans. `shown` is the private data of the plan that this one repeats, empty if it repeats none; `None` for a
    /// host that does not store it.
    pub(super) async fn plan(
        &self,
        type_name: &str,
        (prior, prior_private): &Stored,
        proposed: &Value,
        config: &Value,
        shown: Option<&[u8]>,
    ) -> Answer<Planned> {
        let request = pb::plan_resource_change::Request {
            client_capabilities: shown.map(|_| pb::ClientCapabilities { store_planned_private: true }),
            planned_private: shown.unwrap_or_default().to_vec(),
            type_name: type_name.into(),
            prior_state: Some(wire::encode(prior)),
            proposed_new_state: Some(wire::encode(proposed)),
            config: Some(wire::encode(config)),
            prior_private: prior_private.clone(),
            prior_identity: None,
        };
        let answer = unwrap(self.client.clone().plan_resource_change(request).await);
        let first = |path: &pb::AttributePath| match path.steps.first()?.selector.as_ref()? {
            pb::attribute_path::step::Selector::AttributeName(name) => Some(name.clone()),
            _ => None,
        };
        let requires_replace = answer.requires_replace.iter().filter_map(first).collect();
        let planned = answer.planned_state.as_ref().map(wire::decode);
        let planned = planned.map(|state| Planned { state, private: answer.planned_private, requires_replace });
        (planned, messages(answer.diagnostics))
    }

    pub(super) async fn apply(
        &self,
        type_name: &str,
        prior: &Value,
        planned: &Stored,
        config: &Value,
    ) -> Answer<Stored> {
        let request = pb::apply_resource_change::Request {
            type_name: type_name.into(),
            prior_state: Some(wire::encode(prior)),
            planned_state: Some(wire::encode(&planned.0)),
            config: Some(wire::encode(config)),
            planned_private: planned.1.clone(),
        };
        let answer = unwrap(self.client.clone().apply_resource_change(request).await);
        let state = answer.new_state.as_ref().map(wire::decode);
        if let Some(state) = &state {
            check_identity(state, answer.new_identity.as_ref());
        }
        (state.map(|state| (state, answer.private)), messages(answer.diagnostics))
    }

    pub(super) async fn import(&self, type_name: &str, id: &str) -> Answer<Stored> {
        let request = pb::import_resource_state::Request { type_name: type_name.into(), id: id.into(), identity: None };
        let mut answer = unwrap(self.client.clone().import_resource_state(request).await);
        let imported = answer.imported_resources.pop();
        let imported = imported.and_then(|it| {
            let state = wire::decode(it.state.as_ref()?);
            check_identity(&state, it.identity.as_ref());
            Some((state, it.private))
        });
        (imported, messages(answer.diagnostics))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut controller = GrpcControllerClient::new(self.channel.clone());
        let answer = runtime().block_on(async move { controller.shutdown(Empty {}).await });
        if answer.is_err() {
            let _already_ended = self.child.kill();
        }
        self.child.wait().expect("the child is ours");
        reaper::group_ended(self.child.id());
    }
}

/// Checks the identity of an object in a state: it is wholly known, and names the object and its Region.
fn check_identity(state: &Value, identity: Option<&pb::ResourceIdentityData>) {
    let Some(id) = state.get("id").as_str() else {
        assert!(identity.is_none(), "there is an identity without an object: {identity:?}");
        return;
    };
    let data = identity.and_then(|identity| identity.identity_data.as_ref());
    let identity = wire::decode(data.unwrap_or_else(|| panic!("{id} has no identity")));
    assert!(identity.is_wholly_known(), "{identity:?}");
    assert_eq!((identity.get("id"), identity.get("region")), (state.get("id"), state.get("region")));
    assert!(identity.get("region").as_str().is_some(), "{identity:?}");
}

fn log_of(directory: &Path) -> String {
    let mut text = String::new();
    let read = File::open(directory.join("provider.log")).and_then(|mut file| file.read_to_string(&mut text));
    read.map_or_else(|error| format!("no log: {error}"), |_| text)
}

fn messages(diagnostics: Vec<pb::Diagnostic>) -> Vec<Message> {
    let message = |it: pb::Diagnostic| Message {
        is_error: it.severity() == pb::diagnostic::Severity::Error,
        summary: it.summary,
        detail: it.detail,
    };
    diagnostics.into_iter().map(message).collect()
}

/// The answer to a call. A working provider answers every call, if necessary with errors as diagnostics.
fn unwrap<T>(answer: Result<tonic::Response<T>, tonic::Status>) -> T {
    answer.unwrap_or_else(|status| panic!("the provider did not answer: {status}")).into_inner()
}

/// The client certificate of this test process.
fn identity() -> &'static Certificate {
    static IDENTITY: OnceLock<Certificate> = OnceLock::new();
    IDENTITY.get_or_init(Certificate::new)
}
