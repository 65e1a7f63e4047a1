//! `fgw_http_gateway`: an HTTP API in front of functions. From the configuration to the objects that should exist.

mod blueprint;
mod config;
mod import;
mod outputs;
mod reflect;
mod validate;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use config::{CorsConfig, FaasAuthorizer, GatewayConfig, RouteConfig};

use crate::model::{Caller, Entry, Ids, Inventory, KmsKey, Lookup, Object, Scope, Spec, Tags, Timeouts, TopologyKind};
use crate::plugin::{Attribute, AttributePath, Input, Problem, Value};
use crate::topology::{Blueprint, Context, IgnoredDrift, Topology};

/// The product `fgw_http_gateway`.
pub struct HttpGateway;

impl Topology for HttpGateway {
    type Config = GatewayConfig;

    const TYPE_NAME: &'static str = "fgw_http_gateway";
    const KIND: TopologyKind = TopologyKind::HttpGateway;
    const NAME: &'static str = "name";

    fn description() -> &'static str {
        "An HTTP API in front of functions: routes, integrations, request authorizers, permissions, CORS and access \
         logs, managed as one resource. Changes are made while requests are served: what is new is made and \
         everything repointed before anything is deleted."
    }

    fn outputs_schema() -> Vec<Attribute> {
        outputs::schema()
    }

    fn name(config: &GatewayConfig) -> &Input<String> {
        &config.name
    }

    fn own_tags(config: &GatewayConfig) -> Vec<&Tags> {
        vec![&config.api_tags]
    }

    fn validate(config: &GatewayConfig) -> Vec<Problem> {
        validate::validate(config)
    }

    /// Nothing: AWS changes every input of an HTTP API in place.
    fn replaced_by(_: &GatewayConfig, _: &GatewayConfig, _: &Inventory) -> Vec<AttributePath> {
        Vec::new()
    }

    fn lookups(config: &GatewayConfig) -> Vec<Lookup> {
        let certificates = blueprint::certificate_domain(config).map(|domain| Lookup::Certificates(domain.to_string()));
        let key = config.access_log_logservice_group_kms_key_id.known().and_then(Option::as_ref);
        let key = key.and_then(|key| match KmsKey::parse(key) {
            Ok(KmsKey::Lookup(id)) => Some(Lookup::KmsKey(id)),
            _ => None,
        });
        certificates.into_iter().chain(key).collect()
    }

    fn blueprint(context: &Context<'_, GatewayConfig>) -> Result<Blueprint, Vec<Problem>> {
        blueprint::blueprint(context)
    }

    fn outputs(
        config: &GatewayConfig,
        objects: Option<&[Object]>,
        ids: &Ids,
        scope: Option<&Scope>,
    ) -> BTreeMap<String, Value> {
        outputs::outputs(config, objects, ids, scope)
    }

    fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value> {
        import::imported(inventory, scope)
    }

    fn take_as_applied(attributes: &mut Value, configuration: &Value, _inventory: &Inventory) {
        import::take_as_applied(attributes, configuration);
    }

    /// A DNS record carries no tags. The user may have made the one that leads to the domain, beside the resource.
    ///
    /// Nor do routes, integrations and authorizers. A state says which of them are ours, even if what it kept privately
    /// is lost, as it is when the provider is killed in an update; and an authorizer that has a statement of ours is
    /// one that we have made. Without a state, in an import, all may be.
    fn may_own(attributes: &Value, found: &Entry, beside: &Inventory) -> bool {
        match found.spec() {
            Spec::DnsRecord(_) => matches!(attributes.get("create_dns_entry"), Value::Bool(true) | Value::Unknown),
            Spec::ApiRoute(_) | Spec::Integration(_) | Spec::Authorizer(_) => {
                let known = attributes.get("aws_objects").as_map().filter(|known| !known.is_empty());
                known.is_none_or(|known| known.values().any(|id| id.as_str() == Some(found.id.as_str())))
                    || beside.entries.iter().any(|entry| match entry.spec() {
                        Spec::LambdaPermission(it) => it.caller == Caller::Authorizer(found.key.clone()),
                        _ => false,
                    })
            }
            _ => true,
        }
    }

    fn write_drift(state: &mut Value, inventory: &Inventory) {
        reflect::write_drift(state, inventory);
    }

    fn ignored_drift(config: &GatewayConfig) -> IgnoredDrift {
        IgnoredDrift::of(&config.ignore_drift)
    }

    fn timeouts(config: &GatewayConfig) -> Timeouts {
        Timeouts::of(&config.timeouts)
    }
}
