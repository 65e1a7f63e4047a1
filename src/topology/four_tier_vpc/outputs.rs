//! The computed attributes of a network.

use std::collections::BTreeMap;

use super::PARTS;
use super::config::Config;
use crate::model::Scope;
use crate::model::keys::network as keys;
use crate::model::{Ids, Key, NatGateway, Object, Ref, Spec, Subnet, Tier, Vpc};
use crate::plugin::{Attribute, Input, Type, Value};

/// An output.
pub(super) struct Output {
    pub(super) name: &'static str,
    pub(super) kind: fn() -> Type,
    pub(super) description: &'static str,
    /// The attributes of the objects in it, with their descriptions.
    pub(super) fields: &'static [(&'static str, &'static str)],
    pub(super) of: fn(&Network<'_>) -> Value,
}

impl Output {
    /// A text.
    pub(super) const fn text(name: &'static str, description: &'static str, of: fn(&Network<'_>) -> Value) -> Output {
        Output { name, kind: || Type::String, description, fields: &[], of }
    }

    /// A map of texts.
    pub(super) const fn texts(name: &'static str, description: &'static str, of: fn(&Network<'_>) -> Value) -> Output {
        Output { name, kind: || Type::Map(Box::new(Type::String)), description, fields: &[], of }
    }

    /// A list of texts.
    const fn list(name: &'static str, description: &'static str, of: fn(&Network<'_>) -> Value) -> Output {
        Output { name, kind: || Type::List(Box::new(Type::String)), description, fields: &[], of }
    }
}

/// The outputs that are neither those of a part nor those of a tier.
const OUTPUTS: &[Output] = &[
    Output::text("vpc_arn", "ARN of the VPC.", |it| it.at(keys::VPC).map_or(Value::Null, |vpc| it.arn("vpc", vpc))),
    Output::text("vpc_id", "ID of the VPC.", |it| it.id_at(keys::VPC)),
    Output::text("vpc_cidr_block", "IPv4 CIDR block of the VPC, from the configuration or an IPAM pool.", |it| {
        it.vpc_range()
    }),
    Output::list("availability_zones", "Names of the AZs in use, in the order of their indices.", |it| {
        list(it.zones().into_values().map(|subnet| subnet.availability_zone.as_str().into()))
    }),
    Output::list("availability_zone_ids_used", "IDs of the AZs in use, in the order of their indices.", |it| {
        list(it.zones().into_values().map(|subnet| subnet.availability_zone_id.as_str().into()))
    }),
    Output::text(
        "default_route_table_id",
        "ID of the VPC's main route table. It is unmanaged unless it was adopted as the table of a tier.",
        |it| it.learned_at(keys::VPC, "default_route_table_id"),
    ),
    Output::text("internet_gateway_id", "ID of the internet gateway, or null if there is none.", |it| {
        it.id_at("internet_gateway")
    }),
    Output::list("nat_gateway_ids", "IDs of the public NAT gateways.", |it| {
        list(it.nat_gateways(false).map(|(key, _)| it.ids.id(key)))
    }),
    Output::list(
        "nat_gateway_public_ips",
        "Public IPv4 addresses of the NAT gateways, in the order of `nat_gateway_ids`.",
        |it| list(it.nat_gateways(false).map(|(key, nat)| it.public_ip(key, nat))),
    ),
    Output::list("private_nat_gateway_ids", "IDs of the private NAT gateways.", |it| {
        list(it.nat_gateways(true).map(|(key, _)| it.ids.id(key)))
    }),
    Output::texts(
        "route_targets",
        "Targets of the managed routes, as they are in AWS, by the keys of the routes in `aws_objects`, such as \
         `route.private_app.0.ipv4`. The plan of a change shows here which routes move to another target.",
        |it| it.route_targets(),
    ),
];

/// All outputs but those of tiers.
fn single() -> impl Iterator<Item = &'static Output> {
    OUTPUTS.iter().chain(PARTS.iter().flat_map(|part| part.outputs()))
}

/// The attributes that [`outputs`] fills.
pub(super) fn schema() -> Vec<Attribute> {
    let list = |name: &str, text: &str| Attribute::computed(name, Type::List(Box::new(Type::String)), text);
    let attribute = |it: &Output| Attribute::computed(it.name, (it.kind)(), it.description).fields(it.fields);
    let mut schema: Vec<Attribute> = single().map(attribute).collect();
    for tier in Tier::ALL {
        let (slot, name) = (tier.slot(), tier.name().replace('-', " "));
        let subnets =
            format!("Properties of the {name} subnets, by subnet name (`<vpc_name>-{}-<index>`).", tier.name());
        schema.extend([
            Attribute::computed(&format!("{slot}_subnets"), Type::Map(Box::new(subnet_type())), &subnets)
                .fields(SUBNET_FIELDS),
            list(&format!("{slot}_subnet_ids"), &format!("IDs of the {name} subnets, in the order of their AZs.")),
            list(&format!("{slot}_subnet_arns"), &format!("ARNs of the {name} subnets, in the order of their AZs.")),
            list(
                &format!("{slot}_route_table_ids"),
                &format!("IDs of the route tables of the {name} subnets, in the order of their AZs, each listed once."),
            ),
        ]);
    }
    schema
}

/// The only output that users can also set, so the schema declares it with the inputs.
pub(super) const IPV6_CIDR_BLOCK: &str = "ipv6_cidr_block";

/// The same output in the schema of the data source, where it is not an input.
pub(super) fn ipv6_range_schema() -> Attribute {
    Attribute::computed(IPV6_CIDR_BLOCK, Type::String, "IPv6 CIDR block of the VPC, or null if it has none.")
}

/// The outputs of a network. Without objects, all are unknown.
pub(super) fn outputs(
    config: &Config,
    objects: Option<&[Object]>,
    ids: &Ids,
    scope: Option<&Scope>,
) -> BTreeMap<String, Value> {
    let Some(objects) = objects else {
        let unknown = schema().into_iter().map(|attribute| (attribute.name, Value::Unknown));
        return unknown.chain([(IPV6_CIDR_BLOCK.to_string(), ipv6_range_or(config, || Value::Unknown))]).collect();
    };
    Network { config, objects, ids, scope }.outputs()
}

/// The IPv6 range from the configuration, which Terraform requires unchanged, else `other`.
fn ipv6_range_or(config: &Config, other: impl FnOnce() -> Value) -> Value {
    match &config.ipv6_cidr_block {
        Input::Known(Some(configured)) => configured.as_str().into(),
        Input::Known(None) => other(),
        Input::Unknown => Value::Unknown,
    }
}

/// The data that the outputs are computed from.
pub(super) struct Network<'a> {
    config: &'a Config,
    pub(super) objects: &'a [Object],
    pub(super) ids: &'a Ids,
    scope: Option<&'a Scope>,
}

impl<'a> Network<'a> {
    fn outputs(&self) -> BTreeMap<String, Value> {
        let mut outputs: BTreeMap<String, Value> = single().map(|it| (it.name.to_string(), (it.of)(self))).collect();
        outputs.insert(
            IPV6_CIDR_BLOCK.to_string(),
            ipv6_range_or(self.config, || self.learned_at(keys::IPV6_CIDR_BLOCK, "ipv6_cidr_block")),
        );
        for tier in Tier::ALL {
            let (slot, subnets) = (tier.slot(), self.subnets(tier));
            let ids = list(subnets.iter().map(|(key, _)| self.ids.id(key)));
            let arns = list(subnets.iter().map(|(key, _)| self.arn("subnet", key)));
            outputs.insert(format!("{slot}_subnets"), self.subnet_map(&subnets));
            outputs.insert(format!("{slot}_subnet_ids"), ids);
            outputs.insert(format!("{slot}_subnet_arns"), arns);
            outputs.insert(format!("{slot}_route_table_ids"), self.route_table_ids(&subnets));
        }
        outputs
    }

    /// The key of the object in a slot.
    fn at(&self, slot: &str) -> Option<&'a Key> {
        self.objects.iter().map(|object| &object.key).find(|key| key.slot == slot)
    }

    /// A property that AWS returns of the object in a slot; null if the network has no such object.
    pub(super) fn learned_at(&self, slot: &str, name: &str) -> Value {
        self.at(slot).map_or(Value::Null, |key| self.ids.learned(key, name))
    }

    /// The configured range, else the one that a pool allocated.
    fn vpc_range(&self) -> Value {
        let vpc = self.objects.iter().find_map(|object| Vpc::of(&object.spec).map(|vpc| (&object.key, vpc)));
        match vpc {
            Some((_, Vpc { cidr_block: Input::Known(Some(configured)), .. })) => configured.as_str().into(),
            Some((key, _)) => self.ids.learned(key, "cidr_block"),
            None => Value::Null,
        }
    }

    /// A subnet of each AZ, by the AZ's index.
    fn zones(&self) -> BTreeMap<u32, &'a Subnet> {
        Tier::ALL.into_iter().flat_map(|tier| self.subnets(tier)).map(|(_, subnet)| (subnet.index, subnet)).collect()
    }

    fn subnets(&self, tier: Tier) -> Vec<(&'a Key, &'a Subnet)> {
        let all = self.objects.iter().filter_map(|object| Some((&object.key, Subnet::of(&object.spec)?)));
        let mut subnets: Vec<(&Key, &Subnet)> = all.filter(|(_, subnet)| subnet.tier == tier).collect();
        subnets.sort_by_key(|(_, subnet)| subnet.index);
        subnets
    }

    fn nat_gateways(&self, are_private: bool) -> impl Iterator<Item = (&'a Key, &'a NatGateway)> {
        let gateways = self.objects.iter().filter_map(|object| Some((&object.key, NatGateway::of(&object.spec)?)));
        gateways.filter(move |(_, nat)| nat.allocation.is_none() == are_private)
    }

    /// An Elastic IP address that this resource creates is known before its gateway exists.
    fn public_ip(&self, key: &Key, nat: &NatGateway) -> Value {
        match &nat.allocation {
            Some(Input::Known(Ref::Key(eip))) => self.ids.learned(eip, "public_ip"),
            _ => self.ids.learned(key, "public_ip"),
        }
    }

    /// The subnets by their computed names. The names are unknown while the name of the network is unknown.
    fn subnet_map(&self, subnets: &[(&Key, &Subnet)]) -> Value {
        let Input::Known(vpc_name) = &self.config.vpc_name else {
            return if subnets.is_empty() { Value::Map(BTreeMap::new()) } else { Value::Unknown };
        };
        let named = subnets.iter().map(|(key, subnet)| {
            let name = format!("{vpc_name}-{}-{}", subnet.tier.name(), subnet.index);
            (name.clone(), self.subnet(&name, key, subnet))
        });
        Value::Map(named.collect())
    }

    fn subnet(&self, name: &str, key: &Key, subnet: &Subnet) -> Value {
        Value::map([
            ("id", self.ids.id(key)),
            ("arn", self.arn("subnet", key)),
            ("name", name.into()),
            ("tier", subnet.tier.slot().into()),
            ("index", i64::from(subnet.index).into()),
            ("availability_zone", subnet.availability_zone.as_str().into()),
            ("availability_zone_id", subnet.availability_zone_id.as_str().into()),
            ("cidr_block", subnet.cidr_block.clone().into()),
            ("ipv6_cidr_block", subnet.ipv6_cidr_block.clone().into()),
            ("route_table_id", self.route_table_of(key).map_or(Value::Null, |table| self.resolve(table))),
            ("map_public_ip_on_launch", subnet.map_public_ip_on_launch.clone().into()),
            ("assign_ipv6_address_on_creation", subnet.assign_ipv6_address_on_creation.clone().into()),
            ("vpc_id", self.ids.id(&subnet.vpc)),
            ("owner_id", self.owner(&subnet.vpc).into()),
            ("tags", subnet.tags.clone().into()),
        ])
    }

    fn route_table_of(&self, subnet: &Key) -> Option<&'a Ref> {
        self.objects.iter().find_map(|object| match &object.spec {
            Spec::RouteTableAssociation(association) if association.subnet == *subnet => Some(&association.route_table),
            _ => None,
        })
    }

    /// The IDs of the route tables without duplicates: public subnets may share a table.
    fn route_table_ids(&self, subnets: &[(&Key, &Subnet)]) -> Value {
        let mut tables: Vec<&Ref> = Vec::new();
        for table in subnets.iter().filter_map(|(key, _)| self.route_table_of(key)) {
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        list(tables.into_iter().map(|table| self.resolve(table)))
    }

    fn resolve(&self, reference: &Ref) -> Value {
        self.ids.resolve(reference).map_or(Value::Unknown, Value::from)
    }

    /// The targets of the routes; one unknown value for a new network.
    fn route_targets(&self) -> Value {
        if self.at(keys::VPC).is_none_or(|vpc| self.ids.get(vpc).is_none()) {
            return Value::Unknown;
        }
        let targets = self.objects.iter().filter_map(|object| {
            let target = object.spec.target()?;
            Some((object.key.slot.clone(), target.blackhole_id().map_or_else(|| self.resolve(target), Value::from)))
        });
        Value::Map(targets.collect())
    }

    /// A value of each object whose slot starts with `prefix`, by the rest of the slot.
    pub(super) fn each(&self, prefix: &str, of: impl Fn(&Key) -> Value) -> Value {
        let keys = self.objects.iter().map(|object| &object.key);
        let values = keys.filter_map(|key| Some((key.slot.strip_prefix(prefix)?.to_string(), of(key))));
        Value::Map(values.collect())
    }

    /// The ID of the object in a slot; null if the network has no such object.
    pub(super) fn id_at(&self, slot: &str) -> Value {
        self.at(slot).map_or(Value::Null, |key| self.ids.id(key))
    }

    pub(super) fn arn(&self, kind: &str, key: &Key) -> Value {
        let owner = self.at(keys::VPC).map_or(Input::Unknown, |vpc| self.owner(vpc));
        match (self.scope, owner, self.ids.get(key)) {
            (Some(scope), Input::Known(Some(owner)), Some(resolved)) => {
                format!("arn:{}:ec2:{}:{owner}:{kind}/{}", scope.partition, scope.region, resolved.id).into()
            }
            // The ARN cannot be computed without the owner.
            (Some(_), Input::Known(None), Some(_)) => Value::Null,
            _ => Value::Unknown,
        }
    }

    /// The account that owns the VPC: the account of the credentials, which creates it, else the one that EC2 returned.
    /// The two are equal on AWS. They differ if emulators of EC2 and STS have different accounts; a plan knows only the
    /// former.
    fn owner(&self, vpc: &Key) -> Input<Option<String>> {
        let account = self.scope.and_then(|scope| scope.account.clone());
        match (account, self.ids.get(vpc)) {
            (Some(account), _) => Input::Known(Some(account)),
            (None, Some(resolved)) => Input::Known(resolved.learned.get("owner_id").cloned()),
            (None, None) => Input::Unknown,
        }
    }
}

/// The attributes of a subnet, with their descriptions.
const SUBNET_FIELDS: &[(&str, &str)] = &[
    ("id", "ID of the subnet."),
    ("arn", "ARN of the subnet."),
    ("name", "Name of the subnet, which is its key in this map."),
    ("tier", "Tier of the subnet: `public`, `private_app`, `private_persistence` or `transit`."),
    ("index", "Index of the subnet's AZ in the network, from 0."),
    ("availability_zone", "Name of the subnet's AZ, such as `eu-central-1a`."),
    ("availability_zone_id", "ID of the subnet's AZ, such as `euc1-az2`."),
    ("cidr_block", "IPv4 CIDR block of the subnet."),
    ("ipv6_cidr_block", "IPv6 CIDR block of the subnet, or null if it has none."),
    ("map_public_ip_on_launch", "Whether instances launched into the subnet get a public IPv4 address."),
    ("assign_ipv6_address_on_creation", "Whether new network interfaces in the subnet get an IPv6 address."),
    ("route_table_id", "ID of the subnet's route table."),
    ("vpc_id", "ID of the VPC."),
    ("owner_id", "ID of the account that owns the subnet."),
    ("tags", "Tags that this resource sets on the subnet, including the provider's `default_tags`."),
];

fn subnet_type() -> Type {
    let kind = |name: &str| match name {
        "index" => Type::Number,
        "map_public_ip_on_launch" | "assign_ipv6_address_on_creation" => Type::Bool,
        "tags" => Type::Map(Box::new(Type::String)),
        _ => Type::String,
    };
    Type::Object(SUBNET_FIELDS.iter().map(|(name, _)| (name.to_string(), kind(name))).collect())
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(items.into_iter().collect())
}
