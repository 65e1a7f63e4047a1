//! Whose an object is that AWS shows, and what it is called.

use std::collections::HashMap;

use aws_sdk_ec2::types::Tag;
use ipnet::Ipv6Net;

use super::{ipv6_range, tags};
use crate::aws::calls::ownership;
use crate::cloud::Observed;
use crate::model::TopologyKind;
use crate::model::{Entry, Key, Ref, Spec, Tier};

/// The objects of one network as far as they have been looked at.
pub(super) struct Shown<'a> {
    /// The VPC's id.
    pub(super) root_id: &'a str,
    /// The VPC's key.
    pub(super) vpc: Key,
    /// What state knows, by id.
    known: &'a HashMap<&'a str, &'a Entry>,
    /// The value of the ownership tag of everything below the VPC.
    resource: String,
    /// The keys of the objects that are ours, by id.
    keys: HashMap<String, Key>,
    objects: Vec<Observed>,
}

/// How we know that an object is ours.
#[derive(Clone, Copy)]
pub(super) enum Ours<'a> {
    /// State has its id.
    State(&'a Entry),
    /// It carries this root's ownership tag with this slot.
    Tag(&'a str),
}

impl<'a> Shown<'a> {
    /// Nothing but the VPC.
    pub(super) fn new(
        owner: TopologyKind,
        root_id: &'a str,
        vpc: Key,
        known: &'a HashMap<&'a str, &'a Entry>,
    ) -> Shown<'a> {
        let resource = ownership::resource(owner, root_id);
        Shown { root_id, vpc, known, resource, keys: HashMap::new(), objects: Vec::new() }
    }

    /// How we know that an object is ours; `None` for a foreign one.
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

    /// What state knows of an object.
    pub(super) fn known(&self, id: &str) -> Option<&'a Entry> {
        self.known.get(id).copied()
    }

    /// Adds an object that is ours.
    pub(super) fn add(&mut self, object: Option<Observed>) {
        if let Some(object) = object {
            self.keys.insert(object.id.clone(), object.key.clone());
            self.objects.push(object);
        }
    }

    /// Adds something that AWS tells about an object that was added.
    pub(super) fn learn(&mut self, id: &str, name: String, value: String) {
        if let Some(object) = self.objects.iter_mut().find(|object| object.id == id) {
            object.learned.insert(name, value);
        }
    }

    /// The key of an object that is ours and was added.
    pub(super) fn key(&self, id: &str) -> Option<&Key> {
        self.keys.get(id)
    }

    /// A reference to an object by its id.
    pub(super) fn reference(&self, id: &str) -> Ref {
        self.key(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()))
    }

    /// The IPv6 range of ours that holds another one.
    pub(super) fn ipv6_block_around(&self, range: Ipv6Net) -> Option<&Key> {
        let blocks = self.objects.iter().filter(|object| matches!(object.spec, Spec::VpcIpv6Block(_)));
        let holds = |block: &&Observed| {
            let whole = block.learned.get("ipv6_cidr_block").and_then(|text| ipv6_range(text));
            whole.is_some_and(|whole| whole.contains(&range))
        };
        blocks.into_iter().find(holds).map(|block| &block.key)
    }

    /// Whether state knows nothing at all, as before an import.
    pub(super) fn is_first_look(&self) -> bool {
        self.known.is_empty()
    }

    /// All objects that were added.
    pub(super) fn into_objects(self) -> Vec<Observed> {
        self.objects
    }
}

/// Tier and index of a subnet's slot, `subnet.<tier>.<index>`.
pub(super) fn tier_and_index(slot: &str) -> Option<(Tier, u32)> {
    let (tier, index) = slot.strip_prefix("subnet.")?.split_once('.')?;
    let tier = Tier::ALL.into_iter().find(|it| it.slot() == tier)?;
    Some((tier, index.parse().ok()?))
}
