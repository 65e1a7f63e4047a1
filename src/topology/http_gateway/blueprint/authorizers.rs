//! Request authorizers, what they call, and the permissions to call it.

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, Caller, FunctionArn, Key, Scope, Spec, parse_short};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::FaasAuthorizer;

/// Seconds for which API Gateway keeps an answer where nothing else is said.
const DEFAULT_TTL: i64 = 300;

impl<'a> Draft<'a> {
    pub(super) fn authorizers(&mut self, entries: Vec<(&'a str, &'a FaasAuthorizer)>) -> Option<()> {
        let mut decided = Some(());
        for (name, entry) in entries {
            let spec = match spec(&self.api, name, entry, self.scope) {
                Ok(spec) => spec,
                Err(problem) => {
                    self.problems.push(problem);
                    continue;
                }
            };
            let key = keys::authorizer(&spec);
            self.add(key.clone(), Spec::Authorizer(spec.clone()), vec![]);
            match self.authorizer_permission(&key, &spec, entry) {
                Some(permission) => {
                    self.after_routes.insert(name, (key, permission));
                }
                None => decided = None,
            }
        }
        decided
    }

    /// The permission of an authorizer, where it needs one and its function is ours.
    fn authorizer_permission(&mut self, key: &Key, spec: &Authorizer, entry: &FaasAuthorizer) -> Option<Option<Key>> {
        if spec.credentials_arn.known()?.is_some() {
            return Some(None);
        }
        let uri = spec.authorizer_uri.known()?;
        let path = AttributePath::new("faas_authorizers").key(&spec.name);
        let path = match entry.authorizer_uri {
            Input::Known(None) => path.attribute("authorizer_name"),
            _ => path.attribute("authorizer_uri"),
        };
        let Some(function) = FunctionArn::parse_invoke_uri(uri) else {
            self.warnings.push(Problem::new(
                path,
                format!("{uri:?} names no function whose policy could be seen to, so no permission is made."),
                "Let API Gateway call it by authorizer_credentials_arn, or add the permission to the function yourself.",
            ));
            return Some(None);
        };
        self.check_partition(&function, &path);
        if !self.is_ours(&function) {
            self.warn_of_foreign_function(&function, path, Some(key));
            return Some(None);
        }
        let permission = keys::authorizer_permission(&spec.name, &function, key);
        let statement = self.permission(&function, Caller::Authorizer(key.clone()));
        self.add(permission.clone(), Spec::LambdaPermission(statement), vec![]);
        Some(Some(permission))
    }
}

/// The authorizer that an entry describes.
fn spec(api: &Key, name: &str, entry: &FaasAuthorizer, scope: &Scope) -> Result<Authorizer, Problem> {
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
pub(in crate::topology::http_gateway) fn default_ttl(sources: &[String]) -> i64 {
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
