//! A network to read, with what is known of it.

use std::collections::{BTreeMap, HashMap};

use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::model::{Entry, Spec, TopologyKind};

#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub(super) session: &'a Session,
    pub(super) owner: TopologyKind,
    /// The id of the VPC.
    pub(super) root_id: &'a str,
    /// The entries of state, by id.
    pub(super) known: &'a HashMap<&'a str, &'a Entry>,
    /// The slots of the objects, if only the user-visible state is known.
    pub(super) slots: Option<&'a BTreeMap<String, String>>,
    /// The slots of additional objects that the user names in `adopt`.
    pub(super) consented: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Network<'a> {
    /// The value of the ownership tag of all objects below the VPC.
    pub(super) fn resource(&self) -> String {
        ownership::resource(self.owner, self.root_id)
    }

    /// Whether tags alone identify the objects, as in an import.
    pub(super) fn trusts_tags(&self) -> bool {
        self.known.is_empty() && self.slots.is_none()
    }

    /// The ids of one kind that are in state or in `named`, and that AWS has not returned. Of an object whose kind
    /// state does not contain, the slot determines the kind.
    pub(super) fn missing(
        &self,
        named: [Option<&'a BTreeMap<String, String>>; 2],
        is_kind: impl Fn(&Spec) -> bool,
        is_slot: impl Fn(&str) -> bool,
        is_shown: impl Fn(&str) -> bool,
    ) -> Vec<&'a str> {
        let entries = self.known.iter().filter(|(_, entry)| is_kind(&entry.applied)).map(|(id, _)| *id);
        let slots = named.into_iter().flatten().flatten().filter(|(_, slot)| is_slot(slot)).map(|(id, _)| id.as_str());
        let mut ids: Vec<&str> = entries.chain(slots).filter(|id| !is_shown(id)).collect();
        ids.sort_unstable();
        ids
    }
}
