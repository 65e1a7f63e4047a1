//! The differences between ministack and AWS in authorizers, and in the authorization of routes.

use serde_json::Value;

use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use crate::support::issuer::{discovery_url, issuers};

/// The members of a request authorizer. AWS rejects them, whatever their values, for a JWT authorizer.
const OF_REQUEST: [&str; 5] = [
    "authorizerUri",
    "authorizerPayloadFormatVersion",
    "authorizerResultTtlInSeconds",
    "enableSimpleResponses",
    "authorizerCredentialsArn",
];

/// The answer to an authorizer that AWS does not accept.
pub(super) async fn rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    match jwt_rejected(emulator, call, message).await? {
        None => name_rejected(emulator, call, message).await,
        rejected => Ok(rejected),
    }
}

/// AWS checks the members of each type, and reads the discovery document of the issuer; ministack stores everything. It
/// has no answer for a change of the type, which the provider must never send.
async fn jwt_rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let body = message.json();
    let mut stored = super::children(emulator, call, message, "authorizers").await?.into_iter();
    let stored = stored.find(|it| it["authorizerId"] == call.param("authorizerId")).unwrap_or_default();
    let given = |name: &str| body.get(name).filter(|it| !it.is_null());
    let kind = given("authorizerType").or(stored.get("authorizerType")).and_then(Value::as_str).unwrap_or_default();
    if stored["authorizerType"].as_str().is_some_and(|stored| stored != kind) {
        return Err(format!("UpdateAuthorizer changes the type of {} to {kind}", stored["name"]));
    }
    let problem = match kind {
        "JWT" => jwt_problem(&body, &stored),
        _ if given("jwtConfiguration").is_some() => Some("jwtConfiguration requires authorizer type JWT".to_owned()),
        _ => None,
    };
    Ok(problem.map(|text| bad_request(call, &text)))
}

fn jwt_problem(body: &Value, stored: &Value) -> Option<String> {
    if let Some(member) = OF_REQUEST.iter().find(|it| body.get(**it).is_some_and(|it| !it.is_null())) {
        return Some(format!("{member} is not supported for authorizer type JWT"));
    }
    let now = |name: &str| body.get(name).filter(|it| !it.is_null()).unwrap_or(&stored[name]).clone();
    if now("identitySource").as_array().map(Vec::len) != Some(1) {
        return Some("JWT authorizers require exactly one identity source".to_owned());
    }
    let configuration = now("jwtConfiguration");
    if configuration["audience"].as_array().is_none_or(|audience| !(1..=50).contains(&audience.len())) {
        return Some("JWT authorizers require 1 to 50 audiences".to_owned());
    }
    let issuer = configuration["issuer"].as_str().unwrap_or_default();
    let url = discovery_url(issuer);
    // Of the issuers that are not on loopback, those in examples and in the acceptance run are reachable.
    let is_public = issuer.starts_with("https://cognito-idp.") || issuer == "https://accounts.google.com";
    (!is_public && issuers().document(&url).is_none()).then(|| {
        format!(
            "Caught exception when connecting to {url} for issuer {issuer}. Please try again later. Error: Invalid issuer: \
             {issuer}. Issuer must have a valid discovery endpoint ended with '/.well-known/openid-configuration'"
        )
    })
}

/// AWS accepts only an authorization type that fits the authorizer, and scopes only with JWT; ministack accepts all.
pub(super) async fn authorization_rejected(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let body = message.json();
    let mut routes = super::children(emulator, call, message, "routes").await?.into_iter();
    let stored = routes.find(|it| it["routeId"] == call.param("routeId")).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let given = |name: &str| body.get(name).filter(|it| !it.is_null());
    let now = |name: &str| given(name).or(stored.get(name)).cloned().unwrap_or_default();
    if given("authorizerId").is_some_and(|id| id != "") && given("authorizationType").is_none() {
        return Ok(Some(bad_request(call, "Unable to update route. Authorizer type is invalid or null.")));
    }
    let (kind, id) = (text(&now("authorizationType")), text(&now("authorizerId")));
    let authorizers = super::children(emulator, call, message, "authorizers").await?;
    let authorizer = authorizers.iter().find(|it| it["authorizerId"] == id.as_str());
    let is_jwt = authorizer.map(|it| it["authorizerType"] == "JWT");
    let problem = match (kind.as_str(), is_jwt) {
        ("JWT", None | Some(false)) => {
            "Invalid authorizer ID specified. Setting the authorization type to JWT requires a valid JWT authorizer."
        }
        ("CUSTOM", None | Some(true)) => {
            "Invalid authorizer ID specified. Setting the authorization type to CUSTOM or COGNITO_USER_POOLS requires a \
             valid authorizer."
        }
        ("JWT", _) => return Ok(None),
        _ if now("authorizationScopes").as_array().is_some_and(|scopes| !scopes.is_empty()) => {
            "Invalid Route authorization type specified. Authorization Scopes are only valid for COGNITO_USER_POOLS and \
             JWT authorization types"
        }
        _ => return Ok(None),
    };
    Ok(Some(bad_request(call, problem)))
}

/// AWS rejects a name of more than 128 characters and that of another authorizer; ministack accepts both.
async fn name_rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let body = message.json();
    let Some(name) = body["name"].as_str() else { return Ok(None) };
    let rejected = |text: &str| Some(bad_request(call, text));
    if name.chars().count() > 128 {
        return Ok(rejected("Authorizer name must be at most 128 characters"));
    }
    let others = super::children(emulator, call, message, "authorizers").await?;
    let is_taken = |it: &Value| it["name"] == name && it["authorizerId"] != call.param("authorizerId");
    let text = format!("Authorizer name must be unique. Authorizer {name} already exists in this RestApi.");
    Ok(if others.iter().any(is_taken) { rejected(&text) } else { None })
}

/// AWS does not delete an authorizer that a route uses; ministack does.
pub(super) async fn in_use(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let id = call.param("authorizerId");
    let used = |route: &Value| route["authorizerId"] == id && route["authorizationType"] != "NONE";
    let users = super::users(emulator, call, message, used).await?;
    let text = format!(
        "Cannot delete Authorizer '{id}' because it is referenced by the following Routes: {}",
        users.join(", ")
    );
    Ok((!users.is_empty()).then(|| super::conflict(call, &text)))
}

fn bad_request(call: &Call, text: &str) -> Reply {
    Reply::error(call, 400, "BadRequestException", text)
}
