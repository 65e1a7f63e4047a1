//! Request authorizers, and what they call.

use super::config::FaasAuthorizer;
use crate::model::Scope;
use crate::model::{Authorizer, Key};
use crate::model::{FunctionArn, parse_short};
use crate::plugin::{AttributePath, Input, Problem};

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

/// Seconds for which answers are kept where nothing is said: without identity sources there is nothing to keep them
/// under.
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
