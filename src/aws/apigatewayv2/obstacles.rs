//! What others keep in an API. AWS deletes it along with the API, so people are told before.

use std::collections::HashSet;

use super::{PAGE, authorizer, pages, route, text, turn};
use crate::aws::{AwsError, Session};
use crate::cloud::{Failure, InTheWay, Obstacle};
use crate::objects::Entry;

/// The routes, stages and authorizers of an API that are not ours. Integrations serve routes, and are not told. Looks that
/// fail are told beside what the others have found.
pub(crate) async fn in_the_way(session: &Session, api_id: &str, known: &[Entry]) -> InTheWay {
    let ours: HashSet<&str> = known.iter().map(|entry| entry.id.as_str()).collect();
    let foreign = |kind: &'static str, id: Option<String>, description: Option<String>| {
        let id = id.filter(|id| !ours.contains(id.as_str()))?;
        let description = description.filter(|text| *text != id).unwrap_or_default();
        Some(Obstacle { kind, id, description, further: String::new(), owner: None, holds: Vec::new() })
    };
    let (routes, stages, authorizers) =
        tokio::join!(route::list(session, api_id), stages(session, api_id), authorizer::list(session, api_id));
    let routes = routes.map(|shown| {
        let found = shown.into_iter().filter_map(|it| foreign("route", it.route_id, it.route_key));
        found.collect::<Vec<_>>()
    });
    let stages = stages.map(|shown| {
        let found = shown.into_iter().filter_map(|it| foreign("stage", it.stage_name, text(it.description.as_deref())));
        found.collect()
    });
    let authorizers = authorizers.map(|shown| {
        let found = shown.into_iter().filter_map(|it| foreign("authorizer", it.authorizer_id, it.name));
        found.collect()
    });
    InTheWay::of([routes, stages, authorizers])
}

async fn stages(session: &Session, api_id: &str) -> Result<Vec<aws_sdk_apigatewayv2::types::Stage>, Failure> {
    pages(|token| async move {
        let call = turn(session).await.get_stages().api_id(api_id).max_results(PAGE).set_next_token(token);
        let answer = call.send().await.map_err(|error| error.failure("GetStages"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};
    use crate::cloud::Cause;
    use crate::http_gateway::keys;
    use crate::objects::{ApiRoute, Key, Spec, Stage};
    use crate::plugin::Input;

    /// A route and the stage.
    fn known() -> Vec<Entry> {
        let api = keys::api();
        let route = ApiRoute { api: api.clone(), route_key: "GET /a".into(), integration: None, authorizer: None };
        let stage = Stage { api, auto_deploy: true, access_log: None, tags: Input::Known(Default::default()) };
        vec![
            Entry::new(Key::new("route.GET /a"), "r1", Spec::ApiRoute(route)),
            Entry::new(Key::new("stage"), "$default", Spec::Stage(stage)),
        ]
    }

    fn aws() -> Recorded {
        let routes = json!([{ "routeId": "r1", "routeKey": "GET /a" }, { "routeId": "r2", "routeKey": "GET /theirs" }]);
        Recorded::default()
            .on("GET /v2/apis/api1/routes", Answer::Json(200, json!({ "items": routes, "nextToken": "n" })))
            .on(
                "GET /v2/apis/api1/routes?nextToken=n",
                Answer::Json(200, json!({ "items": [{ "routeId": "r0", "routeKey": "$default" }] })),
            )
            .on(
                "GET /v2/apis/api1/stages",
                Answer::Json(
                    200,
                    json!({ "items": [{ "stageName": "$default" }, { "stageName": "beta", "description": "of the web team" }] }),
                ),
            )
    }

    #[tokio::test]
    async fn routes_stages_and_authorizers_that_state_does_not_know_are_told() {
        let authorizers = json!({ "items": [{ "authorizerId": "a9", "name": "jwt" }] });
        let aws = aws().on("GET /v2/apis/api1/authorizers", Answer::Json(200, authorizers));
        let found = in_the_way(&aws.session("foreigners"), "api1", &known()).await;
        let told: Vec<[&str; 3]> =
            found.obstacles.iter().map(|it| [it.kind, it.id.as_str(), it.description.as_str()]).collect();
        assert_eq!(
            told,
            [
                ["route", "r0", "$default"],
                ["route", "r2", "GET /theirs"],
                ["stage", "beta", "of the web team"],
                ["authorizer", "a9", "jwt"],
            ]
        );
        assert_eq!((found.unseen, aws.calls().len()), (vec![], 4));
    }

    #[tokio::test]
    async fn a_look_that_is_not_allowed_hides_only_what_it_would_have_shown() {
        let denied = Answer::Error(403, "AccessDeniedException", "not you");
        let aws = aws().on("GET /v2/apis/api1/authorizers", denied);
        let found = in_the_way(&aws.session("hidden"), "api1", &known()).await;
        let unseen: Vec<(&str, Cause)> = found.unseen.iter().map(|it| (it.action.as_str(), it.cause)).collect();
        assert_eq!((unseen, found.obstacles.len()), (vec![("GetAuthorizers", Cause::Denied)], 3));
    }
}
