//! Deletions with lost responses, for every kind of object that uses this module.

use serde_json::{Value, json};

use crate::aws::calls::Operation;
use crate::aws::lambda::permission::{CallerId, FunctionPolicy, statement_id};
use crate::aws::recorded::{Answer, Recorded, run};
use crate::cloud::{Cause, Cloud, Failure};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{
    Api, ApiMapping, ApiRoute, Authorizer, Caller, DomainName, Entry, Integration, Key, LogGroup, LogSubscription,
    Spec, Stage, Target,
};

const FUNCTION: &str = "arn:aws:lambda:deletion:123456789012:function:orders";
const POLICY: &str = "/2015-03-31/functions/arn%3Aaws%3Alambda%3Adeletion%3A123456789012%3Afunction%3Aorders/policy";

const GROUP_ARN: &str = "arn:aws:logs:r:123456789012:log-group:/http/shop:*";

/// One kind of object: the entry to delete, the delete call, the read call, and the response to the read call for an
/// object that exists and for a missing one.
struct Case {
    entry: Entry,
    delete: String,
    read: String,
    existing: Answer,
    missing: Answer,
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

fn case(id: &str, spec: Spec, delete: &str, read: &str, existing: Answer, missing: Answer) -> Case {
    let entry = Entry::new(Key::new(spec.kind()), id, spec);
    Case { entry, delete: delete.to_string(), read: read.to_string(), existing, missing }
}

fn shown(body: Value) -> Answer {
    Answer::Json(200, body)
}

fn items(name: &str, items: &[Value]) -> Answer {
    shown(json!({ name: items }))
}

fn not_found() -> Answer {
    Answer::Error(404, "NotFoundException", "not found")
}

/// A child of the API.
fn child(kind: &str, id: &str, spec: Spec) -> Case {
    let list = format!("GET /v2/apis/api1/{kind}s");
    let existing = items("items", &[json!({ format!("{kind}Id"): id })]);
    let missing = items("items", &[json!({ format!("{kind}Id"): "other" })]);
    case(id, spec, &format!("DELETE /v2/apis/api1/{kind}s/{id}"), &list, existing, missing)
}

fn cases() -> Vec<Case> {
    let integration =
        Integration { target: Target::function(FUNCTION), payload_format_version: text("1.0"), ..Integration::test() };
    let authorizer = Authorizer { payload_format_version: text("1.0"), ..Authorizer::test() };
    let mapping = ApiMapping { domain: domain(), ..ApiMapping::test() };
    let function_policy = FunctionPolicy { function_arn: FUNCTION.into(), qualifier: None };
    let statement = statement_id("api1", &function_policy, CallerId::Routes);
    let filter = LogSubscription { log_group: group(), destination_arn: text(FUNCTION), ..LogSubscription::test() };
    let policy = |statements: &[Value]| shown(json!({ "Policy": json!({ "Statement": statements }).to_string() }));
    let path = "/v2/domainnames/api.example.com";
    vec![
        case(
            "api1",
            Spec::Api(Api::test()),
            "DELETE /v2/apis/api1",
            "GET /v2/apis/api1",
            shown(json!({})),
            not_found(),
        ),
        child("route", "r1", Spec::ApiRoute(ApiRoute::test())),
        child("integration", "i1", Spec::Integration(integration)),
        child("authorizer", "a1", Spec::Authorizer(authorizer)),
        case(
            "$default",
            Spec::Stage(Stage::test()),
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
            Spec::DomainName(DomainName::test()),
            &format!("DELETE {path}"),
            &format!("GET {path}"),
            shown(json!({})),
            not_found(),
        ),
        case(
            &statement,
            Spec::LambdaPermission(function_policy.permission(keys::api(), Caller::Routes)),
            &format!("DELETE {POLICY}/{statement}"),
            &format!("GET {POLICY}"),
            policy(&[json!({ "Sid": statement })]),
            policy(&[json!({ "Sid": "other" })]),
        ),
        case(
            "/http/shop",
            Spec::LogGroup(LogGroup::test()),
            "DeleteLogGroup",
            "DescribeLogGroups",
            items("logGroups", &[json!({ "logGroupName": "/http/shop", "arn": GROUP_ARN })]),
            items("logGroups", &[json!({ "logGroupName": "/http/shop2" })]),
        ),
        case(
            "/http/shop|fgw-access-logs-api1",
            Spec::LogSubscription(filter),
            "DeleteSubscriptionFilter",
            "DescribeSubscriptionFilters",
            items("subscriptionFilters", &[json!({ "filterName": "fgw-access-logs-api1" })]),
            items("subscriptionFilters", &[]),
        ),
    ]
}

/// Deletes an object. `answer` is the response to every delete call, and `then` to a read call afterwards. Each
/// deletion has its own Region, because domains have a rate limit in each Region.
async fn deleted(case: &Case, answer: Answer, then: &Answer, region: &str) -> Result<(), Failure> {
    let mut aws = Recorded::default().on(&case.delete, answer);
    // Before the deletion, a read lists the mappings of a domain, finds the mapping to delete or the settings of a
    // route, or checks that the API owns a log group.
    match &case.entry.applied {
        Spec::DomainName(_) => aws = aws.on(&format!("{}/apimappings", case.read), items("items", &[])),
        Spec::LogGroup(_) => {
            let tags = json!({ "tags": { "fgw:resource": "http_gateway/api1" } });
            aws = aws.on(&case.read, case.existing.clone()).on("ListTagsForResource", shown(tags));
        }
        Spec::ApiMapping(_) => aws = aws.on(&case.read, case.existing.clone()),
        Spec::ApiRoute(_) => aws = aws.on("GET /v2/apis/api1/stages/%24default", shown(json!({}))),
        _ => {}
    }
    let aws = aws.on(&case.read, then.clone());
    let session = aws.session(&format!("{region}-{}", case.entry.key.slot.to_lowercase().replace(' ', "-")));
    let ids = [(keys::api(), "api1"), (domain(), "api.example.com"), (group(), "/http/shop")];
    let delete = async |it: &Operation<'_>| it.session.delete(it.work, &case.entry).await;
    run(&session, &case.entry.key, &ids, delete).await.0
}

#[tokio::test(start_paused = true)]
async fn a_lost_delete_succeeds_if_the_object_is_missing() {
    for case in cases() {
        let broken = Answer::Error(500, "InternalError", "broken");
        for (number, answer) in [Answer::Lost, broken].into_iter().enumerate() {
            let missing = deleted(&case, answer.clone(), &case.missing, &format!("missing{number}")).await;
            assert_eq!(missing, Ok(()), "{} after {answer:?}", case.delete);
            let existing = deleted(&case, answer.clone(), &case.existing, &format!("existing{number}")).await;
            assert!(existing.is_err(), "{} after {answer:?}", case.delete);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_delete_fails_even_if_the_object_is_missing() {
    for case in cases() {
        let denied = Answer::Error(403, "AccessDeniedException", "no");
        let failure = deleted(&case, denied, &case.missing, "rejected").await.expect_err(&case.delete);
        assert_eq!(failure.cause, Cause::Denied, "{}", case.delete);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_delete_reports_that_its_outcome_is_unknown() {
    for case in cases() {
        let denied = Answer::Error(403, "AccessDeniedException", "no read");
        let failure = deleted(&case, Answer::Lost, &denied, "unknown").await.expect_err(&case.delete);
        let text = failure.to_string();
        assert!(text.contains("the outcome of the call is unknown") && text.contains("no read"), "{text}");
    }
}
