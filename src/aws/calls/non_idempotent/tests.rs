//! Deletions whose answers never come, of every kind that is changed here.

use serde_json::{Value, json};

use crate::aws::calls::Operation;
use crate::aws::lambda::permission::{CallerId, FunctionPolicy, statement_id};
use crate::aws::recorded::{Answer, Recorded, run};
use crate::cloud::{Cause, Cloud, Failure};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{
    Api, ApiMapping, ApiRoute, Authorizer, Caller, DomainName, Entry, Integration, Key, LogGroup, LogSubscription, Ref,
    Spec, Stage,
};

const FUNCTION: &str = "arn:aws:lambda:deletion:123456789012:function:orders";
const POLICY: &str = "/2015-03-31/functions/arn%3Aaws%3Alambda%3Adeletion%3A123456789012%3Afunction%3Aorders/policy";

/// One kind: what is deleted, the call that deletes, the call that looks, and its answer where the object is still
/// there and where it is gone.
struct Case {
    entry: Entry,
    delete: String,
    look: String,
    there: Answer,
    gone: Answer,
}

fn text(text: &str) -> Input<String> {
    Input::Known(text.to_string())
}

fn domain() -> Key {
    keys::domain(&text("api.example.com"))
}

fn group() -> Key {
    keys::log_group(&text("/http/shop"))
}

fn case(id: &str, spec: Spec, delete: &str, look: &str, there: Answer, gone: Answer) -> Case {
    let entry = Entry::new(Key::new(spec.kind()), id, spec);
    Case { entry, delete: delete.to_string(), look: look.to_string(), there, gone }
}

fn shown(body: Value) -> Answer {
    Answer::Json(200, body)
}

fn items(name: &str, items: &[Value]) -> Answer {
    shown(json!({ name: items }))
}

fn not_found() -> Answer {
    Answer::Error(404, "NotFoundException", "not there")
}

/// A child of the API.
fn child(kind: &str, id: &str, spec: Spec) -> Case {
    let list = format!("GET /v2/apis/api1/{kind}s");
    let there = items("items", &[json!({ format!("{kind}Id"): id })]);
    let other = items("items", &[json!({ format!("{kind}Id"): "other" })]);
    case(id, spec, &format!("DELETE /v2/apis/api1/{kind}s/{id}"), &list, there, other)
}

fn cases() -> Vec<Case> {
    let none = || Input::Known(None);
    let no_tags = || Input::Known([].into());
    let api =
        Api { name: text("shop"), description: none(), version: none(), cors: Input::Known(None), tags: no_tags() };
    let route = ApiRoute { api: keys::api(), route_key: "GET /a".into(), integration: None, authorizer: None };
    let integration = Integration {
        api: keys::api(),
        function_arn: text(FUNCTION),
        payload_format_version: text("1.0"),
        timeout_in_millis: Input::Known(30_000),
        description: none(),
        permission: None,
    };
    let authorizer = Authorizer {
        api: keys::api(),
        name: "token".into(),
        authorizer_uri: text("uri"),
        payload_format_version: text("1.0"),
        identity_sources: Input::Known(vec![]),
        result_ttl_in_seconds: Input::Known(0),
        enable_simple_responses: Input::Known(false),
        credentials_arn: none(),
    };
    let stage =
        Stage { api: keys::api(), auto_deploy: true, access_log: None, deployment_failure: None, tags: no_tags() };
    let domain_name = DomainName {
        api: keys::api(),
        domain_name: text("api.example.com"),
        certificate_arn: text("cert1"),
        endpoint_type: DomainName::REGIONAL.into(),
        security_policy: DomainName::TLS_1_2.into(),
        tags: no_tags(),
    };
    let mapping =
        ApiMapping { api: keys::api(), stage: Ref::Key(keys::stage()), domain: domain(), mapping_key: String::new() };
    let place = FunctionPolicy { function_arn: FUNCTION.into(), qualifier: None };
    let statement = statement_id("api1", &place, CallerId::Routes);
    let log_group = LogGroup {
        api: keys::api(),
        name: text("/http/shop"),
        retention_in_days: Input::Known(None),
        kms_key_arn: none(),
        tags: no_tags(),
    };
    let filter = LogSubscription {
        log_group: group(),
        destination_arn: text(FUNCTION),
        filter_pattern: text(""),
        role_arn: none(),
        distribution: none(),
        permission: None,
    };
    let policy = |statements: &[Value]| shown(json!({ "Policy": json!({ "Statement": statements }).to_string() }));
    let path = "/v2/domainnames/api.example.com";
    vec![
        case("api1", Spec::Api(api), "DELETE /v2/apis/api1", "GET /v2/apis/api1", shown(json!({})), not_found()),
        child("route", "r1", Spec::ApiRoute(route)),
        child("integration", "i1", Spec::Integration(integration)),
        child("authorizer", "a1", Spec::Authorizer(authorizer)),
        case(
            "$default",
            Spec::Stage(stage),
            "DELETE /v2/apis/api1/stages/%24default",
            "GET /v2/apis/api1/stages/%24default",
            shown(json!({})),
            not_found(),
        ),
        case(
            "m1",
            Spec::ApiMapping(mapping),
            &format!("DELETE {path}/apimappings/m1"),
            &format!("GET {path}/apimappings"),
            items("items", &[json!({ "apiMappingId": "m1", "apiId": "api1", "stage": "$default" })]),
            items("items", &[]),
        ),
        case(
            "api.example.com",
            Spec::DomainName(domain_name),
            &format!("DELETE {path}"),
            &format!("GET {path}"),
            shown(json!({})),
            not_found(),
        ),
        case(
            &statement,
            Spec::LambdaPermission(place.permission(keys::api(), Caller::Routes)),
            &format!("DELETE {POLICY}/{statement}"),
            &format!("GET {POLICY}"),
            policy(&[json!({ "Sid": statement })]),
            policy(&[json!({ "Sid": "other" })]),
        ),
        case(
            "/http/shop",
            Spec::LogGroup(log_group),
            "DeleteLogGroup",
            "DescribeLogGroups",
            items("logGroups", &[json!({ "logGroupName": "/http/shop" })]),
            items("logGroups", &[json!({ "logGroupName": "/http/shop2" })]),
        ),
        case(
            "/http/shop|fgw-access-logs",
            Spec::LogSubscription(filter),
            "DeleteSubscriptionFilter",
            "DescribeSubscriptionFilters",
            items("subscriptionFilters", &[json!({ "filterName": "fgw-access-logs" })]),
            items("subscriptionFilters", &[]),
        ),
    ]
}

/// Deletes where the deleting call is answered always so, and a look afterwards shows this. In a Region of its own, as
/// domains have a limit in each.
async fn deleted(case: &Case, answer: Answer, then: &Answer, region: &str) -> Result<(), Failure> {
    let mut aws = Recorded::default().on(&case.delete, answer);
    // A domain is asked for its mappings first, a mapping is looked for before it is deleted, and a log group is left
    // alone if others have made it.
    match &case.entry.applied {
        Spec::DomainName(_) => aws = aws.on(&format!("{}/apimappings", case.look), items("items", &[])),
        Spec::LogGroup(_) => aws = aws.on(&case.look, case.gone.clone()),
        Spec::ApiMapping(_) => aws = aws.on(&case.look, case.there.clone()),
        _ => {}
    }
    let aws = aws.on(&case.look, then.clone());
    let session = aws.session(&format!("{region}-{}", case.entry.key.slot.to_lowercase().replace(' ', "-")));
    let ids = [(keys::api(), "api1"), (domain(), "api.example.com"), (group(), "/http/shop")];
    let delete = async |it: &Operation<'_>| it.session.delete(it.work, &case.entry).await;
    run(&session, &case.entry.key, &ids, delete).await.0
}

#[tokio::test(start_paused = true)]
async fn what_has_gone_although_no_deletion_of_it_was_answered_is_deleted() {
    for case in cases() {
        let broken = Answer::Error(500, "InternalError", "broken");
        for (number, answer) in [Answer::Lost, broken].into_iter().enumerate() {
            let gone = deleted(&case, answer.clone(), &case.gone, &format!("gone{number}")).await;
            assert_eq!(gone, Ok(()), "{} after {answer:?}", case.delete);
            let there = deleted(&case, answer.clone(), &case.there, &format!("there{number}")).await;
            assert!(there.is_err(), "{} after {answer:?}", case.delete);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_aws_refuses_has_deleted_nothing_whatever_a_look_shows() {
    for case in cases() {
        let refusal = Answer::Error(403, "AccessDeniedException", "no");
        let failure = deleted(&case, refusal, &case.gone, "refused").await.expect_err(&case.delete);
        assert_eq!(failure.cause, Cause::Denied, "{}", case.delete);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_which_nothing_is_known_says_so() {
    for case in cases() {
        let denied = Answer::Error(403, "AccessDeniedException", "no look");
        let failure = deleted(&case, Answer::Lost, &denied, "unseen").await.expect_err(&case.delete);
        let text = failure.to_string();
        assert!(text.contains("whether it was carried out is not known") && text.contains("no look"), "{text}");
    }
}
