//! `fgw_http_gateway`: an HTTP API in front of functions, HTTP endpoints and services. Computes the required objects
//! from the configuration.

mod alternatives;
mod authorization;
mod blueprint;
mod classify;
mod config;
mod functions;
mod import;
mod integrations;
mod jwt_authorizers;
mod mirrored;
mod outputs;
mod parameters;
mod places;
mod references;
mod reflect;
#[cfg(test)]
pub(crate) mod settings;
mod stage;
mod validate;
mod vpc_links;
mod warnings;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use config::{CorsConfig, FaasAuthorizer, GatewayConfig, MutualTlsConfig, RouteConfig};
pub use integrations::IntegrationConfig;
pub use jwt_authorizers::JwtConfig;
pub use vpc_links::LinkConfig;

use crate::model::{
    Caller, Classification, Entry, Facts, Ids, Inventory, Key, KmsKey, Landscape, LogGroup, Lookup, Object, Reference,
    Scope, Spec, Tags, Timeouts, TopologyKind, UnmanagedInApi, is_same_format,
};
use crate::plugin::{Attribute, AttributePath, Input, Problem, Value};
use crate::topology::{Blueprint, Context, IgnoredDrift, Topology};

/// The topology of `fgw_http_gateway`.
pub struct HttpGateway;

impl Topology for HttpGateway {
    type Config = GatewayConfig;

    const TYPE_NAME: &'static str = "fgw_http_gateway";
    const KIND: TopologyKind = TopologyKind::HttpGateway;
    const NAME: &'static str = "name";
    // The ARN of an API contains no account.
    const ROOT_ARNS: &'static [&'static str] = &["api_arn", "execution_arn"];
    const ROOT_OUTPUTS: &'static [&'static str] = &["api_id", "api_arn", "api_endpoint", "execution_arn"];

    fn description() -> &'static str {
        "An HTTP API in front of Lambda functions, HTTP endpoints and AWS services, managed as one resource: routes, \
         integrations, request and JWT authorizers, Lambda permissions, CORS, access logs, and a custom domain with its DNS record. An update changes objects \
         in place, or creates new ones and switches traffic to them before it deletes old ones. Requests are served throughout, with one exception \
         that `route_config` describes. API Gateway deploys each change to the stage some time after it has answered the \
         call, so requests may reach the previous configuration for some seconds after an apply. Deletions wait until \
         the changes are deployed."
    }

    fn outputs_schema() -> Vec<Attribute> {
        outputs::schema()
    }

    fn further_outputs() -> Vec<Attribute> {
        vec![outputs::certificate_arn_schema()]
    }

    fn name(config: &GatewayConfig) -> &Input<String> {
        &config.name
    }

    fn features(config: &GatewayConfig) -> Input<Option<BTreeSet<String>>> {
        config.route_config.clone().map(|routes| Some(routes.into_keys().collect()))
    }

    const FEATURES: &'static str = "route keys";

    fn allows_duplicate_name(config: &GatewayConfig) -> &Input<bool> {
        &config.allow_duplicate_name
    }

    fn in_tags_all(_: &GatewayConfig, tags: Tags) -> Tags {
        tags
    }

    fn root_tags(config: &GatewayConfig, scope: &Scope) -> Tags {
        scope.tags(&[&config.api_tags])
    }

    const PART: Option<&'static str> = Some("stage_name");

    fn classify(landscape: &Landscape, part: Option<&str>) -> Classification {
        match landscape {
            Landscape::Api(landscape) => classify::classify(landscape, part),
            Landscape::Network(_) => Classification::default(),
        }
    }

    fn adopt(config: &GatewayConfig) -> Tags {
        config.adopt.clone().map(Option::unwrap_or_default)
    }

    /// A configuration lists routes and authorizers by their names, and the subscription of the log group.
    fn may_stay_unmanaged(spec: &Spec) -> bool {
        matches!(
            spec,
            Spec::ApiRoute(_)
                | Spec::Integration(_)
                | Spec::Authorizer(_)
                | Spec::JwtAuthorizer(_)
                | Spec::LambdaPermission(_)
                | Spec::LogSubscription(_)
        )
    }

    fn is_same_text(input: &str, one: &str, other: &str) -> bool {
        one == other || input == "custom_access_log_format" && is_same_format(one, other)
    }

    fn validate(config: &GatewayConfig) -> Vec<Problem> {
        validate::validate(config)
    }

    /// Always empty: AWS changes every input of an HTTP API in place.
    fn replaced_by(_: &GatewayConfig, _: &GatewayConfig, _: &Inventory) -> Vec<AttributePath> {
        Vec::new()
    }

    fn lookups(config: &GatewayConfig) -> Vec<Lookup> {
        let certificates = blueprint::certificate_domain(config).map(|domain| Lookup::Certificates(domain.to_string()));
        let has_group = config.access_log_logservice_group_name != Input::Known(None);
        let key = config.access_log_logservice_group_kms_key_id.known().and_then(Option::as_ref);
        let key = key.filter(|_| has_group).and_then(|key| match KmsKey::parse(key) {
            Ok(KmsKey::Lookup(id)) => Some(Lookup::KmsKey(id)),
            _ => None,
        });
        certificates.into_iter().chain(key).collect()
    }

    fn log_groups(config: &GatewayConfig, facts: &Facts) -> Vec<LogGroup> {
        blueprint::log_group(config, facts).into_iter().collect()
    }

    fn input_of(key: &Key) -> AttributePath {
        blueprint::input_of(key)
    }

    fn references(config: &GatewayConfig, scope: &Scope) -> Vec<Reference> {
        references::references(config, scope)
    }

    fn blueprint(context: &Context<'_, GatewayConfig>) -> Result<Blueprint, Vec<Problem>> {
        blueprint::blueprint(context)
    }

    fn alternatives(context: &Context<'_, GatewayConfig>) -> Vec<GatewayConfig> {
        alternatives::alternatives(context)
    }

    fn may_release(context: &Context<'_, GatewayConfig>) -> bool {
        alternatives::may_release(context)
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

    /// Of the two inputs for a certificate, a configuration has only one. An import sets `certificate_domain` to the
    /// domain. Otherwise, a lookup by this input has found the certificate. Without it, the state does not say whether
    /// the certificate was looked up, so `certificate_arn` stays.
    ///
    /// After an adoption, `adopt` has no effect any more.
    fn omit_derived(attributes: &mut Value, state: &Value) {
        if !state.get("aws_objects").get(Self::KIND.root()).is_null() {
            attributes.set("adopt", Value::Null);
        }
        let [domain, certificate_domain, certificate] =
            ["domain_name", "certificate_domain", "certificate_arn"].map(|name| attributes.get(name).clone());
        if domain.is_null() || certificate_domain.is_null() || certificate.is_null() {
            return;
        }
        let derived = if domain == certificate_domain { "certificate_domain" } else { "certificate_arn" };
        attributes.set(derived, Value::Null);
    }

    fn take_as_applied(attributes: &mut Value, configuration: &Value, _inventory: &Inventory) {
        import::take_as_applied(attributes, configuration);
    }

    /// A DNS record has no tags, and the user may have created a record for the domain outside this resource. It counts
    /// as owned only if `create_dns_entry` is set or unknown, or if the state lists it: an update that turned the input
    /// off may have failed to delete it.
    ///
    /// A domain that was deleted and created again under its name has another target. The state contains that of the
    /// domain in the configuration, and none of a former one that an update has left.
    ///
    /// Routes, integrations and authorizers have no tags either. The output `aws_objects` of a state lists those of
    /// this resource, even if the private state was lost because the provider was killed during an update. An
    /// authorizer that a managed Lambda permission refers to was created by this resource. Without a state, as in an
    /// import, all of them may belong to it.
    fn may_own(attributes: &Value, found: &Entry, others: &Inventory) -> bool {
        let lists = |name: &str, id: &str| {
            let mut objects = attributes.get(name).as_map().into_iter().flatten();
            objects.any(|(_, it)| it.as_str() == Some(id))
        };
        match found.spec() {
            Spec::DnsRecord(_) => {
                matches!(attributes.get("create_dns_entry"), Value::Bool(true) | Value::Unknown)
                    || ["aws_objects", "pending_deletion"].into_iter().any(|name| lists(name, &found.id))
            }
            Spec::DomainName(_) => {
                let is_former = attributes.get("domain_name").as_str().is_some_and(|name| name != found.id);
                let target = attributes.get("domain_target").get("domain_name").as_str().filter(|_| !is_former);
                let found = found.learned.get("target_domain_name");
                target.is_none() || found.is_none() || target == found.map(String::as_str)
            }
            Spec::ApiRoute(_) | Spec::Integration(_) | Spec::Authorizer(_) | Spec::JwtAuthorizer(_) => {
                let known = attributes.get("aws_objects").as_map().filter(|known| !known.is_empty());
                known.is_none_or(|known| known.values().any(|id| id.as_str() == Some(found.id.as_str())))
                    || others.entries.iter().any(|entry| match entry.spec() {
                        Spec::LambdaPermission(it) => it.caller == Caller::Authorizer(found.key.clone()),
                        _ => false,
                    })
            }
            _ => true,
        }
    }

    fn unknown_owners(config: &GatewayConfig) -> BTreeSet<String> {
        functions::unknown(config)
    }

    fn parts_of(owners: &BTreeSet<String>, config: &GatewayConfig, existing: &Inventory) -> BTreeSet<Key> {
        functions::permissions(owners, config, existing)
    }

    fn forget_managed(existing: &mut Inventory) {
        UnmanagedInApi::forget_managed(existing);
    }

    fn restore_keys(attributes: &Value, inventory: &mut Inventory) {
        import::restore_keys(attributes, inventory);
    }

    fn write_drift(state: &mut Value, inventory: &Inventory) {
        reflect::write_drift(state, inventory);
    }

    fn expresses_protection(config: &GatewayConfig) -> bool {
        matches!(config.mutual_tls(), Input::Known(Some(_)))
    }

    fn ignored_drift(config: &GatewayConfig) -> IgnoredDrift {
        IgnoredDrift::of(&config.ignore_drift)
    }

    fn timeouts(config: &GatewayConfig) -> Timeouts {
        Timeouts::of(&config.timeouts)
    }
}
