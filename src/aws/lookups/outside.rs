//! Looks up objects outside a topology that its inputs name. The objects of EC2 take one call for each kind, all others
//! one or two calls each.

mod ec2;

use std::collections::{BTreeMap, HashMap};

use aws_sdk_apigatewayv2::types::ApiMapping;
use futures::future::join_all;

use super::{acm, kms};
use crate::aws::Session;
use crate::aws::apigateway::{api_mapping, domain_name, vpc_link};
use crate::aws::calls::ownership;
use crate::aws::lambda::function;
use crate::aws::logs::group;
use crate::aws::logs::group::FoundGroup;
use crate::aws::route53::record;
use crate::cloud::{Cause, Failure};
use crate::model::{Existing, Finding, Found, Input, Key, Outside, OwningRoot, TopologyKind};

/// Returns what exists. An object that the credentials may not read is left out.
pub(super) async fn outside(session: &Session, wanted: Vec<Outside>) -> Result<BTreeMap<Outside, Finding>, Failure> {
    let (in_ec2, others): (Vec<Outside>, Vec<Outside>) = wanted.into_iter().partition(ec2::has);
    let one = async |outside: Outside| {
        let found = if_permitted(other(session, &outside).await)?.flatten();
        Ok(found.map(|finding| (outside, finding)))
    };
    let (in_ec2, others) = tokio::join!(ec2::objects(session, in_ec2), join_all(others.into_iter().map(one)));
    let others = others.into_iter().collect::<Result<Vec<_>, Failure>>()?;
    Ok(in_ec2?.into_iter().chain(others.into_iter().flatten()).collect())
}

/// `None` without the permission for a lookup, which no apply requires.
fn if_permitted<T>(found: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match found {
        Err(failure) if failure.cause == Cause::Denied => {
            tracing::debug!("A lookup is skipped without its permission: {failure}");
            Ok(None)
        }
        found => found.map(Some),
    }
}

async fn other(session: &Session, outside: &Outside) -> Result<Option<Finding>, Failure> {
    let exists = |exists: bool| if exists { unowned(String::new()) } else { Finding::Missing(None) };
    Ok(Some(match outside {
        Outside::Function(arn) => exists(function::exists(session, arn).await?),
        Outside::Certificate(arn) => exists(acm::exists(session, arn).await?),
        Outside::KmsKey(arn) => exists(kms::key_arn(session, arn).await? != Found::Missing),
        Outside::VpcLink(id) => found(vpc_link::status_of(session, id).await?.map(unowned)),
        Outside::HostedZone { id, .. } => found(record::zone_name(session, id).await?.map(unowned)),
        Outside::LogGroup { name, slot } => match group::find(session, name).await? {
            Some(it) => usable(session, &it, slot).await?.unwrap_or(Finding::Missing(None)),
            None => Finding::Missing(None),
        },
        Outside::Domain(name) => match domain_name::occupied(session, name).await? {
            Some(it) => Finding::Exists { owner: owning_root(session, &it.tags).await?, detail: it.target },
            None => Finding::Missing(None),
        },
        Outside::Mapping { domain, path, .. } => {
            let existing =
                api_mapping::list(session, domain).await?.into_iter().find(|it| api_mapping::path(it) == path);
            let described =
                |it: ApiMapping| format!("{} {}", it.api_mapping_id().unwrap_or_default(), api_mapping::target(&it));
            found(existing.map(described).map(unowned))
        }
        Outside::Record { zone_id, name, record_type } => {
            found(record::occupied(session, zone_id, name, record_type).await?.map(unowned))
        }
        Outside::Address(_)
        | Outside::VpnGateway(_)
        | Outside::PrefixList(_)
        | Outside::SecurityGroup(_)
        | Outside::Subnet(_)
        | Outside::IpamPool(_) => return Ok(None),
    }))
}

/// A log group that a create may use, with the root that its tag names.
async fn usable(session: &Session, found: &FoundGroup, slot: &str) -> Result<Option<Finding>, Failure> {
    let name = Input::Known(found.shown.log_group_name.clone().unwrap_or_default());
    let Some(observed) = group::read(found, Key::new("root"), Key::fixed(slot, name)) else { return Ok(None) };
    let owner = owning_root(session, &found.tags).await?;
    let content = group::content(&found.shown);
    Ok(Some(Finding::Usable(Box::new(Existing { spec: observed.spec, learned: observed.learned, owner, content }))))
}

/// The root that ownership tags name.
async fn owning_root(session: &Session, tags: &HashMap<String, String>) -> Result<Option<OwningRoot>, Failure> {
    let Some((kind, id)) = ownership::owning_root(tags) else { return Ok(None) };
    Ok(Some(OwningRoot { is_living: is_living(session, kind, &id).await?, id }))
}

/// Whether a root exists. One that the credentials may not read counts as existing.
async fn is_living(session: &Session, kind: Option<TopologyKind>, id: &str) -> Result<bool, Failure> {
    let exists = match kind.filter(|kind| kind.accepts_id(id)) {
        Some(TopologyKind::FourTierVpc) => crate::aws::ec2::exists(session, id).await,
        Some(TopologyKind::HttpGateway) => crate::aws::apigateway::api::exists(session, id).await,
        // A later version may have other kinds of roots.
        None => return Ok(true),
    };
    Ok(if_permitted(exists)?.unwrap_or(true))
}

fn found(finding: Option<Finding>) -> Finding {
    finding.unwrap_or(Finding::Missing(None))
}

fn unowned(detail: String) -> Finding {
    Finding::Exists { owner: None, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};
    use crate::model::FunctionArn;

    const ARN: &str = "arn:aws:lambda:eu-west-1:123456789012:function:orders";

    async fn finding_of(aws: &Recorded, wanted: &Outside) -> Option<Finding> {
        outside(&aws.session("r"), vec![wanted.clone()]).await.unwrap().remove(wanted)
    }

    fn exists(detail: &str) -> Option<Finding> {
        Some(unowned(detail.to_string()))
    }

    const MISSING: Option<Finding> = Some(Finding::Missing(None));

    fn function(qualifier: Option<&str>) -> Outside {
        let arn = FunctionArn::parse(ARN).unwrap();
        Outside::Function(FunctionArn { qualifier: qualifier.map(str::to_string), ..arn })
    }

    /// Recorded texts: AddPermission, errors-2025. Documented code: GetFunctionConfiguration.
    #[tokio::test(start_paused = true)]
    async fn a_function_is_looked_up_with_its_alias_or_version() {
        let path = format!("GET /2015-03-31/functions/{}/configuration", ARN.replace(':', "%3A"));
        let qualified = format!("{path}?Qualifier=live");
        let text = "Function not found: arn:aws:lambda:eu-west-1:123456789012:function:orders:live";
        let aws = Recorded::default()
            .on(&path, Answer::Json(200, json!({ "FunctionName": "orders", "FunctionArn": ARN, "State": "Active" })))
            .on(&qualified, Answer::Error(404, "ResourceNotFoundException", text));
        assert_eq!(finding_of(&aws, &function(None)).await, exists(""));
        assert_eq!(finding_of(&aws, &function(Some("live"))).await, MISSING);
        assert_eq!(aws.calls(), [path.clone(), qualified]);

        let denied = "User: u is not authorized to perform: lambda:GetFunctionConfiguration on resource: r";
        let aws = Recorded::default().on(&path, Answer::Error(403, "AccessDeniedException", denied));
        assert_eq!(finding_of(&aws, &function(None)).await, None);
    }

    /// Recorded shapes: DescribeCertificate, DescribeKey.
    #[tokio::test(start_paused = true)]
    async fn certificates_and_keys_are_looked_up_by_arn() {
        let certificate = "arn:aws:acm:r:123456789012:certificate/1";
        let key = "arn:aws:kms:r:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";
        let wanted = (Outside::Certificate(certificate.into()), Outside::KmsKey(key.into()));
        let aws = Recorded::default()
            .on("DescribeCertificate", Answer::Json(200, json!({ "Certificate": { "CertificateArn": certificate } })))
            .on("DescribeKey", Answer::Json(200, json!({ "KeyMetadata": { "KeyId": "1", "Arn": key } })));
        assert_eq!(finding_of(&aws, &wanted.0).await, exists(""));
        assert_eq!(finding_of(&aws, &wanted.1).await, exists(""));
        assert_eq!(aws.body("DescribeKey"), json!({ "KeyId": key }));
        let aws = Recorded::default()
            .on("DescribeCertificate", Answer::Error(400, "ResourceNotFoundException", "Could not find certificate"))
            .on("DescribeKey", Answer::Error(400, "NotFoundException", "Key 'x' does not exist"));
        assert_eq!(finding_of(&aws, &wanted.0).await, MISSING);
        assert_eq!(finding_of(&aws, &wanted.1).await, MISSING);
    }

    #[tokio::test(start_paused = true)]
    async fn a_vpc_link_is_found_with_its_status() {
        let (wanted, call) = (Outside::VpcLink("link1".into()), "GET /v2/vpclinks/link1");
        let shown = |status: &str| Answer::Json(200, json!({ "vpcLinkId": "link1", "vpcLinkStatus": status }));
        for status in ["AVAILABLE", "INACTIVE", "FAILED", "PENDING"] {
            assert_eq!(finding_of(&Recorded::default().on(call, shown(status)), &wanted).await, exists(status));
        }
        let absent = Answer::Error(404, "NotFoundException", "Unable to find VpcLink by ID link1");
        for answer in [shown("DELETING"), absent] {
            assert_eq!(finding_of(&Recorded::default().on(call, answer), &wanted).await, MISSING);
        }
        let denied =
            Answer::Error(403, "AccessDeniedException", "User: u is not authorized to perform: apigateway:GET");
        assert_eq!(finding_of(&Recorded::default().on(call, denied), &wanted).await, None);
    }

    /// Recorded shapes: DescribeLogGroups, ListTagsForResource, GetApi.
    #[tokio::test(start_paused = true)]
    async fn a_log_group_is_found_with_the_root_that_owns_it() {
        let wanted = Outside::LogGroup { name: "/shop".into(), slot: "log_group".into() };
        let group = |name: &str| {
            let arn = format!("arn:aws:logs:r:123456789012:log-group:{name}");
            json!({ "logGroups": [{
                "logGroupName": name, "arn": format!("{arn}:*"), "logGroupArn": arn, "creationTime": 1_772_323_200_000_i64,
                "storedBytes": 1024, "retentionInDays": 30,
            }] })
        };
        let denied = "User: u is not authorized to perform: apigateway:GET on resource: r";
        let answers = [
            (Answer::Json(200, json!({ "apiId": "api1", "protocolType": "HTTP" })), true),
            (Answer::Error(404, "NotFoundException", "Invalid API identifier specified"), false),
            // Unreadable counts as living.
            (Answer::Error(403, "AccessDeniedException", denied), true),
        ];
        let owned = answers.into_iter().map(|(answer, is_living)| {
            let owner = OwningRoot { id: "api1".to_string(), is_living };
            (json!({ "fgw:resource": "http_gateway/api1" }), Some(answer), Some(owner))
        });
        let unknown = OwningRoot { id: "x/1".to_string(), is_living: true };
        let others = [(json!({}), None, None), (json!({ "fgw:resource": "later_kind/x/1" }), None, Some(unknown))];
        for (tags, of_owner, owner) in owned.chain(others) {
            let mut aws = Recorded::default()
                .on("DescribeLogGroups", Answer::Json(200, group("/shop")))
                .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })));
            if let Some(answer) = of_owner {
                aws = aws.on("GET /v2/apis/api1", answer);
            }
            let Some(Finding::Usable(found)) = finding_of(&aws, &wanted).await else { panic!("{tags}") };
            assert_eq!((found.owner, found.content.as_str()), (owner, "created on 2026-03-01, 1024 bytes stored"));
            let crate::model::Spec::LogGroup(spec) = found.spec else { panic!("{tags}") };
            assert_eq!(spec.retention_in_days, Input::Known(Some(30)));
        }
        let aws = Recorded::default().on("DescribeLogGroups", Answer::Json(200, group("/shop-2")));
        assert_eq!(finding_of(&aws, &wanted).await, MISSING);
    }

    #[tokio::test(start_paused = true)]
    async fn a_domain_is_found_with_its_target() {
        let wanted = Outside::Domain("api.example.com".into());
        let call = "GET /v2/domainnames/api.example.com";
        let found = json!({ "domainName": "api.example.com", "domainNameConfigurations": [{
            "apiGatewayDomainName": "d-1.execute-api", "endpointType": "REGIONAL", "hostedZoneId": "ZAWS" }] });
        let aws = Recorded::default().on(call, Answer::Json(200, found));
        assert_eq!(finding_of(&aws, &wanted).await, exists("d-1.execute-api"));
        let aws = Recorded::default().on(call, Answer::Error(404, "NotFoundException", "Invalid domain name"));
        assert_eq!(finding_of(&aws, &wanted).await, MISSING);
    }

    #[tokio::test(start_paused = true)]
    async fn a_mapping_is_found_by_its_path_with_its_target() {
        let wanted = Outside::Mapping { domain: "api.example.com".into(), path: String::new(), stage: "prod".into() };
        let mapping =
            |id: &str, key: &str| json!({ "apiMappingId": id, "apiId": "api2", "stage": "live", "apiMappingKey": key });
        let found = async |mappings: serde_json::Value| {
            let shown = Answer::Json(200, json!({ "items": mappings }));
            let aws = Recorded::default().on("GET /v2/domainnames/api.example.com/apimappings", shown);
            finding_of(&aws, &wanted).await
        };
        assert_eq!(found(json!([mapping("m1", "v1"), mapping("m2", "")])).await, exists("m2 api2/live"));
        assert_eq!(found(json!([mapping("m1", "v1")])).await, MISSING);
    }

    fn records(sets: &str) -> Answer {
        Answer::Xml(
            200,
            format!(
                "<ListResourceRecordSetsResponse><ResourceRecordSets>{sets}</ResourceRecordSets>\
                 <IsTruncated>false</IsTruncated><MaxItems>10</MaxItems></ListResourceRecordSetsResponse>"
            ),
        )
    }

    fn plain(name: &str, kind: &str, value: &str) -> String {
        format!(
            "<ResourceRecordSet><Name>{name}.</Name><Type>{kind}</Type><TTL>60</TTL><ResourceRecords><ResourceRecord>\
             <Value>{value}</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>"
        )
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_and_cname_records_of_the_name_exclude_the_record() {
        let wanted = Outside::Record { zone_id: "Z1".into(), name: "api.example.com".into(), record_type: "A".into() };
        let call = "GET /2013-04-01/hostedzone/Z1/rrset?name=api.example.com&maxitems=10";
        let found = async |sets: String| finding_of(&Recorded::default().on(call, records(&sets)), &wanted).await;
        assert_eq!(found(plain("api.example.com", "A", "192.0.2.1")).await, exists("A 192.0.2.1"));
        assert_eq!(found(plain("api.example.com", "CNAME", "x.example.net")).await, exists("CNAME x.example.net"));
        let others = plain("api.example.com", "AAAA", "2001:db8::1") + &plain("b.example.com", "A", "192.0.2.1");
        assert_eq!(found(others).await, MISSING);
        let no_zone = "<ErrorResponse><Error><Type>Sender</Type><Code>NoSuchHostedZone</Code><Message>No hosted zone found \
                       with ID: Z1</Message></Error></ErrorResponse>";
        let aws = Recorded::default().on(call, Answer::Xml(404, no_zone.into()));
        assert_eq!(finding_of(&aws, &wanted).await, MISSING);

        let zone = Outside::HostedZone { id: "Z1".into(), name: "api.example.com".into() };
        let call = "GET /2013-04-01/hostedzone/Z1";
        let shown = "<GetHostedZoneResponse><HostedZone><Id>/hostedzone/Z1</Id><Name>Example.com.</Name><CallerReference>c\
                     </CallerReference></HostedZone></GetHostedZoneResponse>";
        assert_eq!(
            finding_of(&Recorded::default().on(call, Answer::Xml(200, shown.into())), &zone).await,
            exists("example.com")
        );
        assert_eq!(finding_of(&Recorded::default().on(call, Answer::Xml(404, no_zone.into())), &zone).await, MISSING);
    }
}
