//! The outputs of a gateway.

use std::collections::BTreeMap;

use super::config::GatewayConfig;
use super::stage;
use super::vpc_links;
use crate::model::keys::gateway as keys;
use crate::model::{ApiRoute, Authorization, Ids, Key, Object, Ref, Spec};
use crate::model::{DomainName, Scope};
use crate::plugin::{Attribute, Input, Type, Value};

/// The schema of the attributes that [`outputs`] computes.
pub(super) fn schema() -> Vec<Attribute> {
    let ids = || Type::Map(Box::new(Type::String));
    let domain = ["domain_name", "hosted_zone_id"].map(|name| (name.to_string(), Type::String)).into();
    vec![
        Attribute::computed("api_id", Type::String, "ID of the API."),
        Attribute::computed("api_arn", Type::String, "ARN of the API."),
        Attribute::computed(
            "api_endpoint",
            Type::String,
            "URL of the API itself, such as `https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com`.",
        ),
        Attribute::computed(
            "execution_arn",
            Type::String,
            "Prefix of the ARNs by which Lambda permissions and IAM policies refer to requests to the API: \
             `arn:aws:execute-api:<region>:<account>:<api id>`. Null if the provider does not know its account ID.",
        ),
        Attribute::computed(
            "invoke_url",
            Type::String,
            "URL of the gateway: the URL of the custom domain or, if there is none or it is a wildcard, that of the stage: \
             `api_endpoint`, followed by `/<stage_name>` unless that is `$default`. Null if that endpoint is disabled.",
        ),
        Attribute::computed("default_stage_id", Type::String, "ID of the stage, which is its name."),
        Attribute::computed("stage_arn", Type::String, "ARN of the stage."),
        Attribute::computed(
            "integration_ids",
            ids(),
            "IDs of the integrations by route key. Several routes with equal settings can have the same integration.",
        ),
        Attribute::computed("route_ids", ids(), "IDs of the routes by route key."),
        Attribute::computed("vpc_link_ids", ids(), "IDs of the VPC links by their names in `vpc_links`."),
        Attribute::computed("authorizer_ids", ids(), "IDs of the authorizers by name."),
        Attribute::computed(
            "route_authorizations",
            ids(),
            "Authorizations of the routes by route key: `NONE` for a public route, `AWS_IAM`, `JWT:<name>` or \
             `CUSTOM:<name>` with the name of the authorizer. Policies can check it in a plan.",
        ),
        Attribute::computed(
            "access_log_group_arn",
            Type::String,
            "ARN of the log group for access logs. Null if access logs are off.",
        ),
        Attribute::computed(
            "domain_target",
            Type::Object(domain),
            "Target of a DNS record for the custom domain. Null without a custom domain.",
        )
        .fields(&[
            ("domain_name", "DNS name of the domain's endpoint in API Gateway, for an alias record or a CNAME record."),
            ("hosted_zone_id", "ID of the hosted zone of that endpoint, for an alias record."),
        ]),
        Attribute::computed(
            "dns_record_fqdn",
            Type::String,
            "Domain name of the DNS record. Null if there is no record.",
        ),
    ]
}

/// The schema of the output that is also an input.
pub(super) fn certificate_arn_schema() -> Attribute {
    Attribute::computed(
        "certificate_arn",
        Type::String,
        "ARN of the custom domain's certificate. Null without a custom domain.",
    )
}

/// The outputs. An output is unknown if it depends on an object that does not exist yet or on undecided objects.
pub(super) fn outputs(
    config: &GatewayConfig,
    objects: Option<&[Object]>,
    ids: &Ids,
    scope: Option<&Scope>,
) -> BTreeMap<String, Value> {
    let api = keys::api();
    let stage = config.stage_name.known().map_or(Value::Unknown, |name| ids.id(&keys::stage(name)));
    let endpoint = ids.learned(&api, "api_endpoint");
    // The ARN of an API contains no account ID.
    let api_arn = arn(scope, |scope| {
        let Scope { partition, region, .. } = scope;
        text(ids.input(&api).map(|id| format!("arn:{partition}:apigateway:{region}::/apis/{id}")))
    });
    let stage_arn = match (api_arn.as_str(), stage.as_str()) {
        (Some(api_arn), Some(stage)) => format!("{api_arn}/stages/{stage}").into(),
        _ => Value::Unknown,
    };
    let execution_arn = arn(scope, |scope| {
        let Scope { partition, region, .. } = scope;
        let Some(account) = &scope.account else { return Value::Null };
        text(ids.input(&api).map(|id| format!("arn:{partition}:execute-api:{region}:{account}:{id}")))
    });
    let integration_ids = by_key(&config.route_config, |key| match objects.and_then(|it| route(it, key)) {
        Some(Ref::Key(integration)) => ids.id(integration),
        Some(Ref::Id(id)) => id.as_str().into(),
        None => Value::Unknown,
    });
    // Whatever the set of objects is, routes with the same key are updated in place.
    let route_ids = by_key(&config.route_config, |key| ids.id(&keys::route(key)));
    // The key contains the type, and the name in AWS if it differs from this one.
    let authorizer_id = |name: &str| {
        let of_name = |key: &&Key| keys::authorizer_name(key) == Some(name);
        let key = objects.into_iter().flatten().map(|object| &object.key).find(of_name);
        key.map_or(Value::Unknown, |key| ids.id(key))
    };
    let authorizer_ids =
        match [by_key(&config.faas_authorizers, authorizer_id), by_key(&config.jwt_authorizers, authorizer_id)] {
            [Value::Map(faas), Value::Map(jwt)] => Value::Map(faas.into_iter().chain(jwt).collect()),
            _ => Value::Unknown,
        };
    let vpc_link_ids = by_key(&config.vpc_links, |name| {
        let of_name = |key: &&Key| vpc_links::name_of(key) == Some(name);
        let key = objects.into_iter().flatten().map(|object| &object.key).find(of_name);
        key.map_or(Value::Unknown, |key| ids.id(key))
    });
    [
        ("api_id", ids.id(&api)),
        ("api_arn", api_arn),
        ("invoke_url", invoke_url(config, &endpoint)),
        ("api_endpoint", endpoint),
        ("execution_arn", execution_arn),
        ("default_stage_id", stage),
        ("stage_arn", stage_arn),
        ("integration_ids", integration_ids),
        ("route_ids", route_ids),
        ("authorizer_ids", authorizer_ids),
        ("vpc_link_ids", vpc_link_ids),
        ("route_authorizations", by_key(&config.route_config, |key| authorization(objects, key))),
        ("access_log_group_arn", access_log_group_arn(config, ids, scope)),
        ("certificate_arn", certificate_arn(config, objects)),
        ("domain_target", of_domain(config, || domain_target(config, ids))),
        ("dns_record_fqdn", dns_record_fqdn(config)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

/// The ARN is built from the configuration, so it is known before the group exists. Without the account ID it is the
/// one that AWS returns.
fn access_log_group_arn(config: &GatewayConfig, ids: &Ids, scope: Option<&Scope>) -> Value {
    let name = match &config.access_log_logservice_group_name {
        Input::Unknown => return Value::Unknown,
        Input::Known(None) => return Value::Null,
        Input::Known(Some(name)) => name,
    };
    arn(scope, |Scope { partition, region, account, .. }| match account {
        Some(account) => format!("arn:{partition}:logs:{region}:{account}:log-group:{name}").into(),
        None => ids.learned(&keys::log_group(&Input::Known(name.clone())), "arn"),
    })
}

/// The URL of the custom domain if there is one, otherwise the endpoint of the API.
fn invoke_url(config: &GatewayConfig, endpoint: &Value) -> Value {
    let endpoint = match (&config.disable_execute_api_endpoint, &config.stage_name) {
        (Input::Known(true), _) => Value::Null,
        (Input::Unknown, _) | (_, Input::Unknown) => Value::Unknown,
        (Input::Known(false), Input::Known(stage)) => {
            stage::url(endpoint.as_str(), stage).map_or(Value::Unknown, Value::from)
        }
    };
    match &config.domain_name {
        Input::Unknown => Value::Unknown,
        Input::Known(None) => endpoint,
        // A wildcard is not a name that a client can call.
        Input::Known(Some(domain)) if domain.starts_with("*.") => endpoint,
        Input::Known(Some(domain)) => format!("https://{domain}").into(),
    }
}

/// A value that depends on the custom domain; null if there is none.
fn of_domain(config: &GatewayConfig, value: impl FnOnce() -> Value) -> Value {
    match &config.domain_name {
        Input::Unknown => Value::Unknown,
        Input::Known(None) => Value::Null,
        Input::Known(Some(_)) => value(),
    }
}

/// The certificate of the domain. A configured value is an output too if it has no effect or the objects are undecided,
/// because Terraform requires that a plan contains it.
fn certificate_arn(config: &GatewayConfig, objects: Option<&[Object]>) -> Value {
    let certificate = objects
        .into_iter()
        .flatten()
        .find_map(|object| DomainName::of(&object.spec).map(|domain| domain.certificate_arn.clone()));
    match (certificate, &config.domain_name, &config.certificate_arn) {
        (Some(arn), ..) => text(arn),
        (None, Input::Known(None), given) => given.clone().into(),
        (None, _, Input::Known(Some(given))) if objects.is_none() => given.as_str().into(),
        _ => Value::Unknown,
    }
}

fn domain_target(config: &GatewayConfig, ids: &Ids) -> Value {
    let key = keys::domain(&config.domain_name.clone().map(Option::unwrap_or_default));
    match [ids.learned(&key, "target_domain_name"), ids.learned(&key, "target_hosted_zone_id")] {
        [Value::String(name), Value::String(zone)] => {
            Value::map([("domain_name", Value::String(name)), ("hosted_zone_id", Value::String(zone))])
        }
        _ => Value::Unknown,
    }
}

/// The record has the name of the custom domain.
fn dns_record_fqdn(config: &GatewayConfig) -> Value {
    match &config.create_dns_entry {
        Input::Unknown => Value::Unknown,
        Input::Known(false) => Value::Null,
        Input::Known(true) => of_domain(config, || config.domain_name.clone().into()),
    }
}

fn arn(scope: Option<&Scope>, write: impl FnOnce(&Scope) -> Value) -> Value {
    scope.map_or(Value::Unknown, write)
}

fn text(input: Input<String>) -> Value {
    input.into()
}

/// A map with the keys of a configured map. The keys are known even if values are unknown.
fn by_key<T>(entries: &Input<BTreeMap<String, T>>, value: impl Fn(&str) -> Value) -> Value {
    match entries {
        Input::Unknown => Value::Unknown,
        Input::Known(entries) => Value::Map(entries.keys().map(|key| (key.clone(), value(key))).collect()),
    }
}

/// The authorization of a route, for machines.
fn authorization(objects: Option<&[Object]>, route_key: &str) -> Value {
    let route = objects
        .into_iter()
        .flatten()
        .find_map(|object| ApiRoute::of(&object.spec).filter(|route| route.route_key == route_key));
    let Some(Authorization { kind, authorizer, .. }) = route.map(|route| &route.authorization) else {
        return Value::Unknown;
    };
    let name = authorizer.as_ref().map(|authorizer| match authorizer {
        Ref::Key(key) => keys::authorizer_name(key).unwrap_or(&key.slot),
        Ref::Id(id) => id,
    });
    name.map_or_else(|| kind.name().into(), |name| format!("{}:{name}", kind.name()).into())
}

/// The integration of a route.
fn route<'a>(objects: &'a [Object], route_key: &str) -> Option<&'a Ref> {
    objects.iter().find_map(|object| match &object.spec {
        Spec::ApiRoute(route) if route.route_key == route_key => route.integration.as_ref(),
        _ => None,
    })
}
