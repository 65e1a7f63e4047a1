//! The VPC of a network.

use serde::{Deserialize, Serialize};

use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// A VPC, the root of a network. Key `vpc`, fixed by primary CIDR and tenancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vpc {
    /// `vpc_name`, stored in the ownership tag.
    pub name: Input<String>,
    /// Primary IPv4 range in CIDR notation, as requested; `None` if an IPAM pool chooses it. The chosen range is stored
    /// in `learned` as `cidr_block`.
    pub cidr_block: Input<Option<String>>,
    /// ID of the IPAM pool of the range. AWS does not return it after the create.
    pub ipv4_ipam_pool_id: Input<Option<String>>,
    /// Prefix length requested from the pool; `None` if the range is configured or the pool has a default.
    pub ipv4_netmask_length: Input<Option<i64>>,
    /// `default` or `dedicated`.
    pub instance_tenancy: Input<String>,
    /// Whether the Amazon DNS server is available in the VPC.
    pub enable_dns_support: Input<bool>,
    /// Whether instances get public DNS names. AWS requires `enable_dns_support` for it.
    pub enable_dns_hostnames: Input<bool>,
    /// Whether network address usage metrics are computed.
    pub enable_network_address_usage_metrics: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for Vpc {
    fn kind(&self) -> &'static str {
        "VPC"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a network has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The network: an address range that contains all other objects. It is created first and \
                          alone.",
            resource: "aws_vpc",
            import_id: "VPC_ID",
            attributes: &[
                ("name", &[]),
                ("cidr_block", &["cidr_block"]),
                ("ipv4_ipam_pool_id", &["ipv4_ipam_pool_id"]),
                ("ipv4_netmask_length", &["ipv4_netmask_length"]),
                ("instance_tenancy", &["instance_tenancy"]),
                ("enable_dns_support", &["enable_dns_support"]),
                ("enable_dns_hostnames", &["enable_dns_hostnames"]),
                ("enable_network_address_usage_metrics", &["enable_network_address_usage_metrics"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // An update never deletes the root.
        WhenInUse::Error
    }

    /// The set of DHCP options, which a new VPC has only if it is the default one of the Region.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        let is_default = "unless it is the default of the Region";
        learned.left_behind().into_iter().map(|it| LeftBehind::new(format!("{}, {is_default}", it.setting))).collect()
    }

    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    tagged!();

    fn is_root(&self) -> bool {
        true
    }

    /// AWS does not return the pool of a range.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        self.take_unstored(wanted);
    }

    /// The pool of its range.
    fn take_unstored(&mut self, earlier: &dyn Kind) {
        let Some(earlier) = of::<Vpc>(earlier) else { return };
        if self.ipv4_ipam_pool_id == Input::Known(None) {
            self.ipv4_ipam_pool_id = earlier.ipv4_ipam_pool_id.clone();
            self.ipv4_netmask_length = earlier.ipv4_netmask_length.clone();
            if earlier.cidr_block == Input::Known(None) {
                self.cidr_block = Input::Known(None);
            }
        }
    }
}
