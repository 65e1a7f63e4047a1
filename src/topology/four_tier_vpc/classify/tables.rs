//! The route tables of the subnets that can be adopted.

use std::collections::{BTreeMap, BTreeSet};

use super::{Classifier, Placed};
use crate::model::keys::network as keys;
use crate::model::{FoundRouteTable, Tier};

impl<'a> Classifier<'a> {
    /// Places the route tables. Returns the subnets whose tables have a place.
    pub(super) fn route_tables(&mut self, mut subnets: Placed<'a>) -> Placed<'a> {
        let mut owners: BTreeMap<&str, Tier> = BTreeMap::new();
        for tier in Tier::ALL {
            let tables: BTreeMap<u32, &'a FoundRouteTable> = subnets
                .iter()
                .filter(|((it, _), _)| *it == tier)
                .filter_map(|((_, index), subnet)| Some((*index, self.table_of(subnet)?)))
                .collect();
            match self.check(tier, &tables, &owners, &subnets) {
                Ok(()) => {
                    for (slot, table) in slots(tier, &tables) {
                        if owners.get(table).is_none_or(|owner| *owner == tier) {
                            owners.insert(table, tier);
                            self.place(table, slot);
                        }
                    }
                }
                Err(reason) => {
                    let of_tier: Vec<_> = subnets.extract_if(.., |(it, _), _| *it == tier).collect();
                    for (_, subnet) in of_tier {
                        self.reject(&subnet.id, reason.clone());
                    }
                }
            }
        }
        for table in &self.landscape.route_tables {
            if !owners.contains_key(table.id.as_str()) && !table.is_main {
                self.reject(&table.id, "it is the route table of no subnet that can be adopted");
            }
        }
        subnets
    }

    /// Whether each of these tables, by the index of its AZ, is that of another tier in the same AZ.
    fn serve_the_same(&self, owner: Tier, tables: &BTreeMap<u32, &'a FoundRouteTable>) -> bool {
        let single = keys::route_table(owner, None).slot;
        tables.iter().all(|(index, table)| {
            let slot = self.result.slots.get(&table.id);
            slot.is_some_and(|slot| *slot == single || *slot == keys::route_table(owner, Some(*index)).slot)
        })
    }

    /// Why the inputs cannot express the tables of a tier.
    fn check(
        &self,
        tier: Tier,
        tables: &BTreeMap<u32, &'a FoundRouteTable>,
        owners: &BTreeMap<&str, Tier>,
        subnets: &Placed<'a>,
    ) -> Result<(), String> {
        let name = tier.slot();
        let ids: BTreeSet<&str> = tables.values().map(|table| table.id.as_str()).collect();
        for table in tables.values() {
            let id = &table.id;
            // The main route table also serves every new subnet, so it is never the table of a single AZ.
            if table.is_main && ids.len() > 1 {
                return Err(format!(
                    "some subnets of the tier {name} use the main route table {id}, and others do not"
                ));
            }
            if let Some(reason) = self.result.unmanaged.get(id) {
                return Err(format!("its route table {id} cannot be adopted: {reason}"));
            }
            let others: Vec<&String> =
                table.associated.iter().filter(|it| !subnets.values().any(|subnet| subnet.id == **it)).collect();
            if let Some(other) = others.first() {
                return Err(format!("its route table {id} is also that of {other}, which cannot be adopted"));
            }
        }
        let shared: BTreeSet<Tier> = ids.iter().filter_map(|id| owners.get(id).copied()).collect();
        if shared.contains(&Tier::Public) {
            return Err(format!("the tier {name} shares a route table with the public tier"));
        }
        if shared.len() > 1 || (!shared.is_empty() && ids.iter().any(|id| !owners.contains_key(id))) {
            return Err(format!("the tier {name} uses route tables of several tiers"));
        }
        if let Some(owner) = shared.first().filter(|owner| !self.serve_the_same(**owner, tables)) {
            let owner = owner.slot();
            return Err(format!("the tiers {name} and {owner} share route tables, but not the same one in each AZ"));
        }
        if ids.len() > 1 && ids.len() < tables.len() {
            return Err(format!("some subnets of the tier {name} share a route table, and others do not"));
        }
        Ok(())
    }
}

/// The slots of the tables of a tier: one for each subnet, or a single one.
fn slots<'a>(tier: Tier, tables: &BTreeMap<u32, &'a FoundRouteTable>) -> Vec<(String, &'a str)> {
    let ids: BTreeSet<&str> = tables.values().map(|table| table.id.as_str()).collect();
    // Neither a table that also serves another tier in other AZs nor the main one has an AZ of its own.
    let serves_more = || tables.values().any(|table| table.is_main || table.associated.len() > tables.len());
    let is_one = ids.len() == 1 && (tables.len() > 1 || tier == Tier::Public || serves_more());
    match tables.first_key_value().filter(|_| is_one) {
        Some((_, table)) => vec![(keys::route_table(tier, None).slot, table.id.as_str())],
        None => tables.iter().map(|(index, it)| (keys::route_table(tier, Some(*index)).slot, it.id.as_str())).collect(),
    }
}
