//! Certificates for custom domains.

use aws_sdk_acm::types::{CertificateKeyPairOrigin, CertificateStatus, CertificateSummary, Filters, KeyAlgorithm};
use aws_smithy_types::DateTime;
use futures::future::join_all;

use super::{AwsError, Session};
use crate::cloud::Failure;
use crate::http_gateway::certificate::covers;
use crate::product::Certificate;

/// The keys that API Gateway takes. Where none are named ACM lists RSA keys of 1024 and 2048 bits alone.
const KEY_TYPES: [KeyAlgorithm; 5] = [
    KeyAlgorithm::Rsa2048,
    KeyAlgorithm::Rsa3072,
    KeyAlgorithm::Rsa4096,
    KeyAlgorithm::EcPrime256v1,
    KeyAlgorithm::EcSecp384r1,
];

/// The certificates of the Region that are issued, not expired, and for this domain by a name or a wildcard.
pub(crate) async fn certificates(session: &Session, domain: &str) -> Result<Vec<Certificate>, Failure> {
    let mut pages = session
        .acm
        .list_certificates()
        .certificate_statuses(CertificateStatus::Issued)
        .set_certificate_key_pair_origins(Some(origins()))
        .includes(Filters::builder().set_key_types(Some(KEY_TYPES.to_vec())).build())
        .into_paginator()
        .items()
        .send();
    let mut summaries = Vec::new();
    while let Some(summary) = pages.next().await {
        summaries.push(summary.map_err(|error| error.failure("ListCertificates"))?);
    }
    let found = join_all(summaries.into_iter().map(|summary| whole(session, summary))).await;
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

/// Keys that ACM made, and those that came through ACME, which it lists only when it is asked to.
fn origins() -> Vec<CertificateKeyPairOrigin> {
    CertificateKeyPairOrigin::values().iter().map(|origin| CertificateKeyPairOrigin::from(*origin)).collect()
}

/// A certificate with all its names, and the moment at which it expires. `None` where it has gone meanwhile.
async fn whole(session: &Session, summary: CertificateSummary) -> Result<Option<(Certificate, Option<i64>)>, Failure> {
    let Some(arn) = summary.certificate_arn else { return Ok(None) };
    let seconds = |moment: Option<DateTime>| moment.map(|moment| moment.secs());
    // A summary has up to a hundred names, and endpoints other than AWS's may leave them out.
    if let (Some(names), Some(not_before), Some(not_after)) =
        (summary.subject_alternative_name_summaries, summary.not_before, summary.not_after)
        && summary.has_additional_subject_alternative_names != Some(true)
    {
        let names = summary.domain_name.into_iter().chain(names).collect();
        let certificate = Certificate { arn, names: in_lower_case(names), not_before: not_before.secs() };
        return Ok(Some((certificate, Some(not_after.secs()))));
    }
    let answer = session.acm.describe_certificate().certificate_arn(&arn).send().await;
    let detail = match answer.map_err(|error| error.failure("DescribeCertificate")) {
        Ok(answer) => answer.certificate,
        Err(failure) if failure.code.as_deref() == Some("ResourceNotFoundException") => None,
        Err(failure) => return Err(failure),
    };
    Ok(detail.map(|detail| {
        let others = detail.subject_alternative_names.unwrap_or_default();
        let names = detail.domain_name.into_iter().chain(others).collect();
        let not_before = seconds(detail.not_before.or(detail.issued_at)).unwrap_or_default();
        (Certificate { arn, names: in_lower_case(names), not_before }, seconds(detail.not_after))
    }))
}

fn in_lower_case(names: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    names
}
