//! The stage `$default`, which AWS deploys by itself after every change.

use std::time::Duration;

use aws_sdk_apigatewayv2::types::{AccessLogSettings, Stage as Shown};

use super::{api_arn, change, client, deleted, is_absent, is_conflict, root_id, tag, unmapped, untag};
use crate::aws::Session;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{AccessLog, Entry, Key, Learned, Ref, Spec, Stage};

/// The stage's name, and its id.
pub(crate) const DEFAULT: &str = "$default";

/// Reads the stage. `None` where the API or the stage does not exist.
pub(super) async fn get(session: &Session, api_id: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_stage().api_id(api_id).stage_name(DEFAULT).send().await;
    match answer.map_err(|error| error.failure("GetStage")) {
        Ok(it) => Ok(Some(
            Shown::builder()
                .set_stage_name(it.stage_name)
                .set_access_log_settings(it.access_log_settings)
                .set_auto_deploy(it.auto_deploy)
                .set_deployment_id(it.deployment_id)
                .set_last_deployment_status_message(it.last_deployment_status_message)
                .set_tags(it.tags)
                .build(),
        )),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What AWS shows of the stage. `log_group` turns the ARN of a log group into a reference.
pub(super) fn read(shown: &Shown, api: Key, key: Key, log_group: impl Fn(&str) -> Ref) -> Observed {
    let spec = Stage {
        api,
        auto_deploy: shown.auto_deploy.unwrap_or(false),
        deployment_failure: deployment_failure(shown).map(str::to_string),
        access_log: destination(shown).map(|arn| AccessLog {
            log_group: log_group(arn),
            format: Input::Known(
                shown.access_log_settings.as_ref().and_then(|it| it.format.clone()).unwrap_or_default(),
            ),
        }),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    Observed { id: DEFAULT.to_string(), key, spec: Spec::Stage(spec), learned: Learned::new() }
}

/// Makes the stage. One that is there already is taken if it carries our tags.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Stage) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let access_log = access_log(operation, spec)?;
    let find = || async {
        match get(session, api_id).await? {
            Some(there) if is_ours(operation, &there) => Ok(Some(())),
            Some(_) => Err(foreign(api_id)),
            None => Ok(None),
        }
    };
    let answer = {
        let (_turn, change) = change(operation, api_id, "CreateStage").await;
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
        Ok(()) => {
            record_id(operation, api_id);
            Ok(())
        }
        Err(failure) if is_conflict(&failure) => {
            find().await?.ok_or(failure)?;
            record_id(operation, api_id);
            update(operation, DEFAULT, None, spec).await
        }
        Err(failure) => Err(failure),
    }
}

/// Brings the stage to its spec. Access logs are turned off by a call of their own: without settings, or with
/// empty ones, AWS keeps them on.
pub(crate) async fn update(
    operation: &Operation<'_>,
    _id: &str,
    from: Option<&Stage>,
    to: &Stage,
) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&to.api)?;
    let wanted = access_log(operation, to)?;
    let (_turn, change) = change(operation, api_id, "UpdateStage").await;
    let logs_differ = from.is_none_or(|from| from.access_log != to.access_log);
    // A stage whose last deployment has failed is set once more, so that AWS tries again.
    let deployment = |spec: &Stage| (spec.auto_deploy, spec.deployment_failure.clone());
    let deploys_otherwise = from.is_none_or(|from| deployment(from) != deployment(to));
    if deploys_otherwise || (logs_differ && wanted.is_some()) {
        change
            .send(|| async {
                client(session)
                    .await
                    .update_stage()
                    .api_id(api_id)
                    .stage_name(DEFAULT)
                    .auto_deploy(to.auto_deploy)
                    .set_access_log_settings(wanted.clone())
                    .send()
                    .await
            })
            .await?;
    }
    if wanted.is_none() && from.is_none_or(|from| from.access_log.is_some()) {
        // Their absence is success here.
        let change = Mutation { action: "DeleteAccessLogSettings", unknown_until: None, ..change };
        let answer = change
            .send(|| async {
                client(session).await.delete_access_log_settings().api_id(api_id).stage_name(DEFAULT).send().await
            })
            .await;
        // Nothing to delete is what was wanted; a stage that is gone shows in the next call.
        match answer {
            Err(failure) if !is_absent(&failure) => return Err(failure),
            _ => {}
        }
    }
    let arn = arn(session, api_id);
    let tags = TagChanges::between(operation, from.map(|from| &from.tags), &to.tags)?;
    tag(session, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// Deletes the stage, which AWS refuses while a domain is mapped to it.
pub(crate) async fn delete(operation: &Operation<'_>, _entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_turn, change) = change(operation, api_id, "DeleteStage").await;
    let delete =
        || async { client(operation.session).await.delete_stage().api_id(api_id).stage_name(DEFAULT).send().await };
    let is_there = || async { Ok(get(operation.session, api_id).await?.is_some()) };
    unmapped(operation, api_id, || async { deleted(change.delete(delete, is_there).await) }).await
}

/// Every API has a stage of this name, so its id alone does not say which one was created.
fn record_id(operation: &Operation<'_>, api_id: &str) {
    operation.session.process.created.add(created_id(api_id));
    operation.record_id(DEFAULT);
}

fn created_id(api_id: &str) -> String {
    format!("{api_id}/{DEFAULT}")
}

/// Looks whether AWS could deploy what was changed. To be called once, after the last change: AWS deploys
/// after the answer, and tells of a failure nowhere else.
pub(crate) async fn check_deployment(session: &Session, api_id: &str) -> Result<(), Failure> {
    settled_deployment(session, api_id, Duration::from_secs(1)).await
}

/// A deployment may still be on its way, so what counts is what two looks, a pause apart, show alike.
async fn settled_deployment(session: &Session, api_id: &str, pause: Duration) -> Result<(), Failure> {
    let mut before = None;
    for _ in 0..6 {
        let stage = get(session, api_id).await.map_err(|failure| {
            let message = format!("{}; whether AWS has deployed the changes to stage is not known", failure.message);
            Failure { message, ..failure }
        })?;
        let Some(stage) = stage else {
            if !session.process.created.contains(&created_id(api_id)) {
                return Ok(());
            }
            // AWS may not know yet that it has made it.
            tokio::time::sleep(pause).await;
            continue;
        };
        if stage.last_deployment_status_message.is_none() {
            return Ok(());
        }
        let seen = |it: &Shown| (it.deployment_id.clone(), it.last_deployment_status_message.clone());
        let is_settled = before.as_ref().is_some_and(|before| seen(before) == seen(&stage));
        before = Some(stage);
        if is_settled {
            break;
        }
        tokio::time::sleep(pause).await;
    }
    match before.as_ref().and_then(deployment_failure) {
        Some(message) => Err(Failure::new(
            Cause::Other,
            "GetStage",
            format!("AWS could not deploy the changes of API {api_id}, and serves what was deployed before: {message}"),
        )),
        None => Ok(()),
    }
}

/// AWS's words about the last deployment, where it has failed. There is no other sign of it.
fn deployment_failure(shown: &Shown) -> Option<&str> {
    shown.last_deployment_status_message.as_deref().filter(|words| words.to_lowercase().contains("failed"))
}

/// The ARN of the log group that the stage writes to, as AWS shows it.
pub(super) fn destination(shown: &Shown) -> Option<&str> {
    let arn = shown.access_log_settings.as_ref()?.destination_arn.as_deref()?;
    Some(arn.strip_suffix(":*").unwrap_or(arn)).filter(|arn| !arn.is_empty())
}

fn arn(session: &Session, api_id: &str) -> String {
    format!("{}/stages/{DEFAULT}", api_arn(&session.scope, api_id))
}

/// The destination is the ARN of the log group without `:*`.
fn access_log(operation: &Operation<'_>, spec: &Stage) -> Result<Option<AccessLogSettings>, Failure> {
    let Some(log) = &spec.access_log else { return Ok(None) };
    let arn = match &log.log_group {
        Ref::Id(arn) => arn.clone(),
        Ref::Key(key) => {
            let group = operation.made(key)?;
            group.learned.get("arn").cloned().ok_or_else(|| {
                let message = format!("the ARN of log group {} is not known; this is a bug in the provider", group.id);
                Failure::new(Cause::Other, "CreateStage", message)
            })?
        }
    };
    let arn = arn.strip_suffix(":*").unwrap_or(&arn);
    let format = operation.known(&log.format)?;
    Ok(Some(AccessLogSettings::builder().destination_arn(arn).format(format).build()))
}

fn is_ours(operation: &Operation<'_>, shown: &Shown) -> bool {
    let resource = operation.work.root_id.map(|id| ownership::resource(operation.work.owner, id));
    resource.is_some_and(|resource| is_tagged(shown, &resource))
}

/// Whether a stage is said to belong to a root.
pub(super) fn is_tagged(shown: &Shown, resource: &str) -> bool {
    shown.tags.as_ref().and_then(|tags| tags.get(ownership::RESOURCE)).is_some_and(|it| it == resource)
}

fn foreign(api_id: &str) -> Failure {
    Failure::new(
        Cause::Exists,
        "CreateStage",
        format!(
            "API {api_id} has a stage {DEFAULT} already, which is not managed here. Delete it (aws apigatewayv2 \
             delete-stage --api-id {api_id} --stage-name '{DEFAULT}') and apply again"
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const STAGE: &str = "/v2/apis/api1/stages/%24default";

    fn spec(log: bool) -> Stage {
        Stage {
            api: Key::new("api"),
            auto_deploy: true,
            deployment_failure: None,
            access_log: log.then(|| AccessLog {
                log_group: Ref::Key(Key::new("log_group")),
                format: Input::Known("$context.requestId".into()),
            }),
            tags: Input::Known([].into()),
        }
    }

    fn ids() -> [(Key, &'static str); 2] {
        [(Key::new("api"), "api1"), (Key::new("log_group"), "/http/shop")]
    }

    #[tokio::test(start_paused = true)]
    async fn a_stage_deploys_itself_and_logs_to_the_arn_without_a_star() {
        let post = "POST /v2/apis/api1/stages";
        let aws = Recorded::default().on(post, Answer::Json(201, json!({})));
        let session = aws.session("stage-create");
        let (answer, told) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(true)).await).await;
        answer.unwrap();
        assert_eq!(told.ids, [DEFAULT]);
        assert_eq!(
            aws.body(post),
            json!({ "stageName": "$default", "autoDeploy": true,
                "accessLogSettings": { "format": "$context.requestId",
                    "destinationArn": "arn:aws:logs:stage-create:123456789012:log-group:/http/shop" },
                "tags": { "fgw:resource": "http_gateway/api1", "fgw:object": "stage" } })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn access_logs_are_turned_off_by_a_call_of_their_own() {
        let off = format!("DELETE {STAGE}/accesslogsettings");
        let aws = Recorded::default().on(&off, Answer::Json(204, json!(null)));
        let session = aws.session("stage-off");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&spec(true)), &spec(false)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.calls(), [off]);
    }

    #[tokio::test(start_paused = true)]
    async fn access_logs_are_turned_on_in_place() {
        let patch = format!("PATCH {STAGE}");
        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("stage-on");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&spec(false)), &spec(true)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.body(&patch)["accessLogSettings"]["format"], "$context.requestId");
        assert_eq!(aws.calls().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stage_of_someone_else_is_left_alone() {
        let aws = Recorded::default()
            .on("POST /v2/apis/api1/stages", Answer::Error(409, "ConflictException", "Stage already exists"))
            .on(&format!("GET {STAGE}"), Answer::Json(200, json!({ "stageName": "$default" })));
        let session = aws.session("stage-foreign");
        let (answer, told) = run(&session, &Key::new("stage"), &ids(), async |it| create(it, &spec(false)).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        assert!(failure.message.contains("delete-stage --api-id api1"), "{failure}");
        assert!(told.ids.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_deployment_is_an_error_in_awss_words() {
        let failed = "Deployment attempt failed: Unable to deploy API because no routes exist in this API";
        let shows = |message: &str| Answer::Json(200, json!({ "lastDeploymentStatusMessage": message }));
        let aws = Recorded::default()
            .on(&format!("GET {STAGE}"), shows("Successfully deployed stage"))
            .on(&format!("GET {STAGE}"), shows(failed));
        let session = aws.session("stage-failed");
        let failure = settled_deployment(&session, "api1", Duration::ZERO).await.unwrap_err();
        assert!(failure.message.contains(failed), "{failure}");
        assert_eq!(aws.calls().len(), 3, "a first look may come before the deployment");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stage_whose_deployment_has_failed_differs_and_is_set_once_more() {
        let words = "Deployment attempt failed: Unable to deploy API";
        let shown = Shown::builder().auto_deploy(true).last_deployment_status_message(words).build();
        let Spec::Stage(failed) = read(&shown, Key::new("api"), Key::new("stage"), |arn| Ref::Id(arn.into())).spec
        else {
            panic!("it is a stage")
        };
        let difference = Spec::Stage(spec(false)).differences(&Spec::Stage(failed.clone()));
        assert_eq!(difference, [format!("deployment_failure is {words} instead of absent")]);
        let patch = format!("PATCH {STAGE}");
        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("stage-again");
        let call = async |it: &Operation<'_>| update(it, DEFAULT, Some(&failed), &spec(false)).await;
        run(&session, &Key::new("stage"), &ids(), call).await.0.unwrap();
        assert_eq!(aws.body(&patch), json!({ "autoDeploy": true }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_deployment_that_went_well_or_does_not_show_is_none() {
        let aws = Recorded::default().on(
            &format!("GET {STAGE}"),
            Answer::Json(
                200,
                json!({ "deploymentId": "d1",
                "lastDeploymentStatusMessage": "Successfully deployed stage with deployment ID 'd1'" }),
            ),
        );
        settled_deployment(&aws.session("stage-well"), "api1", Duration::ZERO).await.unwrap();
        assert_eq!(aws.calls().len(), 2);
        let aws = Recorded::default().on(&format!("GET {STAGE}"), Answer::Json(200, json!({})));
        check_deployment(&aws.session("stage-silent"), "api1").await.unwrap();
        assert_eq!(aws.calls().len(), 1);
    }
}
