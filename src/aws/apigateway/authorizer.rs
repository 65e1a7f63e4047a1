//! REQUEST authorizers of an API.

use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_apigatewayv2::error::SdkError;
use aws_sdk_apigatewayv2::operation::create_authorizer::CreateAuthorizerError;
use aws_sdk_apigatewayv2::types::{Authorizer as Shown, AuthorizerType};

use super::deployment::before_deletion;
use super::{
    PAGE, change, client, deleted, holds, is_managed, is_unclear, no_id, pages, root_id, route, small, text,
    unreferenced, with_quota_advice,
};
use crate::aws::Session;
use crate::aws::calls::codes::is_authorizer_name_taken;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::errors::not_from_aws;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure};
use crate::model::Input;
use crate::model::{Authorizer, Entry, Key};

/// Lists an API's authorizers.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    list_if_supported(session, api_id).await?
}

/// The same. The inner failure is a response that is not from AWS, such as that of moto 5.2.5, which has no such call.
pub(super) async fn list_if_supported(session: &Session, api_id: &str) -> Result<Result<Vec<Shown>, Failure>, Failure> {
    let is_supported = AtomicBool::new(true);
    let listed = pages(async |token| {
        let answer =
            client(session).await.get_authorizers().api_id(api_id).max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.map_err(|error| {
            is_supported.store(error.raw_response().and_then(not_from_aws).is_none(), Ordering::Relaxed);
            error.failure("GetAuthorizers")
        })?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await;
    match listed {
        Err(failure) if is_supported.load(Ordering::Relaxed) => Err(failure),
        listed => Ok(listed),
    }
}

/// Converts an authorizer that AWS returned to a spec. `None` for other types than REQUEST.
pub(super) fn read(shown: &Shown, api: Key, applied: Option<&Authorizer>) -> Option<Authorizer> {
    if shown.authorizer_type != Some(AuthorizerType::Request) {
        return None;
    }
    let mut spec = Authorizer {
        api,
        name: shown.name.clone()?,
        authorizer_uri: Input::Known(shown.authorizer_uri.clone()?),
        payload_format_version: Input::Known(shown.authorizer_payload_format_version.clone().unwrap_or_default()),
        identity_sources: Input::Known(shown.identity_source.clone().unwrap_or_default()),
        result_ttl_in_seconds: Input::Known(shown.authorizer_result_ttl_in_seconds.map_or(0, i64::from)),
        enable_simple_responses: Input::Known(shown.enable_simple_responses.unwrap_or(false)),
        credentials_arn: Input::Known(text(shown.authorizer_credentials_arn.as_deref())),
    };
    // The order has no meaning, so the applied order is kept.
    if let (Some(Input::Known(applied)), Input::Known(shown)) =
        (applied.map(|it| &it.identity_sources), &mut spec.identity_sources)
        && shown.len() == applied.len()
        && applied.iter().all(|source| shown.contains(source))
    {
        shown.clone_from(applied);
    }
    Some(spec)
}

/// Creates an authorizer, or adopts an equal one.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Authorizer) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedAuthorizer::of(operation, spec)?;
    let create = || async {
        let answer = client(session)
            .await
            .create_authorizer()
            .api_id(api_id)
            .name(&spec.name)
            .authorizer_type(AuthorizerType::Request)
            .authorizer_uri(wanted.uri)
            .authorizer_payload_format_version(wanted.payload_format_version)
            .set_identity_source(Some(wanted.identity_sources.to_vec()))
            .authorizer_result_ttl_in_seconds(wanted.ttl)
            .set_enable_simple_responses(wanted.simple_responses())
            .set_authorizer_credentials_arn(wanted.credentials_arn.map(str::to_string))
            .customize()
            .config_override(session.once_apigateway())
            .send()
            .await?;
        Ok(answer.authorizer_id)
    };
    let id = created((operation, api_id), &spec.name, |it| wanted.equals(it), create).await?;
    operation.record_id(&id);
    Ok(())
}

/// The ID of a new authorizer, or of an equal one that is not in state and that no unmanaged route uses: an interrupted
/// run may have created it. Names are unique within an API, so any other authorizer with this name is an error.
pub(super) async fn created<F>(
    (operation, api_id): (&Operation<'_>, &str),
    name: &str,
    equals: impl Fn(&Shown) -> bool,
    create: impl Fn() -> F,
) -> Result<String, Failure>
where
    F: Future<Output = Result<Option<String>, SdkError<CreateAuthorizerError>>>,
{
    let session = operation.session;
    let find = || async {
        let existing = list(session, api_id).await?;
        let equal = existing.into_iter().find(|it| it.name.as_deref() == Some(name) && equals(it));
        let Some(id) = equal.and_then(|it| it.authorizer_id).filter(|id| !is_managed(operation, id)) else {
            return Ok(None);
        };
        let used = route::used_by_unmanaged(operation, api_id).await?;
        Ok(Some(id).filter(|id| !used.contains(id)))
    };
    let (_lock, change) = change(operation, api_id, "CreateAuthorizer").await;
    // An API that this process created contains no objects of an interrupted run.
    let existing = if session.process.created.contains(api_id) { None } else { find().await? };
    if let Some(id) = existing {
        return Ok(id);
    }
    match change.create(create, Ok, || async { Ok(find().await?.map(Some)) }).await {
        Ok(id) => id.ok_or_else(|| no_id("CreateAuthorizer")),
        Err(failure) if is_authorizer_name_taken(&failure) => Err(taken(operation, api_id, name, failure).await),
        Err(failure) => Err(with_quota_advice(failure)),
    }
}

/// Sends the fields that differ. An empty string clears the credentials, an empty list the identity sources, and a TTL
/// of 0 disables caching.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &Authorizer,
    to: &Authorizer,
) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let api_id = operation.id(&to.api)?;
    let (before, wanted) = (WantedAuthorizer::of(operation, from)?, WantedAuthorizer::of(operation, to)?);
    let name = (from.name != to.name).then(|| to.name.clone());
    let uri = Some(wanted.uri).filter(|uri| *uri != before.uri);
    let version = Some(wanted.payload_format_version).filter(|it| *it != before.payload_format_version);
    let sources = Some(wanted.identity_sources).filter(|sources| *sources != before.identity_sources);
    let ttl = Some(wanted.ttl).filter(|ttl| *ttl != before.ttl);
    let simple_responses = Some(wanted.enable_simple_responses).filter(|it| *it != before.enable_simple_responses);
    let credentials = Some(wanted.credentials_arn).filter(|it| *it != before.credentials_arn);
    let (_lock, change) = change(operation, api_id, "UpdateAuthorizer").await;
    let update = || async {
        client(operation.session)
            .await
            .update_authorizer()
            .api_id(api_id)
            .authorizer_id(id)
            .set_name(name.clone())
            .set_authorizer_uri(uri.map(str::to_string))
            .set_authorizer_payload_format_version(version.map(str::to_string))
            .set_identity_source(sources.map(<[String]>::to_vec))
            .set_authorizer_result_ttl_in_seconds(ttl)
            .set_enable_simple_responses(simple_responses)
            .set_authorizer_credentials_arn(credentials.map(|arn| arn.unwrap_or_default().to_string()))
            .send()
            .await
    };
    updated(operation, api_id, &to.name, change.send(update).await).await
}

/// The result of an update.
pub(super) async fn updated<T>(
    operation: &Operation<'_>,
    api_id: &str,
    name: &str,
    answer: Result<T, Failure>,
) -> Result<(), Failure> {
    match answer {
        Ok(_) => Ok(()),
        Err(failure) if is_authorizer_name_taken(&failure) => Err(taken(operation, api_id, name, failure).await),
        Err(failure) => Err(failure),
    }
}

/// Deletes an authorizer. AWS rejects this while a route uses it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    before_deletion(operation, api_id, Awaited::CreatesAndUpdates, entry).await?;
    let delete = || async {
        let client = client(operation.session).await;
        client.delete_authorizer().api_id(api_id).authorizer_id(&entry.id).send().await
    };
    let exists =
        || async { holds(list(operation.session, api_id).await, |it| it.authorizer_id() == Some(entry.id.as_str())) };
    unreferenced(operation, || async {
        let (_lock, change) = change(operation, api_id, "DeleteAuthorizer").await;
        deleted(change.delete(delete, is_unclear, exists).await)
    })
    .await
}

struct WantedAuthorizer<'a> {
    uri: &'a str,
    payload_format_version: &'a str,
    identity_sources: &'a [String],
    ttl: i32,
    enable_simple_responses: bool,
    credentials_arn: Option<&'a str>,
}

impl<'a> WantedAuthorizer<'a> {
    fn of(operation: &Operation<'_>, spec: &'a Authorizer) -> Result<WantedAuthorizer<'a>, Failure> {
        Ok(WantedAuthorizer {
            uri: operation.known(&spec.authorizer_uri)?,
            payload_format_version: operation.known(&spec.payload_format_version)?,
            identity_sources: operation.known(&spec.identity_sources)?,
            ttl: small(*operation.known(&spec.result_ttl_in_seconds)?),
            enable_simple_responses: *operation.known(&spec.enable_simple_responses)?,
            credentials_arn: operation.known(&spec.credentials_arn)?.as_deref().filter(|text| !text.is_empty()),
        })
    }

    /// AWS supports simple responses only with payload format 2.0, so `false` is omitted with 1.0.
    fn simple_responses(&self) -> Option<bool> {
        (self.enable_simple_responses || self.payload_format_version != "1.0").then_some(self.enable_simple_responses)
    }

    fn equals(&self, shown: &Shown) -> bool {
        shown.authorizer_type == Some(AuthorizerType::Request)
            && shown.authorizer_uri.as_deref() == Some(self.uri)
            && shown.authorizer_payload_format_version.as_deref() == Some(self.payload_format_version)
            && shown.identity_source.as_deref().unwrap_or_default() == self.identity_sources
            && shown.authorizer_result_ttl_in_seconds.unwrap_or(0) == self.ttl
            && shown.enable_simple_responses.unwrap_or(false) == self.enable_simple_responses
            && text(shown.authorizer_credentials_arn.as_deref()).as_deref() == self.credentials_arn
    }
}

/// The error for a name that another authorizer has. If that authorizer cannot be found, the answer of AWS.
async fn taken(operation: &Operation<'_>, api_id: &str, name: &str, failure: Failure) -> Failure {
    let existing = list(operation.session, api_id).await.unwrap_or_default();
    let holder = existing.into_iter().find(|it| it.name.as_deref() == Some(name));
    let Some(id) = holder.and_then(|it| it.authorizer_id) else { return failure };
    if is_managed(operation, &id) {
        let message = format!("authorizer {id} of this gateway still has the name {name:?}; apply again");
        return Failure { message, ..failure };
    }
    let message = format!("API {api_id} already has an unmanaged authorizer {name:?} ({id})");
    Failure { cause: Cause::Exists, message, ..failure }.with_advice(
        "Delete it with this command, or use another name in the configuration.",
        [format!("aws apigatewayv2 delete-authorizer --api-id {api_id} --authorizer-id {id}")],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::model::Spec;

    const POST: &str = "POST /v2/apis/api1/authorizers";
    const LIST: &str = "GET /v2/apis/api1/authorizers";

    fn spec() -> Authorizer {
        Authorizer {
            authorizer_uri: Input::Known("arn:aws:apigateway:uri".into()),
            payload_format_version: Input::Known("1.0".into()),
            ..Authorizer::test()
        }
    }

    fn ids() -> [(Key, &'static str); 1] {
        [(Key::new("api"), "api1")]
    }

    const ROUTES: &str = "GET /v2/apis/api1/routes";
    const TAKEN: &str = "Authorizer name must be unique. Authorizer token already exists in this RestApi.";

    fn item(id: &str, uri: &str) -> serde_json::Value {
        json!({ "authorizerId": id, "name": "token", "authorizerType": "REQUEST", "authorizerUri": uri,
            "authorizerPayloadFormatVersion": "1.0" })
    }

    #[tokio::test(start_paused = true)]
    async fn equal_authorizer_is_adopted_unless_an_unmanaged_route_uses_it() {
        for (route_key, adopted) in [("GET /wanted", true), ("GET /theirs", false)] {
            let route = json!({ "routeId": "r1", "routeKey": route_key, "authorizationType": "CUSTOM",
                "authorizerId": "a1" });
            let aws = Recorded::default()
                .on(LIST, Answer::Json(200, json!({ "items": [item("a1", "arn:aws:apigateway:uri")] })))
                .on(ROUTES, Answer::Json(200, json!({ "items": [route] })))
                .on(POST, Answer::Error(400, "BadRequestException", TAKEN));
            let session = aws.session("authorizer-left");
            let routes = ["GET /wanted".to_string()];
            let (answer, reported) = run(&session, &Key::new("a"), &ids(), async |it| {
                create(&Operation { routes: &routes, ..*it }, &spec()).await
            })
            .await;
            assert_eq!((answer.is_ok(), reported.ids.len()), (adopted, usize::from(adopted)), "{answer:?}");
            assert_eq!(aws.calls().contains(&POST.to_string()), !adopted);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn taken_name_is_an_error_that_names_the_authorizer() {
        let patch = "PATCH /v2/apis/api1/authorizers/a1";
        let taken = Answer::Error(400, "BadRequestException", TAKEN);
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [item("a9", "arn:aws:apigateway:other")] })))
            .on(POST, taken.clone())
            .on(patch, taken);
        let session = aws.session("authorizer-taken");
        let from = Authorizer { name: "theirs".into(), ..spec() };
        let created = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await;
        let updated = run(&session, &Key::new("a"), &ids(), async |it| update(it, "a1", &from, &spec()).await).await;
        for ((answer, reported), action) in [(created, "CreateAuthorizer"), (updated, "UpdateAuthorizer")] {
            let failure = answer.unwrap_err();
            assert_eq!((failure.cause, failure.action.as_str()), (Cause::Exists, action));
            for text in ["\"token\" (a9)", "delete-authorizer --api-id api1 --authorizer-id a9", "another name"] {
                assert!(failure.text().contains(text), "no {text} in {}", failure.text());
            }
            assert!(reported.ids.is_empty());
        }
        let names: Vec<_> = aws.requests().into_iter().filter(|it| it.call == patch).map(|it| it.body).collect();
        assert_eq!(names[0]["name"], "token", "a name that was changed outside Terraform is restored");
    }

    #[tokio::test(start_paused = true)]
    async fn create_sets_every_attribute() {
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [] })))
            .on(POST, Answer::Json(201, json!({ "authorizerId": "a2" })));
        let session = aws.session("authorizer-create");
        let (answer, reported) = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["a2"]);
        // The default TTL of AWS is 300 s, so 0 is sent too.
        assert_eq!(
            aws.body(POST),
            json!({ "name": "token", "authorizerType": "REQUEST", "authorizerUri": "arn:aws:apigateway:uri",
                "authorizerPayloadFormatVersion": "1.0", "identitySource": [], "authorizerResultTtlInSeconds": 0 })
        );
    }

    #[test]
    fn other_names_are_read_as_drift_and_other_types_are_ignored() {
        let shown = |name: &str| {
            Shown::builder()
                .authorizer_id("a2")
                .name(name)
                .authorizer_type(AuthorizerType::Request)
                .authorizer_uri("arn:aws:apigateway:uri")
                .authorizer_payload_format_version("1.0")
                .build()
        };
        assert_eq!(read(&shown("token"), Key::new("api"), None), Some(spec()), "after an import");
        assert_eq!(read(&shown("token"), Key::new("api"), Some(&spec())), Some(spec()));
        let renamed = read(&shown("theirs"), Key::new("api"), Some(&spec())).unwrap();
        assert_eq!(renamed, Authorizer { name: "theirs".into(), ..spec() });
        let other = Shown::builder().name("jwt").authorizer_type(AuthorizerType::Jwt).build();
        assert_eq!(read(&other, Key::new("api"), None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn update_clears_credentials_identity_sources_and_caching() {
        let patch = "PATCH /v2/apis/api1/authorizers/a1";
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let from = Authorizer {
            result_ttl_in_seconds: Input::Known(60),
            identity_sources: Input::Known(vec!["$request.header.Authorization".into()]),
            credentials_arn: Input::Known(Some("arn:aws:iam::1:role/r".into())),
            ..spec()
        };
        let session = aws.session("authorizer-update");
        run(&session, &Key::new("a"), &ids(), async |it| update(it, "a1", &from, &spec()).await).await.0.unwrap();
        assert_eq!(
            aws.body(patch),
            json!({ "identitySource": [], "authorizerResultTtlInSeconds": 0, "authorizerCredentialsArn": "" })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn delete_is_retried_while_a_changed_route_still_blocks_it() {
        let delete_call = "DELETE /v2/apis/api1/authorizers/a1";
        let used = "Cannot delete authorizer 'a1', is referenced in route: r1";
        let aws = Recorded::default()
            .on(delete_call, Answer::Error(409, "ConflictException", used))
            .on(delete_call, Answer::Json(204, json!(null)));
        let entry = Entry::new(Key::new("a"), "a1", Spec::Authorizer(spec()));
        let session = aws.session("authorizer-lag");
        run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls(), [delete_call; 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_exceeded_quota_is_an_error_with_advice() {
        // The answer of anomalyco/sst#4522.
        let words = "Maximum number of Authorizers for this API has been reached. Please contact AWS if you need \
                     additional Authorizers.";
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [] })))
            .on(POST, Answer::Error(429, "ConflictException", words));
        let session = aws.session("authorizer-quota");
        let failure = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await.0.unwrap_err();
        assert!(failure.message.starts_with(words) && failure.message.contains("request a higher quota"), "{failure}");
        assert_eq!(aws.calls(), [LIST, POST], "the call is not retried");
    }
}
