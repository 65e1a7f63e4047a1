//! The IPv6 range of a VPC.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{DeleteAfter, Restrict};
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Key, Learned, LeftBehind, Need};
use crate::plugin::Input;

/// The VPC's IPv6 range. Key `ipv6_cidr_block`, fixed by its source. Its ID is that of the association, and the range
/// is stored in `learned` as `ipv6_cidr_block`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcIpv6Block {
    /// Its VPC.
    pub vpc: Key,
    /// The source of the range.
    pub source: Ipv6Source,
}

/// The source of an IPv6 range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ipv6Source {
    /// A /56 that Amazon assigns.
    Amazon {
        /// The network border group from which the addresses are advertised; `None` means the Region.
        network_border_group: Input<Option<String>>,
    },
    /// An IPAM pool.
    Pool {
        /// The ID of the pool; `None` if the range was found in AWS, which does not return the pool.
        pool_id: Input<Option<String>>,
        /// The requested range.
        cidr_block: Input<Option<String>>,
        /// The requested prefix length.
        netmask_length: Input<Option<i64>>,
    },
}

impl Kind for VpcIpv6Block {
    fn kind(&self) -> &'static str {
        "IPv6 CIDR block"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a network has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The IPv6 range of the VPC, from Amazon or an IPAM pool.",
            resource: "aws_vpc_ipv6_cidr_block_association",
            import_id: "ASSOCIATION_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                (
                    "source",
                    &[
                        "assign_generated_ipv6_cidr_block",
                        "ipv6_ipam_pool_id",
                        "ipv6_cidr_block",
                        "ipv6_netmask_length",
                    ],
                ),
            ],
        }
    }

    /// AWS stores the range and its source, which inputs express.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// A pool releases the range after the deletion of the VPC, so the wait for it comes last.
    fn when_in_use(&self) -> WhenInUse {
        // Unmanaged subnets with a part of it block its removal.
        WhenInUse::Deferred
    }

    fn needs(&self) -> Vec<Need> {
        let on_delete = if self.is_of_pool() { DeleteAfter } else { Restrict };
        vec![Need::new(&self.vpc, on_delete)]
    }

    /// AWS deletes the range with the VPC. That of a pool still has to be waited for.
    fn parent(&self) -> Option<&Key> {
        (!self.is_of_pool()).then_some(&self.vpc)
    }

    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        self.take_unstored(wanted);
    }

    /// The pool of the range.
    fn take_unstored(&mut self, earlier: &dyn Kind) {
        let Some(earlier) = of::<VpcIpv6Block>(earlier) else { return };
        if let (Ipv6Source::Pool { pool_id: Input::Known(None), .. }, Ipv6Source::Pool { .. }) =
            (&self.source, &earlier.source)
        {
            self.source = earlier.source.clone();
        }
    }
}

impl VpcIpv6Block {
    fn is_of_pool(&self) -> bool {
        matches!(self.source, Ipv6Source::Pool { .. })
    }
}
