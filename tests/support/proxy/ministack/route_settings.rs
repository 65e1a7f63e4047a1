//! Throttling and metrics of routes, as members of a stage. ministack replaces what an update sends, accepts settings
//! of routes that do not exist, and deletes the stage with the settings of a route.

use serde_json::{Value, json};

use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use super::{children, done, not_found, stage_path};

/// The member that AWS returns even if it was never set.
const METRICS: &str = "detailedMetricsEnabled";

/// On AWS, this call removes the settings of one route from the stage; ministack deletes the stage.
pub(super) async fn deleted(emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
    let (status, mut stage) = emulator.rest(message, "GET", &stage_path(call), None).await?;
    if status != 200 {
        return Ok(done(status, &stage));
    }
    let key = call.param("routeKey");
    let mut settings = stage["routeSettings"].take();
    if settings.as_object_mut().and_then(|settings| settings.remove(key)).is_none() {
        return Ok(not_found(call, &format!("Unable to find Route Settings by key {key} within the provided Stage")));
    }
    let rest = json!({"routeSettings": settings});
    let (status, body) = emulator.rest(message, "PATCH", &stage_path(call), Some(&rest)).await?;
    Ok(done(status, &body))
}

/// AWS merges the settings of routes that a call sends with those of the stage, and rejects the result if one of its
/// keys is not that of a route. Throttling below 0 and logs of executions are rejected too.
pub(super) async fn rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let sent = message.json();
    let of_routes = sent["routeSettings"].as_object().filter(|settings| !settings.is_empty());
    for settings in of_routes.into_iter().flatten().map(|(_, settings)| settings).chain([&sent["defaultRouteSettings"]])
    {
        let is_negative = |name: &str| settings[name].as_f64().is_some_and(|limit| limit < 0.0);
        let text = match () {
            () if ["throttlingRateLimit", "throttlingBurstLimit"].into_iter().any(is_negative) => {
                "Throttling limits must be greater than or equal to 0"
            }
            () if !settings["loggingLevel"].is_null() => "Execution logs are not supported on protocolType HTTP",
            () => continue,
        };
        return Ok(Some(Reply::error(call, 400, "BadRequestException", text)));
    }
    let Some(of_routes) = of_routes else { return Ok(None) };
    let stored = stored(emulator, call, message).await?;
    let routes = children(emulator, call, message, "routes").await?;
    let kept = stored["routeSettings"].as_object().into_iter().flatten().map(|(key, _)| key);
    let stale = kept.chain(of_routes.keys()).find(|key| !routes.iter().any(|route| route["routeKey"] == key.as_str()));
    let text = |key| format!("Unable to find Route by key {key} within the provided RouteSettings");
    Ok(stale.map(|key| not_found(call, &text(key))))
}

/// The call with the complete settings, because ministack replaces them: AWS merges the default settings, the settings
/// of routes, and the members of each.
pub(super) async fn completed(emulator: &Upstream, call: &Call, message: Message) -> Result<Message, String> {
    let mut body = message.json();
    let stored = stored(emulator, call, &message).await?;
    let mut all = stored["defaultRouteSettings"].clone();
    merge(&mut all, &body["defaultRouteSettings"]);
    body["defaultRouteSettings"] = all;
    let mut of_routes = stored["routeSettings"].as_object().cloned().unwrap_or_default();
    for (key, sent) in body["routeSettings"].as_object().into_iter().flatten() {
        merge(of_routes.entry(key.clone()).or_insert(Value::Null), sent);
    }
    body["routeSettings"] = of_routes.into();
    Ok(Message { body: body.to_string().into(), ..message })
}

fn merge(settings: &mut Value, sent: &Value) {
    if settings.is_null() {
        *settings = json!({METRICS: false});
    }
    for (name, value) in sent.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
}

/// The stage before an update.
async fn stored(emulator: &Upstream, call: &Call, message: &Message) -> Result<Value, String> {
    match call.action.as_str() {
        "UpdateStage" => Ok(emulator.rest(message, "GET", &stage_path(call), None).await?.1),
        _ => Ok(json!({})),
    }
}
