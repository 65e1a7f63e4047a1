//! What is known against the objects of each kind: why their tags alone do not make them managed, and why they cannot
//! be managed even if the user consents.

use aws_sdk_ec2::types::{Address, InternetGateway, NatGateway, NetworkAcl, RouteTable, SecurityGroup, Subnet};
use aws_sdk_ec2::types::{ConnectivityType, FlowLog, Route, Tag, VpcEndpoint};

use super::{Claims, Found, is_main_table};
use crate::aws::calls::ownership;
use crate::aws::ec2::slots::{
    is_eip, is_nat_gateway, is_private_nat_gateway, is_route_table, is_route_table_of_tier, tier_and_index,
};
use crate::aws::ec2::{flow_log, nat_gateway_addresses, tags};
use crate::aws::logs::group::FoundGroup;
use crate::model::keys::network::{EndpointService, FLOW_LOG, FLOW_LOG_GROUP};

/// Why a main route table cannot be managed as the table of a single AZ.
const OF_WHOLE_TIER: &str = "it is the main route table, which can only be adopted for a whole tier, under a key such as \
                             \"route_table.private_app\"";

impl<'a> Claims<'a> {
    pub(in crate::aws::ec2) fn subnets(&mut self, subnets: &'a [Subnet]) {
        self.add(subnets.iter().map(|it| Found {
            kind: "a subnet",
            id: it.subnet_id(),
            tags: it.tags(),
            fixed: it.cidr_block().unwrap_or_default().to_string(),
            is_slot: |slot| tier_and_index(slot).is_some(),
            needs_consent: None,
            impossible: None,
            requires: Vec::new(),
        }));
    }

    /// The internet gateways. Route tables must have been added.
    pub(in crate::aws::ec2) fn internet_gateways(&mut self, gateways: &'a [InternetGateway], tables: &'a [RouteTable]) {
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
                    needs_consent: other.clone().or_else(|| self.foreign_table(users.iter().copied())),
                    // A detached gateway of an interrupted run has the network's tags.
                    impossible: other.or_else(|| detached().filter(|_| self.tagged_slot(it.tags()).is_none())),
                    requires: users,
                }
            })
            .collect();
        self.add(found);
    }

    /// The route tables. Their subnets must have been added.
    pub(in crate::aws::ec2) fn route_tables(&mut self, tables: &'a [RouteTable]) {
        let found: Vec<Found<'a>> = tables
            .iter()
            .map(|it| {
                let slot = it.route_table_id().and_then(|id| self.consented?.get(id));
                let is_of_one_az = slot.is_some_and(|slot| is_main_table(it) && !is_route_table_of_tier(slot));
                Found {
                    kind: "a route table",
                    id: it.route_table_id(),
                    tags: it.tags(),
                    fixed: String::new(),
                    is_slot: is_route_table,
                    needs_consent: self.foreign_association(it),
                    // It also serves every new subnet.
                    impossible: is_of_one_az.then(|| OF_WHOLE_TIER.to_string()),
                    requires: it.associations().iter().filter_map(|it| it.subnet_id()).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The existing NAT gateways. Subnets and route tables must have been added.
    pub(in crate::aws::ec2) fn nat_gateways(&mut self, gateways: &'a [NatGateway], tables: &'a [RouteTable]) {
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
                    needs_consent: subnet().or_else(|| self.foreign_table(users.iter().copied())),
                    impossible: subnet(),
                    requires: users.into_iter().chain(it.subnet_id()).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The addresses. NAT gateways must have been added. `is_given` tells whether the configuration names an address of
    /// the user.
    pub(in crate::aws::ec2) fn addresses(
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
                    needs_consent: user.is_none().then(|| "no NAT gateway of this network uses it".to_string()),
                    impossible: self.other_address(it, gateways),
                    requires: user.into_iter().collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The existing gateway endpoints. Route tables must have been added.
    pub(in crate::aws::ec2) fn endpoints(&mut self, endpoints: &'a [VpcEndpoint]) {
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
                    needs_consent: self.foreign_table(it.route_table_ids().iter().map(String::as_str)),
                    impossible: None,
                    requires: it.route_table_ids().iter().map(String::as_str).collect(),
                }
            })
            .collect();
        self.add(found);
    }

    /// The log groups of flow logs.
    pub(in crate::aws::ec2) fn log_groups(&mut self, groups: &'a [(FoundGroup, Vec<Tag>)]) {
        self.add(groups.iter().map(|(found, tags)| Found {
            kind: "a log group",
            id: found.shown.log_group_name.as_deref(),
            tags,
            fixed: found.shown.log_group_name.clone().unwrap_or_default(),
            is_slot: |slot| slot.starts_with(FLOW_LOG_GROUP),
            needs_consent: None,
            impossible: None,
            requires: Vec::new(),
        }));
    }

    /// The flow logs.
    pub(in crate::aws::ec2) fn flow_logs(&mut self, logs: &'a [FlowLog]) {
        self.add(logs.iter().map(|it| Found {
            kind: "a flow log",
            id: it.flow_log_id(),
            tags: it.tags(),
            fixed: flow_log::destination(it).unwrap_or_default(),
            is_slot: |slot| slot.starts_with(FLOW_LOG),
            needs_consent: None,
            impossible: None,
            requires: Vec::new(),
        }));
    }

    /// The default group and the default ACL. State alone says that their rules are managed. A create of either adopts
    /// what exists, so nothing is lost if only the tags of an interrupted run are left.
    pub(in crate::aws::ec2) fn defaults(&mut self, groups: &'a [SecurityGroup], acls: &'a [NetworkAcl]) {
        let needs_consent =
            (!self.trusts_tags()).then(|| "AWS created it, and its tags do not show who set its rules".to_string());
        let impossible = |input: &str| Some(format!("AWS created it with the VPC, and the input {input} manages it"));
        self.add(groups.iter().map(|it| Found {
            kind: "a default security group",
            id: it.group_id(),
            tags: it.tags(),
            fixed: String::new(),
            is_slot: |slot| slot == "default_security_group",
            needs_consent: needs_consent.clone(),
            impossible: impossible("enable_default_security_group"),
            requires: Vec::new(),
        }));
        self.add(acls.iter().map(|it| Found {
            kind: "a default network ACL",
            id: it.network_acl_id(),
            tags: it.tags(),
            fixed: String::new(),
            is_slot: |slot| slot == "default_network_acl",
            needs_consent: needs_consent.clone(),
            impossible: impossible("apply_default_nacl_rules"),
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
}

/// The route tables with a matching route.
fn tables_to(tables: &[RouteTable], leads_there: impl Fn(&Route) -> bool) -> Vec<&str> {
    let found = tables.iter().filter(|table| table.routes().iter().any(&leads_there));
    found.filter_map(|table| table.route_table_id()).collect()
}
