//! Integrations of an API.

use std::collections::{BTreeMap, HashMap};
use std::sync::Once;
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{ConnectionType, Integration as Shown, IntegrationType, TlsConfigInput};

use super::deployment::before_deletion;
use super::{
    PAGE, change, client, deleted, holds, is_managed, is_unclear, no_id, pages, root_id, route, small, text,
    unreferenced, with_quota_advice,
};
use crate::aws::Session;
use crate::aws::calls::codes::is_listener_unreadable;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::wait::{Backoff, retry_while};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::retries::Retry;
use crate::cloud::{Failure, Observed};
use crate::model::Input;
use crate::model::{Entry, Integration, Key, Learned, Parameters, Ref, Spec, Target};

/// How long AWS may be unable to read the listener of a new load balancer.
const LISTENER_LAG: Duration = Duration::from_secs(2 * 60);

/// Lists an API's integrations.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session)
            .await
            .get_integrations()
            .api_id(api_id)
            .max_results(PAGE)
            .set_next_token(token)
            .send()
            .await;
        let answer = answer.or_failure("GetIntegrations")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// Converts an integration that AWS returned to an observation. `None` for one that no spec expresses, and for one that
/// is no longer what it was: AWS does not change that.
pub(super) fn read(shown: &Shown, api: Key, key: Key, applied: Option<&Integration>) -> Option<Observed> {
    let Members { kind, method, uri, subtype, role, link, server_name, payload, timeout, .. } = Members::shown(shown)?;
    let target = match (&kind, subtype) {
        (IntegrationType::HttpProxy, _) => Target::Http {
            integration_uri: Input::Known(uri?),
            integration_method: Input::Known(method.unwrap_or_default()),
            vpc_link: link.map(Ref::Id),
            server_name_to_verify: Input::Known(server_name),
        },
        (_, Some(subtype)) => {
            Target::Service { integration_subtype: Input::Known(subtype), credentials_arn: Input::Known(role) }
        }
        (_, None) => {
            // The form of the configuration counts as equal.
            let applied = applied.and_then(Integration::function_arn);
            let function_arn = applied.filter(|it| Some(function(it)) == uri.as_deref()).cloned().or(uri)?;
            Target::Function { function_arn: Input::Known(function_arn), credentials_arn: Input::Known(role) }
        }
    };
    if applied.is_some_and(|it| std::mem::discriminant(&it.target) != std::mem::discriminant(&target)) {
        return None;
    }
    let spec = Integration {
        api,
        target,
        payload_format_version: Input::Known(payload),
        timeout_in_millis: Input::Known(timeout.into()),
        description: Input::Known(text(shown.description.as_deref())),
        request_parameters: Input::Known(given(shown.request_parameters.as_ref())),
        response_parameters: Input::Known(changing(shown.response_parameters.as_ref())),
        permission: applied.and_then(|it| it.permission.clone()),
    };
    Some(Observed { id: shown.integration_id.clone()?, key, spec: Spec::Integration(spec), learned: Learned::new() })
}

/// Sets the members that a create and an update state alike.
macro_rules! with_members {
    ($call:expr, $wanted:expr) => {
        $call
            .integration_type($wanted.kind.clone())
            .set_integration_subtype($wanted.subtype.clone())
            .set_integration_method($wanted.method.clone())
            .set_integration_uri($wanted.uri.clone())
            .set_credentials_arn($wanted.role.clone())
            .set_connection_type($wanted.connection_type())
            .set_connection_id($wanted.link.clone())
            .set_tls_config($wanted.tls_config())
            .payload_format_version(&$wanted.payload)
            .timeout_in_millis($wanted.timeout)
    };
}

/// Creates an integration, or adopts an equal one that is not in state and that no unmanaged route uses: an interrupted
/// run may have created it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Integration) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = Members::of(operation, spec)?;
    let find = || async {
        let existing = list(session, api_id).await?;
        let equal = existing
            .into_iter()
            .filter(|it| Members::shown(it).as_ref() == Some(&wanted))
            .filter_map(|it| it.integration_id);
        let equal: Vec<String> = equal.filter(|id| !is_managed(operation, id)).collect();
        if equal.is_empty() {
            return Ok(None);
        }
        let used = route::used_by_unmanaged(operation, api_id).await?;
        Ok(equal.into_iter().find(|id| !used.contains(id)))
    };
    let send = || async {
        let call = client(session).await.create_integration().api_id(api_id);
        let answer = with_members!(call, wanted)
            .set_description(wanted.description.clone())
            .set_request_parameters(all(&wanted.request))
            .set_response_parameters(by_code(&wanted.response))
            .customize()
            .config_override(session.once_apigateway())
            .send()
            .await?;
        Ok(answer.integration_id)
    };
    let create = || async {
        let (_lock, change) = change(operation, api_id, "CreateIntegration").await;
        // AWS accepts equal integrations, so CreateIntegration does not report an existing one. An API that this
        // process created contains no objects of an interrupted run.
        let existing = if session.process.created.contains(api_id) { None } else { find().await? };
        match existing {
            Some(id) => Ok(id),
            None => {
                let created = change.create(send, Ok, || async { Ok(find().await?.map(Some)) }).await;
                created.map_err(with_quota_advice)?.ok_or_else(|| no_id("CreateIntegration"))
            }
        }
    };
    let id = with_readable_listener(operation, &wanted, create).await?;
    operation.record_id(&id);
    Ok(())
}

/// Repeats a call that AWS rejects because it cannot read the listener of a private endpoint. `call` acquires the lock
/// of the API, so that other changes of the API are not blocked between two attempts.
async fn with_readable_listener<T, F>(
    operation: &Operation<'_>,
    wanted: &Members,
    call: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let first = Once::new();
    let is_retried = |failure: &Failure| {
        let is_retried = is_listener_unreadable(failure);
        if is_retried {
            let (action, reason) = (failure.action.clone(), failure.message.clone());
            first.call_once(|| Retry { is_wait: false, action, number: None, reason }.report());
        }
        is_retried
    };
    let mut backoff = Backoff::starting_at(Duration::from_secs(1), Duration::from_secs(10));
    let answer = retry_while(&operation.deadlines(LISTENER_LAG), &mut backoff, is_retried, call).await;
    answer.map_err(|failure| match (is_listener_unreadable(&failure), &wanted.uri) {
        (true, Some(listener)) => failure.with_advice(
            "The listener must exist in the account and Region of the gateway. If the command does not show it, correct \
             integration_uri; otherwise, apply again.",
            [format!("aws elbv2 describe-listeners --listener-arns {listener}")],
        ),
        _ => failure,
    })
}

/// Sends what differs, with the type, which every call must include. An empty string clears a description and
/// a parameter of requests, and a status code without parameters removes it.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &Integration,
    to: &Integration,
) -> Result<(), Failure> {
    let wanted = Members::of(operation, to)?;
    let api_id = operation.id(&to.api)?;
    let from = Members::of(operation, from)?;
    if from == wanted {
        // Only the permission has changed, which is not an attribute of the integration in AWS.
        return Ok(());
    }
    let new = |from: &Option<String>, to: &Option<String>| to.clone().filter(|_| from != to);
    let (request, response) = (wanted.changed_request(&from), wanted.changed_response(&from));
    let description = wanted.description.clone().unwrap_or_default();
    let send = || async {
        client(operation.session)
            .await
            .update_integration()
            .api_id(api_id)
            .integration_id(id)
            .integration_type(wanted.kind.clone())
            .set_integration_subtype(new(&from.subtype, &wanted.subtype))
            .set_integration_method(new(&from.method, &wanted.method))
            .set_integration_uri(new(&from.uri, &wanted.uri))
            .set_credentials_arn(new(&from.role, &wanted.role))
            .set_connection_type(wanted.connection_type().filter(|_| from.link != wanted.link))
            .set_connection_id(new(&from.link, &wanted.link))
            .set_tls_config(wanted.tls_config().filter(|_| from.server_name != wanted.server_name))
            .set_payload_format_version(Some(wanted.payload.clone()).filter(|payload| *payload != from.payload))
            .set_timeout_in_millis(Some(wanted.timeout).filter(|timeout| *timeout != from.timeout))
            .set_description((from.description != wanted.description).then(|| description.clone()))
            .set_request_parameters(all(&request))
            .set_response_parameters(by_code(&response))
            .send()
            .await
    };
    let update = || async {
        let (_lock, change) = change(operation, api_id, "UpdateIntegration").await;
        change.send(send).await.map(|_| ())
    };
    with_readable_listener(operation, &wanted, update).await
}

/// Deletes an integration. AWS rejects this while a route points to it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    before_deletion(operation, api_id, Awaited::CreatesAndUpdates, entry).await?;
    let delete = || async {
        let client = client(operation.session).await;
        client.delete_integration().api_id(api_id).integration_id(&entry.id).send().await
    };
    let exists =
        || async { holds(list(operation.session, api_id).await, |it| it.integration_id() == Some(entry.id.as_str())) };
    unreferenced(operation, || async {
        let (_lock, change) = change(operation, api_id, "DeleteIntegration").await;
        deleted(change.delete(delete, is_unclear, exists).await)
    })
    .await
}

/// The function ARN in the URI of an integration or authorizer, which is the function ARN or an invoke URI.
pub(super) fn function(uri: &str) -> &str {
    uri.split_once(":lambda:path/2015-03-31/functions/")
        .and_then(|(_, function)| function.strip_suffix("/invocations"))
        .unwrap_or(uri)
}

/// The maximum timeout in milliseconds, which is also the default of AWS.
const LONGEST_TIMEOUT: i32 = 30_000;

/// The members of an integration in AWS.
#[derive(PartialEq)]
struct Members {
    kind: IntegrationType,
    subtype: Option<String>,
    method: Option<String>,
    /// For a function, its ARN.
    uri: Option<String>,
    role: Option<String>,
    link: Option<String>,
    server_name: Option<String>,
    payload: String,
    timeout: i32,
    description: Option<String>,
    request: Parameters,
    response: BTreeMap<String, Parameters>,
}

impl Members {
    /// Those that a spec requires.
    fn of(operation: &Operation<'_>, spec: &Integration) -> Result<Members, Failure> {
        let members = Members {
            kind: IntegrationType::AwsProxy,
            subtype: None,
            method: None,
            uri: None,
            role: None,
            link: None,
            server_name: None,
            payload: operation.known(&spec.payload_format_version)?.clone(),
            timeout: small(*operation.known(&spec.timeout_in_millis)?),
            description: operation.known(&spec.description)?.clone().filter(|text| !text.is_empty()),
            request: operation.known(&spec.request_parameters)?.clone(),
            response: operation.known(&spec.response_parameters)?.clone(),
        };
        Ok(match &spec.target {
            Target::Function { function_arn, credentials_arn } => Members {
                method: Some("POST".to_string()),
                uri: Some(function(operation.known(function_arn)?).to_string()),
                role: operation.known(credentials_arn)?.clone(),
                ..members
            },
            Target::Http { integration_uri, integration_method, vpc_link, server_name_to_verify } => Members {
                kind: IntegrationType::HttpProxy,
                method: Some(operation.known(integration_method)?.clone()),
                uri: Some(operation.known(integration_uri)?.clone()),
                link: match vpc_link {
                    Some(link) => Some(operation.resolve(link)?.to_string()),
                    None => None,
                },
                server_name: operation.known(server_name_to_verify)?.clone(),
                ..members
            },
            Target::Service { integration_subtype, credentials_arn } => Members {
                subtype: Some(operation.known(integration_subtype)?.clone()),
                role: operation.known(credentials_arn)?.clone(),
                ..members
            },
        })
    }

    /// Those of an integration that AWS returned. `None` for a type that this provider never creates.
    fn shown(shown: &Shown) -> Option<Members> {
        let kind = shown.integration_type.clone()?;
        let subtype = text(shown.integration_subtype.as_deref());
        let (method, uri) = (text(shown.integration_method.as_deref()), text(shown.integration_uri.as_deref()));
        let (method, uri) = match (&kind, &subtype) {
            (IntegrationType::HttpProxy, None) => (method, uri),
            (IntegrationType::AwsProxy, Some(_)) => (None, None),
            (IntegrationType::AwsProxy, None) => (Some("POST".to_string()), uri.map(|uri| function(&uri).to_string())),
            _ => return None,
        };
        let is_private = shown.connection_type == Some(ConnectionType::VpcLink);
        let tls = shown.tls_config.as_ref().and_then(|tls| text(tls.server_name_to_verify()));
        Some(Members {
            kind,
            subtype,
            method,
            uri,
            role: text(shown.credentials_arn.as_deref()),
            link: text(shown.connection_id.as_deref()).filter(|_| is_private),
            server_name: tls.filter(|_| is_private),
            payload: shown.payload_format_version.clone().unwrap_or_default(),
            timeout: shown.timeout_in_millis.unwrap_or(LONGEST_TIMEOUT),
            description: text(shown.description.as_deref()),
            request: given(shown.request_parameters.as_ref()),
            response: changing(shown.response_parameters.as_ref()),
        })
    }

    /// The parameters of requests, and the removed ones, if any differs: some actions of AWS services require all.
    fn changed_request(&self, from: &Members) -> Parameters {
        let removed = from.request.keys().map(|name| (name.clone(), String::new()));
        let all = removed.chain(self.request.clone());
        all.filter(|_| self.request != from.request).collect()
    }

    /// The same for the parameters of responses, by status code.
    fn changed_response(&self, from: &Members) -> BTreeMap<String, Parameters> {
        let removed = from.response.keys().map(|code| (code.clone(), Parameters::new()));
        let all = removed.chain(self.response.clone());
        all.filter(|_| self.response != from.response).collect()
    }

    fn connection_type(&self) -> Option<ConnectionType> {
        self.link.as_ref().map(|_| ConnectionType::VpcLink)
    }

    fn tls_config(&self) -> Option<TlsConfigInput> {
        self.server_name.as_ref().map(|name| TlsConfigInput::builder().server_name_to_verify(name).build())
    }
}

/// The parameters with a value. AWS may return a removed one with an empty value.
fn given(parameters: Option<&HashMap<String, String>>) -> Parameters {
    let set = parameters.into_iter().flatten().filter(|(_, value)| !value.is_empty());
    set.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The status codes with parameters.
fn changing(codes: Option<&HashMap<String, HashMap<String, String>>>) -> BTreeMap<String, Parameters> {
    let codes = codes.into_iter().flatten().map(|(code, parameters)| (code.clone(), given(Some(parameters))));
    codes.filter(|(_, parameters)| !parameters.is_empty()).collect()
}

/// The parameters of a call; `None` without any.
fn all(parameters: &Parameters) -> Option<HashMap<String, String>> {
    (!parameters.is_empty()).then(|| parameters.clone().into_iter().collect())
}

fn by_code(codes: &BTreeMap<String, Parameters>) -> Option<HashMap<String, HashMap<String, String>>> {
    let call = |parameters: &Parameters| parameters.clone().into_iter().collect();
    (!codes.is_empty()).then(|| codes.iter().map(|(code, parameters)| (code.clone(), call(parameters))).collect())
}

#[cfg(test)]
mod tests;
