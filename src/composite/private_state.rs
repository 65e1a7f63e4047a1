//! Private state: what Terraform stores for us beside the state that users see. It is a cache. Absent or
//! unreadable, it is rebuilt from AWS.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::state;
use crate::cloud::RootState;
use crate::model::{Entry, Facts, Inventory, Object};
use crate::plugin::Value;
use crate::reconcile::Plan;
use crate::topology::Topology;

/// Raised when an older provider could not read what a newer one writes.
const FORMAT: u32 = 1;

/// The private state of one resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Private {
    format: u32,
    /// What exists, as last applied and as last seen.
    pub(super) inventory: Inventory,
    /// The root's `fgw:state`, where it is not `ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) root_state: Option<RootState>,
    /// Whether AWS refused to let us change that tag. The next apply tries again, but no plan is made for it alone: a
    /// role that may tag only on creation would never see an empty one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) marking_refused: bool,
    /// What an apply that failed has left to do and what a killed one has left behind, by key; shown as drift until
    /// an apply succeeds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pending: BTreeMap<String, String>,
    /// The configuration that was last applied in full, where a later one was applied in part: what has been frozen
    /// by it stays frozen, and what the later one moves still moves.
    #[serde(default, rename = "settled", skip_serializing_if = "Option::is_none")]
    pub(super) last_applied: Option<Value>,
    /// Whether the state comes from an import and nothing has been applied since: its attributes are then what the
    /// inventory shows, and not what a user wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) imported: bool,
    /// Made by the plan of a create. Where that create replaces an object, Terraform hands this to the destroy of the
    /// old one too, and what the old one consists of is not in here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) of_create: bool,
    /// From plan to apply: what was looked up, so that apply decides on the same facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<Facts>,
}

impl Private {
    /// Nothing but objects.
    pub(super) fn of(inventory: Inventory) -> Private {
        Private { format: FORMAT, inventory, ..Private::default() }
    }

    /// What the plan of a create starts from.
    pub(super) fn of_create() -> Private {
        Private { of_create: true, ..Private::of(Inventory::default()) }
    }

    /// The attributes that a configuration is compared with: those last applied in full; after an import, those that
    /// reproduce what was found, where AWS shows it. `prior` is the state, `configuration` has its defaults.
    pub(super) fn last_applied<P: Topology>(private: Option<&Private>, prior: &Value, configuration: &Value) -> Value {
        if let Some(last_applied) = private.and_then(|private| private.last_applied.clone()) {
            return last_applied;
        }
        let mut attributes = state::configured::<P>(prior);
        if let Some(private) = private.filter(|private| private.imported) {
            P::take_as_applied(&mut attributes, configuration, &private.inventory);
        }
        attributes
    }

    /// Whether all that differs from what was applied are looks of objects, and the absence of some that are not
    /// wanted. That is no difference where the configuration agrees with it, as it does when it ignores changes of the
    /// attributes that express it.
    pub(super) fn is_observed_only(&self, wanted: &[Object]) -> bool {
        let marked = self.root_state.is_none() || self.marking_refused;
        let is_wanted = |entry: &Entry| wanted.iter().any(|object| object.key == entry.key);
        let agrees = |entry: &Entry| entry.is_present() || !is_wanted(entry);
        self.pending.is_empty() && marked && self.inventory.entries.iter().all(agrees)
    }

    /// Whether what was imported is what the configuration asks for, though it may say so in other words.
    pub(super) fn is_as_imported(&self, plan: &Plan, wanted: &[Object]) -> bool {
        self.imported && plan.is_empty() && self.is_observed_only(wanted)
    }

    /// As Terraform stores it.
    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("maps with string keys and plain values always serialize")
    }

    /// Reads what is stored about a root that exists; `None` where there is nothing, nothing that this version can
    /// read, or the plan of a create.
    pub(super) fn decode(stored: &[u8]) -> Option<Private> {
        Private::decode_plan(stored).filter(|private| !private.of_create)
    }

    /// Reads what a plan hands to apply, that of a create too.
    pub(super) fn decode_plan(stored: &[u8]) -> Option<Private> {
        if stored.is_empty() {
            return None;
        }
        match serde_json::from_slice::<Private>(stored) {
            Ok(private) if private.format == FORMAT => Some(private),
            Ok(private) => {
                tracing::warn!(
                    "private state has format {}, this version reads {FORMAT}: rebuilding it",
                    private.format
                );
                None
            }
            Err(error) => {
                tracing::warn!("private state cannot be read ({error}): rebuilding it");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_state_reads_back_what_it_wrote() {
        let mut private = Private::of(Inventory::default());
        private.pending.insert("subnet.public.0".into(), "not yet applied".into());
        assert_eq!(Private::decode(&private.encode()), Some(private));
    }

    #[test]
    fn the_plan_of_a_create_tells_nothing_of_what_exists() {
        let stored = Private::of_create().encode();
        assert_eq!(Private::decode(&stored), None);
        assert_eq!(Private::decode_plan(&stored), Some(Private::of_create()));
    }

    #[test]
    fn private_state_of_another_format_or_of_none_is_rebuilt() {
        assert_eq!(Private::decode(b""), None);
        assert_eq!(Private::decode(b"{}"), None);
        assert_eq!(Private::decode(br#"{"format":2,"inventory":{"entries":[]}}"#), None);
    }
}
