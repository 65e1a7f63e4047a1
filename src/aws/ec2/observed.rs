//! The managed objects of a network with their keys.

use std::collections::HashMap;

use aws_sdk_ec2::types::{NatGateway, RouteTable, Tag};
use ipnet::{Ipv4Net, Ipv6Net};

use super::claims::{Claimed, Claims, Evidence, Ours};
use super::ipv6_range;
use super::network::Network;
use crate::cloud::{Observed, Seen};
use crate::model::{Entry, Key, Learned, Ref, Spec};

/// An object in a list of AWS. The file of its kind implements it, and so states how a read treats it.
pub(super) trait Listed: Send + Sync {
    fn id(&self) -> Option<&str>;

    /// All tags, including ownership tags.
    fn tags(&self) -> &[Tag];

    /// What is known for and against managing it. Objects that it refers to must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a>;

    /// The managed object as AWS returns it. Objects that it refers to must have been added.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed>;

    /// Its spec in a foreign network, for the classification, if no other list of the landscape contains it.
    fn spec(&self, _: &Shown<'_>) -> Option<Spec> {
        None
    }

    /// Whether AWS keeps it when the VPC is deleted.
    fn outlives_vpc(&self) -> bool {
        false
    }
}

/// The listed objects of one kind that no other kind needs.
pub(super) type List = Vec<Box<dyn Listed>>;

/// The objects of one network that have been read so far.
pub(super) struct Shown<'a> {
    /// The key of the VPC.
    pub(super) vpc: Key,
    pub(super) network: Network<'a>,
    /// The IPv6 ranges of the VPC that no input expresses.
    pub(super) unexpressed_ranges: Vec<Ipv6Net>,
    claims: Claims<'a>,
    /// The keys of the objects that were added, by id.
    keys: HashMap<String, Key>,
    objects: Vec<Observed>,
}

impl<'a> Shown<'a> {
    /// A network without objects.
    pub(super) fn new(network: Network<'a>, vpc: Key, tables: &'a [RouteTable], nats: &'a [NatGateway]) -> Shown<'a> {
        let (keys, objects, unexpressed_ranges) = Default::default();
        Shown { vpc, network, unexpressed_ranges, claims: Claims::new(network, tables, nats), keys, objects }
    }

    /// Decides which objects of one kind are managed.
    pub(super) fn claim(&mut self, listed: impl IntoIterator<Item = &'a (impl Listed + ?Sized + 'a)>) {
        let found = listed.into_iter().filter_map(|it| Some((it.id()?, it.tags(), it.evidence(&self.claims))));
        let found = found.collect();
        self.claims.add(found);
    }

    /// Adds those that are managed. All kinds must have been claimed.
    pub(super) fn add_all<'b>(&mut self, listed: impl IntoIterator<Item = &'b (impl Listed + ?Sized + 'b)>) {
        for it in listed {
            let object = self.ours(it.id()).and_then(|ours| it.read(self, ours));
            self.add(object);
        }
    }

    /// Decides on the objects of several kinds, one after the other.
    pub(super) fn claim_lists(&mut self, lists: &'a [List]) {
        for list in lists {
            self.claim(list.iter().map(AsRef::as_ref));
        }
    }

    /// Adds the managed ones of several kinds.
    pub(super) fn add_lists(&mut self, lists: &[List]) {
        for list in lists {
            self.add_all(list.iter().map(AsRef::as_ref));
        }
    }

    /// Why an object is managed; `None` for an unmanaged one.
    pub(super) fn ours(&self, id: Option<&str>) -> Option<Ours<'a>> {
        self.claims.ours(id)
    }

    /// The entry of an object in state.
    pub(super) fn known(&self, id: &str) -> Option<&'a Entry> {
        self.network.known.get(id).copied()
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
        let was_known = self.known(id).is_some_and(|entry| entry.learned.get(&name).is_some());
        let value = value.or_else(|| was_known.then(String::new));
        if let (Some(value), Some(object)) = (value, self.objects.iter_mut().find(|object| object.id == id)) {
            object.learned.insert(name, value);
        }
    }

    /// What is known of an object that was added.
    pub(super) fn learned_of(&mut self, id: &str) -> Option<&mut Learned> {
        self.objects.iter_mut().find(|object| object.id == id).map(|object| &mut object.learned)
    }

    /// The key of an object that was added.
    pub(super) fn key(&self, id: &str) -> Option<&Key> {
        self.keys.get(id)
    }

    /// The key of the gateway endpoint for a service, if it was added.
    pub(super) fn gateway_endpoint(&self, service: &str) -> Option<&Key> {
        let serves = |spec: &Spec| matches!(spec, Spec::VpcEndpoint(it) if it.service_name.known().is_some_and(|it| it == service));
        self.objects.iter().find(|object| serves(&object.spec)).map(|object| &object.key)
    }

    /// The key of the first object of a kind that was added.
    pub(super) fn first<T>(&self, kind: fn(&Spec) -> Option<&T>) -> Option<&Key> {
        self.objects.iter().find(|object| kind(&object.spec).is_some()).map(|object| &object.key)
    }

    /// Whether an object with this key was added.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.objects.iter().any(|object| object.key == *key)
    }

    /// A reference to an object: by key if it was added, otherwise by id.
    pub(super) fn reference(&self, id: &str) -> Ref {
        self.key(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()))
    }

    /// The key of the managed secondary range that contains `block`.
    pub(super) fn secondary_range_around(&self, block: Ipv4Net) -> Option<&Key> {
        let contains = |object: &&Observed| match &object.spec {
            Spec::VpcCidrBlock(it) => it.cidr_block.parse().is_ok_and(|range: Ipv4Net| range.contains(&block)),
            _ => false,
        };
        self.objects.iter().find(contains).map(|object| &object.key)
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

    /// Whether nothing was known before the read, as in an import.
    pub(super) fn is_first_read(&self) -> bool {
        self.network.known.is_empty()
    }

    /// All objects that were added, with those that have the network's tags and are not managed.
    pub(super) fn into_seen(self) -> Seen {
        let Claimed { unmanaged, requires, untagged, stacks } = self.claims.into_result();
        Seen { objects: self.objects, unmanaged, requires, untagged, stacks, ..Seen::default() }
    }
}
