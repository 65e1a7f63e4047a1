//! Reads answers with the fields that AWS returns, in its spelling on the wire. A comment names the source of each
//! shape. AWS omits empty lists and unset texts, and returns empty maps of tags.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{api, api_mapping, authorizer, dependents, domain_name, integration, route, stage};
use crate::aws::calls::Operation;
use crate::aws::recorded::{Answer, OWNER, Recorded, Records, run};
use crate::cloud::{DependentScope, Failure, Observed, RootState};
use crate::model::keys::gateway as keys;
use crate::model::{
    Api, ApiMapping, ApiRoute, Authorization, AuthorizationType, Authorizer, Cors, DomainName, Input, Integration, Key,
    Ref, Spec, Stage, Target,
};

const FUNCTION: &str = "arn:aws:lambda:eu-west-1:123456789012:function:orders";
const APIS: &str = "/v2/apis";

fn ok(body: Value) -> Answer {
    Answer::Json(200, body)
}

/// An object with further fields.
fn with(mut object: Value, further: Value) -> Value {
    let (Value::Object(fields), Value::Object(further)) = (&mut object, further) else { panic!("both are objects") };
    fields.extend(further);
    object
}

/// Recorded: GetApis, of an API without any optional setting.
fn shown_api(id: &str) -> Value {
    json!({ "apiEndpoint": format!("https://{id}.execute-api.eu-west-1.amazonaws.com"), "apiId": id,
        "apiKeySelectionExpression": "$request.header.x-api-key", "createdDate": "2026-01-26T21:16:26Z",
        "disableExecuteApiEndpoint": false, "name": "shop", "protocolType": "HTTP",
        "routeSelectionExpression": "$request.method $request.path", "tags": {} })
}

/// Recorded: GetApis, of a WebSocket API.
fn websocket() -> Value {
    json!({ "apiEndpoint": "wss://ws1.execute-api.eu-west-1.amazonaws.com", "apiId": "ws1",
        "apiKeySelectionExpression": "$request.header.x-api-key", "createdDate": "2022-10-19T09:59:53Z",
        "disableExecuteApiEndpoint": false, "name": "chat", "protocolType": "WEBSOCKET",
        "routeSelectionExpression": "$request.body.action", "tags": { "team": "chat" } })
}

/// Recorded: GetStages. `further` are the fields that not every stage has.
fn shown_stage(name: &str, further: Value) -> Value {
    let stage = json!({ "createdDate": "2025-01-27T19:14:25Z", "defaultRouteSettings": { "detailedMetricsEnabled": false },
        "lastUpdatedDate": "2025-01-27T19:14:26Z", "routeSettings": {}, "stageName": name, "stageVariables": {},
        "tags": {} });
    with(stage, further)
}

/// Documented shape: GetDomainName. The statuses and the message are recorded for the REST API.
fn shown_domain(status: &str, message: Option<&str>) -> Value {
    let mut configuration = json!({ "apiGatewayDomainName": "d-1234.execute-api.eu-west-1.amazonaws.com",
        "certificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/c1", "domainNameStatus": status,
        "endpointType": "REGIONAL", "hostedZoneId": "ZLY8HYME6SFDD", "ipAddressType": "ipv4",
        "securityPolicy": "TLS_1_2" });
    if let Some(message) = message {
        configuration["domainNameStatusMessage"] = message.into();
    }
    json!({ "apiMappingSelectionExpression": "$request.basepath", "domainName": "api.example.com",
        "domainNameArn": "arn:aws:apigateway:eu-west-1::/domainnames/api.example.com",
        "domainNameConfigurations": [configuration], "routingMode": "API_MAPPING_ONLY", "tags": {} })
}

/// Documented shape: GetRoutes.
fn shown_route(id: &str, further: Value) -> Value {
    with(json!({ "apiKeyRequired": false, "authorizationType": "NONE", "routeId": id, "routeKey": "GET /a" }), further)
}

/// Documented shape: GetIntegrations.
fn shown_integration(id: &str, further: Value) -> Value {
    let integration = json!({ "connectionType": "INTERNET", "integrationId": id, "integrationMethod": "POST",
        "integrationType": "AWS_PROXY", "integrationUri": FUNCTION, "payloadFormatVersion": "2.0",
        "timeoutInMillis": 30_000 });
    with(integration, further)
}

/// Documented shape: GetAuthorizers. The fields are those in hashicorp/aws acceptance tests
/// (TestAccAPIGatewayV2Authorizer_credentials).
fn shown_authorizer(id: &str, further: Value) -> Value {
    let authorizer = json!({ "authorizerId": id, "authorizerPayloadFormatVersion": "2.0",
        "authorizerResultTtlInSeconds": 300, "authorizerType": "REQUEST", "authorizerUri": "arn:aws:apigateway:uri",
        "enableSimpleResponses": true, "name": "token" });
    with(authorizer, further)
}

fn api_of(observed: Observed) -> Api {
    let Spec::Api(spec) = observed.spec else { panic!("{observed:?}") };
    spec
}

async fn read_api(shown: Value) -> Observed {
    let aws = Recorded::default().on("GET /v2/apis/api1", ok(shown));
    let shown = api::get(&aws.session("shapes"), "api1").await.unwrap().expect("it exists");
    api::read(&shown, "api1", keys::api(), None)
}

/// Runs an operation below the API `api1`.
async fn on(
    aws: &Recorded,
    key: &Key,
    call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
) -> (Result<(), Failure>, Records) {
    let ids = [(keys::api(), "api1"), (keys::stage("$default"), "$default"), (domain_key(), "api.example.com")];
    let session = aws.session("shapes");
    // A new API contains no objects of an interrupted run, so the create calls are not preceded by lists.
    session.process.created.add("api1");
    run(&session, key, &ids, call).await
}

fn domain_key() -> Key {
    keys::domain(&Input::Known("api.example.com".into()))
}

fn known<T>(value: T) -> Input<T> {
    Input::Known(value)
}

#[tokio::test(start_paused = true)]
async fn api_without_optional_settings_is_read() {
    let observed = read_api(shown_api("api1")).await;
    assert_eq!(observed.learned["api_endpoint"], "https://api1.execute-api.eu-west-1.amazonaws.com");
    assert_eq!(api_of(observed), Api::test());
}

/// Recorded: GetApi of an API with a CORS configuration, in which empty lists are absent.
#[tokio::test(start_paused = true)]
async fn absent_cors_lists_are_empty() {
    let cors = json!({ "allowCredentials": false, "maxAge": 60 });
    let further = json!({ "corsConfiguration": cors, "description": "orders", "version": "v1.0" });
    let spec = api_of(read_api(with(shown_api("api1"), further)).await);
    assert_eq!(spec.cors, known(Some(Cors { max_age: Some(60), ..Cors::default() })));
    assert_eq!((spec.description, spec.version), (known(Some("orders".into())), known(Some("v1.0".into()))));
}

/// Recorded: GetApi and GetStage of missing objects.
#[tokio::test(start_paused = true)]
async fn missing_api_and_stage_are_absent() {
    let no_api = Answer::Error(404, "NotFoundException", "Invalid API identifier specified 123456789012:api1");
    let no_stage = Answer::Error(404, "NotFoundException", "Invalid stage identifier specified");
    let aws = Recorded::default().on("GET /v2/apis/api1", no_api).on("GET /v2/apis/api1/stages/%24default", no_stage);
    let session = aws.session("shapes");
    assert_eq!(api::get(&session, "api1").await, Ok(None));
    assert_eq!(stage::get(&session, "api1", "$default").await, Ok(None));
}

/// Recorded: GetApis, which returns WebSocket APIs too and no `nextToken` on the last page.
#[tokio::test(start_paused = true)]
async fn apis_of_all_pages_are_listed() {
    let ours = |id: &str, state: &str| {
        with(shown_api(id), json!({ "tags": { "fgw:resource": "http_gateway/shop", "fgw:state": state } }))
    };
    let first = json!({ "items": [websocket(), shown_api("plain"), ours("a1", "ready")], "nextToken": "eyJ2ZXJz" });
    let aws = Recorded::default()
        .on("GET /v2/apis", ok(first))
        .on("GET /v2/apis?nextToken=eyJ2ZXJz", ok(json!({ "items": [ours("a2", "creating")] })));
    let session = aws.session("shapes");
    let roots = api::roots(&session, OWNER).await.unwrap();
    assert_eq!(roots.iter().map(|root| root.id.as_str()).collect::<Vec<_>>(), ["a1", "a2"]);
    let namesakes = api::namesakes(&session, OWNER, "shop", &|_| false).await.unwrap();
    let created: Vec<_> = namesakes.iter().map(|root| (root.id.as_str(), root.created.as_deref())).collect();
    assert_eq!(created, ["a1", "a2"].map(|id| (id, Some("2026-01-26T21:16:26Z"))));

    for none in [json!({ "items": [] }), json!({})] {
        let aws = Recorded::default().on("GET /v2/apis", ok(none));
        assert_eq!(api::roots(&aws.session("shapes"), OWNER).await, Ok(vec![]));
    }
}

/// Documented shape: CreateApi. Recorded: the fields of UpdateApi, whose status is 201.
#[tokio::test(start_paused = true)]
async fn answers_to_changes_of_an_api_are_read() {
    let aws = Recorded::default()
        .on("POST /v2/apis", Answer::Json(201, shown_api("new1")))
        .on("PATCH /v2/apis/new1", Answer::Json(201, with(shown_api("new1"), json!({ "description": "orders" }))));
    let spec = Api::test();
    let (answer, records) = on(&aws, &keys::api(), async |it| api::create(it, &spec).await).await;
    assert_eq!((answer, records.ids.as_slice()), (Ok(()), &["new1".to_string()][..]));
    assert_eq!(records.learned["api_endpoint"], "https://new1.execute-api.eu-west-1.amazonaws.com");
    let to = Api { description: known(Some("orders".into())), ..spec.clone() };
    let update = async |it: &Operation<'_>| api::update(it, "new1", &spec, &to).await;
    on(&aws, &keys::api(), update).await.0.unwrap();
}

/// Documented shape: GetTags.
#[tokio::test(start_paused = true)]
async fn state_is_read_from_the_tags() {
    let path = "GET /v2/tags/arn%3Aaws%3Aapigateway%3Ashapes%3A%3A%2Fapis%2Fapi1";
    let tags = |tags: Value| Recorded::default().on(path, ok(json!({ "tags": tags })));
    let creating = tags(json!({ "fgw:state": "creating" }));
    assert_eq!(api::state(&creating.session("shapes"), "api1").await, Ok(Some(RootState::Creating)));
    assert_eq!(api::state(&tags(json!({})).session("shapes"), "api1").await, Ok(None));
}

/// Recorded: GetStages and GetStage. `autoDeploy` is absent or `false` where it is disabled. The status message is
/// absent before the first deployment, and after a failed one there is no deployment ID.
#[tokio::test(start_paused = true)]
async fn stages_are_read_in_each_state() {
    let failed = "Deployment attempt failed: Unable to deploy API because no valid routes exist in this API";
    let succeeded = "Successfully deployed stage with deployment ID 'dty748'";
    let arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/http/shop";
    let logs = json!({ "destinationArn": arn, "format": "$context.requestId" });
    let cases = [
        (json!({ "autoDeploy": true }), true, None, None),
        (json!({}), false, None, None),
        (json!({ "autoDeploy": false, "lastDeploymentStatusMessage": failed }), false, Some(failed), None),
        (
            json!({ "autoDeploy": true, "deploymentId": "dty748", "lastDeploymentStatusMessage": succeeded,
                "accessLogSettings": logs, "apiGatewayManaged": true }),
            true,
            None,
            Some(arn),
        ),
    ];
    for (further, auto_deploy, failure, log_group) in cases {
        let aws =
            Recorded::default().on("GET /v2/apis/api1/stages/%24default", ok(shown_stage("$default", further.clone())));
        let shown = stage::get(&aws.session("shapes"), "api1", "$default").await.unwrap().expect("it exists");
        let Spec::Stage(spec) =
            stage::read(&shown, (keys::api(), keys::stage("$default")), None, &BTreeSet::new(), |arn| {
                Ref::Id(arn.into())
            })
            .spec
        else {
            panic!("it is a stage")
        };
        assert_eq!((spec.auto_deploy, spec.deployment_failure.as_deref()), (auto_deploy, failure), "{further}");
        assert_eq!(spec.access_log.map(|log| log.log_group), log_group.map(|arn| Ref::Id(arn.into())), "{further}");
        assert_eq!(spec.tags, known([].into()));
    }
}

/// Recorded: GetStages. Documented shapes: the other lists.
#[tokio::test(start_paused = true)]
async fn dependents_are_read_from_all_pages() {
    let stages = [shown_stage("$default", json!({ "autoDeploy": true })), shown_stage("test", json!({}))];
    let described = shown_stage("dev", json!({ "description": "for developers" }));
    let path = |list: &str| format!("GET {APIS}/api1/{list}");
    let aws = Recorded::default()
        .on(&path("stages"), ok(json!({ "items": stages, "nextToken": "n" })))
        .on(&path("stages?nextToken=n"), ok(json!({ "items": [described] })))
        .on(&path("routes"), ok(json!({ "items": [shown_route("r1", json!({ "target": "integrations/i1" }))] })))
        .on(&path("authorizers"), ok(json!({ "items": [shown_authorizer("a1", json!({}))] })))
        .on("GET /v2/domainnames", ok(json!({ "items": [] })));
    let found = dependents::dependents(&aws.session("shapes"), "api1", DependentScope::Root, &[]).await;
    let found: Vec<_> = found.objects.iter().map(|it| (it.kind, it.id.as_str(), it.description.as_str())).collect();
    let expected = [
        ("route", "r1", "GET /a"),
        ("stage", "$default", ""),
        ("stage", "dev", "for developers"),
        ("stage", "test", ""),
        ("authorizer", "a1", "token"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn routes_are_read_with_and_without_target_and_authorizer() {
    let path = "GET /v2/apis/api1/routes";
    let custom = json!({ "authorizationType": "CUSTOM", "authorizerId": "a1", "routeKey": "$default",
        "target": "integrations/i1", "apiGatewayManaged": true });
    let jwt = json!({ "authorizationType": "JWT", "authorizationScopes": ["user.id"], "authorizerId": "a2",
        "operationName": "list", "requestParameters": {}, "target": "integrations/i2" });
    let aws = Recorded::default()
        .on(path, ok(json!({ "items": [shown_route("r1", json!({ "operationName": "" })), shown_route("r2", custom)], "nextToken": "n" })))
        .on(&format!("{path}?nextToken=n"), ok(json!({ "items": [shown_route("r3", jwt)] })));
    let ours = [("i1".to_string(), Key::new("integration.orders"))].into();
    let read = |shown| route::read(&shown, keys::api(), Key::new("route"), &ours).expect("it has an ID and a key");
    let routes = route::list(&aws.session("shapes"), "api1").await.unwrap().into_iter().map(read);
    let id = |id: &str| Ref::Id(id.to_string());
    let spec = |route_key: &str, integration, authorization| {
        Spec::ApiRoute(ApiRoute { route_key: route_key.into(), integration, authorization, ..ApiRoute::test() })
    };
    let scopes = known(["user.id".to_string()].into());
    let jwt = Authorization { kind: AuthorizationType::Jwt, authorizer: Some(id("a2")), scopes };
    let ours = Some(Ref::Key(Key::new("integration.orders")));
    let expected = [
        ("r1".to_string(), spec("GET /a", None, Authorization::default()), Vec::new()),
        ("r2".to_string(), spec("$default", ours, Authorization::custom(id("a1"))), Vec::new()),
        ("r3".to_string(), spec("GET /a", Some(id("i2")), jwt), vec!["list".to_string()]),
    ];
    assert_eq!(
        routes.map(|it| (it.id, it.spec, it.learned.unexpressed.into_values().collect::<Vec<_>>())).collect::<Vec<_>>(),
        expected
    );
}

#[tokio::test(start_paused = true)]
async fn integrations_of_each_kind_are_read() {
    let path = "GET /v2/apis/api1/integrations";
    let http = json!({ "integrationMethod": "ANY", "integrationType": "HTTP_PROXY", "payloadFormatVersion": "1.0",
        "integrationUri": "https://www.example.com" });
    let subtype = json!({ "integrationSubtype": "SQS-SendMessage", "requestParameters": { "QueueUrl": "q" },
        "credentialsArn": "role" });
    let mock = json!({ "integrationType": "MOCK" });
    let items = [shown_integration("i1", json!({ "description": "orders" })), shown_integration("i2", http)];
    let aws = Recorded::default().on(path, ok(json!({ "items": items, "nextToken": "n" }))).on(
        &format!("{path}?nextToken=n"),
        ok(json!({ "items": [shown_integration("i3", subtype), shown_integration("i4", mock)] })),
    );
    let listed = integration::list(&aws.session("shapes"), "api1").await.unwrap();
    assert_eq!(listed.len(), 4);
    let read = listed.iter().filter_map(|it| integration::read(it, keys::api(), Key::new("integration"), None));
    let expected = Integration {
        target: Target::function(FUNCTION),
        description: known(Some("orders".into())),
        ..Integration::test()
    };
    let endpoint = Target::Http {
        integration_uri: known("https://www.example.com".into()),
        integration_method: known("ANY".into()),
        vpc_link: None,
        server_name_to_verify: known(None),
    };
    let endpoint = Integration { target: endpoint, payload_format_version: known("1.0".into()), ..Integration::test() };
    let service = Target::Service {
        integration_subtype: known("SQS-SendMessage".into()),
        credentials_arn: known(Some("role".into())),
    };
    let service = Integration {
        target: service,
        request_parameters: known([("QueueUrl".to_string(), "q".to_string())].into()),
        ..Integration::test()
    };
    let read: Vec<_> = read.map(|it| (it.id, it.spec)).collect();
    let expected = [("i1", expected), ("i2", endpoint), ("i3", service)];
    assert_eq!(read, expected.map(|(id, spec)| (id.to_string(), Spec::Integration(spec))));
}

#[tokio::test(start_paused = true)]
async fn authorizers_are_read_without_absent_fields() {
    let path = "GET /v2/apis/api1/authorizers";
    let jwt = json!({ "authorizerId": "a3", "authorizerType": "JWT", "name": "jwt",
        "identitySource": ["$request.header.Authorization"],
        "jwtConfiguration": { "audience": ["shop"], "issuer": "https://id.example.com" } });
    let full = json!({ "authorizerCredentialsArn": "arn:aws:iam::123456789012:role/caller",
        "authorizerPayloadFormatVersion": "1.0", "authorizerResultTtlInSeconds": 0, "enableSimpleResponses": false,
        "identitySource": ["$request.header.Authorization"] });
    let aws = Recorded::default()
        .on(path, ok(json!({ "items": [shown_authorizer("a1", json!({})), jwt], "nextToken": "n" })))
        .on(&format!("{path}?nextToken=n"), ok(json!({ "items": [shown_authorizer("a2", full)] })));
    let listed = authorizer::list(&aws.session("shapes"), "api1").await.unwrap();
    let read: Vec<_> = listed.iter().filter_map(|it| authorizer::read(it, keys::api(), None)).collect();
    let first = authorizer_spec();
    let second = Authorizer {
        payload_format_version: known("1.0".into()),
        identity_sources: known(vec!["$request.header.Authorization".into()]),
        result_ttl_in_seconds: known(0),
        enable_simple_responses: known(false),
        credentials_arn: known(Some("arn:aws:iam::123456789012:role/caller".into())),
        ..first.clone()
    };
    assert_eq!(read, [first, second]);
    let empty = Recorded::default().on(path, ok(json!({ "items": [] })));
    assert_eq!(authorizer::list(&empty.session("shapes"), "api1").await, Ok(vec![]));
}

fn authorizer_spec() -> Authorizer {
    Authorizer {
        authorizer_uri: known("arn:aws:apigateway:uri".into()),
        result_ttl_in_seconds: known(300),
        enable_simple_responses: known(true),
        ..Authorizer::test()
    }
}

/// Documented shapes: CreateRoute, CreateIntegration, CreateApiMapping and CreateStage. hashicorp/aws acceptance tests:
/// CreateAuthorizer.
#[tokio::test(start_paused = true)]
async fn ids_are_read_from_the_answers_to_creates() {
    let mappings = "/v2/domainnames/api.example.com/apimappings";
    let mapping = json!({ "apiId": "api1", "apiMappingId": "m1", "stage": "$default" });
    let created = |body: Value| Answer::Json(201, body);
    let aws = Recorded::default()
        .on("POST /v2/apis/api1/routes", created(shown_route("r1", json!({}))))
        .on("POST /v2/apis/api1/integrations", created(shown_integration("i1", json!({}))))
        .on("POST /v2/apis/api1/authorizers", created(shown_authorizer("a1", json!({}))))
        .on("POST /v2/apis/api1/stages", created(shown_stage("$default", json!({ "autoDeploy": true }))))
        .on(&format!("POST {mappings}"), created(mapping));
    let route = ApiRoute::test();
    let integration = Integration { target: Target::function(FUNCTION), ..Integration::test() };
    let stage = Stage::test();
    let mapping = ApiMapping { domain: domain_key(), ..ApiMapping::test() };
    let (key, authorizer) = (Key::new("object"), authorizer_spec());
    let records = [
        on(&aws, &key, async |it| route::create(it, &route).await).await,
        on(&aws, &key, async |it| integration::create(it, &integration).await).await,
        on(&aws, &key, async |it| authorizer::create(it, &authorizer).await).await,
        on(&aws, &key, async |it| stage::create(it, &stage).await).await,
        on(&aws, &key, async |it| api_mapping::create(it, &mapping).await).await,
    ];
    let ids: Vec<_> = records.into_iter().map(|(answer, records)| answer.map(|()| records.ids)).collect();
    assert_eq!(ids, ["r1", "i1", "a1", "$default", "m1"].map(|id| Ok(vec![id.to_string()])));
}

/// Documented shape: GetApiMappings. The key of the root path is absent or empty.
#[tokio::test(start_paused = true)]
async fn mappings_are_read_with_and_without_a_path() {
    let path = "GET /v2/domainnames/api.example.com/apimappings";
    let item =
        |id: &str, further: Value| with(json!({ "apiId": "api1", "apiMappingId": id, "stage": "$default" }), further);
    let first =
        json!({ "items": [item("m1", json!({})), item("m2", json!({ "apiMappingKey": "" }))], "nextToken": "n" });
    let second = json!({ "items": [item("m3", json!({ "apiMappingKey": "v1", "stage": "test" }))] });
    let aws = Recorded::default().on(path, ok(first)).on(&format!("{path}?nextToken=n"), ok(second));
    let listed = api_mapping::list(&aws.session("shapes"), "api.example.com").await.unwrap();
    let read = listed
        .iter()
        .filter_map(|it| api_mapping::read(it, ("api1", &["$default"]), keys::api(), domain_key(), Key::new("m")));
    let read: Vec<_> = read
        .map(|it| match it.spec {
            Spec::ApiMapping(spec) => (it.id, spec.mapping_key, spec.stage),
            spec => panic!("{spec:?}"),
        })
        .collect();
    let default = || Ref::Key(keys::stage("$default"));
    let expected = [("m1", "", default()), ("m2", "", default()), ("m3", "v1", Ref::Id("api1/test".into()))];
    assert_eq!(read, expected.map(|(id, path, stage)| (id.to_string(), path.to_string(), stage)));

    for none in [ok(json!({ "items": [] })), ok(json!({})), no_domain()] {
        let aws = Recorded::default().on(path, none);
        assert_eq!(api_mapping::list(&aws.session("shapes"), "api.example.com").await, Ok(vec![]));
    }
}

/// The text is that of the REST API, quoted in amplify-education/serverless-domain-manager#210.
fn no_domain() -> Answer {
    Answer::Error(404, "NotFoundException", "Invalid domain name identifier specified")
}

#[tokio::test(start_paused = true)]
async fn domains_are_read_by_name_and_from_all_pages() {
    let other = with(shown_domain("AVAILABLE", None), json!({ "domainName": "other.example.com" }));
    let aws = Recorded::default()
        .on("GET /v2/domainnames/api.example.com", ok(shown_domain("AVAILABLE", None)))
        .on("GET /v2/domainnames", ok(json!({ "items": [other], "nextToken": "n" })))
        .on("GET /v2/domainnames?nextToken=n", ok(json!({ "items": [shown_domain("AVAILABLE", None)] })));
    let session = aws.session("shapes");
    let shown = domain_name::get(&session, "api.example.com").await.unwrap().expect("it exists");
    let observed =
        domain_name::read(&shown, keys::api(), domain_key(), Some(&DomainName::test())).expect("it has a name");
    let expected = DomainName {
        certificate_arn: known("arn:aws:acm:eu-west-1:123456789012:certificate/c1".into()),
        ..DomainName::test()
    };
    assert_eq!(observed.spec, Spec::DomainName(expected));
    assert_eq!(observed.learned["target_domain_name"], "d-1234.execute-api.eu-west-1.amazonaws.com");
    assert_eq!(observed.learned["target_hosted_zone_id"], "ZLY8HYME6SFDD");
    let listed = domain_name::list(&session).await.unwrap();
    let names: Vec<_> = listed.iter().filter_map(|it| it.domain_name.as_deref()).collect();
    assert_eq!(names, ["other.example.com", "api.example.com"]);
    let missing = Recorded::default().on("GET /v2/domainnames/api.example.com", no_domain());
    assert_eq!(domain_name::get(&missing.session("shapes"), "api.example.com").await, Ok(None));
}

/// Recorded for the REST API: the status and the message of a domain that is being updated.
#[tokio::test(start_paused = true)]
async fn create_waits_for_a_domain_that_is_being_updated() {
    let busy = "Update is in progress. Please wait until the update finishes before making another request.";
    let aws = Recorded::default()
        .on("POST /v2/domainnames", Answer::Json(201, shown_domain("UPDATING", Some(busy))))
        .on("GET /v2/domainnames/api.example.com", ok(shown_domain("UPDATING", Some(busy))))
        .on("GET /v2/domainnames/api.example.com", ok(shown_domain("AVAILABLE", None)));
    let spec = DomainName {
        certificate_arn: known("arn:aws:acm:eu-west-1:123456789012:certificate/c1".into()),
        ..DomainName::test()
    };
    let (answer, records) = on(&aws, &domain_key(), async |it| domain_name::create(it, &spec).await).await;
    assert_eq!((answer, records.ids), (Ok(()), vec!["api.example.com".to_string()]));
    assert_eq!(records.learned["target_hosted_zone_id"], "ZLY8HYME6SFDD");
    assert_eq!(aws.calls().len(), 3);
}
