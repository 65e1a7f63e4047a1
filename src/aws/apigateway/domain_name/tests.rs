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

async fn updated(aws: &Recorded, region: &str, from: &DomainName, to: &DomainName) -> Result<(), Failure> {
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
    let command = "delete-domain-name --domain-name api.example.com";
    let living = Answer::Json(200, json!({ "apiId": "api2" }));
    for (region, tags, api, part) in [
        ("domain-foreign", json!({}), None, "A killed run or someone else"),
        ("domain-of-another", of_another.clone(), Some(("GET /v2/apis/api2", living)), "apply again"),
        ("domain-of-none", of_another, Some(("GET /v2/apis/api2", not_found())), "A killed run or someone else"),
        ("domain-ours", ours(), None, "A killed run or someone else"),
        ("domain-forged", forged, None, "A killed run or someone else"),
    ] {
        let mut aws = Recorded::default().on(POST, taken()).on(GET, domain("AVAILABLE", "", tags));
        let mut calls = vec![POST, GET];
        if let Some((call, answer)) = api {
            aws = aws.on(call, answer);
            calls.push(call);
        }
        let (answer, reported) = created(&aws, region).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        for part in [part, "another domain_name"] {
            assert!(failure.text().contains(part), "no {part} in {}", failure.text());
        }
        // No advice deletes what another resource has.
        assert_eq!(failure.text().contains(command), region != "domain-of-another", "{}", failure.text());
        assert!(reported.ids.is_empty());
        assert_eq!(aws.calls(), calls, "nothing is changed");
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
    updated(&aws, "domain-throttled", &spec("cert1"), &spec("cert2")).await.unwrap();
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
    updated(&aws, "domain-renew", &spec("cert1"), &spec("cert2")).await.unwrap();
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
    updated(&aws, "domain-settings", &dualstack("cert1"), &dualstack("cert2")).await.unwrap();
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
    let failure = updated(&aws, "domain-pending", &spec("cert1"), &spec("cert2")).await.unwrap_err();
    assert!(failure.message.ends_with("PENDING_CERTIFICATE_REIMPORT: Reimport it"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn weaker_security_policy_is_drift_and_is_corrected() {
    let configuration = DomainNameConfiguration::builder()
        .certificate_arn("cert1")
        .endpoint_type(EndpointType::Regional)
        .security_policy(SecurityPolicy::Tls10);
    let found =
        Shown::builder().domain_name(NAME).domain_name_configurations(configuration.build()).tags("team", "web");
    let found = read(&found.build(), keys::api(), key(), Some(&spec("cert1"))).unwrap();
    let Spec::DomainName(found) = found.spec else { panic!("{found:?}") };
    let differences = Spec::DomainName(spec("cert1")).differences(&Spec::DomainName(found.clone()));
    assert_eq!(differences, ["security_policy is TLS_1_0 instead of TLS_1_2"]);
    let Answer::Json(code, mut weak) = domain("AVAILABLE", "", ours()) else { panic!("JSON") };
    weak["domainNameConfigurations"][0]["securityPolicy"] = "TLS_1_0".into();
    let aws = Recorded::default()
        .on(GET, Answer::Json(code, weak))
        .on(PATCH, domain("AVAILABLE", "", ours()))
        .on(GET, domain("AVAILABLE", "", ours()));
    updated(&aws, "domain-policy", &found, &spec("cert1")).await.unwrap();
    assert_eq!(aws.body(PATCH)["domainNameConfigurations"][0]["securityPolicy"], "TLS_1_2");
}

#[tokio::test(start_paused = true)]
async fn tag_changes_need_no_rate_limited_call() {
    let tags = "/v2/tags/arn%3Aaws%3Aapigateway%3Adomain-tags%3A%3A%2Fdomainnames%2Fapi.example.com";
    let (set, remove) = (format!("POST {tags}"), format!("DELETE {tags}?tagKeys=old"));
    let aws = Recorded::default().on(&set, Answer::Json(201, json!({}))).on(&remove, Answer::Json(204, json!(null)));
    let from =
        DomainName { tags: Input::Known([("old".to_string(), Input::Known("1".to_string()))].into()), ..spec("cert1") };
    updated(&aws, "domain-tags", &from, &spec("cert1")).await.unwrap();
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

const URI: &str = "s3://trust/ca.pem";

fn trusting(uri: &str, version: Option<&str>) -> DomainName {
    let setting = MutualTls { truststore_uri: uri.into(), truststore_version: version.map(str::to_string) };
    DomainName { mutual_tls: Input::Known(Some(setting)), ..spec("cert1") }
}

/// The answer of AWS with mutual TLS, and warnings about the trust store.
fn asking(status: &str, mutual_tls: Value) -> Answer {
    let Answer::Json(code, mut body) = domain(status, "", ours()) else { panic!("JSON") };
    body["mutualTlsAuthentication"] = mutual_tls;
    body["routingMode"] = "API_MAPPING_ONLY".into();
    Answer::Json(code, body)
}

#[tokio::test(start_paused = true)]
async fn a_domain_is_created_with_mutual_tls_from_the_start() {
    let warned = json!({ "truststoreUri": URI, "truststoreWarnings": ["The certificate CN=old has expired."] });
    let aws = Recorded::default().on(POST, asking("AVAILABLE", warned));
    let to = trusting(URI, Some("v1"));
    let (answer, reported) = run(&aws.session("mtls"), &key(), &[], async |it| create(it, &to).await).await;
    answer.unwrap();
    let sent = json!({ "truststoreUri": URI, "truststoreVersion": "v1" });
    assert_eq!(aws.body(POST)["mutualTlsAuthentication"], sent);
    assert_eq!(reported.learned.remarks, ["The certificate CN=old has expired."]);
    let found = [("mutual_tls_authentication".to_string(), format!("{{ truststore_uri = {URI:?} }}"))];
    assert_eq!(reported.learned.unexpressed, found.into());

    for to in [trusting("", None), spec("cert1")] {
        let aws = Recorded::default().on(POST, domain("AVAILABLE", "", ours()));
        run(&aws.session("mtls-off"), &key(), &[], async |it| create(it, &to).await).await.0.unwrap();
        assert!(aws.body(POST).get("mutualTlsAuthentication").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn mutual_tls_changes_with_the_configuration_in_one_call() {
    let off = || json!({ "truststoreUri": "" });
    let on = || json!({ "truststoreUri": URI });
    for (from, found, to, sent) in [
        (
            trusting("", None),
            off(),
            trusting(URI, Some("v1")),
            json!({ "truststoreUri": URI, "truststoreVersion": "v1" }),
        ),
        (spec("cert1"), json!(null), trusting(URI, None), on()),
        (trusting(URI, None), on(), trusting("", None), off()),
    ] {
        let aws = Recorded::default()
            .on(GET, asking("AVAILABLE", found))
            .on(PATCH, asking("UPDATING", json!(null)))
            .on(GET, asking("UPDATING", json!(null)))
            .on(GET, asking("AVAILABLE", json!(null)));
        updated(&aws, "mtls-change", &from, &to).await.unwrap();
        let body = aws.body(PATCH);
        assert_eq!(body["mutualTlsAuthentication"], sent);
        assert_eq!(body["domainNameConfigurations"][0]["certificateArn"], "cert1");
        assert!(body.get("routingMode").is_none());
        assert_eq!(aws.calls(), [GET, PATCH, GET, GET]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_sends_mutual_tls_only_if_it_differs_from_what_aws_has() {
    // With the URI, AWS would take the current version of the object.
    let found = || asking("AVAILABLE", json!({ "truststoreUri": URI, "truststoreVersion": "v1" }));
    let other = |it: DomainName| DomainName { certificate_arn: Input::Known("cert2".into()), ..it };
    let aws = Recorded::default().on(GET, found()).on(PATCH, found());
    updated(&aws, "mtls-same", &trusting(URI, None), &other(trusting(URI, None))).await.unwrap();
    assert!(aws.body(PATCH).get("mutualTlsAuthentication").is_none());
    // It is not managed, or an earlier call whose answer was lost has set it.
    for (from, to) in [(trusting(URI, Some("v1")), spec("cert1")), (trusting("", None), trusting(URI, Some("v1")))] {
        let aws = Recorded::default().on(GET, found());
        updated(&aws, "mtls-done", &from, &to).await.unwrap();
        assert_eq!(aws.calls(), [GET]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_waits_for_the_one_in_progress() {
    let busy = Answer::Error(409, "ConflictException", "There is already an update in progress");
    let aws = Recorded::default()
        .on(GET, domain("AVAILABLE", "", ours()))
        .on(PATCH, busy)
        .on(PATCH, domain("AVAILABLE", "", ours()));
    updated(&aws, "mtls-busy", &trusting("", None), &trusting(URI, None)).await.unwrap();
    assert_eq!(aws.calls(), [GET, PATCH, PATCH, GET]);
}

#[test]
fn a_read_returns_only_the_mutual_tls_that_is_managed() {
    let read_with = |applied: Option<&DomainName>, uri: &str| {
        let mutual_tls = aws_sdk_apigatewayv2::types::MutualTlsAuthentication::builder();
        let mutual_tls = mutual_tls.truststore_uri(uri).truststore_version("v2").build();
        let found = Shown::builder().domain_name(NAME).mutual_tls_authentication(mutual_tls).build();
        let Spec::DomainName(found) = read(&found, keys::api(), key(), applied).unwrap().spec else {
            panic!("a domain")
        };
        found.mutual_tls
    };
    let is = |uri: &str, version| trusting(uri, version).mutual_tls;
    assert_eq!(read_with(None, URI), is(URI, Some("v2")), "an import takes all");
    assert_eq!(read_with(Some(&spec("cert1")), URI), Input::Known(None), "it is not managed");
    assert_eq!(read_with(Some(&trusting(URI, None)), URI), is(URI, None), "the version is not managed");
    assert_eq!(read_with(Some(&trusting(URI, Some("v1"))), URI), is(URI, Some("v2")));
    assert_eq!(read_with(Some(&trusting("", None)), URI), is(URI, Some("v2")), "it was turned on outside Terraform");
    assert_eq!(read_with(Some(&trusting(URI, None)), ""), is("", None), "it was turned off outside Terraform");
}
