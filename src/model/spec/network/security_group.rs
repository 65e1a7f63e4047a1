//! Security groups that the network creates for its own objects.

use serde::{Deserialize, Serialize};

use super::default_security_group::SecurityGroupRule;
use crate::model::OnDelete::Restrict;
use crate::model::keys::network;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// A security group. Key `security_group.<use>`. AWS cannot change its name, so that depends only on the slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Its VPC.
    pub vpc: Key,
    /// Inbound rules, sorted, one per source.
    pub ingress: Input<Vec<SecurityGroupRule>>,
    /// Outbound rules, sorted, one per destination.
    pub egress: Input<Vec<SecurityGroupRule>>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for SecurityGroup {
    fn kind(&self) -> &'static str {
        "security group"
    }

    fn identity(&self) -> Identity {
        Identity::Entry { slots: network::ENDPOINT_GROUP, leader: network::INTERFACE_ENDPOINT }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Decides who can reach the interface endpoints.",
            resource: "aws_security_group",
            import_id: "GROUP_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("ingress", &["ingress"]),
                ("egress", &["egress"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // Network interfaces in it, and rules of other groups that refer to it, block its deletion.
        WhenInUse::Deferred
    }

    /// Inputs express all rules of the group.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    tagged!();
}
