//! Routes of an API.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_apigatewayv2::types::{AuthorizationType as SdkType, Route as Shown};

use super::deployment::before_deletion;
use super::stage::settings;
use super::{
    PAGE, change, client, deleted, holds, is_conflict, is_managed, is_unclear, no_id, pages, root_id, text,
    with_quota_advice,
};
use crate::aws::Session;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::{ApiRoute, Authorization, AuthorizationType, Entry, Input, Key, Learned, Ref, Spec};

/// Lists an API's routes.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer =
            client(session).await.get_routes().api_id(api_id).max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.or_failure("GetRoutes")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// Converts a route that AWS returned to an observation. `ours` contains the keys of the gateway's integrations and
/// authorizers by ID.
pub(super) fn read(shown: &Shown, api: Key, key: Key, ours: &BTreeMap<String, Key>) -> Option<Observed> {
    let reference = |id: &str| ours.get(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()));
    let authorization = authorization(shown);
    let spec = ApiRoute {
        api,
        route_key: shown.route_key.clone()?,
        integration: integration_id(shown).map(reference),
        authorization: Authorization { authorizer: authorizer_id(shown).map(reference), ..authorization },
    };
    let operation = text(shown.operation_name.as_deref()).map(|name| ("operation_name".to_string(), name));
    let learned = Learned { unexpressed: operation.into_iter().collect(), ..Learned::new() };
    Some(Observed { id: shown.route_id.clone()?, key, spec: Spec::ApiRoute(spec), learned })
}

/// Creates a route, or adopts an existing one with the same route key, target and authorizer.
pub(crate) async fn create(operation: &Operation<'_>, spec: &ApiRoute) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = WantedRoute::of(operation, spec)?;
    let find = || async {
        let existing = list(session, api_id).await?;
        match existing.into_iter().find(|it| it.route_key.as_deref() == Some(&spec.route_key)) {
            Some(existing)
                if wanted.equals(&existing) && !existing.route_id().is_some_and(|id| is_managed(operation, id)) =>
            {
                Ok(existing.route_id)
            }
            Some(existing) => Err(different(spec, api_id, &existing)),
            None => Ok(None),
        }
    };
    let (_lock, change) = change(operation, api_id, "CreateRoute").await;
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
                    .set_authorization_scopes(Some(wanted.scopes()).filter(|it| !it.is_empty()))
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
        // After another conflict, such as two path variables at one level, no route with this key exists.
        Err(failure) if is_conflict(&failure) => find().await?.ok_or_else(|| with_quota_advice(failure))?,
        Err(failure) => return Err(failure),
    };
    operation.record_id(&id);
    Ok(())
}

/// Updates a route in place, without an interruption of requests, and sends what differs. Type, authorizer and scopes
/// of an authorization are sent together, because AWS keeps each of them that is omitted, also one that is not in use.
/// An empty authorizer ID removes the authorizer, and an empty list the scopes.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &ApiRoute, to: &ApiRoute) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let api_id = operation.id(&to.api)?;
    let wanted = WantedRoute::of(operation, to)?;
    let route_key = (from.route_key != to.route_key).then(|| to.route_key.clone());
    if route_key.is_some() {
        settings::forget(operation, api_id, &from.route_key).await?;
    }
    let target = wanted.target.clone().filter(|_| from.integration != to.integration);
    let protects = from.authorization != to.authorization;
    let (_lock, change) = change(operation, api_id, "UpdateRoute").await;
    change
        .send(|| async {
            client(operation.session)
                .await
                .update_route()
                .api_id(api_id)
                .route_id(id)
                .set_route_key(route_key.clone())
                .set_target(target.clone())
                .set_authorization_type(protects.then(|| wanted.authorization_type()))
                .set_authorizer_id(protects.then(|| wanted.authorizer_id.unwrap_or_default().to_string()))
                .set_authorization_scopes(protects.then(|| wanted.scopes()))
                .send()
                .await
        })
        .await
        .map(|_| ())
}

/// Deletes a route.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    before_deletion(operation, api_id, Awaited::CreatesAndUpdates, entry).await?;
    if let Spec::ApiRoute(route) = entry.spec() {
        settings::forget(operation, api_id, &route.route_key).await?;
    }
    let (_lock, change) = change(operation, api_id, "DeleteRoute").await;
    let delete =
        || async { client(operation.session).await.delete_route().api_id(api_id).route_id(&entry.id).send().await };
    let exists =
        || async { holds(list(operation.session, api_id).await, |it| it.route_id() == Some(entry.id.as_str())) };
    deleted(change.delete(delete, is_unclear, exists).await)
}

/// The IDs of the integrations and authorizers that unmanaged routes use. A route that is not in state counts as
/// managed if it uses the object of the operation: either an interrupted run created it, or its creation reports a
/// conflict.
pub(super) async fn used_by_unmanaged(operation: &Operation<'_>, api_id: &str) -> Result<BTreeSet<String>, Failure> {
    let routes = list(operation.session, api_id).await?;
    let is_unmanaged = |shown: &&Shown| {
        let is_wanted = shown.route_key().is_some_and(|key| operation.routes.iter().any(|it| it == key));
        !is_wanted && !shown.route_id().is_some_and(|id| is_managed(operation, id))
    };
    let used = routes.iter().filter(is_unmanaged).flat_map(|shown| [integration_id(shown), authorizer_id(shown)]);
    Ok(used.flatten().map(str::to_string).collect())
}

/// The ID of the integration that a route points to.
pub(super) fn integration_id(shown: &Shown) -> Option<&str> {
    let target = shown.target.as_deref().filter(|target| !target.is_empty())?;
    Some(target.strip_prefix("integrations/").unwrap_or(target))
}

/// The authorization of a route, with the ID of its authorizer.
pub(super) fn authorization(shown: &Shown) -> Authorization {
    let kind = shown.authorization_type.as_ref().map(|it| AuthorizationType::named(it.as_str())).unwrap_or_default();
    let scopes = shown.authorization_scopes().iter().filter(|_| kind == AuthorizationType::Jwt).cloned().collect();
    let authorizer = authorizer_id(shown).map(|id| Ref::Id(id.to_string()));
    Authorization { kind, authorizer, scopes: Input::Known(scopes) }
}

/// The ID of the authorizer of a route. AWS keeps the ID of an unused authorizer, so the type is decisive.
pub(super) fn authorizer_id(shown: &Shown) -> Option<&str> {
    let id = shown.authorizer_id.as_deref().filter(|id| !id.is_empty());
    id.filter(|_| !matches!(shown.authorization_type, None | Some(SdkType::None | SdkType::AwsIam)))
}

struct WantedRoute<'a> {
    target: Option<String>,
    kind: &'a AuthorizationType,
    authorizer_id: Option<&'a str>,
    scopes: &'a BTreeSet<String>,
}

impl<'a> WantedRoute<'a> {
    fn of(operation: &'a Operation<'_>, spec: &'a ApiRoute) -> Result<WantedRoute<'a>, Failure> {
        let integration = spec.integration.as_ref().map(|it| operation.resolve(it)).transpose()?;
        let Authorization { kind, authorizer, scopes } = &spec.authorization;
        Ok(WantedRoute {
            target: integration.map(|id| format!("integrations/{id}")),
            kind,
            authorizer_id: authorizer.as_ref().map(|it| operation.resolve(it)).transpose()?,
            scopes: operation.known(scopes)?,
        })
    }

    fn authorization_type(&self) -> SdkType {
        self.kind.name().into()
    }

    fn scopes(&self) -> Vec<String> {
        self.scopes.iter().cloned().collect()
    }

    fn equals(&self, shown: &Shown) -> bool {
        let Authorization { kind, scopes, .. } = authorization(shown);
        shown.target == self.target
            && (kind, scopes.known()) == (self.kind.clone(), Some(self.scopes))
            && authorizer_id(shown) == self.authorizer_id
    }
}

fn different(spec: &ApiRoute, api_id: &str, existing: &Shown) -> Failure {
    let id = existing.route_id.as_deref().unwrap_or_default();
    let target = text(existing.target.as_deref()).unwrap_or_else(|| "nothing".into());
    Failure::new(
        Cause::Exists,
        "CreateRoute",
        format!(
            "API {api_id} already has an unmanaged route {:?} ({id}), which points to {target} with authorization {}",
            spec.route_key,
            authorization(existing)
        ),
    )
    .with_advice(
        "Delete it with this command, or remove the route from the configuration.",
        [format!("aws apigatewayv2 delete-route --api-id {api_id} --route-id {id}")],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, Records, run};

    const POST: &str = "POST /v2/apis/api1/routes";
    const LIST: &str = "GET /v2/apis/api1/routes";

    fn spec() -> ApiRoute {
        ApiRoute {
            route_key: "GET /orders".into(),
            integration: Some(Ref::Key(Key::new("integration.orders"))),
            authorization: Authorization::custom(Ref::Key(Key::new("authorizer.token"))),
            ..ApiRoute::test()
        }
    }

    async fn on(
        aws: &Recorded,
        region: &str,
        call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
    ) -> (Result<(), Failure>, Records) {
        let ids = [
            (Key::new("api"), "api1"),
            (Key::new("integration.orders"), "int1"),
            (Key::new("authorizer.token"), "auth1"),
        ];
        run(&aws.session(region), &Key::new("route.GET /orders"), &ids, call).await
    }

    fn existing(authorizer: &str) -> Value {
        json!({ "items": [{ "routeId": "r1", "routeKey": "GET /orders", "target": "integrations/int1",
                "authorizationType": "CUSTOM", "authorizerId": authorizer }] })
    }

    #[tokio::test(start_paused = true)]
    async fn create_sets_integration_and_authorizer() {
        let aws = Recorded::default().on(POST, Answer::Json(201, json!({ "routeId": "r1" })));
        let (answer, reported) = on(&aws, "route-create", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["r1"]);
        assert_eq!(
            aws.body(POST),
            json!({ "routeKey": "GET /orders", "target": "integrations/int1", "authorizationType": "CUSTOM", "authorizerId": "auth1" })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_route_is_created_with_its_scopes() {
        let aws = Recorded::default().on(POST, Answer::Json(201, json!({ "routeId": "r1" })));
        let scopes = Input::Known(["read".to_string()].into());
        let authorization = Authorization { kind: AuthorizationType::Jwt, scopes, ..spec().authorization };
        let scoped = ApiRoute { authorization, ..spec() };
        on(&aws, "route-scopes", async |it| create(it, &scoped).await).await.0.unwrap();
        let body = aws.body(POST);
        assert_eq!((&body["authorizationType"], &body["authorizationScopes"]), (&json!("JWT"), &json!(["read"])));
    }

    #[tokio::test(start_paused = true)]
    async fn an_exceeded_quota_is_an_error_with_advice() {
        let words = "Maximum number of Routes for this API has been reached. Please contact AWS.";
        let aws = Recorded::default()
            .on(POST, Answer::Error(429, "ConflictException", words))
            .on(LIST, Answer::Json(200, json!({ "items": [] })));
        let failure = on(&aws, "route-quota", async |it| create(it, &spec()).await).await.0.unwrap_err();
        assert!(failure.message.starts_with(words) && failure.message.contains("request a higher quota"), "{failure}");
        assert_eq!(aws.calls(), [POST, LIST]);
    }

    #[tokio::test(start_paused = true)]
    async fn create_waits_until_recently_created_objects_are_visible() {
        let absent = || Answer::Error(404, "NotFoundException", "Unable to find Integration int1");
        let created = Answer::Json(201, json!({ "routeId": "r1" }));
        let ids = [
            (Key::new("api"), "api1"),
            (Key::new("integration.orders"), "int1"),
            (Key::new("authorizer.token"), "auth1"),
        ];
        let aws = Recorded::default().on(POST, absent()).on(POST, absent()).on(POST, created);
        let session = aws.session("route-created");
        session.process.created.add("int1");
        let (answer, reported) =
            run(&session, &Key::new("route.GET /orders"), &ids, async |it| create(it, &spec()).await).await;
        assert_eq!((answer, reported.ids), (Ok(()), vec!["r1".to_string()]));
        assert_eq!(aws.calls(), [POST, POST, POST]);

        // An object that was not created recently is missing.
        let aws = Recorded::default().on(POST, absent());
        let (answer, _) = on(&aws, "route-missing", async |it| create(it, &spec()).await).await;
        assert_eq!(answer.unwrap_err().cause, Cause::NotFound);
        assert_eq!(aws.calls(), [POST]);
    }

    #[tokio::test(start_paused = true)]
    async fn lost_create_is_resolved_by_route_key() {
        let aws = Recorded::default().on(POST, Answer::Lost).on(LIST, Answer::Json(200, existing("auth1")));
        let (answer, reported) = on(&aws, "route-lost", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["r1"]);
        assert_eq!(aws.calls(), [POST, LIST]);
    }

    #[tokio::test(start_paused = true)]
    async fn equal_route_is_adopted_and_a_different_one_is_an_error() {
        let exists = Answer::Error(409, "ConflictException", "Route with key GET /orders already exists for this API");
        let aws = Recorded::default().on(POST, exists.clone()).on(LIST, Answer::Json(200, existing("auth1")));
        let (answer, reported) = on(&aws, "route-equal", async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["r1"]);

        let aws = Recorded::default().on(POST, exists).on(LIST, Answer::Json(200, existing("auth2")));
        let (answer, reported) = on(&aws, "route-different", async |it| create(it, &spec()).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        for text in ["\"GET /orders\"", "r1", "integrations/int1", "auth2", "delete-route"] {
            assert!(failure.text().contains(text), "{text} in {}", failure.text());
        }
        assert!(reported.ids.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn conflict_of_path_variables_is_reported_unchanged() {
        let message = "A conflicting variable on the same hierarchical level exists";
        let aws = Recorded::default()
            .on(POST, Answer::Error(409, "ConflictException", message))
            .on(LIST, Answer::Json(200, json!({ "items": [] })));
        let (answer, _) = on(&aws, "route-variable", async |it| create(it, &spec()).await).await;
        assert_eq!(answer.unwrap_err().message, message);
        assert_eq!(aws.calls().iter().filter(|call| *call == POST).count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn update_removes_the_authorizer_by_type_none_and_an_empty_id() {
        let patch = "PATCH /v2/apis/api1/routes/r1";
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let open = ApiRoute { authorization: Authorization::default(), ..spec() };
        let (answer, _) = on(&aws, "route-open", async |it| update(it, "r1", &spec(), &open).await).await;
        answer.unwrap();
        assert_eq!(
            aws.body(patch),
            json!({ "authorizationType": "NONE", "authorizerId": "", "authorizationScopes": [] })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn missing_route_counts_as_deleted() {
        let aws = Recorded::default()
            .on("GET /v2/apis/api1/stages/%24default", Answer::Json(200, json!({})))
            .on("DELETE /v2/apis/api1/routes/r1", Answer::Error(404, "NotFoundException", "Invalid route"))
            .on(LIST, Answer::Json(200, json!({ "items": [] })));
        let entry = Entry::new(Key::new("route.GET /orders"), "r1", Spec::ApiRoute(spec()));
        let session = aws.session("route-missing");
        for _ in 0..2 {
            let ids = [(Key::new("api"), "api1")];
            run(&session, &Key::new("route.GET /orders"), &ids, async |it| delete(it, &entry).await).await.0.unwrap();
        }
        let looks = aws.calls().iter().filter(|call| call.contains("/stages/")).count();
        assert_eq!(looks, 1, "{:?}", aws.calls());
    }

    /// Whatever AWS returned is sent as it was, also for types that no input of an earlier version expressed.
    #[tokio::test(start_paused = true)]
    async fn an_authorization_that_was_read_is_sent_unchanged() {
        let patch = "PATCH /v2/apis/api1/routes/r1";
        let builder = || Shown::builder().route_id("r1").route_key("GET /orders").target("integrations/int1");
        let shown = |kind: SdkType| builder().authorization_type(kind).authorizer_id("auth1");
        for (shown, kind, id, scopes) in [
            (builder().build(), "NONE", "", json!([])),
            (shown(SdkType::None).build(), "NONE", "", json!([])),
            (shown(SdkType::AwsIam).build(), "AWS_IAM", "", json!([])),
            (shown(SdkType::Custom).build(), "CUSTOM", "auth1", json!([])),
            (shown(SdkType::Jwt).build(), "JWT", "auth1", json!([])),
            (
                shown(SdkType::Jwt).authorization_scopes("b").authorization_scopes("a").build(),
                "JWT",
                "auth1",
                json!(["a", "b"]),
            ),
        ] {
            let ours = [("int1".to_string(), Key::new("integration.orders"))].into();
            let read = read(&shown, Key::new("api"), Key::new("route.GET /orders"), &ours).unwrap();
            let Spec::ApiRoute(spec) = &read.spec else { unreachable!() };
            let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
            on(&aws, "route-again", async |it| update(it, "r1", spec, spec).await).await.0.unwrap();
            assert_eq!(aws.calls(), [""; 0]);
            let other = ApiRoute { authorization: Authorization::custom(Ref::Id("auth9".into())), ..spec.clone() };
            on(&aws, "route-again", async |it| update(it, "r1", &other, spec).await).await.0.unwrap();
            assert_eq!(
                aws.body(patch),
                json!({ "authorizationType": kind, "authorizerId": id, "authorizationScopes": scopes })
            );
        }
    }
}
