//! The differences between ministack and AWS in API Gateway, which the proxy repairs. Each repair states the behavior
//! of AWS.

mod acm;
mod authorizers;
pub(in super::super) mod domains;
mod lambda;
mod logs;
mod missing_api;
mod route53;
mod route_settings;
mod stages;

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::Before;
use super::call::{Call, encode};
use super::message::{Message, Reply};
use super::upstream::Upstream;

/// State for behavior that ministack lacks.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    keys: logs::Keys,
    protection: logs::Protection,
    pub(super) domains: domains::Domains,
    /// The quota of routes per API, if it differs from the default.
    route_quota: OnceLock<usize>,
}

/// The default quotas of routes and of authorizers per API, and the fixed quota of integrations.
const ROUTES: usize = 300;
const AUTHORIZERS: usize = 10;
const INTEGRATIONS: usize = 300;

impl Repairs {
    pub(super) async fn before(&self, emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
        if call.service == "route53" {
            return route53::before(emulator, call, message).await;
        }
        if call.service == "logs" {
            let answer = logs::tags_rejected(call).or_else(|| self.protection.answer(call, &message));
            let answer = match answer {
                None => logs::third_filter(emulator, call, &message).await?,
                answer => answer,
            };
            return Ok(answer.map_or(Before::Forward(message), Before::Answer));
        }
        if call.action == "AddPermission" {
            let full = lambda::policy_full(emulator, call, &message).await?;
            return Ok(full.map_or(Before::Forward(message), Before::Answer));
        }
        if call.service == "acm" {
            return acm::before(emulator, call, message).await;
        }
        if call.service != "apigateway" {
            return Ok(Before::Forward(message));
        }
        if let Some(reply) = missing_api::rejected(emulator, call, &message).await? {
            return Ok(Before::Answer(reply));
        }
        if ["CreateDomainName", "UpdateDomainName", "DeleteDomainName"].contains(&call.action.as_str()) {
            return self.domains.before(emulator, call, message).await;
        }
        let answer = match call.action.as_str() {
            "DeleteAccessLogSettings" => Some(delete_access_log_settings(emulator, call, &message).await?),
            "DeleteRouteSettings" => Some(route_settings::deleted(emulator, call, &message).await?),
            "CreateApi" | "UpdateApi" => origin_rejected(call, &message),
            "CreateRoute" | "UpdateRoute" if path_rejected(call).is_some() => path_rejected(call),
            "CreateRoute" => match route_rejected(emulator, call, &message).await? {
                None => quota_reached(emulator, call, &message, "routes", self.route_quota()).await?,
                rejected => rejected,
            },
            "UpdateRoute" => route_rejected(emulator, call, &message).await?,
            "CreateIntegration" => quota_reached(emulator, call, &message, "integrations", INTEGRATIONS).await?,
            "CreateAuthorizer" => match authorizers::rejected(emulator, call, &message).await? {
                None => quota_reached(emulator, call, &message, "authorizers", AUTHORIZERS).await?,
                rejected => rejected,
            },
            "UpdateAuthorizer" => authorizers::rejected(emulator, call, &message).await?,
            "CreateStage" | "UpdateStage" => match stages::rejected(emulator, call, &message).await? {
                None => route_settings::rejected(emulator, call, &message).await?,
                rejected => rejected,
            },
            "DeleteRoute" => absent(emulator, call, &message, "Route").await?,
            "DeleteIntegration" => match absent(emulator, call, &message, "Integration").await? {
                None => integration_in_use(emulator, call, &message).await?,
                absent => absent,
            },
            "DeleteAuthorizer" => match absent(emulator, call, &message, "Authorizer").await? {
                None => authorizers::in_use(emulator, call, &message).await?,
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
            None if call.action == "CreateStage" => {
                Before::Forward(route_settings::completed(emulator, call, message).await?)
            }
            None if call.action == "UpdateStage" => {
                let message = stages::merged(emulator, call, keep_access_logs(message)).await?;
                Before::Forward(route_settings::completed(emulator, call, message).await?)
            }
            None if call.action == "UpdateApi" => Before::Forward(keep_cors(emulator, call, message).await?),
            None => Before::Forward(message),
        })
    }

    fn route_quota(&self) -> usize {
        *self.route_quota.get().unwrap_or(&ROUTES)
    }

    pub(super) fn set_route_quota(&self, most: usize) {
        self.route_quota.set(most).expect("a test sets it once");
    }

    pub(super) async fn after(
        &self,
        emulator: &Upstream,
        call: &Call,
        message: &Message,
        reply: Reply,
    ) -> Result<Reply, String> {
        if call.service == "logs" {
            return self.protection.after(call, self.keys.after(call, reply)?);
        }
        if call.service != "apigateway" || !reply.is_success() {
            return Ok(reply);
        }
        let shows_tags = ["GetApi", "GetApis", "GetStage", "GetStages"].contains(&call.action.as_str());
        let reply = if shows_tags { current_tags(emulator, call, message, reply).await? } else { reply };
        let shows_domains = ["CreateDomainName", "UpdateDomainName", "GetDomainName", "GetDomainNames"];
        let reply = match shows_domains.contains(&call.action.as_str()) {
            true => self.domains.after(call, reply)?,
            false => reply,
        };
        match call.action.as_str() {
            "GetApis" | "GetRoutes" | "GetIntegrations" | "GetAuthorizers" | "GetStages" | "GetDeployments"
            | "GetDomainNames" | "GetApiMappings" => one_page(call, reply),
            _ => Ok(reply),
        }
    }
}

/// AWS returns lists in pages, with few items if the caller sets no page size; ministack returns everything at once.
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

/// The page size if the caller sets none.
const FEW_ITEMS: usize = 25;

/// The maximum page size.
const MOST_ITEMS: usize = 100;

fn body_of(reply: &Reply) -> Result<Value, String> {
    serde_json::from_slice(&reply.body).map_err(|error| format!("not JSON: {error}"))
}

/// On AWS, this call removes the access log settings from the stage; ministack deletes the stage.
async fn delete_access_log_settings(emulator: &Upstream, call: &Call, message: &Message) -> Result<Reply, String> {
    let cleared = json!({"accessLogSettings": {}});
    let (status, body) = emulator.rest(message, "PATCH", &stage_path(call), Some(&cleared)).await?;
    Ok(done(status, &body))
}

/// AWS does not change the access logs of a stage if an update sends empty settings; ministack disables them.
fn keep_access_logs(message: Message) -> Message {
    let mut body = message.json();
    if body["accessLogSettings"] == json!({}) {
        body.as_object_mut().expect("it has a member").remove("accessLogSettings");
        return Message { body: body.to_string().into(), ..message };
    }
    message
}

/// AWS accepts only `*` and origins with the scheme http or https; ministack accepts any text.
fn origin_rejected(call: &Call, message: &Message) -> Option<Reply> {
    let body = message.json();
    let mut origins = body["corsConfiguration"]["allowOrigins"].as_array()?.iter().filter_map(Value::as_str);
    let is_valid = |origin: &str| origin == "*" || origin.starts_with("http://") || origin.starts_with("https://");
    let origin = origins.find(|origin| !is_valid(origin))?;
    Some(Reply::error(call, 400, "BadRequestException", &format!("Invalid format for origin {origin}")))
}

/// AWS rejects objects above a quota, with the default quotas of an account; ministack has none.
async fn quota_reached(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
    kind: &str,
    most: usize,
) -> Result<Option<Reply>, String> {
    let count = children(emulator, call, message, kind).await?.len();
    let text = format!("Maximum number of {kind} for this API has been reached");
    Ok((count >= most).then(|| Reply::error(call, 429, "ConflictException", &text)))
}

/// AWS keeps the attributes that an update omits. Whether this includes those inside the CORS configuration is not
/// documented, so the provider must not rely on either; ministack replaces the whole configuration.
async fn keep_cors(emulator: &Upstream, call: &Call, message: Message) -> Result<Message, String> {
    let mut body = message.json();
    let Some(sent) = body.get_mut("corsConfiguration").and_then(Value::as_object_mut) else { return Ok(message) };
    let path = format!("/v2/apis/{}", call.param("apiId"));
    let (_, mut api) = emulator.rest(&message, "GET", &path, None).await?;
    if let Value::Object(stored) = api["corsConfiguration"].take() {
        for (name, value) in stored {
            sent.entry(name).or_insert(value);
        }
    }
    Ok(Message { body: body.to_string().into(), ..message })
}

/// AWS checks each part of the path of a route; ministack accepts any path.
fn path_rejected(call: &Call) -> Option<Reply> {
    let path = call.param("routeKey").split_once(" /").map(|(_, path)| path).filter(|path| !path.is_empty())?;
    let is_allowed =
        |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || "._-:".contains(it));
    let is_valid = |part: &str| match part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        Some(variable) => is_allowed(variable.strip_suffix('+').unwrap_or(variable)),
        None => is_allowed(part),
    };
    let text = "One or more path parts appear to be invalid. Parts are validated against this regular expression: \
                ^({[\\w.:-]+\\+?}|[a-zA-Z0-9.:_-]+)$";
    (!path.split('/').all(is_valid)).then(|| Reply::error(call, 400, "BadRequestException", text))
}

async fn route_rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    match route_key_taken(emulator, call, message).await? {
        None => authorizers::authorization_rejected(emulator, call, message).await,
        taken => Ok(taken),
    }
}

/// AWS rejects a second route with the same key, and one that names a variable otherwise than another route through its
/// position; ministack accepts both.
async fn route_key_taken(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let key = call.param("routeKey");
    let routes = children(emulator, call, message, "routes").await?;
    let taken = routes.iter().any(|route| route["routeKey"] == key && route["routeId"] != call.param("routeId"));
    let text = format!("Route with key {key} already exists for this API");
    if !key.is_empty() && taken {
        return Ok(Some(conflict(call, &text)));
    }
    let others = routes.iter().filter(|route| route["routeId"] != call.param("routeId"));
    let others = others.filter_map(|route| route["routeKey"].as_str()).flat_map(variables);
    let named = variables(key);
    let collides = |(place, name): &(String, &str)| named.iter().any(|(at, own)| at == place && own != name);
    let text =
        |(place, name)| format!("A sibling ({place} {name}) has a conflicting variable on the same hierarchical level");
    Ok(others.into_iter().find(collides).map(|it| conflict(call, &text(it))))
}

/// The names of the variables in the path of a route, each with its position: AWS stores paths in a tree.
fn variables(route_key: &str) -> Vec<(String, &str)> {
    let path = route_key.split_once(" /").map_or("", |(_, path)| path);
    let mut place = String::new();
    let mut found = Vec::new();
    for part in path.split('/') {
        let name = part.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let plain = match name {
            Some(name) if name.ends_with('+') => "{+}",
            Some(_) => "{}",
            None => part,
        };
        place += &format!("/{plain}");
        found.extend(name.map(|name| (place.clone(), name)));
    }
    found
}

/// AWS returns NotFoundException for the deletion of a missing child; ministack reports success.
async fn absent(emulator: &Upstream, call: &Call, message: &Message, kind: &str) -> Result<Option<Reply>, String> {
    let (status, _) = emulator.rest(message, "GET", message.path(), None).await?;
    Ok((status == 404).then(|| not_found(call, &format!("Invalid {kind} identifier specified"))))
}

/// AWS does not delete an integration that a route targets; ministack does.
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

/// AWS does not delete a stage or an API that a custom domain maps to; ministack deletes it and keeps the mapping.
async fn mapped(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let (api, stage) = (call.param("apiId"), call.param("stageName"));
    for domain in list(emulator, message, "/v2/domainnames").await? {
        let name = encode(domain["domainName"].as_str().unwrap_or_default());
        let mappings = list(emulator, message, &format!("/v2/domainnames/{name}/apimappings")).await?;
        if mappings.iter().any(|mapping| mapping["apiId"] == api && (stage.is_empty() || mapping["stage"] == stage)) {
            let text = match stage {
                "" => format!(
                    "Deleting API {api} failed. Please remove all API mappings for the API from your custom domain names."
                ),
                _ => format!(
                    "Deleting stage {stage} failed. Please remove all base path mappings related to the stage in your domains: {name}"
                ),
            };
            return Ok(Some(Reply::error(call, 400, "BadRequestException", &text)));
        }
    }
    Ok(None)
}

/// AWS returns the current tags; ministack returns those at creation, except in GetTags.
async fn current_tags(emulator: &Upstream, call: &Call, message: &Message, reply: Reply) -> Result<Reply, String> {
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

/// The keys of the routes for which `uses` holds.
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

/// The items of a collection. Empty if its parent does not exist, which the emulator itself reports.
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

/// 204, or the emulator's error.
fn done(status: u16, body: &Value) -> Reply {
    if (200..300).contains(&status) { Reply::no_content() } else { Reply::json(status, body) }
}

fn conflict(call: &Call, message: &str) -> Reply {
    Reply::error(call, 409, "ConflictException", message)
}

fn not_found(call: &Call, message: &str) -> Reply {
    Reply::error(call, 404, "NotFoundException", message)
}
