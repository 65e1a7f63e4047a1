//! The gateway endpoints for S3 and DynamoDB.

use std::collections::{BTreeMap, BTreeSet};

use super::Part;
use crate::model::keys::network as keys;
use crate::model::keys::network::EndpointService;
use crate::model::{Ref, Scope, Spec, VpcEndpoint, is_same_policy};
use crate::plugin::{AttributePath, Input, Problem, Type, Value};
use crate::topology::alternatives::{Change, each};
use crate::topology::four_tier_vpc::blueprint::{Built, Draft};
use crate::topology::four_tier_vpc::canonical_json;
use crate::topology::four_tier_vpc::classify::Classifier;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::outputs::Output;
use crate::topology::in_existing_form;
use crate::topology::mirrored::{Found, Mirrored};

/// The gateway endpoints for S3 and DynamoDB.
pub(in super::super) struct Endpoints;

impl Part for Endpoints {
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        config.create_vpc_endpoints.clone()
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        let policies = EndpointService::ALL.map(|service| policy(config, service));
        policies.into_iter().filter_map(|(name, policy)| problem_of_policy(name, policy)).collect()
    }

    /// Adds the endpoints of the services that the Region offers.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>) {
        let mut missing = Vec::new();
        let tables: BTreeSet<Ref> = built.tables.values().cloned().map(Ref::Key).collect();
        for service in EndpointService::ALL {
            let (path, policy) = policy(draft.context.config, service);
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
        let path = || AttributePath::new("create_vpc_endpoints");
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

    fn alternatives(&self, config: &Config) -> Vec<Change<Config>> {
        if config.create_vpc_endpoints.is_known() {
            return Vec::new();
        }
        each(|config: &mut Config| &mut config.create_vpc_endpoints, [false, true].map(Input::Known))
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
                Mirrored::new("objectstore_endpoint_policy", |it| policies(it, EndpointService::ObjectStore)),
                Mirrored::new("keyvalue_endpoint_policy", |it| policies(it, EndpointService::KeyValue)),
            ]
        }
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        attributes.set("create_vpc_endpoints", found.all(VpcEndpoint::of).next().is_some().into());
    }

    fn outputs(&self) -> &'static [Output] {
        const {
            &[
                Output {
                    name: "objectstore_endpoint_id",
                    kind: || Type::String,
                    description: "ID of the S3 endpoint, or null if there is none.",
                    of: |network| network.id_at("vpc_endpoint.objectstore"),
                },
                Output {
                    name: "keyvalue_endpoint_id",
                    kind: || Type::String,
                    description: "ID of the DynamoDB endpoint, or null if there is none.",
                    of: |network| network.id_at("vpc_endpoint.keyvalue"),
                },
            ]
        }
    }

    fn name(&self, slot: &str) -> Option<String> {
        let service = slot.strip_prefix("vpc_endpoint.")?;
        EndpointService::ALL.into_iter().any(|it| it.slot() == service).then(|| format!("-{service}"))
    }
}

/// The name and the value of the input with the policy of an endpoint.
fn policy(config: &Config, service: EndpointService) -> (&'static str, &Input<Option<String>>) {
    match service {
        EndpointService::ObjectStore => ("objectstore_endpoint_policy", &config.objectstore_endpoint_policy),
        EndpointService::KeyValue => ("keyvalue_endpoint_policy", &config.keyvalue_endpoint_policy),
    }
}

fn problem_of_policy(name: &str, policy: &Input<Option<String>>) -> Option<Problem> {
    let text = policy.known()?.as_ref()?;
    match serde_json::from_str::<BTreeMap<String, serde_json::Value>>(text) {
        Ok(fields) if !fields.contains_key("Statement") => {
            let hint = "Add one, or remove the policy to allow all access.";
            Some(Problem::new(AttributePath::new(name), "The policy has no Statement.", hint))
        }
        Ok(_) => None,
        Err(error) => {
            let message = format!("The policy is not a JSON object: {error}.");
            let hint = "Use jsonencode() or the aws_iam_policy_document data source.";
            Some(Problem::new(AttributePath::new(name), message, hint))
        }
    }
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

fn policies(found: Found<'_>, service: EndpointService) -> Vec<Value> {
    let slot = format!("vpc_endpoint.{}", service.slot());
    let of_service = found.specs().filter(|(key, _)| key.slot == slot);
    of_service.filter_map(|(_, spec)| Some(VpcEndpoint::of(spec)?.policy.clone().into())).collect()
}
