//! Names, variables and descriptions of stages. ministack accepts any of them, replaces the variables in an update, and
//! replaces a stage by a second one with its name. Apart from the conflict, no texts of AWS are known.

use serde_json::{Map, Value};

use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use super::{children, conflict, quota_reached, stage_path};

/// The default quotas of stages per API, and of variables per stage.
const STAGES: usize = 10;
const VARIABLES: usize = 100;

/// AWS checks names, values and descriptions (API reference of CreateStage), and rejects a second stage with a name.
pub(super) async fn rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let body = message.json();
    if let Some(text) = invalid(call, &body) {
        return Ok(Some(Reply::error(call, 400, "BadRequestException", &text)));
    }
    if call.action == "UpdateStage" {
        let count = variables(emulator, call, message).await?.len();
        let text = format!("A stage has at most {VARIABLES} variables");
        return Ok((count > VARIABLES).then(|| Reply::error(call, 400, "BadRequestException", &text)));
    }
    let stages = children(emulator, call, message, "stages").await?;
    match stages.iter().any(|stage| stage["stageName"] == call.param("stageName")) {
        true => Ok(Some(conflict(call, "Stage already exists"))),
        false => quota_reached(emulator, call, message, "stages", STAGES).await,
    }
}

/// What AWS rejects in a call, whatever exists.
fn invalid(call: &Call, body: &Value) -> Option<String> {
    let consists_of = |text: &str, others: &str, most: usize| {
        (1..=most).contains(&text.chars().count())
            && text.chars().all(|it| it.is_ascii_alphanumeric() || others.contains(it))
    };
    let name = call.param("stageName");
    if name != "$default" && !consists_of(name, "_-", 128) {
        return Some(format!("Invalid stage name: {name}"));
    }
    if body["description"].as_str().is_some_and(|text| text.chars().count() > 1024) {
        return Some("A description has at most 1024 characters".to_string());
    }
    let variables = body["stageVariables"].as_object().into_iter().flatten();
    let is_removal = |value: &str| value.is_empty() && call.action == "UpdateStage";
    let mut wrong = variables.filter(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        !consists_of(name, "_", 64) || !(is_removal(value) || consists_of(value, "-._~:/?#&=,", 512))
    });
    wrong.next().map(|(name, _)| format!("Invalid stage variable: {name}"))
}

/// The call with all variables that result from it, because ministack replaces them: AWS merges them, and removes those
/// with an empty value. It ignores an empty description.
pub(super) async fn merged(emulator: &Upstream, call: &Call, message: Message) -> Result<Message, String> {
    let mut body = message.json();
    if body["description"] == "" {
        body.as_object_mut().expect("it has a member").remove("description");
    }
    if body.get("stageVariables").is_some() {
        body["stageVariables"] = variables(emulator, call, &message).await?.into();
    }
    Ok(Message { body: body.to_string().into(), ..message })
}

/// The variables after an update.
async fn variables(emulator: &Upstream, call: &Call, message: &Message) -> Result<Map<String, Value>, String> {
    let (_, mut stage) = emulator.rest(message, "GET", &stage_path(call), None).await?;
    let mut all = match stage["stageVariables"].take() {
        Value::Object(variables) => variables,
        _ => Map::new(),
    };
    all.extend(message.json()["stageVariables"].as_object().cloned().unwrap_or_default());
    all.retain(|_, value| *value != "");
    Ok(all)
}
