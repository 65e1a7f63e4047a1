//! Deletions in a gateway. The services have one code for all kinds, so the text makes the difference.

use serde_json::json;

use super::Verdicts;
use crate::aws::Session;
use crate::aws::recorded::{Answer, Recorded, run};
use crate::cloud::{Cloud, Failure};
use crate::model::keys::gateway as keys;
use crate::model::{
    AccessLog, Api, ApiMapping, ApiRoute, Authorizer, Caller, Cors, DnsRecord, DomainName, Entry, Input, Integration,
    Key, LambdaPermission, LogGroup, LogSubscription, Object, Ref, Spec, Stage, Target,
};

const FUNCTION: &str = "arn:aws:lambda:eu-west-1:123456789012:function:orders";
const POLICY: &str = "/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-west-1%3A123456789012%3Afunction%3Aorders/policy";
const STATEMENT: &str = "fgw-api1-routes-1";
const NAME: &str = "api.example.com";
const ZONE: &str = "Z1";

const NO_API: &str = "Invalid API identifier specified 123456789012:api1";
const NO_STAGE: &str = "Invalid stage identifier specified";
const NO_DOMAIN: &str = "Invalid domain name identifier specified";

/// Answers of API Gateway about objects of all kinds. Those for which no real text is known are similar to the others.
const OF_API_GATEWAY: &[&str] = &[
    NO_API,
    "Invalid API identifier specified 123456789012:api9",
    NO_STAGE,
    NO_DOMAIN,
    "Invalid Route identifier specified",
    "Unable to find Integration int9",
    "Invalid Authorizer identifier specified",
    "Invalid ApiMapping identifier specified",
    "Invalid Deployment identifier specified",
];

/// Recorded: RemovePermission, AddPermission and GetPolicy, except the text about a statement.
const OF_LAMBDA: &[&str] = &[
    "Function not found: arn:aws:lambda:eu-west-1:123456789012:function:orders",
    "No policy found for: arn:aws:lambda:eu-west-1:123456789012:function:orders",
    "No policy found for: arn:aws:lambda:eu-west-1:123456789012:function:other",
    "Cannot find alias arn: arn:aws:lambda:eu-west-1:123456789012:function:orders:live",
    "The resource you requested does not exist.",
    "Statement fgw-api9-routes-9 is not found in resource policy.",
];

const GROUP_ARN: &str = "arn:aws:logs:r:123456789012:log-group:/http/shop:*";
const NO_GROUP: &str = "The specified log group does not exist.";
const NO_FILTER: &str = "The specified subscription filter does not exist.";

/// A call that deletes an object or a part of it.
struct Deletion {
    name: &'static str,
    /// The call that receives the foreign answers.
    call: String,
    code: &'static str,
    foreign: Vec<&'static str>,
    entry: Entry,
    /// The object to which an update changes the entry; `None` for a deletion.
    to: Option<Object>,
    /// The answers to all other calls, while the object exists.
    others: Vec<(String, Answer)>,
}

fn items(item: serde_json::Value) -> Answer {
    Answer::Json(200, json!({ "items": [item] }))
}

fn of_api_gateway(
    name: &'static str,
    call: &str,
    own: &[&'static str],
    entry: Entry,
    others: Vec<(String, Answer)>,
) -> Deletion {
    let foreign = OF_API_GATEWAY.iter().copied().filter(|text| !own.contains(text)).collect();
    Deletion { name, call: call.into(), code: "NotFoundException", foreign, entry, to: None, others }
}

fn api(cors: Option<Cors>) -> Spec {
    Spec::Api(Api { cors: Input::Known(cors), ..Api::test() })
}

fn stage(format: Option<&str>) -> Spec {
    let access_log = format
        .map(|format| AccessLog { log_group: Ref::Id("arn:group".into()), format: Input::Known(format.to_string()) });
    Spec::Stage(Stage { access_log, ..Stage::test() })
}

fn of_api() -> Vec<Deletion> {
    let cors = Cors { allow_origins: vec!["*".into()], ..Cors::default() };
    let get = |path: &str, answer: Answer| (format!("GET /v2/apis/api1{path}"), answer);
    let stage_path = "/stages/%24default";
    let found = Answer::Json(200, json!({ "apiId": "api1", "corsConfiguration": { "allowOrigins": ["*"] } }));
    let logging = json!({ "stageName": "$default", "accessLogSettings": { "destinationArn": "arn:group" } });
    let found_stage = || Answer::Json(200, logging.clone());
    let of_api = |cors| Entry::new(keys::api(), "api1", api(cors));
    let of_stage = |format| Entry::new(keys::stage("$default"), "$default", stage(format));
    vec![
        of_api_gateway("API", "DELETE /v2/apis/api1", &[NO_API], of_api(None), vec![get("", found.clone())]),
        Deletion {
            to: Some(Object::new(keys::api(), api(None))),
            ..of_api_gateway("CORS", "DELETE /v2/apis/api1/cors", &[], of_api(Some(cors)), vec![get("", found)])
        },
        of_api_gateway(
            "stage",
            "DELETE /v2/apis/api1/stages/%24default",
            &[NO_STAGE],
            of_stage(None),
            vec![get(stage_path, found_stage())],
        ),
        Deletion {
            to: Some(Object::new(keys::stage("$default"), stage(None))),
            ..of_api_gateway(
                "access logs",
                "DELETE /v2/apis/api1/stages/%24default/accesslogsettings",
                &[],
                of_stage(Some("x")),
                vec![get(stage_path, found_stage())],
            )
        },
    ]
}

fn of_routes() -> Vec<Deletion> {
    let integration = Integration { target: Target::function(FUNCTION), ..Integration::test() };
    let list = |path: &str, item| vec![(format!("GET /v2/apis/api1/{path}"), items(item))];
    let no_settings = ("GET /v2/apis/api1/stages/%24default".to_string(), Answer::Json(200, json!({})));
    vec![
        of_api_gateway(
            "route",
            "DELETE /v2/apis/api1/routes/r1",
            &[],
            Entry::new(keys::route("GET /a"), "r1", Spec::ApiRoute(ApiRoute::test())),
            [list("routes", json!({ "routeId": "r1", "routeKey": "GET /a" })), vec![no_settings]].concat(),
        ),
        of_api_gateway(
            "integration",
            "DELETE /v2/apis/api1/integrations/int1",
            &[],
            Entry::new(keys::integration("a"), "int1", Spec::Integration(integration)),
            list("integrations", json!({ "integrationId": "int1" })),
        ),
        of_api_gateway(
            "authorizer",
            "DELETE /v2/apis/api1/authorizers/auth1",
            &[],
            Entry::new(keys::authorizer("token"), "auth1", Spec::Authorizer(Authorizer::test())),
            list("authorizers", json!({ "authorizerId": "auth1" })),
        ),
    ]
}

fn of_domain() -> Vec<Deletion> {
    let name = || Input::Known(NAME.to_string());
    let domain = DomainName { domain_name: name(), ..DomainName::test() };
    let key = keys::domain(&name());
    let mapping = ApiMapping { domain: key.clone(), ..ApiMapping::test() };
    let path = format!("/v2/domainnames/{NAME}");
    let found = Answer::Json(200, json!({ "domainName": NAME }));
    let mapped = items(json!({ "apiMappingId": "m1", "apiId": "api1", "stage": "$default" }));
    let mappings = (format!("GET {path}/apimappings"), mapped);
    vec![
        of_api_gateway(
            "custom domain",
            &format!("DELETE {path}"),
            &[NO_DOMAIN],
            Entry::new(key.clone(), NAME, Spec::DomainName(domain)),
            vec![(format!("GET {path}"), found), mappings.clone()],
        ),
        of_api_gateway(
            "API mapping",
            &format!("DELETE {path}/apimappings/m1"),
            &[],
            Entry::new(keys::api_mapping(&key), "m1", Spec::ApiMapping(mapping)),
            vec![mappings],
        ),
    ]
}

fn of_other_services() -> Vec<Deletion> {
    let group = keys::log_group(&Input::Known("/http/shop".into()));
    let permission = LambdaPermission {
        function_arn: Input::Known(FUNCTION.into()),
        caller: Caller::LogGroup(group.clone()),
        ..LambdaPermission::test()
    };
    let policy = json!({ "Statement": [{ "Sid": STATEMENT, "Effect": "Allow" }] }).to_string();
    let log_group = LogGroup::test();
    let subscription = LogSubscription {
        log_group: group.clone(),
        destination_arn: Input::Known(FUNCTION.into()),
        ..LogSubscription::test()
    };
    let groups = Answer::Json(200, json!({ "logGroups": [{ "logGroupName": "/http/shop", "arn": GROUP_ARN }] }));
    let filters = Answer::Json(200, json!({ "subscriptionFilters": [{ "filterName": "fgw-access-logs-api1" }] }));
    let tags = Answer::Json(200, json!({ "tags": { "fgw:resource": "http_gateway/api1" } }));
    let of_logs = |name, call: &str, foreign, entry, others: (&str, Answer)| Deletion {
        name,
        call: call.into(),
        code: "ResourceNotFoundException",
        foreign: vec![foreign],
        entry,
        to: None,
        others: vec![(others.0.to_string(), others.1), ("ListTagsForResource".into(), tags.clone())],
    };
    vec![
        Deletion {
            name: "Lambda permission",
            call: format!("DELETE {POLICY}/{STATEMENT}"),
            code: "ResourceNotFoundException",
            foreign: OF_LAMBDA.to_vec(),
            entry: Entry::new(Key::new("permission.a"), STATEMENT, Spec::LambdaPermission(permission)),
            to: None,
            others: vec![(format!("GET {POLICY}"), Answer::Json(200, json!({ "Policy": policy })))],
        },
        of_logs(
            "log group",
            "DeleteLogGroup",
            NO_FILTER,
            Entry::new(group.clone(), "/http/shop", Spec::LogGroup(log_group)),
            ("DescribeLogGroups", groups),
        ),
        of_logs(
            "subscription filter",
            "DeleteSubscriptionFilter",
            NO_GROUP,
            Entry::new(
                keys::log_subscription(&group),
                "/http/shop|fgw-access-logs-api1",
                Spec::LogSubscription(subscription),
            ),
            ("DescribeSubscriptionFilters", filters),
        ),
    ]
}

fn all() -> Vec<Deletion> {
    [of_api(), of_routes(), of_domain(), of_other_services()].into_iter().flatten().collect()
}

impl Deletion {
    fn answering(&self, aws: &Recorded, text: &'static str) -> Recorded {
        aws.clear();
        let aws = self.others.iter().fold(aws.clone(), |aws, (call, answer)| aws.on(call, answer.clone()));
        aws.on(&self.call, Answer::Error(404, self.code, text))
    }

    async fn run(&self, session: &Session) -> Result<(), Failure> {
        let ids = [(keys::api(), "api1"), (keys::domain(&Input::Known(NAME.into())), NAME)];
        let call = async |operation: &crate::aws::calls::Operation<'_>| {
            let (session, work) = (operation.session, operation.work);
            match &self.to {
                None => session.delete(work, &self.entry).await,
                Some(to) => {
                    let record = operation.record.expect("an update records");
                    session.update(work, &self.entry.id, &self.entry.applied, to, record).await
                }
            }
        };
        run(session, &self.entry.key, &ids, call).await.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_missing_object_never_counts_as_the_deletion() {
    let mut verdicts = Verdicts::default();
    let aws = Recorded::default();
    let session = aws.session("eu-west-1");
    for deletion in all() {
        for text in &deletion.foreign {
            deletion.answering(&aws, text);
            verdicts.always(deletion.name, text, &deletion.run(&session).await);
            deletion.answering(&aws, text).on(&deletion.call, Answer::Json(204, json!(null)));
            let result = deletion.run(&session).await;
            let calls = aws.calls().iter().filter(|call| **call == deletion.call).count();
            verdicts.once(deletion.name, text, &result, calls);
        }
    }
    verdicts.assert_nothing_is_lost(80);
}

/// An answer of Route 53, whose codes have no common form.
fn error(code: &str, message: &str) -> Answer {
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
    Answer::Xml(400, format!("<ErrorResponse>{error}<RequestId>req-1</RequestId></ErrorResponse>"))
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_listed_is_not_deleted() {
    let spec = DnsRecord {
        zone_id: Input::Known(ZONE.into()),
        name: Input::Known(NAME.into()),
        target: Ref::Key(keys::domain(&Input::Known(NAME.into()))),
        ..DnsRecord::test()
    };
    let entry = Entry::new(Key::new("dns_record"), "Z1_api.example.com_A", Spec::DnsRecord(spec));
    let alias = "<AliasTarget><HostedZoneId>ZAWS</HostedZoneId><DNSName>d-api.example.com</DNSName>\
        <EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget>";
    let listed = format!(
        "<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet><Name>{NAME}</Name><Type>A</Type>{alias}\
         </ResourceRecordSet></ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>\
         </ListResourceRecordSetsResponse>"
    );
    let mut verdicts = Verdicts::default();
    for (code, message) in [
        ("NoSuchHostedZone", "No hosted zone found with ID: Z9"),
        ("NoSuchHealthCheck", "A health check with id 1 does not exist."),
        ("NoSuchChange", "Could not find resource with ID: C9"),
        (
            "InvalidChangeBatch",
            "Tried to delete resource record set [name='b.example.com.', type='A'] but it was not found",
        ),
    ] {
        let aws = Recorded::default()
            .on(
                "GET /2013-04-01/hostedzone/Z1/rrset?name=api.example.com&type=A&maxitems=1",
                Answer::Xml(200, listed.clone()),
            )
            .on("POST /2013-04-01/hostedzone/Z1/rrset", error(code, message));
        let session = aws.session("eu-west-1");
        let (result, _) = run(&session, &entry.key, &[], async |it| it.session.delete(it.work, &entry).await).await;
        verdicts.always("DNS record", code, &result);
    }
    verdicts.assert_nothing_is_lost(4);
}
