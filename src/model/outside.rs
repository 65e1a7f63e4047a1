//! Objects outside a topology that its inputs name: those that must exist, and those whose name must be free.

use std::fmt;

use super::{Entry, FunctionArn, Learned, RuleSource, Spec};
use crate::plugin::{AttributePath, Input};

/// An object outside the topology, by the name or ID in an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    /// An Elastic IP address, by its allocation ID.
    Address(String),
    /// A virtual private gateway, by its ID.
    VpnGateway(String),
    /// A prefix list, by its ID.
    PrefixList(String),
    /// A security group of this account, by its ID.
    SecurityGroup(String),
    /// A subnet that this account may use, by its ID.
    Subnet(String),
    /// An IPAM pool, by its ID.
    IpamPool(String),
    /// A function, alias or version.
    Function(FunctionArn),
    /// A certificate in ACM, by its ARN.
    Certificate(String),
    /// A KMS key, by its ARN.
    KmsKey(String),
    /// A VPC link of this account, by its ID.
    VpcLink(String),
    /// A hosted zone, by its ID. `name` is the record that it has to contain.
    HostedZone {
        /// The ID of the zone.
        id: String,
        /// The name of the record.
        name: String,
    },
    /// A log group, by its name, which must be free.
    LogGroup {
        /// The name.
        name: String,
        /// The slot that `adopt` gives it.
        slot: String,
    },
    /// A custom domain, by its name, which must be free.
    Domain(String),
    /// The mapping of a path of a managed custom domain, which must be free.
    Mapping {
        /// The name of the domain.
        domain: String,
        /// The path below the domain; empty for the root.
        path: String,
        /// The stage of the resource that it has to point to.
        stage: String,
    },
    /// The records that exclude one of type A with this zone and name.
    Record {
        /// The ID of the zone.
        zone_id: String,
        /// The name of the record.
        name: String,
        /// Its type.
        record_type: String,
    },
}

/// An input that names an object outside the topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The object.
    pub to: Outside,
    /// The attribute with its name or ID.
    pub path: AttributePath,
}

/// The result of a lookup of an [`Outside`] object.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It exists.
    Exists {
        /// The root that its ownership tag names.
        owner: Option<OwningRoot>,
        /// Of a zone its name, of a domain the DNS name of its target, of a record its type and its target, of a
        /// mapping its ID and its target, such as `m1 api1/prod`, of a prefix list its weight in rules and its family,
        /// such as `55 IPv4`, of a VPC link its status, of a subnet the ID of its AZ.
        detail: String,
    },
    /// It exists, and a create may use it.
    Usable(Box<Existing>),
    /// It does not exist. The IDs of all others of its kind in the Region, if the lookup returned them.
    Missing(Option<Vec<String>>),
}

/// An existing object that a create may use instead of failing.
#[derive(Clone, Debug, PartialEq)]
pub struct Existing {
    /// Its spec as a read returns it. Its references mean nothing.
    pub spec: Spec,
    /// The attributes that AWS computed.
    pub learned: Learned,
    /// The root that its ownership tag names.
    pub owner: Option<OwningRoot>,
    /// Its age and its content, for messages: "created on 2026-03-01, 1024 bytes stored".
    pub content: String,
}

/// The root that an ownership tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwningRoot {
    /// Its ID.
    pub id: String,
    /// Whether it exists, or may exist because it cannot be read.
    pub is_living: bool,
}

impl Reference {
    /// A reference from an attribute.
    pub fn new(to: Outside, path: AttributePath) -> Reference {
        Reference { to, path }
    }
}

impl Outside {
    /// Whether an entry of an inventory is this object. AWS assigns the IDs of mappings.
    pub fn is(&self, entry: &Entry) -> bool {
        match self {
            Outside::Mapping { .. } => self.is_named_by(entry.spec()),
            _ => entry.id == self.id(),
        }
    }

    /// The object that it is part of.
    pub fn parent(&self) -> Option<Outside> {
        match self {
            Outside::Mapping { domain, .. } => Some(Outside::Domain(domain.clone())),
            _ => None,
        }
    }

    /// The ID that the object has in an inventory if it is managed, except for a mapping.
    pub fn id(&self) -> String {
        match self {
            Outside::Address(id)
            | Outside::VpnGateway(id)
            | Outside::PrefixList(id)
            | Outside::SecurityGroup(id)
            | Outside::Subnet(id)
            | Outside::IpamPool(id)
            | Outside::Certificate(id)
            | Outside::KmsKey(id)
            | Outside::VpcLink(id)
            | Outside::HostedZone { id, .. }
            | Outside::LogGroup { name: id, .. }
            | Outside::Domain(id) => id.clone(),
            Outside::Function(arn) => arn.to_string(),
            Outside::Mapping { domain, path, .. } => format!("{domain}/{path}"),
            Outside::Record { zone_id, name, record_type } => format!("{zone_id}_{name}_{record_type}"),
        }
    }

    /// The name of an object that no second one may have, without what depends on its resource. `None` for an object
    /// without such a name, while the name is unknown, and for a part of an object with such a name.
    pub fn name_of(spec: &Spec) -> Option<Outside> {
        match spec {
            Spec::LogGroup(it) => Some(Outside::LogGroup { name: it.name.known()?.clone(), slot: String::new() }),
            Spec::DomainName(it) => Some(Outside::Domain(it.domain_name.known()?.clone())),
            Spec::DnsRecord(it) => Some(Outside::Record {
                zone_id: it.zone_id.known()?.clone(),
                name: it.name.known()?.clone(),
                record_type: it.record_type.clone(),
            }),
            _ => None,
        }
    }

    /// Its name as [`Outside::name_of`] returns it.
    pub fn as_name(&self) -> Outside {
        match self.clone() {
            Outside::LogGroup { name, .. } => Outside::LogGroup { name, slot: String::new() },
            other => other,
        }
    }

    /// Whether its name is unique in each Region alone.
    pub fn is_regional(&self) -> bool {
        !matches!(self, Outside::Record { .. })
    }

    /// Whether an entry of `adopt` takes it over: its own, or that of the custom domain to which it belongs.
    pub fn is_adopted_by(&self, slot: &str, id: &str) -> bool {
        match self {
            Outside::LogGroup { name, slot: own } => own == slot && name == id,
            Outside::Domain(name) | Outside::Record { name, .. } | Outside::Mapping { domain: name, .. } => {
                slot == super::keys::gateway::DOMAIN && name == id
            }
            _ => false,
        }
    }

    /// Whether a name has to be free, instead of an object to exist.
    pub fn must_be_free(&self) -> bool {
        matches!(self, Outside::LogGroup { .. } | Outside::Domain(_) | Outside::Mapping { .. } | Outside::Record { .. })
    }

    /// Whether a create may use an existing object of this name.
    pub fn may_be_used(&self) -> bool {
        matches!(self, Outside::LogGroup { .. })
    }

    /// The slot of the object that a create finds under this name, if `adopt` can name it.
    pub fn slot(&self) -> Option<&str> {
        match self {
            Outside::LogGroup { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// Whether the same run may create an object with this name or ID although the plan knows it.
    pub fn is_predictable(&self) -> bool {
        matches!(self, Outside::Function(_))
    }

    /// Whether a lookup returns it. IPAM returns a pool only in the home Region of the IPAM, so a pool that is not
    /// returned may exist.
    pub fn can_be_looked_up(&self) -> bool {
        !matches!(self, Outside::IpamPool(_))
    }

    /// Whether the inputs of an object contain it.
    pub fn is_named_by(&self, spec: &Spec) -> bool {
        let is = |given: &Input<Option<String>>, id: &str| matches!(given, Input::Known(Some(given)) if given == id);
        match (self, spec) {
            (Outside::Address(id), Spec::NatGateway(_)) => spec.is_given(id),
            (Outside::VpnGateway(id), Spec::RouteTable(it)) => {
                let all = it.propagating_gateways.known();
                all.is_some_and(|all| all.iter().any(|it| it.known() == Some(id)))
            }
            (Outside::PrefixList(id), Spec::DefaultSecurityGroup(it)) => {
                has_source(it, &RuleSource::PrefixList(id.clone()))
            }
            (Outside::SecurityGroup(id), Spec::DefaultSecurityGroup(it)) => {
                has_source(it, &RuleSource::SecurityGroup(id.clone()))
            }
            (Outside::Subnet(id), Spec::VpcLink(it)) => it.subnet_ids.known().is_some_and(|ids| ids.contains(id)),
            (Outside::IpamPool(id), Spec::Vpc(it)) => is(&it.ipv4_ipam_pool_id, id),
            (Outside::IpamPool(id), Spec::VpcIpv6Block(it)) => match &it.source {
                super::Ipv6Source::Pool { pool_id, .. } => is(pool_id, id),
                super::Ipv6Source::Amazon { .. } => false,
            },
            (Outside::Function(arn), Spec::LambdaPermission(it)) => {
                it.function_arn.known() == Some(&arn.unqualified()) && it.qualifier.known() == Some(&arn.qualifier)
            }
            (Outside::Certificate(arn), Spec::DomainName(it)) => it.certificate_arn.known() == Some(arn),
            (Outside::KmsKey(arn), Spec::LogGroup(it)) => is(&it.kms_key_arn, arn),
            (Outside::VpcLink(id), Spec::Integration(_)) => spec.is_given(id),
            (Outside::HostedZone { id, .. }, Spec::DnsRecord(it)) => it.zone_id.known() == Some(id),
            (Outside::LogGroup { name, .. }, Spec::LogGroup(it)) => it.name.known() == Some(name),
            (Outside::Domain(name), Spec::DomainName(it)) => it.domain_name.known() == Some(name),
            (Outside::Mapping { domain, path, .. }, Spec::ApiMapping(it)) => {
                it.domain.fixed.known() == Some(domain) && it.mapping_key == *path
            }
            (Outside::Record { zone_id, name, record_type }, Spec::DnsRecord(it)) => {
                it.zone_id.known() == Some(zone_id) && it.name.known() == Some(name) && it.record_type == *record_type
            }
            _ => false,
        }
    }
}

impl RuleSource {
    /// The ID of an object of the user that it names.
    pub fn given_id(&self) -> Option<&str> {
        match self {
            RuleSource::PrefixList(id) => Some(id),
            RuleSource::SecurityGroup(group) => Some(group.split_once('/').map_or(group, |(_, id)| id)),
            RuleSource::CidrIpv4(_) | RuleSource::CidrIpv6(_) | RuleSource::ItSelf => None,
        }
    }
}

fn has_source(group: &super::DefaultSecurityGroup, source: &RuleSource) -> bool {
    let mut directions = [&group.ingress, &group.egress].into_iter();
    directions
        .any(|it| it.known().and_then(Option::as_ref).is_some_and(|all| all.iter().any(|it| it.source == *source)))
}

/// The kind and the name or ID, as in `security group sg-1`.
impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outside::Address(id) => write!(f, "Elastic IP address {id}"),
            Outside::VpnGateway(id) => write!(f, "virtual private gateway {id}"),
            Outside::PrefixList(id) => write!(f, "prefix list {id}"),
            Outside::SecurityGroup(id) => write!(f, "security group {id}"),
            Outside::Subnet(id) => write!(f, "subnet {id}"),
            Outside::IpamPool(id) => write!(f, "IPAM pool {id}"),
            Outside::Function(arn) => match &arn.qualifier {
                None => write!(f, "function {:?}", arn.name),
                Some(qualifier) => write!(f, "alias or version {qualifier:?} of function {:?}", arn.name),
            },
            Outside::Certificate(arn) => write!(f, "certificate {arn}"),
            Outside::KmsKey(arn) => write!(f, "KMS key {arn}"),
            Outside::VpcLink(id) => write!(f, "VPC link {id}"),
            Outside::HostedZone { id, .. } => write!(f, "hosted zone {id}"),
            Outside::LogGroup { name, .. } => write!(f, "log group {name:?}"),
            Outside::Domain(name) => write!(f, "custom domain {name:?}"),
            Outside::Mapping { .. } => write!(f, "API mapping {:?}", self.id()),
            Outside::Record { zone_id, name, record_type } => {
                write!(f, "{record_type} record {name:?} in hosted zone {zone_id}")
            }
        }
    }
}
