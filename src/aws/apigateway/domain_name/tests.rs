use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::aws::recorded::{Answer, Recorded, Records, request_of, run, without_request};
use crate::cloud::Deadlines;
use crate::model::keys::gateway as keys;

const NAME: &str = "api.example.com";
const POST: &str = "POST /v2/domainnames";
const GET: &str = "GET /v2/domainnames/api.example.com";
const PATCH: &str = "PATCH /v2/domainnames/api.example.com";
const DELETE: &str = "DELETE /v2/domainnames/api.example.com";
const MAPPINGS: &str = "GET /v2/domainnames/api.example.com/apimappings";

fn key() -> Key {
    keys::domain(&Input::Known(NAME.into()))
}

fn spec(certificate: &str) -> DomainName {
    DomainName {
        domain_name: Input::Known(NAME.into()),
        certificate_arn: Input::Known(certificate.into()),
        tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()),
        ..DomainName::test()
    }
}

fn ours() -> Value {
    json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "domain" })
}

/// The answer of AWS with the domain in this status and with these tags.
fn domain(status: &str, message: &str, tags: Value) -> Answer {
    let configuration = json!({
        "apiGatewayDomainName": "d-1.execute-api.example", "hostedZoneId": "Z1", "certificateArn": "cert1",
        "endpointType": "REGIONAL", "securityPolicy": "TLS_1_2",
        "domainNameStatus": status, "domainNameStatusMessage": message,
    });
    Answer::Json(200, json!({ "domainName": NAME, "domainNameConfigurations": [configuration], "tags": tags }))
}

fn taken() -> Answer {
    Answer::Error(409, "ConflictException", "The domain name you provided already exists.")
}

fn not_found() -> Answer {
    Answer::Error(404, "NotFoundException", "Invalid domain name identifier specified")
}

async fn created(aws: &Recorded, region: &str) -> (Result<(), Failure>, Records) {
    run(&aws.session(region), &key(), &[], async |it| create(it, &spec("cert1")).await).await
}

async fn updated(aws: &Recorded, region: &str, from: Option<&DomainName>, to: &DomainName) -> Result<(), Failure> {
    run(&aws.session(region), &key(), &[], async |it| update(it, NAME, from, to).await).await.0
}

async fn is_deleted(aws: &Recorded, region: &str) -> Result<(), Failure> {
    let entry = Entry::new(key(), NAME, Spec::DomainName(spec("cert1")));
    run(&aws.session(region), &key(), &[], async |it| delete(it, &entry).await).await.0
}

#[tokio::test(start_paused = true)]
async fn create_sets_regional_and_tls_1_2_and_records_the_dns_target() {
    let aws = Recorded::default().on(POST, domain("AVAILABLE", "", ours()));
    let (answer, reported) = created(&aws, "domain-create").await;
    answer.unwrap();
    assert_eq!(
        without_request(aws.body(POST)),
        json!({ "domainName": NAME,
            "domainNameConfigurations": [
                { "certificateArn": "cert1", "endpointType": "REGIONAL", "securityPolicy": "TLS_1_2",
                  "ipAddressType": "ipv4" }],
            "tags": { "team": "web", "fgw:resource": "http_gateway/api1", "fgw:object": "domain" } })
    );
    assert_eq!(reported.ids, [NAME]);
    let learned = [("target_domain_name", "d-1.execute-api.example"), ("target_hosted_zone_id", "Z1")];
    assert_eq!(reported.learned, learned.map(|(name, value)| (name.to_string(), value.to_string())).into());
    assert_eq!(aws.calls(), [POST], "an available domain is not polled");
}

#[tokio::test(start_paused = true)]
async fn create_waits_until_the_domain_is_available() {
    let aws = Recorded::default()
        .on(POST, domain("UPDATING", "", ours()))
        .on(GET, domain("UPDATING", "", ours()))
        .on(GET, domain("AVAILABLE", "", ours()));
    let (answer, reported) = created(&aws, "domain-wait").await;
    answer.unwrap();
    assert_eq!(reported.ids, [NAME]);
    assert_eq!(aws.calls(), [POST, GET, GET]);
}

#[tokio::test(start_paused = true)]
async fn pending_manual_step_fails_at_once_and_keeps_the_id() {
    for (status, message) in [
        ("PENDING_CERTIFICATE_REIMPORT", "Reimport the certificate"),
        ("PENDING_OWNERSHIP_VERIFICATION", "Provide an ownership verification certificate"),
    ] {
        let aws = Recorded::default().on(POST, domain(status, message, ours()));
        let (answer, reported) = created(&aws, &format!("domain-{}", status.to_lowercase().replace('_', "-"))).await;
        let failure = answer.unwrap_err();
        assert!(failure.message.ends_with(&format!("status {status}: {message}")), "{failure}");
        assert_eq!(reported.ids, [NAME]);
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_reports_the_last_status() {
    let aws = Recorded::default().on(GET, domain("UPDATING", "moving", ours()));
    let call = async |it: &Operation<'_>| wait_until_available(it, NAME, None, SET_UP).await;
    let failure = run(&aws.session("domain-slow"), &key(), &[], call).await.0.unwrap_err();
    assert_eq!(failure.cause, Cause::TimedOut);
    assert_eq!(failure.message, "gave up waiting after 600 s; last seen: status UPDATING: moving");
}

/// Also with the tags of this gateway, which anyone may copy.
#[tokio::test(start_paused = true)]
async fn existing_domain_is_not_adopted_whatever_its_tags_are() {
    let forged = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "domain", "fgw:request": "0123" });
    let of_another = json!({ "fgw:resource": "http_gateway/api2", "fgw:object": "domain" });
    for (region, tags) in [
        ("domain-foreign", json!({})),
        ("domain-of-another", of_another),
        ("domain-ours", ours()),
        ("domain-forged", forged),
    ] {
        let aws = Recorded::default().on(POST, taken()).on(GET, domain("AVAILABLE", "", tags));
        let (answer, reported) = created(&aws, region).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        for part in
            ["A killed run or someone else", "delete-domain-name --domain-name api.example.com", "another domain_name"]
        {
            assert!(failure.text().contains(part), "no {part} in {}", failure.text());
        }
        assert!(reported.ids.is_empty());
        assert_eq!(aws.calls(), [POST, GET], "nothing is changed");
    }
}

#[tokio::test(start_paused = true)]
async fn name_in_use_in_another_account_is_reported() {
    let rejection = Answer::Error(400, "BadRequestException", "The domain name you provided already exists.");
    let aws = Recorded::default().on(POST, rejection).on(GET, not_found());
    let failure = created(&aws, "domain-elsewhere").await.0.unwrap_err();
    assert!(failure.message.contains("in use in another account or Region"), "{failure}");
}

/// The domain with the tags that the last create set.
fn of_this_request() -> Answer {
    Answer::To(|requests| {
        let request = request_of(requests, POST);
        domain("AVAILABLE", "", json!({ "fgw:request": request }))
    })
}

#[tokio::test(start_paused = true)]
async fn lost_create_is_resolved_by_the_tag_of_the_request() {
    let aws = Recorded::default().on(POST, Answer::Lost).on(GET, of_this_request());
    let (answer, reported) = created(&aws, "domain-lost").await;
    answer.unwrap();
    assert_eq!((reported.ids, reported.learned.attributes.len()), (vec![NAME.to_string()], 2));
    assert_eq!(aws.calls(), [POST, GET]);

    // The domain is not visible at first, so the call is sent again.
    let aws = Recorded::default()
        .on(POST, Answer::Lost)
        .on(GET, not_found())
        .on(GET, not_found())
        .on(POST, taken())
        .on(GET, of_this_request());
    let (answer, reported) = created(&aws, "domain-late").await;
    answer.unwrap();
    assert_eq!(reported.ids, [NAME]);

    // Someone else has created it at the same time.
    for (region, tags) in [("domain-lost-foreign", json!({})), ("domain-lost-forged", ours())] {
        let aws = Recorded::default().on(POST, Answer::Lost).on(GET, domain("AVAILABLE", "", tags));
        let (answer, reported) = created(&aws, region).await;
        assert!(answer.unwrap_err().message.contains("not managed by this resource"));
        assert!(reported.ids.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn domain_that_was_created_again_is_not_deleted() {
    let learned = |target: &str| {
        let values = [("target_domain_name", target), ("target_hosted_zone_id", "Z1")];
        values.map(|(name, value)| (name.to_string(), value.to_string())).into()
    };
    for (target, is_deleted) in [("d-1.execute-api.example", true), ("d-0.execute-api.example", false)] {
        let aws = Recorded::default()
            .on(GET, domain("AVAILABLE", "", ours()))
            .on(MAPPINGS, Answer::Json(200, json!({ "items": [] })))
            .on(DELETE, Answer::Json(204, json!(null)));
        let entry = Entry { learned: learned(target), ..Entry::new(key(), NAME, Spec::DomainName(spec("cert1"))) };
        run(&aws.session("domain-again"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls().contains(&DELETE.to_string()), is_deleted, "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_certificate_is_reported_and_records_nothing() {
    let rejection = Answer::Error(400, "BadRequestException", "The provided certificate does not exist.");
    let aws = Recorded::default().on(POST, rejection);
    let (answer, reported) = created(&aws, "domain-refused").await;
    assert_eq!(answer.unwrap_err().message, "The provided certificate does not exist.");
    assert!(reported.ids.is_empty());
    assert_eq!(aws.calls(), [POST]);
}

#[tokio::test(start_paused = true)]
async fn throttled_domain_calls_are_retried() {
    let throttled = || Answer::Error(429, "TooManyRequestsException", "Too Many Requests");
    let aws = Recorded::default()
        .on(POST, throttled())
        .on(POST, throttled())
        .on(POST, domain("AVAILABLE", "", ours()))
        .on(GET, domain("AVAILABLE", "", ours()))
        .on(PATCH, throttled())
        .on(PATCH, domain("AVAILABLE", "", ours()))
        .on(MAPPINGS, Answer::Json(200, json!({ "items": [] })))
        .on(DELETE, throttled())
        .on(DELETE, Answer::Json(204, json!(null)));
    created(&aws, "domain-throttled").await.0.unwrap();
    updated(&aws, "domain-throttled", Some(&spec("old")), &spec("cert1")).await.unwrap();
    is_deleted(&aws, "domain-throttled").await.unwrap();
    assert_eq!(aws.calls(), [POST, POST, POST, GET, PATCH, PATCH, GET, MAPPINGS, DELETE, DELETE]);
}

#[tokio::test(start_paused = true)]
async fn stop_request_ends_the_wait_for_the_rate_limit() {
    let aws = Recorded::default().on(POST, domain("AVAILABLE", "", ours()));
    created(&aws, "domain-turns").await.0.unwrap();
    let session = aws.session("domain-turns");
    let deadlines = Deadlines::until(Instant::now() + Duration::from_secs(60), Default::default());
    deadlines.stop.cancel();
    let failure = throttle_domain_call(&session, "CreateDomainName", &deadlines).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Stopped);
    assert_eq!(aws.calls(), [POST]);
}

#[tokio::test(start_paused = true)]
async fn certificate_changes_in_place_and_is_waited_for() {
    let aws = Recorded::default()
        .on(GET, domain("UPDATING", "", ours()))
        .on(GET, domain("AVAILABLE", "", ours()))
        .on(PATCH, domain("UPDATING", "", ours()))
        .on(GET, domain("UPDATING", "", ours()))
        .on(GET, domain("AVAILABLE", "", ours()));
    updated(&aws, "domain-renew", Some(&spec("cert1")), &spec("cert2")).await.unwrap();
    assert_eq!(
        aws.body(PATCH),
        json!({ "domainNameConfigurations": [
            { "certificateArn": "cert2", "endpointType": "REGIONAL", "securityPolicy": "TLS_1_2",
              "ipAddressType": "ipv4" }] })
    );
    assert_eq!(aws.calls(), [GET, GET, PATCH, GET, GET]);
}

#[tokio::test(start_paused = true)]
async fn update_sends_back_the_settings_that_others_made() {
    let shown = |certificate: &str| {
        let configuration = |endpoint: &str, more: Value| {
            let mut all = json!({ "certificateArn": certificate, "endpointType": endpoint, "securityPolicy": "TLS_1_2",
                "domainNameStatus": "AVAILABLE" });
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let regional = json!({ "ipAddressType": "dualstack", "ownershipVerificationCertificateArn": "owner" });
        let configurations = [
            configuration("EDGE", json!({ "ownershipVerificationCertificateArn": "other" })),
            configuration("REGIONAL", regional),
        ];
        let trust = json!({ "truststoreUri": "s3://trust/ca.pem", "truststoreVersion": "1" });
        let body = json!({ "domainName": NAME, "domainNameConfigurations": configurations,
            "mutualTlsAuthentication": trust, "routingMode": "API_MAPPING_ONLY", "tags": ours() });
        Answer::Json(200, body)
    };
    let aws = Recorded::default().on(GET, shown("cert1")).on(PATCH, shown("cert2"));
    let dualstack = |certificate| DomainName { ip_address_type: Input::Known("dualstack".into()), ..spec(certificate) };
    updated(&aws, "domain-settings", Some(&dualstack("cert1")), &dualstack("cert2")).await.unwrap();
    let configuration = json!({ "certificateArn": "cert2", "endpointType": "REGIONAL", "securityPolicy": "TLS_1_2",
        "ipAddressType": "dualstack", "ownershipVerificationCertificateArn": "owner" });
    assert_eq!(aws.body(PATCH), json!({ "domainNameConfigurations": [configuration] }));
}

#[test]
fn default_timeout_of_an_update_covers_the_longest_change() {
    // AWS accepts one update of a domain every 30 seconds, and other objects change first.
    let others = Duration::from_secs(15 * 60);
    assert!(Duration::from_secs(crate::model::Timeouts::default().of_update()) >= CHANGED + others);
}

#[tokio::test(start_paused = true)]
async fn update_that_requires_a_manual_step_fails() {
    let aws = Recorded::default()
        .on(GET, domain("AVAILABLE", "", ours()))
        .on(PATCH, domain("UPDATING", "", ours()))
        .on(GET, domain("PENDING_CERTIFICATE_REIMPORT", "Reimport it", ours()));
    let failure = updated(&aws, "domain-pending", Some(&spec("cert1")), &spec("cert2")).await.unwrap_err();
    assert!(failure.message.ends_with("PENDING_CERTIFICATE_REIMPORT: Reimport it"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn weaker_security_policy_is_drift_and_is_corrected() {
    let configuration = DomainNameConfiguration::builder()
        .certificate_arn("cert1")
        .endpoint_type(EndpointType::Regional)
        .security_policy(SecurityPolicy::Tls10);
    let found = shown(NAME, Some(vec![configuration.build()]), Some([("team".into(), "web".into())].into()));
    let Spec::DomainName(found) = read(&found, keys::api(), key()).unwrap().spec else { panic!("{found:?}") };
    let differences = Spec::DomainName(spec("cert1")).differences(&Spec::DomainName(found.clone()));
    assert_eq!(differences, ["security_policy is TLS_1_0 instead of TLS_1_2"]);
    let aws = Recorded::default().on(PATCH, domain("AVAILABLE", "", ours())).on(GET, domain("AVAILABLE", "", ours()));
    updated(&aws, "domain-policy", Some(&found), &spec("cert1")).await.unwrap();
    assert_eq!(aws.body(PATCH)["domainNameConfigurations"][0]["securityPolicy"], "TLS_1_2");
}

#[tokio::test(start_paused = true)]
async fn tag_changes_need_no_rate_limited_call() {
    let tags = "/v2/tags/arn%3Aaws%3Aapigateway%3Adomain-tags%3A%3A%2Fdomainnames%2Fapi.example.com";
    let (set, remove) = (format!("POST {tags}"), format!("DELETE {tags}?tagKeys=old"));
    let aws = Recorded::default().on(&set, Answer::Json(201, json!({}))).on(&remove, Answer::Json(204, json!(null)));
    let from =
        DomainName { tags: Input::Known([("old".to_string(), Input::Known("1".to_string()))].into()), ..spec("cert1") };
    updated(&aws, "domain-tags", Some(&from), &spec("cert1")).await.unwrap();
    assert_eq!(aws.calls(), [set.clone(), remove]);
    assert_eq!(aws.body(&set), json!({ "tags": { "team": "web" } }));
}

#[tokio::test(start_paused = true)]
async fn missing_domain_counts_as_deleted() {
    let aws = Recorded::default().on(MAPPINGS, not_found()).on(DELETE, not_found());
    is_deleted(&aws, "domain-missing").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn domain_with_mappings_to_other_apis_is_not_deleted() {
    let theirs = json!({ "apiMappingId": "m9", "apiId": "api2", "stage": "prod", "apiMappingKey": "v1" });
    let aws = Recorded::default().on(MAPPINGS, Answer::Json(200, json!({ "items": [theirs] })));
    let failure = is_deleted(&aws, "domain-shared").await.unwrap_err();
    assert_eq!(failure.cause, Cause::InUse);
    assert!(failure.message.ends_with("m9 (api2/prod)"), "{failure}");
    assert_eq!(aws.calls(), [MAPPINGS]);
}

#[tokio::test(start_paused = true)]
async fn domain_with_mappings_only_to_its_own_api_is_deleted() {
    let further = json!({ "apiMappingId": "m2", "apiId": "api1", "stage": "$default", "apiMappingKey": "v1" });
    let aws = Recorded::default()
        .on(MAPPINGS, Answer::Json(200, json!({ "items": [further] })))
        .on(DELETE, Answer::Json(204, json!(null)));
    is_deleted(&aws, "domain-with-paths").await.unwrap();
    assert_eq!(aws.calls(), [MAPPINGS, DELETE]);
    let session = aws.session("domain-with-paths");
    assert!(session.process.unmapped.age("domain-with-paths api1").is_some());
}
