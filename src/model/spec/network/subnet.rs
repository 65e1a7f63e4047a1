//! Subnets.

use ipnet::Ipv6Net;
use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags, printable};
use crate::plugin::Input;

/// The tier of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the specification names them")]
pub enum Tier {
    Public,
    PrivateApp,
    PrivatePersistence,
    Transit,
}

/// A subnet. Key `subnet.<tier>.<index>`, fixed by AZ ID and CIDR block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its VPC.
    pub vpc: Key,
    /// Its tier.
    pub tier: Tier,
    /// The index of its AZ in the network.
    pub index: u32,
    /// AZ name, such as `us-east-1a`.
    pub availability_zone: String,
    /// AZ ID, such as `use1-az4`.
    pub availability_zone_id: String,
    /// IPv4 range in CIDR notation.
    pub cidr_block: Input<String>,
    /// The secondary range of the VPC that contains it; `None` in the primary one.
    #[serde(default)]
    pub secondary_range: Option<Key>,
    /// Whether instances get a public address.
    pub map_public_ip_on_launch: Input<bool>,
    /// The VPC's IPv6 range that contains the subnet's range.
    pub ipv6_block: Option<Key>,
    /// IPv6 range in canonical CIDR notation. Unknown until the range of the VPC is known.
    pub ipv6_cidr_block: Input<Option<String>>,
    /// Whether network interfaces get an IPv6 address. AWS requires an IPv6 range for it.
    pub assign_ipv6_address_on_creation: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

impl Subnet {
    /// The name in `unexpressed` of an IPv6 block from a range that no input expresses.
    pub const UNEXPRESSED_IPV6_BLOCK: &str = "ipv6_cidr_block";

    /// Its IPv6 block, if it has one that is known.
    pub fn ipv6_network(&self) -> Option<Ipv6Net> {
        self.ipv6_cidr_block.known()?.as_ref()?.parse().ok()
    }
}

impl Kind for Subnet {
    fn kind(&self) -> &'static str {
        "subnet"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its tier and the index of its AZ are its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A block of addresses in one availability zone, for instances, functions and load balancers.",
            resource: "aws_subnet",
            import_id: "SUBNET_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("tier", &[]),
                ("index", &[]),
                ("availability_zone", &["availability_zone"]),
                ("availability_zone_id", &["availability_zone_id"]),
                ("cidr_block", &["cidr_block"]),
                ("secondary_range", &[]),
                ("map_public_ip_on_launch", &["map_public_ip_on_launch"]),
                ("ipv6_block", &[]),
                ("ipv6_cidr_block", &["ipv6_cidr_block"]),
                ("assign_ipv6_address_on_creation", &["assign_ipv6_address_on_creation"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // Network interfaces in it block its deletion.
        WhenInUse::Deferred
    }

    /// Its network ACL, and how instances get names and IPv4 addresses.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        let acl = learned.network_acl_id.iter().map(|acl| LeftBehind::new(format!("network ACL {}", printable(acl))));
        acl.chain(learned.left_behind()).collect()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.secondary_range.iter().map(|range| Need::new(range, Restrict)));
        needs.extend(self.ipv6_block.iter().map(|block| Need::new(block, Restrict)));
        needs
    }

    fn claims(&self) -> Vec<Claim> {
        let ipv6 = self.ipv6_cidr_block.known().and_then(Option::as_ref);
        let blocks = [self.cidr_block.known(), ipv6].into_iter().flatten();
        blocks.filter_map(|cidr| cidr.parse().ok()).map(Claim::Addresses).collect()
    }

    tagged!();

    fn holds_network_interfaces(&self) -> bool {
        true
    }

    /// Its interfaces get no IPv6 address before the routes exist, and it has its block until the routes are deleted.
    fn hold_back(&mut self, before: &dyn Kind) {
        let Some(before) = of::<Subnet>(before) else { return };
        if self.ipv6_cidr_block == Input::Known(None) {
            self.ipv6_block.clone_from(&before.ipv6_block);
            self.ipv6_cidr_block.clone_from(&before.ipv6_cidr_block);
        } else if before.assign_ipv6_address_on_creation == Input::Known(false) {
            self.assign_ipv6_address_on_creation = Input::Known(false);
        }
    }

    fn make_consistent(&mut self) {
        if self.ipv6_cidr_block == Input::Known(None) {
            self.assign_ipv6_address_on_creation = Input::Known(false);
        }
    }
}

impl Tier {
    /// All tiers, in the order of the specification.
    pub const ALL: [Tier; 4] = [Tier::Public, Tier::PrivateApp, Tier::PrivatePersistence, Tier::Transit];

    /// The name in keys and outputs, such as `private_app`.
    pub const fn slot(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private_app",
            Tier::PrivatePersistence => "private_persistence",
            Tier::Transit => "transit",
        }
    }

    /// The name in Name tags and messages, such as `private-app`.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Public => "public",
            Tier::PrivateApp => "private-app",
            Tier::PrivatePersistence => "private-persistence",
            Tier::Transit => "transit",
        }
    }
}
