use aws_sdk_apigatewayv2::types::AccessLogSettings;
use serde_json::{Value, json};

use super::*;
use crate::aws::apigateway::read::{FunctionPolicy, read, statement_id};
use crate::aws::recorded::{Answer, OWNER, Recorded};
use crate::cloud::{Known, Seen};
use crate::model::Input;
use crate::model::{LogSubscription, Stage as StageSpec};

const GROUP: &str = "/http/shop";
const SINK: &str = "arn:aws:lambda:eu-west-1:123456789012:function:sink:live";

fn sink() -> FunctionPolicy {
    FunctionPolicy::of_function(&FunctionArn::parse(SINK).unwrap())
}

fn filter(name: &str, destination: &str) -> Value {
    json!({ "filterName": name, "logGroupName": GROUP, "filterPattern": "500", "destinationArn": destination,
        "distribution": "ByLogStream" })
}

fn get_policy() -> String {
    format!("GET /2015-03-31/functions/{}/policy?Qualifier=live", sink().function_arn.replace(':', "%3A"))
}

/// A policy with a statement that allows a log group to call the function.
fn policy(region: &str, group: &str) -> Answer {
    let statement = json!({ "Sid": statement_id("api1", &sink(), CallerId::LogGroup(GROUP)), "Effect": "Allow",
        "Action": "lambda:InvokeFunction", "Principal": { "Service": "logs.amazonaws.com" },
        "Condition": { "ArnLike": {
            "AWS:SourceArn": format!("arn:aws:logs:{region}:123456789012:log-group:{group}:*") } } });
    Answer::Json(200, json!({ "Policy": json!({ "Statement": [statement] }).to_string() }))
}

/// A gateway without routes whose stage logs to the group, which has these filters. `None` is a deleted group.
fn aws(region: &str, filters: Option<&[Value]>) -> Recorded {
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{GROUP}");
    let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    with_groups(gateway(region), &arn, &tags, filters)
}

/// The same without answers of CloudWatch Logs.
fn gateway(region: &str) -> Recorded {
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{GROUP}");
    let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "stage" });
    let api = json!({ "apiId": "api1", "name": "shop", "apiEndpoint": "https://e", "tags": { "fgw:state": "ready" } });
    let stage = json!({ "stageName": "$default", "tags": tags,
        "accessLogSettings": { "destinationArn": arn, "format": "$context.requestId" } });
    let aws = Recorded::default()
        .on("GET /v2/apis/api1", Answer::Json(200, api))
        .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
        .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
        .on("GET /v2/apis/api1/stages", Answer::Json(200, json!({ "items": [stage] })));
    without_lists(aws)
}

fn without_lists(aws: Recorded) -> Recorded {
    ["routes", "integrations", "authorizers"]
        .iter()
        .fold(aws, |aws, list| aws.on(&format!("GET /v2/apis/api1/{list}"), Answer::Json(200, json!({ "items": [] }))))
}

fn with_groups(aws: Recorded, arn: &str, tags: &Value, filters: Option<&[Value]>) -> Recorded {
    let Some(filters) = filters else {
        return aws
            .on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [] })))
            .on("DescribeSubscriptionFilters", Answer::Error(400, "ResourceNotFoundException", "no such group"));
    };
    let group = json!({ "logGroupName": GROUP, "arn": format!("{arn}:*"), "retentionInDays": 30 });
    aws.on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [group] })))
        .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
        .on("DescribeSubscriptionFilters", Answer::Json(200, json!({ "subscriptionFilters": filters })))
}

async fn seen(aws: &Recorded, region: &str, known: &[Entry]) -> Option<Seen> {
    read(&aws.session(region), OWNER, "api1", Known::entries(known)).await.unwrap()
}

fn slots(seen: &Seen) -> Vec<&str> {
    seen.objects.iter().map(|it| it.key.slot.as_str()).collect()
}

fn entries(seen: &Seen) -> Vec<Entry> {
    let entry =
        |it: &Observed| Entry { learned: it.learned.clone(), ..Entry::new(it.key.clone(), &it.id, it.spec.clone()) };
    seen.objects.iter().map(entry).collect()
}

#[tokio::test(start_paused = true)]
async fn import_finds_filter_and_statement_with_blueprint_keys() {
    let region = "logs-import";
    let filters = [filter("fgw-access-logs-api1", SINK), filter("theirs", SINK)];
    let aws = aws(region, Some(&filters)).on(&get_policy(), policy(region, GROUP));
    let seen = seen(&aws, region, &[]).await.unwrap();
    assert_eq!(slots(&seen), ["api", "log_group", "subscription_permission", "log_subscription", "stage"]);
    let group = keys::log_group(&Input::Known(GROUP.to_string()));
    let permission = keys::subscription_permission(&FunctionArn::parse(SINK).unwrap(), &group);
    assert_eq!(seen.objects[2].key, permission);
    assert_eq!(seen.objects[3].key, keys::log_subscription(&group));
    assert_eq!(
        seen.objects[3].spec,
        Spec::LogSubscription(LogSubscription {
            log_group: group.clone(),
            destination_arn: Input::Known(SINK.into()),
            filter_pattern: Input::Known("500".into()),
            permission: Some(permission),
            ..LogSubscription::test()
        })
    );
    let Spec::Stage(StageSpec { access_log: Some(log), .. }) = &seen.objects[4].spec else { panic!("{seen:?}") };
    assert_eq!(log.log_group, Ref::Key(group));
}

/// What an import of an API finds of the filters of its group.
async fn filter_found(named: &[&str], tags: &Value, is_foreign: bool) -> Option<String> {
    let region = "logs-found";
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{GROUP}");
    let filters: Vec<Value> = named.iter().map(|name| filter(name, SINK)).collect();
    let aws = with_groups(Recorded::default(), &arn, tags, Some(&filters));
    let stage =
        Stage::builder().access_log_settings(AccessLogSettings::builder().destination_arn(&arn).build()).build();
    let owner = Owner { resource: "http_gateway/api1", or_none: is_foreign };
    let logs = Logs::of_stage(&aws.session(region), "api1", Some(&stage), owner).await.unwrap();
    let (_, filter) = logs.filters.first()?;
    filter.filter_name.clone()
}

#[tokio::test(start_paused = true)]
async fn an_import_takes_no_filter_of_another_gateway() {
    let ours = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    for (names, is_foreign, expected) in [
        (&["fgw-access-logs-api1", "mine"][..], false, Some("fgw-access-logs-api1")),
        (&["mine"], false, None),
        (&["fgw-access-logs-api2"], false, None),
        (&["mine", "fgw-access-logs-api1"], true, Some("fgw-access-logs-api1")),
        (&["mine"], true, Some("mine")),
        (&["fgw-access-logs-api2", "mine"], true, Some("mine")),
        (&["fgw-access-logs-api2"], true, None),
        (&["mine", "others"], true, None),
    ] {
        let tags = if is_foreign { json!({}) } else { ours.clone() };
        let found = filter_found(names, &tags, is_foreign).await;
        assert_eq!(found.as_deref(), expected, "{names:?}, foreign {is_foreign}");
    }
}

#[tokio::test(start_paused = true)]
async fn known_filter_takes_one_call_and_reads_as_imported() {
    let region = "logs-known";
    let answers =
        || aws(region, Some(&[filter("fgw-access-logs-api1", SINK)])).on(&get_policy(), policy(region, GROUP));
    let imported = seen(&answers(), region, &[]).await.unwrap();
    let again = answers();
    let known = seen(&again, region, &entries(&imported)).await.unwrap();
    assert_eq!(known, imported);
    let mut calls = again.calls();
    calls.retain(|call| !call.contains("/policy"));
    assert_eq!(calls.len(), 9, "{calls:?}");

    let without: Vec<Entry> =
        entries(&imported).into_iter().filter(|entry| entry.key.slot != "log_subscription").collect();
    let aws = answers();
    seen(&aws, region, &without).await.unwrap();
    assert!(!aws.calls().contains(&"DescribeSubscriptionFilters".to_string()), "no filter is in state");
}

#[tokio::test(start_paused = true)]
async fn deleted_group_filter_or_statement_is_not_returned() {
    let region = "logs-missing";
    let all = aws(region, Some(&[filter("fgw-access-logs-api1", SINK)])).on(&get_policy(), policy(region, GROUP));
    let known = entries(&seen(&all, region, &[]).await.unwrap());
    let others =
        aws(region, Some(&[filter("fgw-access-logs-api10", SINK)])).on(&get_policy(), policy(region, "/other"));
    assert_eq!(slots(&seen(&others, region, &known).await.unwrap()), ["api", "log_group", "stage"]);
    let deleted = aws(region, None).on(&get_policy(), policy(region, GROUP));
    let left = seen(&deleted, region, &known).await.unwrap();
    assert_eq!(slots(&left), ["api", "subscription_permission", "stage"]);
}

#[tokio::test(start_paused = true)]
async fn destination_changed_outside_terraform_is_drift() {
    let region = "logs-moved";
    let all = aws(region, Some(&[filter("fgw-access-logs-api1", SINK)])).on(&get_policy(), policy(region, GROUP));
    let known = entries(&seen(&all, region, &[]).await.unwrap());
    let stream = "arn:aws:kinesis:logs-moved:123456789012:stream/theirs";
    let moved = aws(region, Some(&[filter("fgw-access-logs-api1", stream)])).on(&get_policy(), policy(region, GROUP));
    let seen = seen(&moved, region, &known).await.unwrap();
    let subscription = seen.objects.iter().find(|it| it.key.slot == "log_subscription").unwrap();
    let applied = &known.iter().find(|it| it.key.slot == "log_subscription").unwrap().applied;
    let mut differences = applied.differences(&subscription.spec);
    differences.sort();
    assert_eq!(
        differences,
        [
            format!("destination_arn is {stream} instead of {SINK}"),
            "distribution is ByLogStream instead of absent".to_string(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn group_filter_and_statement_outlive_the_api() {
    let region = "logs-left";
    let all = aws(region, Some(&[filter("fgw-access-logs-api1", SINK)])).on(&get_policy(), policy(region, GROUP));
    let known = entries(&seen(&all, region, &[]).await.unwrap());
    let missing = Answer::Error(404, "NotFoundException", "Invalid API identifier specified");
    let deleted = ["", "/routes", "/integrations", "/authorizers", "/stages"]
        .iter()
        .fold(Recorded::default(), |aws, part| aws.on(&format!("GET /v2/apis/api1{part}"), missing.clone()));
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{GROUP}");
    let deleted = deleted.on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })));
    let deleted = with_groups(deleted, &arn, &json!({}), Some(&[filter("fgw-access-logs-api1", SINK)]));
    let left = seen(&deleted.on(&get_policy(), policy(region, GROUP)), region, &known).await.expect("objects remain");
    assert_eq!(slots(&left), ["log_group", "subscription_permission", "log_subscription"]);
}

#[tokio::test(start_paused = true)]
async fn group_of_an_interrupted_run_is_found_by_name_and_tags() {
    let (region, arn) = ("logs-leftovers", "arn:aws:logs:logs-leftovers:123456789012:log-group:/http/shop");
    let name = Input::Known(GROUP.to_string());
    let spec = LogGroup { name: name.clone(), ..LogGroup::test() };
    let wanted = Object::new(keys::log_group(&name), Spec::LogGroup(spec));
    let tags = |root: &str, slot: &str| json!({ "fgw:resource": format!("http_gateway/{root}"), "fgw:object": slot });
    let found = async |aws: &Recorded, objects: &[&Object]| {
        crate::aws::apigateway::read::leftovers(&aws.session(region), OWNER, "api1", objects).await.unwrap()
    };
    for (tags, is_found) in [
        (tags("api1", "log_group"), true),
        (tags("api2", "log_group"), false),
        (tags("api1", "stage"), false),
        (tags("api1", "log_group\n\u{202e}"), false),
        (json!({}), false),
    ] {
        let aws = with_groups(Recorded::default(), arn, &tags, Some(&[]));
        let found = found(&aws, &[&wanted]).await;
        let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids == [GROUP], is_found, "{tags}");
    }
    assert_eq!(found(&with_groups(Recorded::default(), arn, &json!({}), None), &[&wanted]).await, []);
    let (aws, api) = (Recorded::default(), Object::new(keys::stage("$default"), Spec::Api(crate::model::Api::test())));
    assert_eq!((found(&aws, &[&api]).await, aws.calls()), (vec![], vec![]), "a read finds all other kinds");
}

#[tokio::test(start_paused = true)]
async fn group_created_again_elsewhere_is_unmanaged_with_its_filter() {
    let region = "logs-again";
    let arn = format!("arn:aws:logs:{region}:123456789012:log-group:{GROUP}");
    let group = |created: i64, tags: Value| {
        let shown = json!({ "logGroupName": GROUP, "arn": format!("{arn}:*"), "creationTime": created });
        let filters = json!({ "subscriptionFilters": [filter("fgw-access-logs-api1", SINK)] });
        gateway(region)
            .on("DescribeLogGroups", Answer::Json(200, json!({ "logGroups": [shown] })))
            .on("DescribeSubscriptionFilters", Answer::Json(200, filters))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
            .on(&get_policy(), policy(region, GROUP))
    };
    let ours = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
    let theirs = json!({ "fgw:resource": "http_gateway/api2", "fgw:object": "log_group" });
    let known = entries(&seen(&group(1, ours.clone()), region, &[]).await.unwrap());
    let found = async |aws: Recorded, known: &[Entry]| {
        let seen = seen(&aws, region, known).await.unwrap();
        let slots = slots(&seen).into_iter().map(str::to_string);
        let unmanaged: Vec<String> = seen.unmanaged.iter().map(|it| it.id.clone()).collect();
        (slots.filter(|slot| slot.starts_with("log_")).collect::<Vec<_>>(), unmanaged)
    };
    let both = (["log_group", "log_subscription"].map(String::from).to_vec(), vec![]);
    assert_eq!(found(group(2, theirs.clone()), &known).await, (vec![], vec![]));
    assert_eq!(found(group(2, ours), &known).await, (vec![], vec![GROUP.to_string()]), "it has copied tags");
    assert_eq!(found(group(1, theirs.clone()), &known).await, both, "tags removed outside Terraform");
    let unlearned: Vec<Entry> = known.into_iter().map(|it| Entry { learned: Default::default(), ..it }).collect();
    assert_eq!(found(group(2, theirs), &unlearned).await, both, "the creation time is unknown");
}
