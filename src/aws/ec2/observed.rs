//! Whether an object that AWS returns is managed, and its key.

use std::collections::HashMap;

use aws_sdk_ec2::types::Tag;
use ipnet::Ipv6Net;

use super::{ipv6_range, tags};
use crate::aws::calls::ownership;
use crate::cloud::Observed;
use crate::model::TopologyKind;
use crate::model::{Entry, Key, Ref, Spec, Tier};

/// The objects of one network that have been read so far.
pub(super) struct Shown<'a> {
    /// The id of the VPC.
    pub(super) root_id: &'a str,
    /// The key of the VPC.
    pub(super) vpc: Key,
    /// The entries of state, by id.
    known: &'a HashMap<&'a str, &'a Entry>,
    /// The value of the ownership tag of all objects below the VPC.
    resource: String,
    /// The keys of the objects that were added, by id.
    keys: HashMap<String, Key>,
    objects: Vec<Observed>,
}

/// Why an object is managed.
#[derive(Clone, Copy)]
pub(super) enum Ours<'a> {
    /// Its id is in state.
    State(&'a Entry),
    /// It has this root's ownership tag with this slot.
    Tag(&'a str),
}

impl<'a> Shown<'a> {
    /// A network without objects.
    pub(super) fn new(
        owner: TopologyKind,
        root_id: &'a str,
        vpc: Key,
        known: &'a HashMap<&'a str, &'a Entry>,
    ) -> Shown<'a> {
        let resource = ownership::resource(owner, root_id);
        Shown { root_id, vpc, known, resource, keys: HashMap::new(), objects: Vec::new() }
    }

    /// Why an object is managed; `None` for an unmanaged one.
    pub(super) fn ours<'b>(&self, id: Option<&str>, tags: &'b [Tag]) -> Option<Ours<'b>>
    where
        'a: 'b,
    {
        if let Some(entry) = self.known(id?) {
            return Some(Ours::State(entry));
        }
        let below_root = tags::value(tags, ownership::RESOURCE) == Some(self.resource.as_str());
        tags::value(tags, ownership::OBJECT).filter(|_| below_root).map(Ours::Tag)
    }

    /// The entry of an object in state.
    pub(super) fn known(&self, id: &str) -> Option<&'a Entry> {
        self.known.get(id).copied()
    }

    /// Whether the configuration last applied gives an object in state an object by this id.
    pub(super) fn is_given(&self, id: &str) -> bool {
        self.known.values().any(|entry| entry.applied.is_given(id))
    }

    /// Adds a managed object.
    pub(super) fn add(&mut self, object: Option<Observed>) {
        if let Some(object) = object {
            self.keys.insert(object.id.clone(), object.key.clone());
            self.objects.push(object);
        }
    }

    /// Adds a learned value to an object that was added. A value stays in state until it is overwritten, so one that
    /// AWS no longer returns is recorded as an empty text.
    pub(super) fn learn(&mut self, id: &str, name: String, value: Option<String>) {
        let was_known = self.known(id).is_some_and(|entry| entry.learned.contains_key(&name));
        let value = value.or_else(|| was_known.then(String::new));
        if let (Some(value), Some(object)) = (value, self.objects.iter_mut().find(|object| object.id == id)) {
            object.learned.insert(name, value);
        }
    }

    /// The key of an object that was added.
    pub(super) fn key(&self, id: &str) -> Option<&Key> {
        self.keys.get(id)
    }

    /// Whether an object with this key was added.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.objects.iter().any(|object| object.key == *key)
    }

    /// A reference to an object: by key if it was added, otherwise by id.
    pub(super) fn reference(&self, id: &str) -> Ref {
        self.key(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()))
    }

    /// The key of the managed IPv6 range that contains `range`.
    pub(super) fn ipv6_block_around(&self, range: Ipv6Net) -> Option<&Key> {
        let blocks = self.objects.iter().filter(|object| matches!(object.spec, Spec::VpcIpv6Block(_)));
        let contains = |block: &&Observed| {
            let whole = block.learned.get("ipv6_cidr_block").and_then(|text| ipv6_range(text));
            whole.is_some_and(|whole| whole.contains(&range))
        };
        blocks.into_iter().find(contains).map(|block| &block.key)
    }

    /// Whether state is empty, as before an import.
    pub(super) fn is_first_read(&self) -> bool {
        self.known.is_empty()
    }

    /// All objects that were added.
    pub(super) fn into_objects(self) -> Vec<Observed> {
        self.objects
    }
}

/// Tier and index of the slot of a subnet, `subnet.<tier>.<index>`.
pub(super) fn tier_and_index(slot: &str) -> Option<(Tier, u32)> {
    let (tier, index) = slot.strip_prefix("subnet.")?.split_once('.')?;
    let tier = Tier::ALL.into_iter().find(|it| it.slot() == tier)?;
    Some((tier, index.parse().ok()?))
}
