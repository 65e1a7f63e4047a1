//! Which objects of a network are managed: those in state. Others with the ownership tags of the network may have been
//! created by an interrupted run. Anyone who may write tags can set these too, so such an object counts only if nothing
//! is known against it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_ec2::types::{NatGateway, Route, RouteTable, Tag};

use super::network::Network;
use super::tags;
use crate::aws::calls::ownership;
use crate::cloud::Unmanaged;
use crate::model::{Entry, Key, STACK, Spec};

/// The claims of one network on the objects that AWS returned.
pub(super) struct Claims<'a> {
    pub(super) network: Network<'a>,
    /// The lists in which the evidence of other kinds is.
    pub(super) tables: &'a [RouteTable],
    pub(super) nats: &'a [NatGateway],
    /// The value of the ownership tag of all objects below the VPC.
    resource: String,
    ours: HashMap<String, Ours<'a>>,
    result: Claimed,
}

/// What a read reports about the objects that are not in state.
#[derive(Default)]
pub(super) struct Claimed {
    /// The objects with the network's ownership tags that are not managed, and consented ones that cannot be.
    pub(super) unmanaged: Vec<Unmanaged>,
    /// For an object that is only tagged: the other such objects that must be managed too.
    pub(super) requires: BTreeMap<String, BTreeSet<String>>,
    /// The consented objects without the network's ownership tags.
    pub(super) untagged: BTreeSet<String>,
    /// The names of the CloudFormation stacks of these objects.
    pub(super) stacks: BTreeMap<String, String>,
}

/// Why an object is managed.
#[derive(Clone, Copy)]
pub(super) enum Ours<'a> {
    /// Its id is in state.
    State(&'a Entry),
    /// It has this slot in the user-visible state or in its ownership tags.
    Slot(&'a str),
}

impl<'a> Ours<'a> {
    /// The key of the object and, if it is in state, its applied spec. Without state, the key has only the slot. `None`
    /// if the object in state is of another kind.
    pub(super) fn place<T>(self, of: fn(&Spec) -> Option<&T>) -> Option<(Key, Option<&'a T>)> {
        match self {
            Ours::State(entry) => Some((entry.key.clone(), Some(of(&entry.applied)?))),
            Ours::Slot(slot) => Some((Key::new(slot), None)),
        }
    }
}

/// What is known for and against managing an object.
pub(super) struct Evidence<'a> {
    /// The name of its kind with an article, for messages.
    pub(super) kind: &'static str,
    /// Whether a slot is one of this kind of object.
    pub(super) is_slot: fn(&str) -> bool,
    /// The properties that cannot change. Of several objects with one slot and equal properties, none is managed by its
    /// tags.
    pub(super) fixed: String,
    /// Why its tags alone do not make it managed.
    pub(super) needs_consent: Option<String>,
    /// Why it cannot be managed even if the user consents: a clause such as "it is not attached to this VPC".
    pub(super) impossible: Option<String>,
    /// The objects that it is in, or that use it. They must be managed too.
    pub(super) requires: Vec<&'a str>,
}

impl Evidence<'_> {
    /// Nothing is known against the object.
    pub(super) fn new(kind: &'static str, is_slot: fn(&str) -> bool) -> Self {
        let (fixed, needs_consent, impossible, requires) = Default::default();
        Evidence { kind, is_slot, fixed, needs_consent, impossible, requires }
    }
}

impl<'a> Claims<'a> {
    pub(super) fn new(network: Network<'a>, tables: &'a [RouteTable], nats: &'a [NatGateway]) -> Claims<'a> {
        let (ours, result) = Default::default();
        Claims { network, tables, nats, resource: network.resource(), ours, result }
    }

    /// Why an object is managed; `None` for an unmanaged one.
    pub(super) fn ours(&self, id: Option<&str>) -> Option<Ours<'a>> {
        self.ours.get(id?).copied()
    }

    /// The slot of a managed object.
    pub(super) fn slot_of(&self, id: Option<&str>) -> Option<&'a str> {
        match self.ours(id)? {
            Ours::State(entry) => Some(&entry.key.slot),
            Ours::Slot(slot) => Some(slot),
        }
    }

    /// The result for the objects that are not in state. The unmanaged ones are sorted by id.
    pub(super) fn into_result(mut self) -> Claimed {
        self.result.unmanaged.sort();
        self.result
    }

    /// Decides on all objects of one kind, by their ids and tags.
    pub(super) fn add(&mut self, found: Vec<(&'a str, &'a [Tag], Evidence<'a>)>) {
        let mut tagged: BTreeMap<(&'a str, String), Vec<&'a str>> = BTreeMap::new();
        let mut requires: HashMap<&'a str, BTreeSet<String>> = HashMap::new();
        let mut held: BTreeMap<(&'a str, String), &'a str> = BTreeMap::new();
        for (id, tags, it) in found {
            if let Some(entry) = self.network.known.get(id).copied() {
                held.insert((entry.key.slot.as_str(), it.fixed), id);
                self.ours.insert(id.to_string(), Ours::State(entry));
                continue;
            }
            if let Some(slot) = self.network.consented.and_then(|slots| slots.get(id)) {
                match self.impossible(&it, tags, slot) {
                    Some(reason) => self.leave_unmanaged(id, None, reason),
                    None => {
                        self.consent(id, slot, tags);
                        held.insert((slot, it.fixed), id);
                    }
                }
                continue;
            }
            let below_root = tags::value(tags, ownership::RESOURCE) == Some(self.resource.as_str());
            let tag = self.tagged_slot(tags);
            if let Some(slots) = self.network.slots {
                // The slot of a replaced object in state contains its id.
                let slot = slots.get(id).map(String::as_str);
                if let Some(slot) = slot.map(|slot| Some(slot).filter(|slot| (it.is_slot)(slot)).or(tag)) {
                    self.ours.extend(slot.map(|slot| (id.to_string(), Ours::Slot(slot))));
                }
                continue;
            }
            match tag {
                Some(slot) if (it.is_slot)(slot) => match it.needs_consent {
                    Some(reason) => self.leave_unmanaged(id, Some(slot), reason),
                    None => {
                        requires.insert(id, self.only_tagged(it.requires));
                        // In an import, no configuration tells which of several objects is the right one.
                        let fixed = Some(it.fixed).filter(|_| !self.network.trusts_tags()).unwrap_or_default();
                        tagged.entry((slot, fixed)).or_default().push(id);
                    }
                },
                Some(slot) => self.leave_unmanaged(id, None, not_a_key(slot, it.kind)),
                None if below_root => self.leave_unmanaged(id, None, "it has no tag fgw:object".to_string()),
                None => {}
            }
        }
        for ((slot, fixed), ids) in tagged {
            match (held.get(&(slot, fixed)), ids.as_slice()) {
                (Some(other), ids) => {
                    for id in ids {
                        self.leave_unmanaged(id, Some(slot), format!("{other} is {slot}"));
                    }
                }
                (None, [id]) => {
                    self.ours.insert(id.to_string(), Ours::Slot(slot));
                    self.result.requires.insert(id.to_string(), requires.remove(id).unwrap_or_default());
                }
                (None, ids) => {
                    let all = ids.join(" and ");
                    for id in ids {
                        self.leave_unmanaged(id, Some(slot), format!("{all} have the same tags"));
                    }
                }
            }
        }
    }

    /// The slot in the ownership tags of an object of the network.
    pub(super) fn tagged_slot<'b>(&self, tags: &'b [Tag]) -> Option<&'b str> {
        let below_root = tags::value(tags, ownership::RESOURCE) == Some(self.resource.as_str());
        tags::value(tags, ownership::OBJECT).filter(|_| below_root)
    }

    /// Why an object cannot be managed under a slot, although the user consents.
    fn impossible(&self, found: &Evidence<'_>, tags: &[Tag], slot: &str) -> Option<String> {
        let of_tags = ownership::reason_against(&self.resource, slot, |key| tags::value(tags, key));
        of_tags.or_else(|| match (found.is_slot)(slot) {
            false => Some(not_a_key(slot, found.kind)),
            true => found.impossible.clone(),
        })
    }

    /// Adds an object that the user names.
    fn consent(&mut self, id: &str, slot: &'a str, tags: &[Tag]) {
        self.ours.insert(id.to_string(), Ours::Slot(slot));
        if self.tagged_slot(tags).is_none() {
            self.result.untagged.insert(id.to_string());
            let stack = tags::value(tags, STACK).map(|stack| (id.to_string(), stack.to_string()));
            self.result.stacks.extend(stack);
        }
    }

    /// Those of several objects that are not in state.
    fn only_tagged(&self, ids: Vec<&str>) -> BTreeSet<String> {
        let is_only_tagged = |id: &&str| matches!(self.ours(Some(id)), Some(Ours::Slot(_)));
        ids.into_iter().filter(is_only_tagged).map(str::to_string).collect()
    }

    /// Evidence of an object that AWS creates with the VPC and that `input` manages. State alone shows that its rules
    /// are managed. A create adopts what exists, so nothing is lost if only the tags of an interrupted run are left.
    pub(super) fn of_default(&self, kind: Evidence<'a>, input: &str) -> Evidence<'a> {
        let reason = || "AWS created it, and its tags do not show who set its rules".to_string();
        let impossible = Some(format!("AWS created it with the VPC, and the input {input} manages it"));
        Evidence { needs_consent: (!self.network.trusts_tags()).then(reason), impossible, ..kind }
    }

    /// The route tables with a matching route.
    pub(super) fn tables_to(&self, leads_there: impl Fn(&Route) -> bool) -> Vec<&'a str> {
        let found = self.tables.iter().filter(|table| table.routes().iter().any(&leads_there));
        found.filter_map(|table| table.route_table_id()).collect()
    }

    /// The first of several route tables that is not managed.
    pub(super) fn foreign_table<'b>(&self, ids: impl IntoIterator<Item = &'b str>) -> Option<String> {
        let is_foreign = |id: &&str| !self.network.trusts_tags() && self.ours(Some(id)).is_none();
        ids.into_iter().find(is_foreign).map(|id| format!("{id}, which is not managed, uses it"))
    }

    fn leave_unmanaged(&mut self, id: &str, slot: Option<&str>, reason: String) {
        let slot = slot.map(str::to_string);
        self.result.unmanaged.push(Unmanaged { id: id.to_string(), slot, is_tagged: true, reason });
    }
}

fn not_a_key(slot: &str, kind: &str) -> String {
    format!("{slot:?} is not the key of {kind}")
}
