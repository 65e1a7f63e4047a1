//! The stage `$default`, which AWS deploys automatically after every change.

pub(super) mod settings;
pub(super) mod shown;

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_apigatewayv2::types::{AccessLogSettings, Stage as Shown};

use self::shown::{created_id, is_failure};
use super::deployment::before_suspension;
use super::{PAGE, api_arn, change, client, deleted, is_absent, is_conflict, pages, root_id, tag, unmapped, untag};
use crate::aws::Session;
use crate::aws::calls::codes::is_log_policy_rejected;
use crate::aws::calls::codes::missing::is_stage_missing;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Case, Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{AccessLog, Entry, Key, Learned, Ref, Spec, Stage};

pub(crate) use shown::DEFAULT;
pub(super) use shown::get;

/// Lists the names of an API's other stages.
pub(super) async fn others(session: &Session, api_id: &str) -> Result<Vec<String>, Failure> {
    let all = pages(|token| async move {
        let call = client(session).await.get_stages().api_id(api_id).max_results(PAGE).set_next_token(token);
        let answer = call.send().await.or_failure("GetStages")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    });
    let names = all.await?.into_iter().filter_map(|it| it.stage_name);
    Ok(names.filter(|name| name != DEFAULT).collect())
}

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
    let mut spec = Stage {
        api,
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
    let learned = Learned { route_settings: found.into(), ..Learned::new() };
    Observed { id: DEFAULT.to_string(), key, spec: Spec::Stage(spec), learned }
}

/// Creates the stage. An existing one is an error, unless this very call has created it and its answer was lost.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Stage) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = ownership::add_request(&mut tags);
    let access_log = access_log(operation, spec)?;
    let (default_settings, route_settings) = settings::of_new_stage(operation, spec)?;
    let find = || async {
        match get(session, api_id).await? {
            Some(existing) if ownership::is_of_request(existing.tags.as_ref(), &request) => Ok(Some(())),
            Some(_) => Err(unmanaged(api_id)),
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
                        .stage_name(DEFAULT)
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
        answer => answer.map_err(with_log_advice).map_err(|failure| settings::with_advice(failure, api_id))?,
    }
    record_id(operation, api_id);
    if default_settings.is_some() || route_settings.is_some() {
        settings::learn(operation, api_id).await?;
    }
    Ok(())
}

/// Updates the stage to match its spec. A separate call disables access logs, because AWS keeps them enabled if the
/// settings are omitted or empty.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _id: &str,
    from: Option<&Stage>,
    to: &Stage,
) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&to.api)?;
    let wanted = access_log(operation, to)?;
    let settings = settings::Changes::of(operation, api_id, from, to).await?;
    if !to.auto_deploy && from.is_none_or(|from| from.auto_deploy) {
        before_suspension(operation, api_id).await?;
    }
    for key in &settings.deleted {
        settings::delete(operation, api_id, key).await?;
    }
    let (_lock, change) = change(operation, api_id, "UpdateStage").await;
    let logs_differ = from.is_none_or(|from| from.access_log != to.access_log);
    // After a failed deployment the stage is updated even without a change, so that AWS deploys again.
    let deployment = |spec: &Stage| (spec.auto_deploy, spec.deployment_failure.clone());
    let deployment_differs = from.is_none_or(|from| deployment(from) != deployment(to));
    if deployment_differs || (logs_differ && wanted.is_some()) || settings.are_sent() {
        change
            .send(|| async {
                client(session)
                    .await
                    .update_stage()
                    .api_id(api_id)
                    .stage_name(DEFAULT)
                    .auto_deploy(to.auto_deploy)
                    .set_access_log_settings(wanted.clone())
                    .set_default_route_settings(settings.default.clone())
                    .set_route_settings(settings.routes.clone())
                    .send()
                    .await
            })
            .await
            .map_err(with_log_advice)
            .map_err(|failure| settings::with_advice(failure, api_id))?;
    }
    if deployment_differs && to.auto_deploy {
        session.process.deployed_changes.add(&session.scope.region, api_id, false, None);
    }
    if wanted.is_none() && from.is_none_or(|from| from.access_log.is_some()) {
        // Without settings AWS returns NotFound, which is success here and must not be retried.
        let change = Mutation { action: "DeleteAccessLogSettings", unknown_until: None, ..change };
        let answer = change
            .send(|| async {
                client(session).await.delete_access_log_settings().api_id(api_id).stage_name(DEFAULT).send().await
            })
            .await;
        match answer {
            Err(failure) if is_absent(&failure) => match get(session, api_id).await? {
                Some(stage) if destination(&stage).is_none() => {}
                _ => return Err(failure),
            },
            answer => answer.map(|_| ())?,
        }
    }
    if settings.are_sent() || !settings.deleted.is_empty() {
        settings::learn(operation, api_id).await?;
    }
    let arn = arn(session, api_id);
    let tags = TagChanges::between(operation, from.map(|from| &from.tags), &to.tags)?;
    tag(session, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// Adds tags to the stage.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    api_id: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let session = operation.session;
    let (_lock, change) = change(operation, api_id, "TagResource").await;
    tag(session, &arn(session, api_id), tags, &change).await
}

/// Deletes the stage. AWS rejects this while an API mapping points to it.
pub(crate) async fn delete(operation: &Operation<'_>, _entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_lock, change) = change(operation, api_id, "DeleteStage").await;
    let delete =
        || async { client(operation.session).await.delete_stage().api_id(api_id).stage_name(DEFAULT).send().await };
    let exists = || async { Ok(get(operation.session, api_id).await?.is_some()) };
    unmapped(operation, api_id, || async { deleted(change.delete(delete, is_stage_missing, exists).await) }).await
}

/// Records the stage. Every API has a stage with this name, so the ID of the API is part of the created ID.
fn record_id(operation: &Operation<'_>, api_id: &str) {
    operation.session.process.created.add(created_id(api_id));
    operation.record_id(DEFAULT);
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

fn arn(session: &Session, api_id: &str) -> String {
    format!("{}/stages/{DEFAULT}", api_arn(&session.scope, api_id))
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

fn unmanaged(api_id: &str) -> Failure {
    Failure::new(
        Cause::Exists,
        "CreateStage",
        format!(
            "API {api_id} already has an unmanaged stage {DEFAULT}. A killed run or someone else may have created it"
        ),
    )
    .with_advice(
        "Delete it with this command, then apply again.",
        [format!("aws apigatewayv2 delete-stage --api-id {api_id} --stage-name '{DEFAULT}'")],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, request_of, run, without_request};

    const STAGE: &str = "/v2/apis/api1/stages/%24default";

    fn spec(log: bool) -> Stage {
        Stage {
            access_log: log.then(|| AccessLog {
                log_group: Ref::Key(Key::new("log_group")),
                format: Input::Known("$context.requestId".into()),
            }),
            ..Stage::test()
        }
    }

    fn ids() -> [(Key, &'static str); 2] {
        [(Key::new("api"), "api1"), (Key::new("log_group"), "/http/shop")]
    }

    #[tokio::test(start_paused = true)]
    async fn create_sets_auto_deploy_and_the_log_group_arn_without_star() {
        let post = "POST /v2/apis/api1/stages";
        let aws = Recorded::default().on(post, Answer::Json(201, json!({})));
        let session = aws.session("stage-create");
        let (answer, reported) =
            run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(true)).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, [DEFAULT]);
        assert_eq!(
            without_request(aws.body(post)),
            json!({ "stageName": "$default", "autoDeploy": true,
                "accessLogSettings": { "format": "$context.requestId",
                    "destinationArn": "arn:aws:logs:stage-create:123456789012:log-group:/http/shop" },
                "tags": { "fgw:resource": "http_gateway/api1", "fgw:object": "stage" } })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn access_logs_are_disabled_by_a_separate_call() {
        let off = format!("DELETE {STAGE}/accesslogsettings");
        let aws = Recorded::default().on(&off, Answer::Json(204, json!(null)));
        let session = aws.session("stage-off");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&spec(true)), &spec(false)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.calls(), [off]);
    }

    #[tokio::test(start_paused = true)]
    async fn access_logs_are_enabled_in_place() {
        let patch = format!("PATCH {STAGE}");
        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("stage-on");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&spec(false)), &spec(true)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.body(&patch)["accessLogSettings"]["format"], "$context.requestId");
        assert_eq!(aws.calls().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_log_policy_is_an_error_with_both_ways_out() {
        let full =
            "Cannot enable logging. Policy document length breaking Cloudwatch Logs Constraints, either < 1 or > 5120";
        let post = "POST /v2/apis/api1/stages";
        let patch = format!("PATCH {STAGE}");
        for text in [full, "Insufficient permissions to enable logging"] {
            let rejected = || Answer::Error(400, "BadRequestException", text);
            let aws = Recorded::default().on(post, rejected()).on(&patch, rejected());
            let session = aws.session("stage-policy");
            let create = async |it: &Operation<'_>| create(it, &spec(true)).await;
            let created = run(&session, &Key::new("stage"), &ids(), create).await.0.unwrap_err();
            let update = async |it: &Operation<'_>| update(it, DEFAULT, Some(&spec(false)), &spec(true)).await;
            let updated = run(&session, &Key::new("stage"), &ids(), update).await.0.unwrap_err();
            for failure in [created, updated] {
                let parts = [text, "/aws/vendedlogs/", "AWSLogDeliveryWrite20150319", "put-resource-policy"];
                assert!(parts.iter().all(|part| failure.text().contains(part)), "{failure}");
                assert_eq!(failure.case, Some(Case::AccessLogs));
            }
            assert_eq!(aws.calls(), [post, &patch], "a retry cannot succeed");
        }
        let aws = Recorded::default().on(post, Answer::Error(400, "BadRequestException", "Invalid format"));
        let session = aws.session("stage-policy");
        let create = async |it: &Operation<'_>| create(it, &spec(true)).await;
        let failure = run(&session, &Key::new("stage"), &ids(), create).await.0.unwrap_err();
        assert_eq!(failure.message, "Invalid format");
    }

    #[tokio::test(start_paused = true)]
    async fn existing_stage_is_adopted_only_after_a_lost_answer() {
        const POST: &str = "POST /v2/apis/api1/stages";
        let exists = || Answer::Error(409, "ConflictException", "Stage already exists");
        for tags in [json!({}), json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "stage" })] {
            let shown = json!({ "stageName": "$default", "tags": tags });
            let aws = Recorded::default().on(POST, exists()).on(&format!("GET {STAGE}"), Answer::Json(200, shown));
            let session = aws.session("stage-foreign");
            let (answer, reported) =
                run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(false)).await).await;
            let failure = answer.unwrap_err();
            assert_eq!(failure.cause, Cause::Exists);
            assert!(failure.text().contains("delete-stage --api-id api1"), "{failure}");
            assert!(reported.ids.is_empty());
        }
        let created = Answer::To(|requests| {
            let tags = json!({ "fgw:request": request_of(requests, POST) });
            Answer::Json(200, json!({ "stageName": "$default", "tags": tags }))
        });
        let aws = Recorded::default().on(POST, Answer::Lost).on(&format!("GET {STAGE}"), created);
        let session = aws.session("stage-lost");
        let (answer, reported) =
            run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(false)).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, [DEFAULT]);
    }

    #[tokio::test(start_paused = true)]
    async fn failed_deployment_is_drift_and_update_deploys_again() {
        let message = "Deployment attempt failed: Unable to deploy API";
        let shown = Shown::builder().auto_deploy(true).last_deployment_status_message(message).build();
        let Spec::Stage(failed) =
            read(&shown, (Key::new("api"), Key::new("stage")), None, &BTreeSet::new(), |arn| Ref::Id(arn.into())).spec
        else {
            panic!("it is a stage")
        };
        let difference = Spec::Stage(spec(false)).differences(&Spec::Stage(failed.clone()));
        assert_eq!(difference, [format!("deployment_failure is {message} instead of absent")]);
        let patch = format!("PATCH {STAGE}");
        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("stage-again");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&failed), &spec(false)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.body(&patch), json!({ "autoDeploy": true }));
    }
}
