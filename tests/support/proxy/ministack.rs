//! Where ministack differs from AWS in API Gateway, and what the proxy makes of it. Each repair says what AWS does.

mod logs;
mod route53;

use std::sync::Mutex;

use serde_json::{Value, json};

use super::Before;
use super::call::{Call, encode};
use super::message::{Message, Reply};
use super::upstream::Upstream;

pub(super) async fn before(emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
    if call.service == "route53" {
        return route53::before(emulator, call, message).await;
    }
    if call.service != "apigateway" {
        return Ok(Before::Forward(message));
    }
    let answer = match call.action.as_str() {
        "DeleteAccessLogSettings" => Some(delete_access_log_settings(emulator, call, &message).await?),
        "DeleteRouteSettings" => Some(delete_route_settings(emulator, call, &message).await?),
        "CreateRoute" | "UpdateRoute" => route_key_taken(emulator, call, &message).await?,
        "CreateStage" => stage_exists(emulator, call, &message).await?,
        "DeleteRoute" => absent(emulator, call, &message, "Route").await?,
        "DeleteIntegration" => match absent(emulator, call, &message, "Integration").await? {
            None => integration_in_use(emulator, call, &message).await?,
            absent => absent,
        },
        "DeleteAuthorizer" => match absent(emulator, call, &message, "Authorizer").await? {
            None => authorizer_in_use(emulator, call, &message).await?,
            absent => absent,
        },
        "DeleteStage" => match absent(emulator, call, &message, "Stage").await? {
            None => mapped(emulator, call, &message).await?,
            absent => absent,
        },
        "DeleteApi" => mapped(emulator, call, &message).await?,
        _ => None,
    };
    Ok(match answer {
        Some(reply) => Before::Answer(reply),
        None if call.action == "UpdateStage" => Before::Forward(keep_access_logs(message)),
        None => Before::Forward(message),
    })
}

/// What ministack does not know and a test may set.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    deployment: Mutex<Option<String>>,
    keys: logs::Keys,
}

impl Repairs {
    pub(super) fn set_deployment(&self, message: &str) {
        *self.deployment.lock().expect("no one panics while holding it") = Some(message.to_owned());
    }

    pub(super) async fn after(
        &self,
        emulator: &Upstream,
        call: &Call,
        message: &Message,
        reply: Reply,
    ) -> Result<Reply, String> {
        if call.service == "logs" {
            return self.keys.after(call, reply);
        }
        if call.service != "apigateway" || !reply.is_success() {
            return Ok(reply);
        }
        let shows_tags = ["GetApi", "GetApis", "GetStage", "GetStages"].contains(&call.action.as_str());
        let reply = if shows_tags { tags_of_now(emulator, call, message, reply).await? } else { reply };
        match call.action.as_str() {
            "GetStage" => self.with_deployment(reply),
            "GetApis" | "GetRoutes" | "GetIntegrations" | "GetAuthorizers" | "GetStages" | "GetDomainNames"
            | "GetApiMappings" => one_page(call, reply),
            _ => Ok(reply),
        }
    }

    /// AWS tells how the last deployment went; ministack deploys nothing.
    fn with_deployment(&self, reply: Reply) -> Result<Reply, String> {
        let Some(text) = self.deployment.lock().expect("no one panics while holding it").clone() else {
            return Ok(reply);
        };
        let mut body = body_of(&reply)?;
        body["lastDeploymentStatusMessage"] = text.into();
        Ok(reply.with_body(body.to_string()))
    }
}

/// AWS answers lists in pages, of few items where the caller asks for no number; ministack answers all at once.
fn one_page(call: &Call, reply: Reply) -> Result<Reply, String> {
    let mut body = body_of(&reply)?;
    let number = |name: &str, absent: usize| match call.param(name) {
        "" => Ok(absent),
        text => text.parse::<usize>().map_err(|error| format!("{name} is {text:?}: {error}")),
    };
    let (from, size) = (number("nextToken", 0)?, number("maxResults", FEW_ITEMS)?);
    let Some(items) = body["items"].as_array() else { return Ok(reply) };
    let next = from + size.clamp(1, MOST_ITEMS);
    let page: Vec<Value> = items.iter().take(next).skip(from).cloned().collect();
    if next < items.len() {
        body["nextToken"] = next.to_string().into();
    }
    body["items"] = page.into();
    Ok(reply.with_body(body.to_string()))
}

/// Items of a page where the caller asks for no number.
const FEW_ITEMS: usize = 25;

/// The most items of a page.
const MOST_ITEMS: usize = 100;

fn body_of(reply: &Reply) -> Result<Value, String> {
    serde_json::from_slice(&reply.body).map_err(|error| format!("not JSON: {error}"))
}

/// On AWS this call takes the access logs off the stage; ministack deletes the stage.
async fn delete_access_log_settings(emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
    let cleared = json!({"accessLogSettings": {}});
    let (status, body) = emulator.rest(message, "PATCH", &stage_path(call), Some(&cleared)).await?;
    Ok(done(status, &body))
}

/// On AWS this call takes the settings of one route off the stage; ministack deletes the stage.
async fn delete_route_settings(emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
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

/// AWS keeps the access logs of a stage when an update sends empty settings; ministack clears them.
fn keep_access_logs(message: Message) -> Message {
    let mut body = message.json();
    if body["accessLogSettings"] == json!({}) {
        body.as_object_mut().expect("it has a member").remove("accessLogSettings");
        return Message { body: body.to_string().into(), ..message };
    }
    message
}

/// AWS refuses a second route with one key; ministack takes it and serves the first.
async fn route_key_taken(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let key = call.param("routeKey");
    let routes = children(emulator, call, message, "routes").await?;
    let taken = routes.iter().any(|route| route["routeKey"] == key && route["routeId"] != call.param("routeId"));
    let text = format!("Route with key {key} already exists for this API");
    Ok((!key.is_empty() && taken).then(|| conflict(call, &text)))
}

/// AWS refuses a second stage of one name; ministack replaces the first.
async fn stage_exists(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let stages = children(emulator, call, message, "stages").await?;
    let exists = stages.iter().any(|stage| stage["stageName"] == call.param("stageName"));
    Ok(exists.then(|| conflict(call, "Stage already exists")))
}

/// AWS answers NotFoundException to the deletion of a child that is not there; ministack answers success.
async fn absent(emulator: &Upstream, call: &Call, message: &Message, kind: &str) -> Result<Option<Reply>, String> {
    let (status, _) = emulator.rest(message, "GET", message.path(), None).await?;
    Ok((status == 404).then(|| not_found(call, &format!("Invalid {kind} identifier specified"))))
}

/// AWS keeps an integration that a route targets; ministack deletes it.
async fn integration_in_use(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let id = call.param("integrationId");
    let target = format!("integrations/{id}");
    let users = users(emulator, call, message, |route| route["target"] == target.as_str()).await?;
    let text = format!(
        "Cannot delete Integration '{id}' because it is referenced by the following Routes: {}",
        users.join(", ")
    );
    Ok((!users.is_empty()).then(|| conflict(call, &text)))
}

/// AWS keeps an authorizer that a route uses; ministack deletes it.
async fn authorizer_in_use(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let id = call.param("authorizerId");
    let used = |route: &Value| route["authorizerId"] == id && route["authorizationType"] != "NONE";
    let users = users(emulator, call, message, used).await?;
    let text = format!(
        "Cannot delete Authorizer '{id}' because it is referenced by the following Routes: {}",
        users.join(", ")
    );
    Ok((!users.is_empty()).then(|| conflict(call, &text)))
}

/// AWS keeps a stage, and an API, that a custom domain maps to; ministack deletes it and leaves the mapping.
async fn mapped(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let (api, stage) = (call.param("apiId"), call.param("stageName"));
    for domain in list(emulator, message, "/v2/domainnames").await? {
        let name = encode(domain["domainName"].as_str().unwrap_or_default());
        let mappings = list(emulator, message, &format!("/v2/domainnames/{name}/apimappings")).await?;
        if mappings.iter().any(|mapping| mapping["apiId"] == api && (stage.is_empty() || mapping["stage"] == stage)) {
            let text = "Please remove all base path mappings related to the stage in your domains";
            return Ok(Some(Reply::error(call, 400, "BadRequestException", text)));
        }
    }
    Ok(None)
}

/// AWS shows the tags of now; ministack shows those of the creation, except in GetTags.
async fn tags_of_now(emulator: &Upstream, call: &Call, message: &Message, reply: Reply) -> Result<Reply, String> {
    let mut body = body_of(&reply)?;
    let shown: Vec<&mut Value> = match body.get_mut("items") {
        Some(items) => items.as_array_mut().map(|items| items.iter_mut().collect()).unwrap_or_default(),
        None => vec![&mut body],
    };
    for item in shown {
        let api = item["apiId"].as_str().unwrap_or(call.param("apiId"));
        let stage = item["stageName"].as_str().map(|name| format!("/stages/{name}")).unwrap_or_default();
        let arn = format!("arn:aws:apigateway:{}::/apis/{api}{stage}", call.region);
        let (status, mut now) = emulator.rest(message, "GET", &format!("/v2/tags/{}", encode(&arn)), None).await?;
        if status == 200 {
            item["tags"] = now["tags"].take();
        }
    }
    Ok(reply.with_body(body.to_string()))
}

/// The keys of the routes for which this holds.
async fn users(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
    uses: impl Fn(&Value) -> bool,
) -> Result<Vec<String>, String> {
    let routes = children(emulator, call, message, "routes").await?;
    let key = |route: &Value| route["routeKey"].as_str().unwrap_or_default().to_owned();
    Ok(routes.iter().filter(|route| uses(route)).map(key).collect())
}

async fn children(emulator: &Upstream, call: &Call, message: &Message, kind: &str) -> Result<Vec<Value>, String> {
    list(emulator, message, &format!("/v2/apis/{}/{kind}", call.param("apiId"))).await
}

/// The items of a collection, none if its parent does not exist: the emulator reports that itself.
async fn list(emulator: &Upstream, message: &Message, path: &str) -> Result<Vec<Value>, String> {
    let (_, mut body) = emulator.rest(message, "GET", path, None).await?;
    Ok(match body["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    })
}

fn stage_path(call: &Call) -> String {
    format!("/v2/apis/{}/stages/{}", call.param("apiId"), encode(call.param("stageName")))
}

/// 204, or the error that the emulator gave.
fn done(status: u16, body: &Value) -> Reply {
    if (200..300).contains(&status) { Reply::no_content() } else { Reply::json(status, body) }
}

fn conflict(call: &Call, message: &str) -> Reply {
    Reply::error(call, 409, "ConflictException", message)
}

fn not_found(call: &Call, message: &str) -> Reply {
    Reply::error(call, 404, "NotFoundException", message)
}
