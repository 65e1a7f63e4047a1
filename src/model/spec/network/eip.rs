//! Elastic IP addresses.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind, tagged};
use crate::model::{Key, Learned, Need, Tags};

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

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A public address of a NAT gateway, which partners can add to their allow lists.",
            resource: "aws_eip",
            import_id: "ALLOCATION_ID",
            attributes: &[("vpc", &[]), ("tags", &["tags"])],
        }
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
