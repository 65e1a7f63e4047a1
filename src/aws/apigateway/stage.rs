//! The stage of an API, which AWS deploys automatically after every change.
//!
//! `UpdateStage` merges the stage variables, removes those with an empty value, and ignores an empty description.

pub(super) mod settings;
pub(super) mod shown;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{AccessLogSettings, Stage as Shown};

use self::shown::{created_id, is_failure};
use super::deployment::{before_replacement, before_suspension};
use super::{
    api_arn, change, client, deleted, is_absent, is_conflict, root_id, tag, text, unmapped, unmapped_id, untag,
};
use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::calls::codes::is_log_policy_rejected;
use crate::aws::calls::codes::missing::is_stage_missing;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::cloud::{Case, Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{AccessLog, Entry, Key, Learned, Ref, Spec, Stage, Unfinished};

pub(super) use shown::{get, list};

/// How long a mapping may still lead requests to the stage that it has left. AWS documents no time.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// Converts the stage that AWS returned to an observation. `log_group` turns the ARN of a log group into a reference,
/// and `route_keys` are those of all routes of the API. Of the settings of routes, the spec contains only those of the
/// last apply.
pub(super) fn read(
    shown: &Shown,
    (api, key): (Key, Key),
    applied: Option<&Stage>,
    route_keys: &BTreeSet<&str>,
    log_group: impl Fn(&str) -> Ref,
) -> Observed {
    let found = settings::found(shown, route_keys);
    let name = shown.stage_name.clone().unwrap_or_default();
    let mut spec = Stage {
        api,
        name: name.clone(),
        description: Input::Known(text(shown.description.as_deref())),
        variables: tag_changes::shown(shown.stage_variables.iter().flatten()),
        auto_deploy: shown.auto_deploy.unwrap_or(false),
        deployment_failure: deployment_failure(shown).map(str::to_string),
        access_log: destination(shown).map(|arn| AccessLog {
            log_group: log_group(arn),
            format: Input::Known(
                shown.access_log_settings.as_ref().and_then(|it| it.format.clone()).unwrap_or_default(),
            ),
        }),
        default_settings: found.default.clone(),
        route_settings: found.routes.clone(),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    match applied {
        Some(applied) => settings::keep_known(&mut spec, applied),
        None => settings::keep_effective(&mut spec),
    }
    let description = text(shown.description.as_deref()).filter(|_| spec.description == Input::Known(None));
    let unexpressed = description.map(|text| ("description".to_string(), text)).into_iter().collect();
    let learned = Learned { route_settings: found.into(), unexpressed, ..Learned::new() };
    Observed { id: name, key, spec: Spec::Stage(spec), learned }
}

/// Creates the stage. An existing one is an error, unless this very call has created it and its answer was lost.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Stage) -> Result<(), Failure> {
    let session = operation.session;
    let (api_id, name) = (operation.id(&spec.api)?, spec.name.as_str());
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = ownership::add_request(&mut tags);
    let access_log = access_log(operation, spec)?;
    let description = operation.known(&spec.description)?;
    let variables = Some(operation.own_tags(&spec.variables)?).filter(|variables| !variables.is_empty());
    let (default_settings, route_settings) = settings::of_new_stage(operation, spec)?;
    let find = || async {
        match get(session, api_id, name).await? {
            Some(existing) if ownership::is_of_request(existing.tags.as_ref(), &request) => Ok(Some(())),
            Some(_) => Err(unmanaged(api_id, name)),
            None => Ok(None),
        }
    };
    let answer = {
        let (_lock, change) = change(operation, api_id, "CreateStage").await;
        change
            .create(
                || async {
                    client(session)
                        .await
                        .create_stage()
                        .api_id(api_id)
                        .stage_name(name)
                        .set_description(description.clone())
                        .set_stage_variables(variables.clone().map(|variables| variables.into_iter().collect()))
                        .auto_deploy(spec.auto_deploy)
                        .set_access_log_settings(access_log.clone())
                        .set_default_route_settings(default_settings.clone())
                        .set_route_settings(route_settings.clone())
                        .set_tags(Some(tags.clone().into_iter().collect()))
                        .customize()
                        .config_override(session.once_apigateway())
                        .send()
                        .await
                        .map(|_| ())
                },
                Ok,
                find,
            )
            .await
    };
    match answer {
        Err(failure) if is_conflict(&failure) => find().await?.ok_or(failure)?,
        answer => answer.map_err(with_log_advice).map_err(|failure| settings::with_advice(failure, (api_id, name)))?,
    }
    record_id(operation, api_id, name);
    if default_settings.is_some() || route_settings.is_some() {
        settings::learn(operation, (api_id, name)).await?;
    }
    Ok(())
}

/// Sends what differs. A separate call disables access logs, because AWS keeps them enabled if the
/// settings are omitted or empty.
pub(crate) async fn update(operation: &Operation<'_>, name: &str, from: &Stage, to: &Stage) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&to.api)?;
    let logs_differ = from.access_log != to.access_log;
    let wanted = if logs_differ { access_log(operation, to)? } else { None };
    let settings = settings::Changes::of(operation, (api_id, name), from, to).await?;
    let description = operation.known(&to.description)?;
    let sets_description = description.is_some() && from.description != to.description;
    let variables = changed_variables(operation, from, to)?;
    if from.auto_deploy && !to.auto_deploy {
        before_suspension(operation, api_id).await?;
    }
    for key in &settings.deleted {
        settings::delete(operation, (api_id, name), key).await?;
    }
    let (_lock, change) = change(operation, api_id, "UpdateStage").await;
    // After a failed deployment the stage is updated even without a change, so that AWS deploys again.
    let deployment = |spec: &Stage| (spec.auto_deploy, spec.deployment_failure.clone());
    let must_deploy = operation.work.unfinished == Some(Unfinished::Deployment) && to.auto_deploy;
    let deployment_differs = deployment(from) != deployment(to) || must_deploy;
    let sets_texts = sets_description || !variables.is_empty();
    if deployment_differs || wanted.is_some() || settings.are_sent() || sets_texts {
        change
            .send(|| async {
                client(session)
                    .await
                    .update_stage()
                    .api_id(api_id)
                    .stage_name(name)
                    .set_description(description.clone().filter(|_| sets_description))
                    .set_stage_variables(Some(variables.clone()).filter(|variables| !variables.is_empty()))
                    .set_auto_deploy(deployment_differs.then_some(to.auto_deploy))
                    .set_access_log_settings(wanted.clone())
                    .set_default_route_settings(settings.default.clone())
                    .set_route_settings(settings.routes.clone())
                    .send()
                    .await
            })
            .await
            .map_err(with_log_advice)
            .map_err(|failure| settings::with_advice(failure, (api_id, name)))?;
    }
    if deployment_differs && to.auto_deploy {
        session.process.deployed_changes.add(&session.scope.region, api_id, false, None);
    }
    if logs_differ && to.access_log.is_none() {
        // Without settings AWS returns NotFound, which is success here and must not be retried.
        let change = Mutation { action: "DeleteAccessLogSettings", unknown_until: None, ..change };
        let answer = change
            .send(|| async {
                client(session).await.delete_access_log_settings().api_id(api_id).stage_name(name).send().await
            })
            .await;
        match answer {
            Err(failure) if is_absent(&failure) => match get(session, api_id, name).await? {
                Some(stage) if destination(&stage).is_none() => {}
                _ => return Err(failure),
            },
            answer => answer.map(|_| ())?,
        }
    }
    if settings.are_sent() || !settings.deleted.is_empty() {
        settings::learn(operation, (api_id, name)).await?;
    }
    let arn = arn(session, api_id, name);
    let tags = TagChanges::between(operation, &from.tags, &to.tags)?;
    tag(session, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// Adds tags to the stage.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    api_id: &str,
    name: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let session = operation.session;
    let (_lock, change) = change(operation, api_id, "TagResource").await;
    tag(session, &arn(session, api_id, name), tags, &change).await
}

/// Deletes the stage, once another one that replaces it serves the API. AWS rejects this while an API mapping points to
/// it, and a mapping that has just left it may still lead requests to it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, api_id, name) = (operation.session, root_id(operation)?, entry.id.as_str());
    before_replacement(operation, api_id, entry).await?;
    wait::until("DeleteStage", &operation.work.deadlines, wait::SECONDS, || async {
        let age = session.process.unmapped.age(&unmapped_id(session, api_id));
        Ok(match age.is_some_and(|age| age < LAST_REQUESTS) {
            true => Poll::Pending("an API mapping has just left the stage".into()),
            false => Poll::Done(()),
        })
    })
    .await?;
    let delete = || async {
        let (_lock, change) = change(operation, api_id, "DeleteStage").await;
        let delete = || async { client(session).await.delete_stage().api_id(api_id).stage_name(name).send().await };
        let exists = || async { Ok(get(session, api_id, name).await?.is_some()) };
        deleted(change.delete(delete, is_stage_missing, exists).await)
    };
    unmapped(operation, api_id, delete).await
}

/// Records the stage. Stages of several APIs may have the same name, so the ID of the API is part of the created ID.
fn record_id(operation: &Operation<'_>, api_id: &str, name: &str) {
    operation.session.process.created.add(created_id(api_id, name));
    operation.record_id(name);
}

/// The stage variables to send: an empty value removes one.
fn changed_variables(operation: &Operation<'_>, from: &Stage, to: &Stage) -> Result<HashMap<String, String>, Failure> {
    let (before, wanted) = (operation.own_tags(&from.variables)?, operation.own_tags(&to.variables)?);
    let is_set = |name: &String, value: &String| before.get(name) == Some(value);
    let removed = before.keys().filter(|name| !wanted.contains_key(*name)).map(|name| (name.clone(), String::new()));
    let set = wanted.iter().filter(|(name, value)| !is_set(name, value));
    Ok(set.map(|(name, value)| (name.clone(), value.clone())).chain(removed).collect())
}

/// The status message of the last deployment if it failed. AWS reports a failure in no other field.
fn deployment_failure(shown: &Shown) -> Option<&str> {
    shown.last_deployment_status_message.as_deref().filter(|message| is_failure(message))
}

/// The ARN of the log group to which the stage logs, without the suffix `:*`.
pub(super) fn destination(shown: &Shown) -> Option<&str> {
    let arn = shown.access_log_settings.as_ref()?.destination_arn.as_deref()?;
    Some(arn.strip_suffix(":*").unwrap_or(arn)).filter(|arn| !arn.is_empty())
}

fn arn(session: &Session, api_id: &str, name: &str) -> String {
    format!("{}/stages/{name}", api_arn(&session.scope, api_id))
}

/// The access log settings. AWS expects the ARN of the log group without the suffix `:*`.
fn access_log(operation: &Operation<'_>, spec: &Stage) -> Result<Option<AccessLogSettings>, Failure> {
    let Some(log) = &spec.access_log else { return Ok(None) };
    let arn = match &log.log_group {
        Ref::Id(arn) => arn.clone(),
        Ref::Key(key) => {
            let group = operation.resolved(key)?;
            group.learned.get("arn").cloned().ok_or_else(|| {
                let message = format!("the ARN of log group {} is unknown; this is a bug in the provider", group.id);
                Failure::new(Cause::Other, "CreateStage", message)
            })?
        }
    };
    let arn = arn.strip_suffix(":*").unwrap_or(&arn);
    let format = operation.known(&log.format)?;
    Ok(Some(AccessLogSettings::builder().destination_arn(arn).format(format).build()))
}

/// Adds both ways out to a failure to enable access logs. AWS never removes the names of deleted log groups from the
/// policy, so that it overflows after some 30 to 50 names.
fn with_log_advice(mut failure: Failure) -> Failure {
    if is_log_policy_rejected(&failure) {
        failure.case = Some(Case::AccessLogs);
        failure.message = format!(
            "{}. API Gateway adds the name of each log group to the CloudWatch Logs resource policy \
             AWSLogDeliveryWrite20150319, which all gateways of the account and Region share. The policy may have reached \
             its limit of 5120 characters, or the credentials may lack the permissions for log delivery",
            failure.message.trim_end_matches('.')
        );
        return failure.with_advice(
            "Either use a log group whose name begins with /aws/vendedlogs/, which one entry of the policy covers, or \
             remove the log groups that no longer exist from the policy with these commands.",
            ["aws logs describe-resource-policies".to_string(), "aws logs put-resource-policy".to_string()],
        );
    }
    failure
}

fn unmanaged(api_id: &str, name: &str) -> Failure {
    Failure::new(
        Cause::Exists,
        "CreateStage",
        format!("API {api_id} already has an unmanaged stage {name}. A killed run or someone else may have created it"),
    )
    .with_advice(
        "Delete it with this command, then apply again.",
        [format!("aws apigatewayv2 delete-stage --api-id {api_id} --stage-name '{name}'")],
    )
}

#[cfg(test)]
mod tests;
