//! Routes of an API.

use std::collections::BTreeMap;

use aws_sdk_apigatewayv2::types::{AuthorizationType, Route as Shown};

use super::{PAGE, change, client, deleted, holds, is_conflict, no_id, pages, root_id, text};
use crate::aws::Session;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::{ApiRoute, Entry, Key, Learned, Ref, Spec};

/// Lists an API's routes.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer =
            client(session).await.get_routes().api_id(api_id).max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.map_err(|error| error.failure("GetRoutes"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// What AWS shows of a route. `ours` are the keys of our integrations and authorizers by id.
pub(super) fn read(shown: &Shown, api: Key, key: Key, ours: &BTreeMap<String, Key>) -> Option<Observed> {
    let reference = |id: &str| ours.get(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()));
    let spec = ApiRoute {
        api,
        route_key: shown.route_key.clone()?,
        integration: integration_id(shown).map(reference),
        authorizer: protection(shown).map(reference),
    };
    Some(Observed { id: shown.route_id.clone()?, key, spec: Spec::ApiRoute(spec), learned: Learned::new() })
}

/// Makes a route, or takes the one that has its key already if that does the same.
pub(crate) async fn create(operation: &Operation<'_>, spec: &ApiRoute) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedRoute::of(operation, spec)?;
    let find = || async {
        let there = list(session, api_id).await?;
        match there.into_iter().find(|it| it.route_key.as_deref() == Some(&spec.route_key)) {
            Some(there) if wanted.equals(&there) => Ok(there.route_id),
            Some(there) => Err(different(spec, api_id, &there)),
            None => Ok(None),
        }
    };
    let (_turn, change) = change(operation, api_id, "CreateRoute").await;
    let answer = change
        .create(
            || async {
                let answer = client(session)
                    .await
                    .create_route()
                    .api_id(api_id)
                    .route_key(&spec.route_key)
                    .set_target(wanted.target.clone())
                    .authorization_type(wanted.authorization_type())
                    .set_authorizer_id(wanted.authorizer_id.map(str::to_string))
                    .customize()
                    .config_override(session.once_apigateway())
                    .send()
                    .await?;
                Ok(answer.route_id)
            },
            Ok,
            || async { Ok(find().await?.map(Some)) },
        )
        .await;
    let id = match answer {
        Ok(id) => id.ok_or_else(|| no_id("CreateRoute"))?,
        // Another conflict, such as that of two path variables on one level, finds no route with this key.
        Err(failure) if is_conflict(&failure) => find().await?.ok_or(failure)?,
        Err(failure) => return Err(failure),
    };
    operation.record_id(&id);
    Ok(())
}

/// Brings a route to its spec, in place: requests are served throughout. The authorization type goes with the
/// authorizer always, and an empty authorizer id takes the authorizer away.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&ApiRoute>,
    to: &ApiRoute,
) -> Result<(), Failure> {
    let api_id = operation.id(&to.api)?;
    let wanted = WantedRoute::of(operation, to)?;
    let route_key = from.is_none_or(|from| from.route_key != to.route_key).then(|| to.route_key.clone());
    let (_turn, change) = change(operation, api_id, "UpdateRoute").await;
    change
        .send(|| async {
            client(operation.session)
                .await
                .update_route()
                .api_id(api_id)
                .route_id(id)
                .set_route_key(route_key.clone())
                .set_target(wanted.target.clone())
                .authorization_type(wanted.authorization_type())
                .authorizer_id(wanted.authorizer_id.unwrap_or_default())
                .send()
                .await
        })
        .await
        .map(|_| ())
}

/// Deletes a route.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_turn, change) = change(operation, api_id, "DeleteRoute").await;
    let delete =
        || async { client(operation.session).await.delete_route().api_id(api_id).route_id(&entry.id).send().await };
    let is_there =
        || async { holds(list(operation.session, api_id).await, |it| it.route_id() == Some(entry.id.as_str())) };
    deleted(change.delete(delete, is_there).await)
}

/// The integration that a route points to.
pub(super) fn integration_id(shown: &Shown) -> Option<&str> {
    let target = shown.target.as_deref().filter(|target| !target.is_empty())?;
    Some(target.strip_prefix("integrations/").unwrap_or(target))
}

/// The authorizer that protects a route. AWS keeps the id of an authorizer that is no longer used, so the type
/// decides; a type that needs no authorizer, such as `AWS_IAM`, stands for itself.
pub(super) fn protection(shown: &Shown) -> Option<&str> {
    match shown.authorization_type.as_ref()? {
        AuthorizationType::None => None,
        other => Some(shown.authorizer_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(other.as_str())),
    }
}

struct WantedRoute<'a> {
    target: Option<String>,
    authorizer_id: Option<&'a str>,
}

impl<'a> WantedRoute<'a> {
    fn of(operation: &'a Operation<'_>, spec: &'a ApiRoute) -> Result<WantedRoute<'a>, Failure> {
        let integration = spec.integration.as_ref().map(|it| operation.resolve(it)).transpose()?;
        Ok(WantedRoute {
            target: integration.map(|id| format!("integrations/{id}")),
            authorizer_id: spec.authorizer.as_ref().map(|it| operation.resolve(it)).transpose()?,
        })
    }

    fn authorization_type(&self) -> AuthorizationType {
        if self.authorizer_id.is_some() { AuthorizationType::Custom } else { AuthorizationType::None }
    }

    fn equals(&self, shown: &Shown) -> bool {
        shown.target == self.target && protection(shown) == self.authorizer_id
    }
}

fn different(spec: &ApiRoute, api_id: &str, there: &Shown) -> Failure {
    let id = there.route_id.as_deref().unwrap_or_default();
    let target = text(there.target.as_deref()).unwrap_or_else(|| "nothing".into());
    let protection = protection(there).map(|it| format!(", protected by {it}")).unwrap_or_default();
    Failure::new(
        Cause::Exists,
        "CreateRoute",
        format!(
            "API {api_id} has a route {:?} already, which is not managed here: {id}, to {target}{protection}. Delete \
             it (aws apigatewayv2 delete-route --api-id {api_id} --route-id {id}) or take the route out of the \
             configuration",
            spec.route_key
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, Told, run};

    const POST: &str = "POST /v2/apis/api1/routes";
    const LIST: &str = "GET /v2/apis/api1/routes";

    fn spec() -> ApiRoute {
        ApiRoute {
            api: Key::new("api"),
            route_key: "GET /orders".into(),
            integration: Some(Ref::Key(Key::new("integration.orders"))),
            authorizer: Some(Ref::Key(Key::new("authorizer.token"))),
        }
    }

    async fn on(
        aws: &Recorded,
        region: &str,
        call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
    ) -> (Result<(), Failure>, Told) {
        let ids = [
            (Key::new("api"), "api1"),
            (Key::new("integration.orders"), "int1"),
            (Key::new("authorizer.token"), "auth1"),
        ];
        run(&aws.session(region), &Key::new("route.GET /orders"), &ids, call).await
    }

    fn there(authorizer: &str) -> Value {
        json!({ "items": [{ "routeId": "r1", "routeKey": "GET /orders", "target": "integrations/int1",
                "authorizationType": "CUSTOM", "authorizerId": authorizer }] })
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_points_to_its_integration_and_authorizer() {
        let aws = Recorded::default().on(POST, Answer::Json(201, json!({ "routeId": "r1" })));
        let (answer, told) = on(&aws, "route-create", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["r1"]);
        assert_eq!(
            aws.body(POST),
            json!({ "routeKey": "GET /orders", "target": "integrations/int1", "authorizationType": "CUSTOM", "authorizerId": "auth1" })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_waits_until_aws_knows_what_this_process_has_just_made_for_it() {
        let absent = || Answer::Error(404, "NotFoundException", "Unable to find Integration int1");
        let made = Answer::Json(201, json!({ "routeId": "r1" }));
        let ids = [
            (Key::new("api"), "api1"),
            (Key::new("integration.orders"), "int1"),
            (Key::new("authorizer.token"), "auth1"),
        ];
        let aws = Recorded::default().on(POST, absent()).on(POST, absent()).on(POST, made);
        let session = aws.session("route-newborn");
        session.process.created.add("int1");
        let (answer, told) =
            run(&session, &Key::new("route.GET /orders"), &ids, async |it| create(it, &spec()).await).await;
        assert_eq!((answer, told.ids), (Ok(()), vec!["r1".to_string()]));
        assert_eq!(aws.calls(), [POST, POST, POST]);

        // What was not made just now is gone.
        let aws = Recorded::default().on(POST, absent());
        let (answer, _) = on(&aws, "route-gone", async |it| create(it, &spec()).await).await;
        assert_eq!(answer.unwrap_err().cause, Cause::NotFound);
        assert_eq!(aws.calls(), [POST]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_whose_creating_answer_was_lost_is_found_by_its_key() {
        let aws = Recorded::default().on(POST, Answer::Lost).on(LIST, Answer::Json(200, there("auth1")));
        let (answer, told) = on(&aws, "route-lost", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["r1"]);
        assert_eq!(aws.calls(), [POST, LIST]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_that_is_there_is_taken_if_equal_and_named_if_not() {
        let exists = Answer::Error(409, "ConflictException", "Route with key GET /orders already exists for this API");
        let aws = Recorded::default().on(POST, exists.clone()).on(LIST, Answer::Json(200, there("auth1")));
        let (answer, told) = on(&aws, "route-equal", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["r1"]);

        let aws = Recorded::default().on(POST, exists).on(LIST, Answer::Json(200, there("auth2")));
        let (answer, told) = on(&aws, "route-different", async |it| create(it, &spec()).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        for text in ["\"GET /orders\"", "r1", "integrations/int1", "auth2", "delete-route"] {
            assert!(failure.message.contains(text), "{text} in {}", failure.message);
        }
        assert!(told.ids.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_conflict_of_path_variables_is_told_in_awss_words() {
        let words = "A conflicting variable on the same hierarchical level exists";
        let aws = Recorded::default()
            .on(POST, Answer::Error(409, "ConflictException", words))
            .on(LIST, Answer::Json(200, json!({ "items": [] })));
        let (answer, _) = on(&aws, "route-variable", async |it| create(it, &spec()).await).await;
        assert_eq!(answer.unwrap_err().message, words);
        assert_eq!(aws.calls().iter().filter(|call| *call == POST).count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn protection_is_taken_away_by_type_none_and_an_empty_id_in_place() {
        let patch = "PATCH /v2/apis/api1/routes/r1";
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let open = ApiRoute { authorizer: None, ..spec() };
        let (answer, _) = on(&aws, "route-open", async |it| update(it, "r1", Some(&spec()), &open).await).await;
        answer.unwrap();
        assert_eq!(
            aws.body(patch),
            json!({ "target": "integrations/int1", "authorizationType": "NONE", "authorizerId": "" })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_that_is_gone_counts_as_deleted() {
        let aws = Recorded::default()
            .on("DELETE /v2/apis/api1/routes/r1", Answer::Error(404, "NotFoundException", "Invalid route"));
        let entry = Entry::new(Key::new("route.GET /orders"), "r1", Spec::ApiRoute(spec()));
        on(&aws, "route-gone", async |it| delete(it, &entry).await).await.0.unwrap();
    }

    #[test]
    fn the_authorization_type_decides_whether_a_route_is_protected() {
        let shown = Shown::builder().authorizer_id("auth1");
        assert_eq!(protection(&shown.clone().authorization_type(AuthorizationType::None).build()), None);
        assert_eq!(protection(&shown.authorization_type(AuthorizationType::Custom).build()), Some("auth1"));
        let iam = Shown::builder().authorization_type(AuthorizationType::AwsIam).build();
        assert_eq!(protection(&iam), Some("AWS_IAM"), "what we cannot express must show as drift");
    }
}
