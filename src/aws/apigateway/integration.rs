//! Lambda proxy integrations.

use aws_sdk_apigatewayv2::types::{Integration as Shown, IntegrationType};

use super::{PAGE, change, client, deleted, holds, no_id, pages, root_id, small, text};
use crate::aws::Session;
use crate::aws::calls::{AwsError, Operation};
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
        let answer = answer.map_err(|error| error.failure("GetIntegrations"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// What AWS shows of an integration. `None` where it does not call a function, so that it is none of ours.
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

/// Makes an integration, or takes one that is there already and equal: a killed run left it, since no two of ours
/// are equal.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Integration) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedIntegration::of(operation, spec)?;
    let find = || async {
        let there = list(session, api_id).await?;
        let left = there.into_iter().find(|it| wanted.equals(it));
        Ok(left.and_then(|it| it.integration_id))
    };
    let (_turn, change) = change(operation, api_id, "CreateIntegration").await;
    // Two integrations may be equal, so AWS would not tell that one is there.
    // An API that this process created holds nothing from an interrupted run.
    let left = if session.process.created.contains(api_id) { None } else { find().await? };
    let id = match left {
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
            .await?
            .ok_or_else(|| no_id("CreateIntegration"))?,
    };
    operation.record_id(&id);
    Ok(())
}

/// Brings an integration to its spec. The type must be sent again with every update; the description is cleared by an
/// empty string.
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
        // Only what it needs has changed, which is no property of it in AWS.
        return Ok(());
    }
    let api_id = operation.id(&to.api)?;
    let (_turn, change) = change(operation, api_id, "UpdateIntegration").await;
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

/// Deletes an integration, which AWS refuses while a route points to it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_turn, change) = change(operation, api_id, "DeleteIntegration").await;
    let delete = || async {
        let client = client(operation.session).await;
        client.delete_integration().api_id(api_id).integration_id(&entry.id).send().await
    };
    let is_there =
        || async { holds(list(operation.session, api_id).await, |it| it.integration_id() == Some(entry.id.as_str())) };
    deleted(change.delete(delete, is_there).await)
}

/// The function behind an integration's or authorizer's URI, which may be the function's ARN or the URI that
/// invokes it.
pub(super) fn function(uri: &str) -> &str {
    uri.split_once(":lambda:path/2015-03-31/functions/")
        .and_then(|(_, function)| function.strip_suffix("/invocations"))
        .unwrap_or(uri)
}

/// The longest timeout, which AWS uses where none was set.
const LONGEST_TIMEOUT: i64 = 30_000;

/// The inputs of an integration, all known.
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

    /// Whether an integration does the same and nothing else.
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
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::cloud::Cause;

    const POST: &str = "POST /v2/apis/api1/integrations";
    const LIST: &str = "GET /v2/apis/api1/integrations";
    const FUNCTION: &str = "arn:aws:lambda:eu-central-1:123456789012:function:orders";

    fn spec() -> Integration {
        Integration {
            api: Key::new("api"),
            function_arn: Input::Known(FUNCTION.into()),
            payload_format_version: Input::Known("1.0".into()),
            timeout_in_millis: Input::Known(30_000),
            description: Input::Known(None),
            permission: None,
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

    #[tokio::test(start_paused = true)]
    async fn an_integration_that_a_killed_run_left_is_taken() {
        let there = json!({ "items": [shown("i1", 29_000), shown("i2", 30_000)] });
        let aws = Recorded::default().on(LIST, Answer::Json(200, there));
        let (answer, told) =
            run(&aws.session("integration-left"), &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["i2"]);
        assert_eq!(aws.calls(), [LIST]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_integration_is_made_where_none_is_equal() {
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [shown("i1", 29_000)] })))
            .on(POST, Answer::Json(201, json!({ "integrationId": "i2" })));
        let (answer, told) =
            run(&aws.session("integration-new"), &Key::new("i"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["i2"]);
        assert_eq!(
            aws.body(POST),
            json!({ "integrationType": "AWS_PROXY", "integrationMethod": "POST", "integrationUri": FUNCTION,
                "payloadFormatVersion": "1.0", "timeoutInMillis": 30_000 })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_description_is_cleared_by_an_empty_string_and_the_rest_is_sent_again() {
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
        let other_need = Integration { permission: Some(Key::new("permission.orders")), ..spec() };
        run(&session, &Key::new("i"), &ids(), async |it| update(it, "i1", Some(&other_need), &spec()).await)
            .await
            .0
            .unwrap();
        assert_eq!(aws.calls().len(), 1, "what an integration waits for is no property of it");
    }

    #[tokio::test(start_paused = true)]
    async fn an_integration_in_use_is_not_asked_for_twice() {
        let words = "Cannot delete Integration because it is referenced by the following Routes";
        let delete_call = "DELETE /v2/apis/api1/integrations/i1";
        let aws = Recorded::default().on(delete_call, Answer::Error(409, "ConflictException", words));
        let entry = Entry::new(Key::new("i"), "i1", Spec::Integration(spec()));
        let session = aws.session("integration-used");
        let failure = run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        assert_eq!(aws.calls(), [delete_call]);
    }

    #[test]
    fn an_invoke_uri_reads_as_the_function_that_was_configured() {
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
