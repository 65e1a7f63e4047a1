//! The objects of a network, in the order of their creation.

mod routes;

use std::collections::{BTreeMap, BTreeSet};

use super::addresses;
use super::config::Config;
use super::ipv6::tiers::{self, Egress};
use super::nat::{self, Nat};
use super::parts;
use super::private_nat::{self, PrivateNat};
use super::route_table_layout::{self, Layout};
use super::tier_zones::TierZones;
use super::zones::{self, SubnetSlot, ZoneSlot};
use super::{PARTS, ipv6, name_tags, ranges, tags, vpc, warnings};
use crate::model::keys::network as keys;
use crate::model::keys::network::Family;
use crate::model::{Eip, InternetGateway, Key, NatGateway, Object, Ref, Spec, Subnet, Tags, Tier};
use crate::plugin::{Input, Problem};
use crate::topology::{Blueprint, Context};

/// The inputs that decide which objects exist.
struct Structure {
    tiers: Vec<Tier>,
    internet_gateway: bool,
    ipv6: bool,
    ipv6_tiers: BTreeSet<Tier>,
    egress: Egress,
    private_nat: bool,
    layouts: BTreeMap<Tier, Layout>,
    /// Tiers whose route tables get a default route to a NAT gateway.
    nat_tiers: Vec<Tier>,
    /// Whether there are NAT gateways; also true if their number is unknown.
    nat_gateways: bool,
}

/// A blueprint under construction.
pub(super) struct Draft<'a> {
    pub(super) context: &'a Context<'a, Config>,
    pub(super) vpc: Key,
    /// What the configuration of the last apply requires.
    before: Option<Structure>,
    pub(super) objects: Vec<Object>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// The objects that parts refer to.
pub(super) struct Built<'a> {
    /// The subnets.
    pub(super) subnets: &'a BTreeMap<SubnetSlot, Key>,
    /// The route table of each subnet.
    pub(super) tables: &'a BTreeMap<SubnetSlot, Key>,
    /// The IPv6 range.
    pub(super) ipv6_range: Option<&'a Key>,
}

/// The objects that the configuration requires, each after its dependencies.
pub(super) fn blueprint(context: &Context<'_, Config>) -> Result<Blueprint, Vec<Problem>> {
    let config = context.config;
    if !PARTS.iter().all(|part| part.is_wanted(config).is_known()) {
        return Ok(Blueprint::Undecided);
    }
    let Some(structure) = Structure::of(config) else { return Ok(Blueprint::Undecided) };
    let Some(available) = &context.facts.availability_zones else { return Ok(Blueprint::Undecided) };
    let mut warnings = warnings::warnings(context);
    let Some(network) = zones::places(config, context.existing, available)? else { return Ok(Blueprint::Undecided) };
    let rejected = |network: &[ZoneSlot], id: &str| zones::not_selected(config, network, available, id);
    let Some(zones) = TierZones::of(config, &structure.tiers, network, rejected)? else {
        return Ok(Blueprint::Undecided);
    };
    warnings.extend(warnings::zones::of_state(zones.used(), available));
    warnings.extend(warnings::zones::unused_inputs(config, zones.network(), available));
    let places_of = |tier, wanted| if wanted { zones.of_tier(tier) } else { &[] };
    let nat_places = places_of(Tier::Public, !structure.private_nat);
    let Some(nats) = nat::nats(config, context.existing, nat_places) else { return Ok(Blueprint::Undecided) };
    let transit_places = places_of(Tier::Transit, structure.private_nat);
    let Some(private_nats) = private_nat::private_nats(config, context.existing, transit_places) else {
        return Ok(Blueprint::Undecided);
    };
    let range = vpc::range(config, context.existing);
    let blocks = addresses::blocks(config, context.prior, context.existing, range, &zones, &mut warnings)?;
    warnings.extend(warnings::unused_entries(config, &zones));

    let mut draft = Draft::new(context);
    for part in PARTS {
        part.draft_before_subnets(&mut draft);
    }
    let ipv6_range = match structure.ipv6 {
        true => Some(draft.ipv6_range().map_err(|problem| vec![problem])?),
        false => None,
    };
    let internet_gateway = structure.internet_gateway.then(|| draft.internet_gateway());
    let subnets = draft.subnets(&zones, &blocks);
    if let Some(range) = &ipv6_range {
        draft.ipv6_blocks(range, &subnets)?;
    }
    let tables = draft.route_tables(&structure, &zones);
    if let Some(internet_gateway) = &internet_gateway {
        let range = ipv6_range.as_ref().filter(|_| structure.ipv6_tiers.contains(&Tier::Public));
        draft.public_routes(&tables, internet_gateway, range);
    }
    let built = Built { subnets: &subnets, tables: &tables, ipv6_range: ipv6_range.as_ref().map(|range| &range.key) };
    for part in PARTS.iter().filter(|part| part.is_wanted(config) == Input::Known(true)) {
        part.draft(&mut draft, &built);
    }
    // They wait for the endpoints of their tables.
    draft.associations(&subnets, &tables);
    let mut gateways = draft.nat_gateways(&nats, &subnets, internet_gateway.as_ref());
    gateways.extend(draft.private_nat_gateways(&private_nats, &subnets));
    draft.nat_routes(&structure, &tables, &gateways);
    warnings.extend(warnings::nat_gateways(&gateways, &draft.objects, context.existing));
    let Draft { objects, mut problems, warnings: of_draft, .. } = draft;
    warnings.extend(of_draft);
    warnings.extend(name_tags::unused(config, &objects));
    let over = objects.iter().filter_map(|it| tags::too_many(&it.key.slot, it.spec.tags()?));
    problems.extend(over.take(1));
    problems.extend(routes::occupied(&objects, context.existing));
    problems.extend(routes::needed_by_unmanaged_subnets(&objects, context.existing));
    if problems.is_empty() { Ok(Blueprint::Decided { objects, warnings, missing: Vec::new() }) } else { Err(problems) }
}

/// The objects that no read looks for, and to which routes may lead.
pub(super) fn findable(context: &Context<'_, Config>) -> Vec<Object> {
    let draft = Draft::new(context);
    parts::egress_only_gateway(&draft, None).into_iter().collect()
}

impl Structure {
    fn of(config: &Config) -> Option<Structure> {
        let mut tiers = Vec::new();
        for tier in Tier::ALL {
            if *config.creates(tier).known()? {
                tiers.push(tier);
            }
        }
        let mut nat_tiers = vec![Tier::PrivateApp];
        if *config.allow_private_persistence_internet_access.known()? {
            nat_tiers.push(Tier::PrivatePersistence);
        }
        if *config.allow_transit_internet_access.known()? {
            nat_tiers.push(Tier::Transit);
        }
        Some(Structure {
            internet_gateway: *config.create_igw.known()? && tiers.contains(&Tier::Public),
            ipv6: *config.enable_ipv6.known()?,
            ipv6_tiers: tiers::with_blocks(config)?,
            egress: tiers::egress(config)?,
            private_nat: *config.enable_private_nat.known()?,
            layouts: route_table_layout::all(config, &tiers)?,
            tiers,
            nat_tiers,
            nat_gateways: config.num_nat_gateways != Input::Known(0),
        })
    }

    /// Whether the route tables of a tier get a default route of a family.
    fn has_default_routes(&self, tier: Tier, family: Family) -> bool {
        match (tier, family) {
            (Tier::Public, Family::Ipv4) => self.internet_gateway,
            (Tier::Public, Family::Ipv6) => self.internet_gateway && self.ipv6_tiers.contains(&tier),
            (_, Family::Ipv4) => self.nat_gateways && self.nat_tiers.contains(&tier),
            (_, Family::Ipv6) => self.egress.tiers.contains(&tier),
        }
    }
}

impl<'a> Draft<'a> {
    /// A draft that contains only the VPC.
    fn new(context: &'a Context<'a, Config>) -> Draft<'a> {
        let vpc = vpc::object(context);
        let before = context.prior.and_then(Structure::of);
        let (problems, warnings) = (Vec::new(), Vec::new());
        Draft { context, vpc: vpc.key.clone(), before, objects: vec![vpc], problems, warnings }
    }

    pub(super) fn add(&mut self, key: &Key, spec: Spec) {
        self.objects.push(Object::new(key.clone(), spec));
    }

    /// Adds an object that AWS changes when it associates the IPv6 range.
    pub(super) fn add_after(&mut self, key: &Key, spec: Spec, ipv6_range: Option<&Key>) {
        self.objects
            .push(Object { after: ipv6_range.into_iter().cloned().collect(), ..Object::new(key.clone(), spec) });
    }

    pub(super) fn tags(&self, key: &Key, own: &[&Tags]) -> Tags {
        tags::tags(self.context.config, self.context.scope, &key.slot, own)
    }

    fn internet_gateway(&mut self) -> Key {
        let key = keys::internet_gateway();
        let spec = InternetGateway { vpc: Some(self.vpc.clone()), tags: self.tags(&key, &[]) };
        self.add(&key, Spec::InternetGateway(spec));
        key
    }

    fn ipv6_range(&mut self) -> Result<Object, Problem> {
        let range = ipv6::range(self.context, &self.vpc)?;
        self.objects.push(range.clone());
        Ok(range)
    }

    fn subnets(
        &mut self,
        zones: &TierZones,
        blocks: &BTreeMap<SubnetSlot, Input<String>>,
    ) -> BTreeMap<SubnetSlot, Key> {
        let config = self.context.config;
        let mut subnets = BTreeMap::new();
        for tier in zones.tiers() {
            for place in zones.of_tier(tier) {
                let site = (tier, place.index);
                let cidr_block = blocks.get(&site).cloned().unwrap_or(Input::Unknown);
                let key = keys::subnet(tier, place.index, &place.id, &cidr_block);
                let secondary_range = ranges::around(config, &cidr_block);
                let map_public_ip_on_launch = match tier {
                    Tier::Public => config.map_public_ip_on_launch.clone(),
                    _ => Input::Known(false),
                };
                let spec = Subnet {
                    vpc: self.vpc.clone(),
                    tier,
                    index: place.index,
                    availability_zone: place.name.clone(),
                    availability_zone_id: place.id.clone(),
                    cidr_block,
                    secondary_range,
                    map_public_ip_on_launch,
                    ipv6_block: None,
                    ipv6_cidr_block: Input::Known(None),
                    assign_ipv6_address_on_creation: Input::Known(false),
                    tags: self.tags(&key, &[config.subnet_tags(tier)]),
                };
                self.add(&key, Spec::Subnet(spec));
                subnets.insert(site, key);
            }
        }
        subnets
    }

    /// Assigns blocks of the range to the subnets of the tiers with IPv6.
    fn ipv6_blocks(&mut self, range: &Object, subnets: &BTreeMap<SubnetSlot, Key>) -> Result<(), Vec<Problem>> {
        let blocks = ipv6::blocks(self.context, range, subnets)?;
        for object in &mut self.objects {
            let Spec::Subnet(subnet) = &mut object.spec else { continue };
            if let Some(block) = blocks.get(&(subnet.tier, subnet.index)) {
                subnet.ipv6_block = Some(range.key.clone());
                subnet.ipv6_cidr_block = block.clone().map(|block| Some(block.to_string()));
                subnet.assign_ipv6_address_on_creation = tiers::assigns(self.context.config, subnet.tier);
            }
        }
        Ok(())
    }

    /// Adds the public NAT gateways. Returns the key of each, with the index of its AZ.
    fn nat_gateways(
        &mut self,
        nats: &[Nat],
        subnets: &BTreeMap<SubnetSlot, Key>,
        internet_gateway: Option<&Key>,
    ) -> Vec<(u32, Key)> {
        let own = [&self.context.config.nat_gateway_custom_tags];
        for nat in nats {
            if let Input::Known(Ref::Key(eip)) = &nat.allocation {
                let spec = Eip { vpc: self.vpc.clone(), tags: self.tags(eip, &own) };
                self.add(eip, Spec::Eip(spec));
            }
        }
        let mut gateways = Vec::new();
        for nat in nats {
            let Some(subnet) = subnets.get(&(Tier::Public, nat.index)) else { continue };
            let key = keys::nat_gateway_keyed_by(nat.slot, subnet, &nat.keyed_by);
            let spec = NatGateway {
                subnet: subnet.clone(),
                allocation: Some(nat.allocation.clone()),
                internet_gateway: internet_gateway.cloned(),
                secondary_private_ip_address_count: Input::Known(0),
                tags: self.tags(&key, &own),
            };
            self.add(&key, Spec::NatGateway(spec));
            gateways.push((nat.index, key));
        }
        gateways
    }

    fn private_nat_gateways(&mut self, nats: &[PrivateNat], subnets: &BTreeMap<SubnetSlot, Key>) -> Vec<(u32, Key)> {
        let config = self.context.config;
        let mut gateways = Vec::new();
        for nat in nats {
            let Some(subnet) = subnets.get(&(Tier::Transit, nat.index)) else { continue };
            let key = keys::private_nat_gateway(nat.slot, subnet);
            let spec = NatGateway {
                subnet: subnet.clone(),
                allocation: None,
                internet_gateway: None,
                secondary_private_ip_address_count: config.nat_secondary_private_ip_address_count.clone(),
                tags: self.tags(&key, &[&config.nat_gateway_custom_tags]),
            };
            self.add(&key, Spec::NatGateway(spec));
            gateways.push((nat.index, key));
        }
        gateways
    }
}
