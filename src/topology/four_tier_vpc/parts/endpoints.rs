//! The gateway endpoints for S3 and DynamoDB.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::model::keys::network::EndpointService;
use crate::model::{Ref, VpcEndpoint, is_same_policy};
use crate::topology::four_tier_vpc::canonical_json;
use crate::topology::in_existing_form;

/// The switch of the part.
const SWITCH: &str = "create_vpc_endpoints";

/// The gateway endpoints for S3 and DynamoDB.
pub(in super::super) struct Endpoints;

impl Part for Endpoints {
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        config.create_vpc_endpoints.clone()
    }

    fn unused(&self, config: &Config, default: &Config) -> Vec<Unused> {
        while_off(SWITCH, &config.create_vpc_endpoints, false, policies(config), policies(default))
    }

    /// Adds the endpoints of the services that the Region offers.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>) {
        let mut missing = Vec::new();
        let tables: BTreeSet<Ref> = built.tables.values().cloned().map(Ref::Key).collect();
        for (service, (path, policy)) in EndpointService::ALL.into_iter().zip(policies(draft.context.config)) {
            let Some(service_name) = service_name(draft, service) else {
                if let Input::Known(Some(_)) = policy {
                    let message = format!("The Region offers no gateway endpoint for the service {}.", service.label());
                    draft.problems.push(Problem::new(AttributePath::new(path), message, "Remove the policy."));
                }
                missing.push(service);
                continue;
            };
            let key = keys::vpc_endpoint(service, &service_name);
            let existing = draft.context.existing.at(&key.slot);
            let of_endpoint: fn(&Spec) -> Option<&String> = |spec| VpcEndpoint::of(spec)?.policy.known()?.as_ref();
            let in_form = |text: String| in_existing_form(canonical_json(&text), existing, of_endpoint, is_same_policy);
            let spec = VpcEndpoint {
                vpc: draft.vpc.clone(),
                service_name: service_name.clone(),
                route_tables: tables.iter().cloned().collect(),
                policy: policy.clone().map(|policy| policy.map(in_form)),
                tags: draft.tags(&key, &[]),
            };
            draft.add(&key, Spec::VpcEndpoint(spec));
        }
        let path = || AttributePath::new(SWITCH);
        if missing.len() == EndpointService::ALL.len() {
            let message = "The Region offers no gateway endpoints for the services s3 and dynamodb.";
            draft.problems.push(Problem::new(path(), message, "Set create_vpc_endpoints to false."));
            return;
        }
        draft.warnings.extend(missing.into_iter().map(|service| {
            let message = format!("The Region offers no gateway endpoint for the service {}.", service.label());
            Problem::new(path(), message, "Only the endpoint of the other service is created.")
        }));
    }

    fn switches(&self) -> &'static [Switch<Config>] {
        &[|config| &mut config.create_vpc_endpoints]
    }

    /// If all route tables of the network use both endpoints.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let landscape = classifier.landscape;
        let is_table = |(_, slot): &(&String, &String)| slot.starts_with("route_table.");
        let tables: BTreeSet<String> =
            classifier.result.slots.iter().filter(is_table).map(|(id, _)| id.clone()).collect();
        let mut found = BTreeMap::new();
        for endpoint in &landscape.endpoints {
            let Some(service) = EndpointService::of_name(&endpoint.service_name) else {
                classifier.reject(&endpoint.id, format!("this resource has no endpoint for {}", endpoint.service_name));
                continue;
            };
            let uses: BTreeSet<String> = endpoint.route_tables.iter().cloned().collect();
            if uses != tables {
                classifier.reject(&endpoint.id, "its route tables are not those of this network");
            } else if classifier.is_free(&endpoint.id) {
                found.insert(service.slot(), endpoint.id.as_str());
            }
        }
        let is_complete = found.len() == EndpointService::ALL.len();
        for (service, id) in found {
            match is_complete {
                true => classifier.place(id, format!("vpc_endpoint.{service}")),
                false => classifier.reject(id, "this resource has either both endpoints, for S3 and DynamoDB, or none"),
            }
        }
    }

    fn mirrored(&self) -> &'static [Mirrored] {
        const {
            &[
                Mirrored::new("objectstore_endpoint_policy", |it| policies_of(it, EndpointService::ObjectStore)),
                Mirrored::new("keyvalue_endpoint_policy", |it| policies_of(it, EndpointService::KeyValue)),
            ]
        }
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        attributes.set(SWITCH, found.all(VpcEndpoint::of).next().is_some().into());
    }

    fn outputs(&self) -> &'static [Output] {
        const {
            &[
                Output::text("objectstore_endpoint_id", "ID of the S3 endpoint, or null if there is none.", |it| {
                    it.id_at("vpc_endpoint.objectstore")
                }),
                Output::text("keyvalue_endpoint_id", "ID of the DynamoDB endpoint, or null if there is none.", |it| {
                    it.id_at("vpc_endpoint.keyvalue")
                }),
            ]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        let service = slot.strip_prefix("vpc_endpoint.")?;
        EndpointService::ALL.into_iter().any(|it| it.slot() == service).then(|| format!("-{service}"))
    }
}

/// The names and the values of the inputs with policies, in the order of the services.
fn policies(config: &Config) -> [(&'static str, &Input<Option<String>>); 2] {
    [
        ("objectstore_endpoint_policy", &config.objectstore_endpoint_policy),
        ("keyvalue_endpoint_policy", &config.keyvalue_endpoint_policy),
    ]
}

/// The service name from AWS's list, else that of the existing endpoint. Service names differ between partitions, so
/// they cannot be computed. `None` if the Region does not offer the service.
fn service_name(draft: &Draft<'_>, service: EndpointService) -> Option<Input<String>> {
    let listed = draft.context.facts.gateway_endpoint_services.as_ref();
    let found = listed.and_then(|names| names.iter().find(|name| EndpointService::of_name(name) == Some(service)));
    if let Some(name) = found {
        return Some(Input::Known(name.clone()));
    }
    let slot = format!("vpc_endpoint.{}", service.slot());
    let mut entries = draft.context.existing.entries.iter();
    let existing = entries.find(|entry| entry.key.slot == slot && !entry.pending_deletion);
    match (existing.and_then(|entry| VpcEndpoint::of(&entry.applied)), listed) {
        (Some(endpoint), _) => Some(endpoint.service_name.clone()),
        (None, None) => Some(Input::Unknown),
        (None, Some(_)) => None,
    }
}

fn policies_of(found: Found<'_>, service: EndpointService) -> Vec<Value> {
    let slot = format!("vpc_endpoint.{}", service.slot());
    let of_service = found.specs().filter(|(key, _)| key.slot == slot);
    of_service.filter_map(|(_, spec)| Some(VpcEndpoint::of(spec)?.policy.clone().into())).collect()
}
