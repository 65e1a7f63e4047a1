//! Facts about the account and Region that a blueprint requires.

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{AvailabilityZone as Zone, AvailabilityZoneOptInStatus, Filter};

use super::{acm, endpoint_services, kms, outside};
use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::cloud::Failure;
use crate::model::{AvailabilityZone, Facts, Lookup};

/// Runs the lookups concurrently. Facts without a lookup are `None`.
pub(crate) async fn facts(session: &Session, lookups: &[Lookup]) -> Result<Facts, Failure> {
    let zones = async {
        match lookups.contains(&Lookup::AvailabilityZones) {
            true => availability_zones(session).await.map(Some),
            false => Ok(None),
        }
    };
    let services = async {
        match lookups.contains(&Lookup::GatewayEndpointServices) {
            true => gateway_endpoint_services(session).await.map(Some),
            false => Ok(None),
        }
    };
    let wanted: Vec<&str> = lookups
        .iter()
        .filter_map(|it| if let Lookup::EndpointService(it) = it { Some(it.as_str()) } else { None })
        .collect();
    let endpoint_services = Box::pin(endpoint_services::matching(session, &wanted));
    let certificates = async {
        let domain =
            lookups.iter().find_map(|it| if let Lookup::Certificates(domain) = it { Some(domain) } else { None });
        match domain {
            Some(domain) => acm::certificates(session, domain).await.map(Some),
            None => Ok(None),
        }
    };
    let kms_key = async {
        let id = lookups.iter().find_map(|it| if let Lookup::KmsKey(id) = it { Some(id) } else { None });
        match id {
            Some(id) => kms::key_arn(session, id).await.map(Some),
            None => Ok(None),
        }
    };
    let outside = lookups.iter().filter_map(|it| if let Lookup::Outside(it) = it { Some(it.clone()) } else { None });
    let outside = Box::pin(outside::outside(session, outside.collect()));
    let (zones, services, endpoint_services, certificates, kms_key, outside) =
        tokio::join!(zones, services, endpoint_services, certificates, kms_key, outside);
    let (endpoint_services, all_services) = endpoint_services?;
    Ok(Facts {
        availability_zones: zones?,
        gateway_endpoint_services: services?,
        endpoint_services,
        all_services,
        certificates: certificates?,
        kms_key: kms_key?,
        outside: outside?,
    })
}

async fn availability_zones(session: &Session) -> Result<Vec<AvailabilityZone>, Failure> {
    let ec2 = session.ec2.clone();
    let list = async move || {
        let filter = Filter::builder().name("zone-type").values("availability-zone").build();
        let answer = ec2.describe_availability_zones().filters(filter).send().await;
        Ok(answer.or_failure("DescribeAvailabilityZones")?.availability_zones.unwrap_or_default())
    };
    let found = session.shared.availability_zones.all(&session.shared.networks, list).await?;
    let mut zones: Vec<AvailabilityZone> = found.iter().filter(|zone| is_usable(zone)).filter_map(from_aws).collect();
    zones.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(zones)
}

/// Whether the zone is an AZ and its opt-in status permits its use. The filter selects the type too, but some endpoints
/// ignore the filter or omit these fields. A zone without them is an AZ.
fn is_usable(zone: &Zone) -> bool {
    let is_az = zone.zone_type().is_none_or(|kind| kind == "availability-zone");
    is_az && zone.opt_in_status() != Some(&AvailabilityZoneOptInStatus::NotOptedIn)
}

fn from_aws(zone: &Zone) -> Option<AvailabilityZone> {
    Some(AvailabilityZone {
        name: zone.zone_name()?.to_string(),
        id: zone.zone_id()?.to_string(),
        state: zone.state().map_or("available", |state| state.as_str()).to_string(),
    })
}

async fn gateway_endpoint_services(session: &Session) -> Result<Vec<String>, Failure> {
    let ec2 = session.ec2.clone();
    session.shared.gateway_services.all(&session.shared.networks, || list_gateway_services(ec2)).await
}

async fn list_gateway_services(ec2: Client) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    let mut next = None;
    loop {
        let answer = ec2
            .describe_vpc_endpoint_services()
            .filters(Filter::builder().name("service-type").values("Gateway").build())
            .set_next_token(next)
            .send()
            .await
            .or_failure("DescribeVpcEndpointServices")?;
        names.extend_from_slice(answer.service_names());
        next = answer.next_token().filter(|token| !token.is_empty()).map(str::to_string);
        if next.is_none() {
            break;
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}
