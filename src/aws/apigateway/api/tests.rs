use serde_json::json;

use super::*;
use crate::aws::recorded::{Answer, OWNER, Recorded, request_of, run, without_request};
use crate::cloud::Cause;

fn spec() -> Api {
    Api { tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()), ..Api::test() }
}

fn unfinished_api(id: &str) -> serde_json::Value {
    json!({ "apiId": id, "apiEndpoint": "https://e", "tags": {
        "fgw:resource": "http_gateway/shop", "fgw:state": "creating"
    } })
}

#[tokio::test(start_paused = true)]
async fn create_sets_ownership_tags_and_records_id_and_endpoint() {
    let aws = Recorded::default()
        .on("POST /v2/apis", Answer::Json(201, json!({ "apiId": "new1", "apiEndpoint": "https://new1" })));
    let session = aws.session("api-create");
    let (answer, reported) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
    answer.unwrap();
    let body = without_request(aws.body("POST /v2/apis"));
    assert_eq!(
        body,
        json!({ "name": "shop", "protocolType": "HTTP", "tags": {
            "team": "web", "fgw:resource": "http_gateway/shop", "fgw:state": "creating"
        } })
    );
    assert_eq!(reported.ids, ["new1"]);
    assert_eq!(reported.learned["api_endpoint"], "https://new1");
}

#[tokio::test(start_paused = true)]
async fn lost_create_is_resolved_by_the_tag_of_the_request() {
    let created = Answer::To(|requests| {
        let mut api = unfinished_api("lost1");
        api["tags"]["fgw:request"] = request_of(requests, "POST /v2/apis");
        Answer::Json(200, json!({ "items": [api] }))
    });
    // Someone else has set the same tags, except the random one.
    let forged = json!({ "items": [unfinished_api("forged1")], "nextToken": "p2" });
    let aws = Recorded::default()
        .on("POST /v2/apis", Answer::Lost)
        .on("GET /v2/apis", Answer::Json(200, forged))
        .on("GET /v2/apis?nextToken=p2", created);
    let session = aws.session("api-lost");
    let (answer, reported) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, ["lost1"]);
    assert_eq!(aws.calls(), ["POST /v2/apis", "GET /v2/apis", "GET /v2/apis?nextToken=p2"]);
}

#[tokio::test(start_paused = true)]
async fn create_without_effect_is_retried_a_limited_number_of_times() {
    let aws = Recorded::default()
        .on("POST /v2/apis", Answer::Error(500, "InternalFailure", "oops"))
        .on("GET /v2/apis", Answer::Json(200, json!({ "items": [] })));
    let session = aws.session("api-again");
    let (answer, reported) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
    assert_eq!(answer.unwrap_err().message, "oops");
    assert!(reported.ids.is_empty());
    assert_eq!(aws.calls().iter().filter(|call| *call == "POST /v2/apis").count(), 3);
}

#[tokio::test(start_paused = true)]
async fn create_with_unknown_outcome_is_not_retried() {
    let aws = Recorded::default()
        .on("POST /v2/apis", Answer::Lost)
        .on("GET /v2/apis", Answer::Error(403, "AccessDeniedException", "not GetApis"));
    let session = aws.session("api-blind");
    let (answer, _) = run(&session, &Key::new("api"), &[], async |it| create(it, &spec()).await).await;
    let message = answer.unwrap_err().message;
    assert!(message.contains("outcome of the call is unknown") && message.contains("not GetApis"), "{message}");
    assert_eq!(aws.calls(), ["POST /v2/apis", "GET /v2/apis"]);
}

#[tokio::test(start_paused = true)]
async fn update_clears_text_by_empty_strings_and_cors_by_a_delete() {
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
    let (answer, _) = run(&session, &Key::new("api"), &[], async |it| update(it, "api1", &from, &spec()).await).await;
    answer.unwrap();
    assert_eq!(aws.body("PATCH /v2/apis/api1"), json!({ "description": "", "version": "" }));
    assert_eq!(aws.body(&format!("POST {tags}")), json!({ "tags": { "team": "web" } }));
    assert!(aws.calls().contains(&"DELETE /v2/apis/api1/cors".to_string()));
    assert!(aws.calls().contains(&untag));
}

#[tokio::test(start_paused = true)]
async fn tag_changes_send_only_tags_and_a_rename_updates_ownership() {
    let tags = "POST /v2/tags/arn%3Aaws%3Aapigateway%3Aapi-tags%3A%3A%2Fapis%2Fapi1";
    let aws = Recorded::default()
        .on(tags, Answer::Json(201, json!({})))
        .on("PATCH /v2/apis/api1", Answer::Json(200, json!({})));
    let session = aws.session("api-tags");
    let from = Api { tags: Input::Known([].into()), ..spec() };
    run(&session, &Key::new("api"), &[], async |it| update(it, "api1", &from, &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [tags]);
    let from = Api { name: Input::Known("old".into()), ..spec() };
    run(&session, &Key::new("api"), &[], async |it| update(it, "api1", &from, &spec()).await).await.0.unwrap();
    assert_eq!(aws.requests().last().unwrap().body, json!({ "tags": { "fgw:resource": "http_gateway/shop" } }));
}

#[tokio::test(start_paused = true)]
async fn delete_retries_concurrent_changes_but_not_mappings() {
    let entry = Entry::new(Key::new("api"), "api1", Spec::Api(spec()));
    let busy = "Unable to complete operation due to concurrent modification. Please try again later.";
    let aws = Recorded::default()
        .on("DELETE /v2/apis/api1", Answer::Error(409, "ConflictException", busy))
        .on("DELETE /v2/apis/api1", Answer::Error(409, "ConflictException", busy))
        .on(
            "DELETE /v2/apis/api1",
            Answer::Error(404, "NotFoundException", "Invalid API identifier specified 123456789012:api1"),
        );
    let session = aws.session("api-busy");
    run(&session, &entry.key, &[], async |it| delete(it, &entry).await).await.0.unwrap();
    assert_eq!(aws.calls().len(), 3);

    // gruntwork-io/cloud-nuke#370; the second text is that of the REST API,
    // amplify-education/serverless-domain-manager#406
    for mapped in [
        "Deleting API api1 failed. Please remove all API mappings for the API from your custom domain names.",
        "Deleting RestApi api1 failed. Please remove all base path mappings related to the RestApi in your domains.",
    ] {
        let aws = Recorded::default().on("DELETE /v2/apis/api1", Answer::Error(400, "BadRequestException", mapped));
        let session = aws.session("api-mapped");
        let failure = run(&session, &entry.key, &[], async |it| delete(it, &entry).await).await.0.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        assert_eq!(aws.calls().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn namesakes_have_their_route_keys_if_they_are_compared() {
    let api = |id: &str, name: &str, state: &str| {
        let tags = json!({ "fgw:resource": format!("http_gateway/{name}"), "fgw:state": state });
        json!({ "apiId": id, "name": "front", "tags": tags })
    };
    let items = [
        api("managed1", "shop", "ready"),
        api("killed1", "shop", "creating"),
        api("ready1", "shop", "ready"),
        api("gone1", "shop", "incomplete"),
        api("other1", "shopping", "ready"),
    ];
    let routes = |keys: &[&str]| keys.iter().map(|key| json!({ "routeKey": key })).collect::<Vec<_>>();
    let first = json!({ "items": routes(&["GET /a"]), "nextToken": "p2" });
    let no_api = Answer::Error(404, "NotFoundException", "Invalid API identifier specified");
    let aws = Recorded::default()
        .on("GET /v2/apis", Answer::Json(200, json!({ "items": items })))
        .on("GET /v2/apis/ready1/routes", Answer::Json(200, first))
        .on("GET /v2/apis/ready1/routes?nextToken=p2", Answer::Json(200, json!({ "items": routes(&["$default"]) })))
        .on("GET /v2/apis/killed1/routes", Answer::Json(200, json!({ "items": routes(&["GET /a"]) })))
        .on("GET /v2/apis/gone1/routes", no_api);
    let session = aws.session("api-namesakes");
    let found = namesakes(&session, OWNER, "shop", &|id| id != "managed1").await.unwrap();
    let found: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.state, it.features.len())).collect();
    let expected = [
        ("killed1", Some(RootState::Creating), 1),
        ("managed1", Some(RootState::Ready), 0),
        ("ready1", Some(RootState::Ready), 2),
    ];
    assert_eq!(found, expected);
    assert_eq!(aws.calls().len(), 5, "only the routes of compared APIs are listed");
}

#[tokio::test(start_paused = true)]
async fn roots_lists_own_apis_of_all_pages_with_names_and_tags() {
    let api = |id: &str, tags| json!({ "apiId": id, "name": "front", "tags": tags });
    let ours = api("b1", json!({ "fgw:resource": "http_gateway/shop", "fgw:state": "incomplete", "team": "web" }));
    let items = json!([ours, api("c1", json!({ "team": "web" }))]);
    let last = json!([unfinished_api("a1")]);
    let aws = Recorded::default()
        .on("GET /v2/apis", Answer::Json(200, json!({ "items": items, "nextToken": "p2" })))
        .on("GET /v2/apis?nextToken=p2", Answer::Json(200, json!({ "items": last })));
    let found = roots(&aws.session("api-roots"), OWNER).await.unwrap();
    let apis: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.name.as_str(), it.tags.len(), it.state)).collect();
    let expected = [("a1", "shop", 0, Some(RootState::Creating)), ("b1", "shop", 1, Some(RootState::Incomplete))];
    assert_eq!(apis, expected);
}

#[tokio::test(start_paused = true)]
async fn update_clears_the_maximum_age_by_zero() {
    let patch = "PATCH /v2/apis/api1";
    let cors = |max_age| Cors { allow_origins: vec!["*".into()], max_age, ..Cors::default() };
    let api = |max_age| Api { cors: Input::Known(Some(cors(max_age))), ..spec() };
    let body = async |from: &Api, to: &Api| {
        let aws = Recorded::default().on(patch, Answer::Json(200, json!({})));
        let session = aws.session("api-age");
        run(&session, &Key::new("api"), &[], async |it| update(it, "api1", from, to).await).await.0.unwrap();
        aws.body(patch)["corsConfiguration"]["maxAge"].clone()
    };
    assert_eq!(body(&api(Some(300)), &api(None)).await, json!(0));
    assert_eq!(body(&api(Some(300)), &api(Some(5))).await, json!(5));
    let described = Api { description: Input::Known(Some("text".into())), ..api(None) };
    assert_eq!(body(&api(None), &described).await, json!(null), "nothing to clear");
    let none = Api { cors: Input::Known(None), ..spec() };
    assert_eq!(body(&none, &api(None)).await, json!(null), "no age was ever set");
}

#[test]
fn cors_without_effect_is_no_drift_if_aws_returns_none() {
    let read_back = |cors: Cors| {
        let applied = Api { cors: Input::Known(Some(cors)), ..spec() };
        let shown = Shown::builder().name("shop").build();
        let Spec::Api(found) = read(&shown, "api1", Key::new("api"), Some(&applied)).spec else { panic!("an API") };
        found.cors == applied.cors
    };
    assert!(read_back(Cors::default()));
    assert!(read_back(Cors { max_age: Some(0), ..Cors::default() }));
    assert!(!read_back(Cors { max_age: Some(1), ..Cors::default() }));
    assert!(!read_back(Cors { allow_credentials: true, ..Cors::default() }));
    assert!(!read_back(Cors { allow_origins: vec!["*".into()], ..Cors::default() }), "deleted outside Terraform");

    let applied = Cors { allow_origins: vec!["*".into()], max_age: Some(0), ..Cors::default() };
    let shown = ShownCors::builder().allow_origins("*").build();
    assert_eq!(read_cors(&shown, Some(&applied)), Some(applied));
}

#[test]
fn cors_lists_in_another_order_or_case_are_no_drift() {
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
