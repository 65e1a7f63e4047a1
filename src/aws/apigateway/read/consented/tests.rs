use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::aws::apigateway::read::read;
use crate::aws::recorded::{Answer, OWNER, Recorded};
use crate::cloud::{Known, Seen};
use crate::model::keys::gateway as keys;
use crate::model::{Api, Entry, Input, STACK, Spec, Stage};

const GROUP: &str = "/legacy/access";
const DOMAIN: &str = "api.example.com";
const SINK: &str = "arn:aws:lambda:eu-west-1:123456789012:function:sink";

fn items(items: &[Value]) -> Answer {
    Answer::Json(200, json!({ "items": items }))
}

/// An API without routes.
fn api() -> Recorded {
    let api = json!({ "apiId": "api1", "name": "shop", "apiEndpoint": "https://e", "tags": { "fgw:state": "ready" } });
    let mut aws = Recorded::default()
        .on("GET /v2/apis/api1", Answer::Json(200, api))
        .on("GET /v2/apis/api1/stages", items(&[json!({ "stageName": "$default", "tags": {} })]))
        .on("GET /v2/domainnames", items(&[]));
    for list in ["routes", "integrations", "authorizers"] {
        aws = aws.on(&format!("GET /v2/apis/api1/{list}"), items(&[]));
    }
    aws
}

fn with_group(aws: Recorded, tags: &Value) -> Recorded {
    let arn = format!("arn:aws:logs:eu-west-1:123456789012:log-group:{GROUP}");
    let group = json!({ "logGroupName": GROUP, "arn": format!("{arn}:*"), "retentionInDays": 30 });
    let filter = json!({ "filterName": "theirs", "logGroupName": GROUP, "filterPattern": "", "destinationArn": SINK });
    aws.on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [group] })))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": [filter] })))
        .on(
            &format!("GET /2015-03-31/functions/{}/policy", SINK.replace(':', "%3A")),
            Answer::Json(200, json!({ "Policy": "{\"Statement\":[]}" })),
        )
}

fn with_domain(aws: Recorded, configuration: &Value, tags: &Value, mappings: &[Value]) -> Recorded {
    let mut full = json!({ "apiGatewayDomainName": "d-1", "endpointType": "REGIONAL", "hostedZoneId": "Z1",
        "securityPolicy": "TLS_1_2", "certificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/c" });
    full.as_object_mut().expect("an object").extend(configuration.as_object().expect("an object").clone());
    let shown = json!({ "domainName": DOMAIN, "tags": tags, "domainNameConfigurations": [full] });
    let zones = "<HostedZones></HostedZones><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems>";
    let zones = format!("<ListHostedZonesByNameResponse>{zones}</ListHostedZonesByNameResponse>");
    let aws = [DOMAIN, "example.com", "com"].iter().fold(aws, |aws, name| {
        aws.on(&format!("GET /2013-04-01/hostedzonesbyname?dnsname={name}"), Answer::Xml(200, zones.clone()))
    });
    aws.on(&format!("GET /v2/domainnames/{DOMAIN}"), Answer::Json(200, shown))
        .on(&format!("GET /v2/domainnames/{DOMAIN}/apimappings"), items(mappings))
}

fn mapping(api: &str, stage: &str, path: &str) -> Value {
    json!({ "apiMappingId": "m1", "apiId": api, "apiMappingKey": path, "stage": stage })
}

fn with_link(aws: Recorded, status: &str, tags: &Value) -> Recorded {
    let link = json!({ "vpcLinkId": "l1", "name": "shop", "vpcLinkStatus": status, "subnetIds": ["subnet-1"],
        "securityGroupIds": ["sg-1"], "tags": tags });
    aws.on("GET /v2/vpclinks/l1", Answer::Json(200, link))
}

/// Reads a gateway of which state contains only the API, with these entries of `adopt`.
async fn seen(aws: &Recorded, named: &[(&str, &str)]) -> Seen {
    let name = Input::Known("shop".to_string());
    let api = Api { name, ..Api::test() };
    let stage = Entry::new(keys::stage("$default"), "$default", Spec::Stage(Stage::test()));
    let entries = [Entry::new(keys::api(), "api1", Spec::Api(api)), stage];
    let named: BTreeMap<String, String> =
        named.iter().map(|(slot, id)| ((*id).to_string(), (*slot).to_string())).collect();
    let known = Known { consented: Some(&named), ..Known::entries(&entries) };
    read(&aws.session("eu-west-1"), OWNER, "api1", known).await.unwrap().expect("the API exists")
}

fn keys_of(seen: &Seen) -> Vec<&str> {
    seen.objects.iter().map(|it| it.key.slot.as_str()).filter(|slot| *slot != keys::STAGE).collect()
}

#[tokio::test(start_paused = true)]
async fn named_objects_are_returned_with_what_belongs_to_them() {
    let aws = with_group(api(), &json!({ STACK: "legacy", "team": "web" }));
    let aws = with_domain(aws, &json!({}), &json!({}), &[mapping("api1", "$default", "")]);
    let seen = seen(&aws, &[("log_group", GROUP), ("domain", DOMAIN)]).await;
    assert_eq!(keys_of(&seen), ["api", "log_group", "log_subscription", "domain", "api_mapping"]);
    assert_eq!(seen.untagged, [GROUP, DOMAIN].map(str::to_string).into());
    assert_eq!(seen.stacks, [(GROUP.to_string(), "legacy".to_string())].into());
    assert_eq!(seen.unmanaged, []);
}

#[tokio::test(start_paused = true)]
async fn a_named_link_gets_the_key_that_its_slot_and_subnets_require() {
    let seen = seen(&with_link(api(), "INACTIVE", &json!({ "team": "web" })), &[("vpc_link.main", "l1")]).await;
    assert_eq!(keys_of(&seen), ["api", "vpc_link.main"]);
    let link = seen.objects.last().expect("the link");
    assert_eq!(link.key.fixed, Input::Known("subnet-1 sg-1".to_string()));
    assert_eq!(seen.untagged, ["l1".to_string()].into());
}

#[tokio::test(start_paused = true)]
async fn objects_of_an_interrupted_run_need_no_adoption() {
    let ours = |slot: &str| json!({ "fgw:resource": "http_gateway/api1", "fgw:object": slot });
    let aws = with_group(api(), &ours("log_group"));
    // The run has not mapped the domain yet.
    let aws = with_domain(aws, &json!({}), &ours("domain"), &[]);
    let seen = seen(&aws, &[("log_group", GROUP), ("domain", DOMAIN)]).await;
    assert_eq!(keys_of(&seen), ["api", "log_group", "log_subscription", "domain"]);
    assert!(seen.untagged.is_empty(), "{:?}", seen.untagged);
}

#[tokio::test(start_paused = true)]
async fn objects_that_do_not_exist_are_left_out() {
    let missing = Answer::Error(404, "NotFoundException", "Invalid domain name identifier specified");
    let aws = api()
        .on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [] })))
        .on(&format!("GET /v2/domainnames/{DOMAIN}"), missing);
    let seen = seen(&aws, &[("log_group", GROUP), ("domain", DOMAIN)]).await;
    assert_eq!((keys_of(&seen), seen.unmanaged.len()), (vec!["api"], 0));
}

#[tokio::test(start_paused = true)]
async fn objects_that_cannot_be_managed_have_a_reason() {
    let other = json!({ "fgw:resource": "http_gateway/api2" });
    let at_domain = |configuration: Value, tags: &Value, mappings: &[Value]| {
        (with_domain(api(), &configuration, tags, mappings), "domain", DOMAIN)
    };
    let (none, root) = (json!({}), [mapping("api1", "$default", "")]);
    let of_group = |tags: &Value, slot: &'static str| (with_group(api(), tags), slot, GROUP);
    let cases = [
        (of_group(&other, "log_group"), "its tag fgw:resource is \"http_gateway/api2\""),
        (of_group(&json!({ "fgw:object": "stage" }), "log_group"), "its tag fgw:object is \"stage\""),
        (of_group(&none, "dns_record"), "adopt can name only \"log_group\", \"domain\" and VPC links"),
        ((with_link(api(), "FAILED", &none), "vpc_link.main", "l1"), "it has failed"),
        (
            (with_link(api(), "AVAILABLE", &other), "vpc_link.main", "l1"),
            "its tag fgw:resource is \"http_gateway/api2\"",
        ),
        (at_domain(json!({}), &other, &root), "its tag fgw:resource is \"http_gateway/api2\""),
        (at_domain(json!({}), &none, &[]), "its root path is not mapped to the API api1"),
        (at_domain(json!({}), &none, &[mapping("api1", "$default", "v1")]), "its root path is not mapped"),
        (at_domain(json!({}), &none, &[mapping("api1", "test", "")]), "its mapping leads to the stage test"),
        (at_domain(json!({}), &none, &[mapping("api2", "$default", "")]), "it has a mapping to the API api2"),
        (at_domain(json!({ "endpointType": "EDGE" }), &none, &root), "its endpoint type is EDGE"),
        (at_domain(json!({ "securityPolicy": "TLS_1_0" }), &none, &root), "its security policy is TLS_1_0"),
    ];
    for ((aws, slot, id), reason) in cases {
        let seen = seen(&aws, &[(slot, id)]).await;
        assert_eq!(keys_of(&seen), ["api"], "{reason}");
        assert!(seen.unmanaged.len() == 1 && seen.unmanaged[0].reason.contains(reason), "{:?}", seen.unmanaged);
    }
}
