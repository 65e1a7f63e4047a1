//! Warnings about the AZs of the network.

use super::super::Strings;
use super::super::config::Config;
use super::super::zones::{ZoneSlot, with_names};
use crate::model::AvailabilityZone;
use crate::plugin::{AttributePath, Problem};

/// Warnings about inputs that select fewer AZs than their values say, because the account does not have them. `network`
/// are the AZs of the network.
pub(in super::super) fn unused_inputs(
    config: &Config,
    network: &[ZoneSlot],
    available: &[AvailabilityZone],
) -> Vec<Problem> {
    let mut warnings = Vec::from_iter(too_few(config, network));
    let id: fn(&AvailabilityZone) -> &str = |zone| &zone.id;
    let name: fn(&AvailabilityZone) -> &str = |zone| &zone.name;
    for (input, list, text) in [
        ("availability_zone_exclude_ids", &config.availability_zone_exclude_ids, id),
        ("availability_zone_exclude_names", &config.availability_zone_exclude_names, name),
    ] {
        warnings.extend(missing(input, list, available, text));
    }
    warnings
}

fn too_few(config: &Config, network: &[ZoneSlot]) -> Option<Problem> {
    let wanted = config.num_availability_zones.known().copied().flatten()?;
    let count = network.len();
    let ids: Vec<&str> = network.iter().map(|place| place.id.as_str()).collect();
    (i64::try_from(count).is_ok_and(|count| count < wanted)).then(|| {
        let are = if count == 1 { "AZ is" } else { "AZs are" };
        Problem::new(
            AttributePath::new("num_availability_zones"),
            format!("num_availability_zones is {wanted}, but only {count} {are} available: {}.", ids.join(", ")),
            format!("Set num_availability_zones to {count}, or let the other inputs select more AZs."),
        )
    })
}

/// Warnings about the elements of a list that are not among the existing AZs.
fn missing<'a>(
    input: &'a str,
    list: &'a Strings,
    available: &'a [AvailabilityZone],
    text: fn(&AvailabilityZone) -> &str,
) -> impl Iterator<Item = Problem> + 'a {
    let elements = list.known().into_iter().flatten().enumerate();
    let known = elements.filter_map(|(index, item)| Some((index, item.known()?)));
    known.filter(move |(_, item)| available.iter().all(|zone| text(zone) != *item)).map(move |(index, item)| {
        Problem::new(
            AttributePath::new(input).index(index),
            format!(
                "{item:?} has no effect, because this account has no such AZ in the Region. Its AZs are {}.",
                with_names(available)
            ),
            "Correct the entry, or remove it.",
        )
    })
}

/// The warning about AZs with subnets that AWS no longer lists or that are not available. It is a single one, because
/// Terraform shows only the first of several warnings with the same summary.
pub(in super::super) fn of_state<'a>(
    used: impl Iterator<Item = &'a ZoneSlot>,
    available: &[AvailabilityZone],
) -> Option<Problem> {
    let of = |place: &ZoneSlot| match available.iter().find(|zone| zone.id == place.id) {
        None => Some(format!("AWS no longer lists the AZ {} ({}). Its subnets stay.", place.name, place.id)),
        Some(zone) if zone.state != "available" => {
            Some(format!("The AZ {} ({}) is {}. It has subnets of this network.", place.name, place.id, zone.state))
        }
        Some(_) => None,
    };
    let messages: Vec<String> = used.filter_map(of).collect();
    let hint = "To stop using an AZ, add its ID to availability_zone_exclude_ids.";
    let path = AttributePath::new("availability_zone_exclude_ids");
    (!messages.is_empty()).then(|| Problem::new(path, messages.join(" "), hint))
}

#[cfg(test)]
mod tests {
    use super::super::super::config::tests::config;
    use super::super::super::fixtures::{existing_in, zones};
    use super::super::super::zones::places;
    use super::*;
    use crate::model::Inventory;
    use crate::plugin::Value;

    #[test]
    fn an_unlisted_or_impaired_az_causes_a_warning() {
        let mut available = zones("ab");
        available[0].state = "impaired".into();
        let places = places(&config(&[]), &existing_in("abc"), &available).unwrap().unwrap();
        assert_eq!(places.len(), 3);
        let warning = of_state(places.iter(), &available).expect("one, because Terraform would hide a second one");
        for text in ["The AZ a (az-a) is impaired.", "AWS no longer lists the AZ c (az-c)."] {
            assert!(warning.message.contains(text), "{warning:?}");
        }
    }

    fn warned(attributes: &[(&str, Value)]) -> Vec<(String, String)> {
        let (config, available) = (config(attributes), zones("abc"));
        let network = places(&config, &Inventory::default(), &available).unwrap().unwrap();
        let warnings = unused_inputs(&config, &network, &available);
        warnings.into_iter().map(|it| (it.path.to_string(), it.message)).collect()
    }

    #[test]
    fn fewer_azs_than_requested_cause_a_warning() {
        let count = |count: i64| ("num_availability_zones", Value::from(count));
        assert_eq!(warned(&[count(3)]), []);
        for (attributes, text) in [
            (vec![count(4)], "is 4, but only 3 AZs are available: az-a, az-b, az-c."),
            (vec![count(2), ("availability_zone_ids", vec!["az-b"].into())], "is 2, but only 1 AZ is available: az-b."),
            (vec![count(3), ("availability_zone_exclude_names", vec!["a"].into())], "only 2 AZs are available"),
        ] {
            let found = warned(&attributes);
            assert_eq!((found.len(), found[0].0.as_str()), (1, "num_availability_zones"));
            assert!(found[0].1.contains(text), "{found:?}");
        }
    }

    #[test]
    fn each_excluded_az_that_does_not_exist_causes_a_warning() {
        let found = warned(&[("availability_zone_exclude_ids", vec!["az-a", "az-x"].into())]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "availability_zone_exclude_ids[1]");
        assert!(found[0].1.contains("\"az-x\"") && found[0].1.contains("az-a (a), az-b (b), az-c (c)"), "{found:?}");
        let found = warned(&[("availability_zone_exclude_names", vec!["y", "b", "z"].into())]);
        let paths: Vec<&str> = found.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(paths, ["availability_zone_exclude_names[0]", "availability_zone_exclude_names[2]"]);
        assert!(found[0].1.contains("az-a (a), az-b (b), az-c (c)"), "{found:?}");
    }
}
