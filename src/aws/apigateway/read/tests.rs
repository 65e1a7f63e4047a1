use serde_json::{Value, json};

use super::super::{api_mapping, authorizer, domain_name, jwt_authorizer};
use crate::aws::apigateway::read::*;
use crate::aws::logs::{group, subscription};
use crate::aws::recorded::{Answer, OWNER, Recorded};
use crate::model::Input;
use crate::model::{
    AccessLog, ApiRoute, Authorization, Authorizer, Inventory, Stage, UnmanagedInApi, used_by_unmanaged,
};

const FUNCTION: &str = "arn:aws:lambda:eu-west-1:123456789012:function:orders";
const CHECK: &str = "arn:aws:lambda:eu-west-1:123456789012:function:check";

fn uri(function: &str) -> String {
    format!("arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/{function}/invocations")
}

fn place(function: &str) -> FunctionPolicy {
    FunctionPolicy { function_arn: function.into(), qualifier: None }
}

fn policy(region: &str, sid: &str, source: &str) -> Answer {
    let statement = json!({ "Sid": sid, "Effect": "Allow", "Action": "lambda:InvokeFunction",
        "Principal": { "Service": "apigateway.amazonaws.com" }, "Condition": { "ArnLike": {
        "AWS:SourceArn": format!("arn:aws:execute-api:{region}:123456789012:api1/{source}") } } });
    Answer::Json(200, json!({ "Policy": json!({ "Statement": [statement] }).to_string() }))
}

fn get_policy(function: &str) -> String {
    format!("GET /2015-03-31/functions/{}/policy", function.replace(':', "%3A"))
}

fn integration_item(id: &str, timeout: i32) -> Value {
    json!({ "integrationId": id, "integrationType": "AWS_PROXY", "integrationUri": FUNCTION,
        "payloadFormatVersion": "1.0", "timeoutInMillis": timeout })
}

fn route_item(id: &str, key: &str, integration: &str, authorizer: Option<&str>) -> Value {
    json!({ "routeId": id, "routeKey": key, "target": format!("integrations/{integration}"),
        "authorizationType": if authorizer.is_some() { "CUSTOM" } else { "NONE" },
        "authorizerId": authorizer })
}

/// A gateway with two routes, one of them on a second page, an unused integration, and a named stage.
fn aws(region: &str) -> Recorded {
    let group = "/http/shop";
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{group}");
    Recorded::default()
        .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
        .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": [] })))
        .on(
            "GET /v2/apis/api1",
            Answer::Json(
                200,
                json!({ "apiId": "api1", "name": "shop", "apiEndpoint": "https://e",
                "description": "",
                "tags": { "fgw:resource": "http_gateway/shop", "fgw:state": "ready", "team": "web" } }),
            ),
        )
        .on(
            "GET /v2/apis/api1/routes",
            Answer::Json(200, json!({ "items": [route_item("r1", "GET /a", "i1", Some("a1"))], "nextToken": "n" })),
        )
        .on(
            "GET /v2/apis/api1/routes?nextToken=n",
            Answer::Json(200, json!({ "items": [route_item("r2", "GET /b", "i1", None)] })),
        )
        .on(
            "GET /v2/apis/api1/integrations",
            Answer::Json(200, json!({ "items": [integration_item("i1", 30_000), integration_item("i9", 50)] })),
        )
        .on(
            "GET /v2/apis/api1/authorizers",
            Answer::Json(
                200,
                json!({ "items": [
                { "authorizerId": "a1", "name": "token", "authorizerType": "REQUEST",
                  "authorizerUri": uri(CHECK), "authorizerPayloadFormatVersion": "1.0" },
                { "authorizerId": "a9", "name": "jwt", "authorizerType": "JWT" }] }),
            ),
        )
        .on(
            "GET /v2/apis/api1/stages",
            Answer::Json(
                200,
                json!({ "items": [{ "stageName": "$default", "autoDeploy": true,
                "tags": { "fgw:resource": "http_gateway/api1" },
                "accessLogSettings": { "destinationArn": arn, "format": "$context.requestId" } }] }),
            ),
        )
        .on(
            "DescribeLogGroups",
            Answer::Json(
                200,
                json!({ "logGroups": [
                { "logGroupName": group, "arn": format!("{arn}:*"), "retentionInDays": 30 }] }),
            ),
        )
        .on(
            "ListTagsForResource",
            Answer::Json(
                200,
                json!({ "tags": {
                "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" } }),
            ),
        )
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": [] })))
        .on(&get_policy(FUNCTION), policy(region, &statement_id("api1", &place(FUNCTION), CallerId::Routes), "*/*"))
        .on(
            &get_policy(CHECK),
            policy(region, &statement_id("api1", &place(CHECK), CallerId::Authorizer("a1")), "authorizers/a1"),
        )
}

/// Runs `read` in a spawned task, which requires that its future is `Send`.
async fn read_in_a_task(session: Session, known: Vec<Entry>) -> Option<Vec<Observed>> {
    tokio::spawn(async move { read(&session, OWNER, "api1", Known::entries(&known)).await })
        .await
        .unwrap()
        .unwrap()
        .map(|seen| seen.objects)
}

fn entries(observed: &[Observed]) -> Vec<Entry> {
    let entry =
        |it: &Observed| Entry { learned: it.learned.clone(), ..Entry::new(it.key.clone(), &it.id, it.spec.clone()) };
    observed.iter().map(entry).collect()
}

#[tokio::test(start_paused = true)]
async fn import_finds_all_used_objects_with_blueprint_keys() {
    let seen = read_in_a_task(aws("import").session("import"), vec![]).await.unwrap();
    let slots: Vec<(&str, &str)> = seen.iter().map(|it| (it.key.slot.as_str(), it.id.as_str())).collect();
    let integration = keys::integration("GET /a");
    let permission = keys::permission(&FunctionArn::parse(FUNCTION).unwrap());
    let statements = [
        statement_id("api1", &place(CHECK), CallerId::Authorizer("a1")),
        statement_id("api1", &place(FUNCTION), CallerId::Routes),
    ];
    assert_eq!(
        slots,
        [
            ("api", "api1"),
            ("log_group", "/http/shop"),
            ("authorizer.token", "a1"),
            ("authorizer_permission.token", &statements[0]),
            (&permission.slot, &statements[1]),
            (&integration.slot, "i1"),
            ("route.GET /a", "r1"),
            ("route.GET /b", "r2"),
            ("stage", "$default"),
        ]
    );
    let authorizer = seen[2].key.clone();
    assert_eq!(
        seen[6].spec,
        Spec::ApiRoute(ApiRoute {
            integration: Some(Ref::Key(integration)),
            authorization: Authorization::custom(Ref::Key(authorizer)),
            ..ApiRoute::test()
        })
    );
    let Spec::Integration(spec) = &seen[5].spec else { panic!("{:?}", seen[5]) };
    assert_eq!(spec.permission, Some(permission));
    let Spec::Stage(Stage { access_log: Some(AccessLog { log_group, .. }), .. }) = &seen[8].spec else {
        panic!("{:?}", seen[8])
    };
    assert_eq!(*log_group, Ref::Key(seen[1].key.clone()));
    let Spec::Api(api) = &seen[0].spec else { panic!("{:?}", seen[0]) };
    assert_eq!(api.description, Input::Known(None));
    assert_eq!(api.tags, Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()));
}

#[tokio::test(start_paused = true)]
async fn imported_objects_read_the_same_when_known() {
    let imported = read_in_a_task(aws("again").session("again"), vec![]).await.unwrap();
    let aws = aws("again");
    let mut seen = read_in_a_task(aws.session("again"), entries(&imported)).await.unwrap();
    let unmanaged = UnmanagedInApi::of(&Inventory { entries: entries(&seen) });
    let names = |unmanaged: UnmanagedInApi| (unmanaged.routes.len(), unmanaged.authorizers[0].name.clone());
    assert_eq!(names(unmanaged), (0, "jwt".to_string()));
    assert_eq!(names(UnmanagedInApi::of(&Inventory { entries: entries(&imported) })), (0, "jwt".to_string()));
    // An import learns of all objects in the API, because an adoption may leave some of them.
    let all = imported[0].learned["unmanaged"].clone();
    seen[0].learned.insert("unmanaged".into(), all);
    assert_eq!(seen, imported);
    assert_eq!(aws.calls().len(), 11, "{:?}", aws.calls());
}

#[tokio::test(start_paused = true)]
async fn unmanaged_routes_and_what_they_use_are_learned() {
    let imported = read_in_a_task(aws("theirs").session("theirs"), vec![]).await.unwrap();
    let mut known = entries(&imported);
    known.retain(|entry| entry.id != "r2");
    let seen = read_in_a_task(aws("theirs").session("theirs"), known).await.unwrap();
    let inventory = Inventory { entries: entries(&seen) };
    let unmanaged = UnmanagedInApi::of(&inventory);
    let [route] = &unmanaged.routes[..] else { panic!("{unmanaged:?}") };
    let used = [route.integration.as_deref(), route.function.as_deref(), route.authorizer()];
    assert_eq!((route.route_key.as_str(), used), ("GET /b", [Some("i1"), Some(FUNCTION), None]));
    assert!(route.content.is_some());
    assert_eq!(used_by_unmanaged(&inventory), [("i1".to_string(), "i1".to_string())].into());
}

#[tokio::test(start_paused = true)]
async fn permissions_are_looked_for_in_the_policies_of_their_functions() {
    let imported = read_in_a_task(aws("lost").session("lost"), vec![]).await.unwrap();
    let mut known = entries(&imported);
    known.retain(|entry| matches!(entry.applied, Spec::LambdaPermission(_)));
    let none = Answer::Error(404, "ResourceNotFoundException", "The resource you requested does not exist.");
    let aws = Recorded::default()
        .on(&get_policy(CHECK), policy("lost", &known[0].id, "authorizers/a1"))
        .on(&get_policy(FUNCTION), none);
    let lost = lost_parts(&aws.session("lost"), "api1", &known).await.unwrap();
    assert_eq!(lost, [known[1].key.clone()].into());
    assert_eq!(aws.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn unknown_and_deleted_objects_are_not_returned() {
    let imported = read_in_a_task(aws("known").session("known"), vec![]).await.unwrap();
    let mut known = entries(&imported);
    known.retain(|entry| !["route.GET /b", "authorizer.token"].contains(&entry.key.slot.as_str()));
    for entry in &mut known {
        if entry.key.slot == "route.GET /a" {
            entry.id = "deleted".into();
        }
    }
    known.push(Entry::new(keys::route("GET /b"), "r2", imported[7].spec.clone()));
    let seen = read_in_a_task(aws("known").session("known"), known).await.unwrap();
    let slots: Vec<&str> = seen.iter().map(|it| it.key.slot.as_str()).collect();
    assert!(!slots.contains(&"route.GET /a") && !slots.contains(&"authorizer.token"), "{slots:?}");
    assert!(slots.contains(&"route.GET /b") && slots.contains(&"stage"), "{slots:?}");
}

#[tokio::test(start_paused = true)]
async fn statement_of_a_deleted_authorizer_gets_another_key() {
    let imported = read_in_a_task(aws("lost").session("lost"), vec![]).await.unwrap();
    let mut known = entries(&imported);
    let is_statement = |key: &Key| key.slot == "authorizer_permission.token";
    let before = known.iter().find(|entry| is_statement(&entry.key)).unwrap().clone();
    for entry in known.iter_mut().filter(|entry| entry.key.slot == "authorizer.token") {
        entry.id = "created-again".into();
    }
    let seen = read_in_a_task(aws("lost").session("lost"), known).await.unwrap();
    let now = seen.iter().find(|it| is_statement(&it.key)).expect("the statement exists and must be deleted");
    assert_eq!((&now.id, &now.spec), (&before.id, &before.applied));
    assert_ne!(now.key, before.key, "the statement for the new authorizer has its own key");
}

#[tokio::test(start_paused = true)]
async fn authorizer_of_an_interrupted_update_is_found_by_statement() {
    let imported = read_in_a_task(aws("left").session("left"), vec![]).await.unwrap();
    let slots = ["authorizer.token", "authorizer_permission.token"];
    let created: Vec<&Observed> = imported.iter().filter(|it| slots.contains(&it.key.slot.as_str())).collect();
    assert_eq!(created.len(), 2);
    let mut known = entries(&imported);
    known.retain(|entry| !slots.contains(&entry.key.slot.as_str()));
    // An earlier authorizer was the only one of its function.
    let mut before = entries(&imported).into_iter().find(|entry| entry.key.slot == slots[1]).unwrap();
    before.key = Key::new("authorizer_permission.before");
    before.id = statement_id("api1", &place(CHECK), CallerId::Authorizer("a0"));
    known.push(before);
    let seen = read(&aws("left").session("left"), OWNER, "api1", Known::entries(&known)).await.unwrap().unwrap();
    assert!(created.iter().all(|it| seen.objects.contains(it)), "{seen:#?}");
    let statement = created.iter().find(|it| it.key.slot == slots[1]).unwrap();
    assert_eq!(seen.requires, [(statement.id.clone(), ["a1".to_string()].into())].into());
}

/// Everything in the API of a create that was killed early has at most copied tags, or none.
#[tokio::test(start_paused = true)]
async fn only_tagged_objects_are_candidates_if_state_has_the_api_alone() {
    let imported = read_in_a_task(aws("alone").session("alone"), vec![]).await.unwrap();
    let mut known = entries(&imported);
    known.retain(|entry| entry.key.slot == "api");
    let seen = read_in_a_task(aws("alone").session("alone"), known).await.unwrap();
    let slots: Vec<&str> = seen.iter().map(|it| it.key.slot.as_str()).collect();
    assert_eq!(slots, ["api", "stage"]);
}

#[tokio::test(start_paused = true)]
async fn statement_with_another_source_counts_as_deleted() {
    let imported = read_in_a_task(aws("statement").session("statement"), vec![]).await.unwrap();
    let aws = Recorded::default()
        .on(&get_policy(FUNCTION), policy("other-region", &imported[4].id, "*/*"))
        .on(&get_policy(CHECK), Answer::Error(404, "ResourceNotFoundException", "no function"));
    let session = aws.session("statement");
    let policies = policies(&session, places_of(&entries(&imported))).await.unwrap();
    let view = View {
        scope: &session.scope,
        root_id: "api1",
        api: types::Api::builder().build(),
        routes: vec![],
        integrations: vec![],
        authorizers: vec![],
        stages: vec![],
        links: vec![],
        logs: Logs::default(),
        policies,
        domains: vec![],
        owner: Owner { resource: "http_gateway/api1", or_none: false },
    };
    assert_eq!(view.known(&entries(&imported)).len(), 1, "only the API remains");
}

#[tokio::test(start_paused = true)]
async fn api_counts_as_deleted_only_if_aws_reports_it_missing() {
    let answers = |answer: Answer| {
        ["", "/routes", "/integrations", "/authorizers", "/stages"]
            .iter()
            .fold(Recorded::default(), |aws, part| aws.on(&format!("GET /v2/apis/api1{part}"), answer.clone()))
    };
    let missing = answers(Answer::Error(404, "NotFoundException", "Invalid API identifier specified"));
    assert_eq!(read(&missing.session("absent"), OWNER, "api1", Known::default()).await.unwrap(), None);
    let denied = answers(Answer::Error(403, "AccessDeniedException", "not you"));
    let failure = read(&denied.session("denied"), OWNER, "api1", Known::default()).await.unwrap_err();
    assert_eq!(failure.action, "GetApi");
}

#[tokio::test(start_paused = true)]
async fn log_group_and_permissions_outlive_the_api() {
    let all = read_in_a_task(aws("left").session("left"), vec![]).await.unwrap();
    let missing = Answer::Error(404, "NotFoundException", "Invalid API identifier specified");
    let deleted = ["", "/routes", "/integrations", "/authorizers", "/stages"]
        .iter()
        .fold(Recorded::default(), |aws, part| aws.on(&format!("GET /v2/apis/api1{part}"), missing.clone()));
    let group = json!({ "logGroupName": "/http/shop", "arn": "arn:aws:logs:left:123456789012:log-group:/http/shop:*" });
    let deleted = deleted
        .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
        .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
        .on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [group] })))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": {} })))
        .on(&get_policy(FUNCTION), policy("left", &all[4].id, "*/*"))
        .on(&get_policy(CHECK), Answer::Error(404, "ResourceNotFoundException", "no policy"));
    let seen = read_in_a_task(deleted.session("left"), entries(&all)).await.expect("objects remain");
    let ids: Vec<&str> = seen.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["/http/shop", all[4].id.as_str()]);
}

#[tokio::test(start_paused = true)]
async fn every_change_can_run_in_a_spawned_task() {
    fn is_send<T: Send>(_: T) {}
    async fn all(operation: &crate::aws::calls::Operation<'_>, entry: &Entry) -> Result<(), Failure> {
        match &entry.applied {
            Spec::Api(it) => {
                api::create(operation, it).await?;
                api::update(operation, "", it, it).await?;
                api::delete(operation, entry).await
            }
            Spec::JwtAuthorizer(it) => {
                jwt_authorizer::create(operation, it).await?;
                jwt_authorizer::update(operation, "", it, it).await?;
                jwt_authorizer::delete(operation, entry).await
            }
            Spec::Authorizer(it) => {
                authorizer::create(operation, it).await?;
                authorizer::update(operation, "", it, it).await?;
                authorizer::delete(operation, entry).await
            }
            Spec::Integration(it) => {
                integration::create(operation, it).await?;
                integration::update(operation, "", it, it).await?;
                integration::delete(operation, entry).await
            }
            Spec::ApiRoute(it) => {
                route::create(operation, it).await?;
                route::update(operation, "", it, it).await?;
                route::delete(operation, entry).await
            }
            Spec::Stage(it) => {
                stage::create(operation, it).await?;
                stage::update(operation, "", it, it).await?;
                stage::delete(operation, entry).await
            }
            Spec::DomainName(it) => {
                domain_name::create(operation, it).await?;
                domain_name::update(operation, "", it, it).await?;
                domain_name::delete(operation, entry).await
            }
            Spec::ApiMapping(it) => {
                api_mapping::create(operation, it).await?;
                api_mapping::update(operation, "", it, it).await?;
                api_mapping::delete(operation, entry).await
            }
            Spec::LogGroup(it) => {
                group::create(operation, it).await?;
                group::update(operation, "", it, it).await?;
                group::delete(operation, entry).await
            }
            Spec::LogSubscription(it) => {
                subscription::create(operation, it).await?;
                subscription::update(operation, "", it, it).await?;
                subscription::delete(operation, entry).await
            }
            Spec::LambdaPermission(it) => {
                permission::create(operation, it).await?;
                permission::update(operation, "", it, it).await?;
                permission::delete(operation, entry).await
            }
            _ => Ok(()),
        }
    }
    let session = Recorded::default().session("send");
    let authorizer = |uri: &str| Authorizer {
        authorizer_uri: Input::Known(uri.into()),
        payload_format_version: Input::Known("1.0".into()),
        ..Authorizer::test()
    };
    let entry = Entry::new(keys::authorizer("a"), "a1", Spec::Authorizer(authorizer("a")));
    let (ids, timeouts) = (crate::model::Ids::default(), crate::model::Timeouts::default());
    let deadlines = crate::cloud::Deadlines::until(tokio::time::Instant::now(), Default::default());
    let work = crate::cloud::OpContext {
        owner: OWNER,
        root_id: None,
        ids: &ids,
        unfinished: None,
        known: Default::default(),
        deployed: Default::default(),
        new_inputs: &Default::default(),
        in_create: false,
        timeouts: &timeouts,
        deadlines,
        guardduty: Default::default(),
    };
    let operation =
        crate::aws::calls::Operation { session: &session, work: &work, key: &entry.key, routes: &[], record: None };
    is_send(all(&operation, &entry));
}

#[tokio::test(start_paused = true)]
async fn incomplete_creation_is_reported_only_after_a_second_read() {
    let region = "marked";
    let tags = format!("GET /v2/tags/arn%3Aaws%3Aapigateway%3A{region}%3A%3A%2Fapis%2Fapi1");
    let answers = |state: &str| {
        let api = json!({ "apiId": "api1", "name": "shop", "apiEndpoint": "https://e",
            "tags": { "fgw:state": "creating" } });
        let lists = ["routes", "integrations", "authorizers"];
        let aws = Recorded::default()
            .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
            .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
            .on("GET /v2/apis/api1", Answer::Json(200, api))
            .on("GET /v2/apis/api1/stages", Answer::Json(200, json!({ "items": [] })))
            .on(&tags, Answer::Json(200, json!({ "tags": { "fgw:state": state } })));
        lists.iter().fold(aws, |aws, list| {
            aws.on(&format!("GET /v2/apis/api1/{list}"), Answer::Json(200, json!({ "items": [] })))
        })
    };
    for (tag, expected) in [("ready", RootState::Ready), ("creating", RootState::Creating)] {
        let seen = read(&answers(tag).session(region), OWNER, "api1", Known::default()).await.unwrap().unwrap();
        assert_eq!(seen.root_state, Some(expected));
    }
}

/// moto 5.2.5 has no GetAuthorizers, and answers with such a page.
#[tokio::test(start_paused = true)]
async fn a_failed_list_of_authorizers_is_ignored_if_none_is_used() {
    let page = Answer::Xml(500, "<!doctype html><title>500 Internal Server Error</title>".into());
    let aws = |authorizer: Option<&str>, answer: &Answer| {
        let api = json!({ "apiId": "api1", "name": "shop", "tags": { "fgw:state": "ready" } });
        let routes = json!({ "items": [route_item("r1", "GET /a", "i1", authorizer)] });
        Recorded::default()
            .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
            .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
            .on("GET /v2/apis/api1", Answer::Json(200, api))
            .on("GET /v2/apis/api1/routes", Answer::Json(200, routes))
            .on(
                "GET /v2/apis/api1/integrations",
                Answer::Json(200, json!({ "items": [integration_item("i1", 30_000)] })),
            )
            .on("GET /v2/apis/api1/authorizers", answer.clone())
            .on("GET /v2/apis/api1/stages", Answer::Json(200, json!({ "items": [{ "stageName": "$default" }] })))
            .on(&get_policy(FUNCTION), policy("eu-west-1", "x", "*/*/a"))
    };
    let read = async |aws: Recorded| read(&aws.session("eu-west-1"), OWNER, "api1", Known::default()).await;
    let seen = read(aws(None, &page)).await.unwrap().unwrap();
    assert!(seen.objects.iter().any(|it| matches!(it.spec, Spec::ApiRoute(_))), "{seen:?}");
    let failure = read(aws(Some("a1"), &page)).await.unwrap_err();
    assert_eq!(failure.action, "GetAuthorizers");
    let internal = Answer::Error(500, "InternalServerErrorException", "sorry");
    let of_balancer = Answer::Xml(503, "<html>503 Service Unavailable</html>".into());
    for answer in [internal, of_balancer, Answer::Lost] {
        assert_eq!(read(aws(None, &answer)).await.unwrap_err().action, "GetAuthorizers", "AWS did not answer");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stage_with_our_tags_that_state_lacks_is_found() {
    let ours = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "stage" });
    let stages = json!({ "items": [
        { "stageName": "theirs", "autoDeploy": true },
        { "stageName": "prod", "autoDeploy": true, "tags": ours, "stageVariables": { "a": "1" } },
        { "stageName": "$default", "autoDeploy": true, "tags": ours, "description": "Live." },
    ] });
    let api = json!({ "apiId": "api1", "name": "shop", "tags": { "fgw:state": "ready" } });
    let aws = ["routes", "integrations", "authorizers"].iter().fold(Recorded::default(), |aws, list| {
        aws.on(&format!("GET /v2/apis/api1/{list}"), Answer::Json(200, json!({ "items": [] })))
    });
    let aws = aws
        .on("GET /v2/apis/api1", Answer::Json(200, api))
        .on("GET /v2/apis/api1/stages", Answer::Json(200, stages))
        .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })));
    let known = [
        Entry::new(keys::api(), "api1", Spec::Api(Api::test())),
        Entry::new(keys::stage("$default"), "$default", Spec::Stage(Stage::test())),
    ];
    let seen = read(&aws.session("stages"), OWNER, "api1", Known::entries(&known)).await.unwrap().unwrap();
    let stage = |key: &Key| {
        let found = seen.objects.iter().find(|it| it.key == *key).unwrap_or_else(|| panic!("no {key}: {seen:?}"));
        (found.id.clone(), Stage::of(&found.spec).expect("it is a stage").clone())
    };
    let (id, default) = stage(&keys::stage("$default"));
    assert_eq!((id.as_str(), default.description), ("$default", Input::Known(None)), "it is not managed");
    let (id, prod) = stage(&keys::stage("prod"));
    let variables = Input::Known([("a".to_string(), Input::Known("1".to_string()))].into());
    assert_eq!((id.as_str(), prod.variables), ("prod", variables));
    assert_eq!(seen.objects.len(), 3, "{seen:?}");
}
