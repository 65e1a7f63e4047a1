//! The inputs that are properties of objects.

use super::config::{MutualTlsConfig, access_log_format_attributes};
use crate::model::{Api, DnsRecord, DomainName, LogGroup, LogSubscription, Ref, Spec, Stage, Tags};
use crate::plugin::{Encode, Value};
use crate::topology::mirrored::{Found, Mirrored};

/// The inputs that are properties of objects, except maps and `cors_configuration`.
pub(super) const MIRRORED: &[Mirrored] = &[
    Mirrored::new("name", |it| it.each(Api::of, |api| &api.name)),
    Mirrored::new("description", |it| it.each(Api::of, |api| &api.description)),
    Mirrored::new("api_version", |it| it.each(Api::of, |api| &api.version)),
    Mirrored::new("disable_execute_api_endpoint", |it| it.each(Api::of, |api| &api.disable_endpoint)),
    Mirrored::new("ip_address_type", |it| it.each(Api::of, |api| &api.ip_address_type)),
    Mirrored::new("stage_name", |it| it.all(Stage::of).map(|stage| stage.name.as_str().into()).collect()),
    Mirrored::new("stage_variables", |it| it.each(Stage::of, |stage| &stage.variables)),
    Mirrored::new("stage_description", |it| it.each(Stage::of, |stage| &stage.description)),
    Mirrored::new("access_log_logservice_group_name", |it| it.each(LogGroup::of, |group| &group.name))
        .if_deleted(&Value::Null),
    Mirrored::new("access_log_logservice_group_retention_in_days", |it| {
        it.each(LogGroup::of, |group| &group.retention_in_days)
    }),
    Mirrored::new("access_log_logservice_group_kms_key_id", |it| it.each(LogGroup::of, |group| &group.kms_key_arn)),
    Mirrored::new("access_log_destination_arn", |it| {
        let logs = it.all(Stage::of).filter_map(|stage| stage.access_log.as_ref());
        let unmanaged = logs.filter_map(|log| match &log.log_group {
            Ref::Id(arn) => Some(arn.as_str().into()),
            Ref::Key(_) => None,
        });
        unmanaged.collect()
    })
    .if_deleted(&Value::Null),
    Mirrored::new("access_log_format_type", |it| formats(it, |(kind, _)| kind.into())),
    Mirrored::new("custom_access_log_format", |it| formats(it, |(_, custom)| custom.into())),
    Mirrored::new("access_log_logservice_group_subscription_destination_arn", |it| {
        it.each(LogSubscription::of, |subscription| &subscription.destination_arn)
    })
    .if_deleted(&Value::Null),
    Mirrored::new("access_log_logservice_group_subscription_filter_pattern", |it| {
        it.each(LogSubscription::of, |subscription| &subscription.filter_pattern)
    }),
    Mirrored::new("access_log_logservice_group_subscription_role_arn", |it| {
        it.each(LogSubscription::of, |subscription| &subscription.role_arn)
    }),
    // Null means `ByLogStream` for a Kinesis stream.
    Mirrored::new("access_log_logservice_group_subscription_distribution", |it| {
        let distributions = it.all(LogSubscription::of).map(|subscription| subscription.distribution.clone());
        distributions.map(|it| it.map(|it| it.filter(|it| it != "ByLogStream")).into()).collect()
    }),
    Mirrored::new("domain_name", |it| it.each(DomainName::of, |domain| &domain.domain_name)).if_deleted(&Value::Null),
    // Null means the type of the API.
    Mirrored::new("domain_ip_address_type", |it| {
        let of_api = it.each(Api::of, |api| &api.ip_address_type);
        let own = it.each(DomainName::of, |domain| &domain.ip_address_type).into_iter();
        own.map(|own| if of_api.contains(&own) { Value::Null } else { own }).collect()
    })
    .if_deleted(&Value::Null),
    Mirrored::new("mutual_tls_authentication", |it| it.all(DomainName::of).map(mutual_tls).collect())
        .imported_as(|_, values| {
            values.into_iter().find(|it| it.get("truststore_uri").as_str().is_some_and(|uri| !uri.is_empty()))
        })
        .if_deleted(&Value::Null),
    // As an output, it has the certificate in AWS already, and an import of an own domain looks it up.
    Mirrored::new("certificate_arn", |it| it.each(DomainName::of, |_| &true))
        .imported_as(|_, _| None)
        .if_deleted(&Value::Null),
    Mirrored::new("create_dns_entry", |it| it.each(DnsRecord::of, |_| &true))
        .imported_as(of_complete_records)
        .if_deleted(&Value::Bool(false)),
    Mirrored::new("hosted_zone_id", |it| it.each(DnsRecord::of, |record| &record.zone_id))
        .imported_as(of_complete_records),
];

/// The tags of an object, if a map sets them.
type TagsOf = fn(&Spec) -> Option<&Tags>;

/// The maps of tags, and the tags that each of them sets.
pub(super) const TAG_MAPS: [(&str, TagsOf); 3] = [
    ("api_tags", |spec| Api::of(spec).map(|api| &api.tags)),
    ("stage_tags", |spec| Stage::of(spec).map(|stage| &stage.tags)),
    ("access_log_logservice_group_tags", |spec| LogGroup::of(spec).map(|group| &group.tags)),
];

/// The first of these values of records. An adoption creates no record. If the domain lacks one of those that it needs,
/// which is of type AAAA if it has IPv6 addresses, the other one therefore stays unmanaged.
fn of_complete_records(found: Found<'_>, values: Vec<Value>) -> Option<Value> {
    let has = |needed: &str| found.all(DnsRecord::of).any(|record| record.record_type == needed);
    let has_all = |domain: &DomainName| {
        domain.ip_address_type.known().is_some_and(|it| DnsRecord::types(it).iter().all(|it| has(it)))
    };
    let is_complete = found.all(DomainName::of).all(has_all);
    values.into_iter().next().filter(|_| is_complete || !found.inventory.has_foreign_root())
}

/// Mutual TLS of a domain as an input. Null if it is not managed.
fn mutual_tls(domain: &DomainName) -> Value {
    let setting = domain.mutual_tls.known().and_then(Option::as_ref);
    setting.map_or(Value::Null, |setting| MutualTlsConfig::of(setting).encode())
}

/// A part of the attributes that produce the format of the access logs.
fn formats(found: Found<'_>, part: fn((&'static str, Option<String>)) -> Value) -> Vec<Value> {
    let logs = found.all(Stage::of).filter_map(|stage| stage.access_log.as_ref());
    logs.filter_map(|log| Some(part(access_log_format_attributes(log.format.known()?)))).collect()
}
