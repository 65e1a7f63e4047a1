//! What AWS returns for an object: its name, its spec and further values.

use std::collections::BTreeMap;

use crate::cloud::{Cause, Failure};
use crate::model::{
    AvailabilityZone, Caller, DomainName, ENDPOINT_ADDRESSES, EndpointAddresses, EndpointOffer, Entry, FlowLog, Found,
    Input, InterfaceEndpoint, Key, Learned, Lookup, MutualTls, Object, Origin, Ref, Spec,
};

/// Returns a spec as a read with this known entry does. For a known route table, a read returns only the applied
/// propagating gateways. The subnets that a known network ACL has taken are never read, nor whether a log group stays
/// when it is deleted.
pub(super) fn as_known(spec: &Spec, known: Option<&Entry>) -> Spec {
    let mut spec = spec.clone();
    if let Spec::LogGroup(group) = &mut spec {
        group.skip_destroy = true.into();
    }
    if let (Spec::Api(_) | Spec::Authorizer(_), Some(known)) = (&spec, known) {
        // A different order is not a difference.
        let shown = Entry { origin: Origin::Found, ..Entry::new(known.key.clone(), known.id.clone(), spec) };
        return shown.normalized_against(&known.applied);
    }
    if let (Spec::Stage(stage), Some(Entry { applied: Spec::Stage(applied), .. })) = (&mut spec, known) {
        stage.keep_managed_of(applied);
    }
    if let (Spec::DomainName(domain), Some(Entry { applied: Spec::DomainName(applied), .. })) = (&mut spec, known) {
        domain.keep_managed_of(applied);
    }
    if let (Spec::DefaultNetworkAcl(acl), Some(Entry { applied: Spec::DefaultNetworkAcl(applied), .. })) =
        (&mut spec, known)
    {
        acl.taken.clone_from(&applied.taken);
    }
    if let (Spec::InterfaceEndpoint(it), Some(Entry { applied: Spec::InterfaceEndpoint(applied), .. })) =
        (&mut spec, known)
        && applied.settings.ip_address_type == Input::Known(None)
    {
        it.settings.ip_address_type = Input::Known(None);
    }
    if let (Spec::DefaultSecurityGroup(it), Some(Entry { applied: Spec::DefaultSecurityGroup(applied), .. })) =
        (&mut spec, known)
    {
        for (shown, applied) in [(&mut it.ingress, &applied.ingress), (&mut it.egress, &applied.egress)] {
            if *applied == Input::Known(None) {
                *shown = Input::Known(None);
            }
        }
    }
    if let (Spec::RouteTable(table), Some(Entry { applied: Spec::RouteTable(applied), .. })) = (&mut spec, known)
        && let (Input::Known(gateways), Input::Known(ours)) =
            (&mut table.propagating_gateways, &applied.propagating_gateways)
    {
        gateways.retain(|gateway| ours.contains(gateway));
    }
    spec
}

/// What AWS stores when a call sets this spec. It keeps what the spec does not manage: a new domain has no mutual TLS.
pub(super) fn as_stored(spec: &Spec, before: Option<&Spec>) -> Spec {
    let mut spec = spec.clone();
    if let Spec::DomainName(domain) = &mut spec
        && domain.mutual_tls == Input::Known(None)
    {
        let before = before.and_then(DomainName::of).map(|before| before.mutual_tls.clone());
        domain.mutual_tls = before.unwrap_or(Input::Known(Some(MutualTls::off())));
    }
    spec
}

/// The name of an object whose id is its name. Objects of different kinds may have the same name.
pub(super) fn named(spec: &Spec) -> Option<String> {
    match spec {
        Spec::LogGroup(group) => group.name.known().cloned(),
        Spec::DomainName(domain) => domain.domain_name.known().cloned(),
        Spec::Stage(stage) => Some(stage.name.clone()),
        // The statement IDs of this provider follow from the API, the function and the caller.
        Spec::LambdaPermission(it) => {
            Some(format!("statement {:?} {:?} {:?}", it.function_arn, it.qualifier, it.caller))
        }
        _ => None,
    }
}

/// Whether a read that knows only the root finds an object: a log group through the stage or the flow log that logs to
/// it, a permission through the caller of its function, and an IPv6 range through a subnet with a block of it, or if no
/// subnet has one.
pub(super) fn is_found(object: &Object, objects: &[Object]) -> bool {
    let logs_to = |group: &Key| {
        let of = |it: &Object| match &it.spec {
            Spec::Stage(stage) => stage.access_log.as_ref().map(|log| log.log_group.clone()),
            _ => None,
        };
        objects.iter().filter_map(of).any(|it| it == Ref::Key(group.clone()))
    };
    match &object.spec {
        Spec::VpcIpv6Block(_) => {
            let of = |it: &Object| match &it.spec {
                Spec::Subnet(subnet) => subnet.ipv6_block.clone(),
                _ => None,
            };
            let mut used = objects.iter().filter_map(of).peekable();
            used.peek().is_none() || used.any(|range| range == object.key)
        }
        Spec::LogGroup(_) => {
            let is_of_flow_log = |it: &Object| FlowLog::of(&it.spec)?.log_group.as_ref().map(|key| *key == object.key);
            logs_to(&object.key) || objects.iter().filter_map(is_of_flow_log).any(|is_it| is_it)
        }
        Spec::LogSubscription(filter) => logs_to(&filter.log_group),
        Spec::LambdaPermission(permission) => objects.iter().any(|it| match (&permission.caller, &it.spec) {
            (Caller::Routes, Spec::Integration(integration)) => integration.permission.as_ref() == Some(&object.key),
            (Caller::Authorizer(authorizer), Spec::Authorizer(_)) => it.key == *authorizer,
            (Caller::LogGroup(group), Spec::LogSubscription(filter)) => {
                logs_to(group) && filter.permission.as_ref() == Some(&object.key)
            }
            _ => false,
        }),
        _ => true,
    }
}

/// Whether a create uses an existing object with its key instead: `false` if that is an error, `None` if AWS creates a
/// second one. Tags do not suffice: a create adopts no log group, domain or stage. `is_of_root` tells whether the
/// existing object was created for the same root.
pub(super) fn may_be_adopted(new: &Object, existing: &Object, is_of_root: bool) -> Option<bool> {
    match &new.spec {
        Spec::LogGroup(_) | Spec::DomainName(_) | Spec::Stage(_) => Some(false),
        Spec::Authorizer(_)
        | Spec::JwtAuthorizer(_)
        | Spec::Integration(_)
        | Spec::ApiRoute(_)
        | Spec::ApiMapping(_) => Some(new.spec == existing.spec),
        // Its name tells whose it is.
        Spec::LogSubscription(_) => Some(new.spec == existing.spec || is_of_root),
        spec => (outlives_root(spec) && is_of_root).then_some(true),
    }
}

pub(super) fn outlives_root(spec: &Spec) -> bool {
    matches!(
        spec,
        Spec::Eip(_)
            | Spec::LogGroup(_)
            | Spec::LogSubscription(_)
            | Spec::LambdaPermission(_)
            | Spec::VpcLink(_)
            | Spec::DomainName(_)
            | Spec::DnsRecord(_)
    )
}

pub(super) fn learned(spec: &Spec, id: &str, ids: &BTreeMap<Key, String>) -> Learned {
    if let Spec::InterfaceEndpoint(endpoint) = spec {
        return addresses(endpoint, id, ids);
    }
    let pairs: &[(&str, &str)] = match spec {
        Spec::Vpc(_) => &[
            ("owner_id", "123456789012"),
            ("cidr_block", "10.0.0.0/16"),
            ("default_route_table_id", "rtb-main"),
            ("default_network_acl_id", "acl-default"),
            ("default_security_group_id", "sg-default"),
        ],
        Spec::VpcIpv6Block(_) => &[("ipv6_cidr_block", "2001:db8:1234::/56")],
        Spec::Api(_) => &[("api_endpoint", "https://api.example.com"), ("resource", "http_gateway/front")],
        Spec::DomainName(_) => &[("target_domain_name", "d-1.example.com"), ("target_hosted_zone_id", "Z1")],
        _ => &[],
    };
    let mut learned: Learned = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    // The address belongs to the allocation. A NAT gateway returns the address of its allocation.
    let address = match spec {
        Spec::Eip(_) => Some(id.to_string()),
        Spec::NatGateway(nat) => nat.allocation.as_ref().and_then(|it| it.known()).map(|it| match it {
            Ref::Key(key) => key.slot.clone(),
            Ref::Id(id) => id.clone(),
        }),
        _ => None,
    };
    learned.extend(address.map(|address| ("public_ip".to_string(), address)));
    if let Spec::DomainName(DomainName { mutual_tls: Input::Known(Some(found)), .. }) = spec
        && found.is_on()
    {
        learned.unexpressed.insert(DomainName::MUTUAL_TLS.to_string(), found.to_string());
    }
    learned
}

/// Every service in every AZ, with gateway endpoints for S3 only.
pub(super) fn endpoint_services(
    lookups: &[Lookup],
    zones: &[AvailabilityZone],
) -> BTreeMap<String, Found<EndpointOffer>> {
    let offer = |lookup: &Lookup| {
        let Lookup::EndpointService(wanted) = lookup else { return None };
        let full_name =
            if wanted.starts_with("com.") { wanted.clone() } else { format!("com.amazonaws.us-east-1.{wanted}") };
        let offer = EndpointOffer {
            name: full_name,
            availability_zones: zones.iter().map(|zone| zone.name.clone()).collect(),
            address_types: vec!["ipv4".into(), "ipv6".into()],
            has_private_dns: true,
            accepts_policy: true,
            has_gateway: wanted == "s3",
        };
        Some((wanted.clone(), Found::There(offer)))
    };
    lookups.iter().filter_map(offer).collect()
}

/// An interface and a name for each subnet.
fn addresses(endpoint: &InterfaceEndpoint, id: &str, ids: &BTreeMap<Key, String>) -> Learned {
    let id_of = |subnet: &Ref| match subnet {
        Ref::Key(key) => ids[key].clone(),
        Ref::Id(id) => id.clone(),
    };
    let mut subnets: Vec<String> = endpoint.subnets.iter().map(id_of).collect();
    subnets.sort();
    let addresses = EndpointAddresses {
        has_private_dns: endpoint.private_dns_enabled == Input::Known(true),
        network_interfaces: subnets.iter().map(|subnet| format!("interface of {id} in {subnet}")).collect(),
        dns_entries: Vec::new(),
        subnets,
    };
    let kind = endpoint.settings.ip_address_type.known().cloned().flatten().unwrap_or_else(|| "ipv4".to_string());
    Learned { endpoint: Some(addresses), ..Learned::from([(ENDPOINT_ADDRESSES.to_string(), kind)]) }
}

/// The failure of a call that a test lets fail.
pub(super) fn simulated_failure() -> Failure {
    Failure {
        cause: Cause::Other,
        action: "Simulate".into(),
        code: Some("SimulatedFailure".into()),
        message: "simulated failure".into(),
        missing: None,
        request_id: Some("request-1".into()),
        retry_after: None,
        advice: None,
        case: None,
        undeployed_since: None,
    }
}
