//! The services for which AWS offers interface endpoints.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{Filter, ServiceDetail, ServiceType};

use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::cloud::Failure;
use crate::model::{EndpointOffer, Found, service_label};

/// Looks up services by their full names or labels. AWS rejects a call that names a missing service, and full names
/// differ between partitions and services, so all services are listed: about 250, on one page. Returns the names of all
/// if one is missing.
pub(super) async fn matching(
    session: &Session,
    wanted: &[&str],
) -> Result<(BTreeMap<String, Found<EndpointOffer>>, Vec<String>), Failure> {
    if wanted.is_empty() {
        return Ok((BTreeMap::new(), Vec::new()));
    }
    let offered = offered(session).await?;
    let answer = |text: &&str| {
        let is_wanted =
            |it: &&EndpointOffer| it.name == **text || service_label(&it.name, &session.scope.region) == Some(*text);
        // Two providers of names, such as `com.amazonaws` and `aws.api`, may have the same label. The list is sorted.
        let found = offered.iter().rev().find(is_wanted);
        (text.to_string(), found.cloned().map_or(Found::Missing, Found::There))
    };
    let answers: BTreeMap<String, Found<EndpointOffer>> = wanted.iter().map(answer).collect();
    let names = match answers.values().any(|it| *it == Found::Missing) {
        true => offered.iter().map(|it| it.name.clone()).collect(),
        false => Vec::new(),
    };
    Ok((answers, names))
}

/// The interface endpoint services, sorted by name.
async fn offered(session: &Session) -> Result<Vec<EndpointOffer>, Failure> {
    let (mut details, mut next): (Vec<ServiceDetail>, _) = (Vec::new(), None);
    loop {
        let answer = session
            .ec2
            .describe_vpc_endpoint_services()
            .filters(Filter::builder().name("service-type").values("Interface").values("Gateway").build())
            .set_next_token(next)
            .send()
            .await
            .or_failure("DescribeVpcEndpointServices")?;
        details.extend_from_slice(answer.service_details());
        next = answer.next_token().filter(|token| !token.is_empty()).map(str::to_string);
        if next.is_none() {
            break;
        }
    }
    let is_of = |detail: &ServiceDetail, kind: &ServiceType| {
        detail.service_type().iter().any(|it| it.service_type() == Some(kind))
    };
    let has_gateway =
        |name: &str| details.iter().any(|it| it.service_name() == Some(name) && is_of(it, &ServiceType::Gateway));
    let offer = |detail: &ServiceDetail| {
        let name = detail.service_name()?.to_string();
        Some(EndpointOffer {
            availability_zones: detail.availability_zones().to_vec(),
            address_types: detail.supported_ip_address_types().iter().map(|it| it.as_str().to_string()).collect(),
            has_private_dns: detail.private_dns_name().is_some() || !detail.private_dns_names().is_empty(),
            accepts_policy: detail.vpc_endpoint_policy_supported() == Some(true),
            has_gateway: has_gateway(&name),
            name,
        })
    };
    let interface = details.iter().filter(|it| is_of(it, &ServiceType::Interface));
    let mut offered: Vec<EndpointOffer> = interface.filter_map(offer).collect();
    offered.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(offered)
}
