//! Changes of a missing API. The REST API rejects a change of a missing API with a conflict, as if another change were
//! in progress (recorded: CreateAuthorizer; hashicorp/terraform-provider-aws#27027). It is unknown whether the HTTP API
//! does so too, so the API is read while its changes are rejected in this way.

use futures::FutureExt;
use futures::future::BoxFuture;

use super::client;
use crate::aws::Session;
use crate::aws::calls::non_idempotent::{MissingParent, Parent};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::Cause;

/// The API as a parent to read. `None` for a new API, which may not be visible yet.
pub(super) fn parent<'a>(operation: &'a Operation<'_>, api_id: &'a str) -> Option<Parent<'a>> {
    let session = operation.session;
    let is_new = session.process.created.invisible_until(api_id).is_some();
    (!is_new).then_some(Parent { session, id: api_id, missing })
}

fn missing<'a>(session: &'a Session, api_id: &'a str) -> BoxFuture<'a, MissingParent> {
    let read = async move {
        let answer = client(session).await.get_api().api_id(api_id).send().await;
        match answer.or_failure("GetApi") {
            Ok(_) => Ok(None),
            Err(failure) if failure.cause == Cause::NotFound => Ok(Some(failure)),
            Err(failure) => Err(failure),
        }
    };
    read.boxed()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{authorizer, route};
    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::cloud::Failure;
    use crate::model::{ApiRoute, Authorizer, Entry, Key, Ref, Spec};

    const ROUTES: &str = "POST /v2/apis/api1/routes";
    const ROUTE: &str = "PATCH /v2/apis/api1/routes/r1";
    const API: &str = "GET /v2/apis/api1";

    fn busy() -> Answer {
        let text = "Unable to complete operation due to concurrent modification. Please try again later.";
        Answer::Error(409, "ConflictException", text)
    }

    fn missing() -> Answer {
        Answer::Error(404, "NotFoundException", "Invalid API identifier specified 123456789012:api1")
    }

    fn spec() -> ApiRoute {
        let integration = Some(Ref::Id("int1".into()));
        ApiRoute { route_key: "GET /orders".into(), integration, ..ApiRoute::test() }
    }

    async fn on(aws: &Recorded, call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        run(&aws.session("missing"), &Key::new("route"), &[(Key::new("api"), "api1")], call).await.0
    }

    #[tokio::test(start_paused = true)]
    async fn changes_of_a_missing_api_are_not_found() {
        let aws = Recorded::default().on(ROUTES, busy()).on(ROUTE, busy()).on(API, missing());
        let created = on(&aws, async |it| route::create(it, &spec()).await).await.unwrap_err();
        assert_eq!(aws.calls(), [ROUTES, ROUTES, ROUTES, API]);
        let untargeted = ApiRoute { integration: None, ..spec() };
        let updated = on(&aws, async |it| route::update(it, "r1", &untargeted, &spec()).await).await.unwrap_err();
        for (failure, action) in [(created, "CreateRoute"), (updated, "UpdateRoute")] {
            assert_eq!((failure.cause, failure.code.as_deref()), (Cause::NotFound, Some("NotFoundException")));
            assert!(failure.message.contains("Invalid API identifier specified 123456789012:api1"), "{failure}");
            assert!(failure.message.contains(action), "{failure}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn child_of_a_missing_api_counts_as_deleted() {
        let delete = "DELETE /v2/apis/api1/routes/r1";
        let routes = "GET /v2/apis/api1/routes";
        let stage = "GET /v2/apis/api1/stages/%24default";
        let aws = Recorded::default().on(delete, busy()).on(API, missing()).on(routes, missing()).on(stage, missing());
        let entry = Entry::new(Key::new("route"), "r1", Spec::ApiRoute(spec()));
        on(&aws, async |it| route::delete(it, &entry).await).await.unwrap();
        assert_eq!(aws.calls(), [stage, delete, delete, delete, API, routes]);
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_changes_of_an_existing_api_are_waited_for() {
        for answer in [
            Answer::Json(200, json!({ "apiId": "api1", "name": "shop", "protocolType": "HTTP", "tags": {} })),
            // The check is an addition, so a denied one changes nothing.
            Answer::Error(403, "AccessDeniedException", "not GetApi"),
        ] {
            let aws = (0..7).fold(Recorded::default(), |aws, _| aws.on(ROUTES, busy()));
            let aws = aws.on(ROUTES, Answer::Json(201, json!({ "routeId": "r1" }))).on(API, answer);
            on(&aws, async |it| route::create(it, &spec()).await).await.unwrap();
            let expected = [ROUTES, ROUTES, ROUTES, API, ROUTES, ROUTES, ROUTES, API, ROUTES, ROUTES];
            assert_eq!(aws.calls(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn new_api_may_be_invisible_and_is_not_checked() {
        let aws = (0..4).fold(Recorded::default(), |aws, _| aws.on("POST /v2/apis/api1/authorizers", busy()));
        let aws = aws.on("POST /v2/apis/api1/authorizers", Answer::Json(201, json!({ "authorizerId": "a1" })));
        let spec = Authorizer::test();
        let call = async |it: &Operation<'_>| {
            it.session.process.created.add("api1");
            authorizer::create(it, &spec).await
        };
        on(&aws, call).await.unwrap();
        assert_eq!(aws.calls().len(), 5);
    }
}
