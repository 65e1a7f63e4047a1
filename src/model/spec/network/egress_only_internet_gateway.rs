//! The egress-only internet gateway of a VPC.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags};

/// An egress-only internet gateway. AWS attaches it to its VPC when it creates it. Key `egress_only_internet_gateway`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EgressOnlyInternetGateway {
    /// Its VPC.
    pub vpc: Key,
    /// The IPv6 range of the VPC, without which it has no traffic. It is created after the range, and deleted before
    /// it.
    pub ipv6_block: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for EgressOnlyInternetGateway {
    fn kind(&self) -> &'static str {
        "egress-only internet gateway"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a network has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Connects resources in private subnets to the internet over IPv6, and accepts no connections \
                          from it.",
            resource: "aws_egress_only_internet_gateway",
            import_id: "GATEWAY_ID",
            attributes: &[("vpc", &["vpc_id"]), ("ipv6_block", &[]), ("tags", &["tags"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deferred
    }

    /// An egress-only internet gateway has only tags.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        [&self.vpc].into_iter().chain(&self.ipv6_block).map(|key| Need::new(key, Restrict)).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::EgressOnlyInternetGateway]
    }

    tagged!();

    /// A gateway that was created before the range is none of another kind.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<EgressOnlyInternetGateway>(wanted) else { return };
        if self.ipv6_block.is_none() {
            self.ipv6_block.clone_from(&wanted.ipv6_block);
        }
    }
}
