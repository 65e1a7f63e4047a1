//! The AZs of the network, and the index of each.
//!
//! An AZ keeps its index, because its subnets are named and addressed by it.

use super::config::Config;
use crate::model::{AvailabilityZone, Tier};
use crate::model::{Inventory, Spec};
use crate::plugin::{AttributePath, Input, Problem};

/// The position of a subnet: its tier and the index of its AZ.
pub(super) type SubnetSlot = (Tier, u32);

/// An AZ of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZoneSlot {
    /// Its index in the network.
    pub(super) index: u32,
    /// The name, such as `us-east-1a`.
    pub(super) name: String,
    /// The ID, such as `use1-az4`.
    pub(super) id: String,
}

/// The inputs that select AZs, all known.
struct Choice<'a> {
    count: Option<usize>,
    ids: Option<Vec<&'a str>>,
    names: Option<Vec<&'a str>>,
    exclude_ids: Vec<&'a str>,
    exclude_names: Vec<&'a str>,
    state: Option<&'a str>,
}

/// The AZs of the network by index; `None` while an input that selects them is unknown.
///
/// AZs with subnets stay until an input removes them. If all subnets of an AZ are pending deletion and the AZ is
/// required again, it returns at its index, unless another AZ has taken that index. The filters and the order by name
/// select among the `available` AZs only for new places, and each new place gets the lowest free index.
pub(super) fn places(
    config: &Config,
    existing: &Inventory,
    available: &[AvailabilityZone],
) -> Result<Option<Vec<ZoneSlot>>, Vec<Problem>> {
    let Some(choice) = Choice::of(config) else { return Ok(None) };
    let limit = choice.count.unwrap_or(usize::MAX);
    let mut places = Vec::new();
    add(&mut places, holders(existing, false), &choice);
    places.sort_by_key(|place| place.index);
    places.truncate(limit);
    // If an AZ is required again before its subnets could be deleted, these are kept: new subnets would need other
    // blocks.
    let staying = places.len();
    add(&mut places, holders(existing, true), &choice);
    places[staying..].sort_by_key(|place| place.index);
    places.truncate(limit);

    if let Some(problem) = choice.missing(&places, available) {
        return Err(vec![problem]);
    }
    let mut candidates: Vec<&AvailabilityZone> = available
        .iter()
        .filter(|zone| choice.admits(&zone.id, &zone.name))
        .filter(|zone| choice.state.is_none_or(|state| state == zone.state))
        .filter(|zone| places.iter().all(|place| place.id != zone.id))
        .collect();
    candidates.sort_by(|a, b| a.name.cmp(&b.name));
    let room = limit.saturating_sub(places.len());
    for zone in candidates.into_iter().take(room) {
        let index = (0..).find(|index| places.iter().all(|place| place.index != *index)).unwrap_or(u32::MAX);
        places.push(ZoneSlot { index, name: zone.name.clone(), id: zone.id.clone() });
    }
    places.sort_by_key(|place| place.index);

    if places.is_empty() { Err(vec![choice.rejects_all(available)]) } else { Ok(Some(places)) }
}

/// Adds each AZ that the inputs admit, unless the AZ or its index is already in the list.
fn add(places: &mut Vec<ZoneSlot>, holders: impl Iterator<Item = ZoneSlot>, choice: &Choice<'_>) {
    for holder in holders.filter(|place| choice.admits(&place.id, &place.name)) {
        if places.iter().all(|place| place.index != holder.index && place.id != holder.id) {
            places.push(holder);
        }
    }
}

/// The AZ and index of each subnet that is, or is not, pending deletion. A subnet that was deleted outside Terraform
/// counts if it is not pending deletion, because it is created again.
fn holders(existing: &Inventory, pending_deletion: bool) -> impl Iterator<Item = ZoneSlot> {
    let entries = existing
        .entries
        .iter()
        .filter(move |entry| entry.pending_deletion == pending_deletion && !(pending_deletion && entry.is_missing()));
    entries.filter(|entry| entry.key.slot.starts_with("subnet.")).filter_map(|entry| match &entry.applied {
        Spec::Subnet(subnet) => Some(ZoneSlot {
            index: subnet.index,
            name: subnet.availability_zone.clone(),
            id: subnet.availability_zone_id.clone(),
        }),
        _ => None,
    })
}

/// The IDs of AZs, each with its name.
pub(super) fn with_names(zones: &[AvailabilityZone]) -> String {
    let zones: Vec<String> = zones.iter().map(|zone| format!("{} ({})", zone.id, zone.name)).collect();
    zones.join(", ")
}

/// The message and the hint of the problem that an AZ is not one of the network's.
pub(super) fn not_selected(
    config: &Config,
    network: &[ZoneSlot],
    available: &[AvailabilityZone],
    id: &str,
) -> (String, String) {
    let ids: Vec<&str> = network.iter().map(|place| place.id.as_str()).collect();
    let list = format!("The AZs of the network are {}.", ids.join(", "));
    match Choice::of(config).and_then(|choice| choice.rejects(id, available)) {
        Some((input, reason)) => (
            format!("{id} is not an AZ of the network, because {reason}. {list}"),
            format!("Use IDs from this list, or change {input}."),
        ),
        None => (format!("This account has no AZ {id} in the Region. {list}"), "Use IDs from this list.".to_string()),
    }
}

impl Choice<'_> {
    fn of(config: &Config) -> Option<Choice<'_>> {
        let count = *config.num_availability_zones.known()?;
        Some(Choice {
            count: count.map(|count| usize::try_from(count).unwrap_or(0)),
            ids: all_known_of(config.availability_zone_ids.known()?.as_deref())?,
            names: all_known_of(config.availability_zone_names.known()?.as_deref())?,
            exclude_ids: all_known(config.availability_zone_exclude_ids.known()?)?,
            exclude_names: all_known(config.availability_zone_exclude_names.known()?)?,
            state: config.availability_zone_state.known()?.as_deref(),
        })
    }

    fn admits(&self, id: &str, name: &str) -> bool {
        self.ids.as_ref().is_none_or(|ids| ids.contains(&id))
            && self.names.as_ref().is_none_or(|names| names.contains(&name))
            && !self.exclude_ids.contains(&id)
            && !self.exclude_names.contains(&name)
    }

    /// The problem that an input lists AZs that neither AWS nor the network has.
    fn missing(&self, places: &[ZoneSlot], available: &[AvailabilityZone]) -> Option<Problem> {
        let ids = available.iter().map(|zone| &zone.id).chain(places.iter().map(|place| &place.id));
        let names = available.iter().map(|zone| &zone.name).chain(places.iter().map(|place| &place.name));
        let (ids, names): (Vec<&String>, Vec<&String>) = (ids.collect(), names.collect());
        let lists = [("availability_zone_ids", &self.ids, ids), ("availability_zone_names", &self.names, names)];
        lists.into_iter().find_map(|(input, list, existing)| {
            let is_missing = |item: &&&str| existing.iter().all(|it| it.as_str() != **item);
            let missing: Vec<&str> = list.iter().flatten().filter(is_missing).copied().collect();
            (!missing.is_empty()).then(|| {
                let (missing, usable) = (missing.join(", "), with_names(available));
                let message = format!("This account has no AZ {missing} in the Region. Its AZs are {usable}.");
                let form = if input == "availability_zone_ids" { "IDs" } else { "names" };
                Problem::new(AttributePath::new(input), message, format!("Use {form} from this list."))
            })
        })
    }

    /// The input that keeps the network from using an AZ, and the reason; `None` if there is no such AZ.
    fn rejects(&self, id: &str, available: &[AvailabilityZone]) -> Option<(&'static str, String)> {
        if self.ids.as_ref().is_some_and(|ids| !ids.contains(&id)) {
            return Some(("availability_zone_ids", "availability_zone_ids does not list it".to_string()));
        }
        if self.exclude_ids.contains(&id) {
            return Some(("availability_zone_exclude_ids", "availability_zone_exclude_ids lists it".to_string()));
        }
        let zone = available.iter().find(|zone| zone.id == id)?;
        if self.names.as_ref().is_some_and(|names| !names.contains(&zone.name.as_str())) {
            let reason = format!("availability_zone_names does not list its name, {}", zone.name);
            return Some(("availability_zone_names", reason));
        }
        if self.exclude_names.contains(&zone.name.as_str()) {
            let reason = format!("availability_zone_exclude_names lists its name, {}", zone.name);
            return Some(("availability_zone_exclude_names", reason));
        }
        if let Some(state) = self.state.filter(|state| *state != zone.state) {
            let reason = format!("it is {}, and availability_zone_state is {state}", zone.state);
            return Some(("availability_zone_state", reason));
        }
        let reason = format!("num_availability_zones is {}", self.count?);
        Some(("num_availability_zones", reason))
    }

    /// The problem that no AZ is left, at an input that excludes one which `availability_zone_ids` or
    /// `availability_zone_names` selects.
    fn rejects_all(&self, available: &[AvailabilityZone]) -> Problem {
        let is_chosen = |zone: &&AvailabilityZone| {
            self.ids.as_ref().is_none_or(|ids| ids.contains(&&*zone.id))
                && self.names.as_ref().is_none_or(|names| names.contains(&&*zone.name))
        };
        let admitted = available.iter().filter(is_chosen);
        let rejected: Vec<_> =
            admitted.filter_map(|zone| Some((&zone.id, self.rejects(&zone.id, available)?))).collect();
        let input = rejected.first().map_or("availability_zone_ids", |(_, (input, _))| input);
        let reasons: Vec<String> = rejected.iter().map(|(id, (_, reason))| format!("{id}: {reason}")).collect();
        let message = match reasons.is_empty() {
            true => "This account has no AZ in the Region.".to_string(),
            false => format!("No AZ of the Region can be used. {}.", reasons.join("; ")),
        };
        Problem::new(AttributePath::new(input), message, "Exclude fewer AZs, or change availability_zone_state.")
    }
}

/// The elements of an optional list; `None` if one of them is unknown.
fn all_known_of(items: Option<&[Input<String>]>) -> Option<Option<Vec<&str>>> {
    items.map_or(Some(None), |items| all_known(items).map(Some))
}

fn all_known(items: &[Input<String>]) -> Option<Vec<&str>> {
    items.iter().map(|item| item.known().map(String::as_str)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{existing_in, zones};
    use super::*;
    use crate::model::Entry;
    use crate::plugin::Value;

    fn chosen(attributes: &[(&str, Value)], existing: &Inventory, available: &[AvailabilityZone]) -> Vec<String> {
        let places = places(&config(attributes), existing, available).unwrap().unwrap();
        places.iter().map(|place| format!("{} {}", place.index, place.name)).collect()
    }

    #[test]
    fn azs_are_used_in_the_order_of_their_names() {
        assert_eq!(chosen(&[], &Inventory::default(), &zones("cab")), ["0 a", "1 b", "2 c"]);
        let nine = [("num_availability_zones", 9_i64.into())];
        assert_eq!(chosen(&nine, &Inventory::default(), &zones("abc")), ["0 a", "1 b", "2 c"]);
        let two = [("num_availability_zones", 2_i64.into())];
        assert_eq!(chosen(&two, &Inventory::default(), &zones("abc")), ["0 a", "1 b"]);
    }

    #[test]
    fn a_new_az_gets_the_next_free_index() {
        assert_eq!(chosen(&[], &existing_in("bc"), &zones("abc")), ["0 b", "1 c", "2 a"]);
    }

    #[test]
    fn an_unlisted_or_impaired_az_stays() {
        let mut available = zones("ab");
        available[0].state = "impaired".into();
        assert_eq!(chosen(&[], &existing_in("abc"), &available), ["0 a", "1 b", "2 c"]);
        let only_available = [("availability_zone_state", "available".into())];
        assert_eq!(chosen(&only_available, &existing_in("abc"), &available), ["0 a", "1 b", "2 c"]);
    }

    #[test]
    fn the_exclusion_of_all_azs_is_reported_at_the_input_that_excludes() {
        for (attributes, path, text) in [
            (vec![("availability_zone_exclude_ids", vec!["az-a", "az-b"].into())], "exclude_ids", "lists it"),
            (vec![("availability_zone_exclude_names", vec!["a", "b"].into())], "exclude_names", "its name, a"),
            (vec![("availability_zone_state", "impaired".into())], "state", "it is available"),
            (
                vec![
                    ("availability_zone_ids", vec!["az-a"].into()),
                    ("availability_zone_exclude_names", vec!["a"].into()),
                ],
                "exclude_names",
                "az-a: availability_zone_exclude_names",
            ),
        ] {
            let problems = places(&config(&attributes), &Inventory::default(), &zones("ab")).unwrap_err();
            assert_eq!(problems[0].path, AttributePath::new(&format!("availability_zone_{path}")));
            assert!(problems[0].message.contains(text), "{problems:?}");
        }
    }

    #[test]
    fn a_new_az_gets_the_index_of_an_excluded_one() {
        let without_a = [("availability_zone_exclude_names", vec!["a"].into())];
        assert_eq!(chosen(&without_a, &existing_in("abc"), &zones("abcd")), ["0 d", "1 b", "2 c"]);
    }

    #[test]
    fn the_az_with_the_highest_index_is_removed_first() {
        let two = [("num_availability_zones", 2_i64.into())];
        assert_eq!(chosen(&two, &existing_in("cab"), &zones("abc")), ["0 c", "1 a"]);
    }

    /// The subnets in the AZs that these letters name.
    fn subnets_in(existing: &Inventory, letters: &str) -> Vec<Entry> {
        let is_in = |entry: &&Entry| match &entry.applied {
            Spec::Subnet(subnet) => letters.contains(&subnet.availability_zone),
            _ => false,
        };
        existing.entries.iter().filter(is_in).cloned().collect()
    }

    #[test]
    fn an_az_pending_deletion_returns_at_its_index() {
        let mut existing = existing_in("dca");
        let pending = subnets_in(&existing, "cd");
        for entry in existing.entries.iter_mut().filter(|entry| pending.contains(entry)) {
            entry.pending_deletion = true;
        }
        assert_eq!(chosen(&[], &existing, &zones("abcd")), ["0 d", "1 c", "2 a", "3 b"]);
        let two = [("num_availability_zones", 2_i64.into())];
        assert_eq!(chosen(&two, &existing, &zones("abcd")), ["0 d", "2 a"]);
        let one = [("num_availability_zones", 1_i64.into())];
        assert_eq!(chosen(&one, &existing, &zones("abcd")), ["2 a"]);
        let without_d = [("availability_zone_exclude_names", vec!["d"].into())];
        assert_eq!(chosen(&without_d, &existing, &zones("abcd")), ["0 b", "1 c", "2 a"]);
    }

    #[test]
    fn an_az_returns_at_another_index_if_its_own_is_taken() {
        let mut existing = existing_in("dbc");
        let pending = subnets_in(&existing_in("abc"), "a").into_iter();
        existing.entries.extend(pending.map(|entry| Entry { pending_deletion: true, ..entry }));
        assert_eq!(chosen(&[], &existing, &zones("abcd")), ["0 d", "1 b", "2 c", "3 a"]);
    }

    #[test]
    fn an_az_keeps_the_index_from_a_failed_apply() {
        let mut existing = existing_in("abc");
        existing.entries.extend(subnets_in(&existing_in("ebc"), "e"));
        let inputs = [("availability_zone_exclude_names", vec!["a"].into()), ("num_availability_zones", 3_i64.into())];
        assert_eq!(chosen(&inputs, &existing, &zones("abcde")), ["0 e", "1 b", "2 c"]);
    }

    #[test]
    fn a_missing_az_id_is_rejected_and_an_unknown_one_is_not() {
        let named = config(&[("availability_zone_names", vec!["c", "a"].into())]);
        let chosen = places(&named, &Inventory::default(), &zones("abc")).unwrap().unwrap();
        assert_eq!(chosen.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["az-a", "az-c"]);
        let wrong = config(&[("availability_zone_names", vec!["x"].into())]);
        let problem = &places(&wrong, &Inventory::default(), &zones("ab")).unwrap_err()[0];
        assert_eq!(problem.path.to_string(), "availability_zone_names");
        assert_eq!(problem.message, "This account has no AZ x in the Region. Its AZs are az-a (a), az-b (b).");
        let wrong = config(&[("availability_zone_ids", vec!["az-x"].into())]);
        let problems = places(&wrong, &Inventory::default(), &zones("ab")).unwrap_err();
        assert!(problems[0].message.contains("az-x") && problems[0].message.contains("az-a (a), az-b (b)"));
        let unknown = config(&[("availability_zone_ids", Value::List(vec![Value::Unknown]))]);
        assert_eq!(places(&unknown, &Inventory::default(), &zones("ab")), Ok(None));
    }
}
