//! Networks and facts for tests.

use super::config::tests::config;
use super::{Config, FourTierVpc};
use crate::model::{AvailabilityZone, EndpointOffer, Entry, Facts, Found, Inventory, Object, Scope, Spec};
use crate::plugin::{AttributePath, Nested, Problem, Value};
use crate::topology::{Blueprint, Context, Topology};

/// AZs named by these letters, such as `a` with the ID `az-a`, all available.
pub(super) fn zones(letters: &str) -> Vec<AvailabilityZone> {
    let zone = |letter: char| AvailabilityZone {
        name: letter.to_string(),
        id: format!("az-{letter}"),
        state: "available".into(),
    };
    letters.chars().map(zone).collect()
}

pub(super) fn facts(letters: &str) -> Facts {
    let services = ["s3", "s3express", "dynamodb"].map(|it| format!("com.amazonaws.eu-central-1.{it}"));
    Facts {
        availability_zones: Some(zones(letters)),
        gateway_endpoint_services: Some(services.into()),
        endpoint_services: [
            "s3",
            "kms",
            "ecr.api",
            "plain",
            "missing",
            "ecr-api",
            "com.amazonaws.eu-central-1.ecr-api",
        ]
        .map(|it| (it.into(), offer(it, letters)))
        .into(),
        all_services: ["s3", "kms", "ecr.api", "plain"].map(|it| format!("com.amazonaws.eu-central-1.{it}")).into(),
        ..Facts::default()
    }
}

/// Services in all of these AZs but the last one. Only `kms` supports IPv6. `plain` has neither private names nor
/// policies. `missing` does not exist, nor does `ecr-api`.
fn offer(label: &str, letters: &str) -> Found<EndpointOffer> {
    if label == "missing" || label.ends_with("ecr-api") {
        return Found::Missing;
    }
    let offered = if letters.len() > 1 { &letters[..letters.len() - 1] } else { letters };
    Found::There(EndpointOffer {
        name: format!("com.amazonaws.eu-central-1.{label}"),
        availability_zones: offered.chars().map(String::from).collect(),
        address_types: ["ipv4", "ipv6"][..if label == "kms" { 2 } else { 1 }].iter().map(ToString::to_string).collect(),
        has_private_dns: label != "plain",
        accepts_policy: label != "plain",
        has_gateway: label == "s3",
    })
}

pub(super) fn scope() -> Scope {
    Scope {
        partition: "aws".into(),
        region: "eu-central-1".into(),
        account: Some("123456789012".into()),
        ..Scope::default()
    }
}

/// The blueprint in a Region with these AZs.
pub(super) fn blueprint(
    config: &Config,
    prior: Option<&Config>,
    existing: &Inventory,
    letters: &str,
) -> Result<Blueprint, Vec<Problem>> {
    let (scope, facts) = (scope(), facts(letters));
    FourTierVpc::blueprint(&Context { config, prior, existing, scope: &scope, facts: &facts })
}

/// The objects of a new network.
pub(super) fn objects(config: &Config, letters: &str) -> Vec<Object> {
    next_objects(config, None, &Inventory::default(), letters)
}

/// The objects of an existing network.
pub(super) fn next_objects(
    config: &Config,
    prior: Option<&Config>,
    existing: &Inventory,
    letters: &str,
) -> Vec<Object> {
    match blueprint(config, prior, existing, letters) {
        Ok(Blueprint::Decided { objects, .. }) => objects,
        other => panic!("{other:?}"),
    }
}

/// The paths and messages of the warnings of a plan.
pub(super) fn warned(config: &Config, prior: Option<&Config>, existing: &Inventory) -> Vec<(String, String)> {
    match blueprint(config, prior, existing, "a") {
        Ok(Blueprint::Decided { warnings, .. }) => {
            warnings.into_iter().map(|it| (it.path.to_string(), it.message)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The configuration that an import derives from an inventory, as attributes and decoded.
pub(super) fn imported(inventory: &Inventory) -> (Value, Config) {
    let attributes = FourTierVpc::imported(inventory, &scope()).expect("the VPC has a name");
    let mut problems = Vec::new();
    let config = Config::decode(&attributes, &AttributePath::root(), &mut problems);
    let config = config.unwrap_or_else(|| panic!("{problems:?}"));
    (attributes, config)
}

/// Changes the specs of a network with these inputs, and panics unless the inputs that an import sets require the
/// default ACL and the default group exactly as they are.
pub(super) fn assert_reproduced(inputs: &[(&str, Value)], change: impl Fn(&mut Spec)) {
    let mut inventory = applied(&objects(&config(inputs), "ab"));
    inventory.entries.iter_mut().for_each(|entry| change(&mut entry.applied));
    let (_, config) = imported(&inventory);
    let mut problems = FourTierVpc::validate(&config);
    // The IDs of the AZs are not those of AWS.
    problems.retain(|problem| problem.path.to_string().contains("rules"));
    assert_eq!(problems, []);
    let is_default = |spec: &Spec| spec.is_adopted();
    let wanted = next_objects(&config, Some(&config), &inventory, "ab").into_iter().map(|object| object.spec);
    let wanted: Vec<Spec> = wanted.filter(is_default).collect();
    let existing: Vec<Spec> = inventory.entries.into_iter().map(|entry| entry.applied).filter(is_default).collect();
    assert_eq!(wanted, existing);
}

/// The inventory after these objects were created.
pub(super) fn applied(objects: &[Object]) -> Inventory {
    let entry = |object: &Object| {
        let id = format!("id-of-{}", object.key.slot);
        Entry::new(object.key.clone(), id, object.spec.clone())
    };
    Inventory { entries: objects.iter().map(entry).collect() }
}

/// The inventory after a network with the default inputs was created in these AZs, with indices in this order.
pub(super) fn existing_in(letters: &str) -> Inventory {
    let mut inventory = applied(&objects(&config(&[]), "pqrstuvwxyz".get(..letters.len()).unwrap_or("")));
    for entry in &mut inventory.entries {
        let Spec::Subnet(subnet) = &mut entry.applied else { continue };
        let letter = letters.as_bytes()[subnet.index as usize] as char;
        subnet.availability_zone = letter.to_string();
        subnet.availability_zone_id = format!("az-{letter}");
        entry.key = crate::model::keys::network::subnet(
            subnet.tier,
            subnet.index,
            &subnet.availability_zone_id,
            &subnet.cidr_block,
        );
    }
    inventory
}
