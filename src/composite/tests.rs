//! All steps from configuration to objects, on a simulated account that panics on calls that AWS would reject.

mod access_logs;
mod adoption;
mod adoption_later;
mod advice;
mod authorization;
mod blocks;
mod changes;
mod data_source;
mod domains;
mod dropped_names;
mod duplicates;
mod empty_inputs;
mod endpoints;
mod every_kind;
mod exposure;
mod failures;
mod flow_logs;
mod drift;
mod gateway_import;
mod ignored_drift;
mod gateway_takeover;
mod generate;
mod golden_states;
mod import;
mod in_use;
mod ipv6_tiers;
mod list;
mod lives;
mod location;
mod names;
mod nat_changes;
mod obstacles;
mod dependents;
mod propagation;
mod replaced_settings;
mod private_data;
mod properties;
mod protected;
mod renamed;
#[path = "../../tests/support/host/rules.rs"]
mod rules;
mod stages;
mod subnets_in_use;
mod takeover;
mod tier_zones;
mod unknown_outputs;
mod unknown_tags;
mod unknowns;
mod unmanaged_routes;
mod unmanaged_users;
mod used;

use std::sync::Arc;

use super::simulation::{Simulation, inventory};
use super::{Composite, Siblings};
use crate::cloud::{Cause, Connected, Connection, Namesake, Regions, RootState, SharedCloud};
use crate::model::{Spec, TagSettings};
use crate::plugin::Nested;
use crate::plugin::schema::object_type;
use crate::plugin::{
    ApplyRequest, Attribute, AttributePath, AttributeType, Diagnostic, Diagnostics, ImportTarget, Input, Mode,
    MoveSource, Nesting, PartialState, PlanRequest, PlanResponse, ReadRequest, Resource, Severity, Type, Value,
};
use crate::topology::Topology;
use crate::topology::four_tier_vpc::FourTierVpc;
use crate::topology::http_gateway::{HttpGateway, LinkConfig, RouteConfig};

/// A stand-in for Terraform with one resource. It keeps the state and makes the checks of Terraform core.
struct Terraform<P: Topology> {
    resource: Composite<P>,
    /// The type of the state, derived from the schema.
    kind: Type,
    account: Arc<Simulation>,
    state: Value,
    private: Vec<u8>,
    stop: tokio_util::sync::CancellationToken,
    client_gone: tokio_util::sync::CancellationToken,
}

/// A connection to an account of which only one Region is used.
fn connected(account: &Arc<Simulation>) -> Connected {
    Connected::Ready(Regions::new(account.clone(), |region| panic!("nothing is in {region}")))
}

impl<P: Topology> Terraform<P> {
    fn new(zones: usize) -> Terraform<P> {
        Terraform::on(Arc::new(Simulation::new(zones)))
    }

    /// A resource that does not exist yet, in an account.
    fn on(account: Arc<Simulation>) -> Terraform<P> {
        Terraform::among(account, Siblings::default())
    }

    /// The same in a process with other resources.
    fn among(account: Arc<Simulation>, siblings: Siblings) -> Terraform<P> {
        let connection = Connection::default();
        connection.set(connected(&account));
        let stop = tokio_util::sync::CancellationToken::new();
        let (resource, client_gone) = (Composite::with(connection, Arc::default(), siblings), Default::default());
        let kind = object_type(&resource.schema().attributes);
        Terraform { resource, kind, account, state: Value::Null, private: Vec::new(), stop, client_gone }
    }

    /// Another process of the provider, which has not read the resource.
    fn begin_process(&mut self) {
        let connection = Connection::default();
        connection.set(connected(&self.account));
        self.resource = Composite::new(connection);
    }

    fn config(&self, attributes: &Value) -> Value {
        let mut config = super::state::empty::<P>();
        for (name, value) in attributes.as_map().unwrap() {
            config.set(name, value.clone());
        }
        rules::normalized(&self.kind, completed(&config, &self.kind))
    }

    async fn refresh(&mut self) {
        if self.state.is_null() {
            return;
        }
        let request = ReadRequest { state: self.state.clone(), private: self.private.clone() };
        let read = self.resource.read(request).await;
        assert_eq!(read.diagnostics, Diagnostics::default());
        self.state = read.state;
        self.private = read.private;
    }

    /// Plans without a refresh.
    async fn plan(&self, attributes: &Value) -> PlanResponse {
        self.plan_again(attributes, Vec::new()).await
    }

    /// The same, with the private data of the plan that was shown.
    async fn plan_again(&self, attributes: &Value, planned_private: Vec<u8>) -> PlanResponse {
        let (config, schema) = (self.config(attributes), self.resource.schema());
        let base = if self.state.is_null() { rules::empty(&schema.attributes) } else { self.state.clone() };
        let request = PlanRequest {
            prior: self.state.clone(),
            proposed: rules::proposed(&schema.attributes, &base, &config),
            config: config.clone(),
            prior_private: self.private.clone(),
            planned_private,
        };
        let plan = self.resource.plan(request).await;
        assert_conforms(&plan.planned, &self.kind, "planned");
        if !plan.diagnostics.has_errors() {
            let rejected = rules::rejected_in_plan(&schema.attributes, &base, &config, &plan.planned);
            assert!(rejected.is_empty(), "Terraform rejects the plan: {rejected:#?}");
        }
        plan
    }

    /// The request for the plan of a destroy.
    fn destroy_request(&self) -> PlanRequest {
        PlanRequest {
            prior: self.state.clone(),
            proposed: Value::Null,
            config: Value::Null,
            prior_private: self.private.clone(),
            planned_private: Vec::new(),
        }
    }

    async fn apply(&mut self, attributes: &Value) -> Diagnostics {
        let plan = self.plan(attributes).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        if !plan.requires_replace.is_empty() {
            return Box::pin(self.replace(attributes, plan.private)).await;
        }
        if plan.planned == self.state {
            return plan.diagnostics;
        }
        self.apply_plan(attributes, plan).await
    }

    /// Plans the create in a replacement as core does: without the state, and with this private state.
    async fn plan_successor(&mut self, attributes: &Value, private: Vec<u8>) -> PlanResponse {
        let old = (std::mem::replace(&mut self.state, Value::Null), std::mem::replace(&mut self.private, private));
        let plan = self.plan(attributes).await;
        (self.state, self.private) = old;
        plan
    }

    /// Replaces the resource as core does: plans a create without prior state and with this private state, passes the
    /// private state of that plan to the destroy of the old object, and then creates.
    async fn replace(&mut self, attributes: &Value, private: Vec<u8>) -> Diagnostics {
        let plan = self.plan_successor(attributes, private).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        self.private = plan.private;
        let destroyed = self.destroy().await;
        if destroyed.has_errors() {
            return destroyed;
        }
        let plan = self.plan(attributes).await;
        self.apply_plan(attributes, plan).await
    }

    async fn apply_plan(&mut self, attributes: &Value, plan: PlanResponse) -> Diagnostics {
        let applied = self
            .resource
            .apply(ApplyRequest {
                prior: self.state.clone(),
                planned: plan.planned.clone(),
                config: self.config(attributes),
                planned_private: plan.private,
                stop: self.stop.clone(),
                client_gone: self.client_gone.clone(),
                partial_state: PartialState::default(),
            })
            .await;
        self.state = applied.state;
        self.private = applied.private;
        assert!(self.state.is_wholly_known());
        assert_conforms(&self.state, &self.kind, "state");
        if !applied.diagnostics.has_errors() {
            self.assert_as_planned(&plan.planned, &self.state, "state");
        }
        applied.diagnostics
    }

    /// Asserts that Terraform accepts a later plan or a state after this plan. Only unknown values may differ.
    fn assert_as_planned(&self, planned: &Value, actual: &Value, path: &str) {
        let mut unlike = Vec::new();
        rules::unlike_planned(&self.kind, planned, actual, path, &mut unlike);
        assert!(unlike.is_empty(), "Terraform rejects this after the plan: {unlike:#?}");
    }

    /// Destroys what exists at the end of a sequence. Nothing may be left.
    async fn end(&mut self) {
        if !self.state.is_null() {
            let diagnostics = self.destroy().await;
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        }
        assert_eq!(self.account.slots(), Vec::<String>::new());
    }

    async fn destroy(&mut self) -> Diagnostics {
        let applied = self
            .resource
            .apply(ApplyRequest {
                prior: self.state.clone(),
                planned: Value::Null,
                config: Value::Null,
                planned_private: self.private.clone(),
                stop: self.stop.clone(),
                client_gone: self.client_gone.clone(),
                partial_state: PartialState::default(),
            })
            .await;
        self.state = applied.state;
        self.private = applied.private;
        applied.diagnostics
    }

    async fn assert_quiet(&mut self, attributes: &Value) {
        self.refresh().await;
        let plan = self.plan(attributes).await;
        assert!(
            plan.planned == self.state,
            "the plan after an apply is not empty: {}",
            differing(&self.state, &plan.planned)
        );
        assert!(plan.requires_replace.is_empty());
    }

    async fn assert_applies(&mut self, attributes: &Value) {
        let diagnostics = self.apply(attributes).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        self.assert_quiet(attributes).await;
    }
}

/// The value with every attribute of its type: core sends a null for each optional attribute that is absent.
fn completed(value: &Value, kind: &Type) -> Value {
    match (value, kind) {
        (Value::List(items), Type::List(item) | Type::Set(item)) => {
            Value::List(items.iter().map(|it| completed(it, item)).collect())
        }
        (Value::Map(entries), Type::Map(item)) => {
            Value::Map(entries.iter().map(|(key, it)| (key.clone(), completed(it, item))).collect())
        }
        (Value::Map(entries), Type::Object(attributes)) => {
            let mut object = entries.clone();
            for (name, kind) in attributes {
                let attribute = completed(value.get(name), kind);
                object.insert(name.clone(), attribute);
            }
            Value::Map(object)
        }
        _ => value.clone(),
    }
}

/// Describes the attributes that differ.
fn differing(before: &Value, after: &Value) -> String {
    let names = after.as_map().unwrap().iter().filter(|(name, value)| before.get(name) != *value);
    names.map(|(name, value)| format!("{name}: {} -> {value}", before.get(name))).collect::<Vec<_>>().join("; ")
}

fn assert_conforms(value: &Value, kind: &Type, path: &str) {
    match (value, kind) {
        (Value::Null | Value::Unknown, _) => {}
        (Value::Bool(_), Type::Bool) | (Value::Number(_), Type::Number) | (Value::String(_), Type::String) => {}
        (Value::List(items), Type::List(item) | Type::Set(item)) => {
            for it in items {
                assert_conforms(it, item, path);
            }
        }
        (Value::Map(entries), Type::Map(item)) => {
            for (key, it) in entries {
                assert_conforms(it, item, &format!("{path}.{key}"));
            }
        }
        (Value::Map(entries), Type::Object(attributes)) => {
            assert!(
                entries.keys().eq(attributes.keys()),
                "{path}: {:?} is not {:?}",
                entries.keys(),
                attributes.keys()
            );
            for (key, it) in entries {
                assert_conforms(it, &attributes[key], &format!("{path}.{key}"));
            }
        }
        _ => panic!("{path}: {value} is not a {kind:?}"),
    }
}

fn network(pairs: &[(&str, Value)]) -> Value {
    let mut config = Value::map([
        ("cidr_block", Value::from("10.0.0.0/16")),
        ("num_nat_gateways", Value::from(1)),
        ("vpc_name", Value::from("main")),
    ]);
    for (name, value) in pairs {
        config.set(name, value.clone());
    }
    config
}

fn function(name: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:{name}")
}

fn route(function_name: &str, authorizer: Option<&str>) -> Value {
    let mut route = Value::map(RouteConfig::attributes().into_iter().map(|it| (it.name, Value::Null)));
    route.set("faas_function_arn", function(function_name).into());
    route.set("authorizer_name", authorizer.map(str::to_string).into());
    route
}

fn jwt_authorizer(issuer: &str) -> Value {
    Value::map([("issuer", issuer.into()), ("audience", Value::from(vec!["shop"])), ("identity_sources", Value::Null)])
}

fn authorizer(function_name: &str) -> Value {
    Value::map([
        ("authorizer_name", function_name.into()),
        ("authorizer_payload_format_version", Value::Null),
        ("authorizer_uri", Value::Null),
        ("identity_sources", Value::Null),
        ("result_ttl_in_seconds", Value::Null),
        ("enable_simple_responses", Value::Null),
        ("authorizer_credentials_arn", Value::Null),
    ])
}

fn gateway(routes: &[(&str, Value)], authorizers: &[(&str, Value)], pairs: &[(&str, Value)]) -> Value {
    let mut config = Value::map([
        ("name", Value::from("front")),
        ("route_config", Value::map(routes.iter().map(|(key, value)| (*key, value.clone())))),
        ("faas_authorizers", Value::map(authorizers.iter().map(|(key, value)| (*key, value.clone())))),
    ]);
    for (name, value) in pairs {
        config.set(name, value.clone());
    }
    config
}
