//! REQUEST authorizers.

use aws_sdk_apigatewayv2::types::{Authorizer as Shown, AuthorizerType};

use super::{PAGE, change, client, deleted, digest, holds, no_id, pages, root_id, small, text};
use crate::aws::Session;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Failure, Observed};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{Authorizer, Entry, Key, Learned, Spec};

/// Lists an API's authorizers.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer =
            client(session).await.get_authorizers().api_id(api_id).max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.map_err(|error| error.failure("GetAuthorizers"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// What AWS shows of an authorizer. `None` where it is not a REQUEST authorizer, so that it is none of ours.
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
    let name = match applied {
        // Whether it is the plain or the longer name, it is ours.
        Some(applied) => [&applied.name, &longer_name(applied)].contains(&&spec.name).then(|| applied.name.clone()),
        None => {
            let suffix = format!("-{}", digest(&fixed(&spec)));
            spec.name.strip_suffix(&suffix).map(str::to_string)
        }
    };
    spec.name = name.unwrap_or(spec.name);
    // In another order they mean the same, so what was written is kept then.
    if let (Some(Input::Known(applied)), Input::Known(shown)) =
        (applied.map(|it| &it.identity_sources), &mut spec.identity_sources)
        && shown.len() == applied.len()
        && applied.iter().all(|source| shown.contains(source))
    {
        shown.clone_from(applied);
    }
    Some(spec)
}

/// The observation of an authorizer that is ours.
pub(super) fn observed(shown: &Shown, spec: Authorizer, key: Key) -> Option<Observed> {
    Some(Observed { id: shown.authorizer_id.clone()?, key, spec: Spec::Authorizer(spec), learned: Learned::new() })
}

/// Makes an authorizer, or takes one that is there already and equal: a killed run left it.
///
/// Names are unique within an API, but what an authorizer calls is exchanged by making a new one while the old
/// one still protects routes. The new one then gets a longer name.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Authorizer) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedAuthorizer::of(operation, spec)?;
    let longer_name = longer_name(spec);
    let find = || async {
        let there = list(session, api_id).await?;
        let is_ours = |it: &Shown| {
            it.name.as_ref().is_some_and(|name| *name == spec.name || *name == longer_name) && wanted.equals(it)
        };
        Ok(there.into_iter().find(is_ours).and_then(|it| it.authorizer_id))
    };
    let (_turn, change) = change(operation, api_id, "CreateAuthorizer").await;
    let create = async |name: &str| {
        change
            .create(
                || async {
                    let answer = client(session)
                        .await
                        .create_authorizer()
                        .api_id(api_id)
                        .name(name)
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
                },
                Ok,
                || async { Ok(find().await?.map(Some)) },
            )
            .await
    };
    // An API that this process created holds nothing from an interrupted run.
    let left = if session.process.created.contains(api_id) { None } else { find().await? };
    let id = match left {
        Some(id) => Some(id),
        None => match create(&spec.name).await {
            Err(failure) if is_name_taken(&failure) => create(&longer_name).await?,
            answer => answer?,
        },
    };
    operation.record_id(&id.ok_or_else(|| no_id("CreateAuthorizer"))?);
    Ok(())
}

/// Brings an authorizer to its spec. Everything is sent: the credentials are cleared by an empty string, the identity
/// sources by an empty list, and an answer is not kept with a TTL of 0. Only the name is sent just where someone has
/// changed it, as an authorizer may have the plain or the longer one.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&Authorizer>,
    to: &Authorizer,
) -> Result<(), Failure> {
    let api_id = operation.id(&to.api)?;
    let wanted = WantedAuthorizer::of(operation, to)?;
    let had_simple_responses = from.is_none_or(|from| from.enable_simple_responses != Input::Known(false));
    let simple_responses = wanted.simple_responses().or(had_simple_responses.then_some(false));
    let (_turn, change) = change(operation, api_id, "UpdateAuthorizer").await;
    let update = async |name: Option<String>| {
        let update = || async {
            client(operation.session)
                .await
                .update_authorizer()
                .api_id(api_id)
                .authorizer_id(id)
                .set_name(name.clone())
                .authorizer_type(AuthorizerType::Request)
                .authorizer_uri(wanted.uri)
                .authorizer_payload_format_version(wanted.payload_format_version)
                .set_identity_source(Some(wanted.identity_sources.to_vec()))
                .authorizer_result_ttl_in_seconds(wanted.ttl)
                .set_enable_simple_responses(simple_responses)
                .authorizer_credentials_arn(wanted.credentials_arn.unwrap_or_default())
                .send()
                .await
        };
        change.send(update).await.map(|_| ())
    };
    match from.is_some_and(|from| from.name != to.name) {
        false => update(None).await,
        true => match update(Some(to.name.clone())).await {
            Err(failure) if is_name_taken(&failure) => update(Some(longer_name(to))).await,
            answer => answer,
        },
    }
}

/// Deletes an authorizer, which AWS refuses while a route uses it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_turn, change) = change(operation, api_id, "DeleteAuthorizer").await;
    let delete = || async {
        let client = client(operation.session).await;
        client.delete_authorizer().api_id(api_id).authorizer_id(&entry.id).send().await
    };
    let is_there =
        || async { holds(list(operation.session, api_id).await, |it| it.authorizer_id() == Some(entry.id.as_str())) };
    deleted(change.delete(delete, is_there).await)
}

/// The name of one that is made while another one has the plain name.
fn longer_name(spec: &Authorizer) -> String {
    format!("{}-{}", spec.name, digest(&fixed(spec)))
}

/// What of an authorizer is part of its identity, as text.
fn fixed(spec: &Authorizer) -> String {
    match &keys::authorizer(spec).fixed {
        Input::Known(fixed) => fixed.clone(),
        Input::Unknown => String::new(),
    }
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

    /// AWS knows simple responses with payload 2.0 only, so `false` is not sent with 1.0.
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

fn is_name_taken(failure: &Failure) -> bool {
    let message = failure.message.to_lowercase();
    message.contains("name must be unique") || (super::is_conflict(failure) && message.contains("already exists"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const POST: &str = "POST /v2/apis/api1/authorizers";
    const LIST: &str = "GET /v2/apis/api1/authorizers";

    fn spec() -> Authorizer {
        Authorizer {
            api: Key::new("api"),
            name: "token".into(),
            authorizer_uri: Input::Known("arn:aws:apigateway:uri".into()),
            payload_format_version: Input::Known("1.0".into()),
            identity_sources: Input::Known(vec![]),
            result_ttl_in_seconds: Input::Known(0),
            enable_simple_responses: Input::Known(false),
            credentials_arn: Input::Known(None),
        }
    }

    fn ids() -> [(Key, &'static str); 1] {
        [(Key::new("api"), "api1")]
    }

    #[tokio::test(start_paused = true)]
    async fn the_new_one_of_an_exchange_gets_a_longer_name_that_reads_as_the_plain_one() {
        let taken = "Authorizer name must be unique. Authorizer token already exists in this RestApi.";
        let aws = Recorded::default()
            .on(LIST, Answer::Json(200, json!({ "items": [] })))
            .on(POST, Answer::Error(400, "BadRequestException", taken))
            .on(POST, Answer::Json(201, json!({ "authorizerId": "a2" })));
        let session = aws.session("authorizer-exchange");
        let (answer, told) = run(&session, &Key::new("a"), &ids(), async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["a2"]);
        let bodies: Vec<_> = aws.asked().into_iter().filter(|it| it.call == POST).map(|it| it.body).collect();
        assert_eq!(bodies[0]["name"], "token");
        assert_eq!(bodies[0]["authorizerResultTtlInSeconds"], 0, "without it AWS keeps answers for 300 s");
        let name = bodies[1]["name"].as_str().unwrap();
        assert!(name.starts_with("token-"), "{name}");

        let shown = |name: &str| {
            Shown::builder()
                .authorizer_id("a2")
                .name(name)
                .authorizer_type(AuthorizerType::Request)
                .authorizer_uri("arn:aws:apigateway:uri")
                .authorizer_payload_format_version("1.0")
                .build()
        };
        assert_eq!(read(&shown(name), Key::new("api"), None), Some(spec()), "after an import");
        assert_eq!(read(&shown(name), Key::new("api"), Some(&spec())), Some(spec()));
        let renamed = read(&shown("theirs"), Key::new("api"), Some(&spec())).unwrap();
        assert_eq!(renamed, Authorizer { name: "theirs".into(), ..spec() }, "someone has renamed it");
        let foreign = Shown::builder().name("jwt").authorizer_type(AuthorizerType::Jwt).build();
        assert_eq!(read(&foreign, Key::new("api"), None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_update_sends_what_clears_credentials_sources_and_caching() {
        let patch = "PATCH /v2/apis/api1/authorizers/a1";
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let from = Authorizer {
            result_ttl_in_seconds: Input::Known(60),
            identity_sources: Input::Known(vec!["$request.header.Authorization".into()]),
            credentials_arn: Input::Known(Some("arn:aws:iam::1:role/r".into())),
            ..spec()
        };
        let session = aws.session("authorizer-update");
        run(&session, &Key::new("a"), &ids(), async |it| update(it, "a1", Some(&from), &spec()).await).await.0.unwrap();
        assert_eq!(
            aws.body(patch),
            json!({ "authorizerType": "REQUEST", "authorizerUri": "arn:aws:apigateway:uri",
                "authorizerPayloadFormatVersion": "1.0", "identitySource": [], "authorizerResultTtlInSeconds": 0,
                "authorizerCredentialsArn": "" })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_someone_has_changed_comes_back_the_longer_one_where_the_plain_one_is_taken() {
        let patch = "PATCH /v2/apis/api1/authorizers/a1";
        let aws = Recorded::default()
            .on(patch, Answer::Error(400, "BadRequestException", "Authorizer name must be unique."))
            .on(patch, Answer::Json(200, json!({})));
        let from = Authorizer { name: "theirs".into(), ..spec() };
        let session = aws.session("authorizer-renamed");
        run(&session, &Key::new("a"), &ids(), async |it| update(it, "a1", Some(&from), &spec()).await).await.0.unwrap();
        let names: Vec<_> = aws.asked().into_iter().map(|it| it.body["name"].clone()).collect();
        assert_eq!(names, ["token".to_string(), longer_name(&spec())]);
    }
}
