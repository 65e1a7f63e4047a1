//! The slots of the objects of a network, by kind.

use crate::model::Tier;

/// Tier and index of the slot of a subnet, `subnet.<tier>.<index>`.
pub(super) fn tier_and_index(slot: &str) -> Option<(Tier, u32)> {
    let (tier, index) = slot.strip_prefix("subnet.")?.split_once('.')?;
    let tier = Tier::ALL.into_iter().find(|it| it.slot() == tier)?;
    Some((tier, index.parse().ok()?))
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|number| number.to_string() == text)
}

pub(super) fn is_eip(slot: &str) -> bool {
    slot.strip_prefix("eip.").is_some_and(is_number)
}

pub(super) fn is_nat_gateway(slot: &str) -> bool {
    slot.strip_prefix("nat_gateway.").is_some_and(is_number)
}

pub(super) fn is_private_nat_gateway(slot: &str) -> bool {
    slot.strip_prefix("private_nat_gateway.").is_some_and(is_number)
}

pub(super) fn is_route_table(slot: &str) -> bool {
    let is_numbered =
        || slot.rsplit_once('.').is_some_and(|(table, number)| is_route_table_of_tier(table) && is_number(number));
    is_route_table_of_tier(slot) || is_numbered()
}

pub(super) fn is_route_table_of_tier(slot: &str) -> bool {
    slot.strip_prefix("route_table.").is_some_and(|tier| Tier::ALL.iter().any(|it| it.slot() == tier))
}
