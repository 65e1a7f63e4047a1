//! Certificates for custom domains.

use aws_sdk_acm::types::{
    CertificateKeyPairOrigin, CertificateStatus, CertificateSummary, CertificateType as Type, Filters, KeyAlgorithm,
};
use aws_smithy_types::DateTime;
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::aws::calls::codes::is_rejected_parameter;
use crate::cloud::{Cause, Failure};
use crate::model::{Certificate, CertificateType, covers};

/// The key types that API Gateway accepts. Without this filter, ACM lists only certificates with RSA keys of 1024 and
/// 2048 bits.
const KEY_TYPES: [KeyAlgorithm; 5] = [
    KeyAlgorithm::Rsa2048,
    KeyAlgorithm::Rsa3072,
    KeyAlgorithm::Rsa4096,
    KeyAlgorithm::EcPrime256v1,
    KeyAlgorithm::EcSecp384r1,
];

/// The issued, unexpired certificates of the Region that cover the domain with a name or a wildcard. The newest come
/// first.
pub(crate) async fn certificates(session: &Session, domain: &str) -> Result<Vec<Certificate>, Failure> {
    let (shared, own) = (&session.shared, session.clone());
    let summaries = shared.certificates.all(&shared.gateways, async move || all(&own).await).await?;
    let found = join_all(summaries.into_iter().map(|summary| load(session, summary))).await;
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    let now = DateTime::from(std::time::SystemTime::now()).secs();
    let mut found: Vec<Certificate> = found
        .into_iter()
        .flatten()
        .filter(|(certificate, not_after)| {
            not_after.is_none_or(|end| end > now) && covers(certificate.names.iter().map(String::as_str), domain)
        })
        .map(|(certificate, _)| certificate)
        .collect();
    found.sort_by(|a, b| (b.not_before, &b.arn).cmp(&(a.not_before, &a.arn)));
    Ok(found)
}

/// The summaries of all issued certificates.
async fn all(session: &Session) -> Result<Vec<CertificateSummary>, Failure> {
    match list(session, Some(origins())).await {
        // The filter by origin is a recent addition, which endpoints of some Regions and emulators may reject.
        Err(failure) if is_rejected_parameter(&failure) => list(session, None).await,
        listed => listed,
    }
}

/// The summaries of all issued certificates with these origins of keys.
async fn list(
    session: &Session,
    origins: Option<Vec<CertificateKeyPairOrigin>>,
) -> Result<Vec<CertificateSummary>, Failure> {
    let mut pages = session
        .acm
        .list_certificates()
        .certificate_statuses(CertificateStatus::Issued)
        .set_certificate_key_pair_origins(origins)
        .includes(Filters::builder().set_key_types(Some(KEY_TYPES.to_vec())).build())
        .into_paginator()
        .items()
        .send();
    let mut summaries = Vec::new();
    while let Some(summary) = pages.next().await {
        summaries.push(summary.or_failure("ListCertificates")?);
    }
    Ok(summaries)
}

/// Whether a certificate was created after this process had started, by AWS's clock and this machine's.
fn is_new(session: &Session, created_at: i64) -> bool {
    created_at > DateTime::from(session.process.started.0).secs()
}

/// All origins of keys. Without this filter, ACM does not list certificates whose keys came through ACME.
fn origins() -> Vec<CertificateKeyPairOrigin> {
    CertificateKeyPairOrigin::values().iter().map(|origin| CertificateKeyPairOrigin::from(*origin)).collect()
}

/// Whether a certificate exists, whatever its status.
pub(crate) async fn exists(session: &Session, arn: &str) -> Result<bool, Failure> {
    let answer = session.acm.describe_certificate().certificate_arn(arn).send().await;
    match answer.or_failure("DescribeCertificate") {
        Ok(_) => Ok(true),
        Err(failure) if failure.cause == Cause::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// A certificate with all its names, and its expiry in seconds since the Unix epoch. `None` if it has been deleted
/// since it was listed.
async fn load(session: &Session, summary: CertificateSummary) -> Result<Option<(Certificate, Option<i64>)>, Failure> {
    let Some(arn) = summary.certificate_arn else { return Ok(None) };
    let seconds = |moment: Option<DateTime>| moment.map(|moment| moment.secs());
    // A summary contains up to 100 names. Endpoints of other vendors may leave them out.
    if let (Some(names), Some(not_before), Some(not_after), Some(kind)) =
        (summary.subject_alternative_name_summaries, summary.not_before, summary.not_after, &summary.r#type)
        && summary.has_additional_subject_alternative_names != Some(true)
    {
        let names = in_lower_case(summary.domain_name.into_iter().chain(names).collect());
        let created_at = seconds(summary.created_at).unwrap_or_default();
        let certificate = Certificate {
            arn,
            names,
            kind: known(kind),
            not_before: not_before.secs(),
            created_at,
            is_new: is_new(session, created_at),
        };
        return Ok(Some((certificate, Some(not_after.secs()))));
    }
    let answer = session.acm.describe_certificate().certificate_arn(&arn).send().await;
    let detail = match answer.or_failure("DescribeCertificate") {
        Ok(answer) => answer.certificate,
        Err(failure) if failure.cause == Cause::NotFound => None,
        Err(failure) => return Err(failure),
    };
    Ok(detail.map(|detail| {
        let others = detail.subject_alternative_names.unwrap_or_default();
        let names = detail.domain_name.into_iter().chain(others).collect();
        let created_at = seconds(detail.created_at).unwrap_or_default();
        let certificate = Certificate {
            arn,
            names: in_lower_case(names),
            kind: detail.r#type.as_ref().map(known).unwrap_or_default(),
            not_before: seconds(detail.not_before.or(detail.issued_at)).unwrap_or_default(),
            created_at,
            is_new: is_new(session, created_at),
        };
        (certificate, seconds(detail.not_after))
    }))
}

fn known(kind: &Type) -> CertificateType {
    match kind {
        Type::AmazonIssued => CertificateType::AmazonIssued,
        Type::Imported => CertificateType::Imported,
        Type::Private => CertificateType::Private,
        _ => CertificateType::Other,
    }
}

fn in_lower_case(names: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};

    const DOMAIN: &str = "api.example.com";

    /// A time in the far future, in seconds since the Unix epoch.
    const FUTURE: i64 = 4_000_000_000;

    /// A certificate as `ListCertificates` returns it.
    fn summary(arn: &str, names: &[&str], not_before: i64, not_after: i64) -> Value {
        json!({
            "CertificateArn": arn, "DomainName": names[0], "SubjectAlternativeNameSummaries": names,
            "HasAdditionalSubjectAlternativeNames": false, "NotBefore": not_before, "NotAfter": not_after,
            "Type": "AMAZON_ISSUED", "CreatedAt": 90,
        })
    }

    fn list(summaries: &[Value], next: Option<&str>) -> Answer {
        Answer::Json(200, json!({ "CertificateSummaryList": summaries, "NextToken": next }))
    }

    async fn arns(aws: &Recorded) -> Vec<String> {
        let found = certificates(&aws.session("acm"), DOMAIN).await.unwrap();
        found.into_iter().map(|certificate| certificate.arn).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn issued_certificates_of_all_key_types_and_origins_are_listed() {
        let aws = Recorded::default().on("ListCertificates", list(&[], None));
        assert_eq!(arns(&aws).await, Vec::<String>::new());
        let body = aws.body("ListCertificates");
        assert_eq!(body["CertificateStatuses"], json!(["ISSUED"]));
        let keys = ["RSA_2048", "RSA_3072", "RSA_4096", "EC_prime256v1", "EC_secp384r1"];
        assert_eq!(body["Includes"], json!({ "keyTypes": keys }));
        let mut origins: Vec<&str> =
            body["CertificateKeyPairOrigins"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        origins.sort_unstable();
        assert_eq!(origins, ["ACME", "AWS_MANAGED", "CUSTOMER_PROVIDED"]);
    }

    #[tokio::test(start_paused = true)]
    async fn matching_certificates_of_all_pages_come_newest_first() {
        let aws = Recorded::default()
            .on(
                "ListCertificates",
                list(
                    &[
                        summary("exact", &["API.example.com"], 100, FUTURE),
                        summary("apex", &["example.com"], 900, FUTURE),
                        summary("deeper", &["*.api.example.com"], 900, FUTURE),
                    ],
                    Some("p2"),
                ),
            )
            .on(
                "ListCertificates",
                list(
                    &[
                        summary("expired", &["api.example.com"], 900, 1_000_000_000),
                        summary("wildcard", &["example.com", "*.example.com"], 300, FUTURE),
                        summary("other", &["example.org"], 900, FUTURE),
                    ],
                    None,
                ),
            );
        assert_eq!(arns(&aws).await, ["wildcard", "exact"]);
        let tokens: Vec<Value> = aws.requests().into_iter().map(|asked| asked.body["NextToken"].clone()).collect();
        assert_eq!(tokens, [json!(null), json!("p2")]);
    }

    #[tokio::test(start_paused = true)]
    async fn names_missing_from_a_summary_are_read_separately() {
        let mut many = summary("many", &["first.example.com"], 100, FUTURE);
        many["HasAdditionalSubjectAlternativeNames"] = json!(true);
        let detail = json!({
            "CertificateArn": "many", "DomainName": "first.example.com",
            "SubjectAlternativeNames": ["first.example.com", "Api.Example.com"],
            "NotBefore": 100, "NotAfter": FUTURE, "Type": "IMPORTED", "CreatedAt": 110,
        });
        let aws = Recorded::default()
            .on("ListCertificates", list(&[many], None))
            .on("DescribeCertificate", Answer::Json(200, json!({ "Certificate": detail })));
        let found = certificates(&aws.session("acm"), DOMAIN).await.unwrap();
        assert_eq!(aws.body("DescribeCertificate"), json!({ "CertificateArn": "many" }));
        let names = ["api.example.com", "first.example.com"].map(str::to_string).to_vec();
        let kind = CertificateType::Imported;
        assert_eq!(
            found,
            [Certificate { arn: "many".into(), names, kind, not_before: 100, created_at: 110, is_new: false }]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_summary_is_completed_and_a_deleted_one_skipped() {
        let short = json!({ "CertificateArn": "short", "DomainName": DOMAIN });
        let detail = json!({ "CertificateArn": "short", "DomainName": DOMAIN, "IssuedAt": 50, "NotAfter": FUTURE });
        let aws = Recorded::default()
            .on("ListCertificates", list(std::slice::from_ref(&short), None))
            .on("DescribeCertificate", Answer::Json(200, json!({ "Certificate": detail })));
        let found = certificates(&aws.session("acm"), DOMAIN).await.unwrap();
        let names = vec![DOMAIN.to_string()];
        assert_eq!(found, [Certificate { arn: "short".into(), names, not_before: 50, ..Certificate::default() }]);

        let aws = Recorded::default()
            .on("ListCertificates", list(&[short], None))
            .on("DescribeCertificate", Answer::Error(400, "ResourceNotFoundException", "missing"));
        assert_eq!(arns(&aws).await, Vec::<String>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn the_type_comes_from_the_summary_or_else_from_the_details() {
        let of = |kind: &str| {
            let mut summary = summary(kind, &[DOMAIN], 100, FUTURE);
            summary["Type"] = json!(kind);
            summary
        };
        let all = ["AMAZON_ISSUED", "IMPORTED", "PRIVATE", "FROM_THE_FUTURE"].map(of);
        let aws = Recorded::default().on("ListCertificates", list(&all, None));
        let found = certificates(&aws.session("acm"), DOMAIN).await.unwrap();
        let mut kinds: Vec<(&str, CertificateType)> = found.iter().map(|it| (it.arn.as_str(), it.kind)).collect();
        kinds.sort_by_key(|(_, kind)| *kind);
        let expected = [
            ("FROM_THE_FUTURE", CertificateType::Other),
            ("PRIVATE", CertificateType::Private),
            ("IMPORTED", CertificateType::Imported),
            ("AMAZON_ISSUED", CertificateType::AmazonIssued),
        ];
        assert_eq!(kinds, expected);
        assert!(found.iter().all(|it| it.created_at == 90));
        assert_eq!(aws.calls(), ["ListCertificates"], "the summaries are complete");

        let mut without = summary("without", &[DOMAIN], 100, FUTURE);
        without.as_object_mut().unwrap().remove("Type");
        let detail = json!({ "DomainName": DOMAIN, "NotBefore": 100, "NotAfter": FUTURE, "Type": "PRIVATE" });
        let aws = Recorded::default()
            .on("ListCertificates", list(&[without], None))
            .on("DescribeCertificate", Answer::Json(200, json!({ "Certificate": detail })));
        let found = certificates(&aws.session("acm"), DOMAIN).await.unwrap();
        assert_eq!(found[0].kind, CertificateType::Private);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rejected_filter_by_origin_is_omitted_in_one_retry() {
        let aws = Recorded::default()
            .on("ListCertificates", Answer::Error(400, "ValidationException", "unknown CertificateKeyPairOrigins"))
            .on("ListCertificates", list(&[summary("one", &[DOMAIN], 100, FUTURE)], None));
        assert_eq!(arns(&aws).await, ["one"]);
        let sent: Vec<Value> = aws.requests().into_iter().map(|it| it.body).collect();
        assert!(sent[0]["CertificateKeyPairOrigins"].is_array());
        assert!(sent[1]["CertificateKeyPairOrigins"].is_null());
        assert_eq!(sent[1]["Includes"], sent[0]["Includes"]);

        let aws = Recorded::default().on("ListCertificates", Answer::Error(400, "ValidationException", "no"));
        let failure = certificates(&aws.session("acm"), DOMAIN).await.unwrap_err();
        assert_eq!((failure.message.as_str(), aws.calls().len()), ("no", 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_denied_call_is_an_error_and_not_an_absence() {
        let aws = Recorded::default().on(
            "ListCertificates",
            Answer::Error(400, "AccessDeniedException", "not authorized to perform: acm:ListCertificates"),
        );
        let failure = certificates(&aws.session("acm"), DOMAIN).await.unwrap_err();
        assert_eq!(failure.cause, crate::cloud::Cause::Denied);
        assert_eq!(failure.action, "ListCertificates");
        assert_eq!(aws.calls(), ["ListCertificates"], "a denied call is not repeated");
    }
}
