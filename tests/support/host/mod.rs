//! A stand-in for Terraform: it drives the built provider through the plugin protocol, for tests that need Terraform
//! only to validate, read, plan and apply resources.
//!
//! It keeps the state of a directory. For each command it starts a provider process, sends the calls that Terraform
//! sends, in the same order, and enforces Terraform's rules on the answers ([`rules`]). It starts one process;
//! Terraform starts four, in addition to itself. Features of Terraform itself (the text of a plan, replacement, tainted
//! resources, references, import blocks, interruption) are left to tests that run Terraform; here they cause a panic.

mod config;
mod process;
mod rules;
mod shown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use fgw::plugin::{Attribute, AttributeType, Mode, Nesting, Provider as _, Schema, Type, Value, schema};
use fgw::provider::Fgw;
use futures::future::join_all;
use serde_json::{Value as Json, json};

use self::config::Config;
use self::process::{Message, Process, Stored};
use super::runtime;

/// The state and the last plan of a directory.
#[derive(Debug)]
pub(super) struct Host {
    directory: PathBuf,
    state: Mutex<BTreeMap<Address, Kept>>,
    planned: Mutex<Option<Plan>>,
    /// Whether it passes the private data of a plan to the plan that it repeats at apply, as Terraform 1.16 does.
    stores_planned_private: bool,
}

/// A resource in the state.
#[derive(Clone, Debug, Default)]
struct Kept {
    stored: Stored,
    /// Its create has failed: the next apply replaces it.
    tainted: bool,
}

/// The result of a command.
pub(super) struct Outcome {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Type and name of a resource.
type Address = (String, String);

/// The options of a plan.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    destroy: bool,
    refresh_only: bool,
    no_refresh: bool,
}

/// The purpose of starting a provider.
#[derive(Clone, Copy)]
enum Start<'a> {
    /// To validate the whole configuration, for which the provider need not be configured.
    ToValidate,
    /// To be configured and called, after the validation of the resources that the predicate selects.
    ToUse(&'a dyn Fn(&Address) -> bool),
}

#[derive(Debug, Default)]
struct Plan {
    resources: Vec<Change>,
    messages: Vec<Message>,
}

/// The plan of one resource.
#[derive(Debug)]
struct Change {
    address: Address,
    config: Value,
    /// The state before the refresh.
    stored: Value,
    /// The state and private data after it.
    prior: Stored,
    planned: Stored,
    action: Action,
    /// The attributes whose change requires a replacement.
    replaced_by: Vec<String>,
    tainted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    NoOp,
    Create,
    Update,
    Delete,
    /// Delete, then create.
    Replace,
}

/// The schemas of the provider block and of the resources.
struct Schemas {
    provider: Schema,
    resources: BTreeMap<String, Schema>,
}

fn schemas() -> &'static Schemas {
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let provider = Fgw::default();
        let resources = provider.resources().into_iter().map(|it| (it.type_name().to_owned(), it.schema()));
        Schemas { provider: provider.schema(), resources: resources.collect() }
    })
}

fn schema_of(type_name: &str) -> &'static Schema {
    let schema = schemas().resources.get(type_name);
    schema.unwrap_or_else(|| panic!("a test with a resource {type_name} needs Terraform"))
}

/// The parts of an address such as `fgw_four_tier_vpc.this`.
fn parsed(address: &str) -> (&str, &str) {
    address.split_once('.').expect("an address is a type and a name")
}

impl Options {
    fn of(options: &[&str]) -> Self {
        let mut parsed = Self::default();
        for option in options {
            match *option {
                "-destroy" => parsed.destroy = true,
                "-refresh-only" => parsed.refresh_only = true,
                "-refresh=false" => parsed.no_refresh = true,
                other => panic!("a test with the option {other} needs Terraform"),
            }
        }
        parsed
    }
}

impl Action {
    /// As in the JSON of a plan.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Update => &["update"],
            Self::Delete => &["delete"],
            Self::Replace => &["delete", "create"],
        }
    }
}

impl Plan {
    fn failed(&self) -> bool {
        self.messages.iter().any(|it| it.is_error)
    }

    fn changes_something(&self) -> bool {
        self.resources.iter().any(|it| it.action != Action::NoOp)
    }
}

impl Host {
    pub(super) fn new(directory: &Path) -> Self {
        let (state, planned) = (Mutex::default(), Mutex::default());
        Self { directory: directory.to_owned(), state, planned, stores_planned_private: false }
    }

    /// The same as Terraform 1.16 and later.
    pub(super) fn storing_planned_private(directory: &Path) -> Self {
        Self { stores_planned_private: true, ..Self::new(directory) }
    }

    /// The private data to send with a plan that repeats the one with this private data, or no plan.
    fn shown<'a>(&self, private: &'a [u8]) -> Option<&'a [u8]> {
        self.stores_planned_private.then_some(private)
    }

    pub(super) fn validate(&self) -> Outcome {
        let (_, _, messages) = self.start(Start::ToValidate);
        outcome(&messages, 0)
    }

    pub(super) fn plan(&self, options: &[&str]) -> Outcome {
        let plan = self.planned(Options::of(options));
        let drifted = options.contains(&"-refresh-only") && plan.resources.iter().any(|it| it.stored != it.prior.0);
        let outcome = outcome(&plan.messages, if plan.changes_something() || drifted { 2 } else { 0 });
        *self.planned.lock().expect("no test panics here") = Some(plan);
        outcome
    }

    pub(super) fn apply(&self, options: &[&str]) -> Outcome {
        let plan = self.planned(Options::of(options));
        self.applied(plan)
    }

    pub(super) fn apply_plan(&self) -> Outcome {
        let plan = self.planned.lock().expect("no test panics here").take();
        self.applied(plan.expect("the test has planned"))
    }

    pub(super) fn forget(&self, address: &str) {
        let (of_type, name) = parsed(address);
        let removed = self.state.lock().expect("no test panics here").remove(&(of_type.into(), name.into()));
        assert!(removed.is_some(), "{address} is not in the state");
    }

    pub(super) fn untaint(&self, address: &str) {
        let (of_type, name) = parsed(address);
        let mut state = self.state.lock().expect("no test panics here");
        let kept = state.get_mut(&(of_type.into(), name.into())).filter(|kept| kept.tainted);
        kept.unwrap_or_else(|| panic!("no tainted {address} is in the state")).tainted = false;
    }

    pub(super) fn lose_private_state(&self, address: &str) {
        let (of_type, name) = parsed(address);
        let mut state = self.state.lock().expect("no test panics here");
        let kept = state.get_mut(&(of_type.into(), name.into()));
        kept.unwrap_or_else(|| panic!("no {address} is in the state")).stored.1.clear();
    }

    pub(super) fn import(&self, address: &str, id: &str) -> Outcome {
        let (of_type, name) = parsed(address);
        let (process, _, mut messages) = self.start(Start::ToUse(&|_| false));
        let imported = runtime().block_on(async {
            let (imported, more) = process.import(of_type, id).await;
            messages.extend(more);
            let (read, more) = process.read(of_type, &imported?).await;
            messages.extend(more);
            read
        });
        if let Some((state, private)) = imported.filter(|(state, _)| !state.is_null()) {
            let kept = Kept { stored: (state, private), tainted: false };
            self.keep(&(of_type.to_owned(), name.to_owned()), kept);
        }
        outcome(&messages, 0)
    }

    /// The state in the form of a state file.
    pub(super) fn state(&self) -> Json {
        let state = self.state.lock().expect("no test panics here");
        let resource = |((of_type, name), kept): (&Address, &Kept)| {
            let mut instance = json!({ "attributes": shown::json(&kept.stored.0) });
            if kept.tainted {
                instance["status"] = "tainted".into();
            }
            json!({ "mode": "managed", "type": of_type, "name": name, "instances": [instance] })
        };
        json!({ "version": 4, "resources": state.iter().map(resource).collect::<Vec<_>>() })
    }

    /// The state in the form of `terraform show -json`.
    pub(super) fn shown_state(&self) -> Json {
        let state = self.state.lock().expect("no test panics here");
        let resource = |((of_type, name), kept): (&Address, &Kept)| {
            json!({ "address": format!("{of_type}.{name}"), "mode": "managed", "type": of_type, "name": name,
                "values": shown::json(&kept.stored.0) })
        };
        let resources: Vec<Json> = state.iter().map(resource).collect();
        json!({ "format_version": "1.0", "values": { "root_module": { "resources": resources } } })
    }

    /// The last plan in the form of `terraform show -json`.
    pub(super) fn shown_plan(&self) -> Json {
        let planned = self.planned.lock().expect("no test panics here");
        let resources = &planned.as_ref().expect("the test has planned").resources;
        let address = |(of_type, name): &Address| format!("{of_type}.{name}");
        let shown = |change: &Change, before: &Value, after: &Value, action: Action| {
            let change_json = json!({
                "actions": action.names(), "before": shown::json(before), "after": shown::after(after),
                "after_unknown": if after.is_wholly_known() { json!({}) } else { shown::after_unknown(after) },
            });
            json!({
                "address": address(&change.address), "mode": "managed", "type": change.address.0,
                "name": change.address.1, "change": change_json,
            })
        };
        let change = |it: &Change| {
            let mut shown = shown(it, &it.prior.0, &it.planned.0, it.action);
            if !it.replaced_by.is_empty() {
                shown["change"]["replace_paths"] = it.replaced_by.iter().map(|name| json!([name])).collect();
            }
            shown
        };
        let drift = |it: &Change| {
            let action = if it.prior.0.is_null() { Action::Delete } else { Action::Update };
            (it.stored != it.prior.0).then(|| shown(it, &it.stored, &it.prior.0, action))
        };
        let values = |it: &Change| {
            (!it.prior.0.is_null())
                .then(|| json!({ "address": address(&it.address), "values": shown::json(&it.prior.0) }))
        };
        json!({
            "resource_changes": resources.iter().map(change).collect::<Vec<_>>(),
            "resource_drift": resources.iter().filter_map(drift).collect::<Vec<_>>(),
            "prior_state": { "values": { "root_module": {
                "resources": resources.iter().filter_map(values).collect::<Vec<_>>(),
            } } },
        })
    }

    /// Starts a provider and validates the configuration. Configures the provider, unless it is started only to
    /// validate.
    fn start(&self, purpose: Start<'_>) -> (Process, BTreeMap<Address, Value>, Vec<Message>) {
        let config = Config::read(&self.directory);
        let mut messages = Vec::new();
        let provider = typed(&schemas().provider, &config.provider, &mut messages);
        let mut resources = BTreeMap::new();
        for (address, arguments) in &config.resources {
            let schema = schema_of(&address.0);
            if let Some(value) = typed(schema, arguments, &mut messages) {
                resources.insert(address.clone(), rules::normalized(&schema::object_type(&schema.attributes), value));
            }
        }
        let process = Process::start(Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")), &self.directory);
        runtime().block_on(async {
            let Some(provider) = provider else { return };
            messages.extend(process.validate_provider(&provider).await);
            let validated = resources.iter().filter(|(address, _)| match purpose {
                Start::ToValidate => true,
                Start::ToUse(validates) => validates(address),
            });
            let validated = validated.map(|(address, config)| process.validate(&address.0, config));
            messages.extend(join_all(validated).await.into_iter().flatten());
            if matches!(purpose, Start::ToUse(_)) && !messages.iter().any(|it| it.is_error) {
                messages.extend(process.configure(&provider).await);
            }
        });
        (process, resources, messages)
    }

    fn planned(&self, options: Options) -> Plan {
        let (process, configs, messages) = self.start(Start::ToUse(&|_| true));
        let mut plan = Plan { messages, ..Plan::default() };
        if plan.failed() {
            return plan;
        }
        let state = self.state.lock().expect("no test panics here").clone();
        let addresses: BTreeSet<&Address> = configs.keys().chain(state.keys()).collect();
        let changes = addresses.into_iter().map(|address| {
            let config = if options.destroy { None } else { configs.get(address) };
            plan_one(&process, address, config, state.get(address), options, self.shown(&[]))
        });
        for (change, messages) in runtime().block_on(join_all(changes)) {
            plan.resources.extend(change);
            plan.messages.extend(messages);
        }
        plan
    }

    fn applied(&self, plan: Plan) -> Outcome {
        let mut messages = plan.messages;
        if messages.iter().any(|it| it.is_error) {
            return outcome(&messages, 0);
        }
        for change in &plan.resources {
            self.keep(&change.address, Kept { stored: change.prior.clone(), tainted: change.tainted });
        }
        let changed = |it: &Change| it.action != Action::NoOp && !it.planned.0.is_null();
        let is_changed = |address: &Address| plan.resources.iter().any(|it| it.address == *address && changed(it));
        let (process, _, more) = self.start(Start::ToUse(&is_changed));
        messages.extend(more.into_iter().filter(|it| it.is_error));
        if messages.iter().any(|it| it.is_error) {
            return outcome(&messages, 0);
        }
        let changes = plan.resources.iter().filter(|it| it.action != Action::NoOp);
        for (change, kept, more) in
            runtime().block_on(join_all(changes.map(|it| apply_one(&process, it, self.shown(&it.planned.1)))))
        {
            messages.extend(more);
            if let Some(kept) = kept {
                self.keep(&change.address, kept);
            }
        }
        outcome(&messages, 0)
    }

    /// Writes a resource into the state, or removes it if its value is null.
    fn keep(&self, address: &Address, kept: Kept) {
        let mut all = self.state.lock().expect("no test panics here");
        if kept.stored.0.is_null() {
            all.remove(address);
        } else {
            all.insert(address.clone(), kept);
        }
    }
}

/// The value of a block. Adds an error to the messages, as Terraform would report it.
fn typed(schema: &Schema, arguments: &serde_json::Map<String, Json>, messages: &mut Vec<Message>) -> Option<Value> {
    let value = config::typed(schema, arguments);
    let wrong = |detail| Message { is_error: true, summary: "Invalid configuration".into(), detail };
    value.map_err(|detail| messages.push(wrong(detail))).ok()
}

fn outcome(messages: &[Message], code: i32) -> Outcome {
    let failed = messages.iter().any(|it| it.is_error);
    Outcome {
        code: if failed { 1 } else { code },
        stdout: shown::printed(messages, false),
        stderr: shown::printed(messages, true),
    }
}

/// Refreshes and plans one resource. Returns no change if the provider returned errors or nothing.
async fn plan_one(
    process: &Process,
    address: &Address,
    config: Option<&Value>,
    kept: Option<&Kept>,
    options: Options,
    shown: Option<&[u8]>,
) -> (Option<Change>, Vec<Message>) {
    let (type_name, schema) = (&address.0, schema_of(&address.0));
    let kind = schema::object_type(&schema.attributes);
    let mut messages = Vec::new();
    let Kept { stored, tainted } = kept.cloned().unwrap_or_default();
    let mut prior = stored.clone();
    if kept.is_some() {
        let (upgraded, more) = process.upgrade(type_name, schema.version, shown::json(&prior.0).to_string()).await;
        messages.extend(more);
        let Some(upgraded) = upgraded else { return (None, messages) };
        prior.0 = rules::normalized(&kind, upgraded);
        if !options.no_refresh {
            let (read, more) = process.read(type_name, &prior).await;
            messages.extend(more);
            let Some((state, private)) = read else { return (None, messages) };
            prior = (rules::normalized(&kind, state), private);
        }
    }
    if messages.iter().any(|it| it.is_error) {
        return (None, messages);
    }
    let change = |planned: Stored, action, replaced_by| Change {
        address: address.clone(),
        config: config.cloned().unwrap_or_default(),
        stored: stored.0.clone(),
        prior: prior.clone(),
        planned,
        action,
        replaced_by,
        tainted,
    };
    if options.refresh_only || (config.is_none() && prior.0.is_null()) {
        return (Some(change(prior.clone(), Action::NoOp, Vec::new())), messages);
    }
    let Some(config) = config else {
        let (planned, more) = plan_call(process, address, &prior, &Value::Null, shown).await;
        messages.extend(more);
        return (planned.map(|planned| change(planned.stored, Action::Delete, Vec::new())), messages);
    };
    // Terraform plans a tainted resource as if it did not exist.
    let base = if tainted { Stored::default() } else { prior.clone() };
    let (planned, more) = plan_call(process, address, &base, config, shown).await;
    messages.extend(more);
    let Some(mut planned) = planned else { return (None, messages) };
    let replaced_by = if base.0.is_null() { Vec::new() } else { std::mem::take(&mut planned.replaced_by) };
    if !replaced_by.is_empty() {
        let (again, more) = plan_call(process, address, &(Value::Null, planned.stored.1), config, shown).await;
        messages.extend(more);
        let Some(again) = again else { return (None, messages) };
        planned = again;
    }
    let action = match &prior.0 {
        Value::Null => Action::Create,
        _ if tainted || !replaced_by.is_empty() => Action::Replace,
        state if *state == planned.stored.0 => Action::NoOp,
        _ => Action::Update,
    };
    (Some(change(planned.stored, action, replaced_by)), messages)
}

/// A plan that Terraform accepts.
struct Accepted {
    stored: Stored,
    /// The changed attributes that require a replacement.
    replaced_by: Vec<String>,
}

/// Calls the provider's plan, and checks the answer as Terraform does.
async fn plan_call(
    process: &Process,
    address: &Address,
    prior: &Stored,
    config: &Value,
    shown: Option<&[u8]>,
) -> (Option<Accepted>, Vec<Message>) {
    let schema = schema_of(&address.0);
    let base = if prior.0.is_null() { rules::empty(&schema.attributes) } else { prior.0.clone() };
    let proposed = rules::proposed(&schema.attributes, &base, config);
    let (planned, messages) = process.plan(&address.0, prior, &proposed, config, shown).await;
    let Some(planned) = planned.filter(|_| !messages.iter().any(|it| it.is_error)) else { return (None, messages) };
    let state = rules::normalized(&schema::object_type(&schema.attributes), planned.state);
    if config.is_null() {
        assert!(state.is_null(), "{address:?}: the plan of a destroy must be null, but is {state}");
    } else {
        let rejected = rules::rejected_in_plan(&schema.attributes, &base, config, &state);
        assert!(rejected.is_empty(), "Terraform rejects the plan of {address:?}: {rejected:#?}");
    }
    let mut replaced_by = planned.requires_replace;
    replaced_by.retain(|name| prior.0.get(name) != state.get(name));
    (Some(Accepted { stored: (state, planned.private), replaced_by }), messages)
}

/// Applies a planned change. Returns the new entry of the state, or `None` if the entry does not change.
async fn apply_one<'a>(
    process: &Process,
    change: &'a Change,
    shown: Option<&[u8]>,
) -> (&'a Change, Option<Kept>, Vec<Message>) {
    let mut messages = Vec::new();
    let mut prior = change.prior.clone();
    if change.action == Action::Replace {
        // Terraform passes the private data of the create plan to the destroy.
        let planned = (Value::Null, change.planned.1.clone());
        let (applied, more) = process.apply(&change.address.0, &prior.0, &planned, &Value::Null).await;
        messages.extend(more);
        if messages.iter().any(|it| it.is_error) {
            let rest = applied.filter(|(state, _)| !state.is_null());
            return (change, rest.map(|stored| Kept { stored, tainted: change.tainted }), messages);
        }
        prior = Stored::default();
    }
    let planned = if change.config.is_null() {
        change.planned.clone()
    } else {
        match plan_again(process, change, &prior, shown).await {
            (Some(planned), _) => planned,
            (None, more) => {
                messages.extend(more);
                let lost = (change.action == Action::Replace).then(Kept::default);
                return (change, lost, messages);
            }
        }
    };
    let (kept, more) = apply_call(process, change, &prior.0, &planned).await;
    messages.extend(more);
    // After an error without a state, Terraform keeps the prior state. A replacement does not have one any more.
    let kept = kept.or_else(|| (change.action == Action::Replace).then(Kept::default));
    (change, kept, messages)
}

/// Plans a change again, as Terraform does before it applies it. The result must be the same.
async fn plan_again(
    process: &Process,
    change: &Change,
    prior: &Stored,
    shown: Option<&[u8]>,
) -> (Option<Stored>, Vec<Message>) {
    let (planned, messages) = plan_call(process, &change.address, prior, &change.config, shown).await;
    let Some(planned) = planned else { return (None, messages) };
    let kind = schema::object_type(&schema_of(&change.address.0).attributes);
    let mut unlike = Vec::new();
    rules::unlike_planned(&kind, &change.planned.0, &planned.stored.0, "", &mut unlike);
    assert!(unlike.is_empty(), "the second plan of {:?} differs: {unlike:#?}", change.address);
    (Some(planned.stored), messages)
}

/// Calls the provider's apply, and checks the answer as Terraform does.
async fn apply_call(
    process: &Process,
    change: &Change,
    prior: &Value,
    planned: &Stored,
) -> (Option<Kept>, Vec<Message>) {
    let address = &change.address;
    let (applied, messages) = process.apply(&address.0, prior, planned, &change.config).await;
    let failed = messages.iter().any(|it| it.is_error);
    let Some((state, private)) = applied.filter(|(state, _)| !failed || !state.is_null()) else {
        assert!(failed, "{address:?}: the apply returned neither a state nor an error");
        return (None, messages);
    };
    let kind = schema::object_type(&schema_of(&address.0).attributes);
    let state = rules::normalized(&kind, state);
    assert!(state.is_wholly_known(), "{address:?}: the applied state has unknown values: {state}");
    if !failed {
        let mut unlike = Vec::new();
        rules::unlike_planned(&kind, &planned.0, &state, "", &mut unlike);
        assert!(unlike.is_empty(), "Terraform rejects the applied state of {address:?}: {unlike:#?}");
    }
    let creates = matches!(change.action, Action::Create | Action::Replace);
    (Some(Kept { stored: (state, private), tainted: failed && (creates || change.tainted) }), messages)
}
