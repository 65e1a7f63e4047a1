//! HTTP APIs, the roots of gateways.

use aws_sdk_apigatewayv2::types::{Api as Shown, Cors as ShownCors, ProtocolType};

use super::{PAGE, api_arn, change, client, deleted, is_absent, no_id, pages, small, tag, text, unmapped, untag};
use crate::aws::Session;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed, Root, RootState, UnfinishedRoot};
use crate::model::Input;
use crate::model::TopologyKind;
use crate::model::keys::gateway::RESOURCE;
use crate::model::{Api, Cors, Entry, Key, Learned, Spec};

/// Reads an API. `None` only where AWS says that it does not exist.
pub(super) async fn get(session: &Session, api_id: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_api().api_id(api_id).send().await;
    match answer.map_err(|error| error.failure("GetApi")) {
        Ok(it) => Ok(Some(
            Shown::builder()
                .set_api_id(it.api_id)
                .set_name(it.name)
                .set_description(it.description)
                .set_version(it.version)
                .set_cors_configuration(it.cors_configuration)
                .set_api_endpoint(it.api_endpoint)
                .set_created_date(it.created_date)
                .set_tags(it.tags)
                .build(),
        )),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What AWS shows of an API.
pub(super) fn read(shown: &Shown, api_id: &str, key: Key, applied: Option<&Api>) -> Observed {
    let applied_cors = applied.and_then(|api| api.cors.known()).and_then(Option::as_ref);
    let spec = Api {
        name: Input::Known(shown.name.clone().unwrap_or_default()),
        description: Input::Known(text(shown.description.as_deref())),
        version: Input::Known(text(shown.version.as_deref())),
        cors: Input::Known(shown.cors_configuration.as_ref().and_then(|cors| read_cors(cors, applied_cors))),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    let mut learned = learned(shown.api_endpoint.clone());
    let resource = shown.tags.as_ref().and_then(|tags| tags.get(ownership::RESOURCE));
    learned.extend(resource.map(|resource| (RESOURCE.to_string(), resource.clone())));
    Observed { id: api_id.to_string(), key, spec: Spec::Api(spec), learned }
}

/// Makes an API, without a quick-create target: what that makes belongs to AWS and cannot be edited.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Api) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.name)?;
    let tags = ownership::tags_on_create_root(operation, &spec.tags, name)?;
    let resource = ownership::resource(operation.work.owner, name);
    let description = operation.known(&spec.description)?;
    let version = operation.known(&spec.version)?;
    let cors = operation.known(&spec.cors)?.as_ref().map(cors);
    let (deadlines, is_busy) = (&operation.work.deadlines, super::is_busy);
    let change = Mutation { action: "CreateApi", deadlines, is_busy, unknown_until: None, search: Search::TWO_LOOKS };
    let (id, endpoint) = change
        .create(
            || async {
                let answer = client(session)
                    .await
                    .create_api()
                    .name(name)
                    .protocol_type(ProtocolType::Http)
                    .set_description(description.clone())
                    .set_version(version.clone())
                    .set_cors_configuration(cors.clone())
                    .set_tags(Some(tags.clone().into_iter().collect()))
                    .customize()
                    .config_override(session.once_apigateway())
                    .send()
                    .await?;
                Ok((answer.api_id, answer.api_endpoint))
            },
            Ok,
            || async {
                let mut left = unfinished(session, &resource).await?;
                match left.len() {
                    0 => Ok(None),
                    1 => Ok(left.pop().map(|api| (api.api_id, api.api_endpoint))),
                    _ => Err(ambiguous(&left)),
                }
            },
        )
        .await?;
    let id = id.ok_or_else(|| no_id("CreateApi"))?;
    operation.record_id(&id);
    operation.record_learned(learned(endpoint));
    Ok(())
}

/// Brings an API to its spec. Text is cleared by an empty string, CORS by a call of its own: an empty object
/// does nothing.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: Option<&Api>, to: &Api) -> Result<(), Failure> {
    let session = operation.session;
    let (_turn, change) = change(operation, id, "UpdateApi").await;
    let name = operation.known(&to.name)?;
    let wanted_cors = operation.known(&to.cors)?.as_ref();
    let unchanged = from.is_some_and(|from| {
        (&from.name, &from.description, &from.version) == (&to.name, &to.description, &to.version)
            && (from.cors == to.cors || wanted_cors.is_none())
    });
    if !unchanged {
        let description = operation.known(&to.description)?.clone().unwrap_or_default();
        let version = operation.known(&to.version)?.clone().unwrap_or_default();
        change
            .send(|| async {
                client(session)
                    .await
                    .update_api()
                    .api_id(id)
                    .name(name)
                    .description(&description)
                    .version(&version)
                    .set_cors_configuration(wanted_cors.map(cors))
                    .send()
                    .await
            })
            .await?;
    }
    if wanted_cors.is_none() && from.is_none_or(|from| from.cors != Input::Known(None)) {
        let change = Mutation { action: "DeleteCorsConfiguration", ..change };
        let answer =
            change.send(|| async { client(session).await.delete_cors_configuration().api_id(id).send().await }).await;
        match answer {
            // It may be gone because an answer was lost; an API that is gone is none of that.
            Err(failure) if is_absent(&failure) && get(session, id).await?.is_some() => {}
            answer => answer.map(|_| ())?,
        }
    }
    let arn = api_arn(&session.scope, id);
    let mut tags = TagChanges::between(operation, from.map(|from| &from.tags), &to.tags)?;
    if from.is_none_or(|from| from.name != to.name) {
        tags.set.insert(ownership::RESOURCE.into(), ownership::resource(operation.work.owner, name));
    }
    tag(session, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// Deletes an API, and with it its routes, integrations, authorizers and stages.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (_turn, change) = change(operation, &entry.id, "DeleteApi").await;
    let delete = || async { client(operation.session).await.delete_api().api_id(&entry.id).send().await };
    let is_there = || async { Ok(get(operation.session, &entry.id).await?.is_some()) };
    unmapped(operation, &entry.id, || async { deleted(change.delete(delete, is_there).await) }).await
}

/// The tag `fgw:state` of an API, asked for by itself.
pub(crate) async fn state(session: &Session, id: &str) -> Result<Option<RootState>, Failure> {
    let arn = api_arn(&session.scope, id);
    let answer = client(session).await.get_tags().resource_arn(arn).send().await;
    let answer = answer.map_err(|error| error.failure("GetTags"))?;
    Ok(answer.tags().and_then(|tags| tags.get(ownership::STATE)).and_then(|state| ownership::state_in(state)))
}

/// The APIs that this provider has made.
pub(super) async fn roots(session: &Session, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
    let root = |api: Shown| ownership::root(owner, &api.api_id?, api.tags.unwrap_or_default().into_iter().collect());
    Ok(ownership::by_id(all(session).await?.into_iter().filter_map(root)))
}

/// The APIs of this name that a create of another process has not finished.
pub(super) async fn unfinished_roots(
    session: &Session,
    owner: TopologyKind,
    name: &str,
) -> Result<Vec<UnfinishedRoot>, Failure> {
    let left = unfinished(session, &ownership::resource(owner, name)).await?;
    let root = |api: Shown| {
        let created = api.created_date.map(|date| date.to_string());
        api.api_id.map(|id| UnfinishedRoot { id, created })
    };
    Ok(left.into_iter().filter_map(root).collect())
}

/// Sets the tag `fgw:state`.
pub(super) async fn mark_root(session: &Session, id: &str, state: RootState) -> Result<(), Failure> {
    let tag = (ownership::STATE, ownership::state(state));
    let arn = api_arn(&session.scope, id);
    let answer = client(session).await.tag_resource().resource_arn(arn).tags(tag.0, tag.1).send().await;
    answer.map(|_| ()).map_err(|error| error.failure("TagResource"))
}

fn learned(endpoint: Option<String>) -> Learned {
    endpoint.into_iter().map(|endpoint| ("api_endpoint".to_string(), endpoint)).collect()
}

async fn all(session: &Session) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session).await.get_apis().max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.map_err(|error| error.failure("GetApis"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

async fn unfinished(session: &Session, resource: &str) -> Result<Vec<Shown>, Failure> {
    let apis = all(session).await?;
    let creating = ownership::state(RootState::Creating);
    let is_left = |api: &Shown| {
        let tag = |key: &str| api.tags.as_ref().and_then(|tags| tags.get(key)).map(String::as_str);
        tag(ownership::RESOURCE) == Some(resource)
            && tag(ownership::STATE) == Some(creating)
            && !api.api_id.as_deref().is_some_and(|id| session.process.created.contains(id))
    };
    Ok(apis.into_iter().filter(is_left).collect())
}

fn ambiguous(apis: &[Shown]) -> Failure {
    let ids: Vec<&str> = apis.iter().filter_map(|api| api.api_id.as_deref()).collect();
    Failure::new(
        Cause::Exists,
        "CreateApi",
        format!("the answer was lost, and several unfinished APIs of this name exist: {}", ids.join(", ")),
    )
}

/// Every list is sent, empty ones too, so that none stays from before.
fn cors(cors: &Cors) -> ShownCors {
    ShownCors::builder()
        .allow_credentials(cors.allow_credentials)
        .set_allow_headers(Some(cors.allow_headers.clone()))
        .set_allow_methods(Some(cors.allow_methods.clone()))
        .set_allow_origins(Some(cors.allow_origins.clone()))
        .set_expose_headers(Some(cors.expose_headers.clone()))
        .set_max_age(cors.max_age.map(small))
        .build()
}

/// AWS may show lists in another order and headers in another case. They mean the same, so what was written is
/// kept then.
fn read_cors(shown: &ShownCors, applied: Option<&Cors>) -> Option<Cors> {
    let list = |shown: &Option<Vec<String>>, applied: Option<&Vec<String>>| -> Vec<String> {
        let shown = shown.clone().unwrap_or_default();
        match applied {
            Some(applied) if folded(applied) == folded(&shown) => applied.clone(),
            _ => shown,
        }
    };
    let max_age = match (shown.max_age.map(i64::from), applied.map(|it| it.max_age)) {
        (Some(0), None | Some(None)) => None,
        (shown, _) => shown,
    };
    let cors = Cors {
        allow_credentials: shown.allow_credentials.unwrap_or(false),
        allow_headers: list(&shown.allow_headers, applied.map(|it| &it.allow_headers)),
        allow_methods: list(&shown.allow_methods, applied.map(|it| &it.allow_methods)),
        allow_origins: list(&shown.allow_origins, applied.map(|it| &it.allow_origins)),
        expose_headers: list(&shown.expose_headers, applied.map(|it| &it.expose_headers)),
        max_age,
    };
    (applied.is_some() || cors != Cors::default()).then_some(cors)
}

fn folded(list: &[String]) -> Vec<String> {
    let mut list: Vec<String> = list.iter().map(|text| text.to_lowercase()).collect();
    list.sort();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, OWNER, Recorded, run};

    fn spec() -> Api {
        Api {
            name: Input::Known("shop".into()),
            description: Input::Known(None),
            version: Input::Known(None),
            cors: Input::Known(None),
            tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()),
        }
    }

    fn unfinished_api(id: &str) -> serde_json::Value {
        json!({ "apiId": id, "apiEndpoint": "https://e", "tags": {
            "fgw:resource": "http_gateway/shop", "fgw:state": "creating"
        } })
    }

    #[tokio::test(start_paused = true)]
    async fn a_create_carries_its_ownership_tags_and_tells_its_id_and_endpoint() {
        let aws = Recorded::default()
            .on("POST /v2/apis", Answer::Json(201, json!({ "apiId": "new1", "apiEndpoint": "https://new1" })));
        let session = aws.session("api-create");
        let (answer, told) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
        answer.unwrap();
        let body = aws.body("POST /v2/apis");
        assert_eq!(
            body,
            json!({ "name": "shop", "protocolType": "HTTP", "tags": {
                "team": "web", "fgw:resource": "http_gateway/shop", "fgw:state": "creating"
            } })
        );
        assert_eq!(told.ids, ["new1"]);
        assert_eq!(told.learned["api_endpoint"], "https://new1");
    }

    #[tokio::test(start_paused = true)]
    async fn an_api_whose_creating_answer_was_lost_is_found_on_the_last_page_by_its_tags() {
        let ready = json!({ "apiId": "other", "tags": {
            "fgw:resource": "http_gateway/shop", "fgw:state": "ready"
        } });
        let aws = Recorded::default()
            .on("POST /v2/apis", Answer::Lost)
            .on("GET /v2/apis", Answer::Json(200, json!({ "items": [ready], "nextToken": "p2" })))
            .on("GET /v2/apis?nextToken=p2", Answer::Json(200, json!({ "items": [unfinished_api("lost1")] })));
        let session = aws.session("api-lost");
        let (answer, told) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["lost1"]);
        assert_eq!(aws.calls(), ["POST /v2/apis", "GET /v2/apis", "GET /v2/apis?nextToken=p2"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_create_that_left_nothing_behind_is_sent_again_but_not_for_ever() {
        let aws = Recorded::default()
            .on("POST /v2/apis", Answer::Error(500, "InternalFailure", "oops"))
            .on("GET /v2/apis", Answer::Json(200, json!({ "items": [] })));
        let session = aws.session("api-again");
        let (answer, told) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
        assert_eq!(answer.unwrap_err().message, "oops");
        assert!(told.ids.is_empty());
        assert_eq!(aws.calls().iter().filter(|call| *call == "POST /v2/apis").count(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_create_that_may_have_left_something_is_not_sent_again_blindly() {
        let aws = Recorded::default()
            .on("POST /v2/apis", Answer::Lost)
            .on("GET /v2/apis", Answer::Error(403, "AccessDeniedException", "not GetApis"));
        let session = aws.session("api-blind");
        let (answer, _) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
        let message = answer.unwrap_err().message;
        assert!(message.contains("not known") && message.contains("not GetApis"), "{message}");
        assert_eq!(aws.calls(), ["POST /v2/apis", "GET /v2/apis"]);
    }

    #[tokio::test(start_paused = true)]
    async fn text_is_cleared_by_empty_strings_and_cors_and_tags_by_calls_of_their_own() {
        let tags = "/v2/tags/arn%3Aaws%3Aapigateway%3Aapi-clear%3A%3A%2Fapis%2Fapi1";
        let untag = format!("DELETE {tags}?tagKeys=old");
        let aws = Recorded::default()
            .on("PATCH /v2/apis/api1", Answer::Json(200, json!({})))
            .on("DELETE /v2/apis/api1/cors", Answer::Json(204, json!(null)))
            .on(&format!("POST {tags}"), Answer::Json(201, json!({})))
            .on(&untag, Answer::Json(204, json!(null)));
        let session = aws.session("api-clear");
        let from = Api {
            description: Input::Known(Some("text".into())),
            version: Input::Known(Some("1".into())),
            cors: Input::Known(Some(Cors { allow_origins: vec!["*".into()], ..Cors::default() })),
            tags: Input::Known([("old".to_string(), Input::Known("1".to_string()))].into()),
            ..spec()
        };
        let (answer, _) =
            run(&session, &Key::new("api"), &[], async |it| update(it, "api1", Some(&from), &spec()).await).await;
        answer.unwrap();
        assert_eq!(aws.body("PATCH /v2/apis/api1"), json!({ "name": "shop", "description": "", "version": "" }));
        assert_eq!(aws.body(&format!("POST {tags}")), json!({ "tags": { "team": "web" } }));
        assert!(aws.calls().contains(&"DELETE /v2/apis/api1/cors".to_string()));
        assert!(aws.calls().contains(&untag));
    }

    #[tokio::test(start_paused = true)]
    async fn only_tags_are_sent_when_only_tags_change_and_a_new_name_is_kept_in_the_ownership_tag() {
        let tags = "POST /v2/tags/arn%3Aaws%3Aapigateway%3Aapi-tags%3A%3A%2Fapis%2Fapi1";
        let aws = Recorded::default()
            .on(tags, Answer::Json(201, json!({})))
            .on("PATCH /v2/apis/api1", Answer::Json(200, json!({})));
        let session = aws.session("api-tags");
        let from = Api { tags: Input::Known([].into()), ..spec() };
        run(&session, &Key::new("api"), &[], async |it| update(it, "api1", Some(&from), &spec()).await)
            .await
            .0
            .unwrap();
        assert_eq!(aws.calls(), [tags]);
        let from = Api { name: Input::Known("old".into()), ..spec() };
        run(&session, &Key::new("api"), &[], async |it| update(it, "api1", Some(&from), &spec()).await)
            .await
            .0
            .unwrap();
        assert_eq!(aws.asked().last().unwrap().body, json!({ "tags": { "fgw:resource": "http_gateway/shop" } }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_concurrent_change_is_waited_for_and_a_mapping_is_not() {
        let entry = Entry::new(Key::new("api"), "api1", Spec::Api(spec()));
        let busy = "Unable to complete operation due to concurrent modification. Please try again later.";
        let aws = Recorded::default()
            .on("DELETE /v2/apis/api1", Answer::Error(409, "ConflictException", busy))
            .on("DELETE /v2/apis/api1", Answer::Error(409, "ConflictException", busy))
            .on("DELETE /v2/apis/api1", Answer::Error(404, "NotFoundException", "no such API"));
        let session = aws.session("api-busy");
        run(&session, &entry.key, &[], async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls().len(), 3);

        let mapped = "Please remove all base path mappings related to the stage in your domains";
        let aws = Recorded::default().on("DELETE /v2/apis/api1", Answer::Error(400, "BadRequestException", mapped));
        let session = aws.session("api-mapped");
        let failure = run(&session, &entry.key, &[], async |it| delete(it, &entry).await).await.0.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        assert_eq!(aws.calls().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_this_process_made_is_not_what_a_killed_run_has_left() {
        let here = Answer::Json(201, json!({ "apiId": "here1" }));
        let aws = Recorded::default().on("POST /v2/apis", here).on(
            "GET /v2/apis",
            Answer::Json(200, json!({ "items": [unfinished_api("here1"), unfinished_api("killed1")] })),
        );
        let session = aws.session("api-left");
        run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await.0.unwrap();
        let left = unfinished_roots(&session, OWNER, "shop").await.unwrap();
        assert_eq!(left.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["killed1"]);
        assert!(unfinished_roots(&session, OWNER, "sho").await.unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_apis_of_this_provider_are_listed_page_by_page_with_their_names_and_tags() {
        let api = |id: &str, tags| json!({ "apiId": id, "name": "front", "tags": tags });
        let ours = api("b1", json!({ "fgw:resource": "http_gateway/shop", "fgw:state": "incomplete", "team": "web" }));
        let items = json!([ours, api("c1", json!({ "team": "web" }))]);
        let last = json!([unfinished_api("a1")]);
        let aws = Recorded::default()
            .on("GET /v2/apis", Answer::Json(200, json!({ "items": items, "nextToken": "p2" })))
            .on("GET /v2/apis?nextToken=p2", Answer::Json(200, json!({ "items": last })));
        let found = roots(&aws.session("api-roots"), OWNER).await.unwrap();
        let told: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.name.as_str(), it.tags.len(), it.state)).collect();
        let expected = [("a1", "shop", 0, Some(RootState::Creating)), ("b1", "shop", 1, Some(RootState::Incomplete))];
        assert_eq!(told, expected);
    }

    #[test]
    fn cors_lists_in_another_order_or_case_are_what_was_written() {
        let applied = Cors {
            allow_headers: vec!["Authorization".into(), "X-Id".into()],
            allow_methods: vec!["GET".into()],
            ..Cors::default()
        };
        let shown = ShownCors::builder().allow_headers("x-id").allow_headers("authorization").allow_methods("GET");
        assert_eq!(read_cors(&shown.clone().max_age(0).build(), Some(&applied)), Some(applied.clone()));
        let drifted = read_cors(&shown.allow_methods("POST").build(), Some(&applied)).unwrap();
        assert_eq!(drifted.allow_methods, ["GET", "POST"]);
        assert_eq!(read_cors(&ShownCors::builder().build(), None), None);
    }
}
