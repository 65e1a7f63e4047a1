//! Which objects of a network are managed: those in state. Others with the ownership tags of the network may have been
//! created by an interrupted run. Anyone who may write tags can set these too, so such an object counts only if nothing
//! is known against it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_ec2::types::{Address, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup, Subnet, Tag};
use aws_sdk_ec2::types::{ConnectivityType, Route, VpcEndpoint};

use super::{nat_gateway_addresses, tags};
use crate::aws::calls::ownership;
use crate::cloud::Unmanaged;
use crate::model::keys::network::EndpointService;
use crate::model::{Entry, STACK, Tier};

/// The claims of one network on the objects that AWS returned.
pub(super) struct Claims<'a> {
    root_id: &'a str,
    /// The entries of state, by id.
    known: &'a HashMap<&'a str, &'a Entry>,
    /// The slots of the objects, if only the user-visible state is known.
    slots: Option<&'a BTreeMap<String, String>>,
    /// The slots of further objects that the user names in `adopt`.
    consented: Option<&'a BTreeMap<String, String>>,
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

/// An object that AWS returned.
struct Found<'a> {
    /// The name of its kind with an article, for messages.
    kind: &'static str,
    id: Option<&'a str>,
    tags: &'a [Tag],
    /// The properties that cannot change. Of several objects with one slot and equal properties, none is managed by its
    /// tags.
    fixed: String,
    /// Whether a slot is one of this kind of object.
    is_slot: fn(&str) -> bool,
    /// Why its tags alone do not make it managed.
    objection: Option<String>,
    /// Why it cannot be managed even if the user consents: a clause such as "it is not attached to this VPC".
    obstacle: Option<String>,
    /// The objects that it is in, or that use it. They must be managed too.
    requires: Vec<&'a str>,
}

impl<'a> Claims<'a> {
    pub(super) fn new(
        root_id: &'a str,
        resource: String,
        known: &'a HashMap<&'a str, &'a Entry>,
        slots: Option<&'a BTreeMap<String, String>>,
        consented: Option<&'a BTreeMap<String, String>>,
    ) -> Claims<'a> {
        Claims { root_id, known, slots, consented, resource, ours: HashMap::new(), result: Claimed::default() }
    }

    /// Why an object is managed; `None` for an unmanaged one.
    pub(super) fn ours(&self, id: Option<&str>) -> Option<Ours<'a>> {
        self.ours.get(id?).copied()
    }

    /// The slot of a managed object.
    fn slot_of(&self, id: Option<&str>) -> Option<&'a str> {
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

    /// Whether tags alone identify the objects, as in an import.
    fn trusts_tags(&self) -> bool {
        self.known.is_empty() && self.slots.is_none()
    }

    pub(super) fn subnets(&mut self, subnets: &'a [Subnet]) {
        self.add(subnets.iter().map(|it| Found {
            kind: "a subnet",
            id: it.subnet_id(),
            tags: it.tags(),
            fixed: it.cidr_block().unwrap_or_default().to_string(),
            is_slot: |slot| tier_and_index(slot).is_some(),
            objection: None,
            obstacle: None,
            requires: Vec::new(),
        }));
    }

    /// The internet gateways. Route tables must have been added.
    pub(super) fn internet_gateways(&mut self, gateways: &'a [InternetGateway], tables: &'a [RouteTable]) {
        let found: Vec<Found<'a>> = gateways
            .iter()
            .map(|it| {
                let (id, mut vpcs) = (it.internet_gateway_id(), it.attachments().iter().filter_map(|it| it.vpc_id()));
                let other = vpcs.find(|vpc| *vpc != self.root_id).map(|vpc| format!("it is attached to {vpc}"));
                let users = tables_to(tables, |route| route.gateway_id() == id);
                let is_attached = it.attachments().iter().any(|it| it.vpc_id() == Some(self.root_id));
                let detached = || Some("it is not attached to this VPC".to_string()).filter(|_| !is_attached);
                Found {
                    kind: "an internet gateway",
                    id,
                    tags: it.tags(),
                    fixed: String::new(),
                    is_slot: |slot| slot == "internet_gateway",
                    objection: other.clone().or_else(|| self.foreign_table(users.iter().copied())),
                    // A detached gateway of an interrupted run has the network's tags.
                    obstacle: other.or_else(|| detached().filter(|_| self.tagged_slot(it.tags()).is_none())),
                    requires: users,
                }
            })
            .collect();
        self.add(found);
    }

    /// The route tables. Their subnets must have been added.
    pub(super) fn route_tables(&mut self, tables: &'a [RouteTable]) {
        let found: Vec<Found<'a>> = tables
            .iter()
            .map(|it| {
                let (kind, is_slot): (_, fn(&str) -> bool) = match is_main_table(it) {
                    // It also serves every new subnet, so it is never the table of a single AZ.
                    true => ("a main route table, which can only be that of a whole tier", is_route_table_of_tier),
                    false => ("a route table", is_route_table),
                };
                Found {
                    kind,
                    id: it.route_table_id(),
                    tags: it.tags(),
                    fixed: String::new(),
                    is_slot,
                    objection: self.foreign_association(it),
                    obstacle: None,
                    requires: it.associations().iter().filter_map(|it| it.subnet_id()).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The existing NAT gateways. Subnets and route tables must have been added.
    pub(super) fn nat_gateways(&mut self, gateways: &'a [NatGateway], tables: &'a [RouteTable]) {
        let found: Vec<Found<'a>> = gateways
            .iter()
            .map(|it| {
                let address = nat_gateway_addresses::primary(it).and_then(|address| address.allocation_id());
                let is_private = it.connectivity_type() == Some(&ConnectivityType::Private);
                let in_our_subnet = self.ours(it.subnet_id()).is_some();
                let subnet = || Some("its subnet is not managed".to_string()).filter(|_| !in_our_subnet);
                let id = it.nat_gateway_id();
                let users = tables_to(tables, |route| route.nat_gateway_id() == id);
                Found {
                    kind: if is_private { "a private NAT gateway" } else { "a NAT gateway" },
                    id,
                    tags: it.tags(),
                    fixed: format!("{} {}", it.subnet_id().unwrap_or_default(), address.unwrap_or_default()),
                    is_slot: if is_private { is_private_nat_gateway } else { is_nat_gateway },
                    objection: subnet().or_else(|| self.foreign_table(users.iter().copied())),
                    obstacle: subnet(),
                    requires: users.into_iter().chain(it.subnet_id()).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The addresses. NAT gateways must have been added. `is_given` tells whether the configuration names an address of
    /// the user.
    pub(super) fn addresses(
        &mut self,
        addresses: &'a [Address],
        gateways: &'a [NatGateway],
        is_given: impl Fn(&str) -> bool,
    ) {
        // The role could not remove the tags of an address that the user has taken over.
        let is_ours = |id: &str| !is_given(id) || self.consented.is_some_and(|slots| slots.contains_key(id));
        let addresses = addresses.iter().filter(|it| it.allocation_id().is_none_or(is_ours));
        let found: Vec<Found<'a>> = addresses
            .map(|it| {
                let user = self.user_of(it, gateways);
                Found {
                    kind: "an Elastic IP address",
                    id: it.allocation_id(),
                    tags: it.tags(),
                    fixed: String::new(),
                    is_slot: is_eip,
                    objection: user.is_none().then(|| "no NAT gateway of this network uses it".to_string()),
                    obstacle: self.other_address(it, gateways),
                    requires: user.into_iter().collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The existing gateway endpoints. Route tables must have been added.
    pub(super) fn endpoints(&mut self, endpoints: &'a [VpcEndpoint]) {
        let found: Vec<Found<'a>> = endpoints
            .iter()
            .map(|it| {
                let service = it.service_name().unwrap_or_default();
                Found {
                    kind: "an endpoint for this service",
                    id: it.vpc_endpoint_id(),
                    tags: it.tags(),
                    fixed: service.to_string(),
                    is_slot: match EndpointService::of_name(service) {
                        Some(EndpointService::ObjectStore) => |slot| slot == "vpc_endpoint.objectstore",
                        Some(EndpointService::KeyValue) => |slot| slot == "vpc_endpoint.keyvalue",
                        None => |_| false,
                    },
                    objection: self.foreign_table(it.route_table_ids().iter().map(String::as_str)),
                    obstacle: None,
                    requires: it.route_table_ids().iter().map(String::as_str).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The default group and the default ACL. State alone says that their rules are managed. A create of either adopts
    /// what exists, so nothing is lost if only the tags of an interrupted run are left.
    pub(super) fn defaults(&mut self, groups: &'a [SecurityGroup], acls: &'a [NetworkAcl]) {
        let objection =
            (!self.trusts_tags()).then(|| "AWS created it, and its tags do not show who set its rules".to_string());
        let obstacle = |input: &str| Some(format!("AWS created it with the VPC, and the input {input} manages it"));
        self.add(groups.iter().map(|it| Found {
            kind: "a default security group",
            id: it.group_id(),
            tags: it.tags(),
            fixed: String::new(),
            is_slot: |slot| slot == "default_security_group",
            objection: objection.clone(),
            obstacle: obstacle("enable_default_security_group"),
            requires: Vec::new(),
        }));
        self.add(acls.iter().map(|it| Found {
            kind: "a default network ACL",
            id: it.network_acl_id(),
            tags: it.tags(),
            fixed: String::new(),
            is_slot: |slot| slot == "default_network_acl",
            objection: objection.clone(),
            obstacle: obstacle("apply_default_nacl_rules"),
            requires: Vec::new(),
        }));
    }

    /// The NAT gateway of the network whose primary address this is. An address belongs to the network only through it.
    fn user_of(&self, address: &Address, gateways: &'a [NatGateway]) -> Option<&'a str> {
        let id = address.allocation_id()?;
        let uses = |gateway: &&NatGateway| match nat_gateway_addresses::primary(gateway) {
            Some(primary) => primary.allocation_id() == Some(id),
            None => self.has_number_of(gateway, address),
        };
        let mut ours = gateways.iter().filter(|it| self.ours(it.nat_gateway_id()).is_some());
        ours.find(uses)?.nat_gateway_id()
    }

    /// Why an address that the user names is not that of the NAT gateway with the number in its slot. An interrupted
    /// run may have left one that no NAT gateway uses yet.
    fn other_address(&self, address: &Address, gateways: &[NatGateway]) -> Option<String> {
        let id = address.allocation_id()?;
        let number = self.consented?.get(id)?.strip_prefix("eip.")?;
        if self.tagged_slot(address.tags()).is_some() {
            return None;
        }
        let slot = format!("nat_gateway.{number}");
        let has_slot = |gateway: &&NatGateway| self.slot_of(gateway.nat_gateway_id()) == Some(slot.as_str());
        let Some(gateway) = gateways.iter().find(has_slot) else {
            return Some(format!("this network has no {slot}"));
        };
        let used = nat_gateway_addresses::primary(gateway).and_then(|primary| primary.allocation_id());
        let gateway = gateway.nat_gateway_id().unwrap_or_default();
        let used = used.filter(|used| *used != id)?;
        Some(format!("it is not the address of {slot}: {gateway} uses {used}"))
    }

    /// Whether an address without an association has the number of a NAT gateway. AWS may not return the address of a
    /// pending NAT gateway, and ministack 1.5.33 never returns it.
    fn has_number_of(&self, gateway: &NatGateway, address: &Address) -> bool {
        let Some(slot) = self.slot_of(gateway.nat_gateway_id()) else { return false };
        let number = tags::value(address.tags(), ownership::OBJECT).and_then(|slot| slot.strip_prefix("eip."));
        let is_free = address.association_id().is_none() && address.instance_id().is_none_or(str::is_empty);
        is_free && number.is_some() && slot.strip_prefix("nat_gateway.") == number
    }

    /// An association of a table with something that is not managed.
    fn foreign_association(&self, table: &RouteTable) -> Option<String> {
        if self.trusts_tags() {
            return None;
        }
        if is_main_table(table) {
            return Some("it is the main route table of the VPC".to_string());
        }
        let mut foreign = table.associations().iter().filter_map(|it| {
            let id = it.gateway_id().or_else(|| it.subnet_id().filter(|id| self.ours(Some(id)).is_none()))?;
            Some(format!("it is associated with {id}, which is not managed"))
        });
        foreign.next()
    }

    /// The first of several route tables that is not managed.
    fn foreign_table<'b>(&self, mut ids: impl Iterator<Item = &'b str>) -> Option<String> {
        if self.trusts_tags() {
            return None;
        }
        ids.find(|id| self.ours(Some(id)).is_none()).map(|id| format!("{id}, which is not managed, uses it"))
    }

    /// Decides on all objects of one kind.
    fn add(&mut self, found: impl IntoIterator<Item = Found<'a>>) {
        let mut tagged: BTreeMap<(&'a str, String), Vec<&'a str>> = BTreeMap::new();
        let mut requires: HashMap<&'a str, BTreeSet<String>> = HashMap::new();
        let mut held: BTreeMap<(&'a str, String), &'a str> = BTreeMap::new();
        for it in found {
            let Some(id) = it.id else { continue };
            if let Some(entry) = self.known.get(id).copied() {
                held.insert((entry.key.slot.as_str(), it.fixed), id);
                self.ours.insert(id.to_string(), Ours::State(entry));
                continue;
            }
            if let Some(slot) = self.consented.and_then(|slots| slots.get(id)) {
                match self.obstacle(&it, slot) {
                    Some(reason) => self.reject(id, None, reason),
                    None => {
                        self.consent(id, slot, it.tags);
                        held.insert((slot, it.fixed), id);
                    }
                }
                continue;
            }
            let below_root = tags::value(it.tags, ownership::RESOURCE) == Some(self.resource.as_str());
            let tag = self.tagged_slot(it.tags);
            if let Some(slots) = self.slots {
                // The slot of a replaced object in state contains its id.
                let slot = slots.get(id).map(String::as_str);
                if let Some(slot) = slot.map(|slot| Some(slot).filter(|slot| (it.is_slot)(slot)).or(tag)) {
                    self.ours.extend(slot.map(|slot| (id.to_string(), Ours::Slot(slot))));
                }
                continue;
            }
            match tag {
                Some(slot) if (it.is_slot)(slot) => match it.objection {
                    Some(objection) => self.reject(id, Some(slot), objection),
                    None => {
                        requires.insert(id, self.only_tagged(it.requires));
                        // In an import, no configuration tells which of several objects is the right one.
                        let fixed = Some(it.fixed).filter(|_| !self.trusts_tags()).unwrap_or_default();
                        tagged.entry((slot, fixed)).or_default().push(id);
                    }
                },
                Some(slot) => self.reject(id, None, not_a_key(slot, it.kind)),
                None if below_root => self.reject(id, None, "it has no tag fgw:object".to_string()),
                None => {}
            }
        }
        for ((slot, fixed), ids) in tagged {
            match (held.get(&(slot, fixed)), ids.as_slice()) {
                (Some(other), ids) => {
                    for id in ids {
                        self.reject(id, Some(slot), format!("{other} is {slot}"));
                    }
                }
                (None, [id]) => {
                    self.ours.insert(id.to_string(), Ours::Slot(slot));
                    self.result.requires.insert(id.to_string(), requires.remove(id).unwrap_or_default());
                }
                (None, ids) => {
                    let all = ids.join(" and ");
                    for id in ids {
                        self.reject(id, Some(slot), format!("{all} have the same tags"));
                    }
                }
            }
        }
    }

    /// The slot in the ownership tags of an object of the network.
    fn tagged_slot<'b>(&self, tags: &'b [Tag]) -> Option<&'b str> {
        let below_root = tags::value(tags, ownership::RESOURCE) == Some(self.resource.as_str());
        tags::value(tags, ownership::OBJECT).filter(|_| below_root)
    }

    /// Why an object cannot be managed under a slot, although the user consents.
    fn obstacle(&self, found: &Found<'_>, slot: &str) -> Option<String> {
        let tag = |key: &str| tags::value(found.tags, key);
        let tags = [tag(ownership::RESOURCE), tag(ownership::OBJECT)];
        let of_tags = ownership::objection(&self.resource, slot, tags[0], tags[1]);
        of_tags.or_else(|| match (found.is_slot)(slot) {
            false => Some(not_a_key(slot, found.kind)),
            true => found.obstacle.clone(),
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

    fn reject(&mut self, id: &str, slot: Option<&str>, reason: String) {
        let slot = slot.map(str::to_string);
        self.result.unmanaged.push(Unmanaged { id: id.to_string(), slot, is_tagged: true, reason });
    }
}

fn not_a_key(slot: &str, kind: &str) -> String {
    format!("{slot:?} is not the key of {kind}")
}

/// Whether a table is the main one of its VPC, which serves every subnet without an association.
pub(super) fn is_main_table(table: &RouteTable) -> bool {
    table.associations().iter().any(|it| it.main() == Some(true))
}

/// Tier and index of the slot of a subnet, `subnet.<tier>.<index>`.
pub(super) fn tier_and_index(slot: &str) -> Option<(Tier, u32)> {
    let (tier, index) = slot.strip_prefix("subnet.")?.split_once('.')?;
    let tier = Tier::ALL.into_iter().find(|it| it.slot() == tier)?;
    Some((tier, index.parse().ok()?))
}

/// The route tables with a matching route.
fn tables_to(tables: &[RouteTable], leads_there: impl Fn(&Route) -> bool) -> Vec<&str> {
    let found = tables.iter().filter(|table| table.routes().iter().any(&leads_there));
    found.filter_map(|table| table.route_table_id()).collect()
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|number| number.to_string() == text)
}

fn is_eip(slot: &str) -> bool {
    slot.strip_prefix("eip.").is_some_and(is_number)
}

fn is_nat_gateway(slot: &str) -> bool {
    slot.strip_prefix("nat_gateway.").is_some_and(is_number)
}

fn is_private_nat_gateway(slot: &str) -> bool {
    slot.strip_prefix("private_nat_gateway.").is_some_and(is_number)
}

fn is_route_table(slot: &str) -> bool {
    let is_numbered =
        || slot.rsplit_once('.').is_some_and(|(table, number)| is_route_table_of_tier(table) && is_number(number));
    is_route_table_of_tier(slot) || is_numbered()
}

fn is_route_table_of_tier(slot: &str) -> bool {
    slot.strip_prefix("route_table.").is_some_and(|tier| Tier::ALL.iter().any(|it| it.slot() == tier))
}
