//! The gRPC service that passes Terraform's calls to a [`Provider`].

mod data_sources;
mod functions;
mod generate;
mod identities;
mod lists;
pub(super) mod process;
mod service;
mod tasks;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::contradictions::Findings;
use super::identity::Identity;
use super::lifecycle::Lifecycle;
use super::proto::tfplugin6 as pb;
use super::{
    ApplyRequest, Attribute, Diagnostics, ImportResponse, PartialState, PlanRequest, Problem, Provider, ReadRequest,
    Resource, Schema, Type, Value, checks, contradictions, convert, json, msgpack, panics, schema,
};

/// A provider, with everything that is derived from its schemas.
pub(super) struct Server<P> {
    provider: Arc<P>,
    provider_block: Block,
    resources: BTreeMap<String, Arc<Served>>,
    data_sources: BTreeMap<String, data_sources::PreparedDataSource>,
    functions: BTreeMap<String, functions::PreparedFunction>,
    list_resources: BTreeMap<String, lists::PreparedList>,
    schemas: pb::get_provider_schema::Response,
    lifecycle: Arc<Lifecycle>,
}

struct Served {
    resource: Arc<dyn Resource>,
    block: Arc<Block>,
    version: i64,
    identity: Option<Identity>,
}

/// The attributes of a block, and the type of its values.
struct Block {
    attributes: Vec<Attribute>,
    kind: Type,
}

impl<P: Provider> Server<P> {
    /// Prepares a provider for Terraform. The error names the part of a schema that Terraform would reject.
    pub(super) fn new(provider: P, lifecycle: Arc<Lifecycle>) -> Result<Server<P>, String> {
        let schema = provider.schema();
        let mut schemas = pb::get_provider_schema::Response {
            provider: Some(convert::provider_schema(&schema).map_err(|error| format!("provider: {error}"))?),
            server_capabilities: Some(capabilities()),
            ..Default::default()
        };
        let mut resources = BTreeMap::new();
        for resource in provider.resources() {
            let name = resource.type_name();
            let schema = resource.schema();
            let converted = convert::resource_schema(&schema).map_err(|error| format!("{name}: {error}"))?;
            schemas.resource_schemas.insert(name.to_string(), converted);
            let version = schema.version;
            let (identity, block) = (Identity::of(resource.identity_schema()), Arc::new(Block::new(schema)));
            resources.insert(name.to_string(), Arc::new(Served { resource, block, version, identity }));
        }
        let (data_sources, data_source_schemas) = data_sources::all(&provider)?;
        schemas.data_source_schemas = data_source_schemas;
        let (list_resources, list_schemas) = lists::all(&provider)?;
        schemas.list_resource_schemas = list_schemas;
        let functions = functions::all(&provider);
        schemas.functions = functions.iter().map(|(name, it)| (name.clone(), it.to_proto())).collect();
        let (provider, provider_block) = (Arc::new(provider), Block::new(schema));
        Ok(Server { provider, provider_block, resources, data_sources, functions, list_resources, schemas, lifecycle })
    }

    fn resource(&self, name: &str) -> Result<&Arc<Served>, Diagnostics> {
        self.resources.get(name).ok_or_else(|| {
            one_error("Unknown resource type", format!("This version of the provider has no resource {name:?}."))
        })
    }

    /// Diagnostics in protocol form, without secrets.
    fn messages(Diagnostics(mut all): Diagnostics) -> Vec<pb::Diagnostic> {
        for diagnostic in &mut all {
            diagnostic.summary = P::redact(&diagnostic.summary);
            diagnostic.detail = P::redact(&diagnostic.detail);
        }
        convert::diagnostics(Diagnostics(all))
    }

    fn flat(result: Result<Diagnostics, Diagnostics>) -> Vec<pb::Diagnostic> {
        Self::messages(result.unwrap_or_else(|diagnostics| diagnostics))
    }

    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
        tasks::run(&self.lifecycle, work).await
    }

    async fn run_until_stopped<T: Send + 'static>(
        &self,
        what: impl FnOnce() -> String,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Diagnostics> {
        tasks::run_until_stopped(&self.lifecycle, what, work).await
    }

    async fn upgrade(&self, request: pb::upgrade_resource_state::Request) -> Result<pb::DynamicValue, Diagnostics> {
        let type_name = request.type_name.clone();
        let state = self.upgraded(request).await?;
        let mut diagnostics = Diagnostics::default();
        let state = self.resource(&type_name)?.block.encode(state, &mut diagnostics);
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(state) }
    }

    /// A stored state of any supported version as a state of the current one.
    async fn upgraded(&self, request: pb::upgrade_resource_state::Request) -> Result<Value, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let name = request.type_name;
        let (stored, current) = (request.version, served.version);
        let summary = format!("Could not read the stored state of {name}");
        let json = request.raw_state.map(|state| state.json).filter(|json| !json.is_empty());
        let json = json.ok_or_else(|| one_error(&summary, "The state was written by Terraform 0.11 or is empty."))?;
        let json = match stored.cmp(&current) {
            std::cmp::Ordering::Equal => json,
            std::cmp::Ordering::Greater => {
                let detail = format!(
                    "The state has schema version {stored}, but this version of the provider supports versions up to \
                     {current}. Use the version of the provider that wrote the state, or a later one.",
                );
                return Err(one_error(&summary, detail));
            }
            std::cmp::Ordering::Less => {
                let state = serde_json::from_slice(&json)
                    .map_err(|error| one_error(&summary, format!("The state is not valid JSON: {error}.")))?;
                let resource = served.resource.clone();
                let upgraded = self.run(async move { resource.upgrade(stored, state) }).await.map_err(panicked)?;
                upgraded.map_err(|error| one_error(&summary, error))?.to_string().into_bytes()
            }
        };
        let state = json::decode(&json, &served.block.kind).map_err(|problem| decoding_error(&summary, problem))?;
        // An earlier version has written a state without a newer attribute, whose default is then not a change.
        let state = schema::with_shown_defaults(&served.block.attributes, &state);
        let (resource, noted) = (served.resource.clone(), state.clone());
        self.run(async move { resource.note_state(&noted) }).await.map_err(panicked)?;
        Ok(state)
    }

    async fn validate(&self, request: pb::validate_resource_config::Request) -> Result<Diagnostics, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let config = served.block.decode(request.config, "configuration")?;
        let mut diagnostics = self.checked(served, config).await.of_validation();
        checks::end_at_places(&served.block.attributes, &mut diagnostics);
        Ok(diagnostics)
    }

    /// Checks the configuration of a resource.
    async fn checked(&self, served: &Arc<Served>, config: Value) -> Findings {
        let served = served.clone();
        let work = async move {
            let attributes = &served.block.attributes;
            let check = |config: &Value| {
                let mut diagnostics = checks::check_config(attributes, config);
                checks::add_findings(&mut diagnostics, served.resource.validate(config));
                diagnostics
            };
            contradictions::find(attributes, &config, check)
        };
        self.run(work).await.unwrap_or_else(|panic| Findings { alone: panicked(panic), ..Findings::default() })
    }

    async fn validate_provider(
        &self,
        request: pb::validate_provider_config::Request,
    ) -> Result<Diagnostics, Diagnostics> {
        let config = self.provider_block.decode(request.config, "provider configuration")?;
        let mut diagnostics = checks::check_config(&self.provider_block.attributes, &config);
        let provider = self.provider.clone();
        let found = self.run(async move { provider.validate(&config) }).await.unwrap_or_else(panicked);
        checks::add_findings(&mut diagnostics, found);
        checks::end_at_places(&self.provider_block.attributes, &mut diagnostics);
        Ok(diagnostics)
    }

    async fn configure(&self, request: pb::configure_provider::Request) -> Result<Diagnostics, Diagnostics> {
        let config = self.provider_block.decode(request.config, "provider configuration")?;
        let provider = self.provider.clone();
        let work = async move { provider.configure(config, &request.terraform_version).await };
        self.run_until_stopped(|| "configuring the provider".to_string(), work).await
    }

    async fn import(
        &self,
        request: pb::import_resource_state::Request,
    ) -> Result<pb::import_resource_state::Response, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let resource = served.resource.clone();
        let target = served.import_target(request.id, request.identity)?;
        let described = target.to_string();
        let what = || format!("importing {} {described}", request.type_name);
        let ImportResponse { state, private, mut diagnostics } =
            self.run_until_stopped(what, async move { resource.import(target).await }).await?;
        let Some(state) = state.filter(|state| !state.is_null()) else {
            if !diagnostics.has_errors() {
                let summary = format!("Could not import {} {described}", request.type_name);
                diagnostics.error(summary, "No object with this ID was found.");
            }
            return Err(diagnostics);
        };
        let identity = served.identity_of(&state, &mut diagnostics);
        let state = Some(served.block.encode(state, &mut diagnostics));
        let type_name = request.type_name;
        let imported = pb::import_resource_state::ImportedResource { type_name, state, private, identity };
        Ok(pb::import_resource_state::Response {
            imported_resources: vec![imported],
            diagnostics: Self::messages(diagnostics),
        })
    }

    async fn read(&self, request: pb::read_resource::Request) -> Result<pb::read_resource::Response, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let state = served.block.decode(request.current_state, "state")?;
        let resource = served.resource.clone();
        let work = async move { resource.read(ReadRequest { state, private: request.private }).await };
        let mut response = self.run_until_stopped(|| format!("reading {}", request.type_name), work).await?;
        let new_identity = served.identity_of(&response.state, &mut response.diagnostics);
        let new_state = Some(served.block.encode(response.state, &mut response.diagnostics));
        let diagnostics = Self::messages(response.diagnostics);
        Ok(pb::read_resource::Response { new_state, diagnostics, private: response.private, new_identity })
    }

    async fn plan(
        &self,
        request: pb::plan_resource_change::Request,
    ) -> Result<pb::plan_resource_change::Response, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let plan = PlanRequest {
            prior: served.block.decode(request.prior_state, "prior state")?,
            proposed: served.block.decode(request.proposed_new_state, "proposed state")?,
            config: served.block.decode(request.config, "configuration")?,
            prior_private: request.prior_private,
            planned_private: request.planned_private,
        };
        let is_update = !plan.prior.is_null();
        // Terraform validates the configuration before, but without the effect of `ignore_changes`.
        let contradictions = match plan.config.is_null() {
            true => Diagnostics::default(),
            false => self.checked(served, plan.config.clone()).await.together,
        };
        if contradictions.has_errors() {
            let mut diagnostics = contradictions;
            checks::end_at_places(&served.block.attributes, &mut diagnostics);
            return Err(diagnostics);
        }
        let resource = served.resource.clone();
        let what = || format!("planning {}", request.type_name);
        let mut response = self.run_until_stopped(what, async move { resource.plan(plan).await }).await?;
        let planned_state = Some(served.block.encode(response.planned, &mut response.diagnostics));
        checks::end_at_places(&served.block.attributes, &mut response.diagnostics);
        // The identity of a new object is known only after the apply.
        let planned_identity = request.prior_identity.filter(|_| is_update && response.requires_replace.is_empty());
        Ok(pb::plan_resource_change::Response {
            planned_state,
            planned_identity,
            requires_replace: response.requires_replace.into_iter().map(convert::attribute_path).collect(),
            planned_private: response.private,
            diagnostics: Self::messages(response.diagnostics),
        })
    }

    /// If the response has an error and no state, Terraform keeps the prior state and its private data.
    async fn apply(
        &self,
        request: pb::apply_resource_change::Request,
    ) -> Result<pb::apply_resource_change::Response, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let partial_state = PartialState::default();
        let stop = self.lifecycle.stop_token().child_token();
        let client_gone = self.lifecycle.client_gone().child_token();
        // This handler is dropped when its connection ends, and its variables in reverse order: `client_gone` is
        // canceled before `stop`.
        let _stop = stop.clone().drop_guard();
        let _client_gone = client_gone.clone().drop_guard();
        let apply = ApplyRequest {
            prior: served.block.decode(request.prior_state, "prior state")?,
            planned: served.block.decode(request.planned_state, "planned state")?,
            config: served.block.decode(request.config, "configuration")?,
            planned_private: request.planned_private,
            stop,
            client_gone,
            partial_state: partial_state.clone(),
        };
        let resource = served.resource.clone();
        let change = self.lifecycle.change();
        let work = async move {
            let _change = change;
            resource.apply(apply).await
        };
        let (state, private, mut diagnostics) = match self.run(work).await {
            Ok(response) => (response.state, response.private, response.diagnostics),
            Err(message) => {
                // The snapshot may depend on data that the panic left inconsistent.
                let snapshot = catch_unwind(AssertUnwindSafe(|| partial_state.get())).ok().flatten();
                let (state, private) = snapshot.ok_or_else(|| panicked(message.clone()))?;
                (state, private, panicked(message))
            }
        };
        let new_identity = served.identity_after_apply(&state, &mut diagnostics);
        let new_state = Some(served.block.encode_applied(state, &mut diagnostics));
        let diagnostics = Self::messages(diagnostics);
        Ok(pb::apply_resource_change::Response { new_state, private, diagnostics, new_identity })
    }
}

impl Block {
    fn new(schema: Schema) -> Block {
        Block { kind: schema::object_type(&schema.attributes), attributes: schema.attributes }
    }

    /// Decodes a value from Terraform. A missing value is null.
    fn decode(&self, value: Option<pb::DynamicValue>, what: &str) -> Result<Value, Diagnostics> {
        let decoded = decode(value.unwrap_or_default(), &self.kind);
        decoded.map_err(|problem| decoding_error(&format!("Could not decode the {what}"), problem))
    }

    /// Encodes a state for Terraform. A value that does not match the schema becomes null and is reported as an error.
    fn encode(&self, state: Value, diagnostics: &mut Diagnostics) -> pb::DynamicValue {
        let (msgpack, problems) = msgpack::encode(&checks::with_empty_blocks(&self.attributes, state), &self.kind);
        for problem in problems {
            let summary = format!("The provider returned an invalid value for {}", problem.path);
            diagnostics.attribute_error(problem.path, summary, format!("{} {}", problem.message, problem.hint));
        }
        pb::DynamicValue { msgpack, json: Vec::new() }
    }

    /// Encodes the state after an apply, which must not contain unknown values if the apply failed.
    fn encode_applied(&self, state: Value, diagnostics: &mut Diagnostics) -> pb::DynamicValue {
        let encoded = self.encode(state.clone(), diagnostics);
        if !diagnostics.has_errors() {
            return encoded;
        }
        // The first call has reported the same problems.
        self.encode(state.without_unknowns(), &mut Diagnostics::default())
    }
}

fn decode(value: pb::DynamicValue, kind: &Type) -> Result<Value, Problem> {
    match (value.msgpack.is_empty(), value.json.is_empty()) {
        (false, _) => msgpack::decode(&value.msgpack, kind),
        (true, false) => json::decode(&value.json, kind),
        (true, true) => Ok(Value::Null),
    }
}

fn capabilities() -> pb::ServerCapabilities {
    pb::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: true,
    }
}

fn one_error(summary: &str, detail: impl Into<String>) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    diagnostics.error(summary, detail);
    diagnostics
}

fn decoding_error(summary: &str, problem: Problem) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let place = if problem.path.0.is_empty() { String::new() } else { format!("{}: ", problem.path) };
    let detail = format!("{place}{} {}", problem.message, problem.hint);
    diagnostics.attribute_error(problem.path, summary, detail);
    diagnostics
}

fn panicked(message: String) -> Diagnostics {
    let detail = format!("{message}\n\nThis is a bug in the provider. Report it with this message.");
    one_error("The provider failed unexpectedly", detail)
}

/// The result of a handler. A panic outside the provider's code, such as in the decoding of a request, becomes an error
/// here, and one in the provider's code in [`Server::run`].
async fn fenced<T>(handler: impl Future<Output = Result<T, Diagnostics>>) -> Result<T, Diagnostics> {
    panics::caught(handler).await.unwrap_or_else(|message| Err(panicked(message)))
}
