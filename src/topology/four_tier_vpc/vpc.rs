//! The VPC: its key, which stays the same unless the VPC must be replaced, and the range of all IPv4 addresses.

use ipnet::Ipv4Net;

use super::config::Config;
use super::{canonical, tags};
use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Key, Object, Spec, Vpc};
use crate::plugin::{AttributePath, Input};
use crate::topology::Context;

/// The VPC that the configuration requires.
pub(super) fn object(context: &Context<'_, Config>) -> Object {
    let config = context.config;
    let mut spec = Vpc {
        name: config.vpc_name.clone(),
        cidr_block: config.cidr_block.clone().map(|cidr| cidr.map(|cidr| canonical(&cidr))),
        ipv4_ipam_pool_id: config.ipv4_ipam_pool_id.clone(),
        ipv4_netmask_length: config.ipv4_netmask_length.clone(),
        instance_tenancy: config.tenancy.clone(),
        enable_dns_support: config.enable_dns_support.clone(),
        enable_dns_hostnames: dns_hostnames(config),
        enable_network_address_usage_metrics: config.enable_network_address_usage_metrics.clone(),
        tags: tags::tags(config, context.scope, keys::VPC, &[&config.vpc_custom_tags]),
    };
    let Some((entry, vpc)) = staying(context.existing, config) else {
        return Object::new(new_key(config), Spec::Vpc(spec));
    };
    // The inputs of the creation do not change. Only an imported VPC gets its pool from the configuration.
    spec.cidr_block = vpc.cidr_block.clone();
    spec.ipv4_netmask_length = vpc.ipv4_netmask_length.clone();
    if vpc.ipv4_ipam_pool_id != Input::Known(None) {
        spec.ipv4_ipam_pool_id = vpc.ipv4_ipam_pool_id.clone();
    }
    Object::new(entry.key.clone(), Spec::Vpc(spec))
}

/// Whether the VPC has DNS host names. AWS requires DNS support for them. As they are on by default, a configuration
/// that only turns off DNS support turns both off.
fn dns_hostnames(config: &Config) -> Input<bool> {
    match (&config.enable_dns_hostnames, &config.enable_dns_support) {
        (Input::Known(false), _) | (_, Input::Known(false)) => Input::Known(false),
        (Input::Known(true), support) => support.clone(),
        (Input::Unknown, _) => Input::Unknown,
    }
}

/// The range of the VPC: the configured one, else the one that a pool allocated. `None` while it is unknown.
pub(super) fn range(config: &Config, existing: &Inventory) -> Option<Ipv4Net> {
    match &config.cidr_block {
        Input::Unknown => None,
        Input::Known(Some(text)) => Some(text.parse::<Ipv4Net>().ok()?.trunc()),
        Input::Known(None) => staying(existing, config).and_then(|(entry, vpc)| range_of(entry, vpc)),
    }
}

/// The attributes whose configured values require another VPC. AWS changes neither range nor pool, and the tenancy only
/// from `dedicated` to `default`. An unknown input counts, because it may have another value, and the plan must
/// announce the replacement.
pub(super) fn replaced_by(entry: &Entry, config: &Config) -> Vec<AttributePath> {
    let Spec::Vpc(vpc) = &entry.applied else { return Vec::new() };
    let range = range_of(entry, vpc);
    let differs = [
        (
            "cidr_block",
            match &config.cidr_block {
                Input::Unknown => true,
                Input::Known(Some(text)) => text.parse::<Ipv4Net>().ok().map(|net| net.trunc()) != range,
                Input::Known(None) => false,
            },
        ),
        (
            "ipv4_ipam_pool_id",
            match (&config.ipv4_ipam_pool_id, &vpc.ipv4_ipam_pool_id) {
                (Input::Unknown, _) => true,
                // AWS does not return the pool of an imported VPC.
                (Input::Known(Some(_)), Input::Known(None)) => entry.is_applied(),
                (Input::Known(Some(wanted)), Input::Known(Some(given))) => wanted != given,
                (Input::Known(None), _) | (_, Input::Unknown) => false,
            },
        ),
        (
            "ipv4_netmask_length",
            match &config.ipv4_netmask_length {
                Input::Unknown => true,
                Input::Known(Some(length)) => range.is_some_and(|range| i64::from(range.prefix_len()) != *length),
                Input::Known(None) => false,
            },
        ),
        ("tenancy", config.tenancy != vpc.instance_tenancy && config.tenancy != Input::Known("default".into())),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| AttributePath::new(name)).collect()
}

/// The same for a VPC that is not in the inventory, compared with the configuration of the last apply.
pub(super) fn replaced_since(prior: &Config, config: &Config) -> Vec<AttributePath> {
    let range = |config: &Config| {
        let cidr_block = config.cidr_block.clone();
        cidr_block.map(|text| text.and_then(|text| text.parse::<Ipv4Net>().ok()).map(|net| net.trunc()))
    };
    let mut paths = Vec::new();
    let mut compare = |name: &str, is_same: bool, is_known: bool| {
        if !is_same || !is_known {
            paths.push(AttributePath::new(name));
        }
    };
    compare("cidr_block", range(prior) == range(config), config.cidr_block.is_known());
    let (pool, length) = (&config.ipv4_ipam_pool_id, &config.ipv4_netmask_length);
    compare("ipv4_ipam_pool_id", *pool == prior.ipv4_ipam_pool_id, pool.is_known());
    compare("ipv4_netmask_length", *length == prior.ipv4_netmask_length, length.is_known());
    let default = Input::Known("default".to_string());
    compare("tenancy", config.tenancy == prior.tenancy || config.tenancy == default, config.tenancy.is_known());
    paths
}

/// The existing VPC, unless it must be replaced.
fn staying<'a>(existing: &'a Inventory, config: &Config) -> Option<(&'a Entry, &'a Vpc)> {
    let entry = existing.at(keys::VPC).filter(|entry| replaced_by(entry, config).is_empty())?;
    Vpc::of(&entry.applied).map(|vpc| (entry, vpc))
}

/// The key of a VPC that is created from this configuration.
pub(super) fn new_key(config: &Config) -> Key {
    match &config.cidr_block {
        Input::Unknown => keys::vpc(&Input::Unknown, &config.tenancy),
        Input::Known(Some(cidr)) => keys::vpc(&Input::Known(canonical(cidr)), &config.tenancy),
        Input::Known(None) => {
            let pool = config.ipv4_ipam_pool_id.clone().map(Option::unwrap_or_default);
            keys::vpc_of_pool(&pool, &config.ipv4_netmask_length, &config.tenancy)
        }
    }
}

fn range_of(entry: &Entry, vpc: &Vpc) -> Option<Ipv4Net> {
    let requested = vpc.cidr_block.known().and_then(Option::as_ref);
    requested.or_else(|| entry.learned.get("cidr_block")).and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, next_objects, objects};
    use super::*;
    use crate::model::{Origin, Tier};
    use crate::plugin::Value;

    fn pool(attributes: &[(&str, Value)]) -> Config {
        let mut all = vec![("cidr_block", Value::Null), ("ipv4_ipam_pool_id", "ipam-pool-1".into())];
        all.extend(attributes.iter().cloned());
        config(&all)
    }

    /// The network after its first apply, with the range that the pool allocated.
    fn created(config: &Config) -> Inventory {
        let mut existing = applied(&objects(config, "ab"));
        existing.entries[0].learned.insert("cidr_block".into(), "10.7.0.0/16".into());
        existing
    }

    fn names(paths: &[AttributePath]) -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_range_of_a_pool_is_unknown_until_the_vpc_exists() {
        let of_pool = pool(&[("ipv4_netmask_length", 16_i64.into())]);
        let before = objects(&of_pool, "ab");
        let block = |objects: &[Object]| {
            let subnet = objects.iter().find(|it| it.key.slot == keys::subnet_slot(Tier::PrivateApp, 1)).unwrap();
            let Spec::Subnet(subnet) = &subnet.spec else { unreachable!() };
            subnet.cidr_block.clone()
        };
        assert_eq!(block(&before), Input::Unknown);
        assert_eq!(before[0].key.fixed, Input::Known("ipam-pool-1 /16 default".into()));
        let after = next_objects(&of_pool, Some(&of_pool), &created(&of_pool), "ab");
        assert_eq!(block(&after), Input::Known("10.7.88.0/21".into()));
        assert_eq!(after[0], before[0]);
    }

    #[test]
    fn an_allocated_range_can_be_configured_and_removed_again() {
        let of_pool = pool(&[]);
        let existing = created(&of_pool);
        let written = pool(&[("cidr_block", "10.7.0.0/16".into())]);
        let without_pool = config(&[("cidr_block", "10.7.0.0/16".into())]);
        let of_its_length = pool(&[("ipv4_netmask_length", 16_i64.into())]);
        for wanted in [&written, &without_pool, &of_its_length] {
            assert_eq!(replaced_by(&existing.entries[0], wanted), []);
            let after = next_objects(wanted, Some(&of_pool), &existing, "ab");
            let before = &existing.entries[0];
            assert_eq!((&after[0].key, &after[0].spec), (&before.key, &before.applied));
        }
    }

    #[test]
    fn another_range_pool_or_length_replaces_the_network() {
        let existing = created(&pool(&[]));
        let replaced = |config: &Config| names(&replaced_by(&existing.entries[0], config));
        assert_eq!(replaced(&config(&[("cidr_block", "10.8.0.0/16".into())])), ["cidr_block"]);
        assert_eq!(replaced(&pool(&[("ipv4_ipam_pool_id", "ipam-pool-2".into())])), ["ipv4_ipam_pool_id"]);
        assert_eq!(replaced(&pool(&[("ipv4_netmask_length", 20_i64.into())])), ["ipv4_netmask_length"]);
        assert_eq!(replaced(&pool(&[("tenancy", "dedicated".into())])), ["tenancy"]);
        assert_eq!(replaced(&pool(&[("ipv4_ipam_pool_id", Value::Unknown)])), ["ipv4_ipam_pool_id"]);
    }

    #[test]
    fn the_pool_of_an_imported_vpc_can_be_configured() {
        let mut existing = applied(&objects(&config(&[("cidr_block", "10.7.0.0/16".into())]), "ab"));
        let of_pool = pool(&[("ipv4_netmask_length", 16_i64.into())]);
        assert_eq!(names(&replaced_by(&existing.entries[0], &of_pool)), ["ipv4_ipam_pool_id"]);
        existing.entries[0].origin = Origin::Found;
        assert_eq!(replaced_by(&existing.entries[0], &of_pool), []);
        let after = next_objects(&of_pool, None, &existing, "ab");
        assert_eq!(after[0].key, existing.entries[0].key);
        let Spec::Vpc(vpc) = &after[0].spec else { unreachable!() };
        assert_eq!(vpc.ipv4_ipam_pool_id, Input::Known(Some("ipam-pool-1".into())));
        let shorter = pool(&[("ipv4_netmask_length", 20_i64.into())]);
        assert_eq!(names(&replaced_by(&existing.entries[0], &shorter)), ["ipv4_netmask_length"]);
    }
}
