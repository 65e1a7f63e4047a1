//! Lambda proxy integrations of an API.

use aws_sdk_apigatewayv2::types::{Integration as Shown, IntegrationType};

use super::deployment::before_deletion;
use super::{
    PAGE, change, client, deleted, holds, is_managed, is_unclear, no_id, pages, root_id, route, small, text,
    unreferenced, with_quota_advice,
};
use crate::aws::Session;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Failure, Observed};
use crate::model::Input;
use crate::model::{Entry, Integration, Key, Learned, Spec};

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

/// Converts an integration that AWS returned to an observation. `None` for other types than Lambda proxy, which this
/// provider never creates.
pub(super) fn read(shown: &Shown, api: Key, key: Key, applied: Option<&Integration>) -> Option<Observed> {
    if shown.integration_type != Some(IntegrationType::AwsProxy) || shown.integration_subtype.is_some() {
        return None;
    }
    let function = function(shown.integration_uri.as_deref()?);
    let applied_function = applied.and_then(|it| it.function_arn.known());
    let function_arn = applied_function.filter(|it| self::function(it) == function).map_or(function, String::as_str);
    let spec = Integration {
        api,
        function_arn: Input::Known(function_arn.to_string()),
        payload_format_version: Input::Known(shown.payload_format_version.clone().unwrap_or_default()),
        timeout_in_millis: Input::Known(shown.timeout_in_millis.map_or(LONGEST_TIMEOUT, i64::from)),
        description: Input::Known(text(shown.description.as_deref())),
        permission: applied.and_then(|it| it.permission.clone()),
    };
    Some(Observed { id: shown.integration_id.clone()?, key, spec: Spec::Integration(spec), learned: Learned::new() })
}

/// Creates an integration, or adopts an equal one that is not in state and that no unmanaged route uses: an interrupted
/// run may have created it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Integration) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedIntegration::of(operation, spec)?;
    let find = || async {
        let existing = list(session, api_id).await?;
        let equal = existing.into_iter().filter(|it| wanted.equals(it)).filter_map(|it| it.integration_id);
        let equal: Vec<String> = equal.filter(|id| !is_managed(operation, id)).collect();
        if equal.is_empty() {
            return Ok(None);
        }
        let used = route::used_by_unmanaged(operation, api_id).await?;
        Ok(equal.into_iter().find(|id| !used.contains(id)))
    };
    let (_lock, change) = change(operation, api_id, "CreateIntegration").await;
    // AWS accepts equal integrations, so CreateIntegration does not report an existing one. An API that this process
    // created contains no objects of an interrupted run.
    let existing = if session.process.created.contains(api_id) { None } else { find().await? };
    let id = match existing {
        Some(id) => id,
        None => change
            .create(
                || async {
                    let answer = client(session)
                        .await
                        .create_integration()
                        .api_id(api_id)
                        .integration_type(IntegrationType::AwsProxy)
                        .integration_method("POST")
                        .integration_uri(wanted.function_arn)
                        .payload_format_version(wanted.payload_format_version)
                        .timeout_in_millis(wanted.timeout_in_millis)
                        .set_description(wanted.description.map(str::to_string))
                        .customize()
                        .config_override(session.once_apigateway())
                        .send()
                        .await?;
                    Ok(answer.integration_id)
                },
                Ok,
                || async { Ok(find().await?.map(Some)) },
            )
            .await
            .map_err(with_quota_advice)?
            .ok_or_else(|| no_id("CreateIntegration"))?,
    };
    operation.record_id(&id);
    Ok(())
}

/// Updates an integration to match its spec. Every call must include the type. An empty string clears a description.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&Integration>,
    to: &Integration,
) -> Result<(), Failure> {
    let wanted = WantedIntegration::of(operation, to)?;
    if let Some(from) = from
        && WantedIntegration::of(operation, from)? == wanted
    {
        // Only the permission has changed, which is not an attribute of the integration in AWS.
        return Ok(());
    }
    let api_id = operation.id(&to.api)?;
    let (_lock, change) = change(operation, api_id, "UpdateIntegration").await;
    change
        .send(|| async {
            client(operation.session)
                .await
                .update_integration()
                .api_id(api_id)
                .integration_id(id)
                .integration_type(IntegrationType::AwsProxy)
                .integration_method("POST")
                .integration_uri(wanted.function_arn)
                .payload_format_version(wanted.payload_format_version)
                .timeout_in_millis(wanted.timeout_in_millis)
                .description(wanted.description.unwrap_or_default())
                .send()
                .await
        })
        .await
        .map(|_| ())
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
const LONGEST_TIMEOUT: i64 = 30_000;

/// The known inputs of an integration.
#[derive(PartialEq)]
struct WantedIntegration<'a> {
    function_arn: &'a str,
    payload_format_version: &'a str,
    timeout_in_millis: i32,
    description: Option<&'a str>,
}

impl<'a> WantedIntegration<'a> {
    fn of(operation: &Operation<'_>, spec: &'a Integration) -> Result<WantedIntegration<'a>, Failure> {
        Ok(WantedIntegration {
            function_arn: operation.known(&spec.function_arn)?,
            payload_format_version: operation.known(&spec.payload_format_version)?,
            timeout_in_millis: small(*operation.known(&spec.timeout_in_millis)?),
            description: operation.known(&spec.description)?.as_deref().filter(|text| !text.is_empty()),
        })
    }

    /// Whether an integration has these inputs and no further settings.
    fn equals(&self, shown: &Shown) -> bool {
        shown.integration_type == Some(IntegrationType::AwsProxy)
            && shown.integration_subtype.is_none()
            && shown.integration_uri.as_deref().map(function) == Some(function(self.function_arn))
            && shown.payload_format_version.as_deref() == Some(self.payload_format_version)
            && shown.timeout_in_millis == Some(self.timeout_in_millis)
            && text(shown.description.as_deref()).as_deref() == self.description
            && text(shown.credentials_arn.as_deref()).is_none()
            && shown.request_parameters.as_ref().is_none_or(|it| it.is_empty())
            && shown.response_parameters.as_ref().is_none_or(|it| it.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::cloud::{Case, Cause};

    const POST: &str = "POST /v2/apis/api1/integrations";
    const LIST: &str = "GET /v2/apis/api1/integrations";
    const ROUTES: &str = "GET /v2/apis/api1/routes";
    const FUNCTION: &str = "arn:aws:lambda:eu-central-1:123456789012:function:orders";

    fn spec() -> Integration {
        Integration {
            function_arn: Input::Known(FUNCTION.into()),
            payload_format_version: Input::Known("1.0".into()),
            ..Integration::test()
        }
    }

    fn shown(id: &str, timeout: i32) -> Value {
        json!({ "integrationId": id, "integrationType": "AWS_PROXY", "payloadFormatVersion": "1.0",
            "timeoutInMillis": timeout, "integrationUri":
            format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}/invocations") })
    }

    fn ids() -> [(Key, &'static str); 1] {
        [(Key::new("api"), "api1")]
    }

    /// The calls of a create with these equal integrations and one route in AWS, and the recorded ID.
    async fn create_next_to(equal: &[&str], route: Value, known: &[&str]) -> (Vec<String>, Vec<String>) {
        let equal = equal.iter().map(|id| shown(id, 30_000));
        let items: Vec<Value> = equal.chain([shown("other", 29_000)]).collect();
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": items })))
            .on(ROUTES, Answer::Json(200, json!({ "items": [route] })))
            .on(POST, Answer::Json(201, json!({ "integrationId": "new" })));
        let session = aws.session("integration-left");
        for id in known {
            session.process.created.add(*id);
        }
        let routes = ["GET /wanted".to_string()];
        let (answer, reported) = run(&session, &Key::new("i"), &ids(), async |it| {
            create(&Operation { routes: &routes, ..*it }, &spec()).await
        })
        .await;
        answer.unwrap();
        (aws.calls(), reported.ids)
    }

    fn route_to(id: &str, key: &str) -> Value {
        json!({ "routeId": "r1", "routeKey": key, "target": format!("integrations/{id}"), "authorizationType": "NONE" })
    }

    #[tokio::test(start_paused = true)]
    async fn equal_integration_of_an_interrupted_run_is_adopted() {
        let adopted = |id: &str| (vec![LIST.to_string(), ROUTES.to_string()], vec![id.to_string()]);
        assert_eq!(create_next_to(&["i1"], route_to("other", "GET /theirs"), &[]).await, adopted("i1"));
        assert_eq!(create_next_to(&["i1"], route_to("i1", "GET /wanted"), &[]).await, adopted("i1"));
        assert_eq!(create_next_to(&["i1"], route_to("i1", "GET /ours"), &["r1"]).await, adopted("i1"));
        assert_eq!(create_next_to(&["i1", "i2"], route_to("i1", "GET /theirs"), &[]).await, adopted("i2"));
    }

    #[tokio::test(start_paused = true)]
    async fn equal_integration_of_others_or_in_state_is_not_adopted() {
        let created = |calls: &[&str]| (calls.iter().map(|it| it.to_string()).collect(), vec!["new".to_string()]);
        let theirs = create_next_to(&["i1"], route_to("i1", "GET /theirs"), &[]).await;
        assert_eq!(theirs, created(&[LIST, ROUTES, POST]));
        let ours = create_next_to(&["i1"], route_to("i1", "GET /ours"), &["i1", "r1"]).await;
        assert_eq!(ours, created(&[LIST, POST]));
    }

    #[tokio::test(start_paused = true)]
    async fn integration_is_created_if_none_is_equal() {
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [shown("i1", 29_000)] })))
            .on(POST, Answer::Json(201, json!({ "integrationId": "i2" })));
        let (answer, reported) =
            run(&aws.session("integration-new"), &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["i2"]);
        assert_eq!(
            aws.body(POST),
            json!({ "integrationType": "AWS_PROXY", "integrationMethod": "POST", "integrationUri": FUNCTION,
                "payloadFormatVersion": "1.0", "timeoutInMillis": 30_000 })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn update_clears_the_description_and_sends_all_other_fields() {
        let patch = "PATCH /v2/apis/api1/integrations/i1";
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let from = Integration { description: Input::Known(Some("text".into())), ..spec() };
        let session = aws.session("integration-clear");
        run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", Some(&from), &spec()).await).await.0.unwrap();
        assert_eq!(
            aws.body(patch),
            json!({ "integrationType": "AWS_PROXY", "integrationMethod": "POST", "integrationUri": FUNCTION,
                "payloadFormatVersion": "1.0", "timeoutInMillis": 30_000, "description": "" })
        );
        let other_permission = Integration { permission: Some(Key::new("permission.orders")), ..spec() };
        run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", Some(&other_permission), &spec()).await)
            .await
            .0
            .unwrap();
        assert_eq!(aws.calls().len(), 1, "a change of the permission sends no call");
    }

    #[tokio::test(start_paused = true)]
    async fn delete_of_an_integration_in_use_is_retried_for_30_s() {
        let message = "Cannot delete Integration because it is referenced by the following Routes";
        let delete_call = "DELETE /v2/apis/api1/integrations/i1";
        let used = || Answer::Error(409, "ConflictException", message);
        let entry = Entry::new(Key::new("i"), "i1", Spec::Integration(spec()));
        let deleted = Answer::Json(204, Value::Null);
        let aws = Recorded::default().on(delete_call, used()).on(delete_call, used()).on(delete_call, deleted);
        run(&aws.session("integration-lag"), &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls(), [delete_call; 3]);

        let (aws, start) = (Recorded::default().on(delete_call, used()), Instant::now());
        let session = aws.session("integration-used");
        let failure = run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        assert!(failure.message.starts_with(message), "{failure}");
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_retried_delete_does_not_block_other_changes_of_the_api() {
        let used = Answer::Error(409, "ConflictException", "It is referenced by the following Routes: r1");
        let patch = "PATCH /v2/apis/api1/integrations/i2";
        let delete_call = "DELETE /v2/apis/api1/integrations/i1";
        let aws = Recorded::default().on(delete_call, used).on(patch, Answer::Json(200, json!({})));
        let session = aws.session("integration-lock");
        let entry = Entry::new(Key::new("i"), "i1", Spec::Integration(spec()));
        let described = Integration { description: Input::Known(Some("text".into())), ..spec() };
        let (ids, start) = (ids(), Instant::now());
        let (deleted, updated) = tokio::join!(
            run(&session, &entry.key, &ids, async |it| delete(it, &entry).await),
            run(&session, &entry.key, &ids, async |it| {
                update(it, "i2", Some(&spec()), &described).await?;
                assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
                Ok(())
            })
        );
        updated.0.unwrap();
        assert_eq!(deleted.0.unwrap_err().cause, Cause::InUse);
    }

    #[tokio::test(start_paused = true)]
    async fn an_exceeded_quota_is_an_error_with_advice_and_is_not_retried() {
        let message = "Maximum number of Integrations for this API has been reached. Please contact AWS if you need \
                       additional Integrations.";
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [] })))
            .on(POST, Answer::Error(429, "ConflictException", message));
        let session = aws.session("integration-quota");
        let failure = run(&session, &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await.0.unwrap_err();
        assert!(failure.message.starts_with(message), "{failure}");
        assert!(failure.message.contains("without the objects to be deleted first"), "{failure}");
        assert_eq!(failure.case, Some(Case::QuotaExceeded));
        assert_eq!(aws.calls(), [LIST, POST]);
    }

    #[test]
    fn invoke_uri_is_read_as_the_configured_function() {
        let uri = format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{FUNCTION}/invocations");
        let shown = Shown::builder()
            .integration_id("i1")
            .integration_type(IntegrationType::AwsProxy)
            .integration_uri(uri)
            .payload_format_version("1.0")
            .timeout_in_millis(30_000)
            .description("")
            .build();
        let observed = read(&shown, Key::new("api"), Key::new("i"), Some(&spec())).unwrap();
        assert_eq!(observed.spec, Spec::Integration(spec()));
        let proxy = Shown::builder().integration_type(IntegrationType::HttpProxy).integration_uri("https://a").build();
        assert_eq!(read(&proxy, Key::new("api"), Key::new("i"), None), None);
    }
}
