//! Request authorizers: what they call, and the rules for them.

use super::config::FaasAuthorizer;
use super::function_arn::{FunctionArn, parse_short};
use crate::objects::{Authorizer, Key};
use crate::plugin::{AttributePath, Input, Problem};
use crate::product::Scope;

/// Seconds for which API Gateway keeps an answer where nothing else is said.
const DEFAULT_TTL: i64 = 300;

/// The authorizer that an entry describes.
pub(super) fn spec(api: &Key, name: &str, entry: &FaasAuthorizer, scope: &Scope) -> Result<Authorizer, Problem> {
    let identity_sources = identity_sources(entry);
    let result_ttl_in_seconds = match (&entry.result_ttl_in_seconds, &identity_sources) {
        (Input::Known(Some(seconds)), _) => Input::Known(*seconds),
        (Input::Unknown, _) | (_, Input::Unknown) => Input::Unknown,
        (Input::Known(None), Input::Known(sources)) => Input::Known(default_ttl(sources)),
    };
    Ok(Authorizer {
        api: api.clone(),
        name: name.to_string(),
        authorizer_uri: uri(name, entry, scope)?,
        payload_format_version: entry.authorizer_payload_format_version.clone(),
        identity_sources,
        result_ttl_in_seconds,
        enable_simple_responses: entry.enable_simple_responses.clone(),
        credentials_arn: entry.authorizer_credentials_arn.clone(),
    })
}

/// Seconds for which answers are kept where nothing is said: without identity sources there is nothing to keep them under.
pub(super) fn default_ttl(sources: &[String]) -> i64 {
    if sources.is_empty() { 0 } else { DEFAULT_TTL }
}

fn identity_sources(entry: &FaasAuthorizer) -> Input<Vec<String>> {
    let Some(sources) = entry.identity_sources.known() else { return Input::Unknown };
    let known: Option<Vec<String>> = sources.iter().flatten().map(|source| source.known().cloned()).collect();
    known.map_or(Input::Unknown, Input::Known)
}

fn uri(name: &str, entry: &FaasAuthorizer, scope: &Scope) -> Result<Input<String>, Problem> {
    let function = match (&entry.authorizer_uri, &entry.authorizer_name) {
        (Input::Known(Some(uri)), _) => return Ok(Input::Known(uri.clone())),
        (Input::Unknown, _) | (_, Input::Unknown) => return Ok(Input::Unknown),
        (Input::Known(None), Input::Known(function)) => function,
    };
    let path = AttributePath::new("faas_authorizers").key(name).attribute("authorizer_name");
    if function.starts_with("arn:") {
        let arn =
            FunctionArn::parse(function).map_err(|problem| Problem::new(path, problem, "Give a function's ARN."))?;
        return Ok(Input::Known(arn.invoke_uri()));
    }
    let (function_name, qualifier) = parse_short(function)
        .map_err(|problem| Problem::new(path.clone(), problem, "Give a function's name or ARN."))?;
    let Some(account) = &scope.account else {
        return Err(Problem::new(
            path,
            format!(
                "The function {function:?} is named without its account, and the provider was told not to ask for it."
            ),
            "Give the function's ARN instead, or remove skip_requesting_account_id from the provider block.",
        ));
    };
    let arn = FunctionArn {
        partition: scope.partition.clone(),
        region: scope.region.clone(),
        account: account.clone(),
        name: function_name,
        qualifier,
    };
    Ok(Input::Known(arn.invoke_uri()))
}

/// Checks one entry of `faas_authorizers`.
pub(super) fn check(name: &str, entry: &FaasAuthorizer, path: &AttributePath, problems: &mut Vec<Problem>) {
    let length = name.chars().count();
    if !(1..=128).contains(&length) {
        let message = format!("The authorizer's name {name:?} has {length} characters; API Gateway takes 1 to 128.");
        problems.push(Problem::new(path.clone(), message, "Choose another key."));
    }
    check_function(entry, path, problems);
    check_credentials(entry, path, problems);
    check_identity(entry, path, problems);
    if entry.enable_simple_responses == Input::Known(true)
        && entry.authorizer_payload_format_version.known().is_some_and(|it| it == "1.0")
    {
        problems.push(Problem::new(
            path.attribute("enable_simple_responses"),
            "enable_simple_responses is true, but authorizer_payload_format_version is \"1.0\", which answers with \
             policies only.",
            "Set authorizer_payload_format_version to \"2.0\", or leave enable_simple_responses out.",
        ));
    }
}

fn check_function(entry: &FaasAuthorizer, path: &AttributePath, problems: &mut Vec<Problem>) {
    if let Input::Known(Some(uri)) = &entry.authorizer_uri {
        let path = path.attribute("authorizer_uri");
        if let Ok(function) = FunctionArn::parse(uri) {
            let message = format!("{uri:?} is the ARN of a function, not its invoke URI.");
            let hint = format!(
                "Use {:?}, or set authorizer_name to the ARN and leave authorizer_uri out.",
                function.invoke_uri()
            );
            problems.push(Problem::new(path, message, hint));
        } else if !uri.starts_with("arn:") || uri.split(':').nth(2) != Some("apigateway") || uri.len() > 2048 {
            let message = format!("{uri:?} is not an invoke URI.");
            let hint = "Use invoke_arn of the function, or leave authorizer_uri out.";
            problems.push(Problem::new(path, message, hint));
        }
    }
    let Input::Known(function) = &entry.authorizer_name else { return };
    let path = path.attribute("authorizer_name");
    let problem = match (function.as_str(), &entry.authorizer_uri) {
        ("", _) => Some("authorizer_name is empty.".to_string()),
        // With a URI the name is for people.
        (_, Input::Known(Some(_)) | Input::Unknown) => None,
        (arn, _) if arn.starts_with("arn:") => FunctionArn::parse(arn).err(),
        (name, _) => parse_short(name).err(),
    };
    if let Some(problem) = problem {
        problems.push(Problem::new(path, problem, "Give the name or the ARN of the authorizer function."));
    }
}

fn check_credentials(entry: &FaasAuthorizer, path: &AttributePath, problems: &mut Vec<Problem>) {
    let Input::Known(Some(arn)) = &entry.authorizer_credentials_arn else { return };
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let is_role = matches!(parts.as_slice(), ["arn", _, "iam", "", account, resource]
        if account.len() == 12 && account.bytes().all(|it| it.is_ascii_digit()) && resource.starts_with("role/"));
    if !is_role {
        problems.push(Problem::new(
            path.attribute("authorizer_credentials_arn"),
            format!("{arn:?} is not the ARN of a role."),
            "Give an ARN such as arn:aws:iam::123456789012:role/name, or leave it out to use a permission.",
        ));
    }
}

fn check_identity(entry: &FaasAuthorizer, path: &AttributePath, problems: &mut Vec<Problem>) {
    let sources = entry.identity_sources.known().map(|it| it.as_deref().unwrap_or_default());
    for (index, source) in sources.unwrap_or_default().iter().enumerate() {
        let Input::Known(source) = source else { continue };
        let prefixes = ["$request.header.", "$request.querystring.", "$context.", "$stageVariables."];
        let is_source = prefixes.iter().any(|prefix| {
            source.strip_prefix(prefix).is_some_and(|name| !name.is_empty() && !name.contains([' ', ',', '$']))
        });
        if !is_source {
            problems.push(Problem::new(
                path.attribute("identity_sources").index(index),
                format!("{source:?} is not an identity source."),
                format!("Write one per element, each {} and a name.", prefixes.join(" or ")),
            ));
        }
    }
    if let (Input::Known(Some(ttl @ 1..)), Some([])) = (&entry.result_ttl_in_seconds, sources) {
        problems.push(Problem::new(
            path.attribute("result_ttl_in_seconds"),
            format!("Answers would be kept for {ttl} seconds, but there are no identity_sources to keep them under."),
            "Set identity_sources, or set result_ttl_in_seconds to 0.",
        ));
    }
}
