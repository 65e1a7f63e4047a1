//! The objects outside the gateway that its inputs name, and the names that must be free.

use super::blueprint::{authorizer_uri, given_links};
use super::config::GatewayConfig;
use super::vpc_links::ENTRIES;
use crate::model::keys::gateway::LOG_GROUP;
use crate::model::{Api, Arn, Destination, DnsRecord, FunctionArn, KmsKey, Needs, Outside, Reference, Scope};
use crate::plugin::{AttributePath, Input};

/// The references of all inputs that have an effect and are known.
pub(super) fn references(config: &GatewayConfig, scope: &Scope) -> Vec<Reference> {
    let mut all = functions(config, scope);
    all.extend(given_links(config).map(|(id, path)| Reference::new(Outside::VpcLink(id.clone()), path)));
    all.extend(subnets(config));
    all.extend(of_logs(config, scope));
    all.extend(of_domain(config, scope));
    all
}

/// Functions of other accounts cannot be read. Without an account ID, every function counts as one of this account.
fn functions(config: &GatewayConfig, scope: &Scope) -> Vec<Reference> {
    let mut all: Vec<(FunctionArn, AttributePath)> = Vec::new();
    for (key, route) in config.route_config.known().into_iter().flatten() {
        let arn = route.known().and_then(|route| route.integration.function());
        let path = AttributePath::new("route_config").key(key).attribute("faas_function_arn");
        all.extend(arn.map(|arn| (arn, path)));
    }
    for (name, entry) in config.faas_authorizers.known().into_iter().flatten() {
        let Input::Known(entry) = entry else { continue };
        let Ok(Input::Known(uri)) = authorizer_uri(name, entry, scope) else { continue };
        let attribute = if entry.authorizer_uri == Input::Known(None) { "authorizer_name" } else { "authorizer_uri" };
        let path = AttributePath::new("faas_authorizers").key(name).attribute(attribute);
        all.extend(FunctionArn::parse_invoke_uri(&uri).map(|arn| (arn, path)));
    }
    let destination = &config.access_log_logservice_group_subscription_destination_arn;
    if let (true, Input::Known(Some(arn))) = (has_logs(config), destination)
        && let Ok(Destination::Function(arn)) = Destination::parse(arn)
    {
        all.push((arn, AttributePath::new("access_log_logservice_group_subscription_destination_arn")));
    }
    let is_ours = |arn: &FunctionArn| scope.account.as_ref().is_none_or(|account| *account == arn.account);
    let ours = all.into_iter().filter(|(arn, _)| is_ours(arn) && arn.partition == scope.partition);
    ours.map(|(arn, path)| Reference::new(Outside::Function(arn), path)).collect()
}

/// The subnets of the VPC links.
fn subnets(config: &GatewayConfig) -> impl Iterator<Item = Reference> {
    config.vpc_links.known().into_iter().flatten().flat_map(|(name, entry)| {
        let ids = entry.known().and_then(|entry| entry.subnet_ids.known()).into_iter().flatten();
        let path = ENTRIES.path(name).attribute("subnet_ids");
        ids.filter_map(Input::known).map(move |id| Reference::new(Outside::Subnet(id.clone()), path.clone()))
    })
}

fn has_logs(config: &GatewayConfig) -> bool {
    config.access_log_logservice_group_name != Input::Known(None)
}

fn of_logs(config: &GatewayConfig, scope: &Scope) -> Vec<Reference> {
    let mut all = Vec::new();
    if let Input::Known(Some(name)) = &config.access_log_logservice_group_name {
        let path = AttributePath::new("access_log_logservice_group_name");
        all.push(Reference::new(Outside::LogGroup { name: name.clone(), slot: LOG_GROUP.to_string() }, path));
    }
    // A key ID or an alias is looked up for its ARN.
    if let (true, Input::Known(Some(key))) = (has_logs(config), &config.access_log_logservice_group_kms_key_id)
        && let Ok(KmsKey::Arn(arn)) = KmsKey::parse(key)
        && is_in(&arn, scope, Needs::REGION)
    {
        all.push(Reference::new(Outside::KmsKey(arn), AttributePath::new("access_log_logservice_group_kms_key_id")));
    }
    all
}

/// Whether AWS accepts an object where it is. Otherwise, the plan refuses it, and it is not looked up.
fn is_in(arn: &str, scope: &Scope, needs: Needs) -> bool {
    Arn::parse(arn).is_ok_and(|arn| arn.place_in(scope, needs).is_ok())
}

fn of_domain(config: &GatewayConfig, scope: &Scope) -> Vec<Reference> {
    let Input::Known(Some(name)) = &config.domain_name else { return Vec::new() };
    let path = AttributePath::new("domain_name");
    let mut all = vec![Reference::new(Outside::Domain(name.clone()), path.clone())];
    if let Input::Known(stage) = &config.stage_name {
        let mapping = Outside::Mapping { domain: name.clone(), path: String::new(), stage: stage.clone() };
        all.push(Reference::new(mapping, path.clone()));
    }
    if let Input::Known(Some(arn)) = &config.certificate_arn
        && is_in(arn, scope, Needs::ACCOUNT)
    {
        all.push(Reference::new(Outside::Certificate(arn.clone()), AttributePath::new("certificate_arn")));
    }
    if let (Input::Known(true), Input::Known(Some(zone_id))) = (&config.create_dns_entry, &config.hosted_zone_id) {
        let zone = Outside::HostedZone { id: zone_id.clone(), name: name.clone() };
        all.push(Reference::new(zone, AttributePath::new("hosted_zone_id")));
        let ip_address_type = config.ip_address_type_of_domain();
        for record_type in DnsRecord::types(ip_address_type.known().map_or(Api::IPV4, String::as_str)) {
            let (zone_id, name, record_type) = (zone_id.clone(), name.clone(), record_type.to_string());
            all.push(Reference::new(Outside::Record { zone_id, name, record_type }, path.clone()));
        }
    }
    all
}
