//! Elastic IP addresses.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};

/// An Elastic IP address. Key `eip.<index>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eip {
    /// The VPC. AWS does not require it for an address, but it must exist first, so that every object of a killed run
    /// can be found by the ID of the VPC.
    pub vpc: Key,
    /// Tags.
    pub tags: Tags,
}

impl Kind for Eip {
    fn kind(&self) -> &'static str {
        "Elastic IP address"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its number follows from the layout of the NAT gateways")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A public address of a NAT gateway, which partners can add to their allow lists.",
            resource: "aws_eip",
            import_id: "ALLOCATION_ID",
            attributes: &[("vpc", &[]), ("tags", &["tags"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // It is released so that it no longer costs anything, and nothing refers to its ID.
        WhenInUse::Error
    }

    /// The name in reverse DNS belongs to the address, whose loss the plan names.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    fn needs_only_ids(&self) -> bool {
        true
    }

    tagged!();

    fn is_irrecoverable(&self) -> bool {
        true
    }

    fn lost_when_deleted(&self, learned: &Learned) -> Option<String> {
        learned.get("public_ip").map(|address| format!("the public address {address} is lost"))
    }
}
