//! A fake provider of doors, which succeeds, fails, panics or waits as the tests of the protocol need.

use std::sync::Arc;

use fgw::plugin::{
    ApplyRequest, ApplyResponse, Attribute, AttributePath, AttributeType, Check, DataRequest, DataResponse, DataSource,
    Diagnostics, Function, FunctionError, IdentityAttribute, ImportResponse, ImportTarget, ListRequest, ListResource,
    Listed, MoveSource, Nesting, Parameter, PlanRequest, PlanResponse, Provider, ReadRequest, ReadResponse, Resource,
    Schema, Signature, Type, Value,
};
use tokio::sync::{Notify, watch};

use crate::support::wait;

/// The provider.
#[derive(Clone, Default)]
pub(super) struct Acme {
    pub(super) diary: Diary,
    /// Ends the work on the door "stubborn".
    pub(super) release: Arc<Notify>,
}

/// The steps that work has reached, in order, for tests that wait for them.
#[derive(Clone, Default)]
pub(super) struct Diary(Arc<watch::Sender<Vec<&'static str>>>);

/// Its only resource. The name of a door selects its behavior.
struct Door(Acme);

/// Its only data source. The name of a door selects the result.
struct DoorLookup(Acme);

/// Its only list resource: an endless number of doors. The name selects the behavior.
struct DoorList(Acme);

/// Its only function. The first argument selects the result.
struct Measure;

impl Diary {
    fn note(&self, entry: &'static str) {
        self.0.send_modify(|entries| entries.push(entry));
    }

    /// Notes an entry when the result is dropped.
    fn note_on_drop(&self, entry: &'static str) -> impl Drop + use<> {
        struct OnDrop(Diary, &'static str);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                self.0.note(self.1);
            }
        }
        OnDrop(self.clone(), entry)
    }

    pub(super) fn has(&self, entry: &str) -> bool {
        self.0.borrow().contains(&entry)
    }

    /// Waits for an entry.
    pub(super) async fn until(&self, entry: &str) {
        let mut entries = self.0.subscribe();
        let found = entries.wait_for(|entries| entries.contains(&entry));
        wait::output(entry, found).await.expect("the sender still exists");
    }
}

impl Acme {
    /// Never returns if this is the text "endless".
    async fn never_ends(&self, text: &Value) {
        if text.as_str() == Some("endless") {
            let _dropped = self.diary.note_on_drop("endless work is dropped");
            self.diary.note("endless work begins");
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait::async_trait]
impl Provider for Acme {
    fn schema(&self) -> Schema {
        let style = Attribute::new("style", AttributeType::Plain(Type::String), "").default("plain");
        Schema { version: 0, description: "Doors.".to_string(), attributes: vec![style] }
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        vec![Arc::new(Door(self.clone()))]
    }

    fn list_resources(&self) -> Vec<Arc<dyn ListResource>> {
        vec![Arc::new(DoorList(self.clone()))]
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        vec![Arc::new(DoorLookup(self.clone()))]
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        vec![Arc::new(Measure)]
    }

    fn validate(&self, _: &Value) -> Diagnostics {
        Diagnostics::default()
    }

    fn redact(text: &str) -> String {
        text.replace("sesame", "(hidden)")
    }

    async fn configure(&self, config: Value, terraform_version: &str) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        self.never_ends(config.get("style")).await;
        if config.get("style").as_str() == Some("baroque") {
            let detail = format!("Terraform {terraform_version} is too modern.");
            diagnostics.attribute_error(AttributePath::new("style"), "Out of style", detail);
        }
        diagnostics
    }
}

#[async_trait::async_trait]
impl DataSource for DoorLookup {
    fn type_name(&self) -> &'static str {
        "acme_door"
    }

    fn schema(&self) -> Schema {
        let text = AttributeType::Plain(Type::String);
        let tags = AttributeType::Plain(Type::Map(Box::new(Type::String)));
        Schema {
            version: 0,
            description: "An existing door.".to_string(),
            attributes: vec![
                Attribute::computed("id", Type::String, ""),
                Attribute::new("name", text, "").required(),
                Attribute::new("width", AttributeType::Plain(Type::Number), "").check(Check::between(600, 1200)),
                Attribute::new("tags", tags, "").optional(),
            ],
        }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        match config.get("name").as_str() {
            Some("") => diagnostics.attribute_error(AttributePath::new("name"), "A door needs a name", "Any name."),
            Some("panic in validate") => panic!("no such wall"),
            _ => {}
        }
        diagnostics
    }

    async fn read(&self, request: DataRequest) -> DataResponse {
        let mut diagnostics = Diagnostics::default();
        let mut state = request.config.clone();
        state.set("id", Value::from("door-1"));
        self.0.never_ends(request.config.get("name")).await;
        match request.config.get("name").as_str().unwrap_or_default() {
            "panic" => panic!("the lamp broke"),
            "nothing" => return DataResponse { state: None, diagnostics },
            "misfit" => state.set("width", Value::from("wide")),
            "ajar" => diagnostics.warning("The door is ajar", "Close it."),
            _ => {}
        }
        DataResponse { state: Some(state), diagnostics }
    }
}

impl Function for Measure {
    fn name(&self) -> &'static str {
        "measure"
    }

    fn signature(&self) -> Signature {
        let what = Parameter { name: "what", kind: Type::String, nullable: false, description: String::new() };
        let how = Parameter { name: "how", kind: Type::Dynamic, nullable: true, description: "Any *way*.".to_string() };
        Signature {
            summary: "Measures".to_string(),
            description: "Returns how.".to_string(),
            parameters: vec![what, how],
            variadic: None,
            result: Type::Dynamic,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        match arguments[0].as_str() {
            Some("panic") => panic!("the rule broke"),
            Some("smoke") => Err(FunctionError::of_argument(0, "Smoke has no size.")),
            Some("misfit") => Ok(Value::Number(fgw::plugin::Number::Float(f64::NAN))),
            _ => Ok(arguments[1].clone()),
        }
    }
}

#[async_trait::async_trait]
impl Resource for Door {
    fn type_name(&self) -> &'static str {
        "acme_door"
    }

    fn schema(&self) -> Schema {
        let text = AttributeType::Plain(Type::String);
        let number = AttributeType::Plain(Type::Number);
        let tags = AttributeType::Plain(Type::Map(Box::new(Type::String)));
        let whole_code = Check::new("a whole code", |code| match code.as_str() {
            Some("half a code") => panic!("the lock broke at sesame"),
            _ => Ok(()),
        });
        let hinge = vec![Attribute::new("screws", number.clone(), "").default(4)];
        let key = vec![Attribute::new("shape", text.clone(), "").required()];
        Schema {
            version: 2,
            description: "A door.".to_string(),
            attributes: vec![
                Attribute::computed("id", Type::String, ""),
                Attribute::new("name", text.clone(), "").required(),
                Attribute::new("width", number, "").default(900).check(Check::between(600, 1200)),
                Attribute::new("code", text, "").sensitive().deprecated("Use a key.").check(whole_code),
                Attribute::new("tags", tags, "").optional(),
                Attribute::new("hinges", AttributeType::Nested(Nesting::Map, hinge), "").optional(),
                Attribute::new("key", AttributeType::Nested(Nesting::List, key), "").block(),
            ],
        }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        match config.get("name").as_str() {
            Some("") => diagnostics.attribute_error(AttributePath::new("name"), "A door needs a name", "Any name."),
            Some("panic in validate") => panic!("no such wall"),
            _ => {}
        }
        diagnostics
    }

    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<serde_json::Value, String> {
        if !state.is_object() {
            return Err("The state is not a door.".to_string());
        }
        if version == 0 {
            return Err("Doors of version 0 had no hinges.".to_string());
        }
        Ok(serde_json::json!({ "id": state["door_id"], "name": state["name"] }))
    }

    async fn read(&self, request: ReadRequest) -> ReadResponse {
        self.0.never_ends(request.state.get("name")).await;
        let is_deleted = request.state.get("id").as_str() == Some("door-deleted");
        let state = if is_deleted { Value::Null } else { request.state };
        ReadResponse { state, private: request.private, diagnostics: Diagnostics::default() }
    }

    fn note_state(&self, state: &Value) {
        if state.get("name").as_str() == Some("noted") {
            self.0.diary.note("a stored state is noted");
        }
    }

    fn configuration(&self, state: &Value) -> Value {
        let mut config = state.clone();
        match state.get("name").as_str() {
            Some("panic") => panic!("the pen broke"),
            _ if *state.get("width") == Value::from(900) => config.set("width", Value::Null),
            _ => {}
        }
        config
    }

    async fn plan(&self, request: PlanRequest) -> PlanResponse {
        let mut planned = request.proposed;
        self.0.never_ends(planned.get("name")).await;
        if request.prior.is_null() {
            planned.set("id", Value::Unknown);
        }
        if planned.get("name").as_str() == Some("misfit") {
            planned.set("width", Value::from("wide"));
        }
        let is_renamed = planned.get("name") != request.prior.get("name");
        let requires_replace = if is_renamed { vec![AttributePath::new("name")] } else { Vec::new() };
        PlanResponse {
            planned,
            requires_replace,
            private: [&request.prior_private[..], &request.planned_private, b"planned"].concat(),
            diagnostics: Diagnostics::default(),
        }
    }

    async fn apply(&self, request: ApplyRequest) -> ApplyResponse {
        let mut state = request.planned.clone();
        let mut diagnostics = Diagnostics::default();
        match request.planned.get("name").as_str().unwrap_or_default() {
            "slow" => {
                self.0.diary.note("slow work begins");
                request.stop.cancelled().await;
                diagnostics.error("Stopped", "The door has no handle.");
            }
            "abandoned" => {
                self.0.diary.note("abandoned work begins");
                request.stop.cancelled().await;
                self.0.diary.note(if request.client_gone.is_cancelled() {
                    "the client has disconnected"
                } else {
                    "the client is connected"
                });
            }
            "stubborn" => {
                self.0.diary.note("stubborn work begins");
                request.stop.cancelled().await;
                self.0.diary.note("stubborn work is canceled");
                self.0.release.notified().await;
                self.0.diary.note("stubborn work ends");
            }
            "panic" => panic!("the frame broke"),
            "panic half way" => {
                let reached = state.clone();
                request.partial_state.set_snapshot(move || {
                    let mut reached = reached.clone();
                    reached.set("id", Value::from("door-half"));
                    reached.set("tags", Value::Unknown);
                    (reached, b"half".to_vec())
                });
                panic!("the frame broke");
            }
            _ if state.is_null() => {}
            _ => state.set("id", Value::from("door-1")),
        }
        ApplyResponse { state, private: request.planned_private, diagnostics }
    }

    async fn import(&self, target: ImportTarget) -> ImportResponse {
        let id = match target {
            ImportTarget::Id(id) => id,
            ImportTarget::Identity(identity) => identity.get("id").as_str().unwrap_or_default().to_owned(),
        };
        self.0.never_ends(&Value::from(id.as_str())).await;
        let found = id != "nothing";
        let state = found.then(|| Value::map([("id", Value::from(id)), ("name", Value::from("found"))]));
        ImportResponse { state, private: b"imported".to_vec(), diagnostics: Diagnostics::default() }
    }

    fn identity_schema(&self) -> Vec<IdentityAttribute> {
        vec![
            IdentityAttribute { name: "id", is_required: true, description: "The door" },
            IdentityAttribute { name: "house", is_required: false, description: "The house" },
        ]
    }

    fn identity(&self, state: &Value) -> Option<Value> {
        identity(state.get("id").as_str()?)
    }

    fn check_move(&self, source: &MoveSource) -> Result<(), String> {
        match source.provider_address.ends_with("/acme") {
            true => Ok(()),
            false => Err(format!("{} makes no doors.", source.provider_address)),
        }
    }
}

fn identity(id: &str) -> Option<Value> {
    Some(Value::map([("id", Value::from(id)), ("house", Value::Null)]))
}

#[async_trait::async_trait]
impl ListResource for DoorList {
    fn type_name(&self) -> &'static str {
        "acme_door"
    }

    fn schema(&self) -> Schema {
        let name = Attribute::new("name", AttributeType::Plain(Type::String), "").optional();
        Schema { version: 0, description: "All doors.".to_string(), attributes: vec![name] }
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        if config.get("name").as_str() == Some("") {
            diagnostics.attribute_error(AttributePath::new("name"), "A door needs a name", "Any name.");
        }
        diagnostics
    }

    async fn list(&self, request: ListRequest) -> Diagnostics {
        let _dropped = self.0.diary.note_on_drop("the list ends");
        let name = request.config.get("name").as_str().unwrap_or_default().to_owned();
        self.0.never_ends(request.config.get("name")).await;
        let mut diagnostics = Diagnostics::default();
        match name.as_str() {
            "panic" => panic!("the lamp broke"),
            "error" => {
                diagnostics.error("No door found", "The house burned down.");
                return diagnostics;
            }
            _ => {}
        }
        for number in 1.. {
            let (id, mut diagnostics) = (format!("door-{number}"), Diagnostics::default());
            let is_locked = name == "locked" && number == 1;
            if is_locked {
                diagnostics.warning("A door is locked", "It was skipped.");
            }
            let state = Value::map([("id", Value::from(id.as_str())), ("name", Value::from("found"))]);
            let listed = Listed {
                identity: identity(&id).filter(|_| !is_locked),
                display_name: format!("Door {number}"),
                state: request.with_state.then_some(state),
                diagnostics,
            };
            if request.found.send(listed).await.is_err() {
                break;
            }
        }
        diagnostics
    }
}
