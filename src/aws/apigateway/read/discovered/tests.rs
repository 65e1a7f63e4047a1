use serde_json::{Value, json};

use super::discover;
use crate::aws::recorded::{Answer, OWNER, Recorded, imported};
use crate::cloud::{Seen, adoptable};
use crate::model::STACK;
use crate::topology::Topology;
use crate::topology::http_gateway::HttpGateway;

const FUNCTION: &str = "arn:aws:lambda:eu-west-1:123456789012:function:orders";

fn items(items: &[Value]) -> Answer {
    Answer::Json(200, json!({ "items": items }))
}

/// An object with further members.
fn with(mut object: Value, further: &Value) -> Value {
    object.as_object_mut().expect("an object").extend(further.as_object().expect("an object").clone());
    object
}

fn route(id: &str, key: &str, integration: &str, further: &Value) -> Value {
    let route = json!({ "routeId": id, "routeKey": key, "target": format!("integrations/{integration}") });
    with(route, further)
}

fn integration(id: &str, further: &Value) -> Value {
    let integration = json!({ "integrationId": id, "integrationType": "AWS_PROXY", "integrationUri": FUNCTION,
        "payloadFormatVersion": "2.0", "timeoutInMillis": 30_000 });
    with(integration, further)
}

fn domain(name: &str, further: &Value) -> Value {
    let configuration = json!({ "apiGatewayDomainName": format!("d-{name}"), "endpointType": "REGIONAL",
        "hostedZoneId": "Z1", "securityPolicy": "TLS_1_2", "certificateArn": "arn:aws:acm:eu-west-1:1:certificate/c" });
    json!({ "domainName": name, "tags": {}, "domainNameConfigurations": [with(configuration, further)] })
}

fn mapping(id: &str, api: &str, key: &str) -> Value {
    json!({ "apiMappingId": id, "apiId": api, "apiMappingKey": key, "stage": "$default" })
}

/// An API that CloudFormation built, with this stage. It has one object that can be adopted of each kind, and others.
fn api(stage: &Value) -> Recorded {
    api_with_tags(stage, &json!({ STACK: "legacy" }))
}

/// The same, with these tags.
fn api_with_tags(stage: &Value, tags: &Value) -> Recorded {
    let api =
        json!({ "apiId": "api1", "name": "legacy", "apiEndpoint": "https://e", "protocolType": "HTTP", "tags": tags });
    let policy = json!({ "Policy": json!({ "Statement": [] }).to_string() });
    let with_stack = |domain: Value, stack: &str| with(domain, &json!({ "tags": { STACK: stack } }));
    let (nothing, role) = (json!({}), json!({ "credentialsArn": "arn:aws:iam::*:user/*" }));
    let path = format!("GET /2015-03-31/functions/{}/policy", FUNCTION.replace(':', "%3A"));
    let further = (stage["stageName"] == "$default").then(|| json!({ "stageName": "test" }));
    let stages: Vec<Value> = std::iter::once(stage.clone()).chain(further).collect();
    let domains = [
        domain("a.example.com", &json!({ "securityPolicy": "TLS_1_0" })),
        domain("b.example.com", &nothing),
        domain("c.example.com", &nothing),
        with_stack(domain("d.example.com", &nothing), "edge"),
        with_stack(domain("e.example.com", &nothing), "other"),
        domain("f.example.com", &nothing),
    ];
    let mut aws = Recorded::default()
        .on("GET /v2/apis/api1", Answer::Json(200, api))
        .on(
            "GET /v2/apis/api1/routes",
            items(&[
                route("r1", "GET /a", "i1", &nothing),
                route("r2", "GET /iam", "i1", &json!({ "authorizationType": "AWS_IAM" })),
                route("r3", "$default", "i1", &json!({ "apiGatewayManaged": true })),
                route("r4", "GET /role", "i2", &nothing),
                route("r5", "GET /http", "i3", &nothing),
                route("r6", "GET /jwt", "i1", &json!({ "authorizationType": "JWT", "authorizerId": "a1" })),
                json!({ "routeId": "r7", "routeKey": "GET /nowhere" }),
                route("r8", "GET /token", "i1", &json!({ "authorizationType": "JWT", "authorizerId": "a2" })),
            ]),
        )
        .on(
            "GET /v2/apis/api1/integrations",
            items(&[
                integration("i1", &nothing),
                integration("i2", &role),
                integration("i3", &json!({ "integrationType": "MOCK" })),
                integration("i4", &nothing),
                integration("i5", &json!({ "requestParameters": { "overwrite:path": "/" } })),
            ]),
        )
        .on(
            "GET /v2/apis/api1/authorizers",
            items(&[
                json!({ "authorizerId": "a1", "name": "jwt", "authorizerType": "JWT" }),
                json!({ "authorizerId": "a2", "name": "users", "authorizerType": "JWT", "identitySource": ["$request.header.x"],
                    "jwtConfiguration": { "issuer": "https://id.example.com", "audience": ["shop"] } }),
            ]),
        )
        .on("GET /v2/apis/api1/stages", items(&stages))
        .on(&path, Answer::Json(200, policy))
        .on("GET /v2/vpclinks", items(&[]))
        .on("GET /v2/domainnames", items(&domains));
    let zones = "<HostedZones></HostedZones><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems>";
    for zone in ["d.example.com", "example.com", "com"] {
        let zones = format!("<ListHostedZonesByNameResponse>{zones}</ListHostedZonesByNameResponse>");
        aws = aws.on(&format!("GET /2013-04-01/hostedzonesbyname?dnsname={zone}"), Answer::Xml(200, zones));
    }
    for (name, mappings) in [
        ("a", vec![mapping("m1", "api1", "")]),
        ("b", vec![mapping("m2", "api1", ""), mapping("m3", "api2", "v2")]),
        ("c", vec![mapping("m4", "api1", "v1")]),
        ("d", vec![mapping("m5", "api1", "")]),
        ("e", vec![mapping("m6", "api1", "")]),
        ("f", vec![mapping("m7", "api2", "")]),
    ] {
        aws = aws.on(&format!("GET /v2/domainnames/{name}.example.com/apimappings"), items(&mappings));
    }
    aws
}

/// What an adoption of the API finds, or why the API cannot be adopted.
async fn found(aws: &Recorded) -> Result<Seen, String> {
    let session = aws.session("r");
    let discovery = discover(&session, OWNER, "api1").await.unwrap().expect("the API exists");
    let classification = HttpGateway::classify(discovery.landscape(), None);
    match classification.unmanaged.get("api1") {
        Some(reason) => Err(reason.clone()),
        None => Ok(adoptable(discovery, &classification).await.unwrap()),
    }
}

#[tokio::test(start_paused = true)]
async fn objects_that_no_input_expresses_stay_unmanaged() {
    let stage = json!({ "stageName": "$default", "autoDeploy": true });
    let seen = found(&api(&stage)).await.unwrap();
    let mut keys: Vec<&str> = seen.objects.iter().map(|it| it.key.slot.as_str()).collect();
    keys.sort_unstable();
    let of_routes = ["route.GET /a", "route.GET /iam", "route.GET /token"];
    let others = ["api", "api_mapping", "authorizer.users", "domain", "integration.GET /a", "stage"];
    let mut expected = [&of_routes[..], &others].concat();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert!(seen.objects.iter().any(|it| it.id == "d.example.com"), "{:?}", seen.objects);
    let reasons = [
        ("a.example.com", "TLS_1_0"),
        ("b.example.com", "api2"),
        ("c.example.com", "not to its root path"),
        ("e.example.com", "d.example.com is the domain of this gateway already"),
        ("a1", "it has no issuer"),
        ("i2", "the credentials of the caller, which are its arn:aws:iam::*:user/*"),
        ("i3", "no input expresses its type MOCK"),
        ("i4", "no route that can be adopted uses this integration"),
        ("i5", "no route that can be adopted uses this integration"),
        ("r3", "quick create"),
        ("r4", "i2"),
        ("r5", "i3"),
        ("r6", "its authorizer a1 cannot be adopted: it has no issuer"),
        ("r7", "it has no integration"),
        ("test", "it is a further stage, and a gateway has one"),
    ];
    for (id, reason) in reasons {
        let unmanaged = seen.unmanaged.iter().find(|it| it.id == id);
        assert!(unmanaged.is_some_and(|it| it.reason.contains(reason)), "{id}: {unmanaged:?}");
    }
    assert_eq!(seen.unmanaged.len(), reasons.len(), "{:?}", seen.unmanaged);
}

#[tokio::test(start_paused = true)]
async fn the_only_stage_is_adopted_without_domains_of_others() {
    let seen = found(&api(&json!({ "stageName": "prod", "autoDeploy": true }))).await.unwrap();
    let id = |slot: &str| seen.objects.iter().find(|it| it.key.slot == slot).map(|it| it.id.as_str());
    assert_eq!((id("stage"), id("domain")), (Some("prod"), None));
    let reason = seen.unmanaged.iter().find(|it| it.id == "d.example.com").map(|it| it.reason.as_str());
    assert_eq!(reason, Some("its mapping leads to the stage $default"));
}

#[tokio::test(start_paused = true)]
async fn stacks_are_reported_for_all_kinds_with_tags() {
    let arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/legacy/access";
    let stage = json!({ "stageName": "$default", "autoDeploy": true, "tags": { STACK: "stages" },
        "accessLogSettings": { "destinationArn": arn, "format": "$context.requestId" } });
    let group = json!({ "logGroupName": "/legacy/access", "arn": format!("{arn}:*") });
    let aws = api(&stage)
        .on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [group] })))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": { STACK: "logs" } })))
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": [] })));
    let seen = found(&aws).await.unwrap();
    let stacks: Vec<(&str, &str)> = seen.stacks.iter().map(|(id, stack)| (id.as_str(), stack.as_str())).collect();
    assert_eq!(
        stacks,
        [("$default", "stages"), ("/legacy/access", "logs"), ("api1", "legacy"), ("d.example.com", "edge")],
        "e.example.com is unmanaged"
    );
    let with_tags: Vec<&str> =
        seen.objects.iter().filter(|it| it.spec.tags().is_some()).map(|it| it.id.as_str()).collect();
    assert!(with_tags.iter().all(|id| seen.stacks.contains_key(*id)), "{with_tags:?}");
    assert_eq!(with_tags.len(), stacks.len());
}

#[tokio::test(start_paused = true)]
async fn an_api_without_a_stage_of_its_own_is_rejected() {
    let default = |further: &Value| with(json!({ "stageName": "$default", "autoDeploy": true }), further);
    for (stage, reason) in [
        (default(&json!({ "autoDeploy": false })), "does not deploy changes automatically"),
        (default(&json!({ "apiGatewayManaged": true })), "quick create"),
        (default(&json!({ "tags": { "fgw:resource": "http_gateway/api2" } })), "another resource"),
    ] {
        let aws = api(&stage);
        let rejected = found(&aws).await.unwrap_err();
        assert!(rejected.contains(reason), "{rejected}");
        assert_eq!(aws.calls().len(), 5, "nothing else is read: {:?}", aws.calls());
    }
}

#[tokio::test(start_paused = true)]
async fn an_api_that_an_unsaved_adoption_has_tagged_can_be_adopted() {
    let stage = json!({ "stageName": "$default", "autoDeploy": true,
        "tags": { "fgw:resource": "http_gateway/api1", "fgw:object": "stage" } });
    for (owner, is_rejected) in [("http_gateway/legacy", false), ("four_tier_vpc/legacy", true)] {
        let aws = api_with_tags(&stage, &json!({ "fgw:resource": owner, "fgw:state": "ready" }));
        let found = found(&aws).await;
        assert_eq!(found.is_err(), is_rejected, "{found:?}");
        let has_stage = found.is_ok_and(|seen| seen.objects.iter().any(|it| it.key.slot == "stage"));
        assert_eq!(has_stage, !is_rejected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_part_of_an_import_id_is_a_stage() {
    let import = async |stage: &str, id: &str, owner: &str| {
        let tags = if owner.is_empty() { json!({}) } else { json!({ "fgw:resource": owner, "fgw:state": "ready" }) };
        let aws = api_with_tags(&json!({ "stageName": stage, "autoDeploy": true, "tags": tags }), &tags);
        let response = imported::<HttpGateway>(aws.session("r"), id).await;
        let stage = response.state.map(|state| state.get("stage_name").clone());
        (stage, format!("{:?}", response.diagnostics))
    };
    for owner in ["", "http_gateway/api1"] {
        assert_eq!(import("prod", "api1/prod", owner).await.0, Some("prod".into()), "{owner}");
        let (stage, refused) = import("prod", "api1/beta", owner).await;
        assert!(stage.is_none() && refused.contains("no such stage_name"), "{owner}: {refused}");
        assert!(refused.contains("without a slash"), "{owner}: {refused}");
    }
    let (stage, refused) = import("$default", "api1/test", "").await;
    assert!(stage.is_none() && refused.contains("its stage test does not deploy changes automatically"), "{refused}");
    let (stage, refused) = import("$default", "arn:aws:apigateway:r::/apis/api1", "").await;
    assert!(stage.is_none() && refused.contains("/apis/api1"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_import_of_an_api_repeats_no_call() {
    let stage = json!({ "stageName": "$default", "autoDeploy": true });
    let own = json!({ "fgw:resource": "http_gateway/shop", "fgw:state": "ready" });
    for (tags, is_foreign) in [(json!({}), true), (own, false)] {
        let aws = api_with_tags(&stage, &tags);
        let response = imported::<HttpGateway>(aws.session("r"), "api1").await;
        let state = response.state.unwrap_or_else(|| panic!("{:?}", response.diagnostics));
        assert_eq!(state.get("adopt").as_map().is_some(), is_foreign);
        let mut calls = aws.calls();
        calls.sort();
        let mut once = calls.clone();
        once.dedup();
        assert_eq!(calls, once);
        assert!(calls.iter().any(|call| call.contains("/policy")) && calls.len() >= 7, "{calls:?}");
    }
}
